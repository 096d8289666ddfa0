"""Files that no tick changes: OpenAPI with its examples, discovery files, assets. Renewed at 00:00 UTC in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, date, datetime
from typing import Any

from generator.compose.context import Site
from generator.publish.discovery import discovery
from generator.publish.encode import encode
from generator.publish.openapi.document import openapi, openapi_yaml
from generator.publish.resources import static_assets


class Standing:
    """Make the standing files once at the first tick, then once a day outside the tick."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._schemas: dict[str, Any] = {}
        self._made_on: date | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="standing")
        self._next: Future[tuple[dict[str, bytes], dict[str, Any]]] | None = None

    @property
    def schemas(self) -> Mapping[str, Any]:
        """The component schemas of the published OpenAPI, for the docs page."""
        return self._schemas

    def files(self, site: Site, bodies: Mapping[str, Any], at: datetime) -> dict[str, bytes]:
        """Return path -> bytes; `bodies` (path or product id -> JSON object) are the examples when they are due."""
        if not self._files:
            self._files, self._schemas = make(site, bodies, at)
            self._made_on = at.date()
        elif self._next is not None and self._next.done():
            self._files, self._schemas = self._next.result()
            self._next = None
        elif self._next is None and at.date() != self._made_on:
            self._next = self._pool.submit(make, site, dict(bodies), at)
            self._made_on = at.date()
        return self._files

    def close(self) -> None:
        """Wait for the thread."""
        self._pool.shutdown()


def make(site: Site, bodies: Mapping[str, Any], at: datetime) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Make all standing files with the examples of one tick."""
    document = openapi(
        base_url=site.base_url, project=site.project, contact=site.contact, network=site.network, examples=bodies
    )
    files = {
        "/openapi.json": encode(document),
        "/openapi.yaml": openapi_yaml(document),
        **discovery(site, at.astimezone(UTC)),
        **static_assets(),
    }
    return files, document["components"]["schemas"]
