"""How the devnet's routes are mounted, and who may ask: programs of this machine, and no page of another site."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.app.limits import is_foreign, misses_host


class Guard:
    """Refuse a Host that is not loopback, and whatever a browser sends for a page of another origin.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 400, 403 or 421."""
        found = _refusal(scope) if scope["type"] == "http" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        status, message = found
        await JSONResponse({"error": "refused", "message": message}, status)(scope, receive, send)


def _refusal(scope: Scope) -> tuple[int, str] | None:
    if misses_host(scope.get("http_version", ""), scope["headers"]):
        return 400, "an HTTP/1.1 request names exactly one Host"
    if is_foreign(scope["headers"], ()):
        return 421, "ask the devnet by a loopback name, such as localhost"
    headers = Headers(scope=scope)
    host = headers.get("host")
    if headers.get("origin") not in {None, f"http://{host}"} or headers.get("sec-fetch-site") == "cross-site":
        return 403, "the devnet takes nothing from pages of other sites"
    return None


def mounted(path: str, routes: Sequence[BaseRoute]) -> Mount:
    """Return the routes below a path, without Starlette's redirect between a path with and without its last slash."""
    return Mount(path, app=Router(routes, redirect_slashes=False))


def refusal(status: int, message: str) -> Response:
    """Refuse a request in a node's way: a JSON object with one message."""
    return JSONResponse({"message": message}, status_code=status)
