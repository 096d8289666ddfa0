"""Mount routes without Starlette's redirect between a path with and without its last slash."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Mount, Router


def mounted(path: str, routes: Sequence[BaseRoute]) -> Mount:
    """Return the routes below a path; what they do not have is 404."""
    return Mount(path, app=Router(routes, redirect_slashes=False))
