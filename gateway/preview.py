"""Serve the published site from memory beside the gateway's routes; for one machine, never for the public."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from gateway.problem import ALLOWED_METHODS, CORS_HEADERS, SECURITY_HEADERS, preflight, problem
from gateway.site_files import LoadedSite, SiteFile, load_site

POINTER: Final = "current"
POLL_S: Final = 0.5
REASONING: Final = "/api/reasoning.php"
DEFAULT_ASSET: Final = "BTC"
CACHE_CONTROL: Final = "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"
PAGE_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PREFERRED: Final = ("br", "gzip")


class Preview:
    """The site as a raw ASGI application.

    Args:
        site: the folder that holds the pointer `current`.
        project: the service's name, for problem documents.
    """

    def __init__(self, site: Path, project: str) -> None:
        self._pointer = site / POINTER
        self._project = project
        self._target = ""
        self._loaded: LoadedSite | None = None

    @contextlib.asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow the pointer while the context is open."""
        await self.refresh()
        task = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def refresh(self) -> bool:
        """Load the release that the pointer names, in a thread, and swap it in whole.

        Returns:
            True when another release stands now.
        """
        try:
            target = str(self._pointer.readlink())
            if target == self._target:
                return False
            self._loaded = await asyncio.to_thread(load_site, self._pointer.parent / target)
        except OSError:
            # Before the first release, or pruned while reading: the last one stands, the next look tries again.
            return False
        self._target = target
        return True

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(POLL_S)
            await self.refresh()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = self._answer(scope)
        await answer(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        if scope["method"] == "OPTIONS":
            return preflight()
        if scope["method"] not in {"GET", "HEAD"}:
            return self._problem(scope, 405, "Use GET or HEAD.", allow=ALLOWED_METHODS)
        loaded = self._loaded
        if loaded is None:
            return self._problem(scope, 503, "Nothing has been published yet.", retry_after="5")
        path = scope["path"]
        if path == REASONING:
            return self._reasoning(scope, loaded)
        if path.endswith("/"):
            path += "index.html"
        return self._file(scope, loaded, path)

    def _reasoning(self, scope: Scope, loaded: LoadedSite) -> Response:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        asked = query.get("asset", [""])[0]
        asset = asked.strip().upper() or DEFAULT_ASSET
        if asset not in loaded.assets:
            return problem(
                400,
                f"The asset {asked[:20]!r} is not supported.",
                instance=REASONING,
                project=self._project,
                supported_assets=list(loaded.assets),
            )
        return self._file(scope, loaded, REASONING if asset == DEFAULT_ASSET else f"/api/reasoning/{asset}.json")

    def _file(self, scope: Scope, loaded: LoadedSite, path: str) -> Response:
        # Looked up in a table of what was read: no path of a request ever touches the disk.
        file = loaded.files.get(path)
        if file is None and f"{path}/index.html" in loaded.files:
            return RedirectResponse(f"{path}/", status_code=308, headers={**CORS_HEADERS, **SECURITY_HEADERS})
        if file is None:
            return self._problem(scope, 404, "Nothing is published at this path.")
        headers = Headers(scope=scope)
        coding = _choose(headers.get("accept-encoding", ""), file)
        variant = file.variants[coding]
        answer = Response(status_code=200, headers=_headers(file, coding, loaded.generation))
        if _unchanged(headers, variant.etag, file.modified_s):
            answer.status_code = 304
            del answer.headers["content-length"]
            return answer
        answer.headers["content-type"] = file.content_type
        answer.headers["content-length"] = str(len(variant.content))
        answer.body = b"" if scope["method"] == "HEAD" else variant.content
        return answer

    def _problem(self, scope: Scope, status: int, detail: str, *, allow: str = "", retry_after: str = "") -> Response:
        headers = {name: value for name, value in (("allow", allow), ("retry-after", retry_after)) if value}
        return problem(status, detail, instance=scope["path"], project=self._project, headers=headers)


def _headers(file: SiteFile, coding: str, generation: str) -> dict[str, str]:
    policy = {"content-security-policy": PAGE_POLICY} if file.content_type.startswith("text/html") else {}
    encoding = {} if coding == "identity" else {"content-encoding": coding}
    return {
        **CORS_HEADERS,
        **SECURITY_HEADERS,
        **policy,
        **encoding,
        "cache-control": CACHE_CONTROL,
        "etag": file.variants[coding].etag,
        "last-modified": file.last_modified,
        "vary": "Accept-Encoding",
        "x-generation": generation,
    }


def _choose(accepted: str, file: SiteFile) -> str:
    """Choose the smallest coding that the client takes, by RFC 9110 section 12.5.3."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        name, _, parameters = part.partition(";")
        weights[name.strip()] = _weight(parameters)
    for coding in PREFERRED:
        if coding in file.variants and weights.get(coding, weights.get("*", 0.0)) > 0:
            return coding
    return "identity"


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


def _unchanged(headers: Headers, etag: str, modified_s: int) -> bool:
    """Tell whether the client holds this variant, by RFC 9110 section 13.2.2: tags decide before dates."""
    tags = headers.get("if-none-match")
    if tags is not None:
        held = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
        return "*" in held or etag in held
    since = headers.get("if-modified-since")
    if since is None:
        return False
    try:
        return parsedate_to_datetime(since).timestamp() >= modified_s
    except (TypeError, ValueError, OverflowError):
        return False
