"""Peers of the preview server. Run: -m tests.benchmarks.publish_servers plain|static PORT RELEASE."""

import sys
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from gateway.app.answers import SECURITY_HEADERS, SITE_CORS_HEADERS

FREE: Final = "/api/market-regime.php"


def plain(release: Path) -> Starlette:
    """Make a plain route that returns the same bytes with the same headers, and decides nothing."""
    content = (release / FREE.lstrip("/")).read_bytes()
    headers = {
        "content-type": "application/json",
        "cache-control": "public, max-age=60, stale-while-revalidate=60",
        "etag": '"0123456789abcdef0123456789abcdef"',
        "last-modified": "Tue, 14 Nov 2023 22:13:20 GMT",
        "vary": "Accept-Encoding",
        **SITE_CORS_HEADERS,
        **SECURITY_HEADERS,
    }

    async def free(_request: Request) -> Response:
        return Response(content, headers=headers)

    return Starlette(routes=[Route(FREE, free)])


def main() -> None:
    """Serve one of the peers until ended."""
    role, port, release = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    app = plain(release) if role == "plain" else Starlette(routes=[Mount("/", StaticFiles(directory=release))])
    uvicorn.run(app, host="127.0.0.1", port=port, log_config=None, access_log=False, server_header=False)


if __name__ == "__main__":
    main()
