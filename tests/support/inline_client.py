"""A client of an ASGI application that never waits: each request runs to its end in the caller's own thread.

Starlette's TestClient hands each request to a loop in another thread, which takes longer than most requests.
"""

from typing import Any

import httpx2
from starlette.types import ASGIApp


def inline_client(app: ASGIApp, origin: str) -> httpx2.Client:
    """Return a client whose every path is answered by `app`."""
    return httpx2.Client(transport=InlineTransport(app), base_url=origin, follow_redirects=True)


class InlineTransport(httpx2.BaseTransport):
    """Answer requests by an application whose handlers await nothing that is not there already."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Run the application on one request."""
        body = request.read()
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        try:
            self._app(_scope(request), receive, send).__await__().__next__()
        except StopIteration:
            content = b"".join(message.get("body", b"") for message in sent[1:])
            return httpx2.Response(sent[0]["status"], headers=sent[0].get("headers", []), content=content)
        raise AssertionError(f"{request.url.path} waits for something; use starlette's TestClient")


def _scope(request: httpx2.Request) -> dict[str, Any]:
    url = request.url
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.split(b"?")[0],
        "query_string": url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 50_000),
        "server": (url.host, url.port or 80),
    }


async def ask_app(
    app: ASGIApp, method: str, path: str, query: str = "", body: bytes = b""
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Ask an application on loopback without a client, which takes as long as a short answer; return what it says."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost"), (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 50_000),
        "server": ("localhost", 80),
    }
    await app(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), content
