"""Files that no tick changes: OpenAPI with its examples, and discovery files. Renewed at 00:00 UTC in a thread.

OpenAPI's YAML takes longer to write than all the rest of a release. It is written only when its content changes: a
process that starts, and one that takes over, go on from the one that readers have, if it is the twin of the JSON that
this program would publish.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, NamedTuple

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import OPENAPI_JSON, OPENAPI_YAML
from generator.compose.context import Site
from generator.contract.encode import encode
from generator.release.last_good import Kind, LastGood
from generator.release.values import Shown, nothing_shown
from generator.site.discovery import discovery
from generator.site.openapi.document import is_twin, openapi, openapi_yaml
from generator.site.openapi.paths import examples_in
from generator.site.resources import Resources, assets_version, static_assets


class Made(NamedTuple):
    """The files, the component schemas of the OpenAPI in them, and of which day its examples are (None: it has none)."""

    files: dict[str, bytes]
    schemas: Mapping[str, Any]
    day: date | None


class Standing:
    """Make the standing files at a start, and then once a day outside the tick.

    Args:
        shown: reads what is published.
        last_good: counts what fails.
        at_once: the first tick makes what is not up to date, and waits for it; else it takes what is published, and the
            next release has the new.
    """

    def __init__(
        self, shown: Shown = nothing_shown, last_good: LastGood | None = None, *, at_once: bool = True
    ) -> None:
        self._shown = shown
        self._last_good = last_good or LastGood()
        self._at_once = at_once
        self._made: Made | None = None
        self._asked_on: date | None = None
        self._sure = False  # that what we hold is what is published
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="standing")
        self._next: Future[Made] | None = None

    @property
    def schemas(self) -> Mapping[str, Any]:
        """The component schemas of the published OpenAPI, for the docs page."""
        return self._made.schemas if self._made else {}

    @cached_property
    def assets_version(self) -> str:
        """What stands in the addresses of scripts and style sheets; it changes with the program only."""
        return assets_version(Resources.locate())

    @cached_property
    def assets(self) -> Mapping[str, bytes]:
        """Scripts, style sheets and the icon: part of the program."""
        return static_assets()

    def doubt(self) -> None:
        """Look again at what is published before the next use: another process may have published since."""
        self._sure = False

    def files(self, site: Site, bodies: Mapping[str, Any], at: datetime) -> dict[str, bytes]:
        """Return path -> bytes; `bodies` (path or product id -> JSON object) are the examples when they are due."""
        if not self._sure:
            self._begin(site, bodies, at)
            self._sure = True
        elif self._next is not None and self._next.done():
            self._land(self._next)
            self._next = None
        assert self._made is not None
        if self._next is None and at.date() not in {self._made.day, self._asked_on}:
            self._asked_on = at.date()
            self._next = self._pool.submit(make, site, dict(bodies), at)
        return self._made.files

    def close(self) -> None:
        """Wait for the thread."""
        self._pool.shutdown(cancel_futures=True)

    def _land(self, made: Future[Made]) -> None:
        self._made = self._last_good.attempt(Kind.DISCOVERY, made.result, OPENAPI_JSON) or self._made

    def _begin(self, site: Site, bodies: Mapping[str, Any], at: datetime) -> None:
        """Go on from what is published, else from what we have, else make it now."""
        self._made = self._published(site, at) or self._made
        if self._made is None or (self._at_once and self._made.day != at.date()):
            self._made = make(site, bodies, at)

    def _published(self, site: Site, at: datetime) -> Made | None:
        """Return what is published, made new around its OpenAPI; None where that is not what we would publish."""
        found = self._shown((OPENAPI_JSON, OPENAPI_YAML))
        told, yaml = found.get(OPENAPI_JSON), found.get(OPENAPI_YAML)
        if told is None or yaml is None or not is_twin(yaml, told):
            return None
        try:
            examples = examples_in(json.loads(told))
            document = _document(site, examples)
        except (ValueError, KeyError, TypeError, AttributeError):  # of another version of this program
            return None
        return _around(document, told, yaml, site, at, _day(examples)) if encode(document) == told else None


def make(site: Site, bodies: Mapping[str, Any], at: datetime) -> Made:
    """Make all standing files with the examples of one tick."""
    document = _document(site, bodies)
    return _around(document, encode(document), openapi_yaml(document), site, at, at.date() if bodies else None)


def _around(  # noqa: PLR0917
    document: Mapping[str, Any], told: bytes, yaml: bytes, site: Site, at: datetime, day: date | None
) -> Made:
    files = {OPENAPI_JSON: told, OPENAPI_YAML: yaml, **discovery(site, at.astimezone(UTC))}
    return Made(files, document["components"]["schemas"], day)


def _document(site: Site, examples: Mapping[str, Any]) -> dict[str, Any]:
    return openapi(
        base_url=site.base_url, project=site.project, contact=site.contact, network=site.network, examples=examples
    )


def _day(examples: Mapping[str, Any]) -> date | None:
    """Return the day of a document's examples, as the first of them tells it."""
    first = examples.get(ENDPOINTS[0].path)
    return None if first is None else date.fromisoformat(first["freshness"]["generated_at"][:10])
