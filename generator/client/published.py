"""Reading what the service published, from a folder or over HTTP."""

from __future__ import annotations

import http.client
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gateway.wire.foreign import read_json
from gateway.wire.outgoing import proxy_for
from generator.catalog.discovery import ONCE_PREFIXES
from generator.errors import GeneratorError

TIMEOUT_S = 10
WHOLE_S = 60.0
"""For one answer, however it drips."""
SITE_S = 1_800.0
"""For all that one command reads of an origin."""
TRUSTED_S = 3_600.0
"""After so long the certificates that this machine trusts are read again."""
PIECE_BYTES = 65_536
MAX_BODY_BYTES = 50_000_000


class PublishedError(GeneratorError):
    """What is published cannot be read."""


class Published:
    """A published site: an origin (`http://…`, `https://…`), a site folder of the generator, or a copy of a site.

    Args:
        where: it is.
        within_s: for everything that is read of an origin; what is asked later is not read.
    """

    def __init__(self, where: str | Path, within_s: float = SITE_S) -> None:
        self.where = where
        self._release = ""
        self._within_s = within_s
        self._until = time.monotonic() + within_s

    def pin(self) -> None:
        """Read everything of one release from now on, where the origin serves releases by number.

        Behind a cache two files of an origin may else be of two ticks, which would look like tampering.
        """
        if isinstance(self.where, str):
            try:
                status = read_json(self._fetch(f"{self.where.rstrip('/')}/status.json") or b"{}")
                number = str(status["generation"])
            except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
                return

            if number.isdigit():
                self._release = f"/g/{number}"
        elif (self.where / "current").is_symlink():
            self._release = f"/releases/{(self.where / 'current').readlink().name}"

    def read(self, path: str) -> bytes | None:
        """Return what is published at `path` (with a leading slash), None if nothing is; PublishedError: why not."""
        changes = not path.startswith(ONCE_PREFIXES)
        try:
            pinned = self._found(self._release + path) if self._release and changes else None
            return pinned or self._found(path)
        except urllib.error.URLError as error:
            raise PublishedError(unreachable(str(self.where), error)) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise PublishedError(f"{self.where}{path} cannot be read: {error}") from None

    def _found(self, path: str) -> bytes | None:
        if isinstance(self.where, str):
            return self._fetch(self.where.rstrip("/") + path)
        return self._open(self.where, path)

    def _fetch(self, url: str) -> bytes | None:
        """Return the body of a 200, None for a 404."""
        if urlsplit(url).scheme not in {"http", "https"}:
            raise PublishedError(f"{url!r} is not a valid origin; write e.g. http://127.0.0.1:8402")
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"what was read before took {self._within_s:g} s, which is all it may")
        status, body = fetch(url, whole_s=min(left_s, WHOLE_S))
        if status not in {200, 404}:
            raise OSError(f"HTTP Error {status}")
        return body if status == 200 else None

    @staticmethod
    def _open(folder: Path, path: str) -> bytes | None:
        # Immutable files lie next to the releases: under the site's folder, or above `current`.
        for base in (folder, folder / "current", folder / "once", folder.parent / "once"):
            file = base / path.lstrip("/")
            if file.is_file():
                if file.stat().st_size > MAX_BODY_BYTES:
                    raise ValueError("it is too large")
                return file.read_bytes()
        return None


def published_json(site: Published, path: str = "/arena/rounds.json") -> Any:
    """Read JSON that is published; raise PublishedError when it cannot be read or is not JSON."""
    data = site.read(path)
    if data is None:
        raise PublishedError(
            f"{site.where}{path} does not exist: start the service with `emi up`, or name an origin with --url"
        )
    try:
        return read_json(data)
    except ValueError as error:
        raise PublishedError(f"{site.where}{path} cannot be read: {error}") from None


def unreachable(url: str, error: urllib.error.URLError) -> str:
    """Say of an origin that it does not answer, and what to do."""
    reason = getattr(error.reason, "strerror", None) or str(error.reason)
    return f"{url} cannot be reached ({reason[:1].lower()}{reason[1:]}); is `emi up` running?"


def fetch(
    url: str, timeout_s: float = TIMEOUT_S, headers: Mapping[str, str] | None = None, whole_s: float = WHOLE_S
) -> tuple[int, bytes]:
    """Return status and body of a GET, whatever the status.

    Args:
        url: http or https.
        timeout_s: of each silence.
        headers: of the request.
        whole_s: for everything.

    Raises:
        OSError, ValueError, http.client.HTTPException: there is no answer, or it is none of HTTP.
    """
    # In a thread that is not waited for past its time: each byte of a head that drips begins the timeout again.
    answers: list[tuple[int, bytes] | Exception] = []
    asking = threading.Thread(
        target=lambda: answers.append(_answer_or_error(url, timeout_s, headers, whole_s)), daemon=True
    )

    asking.start()
    asking.join(whole_s)

    answer = answers[0] if answers else TimeoutError(f"no whole answer within {whole_s:g} s")
    if isinstance(answer, Exception):
        raise answer
    return answer


def _answer_or_error(
    url: str, timeout_s: float, headers: Mapping[str, str] | None, whole_s: float
) -> tuple[int, bytes] | Exception:
    try:
        return answer_of(url, timeout_s, headers, whole_s)
    except Exception as error:  # noqa: BLE001  raised again where it was asked
        return error


def answer_of(
    url: str, timeout_s: float = TIMEOUT_S, headers: Mapping[str, str] | None = None, whole_s: float = WHOLE_S
) -> tuple[int, bytes]:
    """Do what `fetch` does in the caller's own thread, which a head that drips keeps."""
    asked = {"User-Agent": "emi", **(headers or {})}
    request = urllib.request.Request(url, headers=asked)  # noqa: S310  an origin that the operator names
    until = time.monotonic() + whole_s

    try:
        context = trusted() if request.type == "https" else None
        opener = _opener(request.type, proxy_for(request.full_url), context)
        with opener.open(request, timeout=timeout_s) as answer:
            return answer.status, _read(answer, until)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _read(error, until)


@lru_cache(maxsize=4)
def _opener(scheme: str, proxy: str | None, context: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """Return what asks a scheme by a proxy, or directly."""
    proxies = {} if proxy is None else {scheme: proxy}
    return urllib.request.build_opener(
        urllib.request.ProxyHandler(proxies), urllib.request.HTTPSHandler(context=context)
    )


def trusted() -> ssl.SSLContext:
    """Return whom this machine trusts, read again each hour: reading it takes longer than many answers."""
    return _trusted(ssl.get_default_verify_paths(), time.monotonic() // TRUSTED_S)


@lru_cache(maxsize=1)
def _trusted(_paths: ssl.DefaultVerifyPaths, _hour: float) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _read(answer: Any, until: float) -> bytes:
    """Read a body in pieces, until a moment of the monotonic clock at most."""
    body = bytearray()
    while len(body) < MAX_BODY_BYTES and (piece := answer.read1(PIECE_BYTES)):
        body += piece
        if time.monotonic() > until:
            raise TimeoutError("the answer drips")
    if answer.length and len(body) < MAX_BODY_BYTES:
        raise http.client.IncompleteRead(bytes(body), answer.length)
    return bytes(body[:MAX_BODY_BYTES])
