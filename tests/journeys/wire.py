"""A client that sends exactly what it is given, byte for byte: no path is tidied, nothing is decoded or followed."""

import contextlib
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from urllib.parse import urlsplit

TIMEOUT_S = 60.0
MAX_BODY_BYTES = 32 * 1024 * 1024
Headers = Mapping[str, str] | Iterable[tuple[str, str]]


class NoAnswer(Exception):
    """The connection ended without an HTTP answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Args:
        status: HTTP status.
        headers: names in lower case, as they came, repeated ones too.
        body: the bytes as sent, still encoded.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def all(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for key, value in self.headers if key == name]

    def get(self, name: str) -> str:
        """Return a header's values joined by a comma, empty when it is not there."""
        return ", ".join(self.all(name))


class Origin:
    """One origin to ask, over a new connection each time.

    Args:
        url: scheme, host and port.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"{url!r} is not an origin such as http://127.0.0.1:8402")
        self.url = f"{parts.scheme}://{parts.netloc}"
        self.host = parts.netloc
        self._name = parts.hostname
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._port = parts.port or (443 if self._tls else 80)
        self.requests = 0

    def get(self, target: str, headers: Headers = ()) -> Answer:
        """Ask with GET."""
        return self.ask("GET", target, headers)

    def ask(self, method: str, target: str, headers: Headers = (), body: bytes | None = None) -> Answer:
        """Send one request.

        Args:
            method: as it is on the wire.
            target: path and query, not changed in any way.
            headers: besides Host and Connection; a Host given here replaces ours.
            body: sent with Content-Length; None sends neither.

        Raises:
            NoAnswer: the other side closed, or was silent for 20 s.
        """
        lines = list(headers.items() if isinstance(headers, Mapping) else headers)
        if not any(name.lower() == "host" for name, _ in lines):
            lines.insert(0, ("Host", self.host))
        if body is not None:
            lines.append(("Content-Length", str(len(body))))
        lines.append(("Connection", "close"))
        head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines)
        return self.send(head.encode("latin-1") + b"\r\n" + (body or b""), method)

    def send(self, raw: bytes, method: str = "GET") -> Answer:
        """Send bytes and read one answer.

        Raises:
            NoAnswer: as for `ask`.
        """
        self.requests += 1
        try:
            with self._connected() as connection:
                # Who refuses early may close while we still send: the answer is there nevertheless.
                with contextlib.suppress(OSError):
                    connection.sendall(raw)
                response = HTTPResponse(connection, method=method)
                response.begin()
                body = response.read(MAX_BODY_BYTES)
                headers = tuple((name.lower(), value) for name, value in response.getheaders())
                return Answer(response.status, headers, body)
        except (OSError, HTTPException) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error

    @contextlib.contextmanager
    def _connected(self) -> Iterator[socket.socket]:
        with socket.create_connection((self._name, self._port), timeout=TIMEOUT_S) as plain:
            if self._tls is None:
                yield plain
            else:
                with self._tls.wrap_socket(plain, server_hostname=self._name) as secure:
                    yield secure
