"""The pages for people, rendered each tick from one environment."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from generator.catalog.assets import ASSETS
from generator.catalog.discovery import CATALOG_VERSION, DISCOVERY_FILES, PAGES, STATUSES, SitePage
from generator.catalog.endpoints import CACHE_SECONDS, ENDPOINT_BY_ID, ENDPOINTS, RECOMMENDED_ORDER
from generator.catalog.formats import iso
from generator.catalog.links import BUYER, BUYER_AGENT, DOCS
from generator.catalog.products import PRODUCTS
from generator.catalog.sentences import CAPACITY_NOTICE, CLIENT_ADVICE, DISCLAIMER, VERSION_ADVICE
from generator.compose.context import TickContext
from generator.publish import page_format
from generator.publish.markdown import markdown
from generator.publish.page_docs import Docs, Schemas, answer, docs
from generator.publish.page_landing import landing, question, track_record
from generator.publish.page_words import MODE_BANNERS, glossary
from generator.publish.resources import Resources

NOT_FOUND: Final = SitePage("/404", "pages/404.html", "", "No such page", "There is nothing at this address.")


@dataclass(frozen=True, slots=True)
class PageView:
    """What the pages are made from.

    Args:
        ctx: the tick.
        bodies: path -> the free body published there, as plain values.
        schemas: model name -> JSON schema, from the published OpenAPI.
    """

    ctx: TickContext
    bodies: Mapping[str, Mapping[str, Any]]
    schemas: Schemas = field(default_factory=dict)


class Pages:
    """Render every page. The environment is built once; templates are compiled on first use."""

    def __init__(self, resources: Resources | None = None) -> None:
        resources = resources or Resources.locate()
        self._env = environment(resources)
        self._env.globals.update(_facts(), assets_version=_version(resources))
        self._docs: tuple[Schemas, Docs] | None = None

    def render(self, view: PageView) -> dict[str, bytes]:
        """Return path -> bytes of every page, its Markdown twin, and `/404.html`.

        Raises:
            KeyError: a free body is missing from `view.bodies`.
        """
        shared = {
            "ctx": view.ctx,
            "site": view.ctx.site,
            "fresh": view.ctx.freshness,
            "mode": str(view.ctx.observation.mode),
            "now": landing(view.ctx, view.bodies),
        }
        extra: dict[str, dict[str, Any]] = {"pages/docs.html": self._docs_values(view)}
        files: dict[str, bytes] = {}
        for page in PAGES:
            html = self._page(page, {**shared, **extra.get(page.template, {})})
            files[page.file] = html.encode()
            if page.path != DOCS:  # its twin is llms-full.txt
                files[page.twin] = markdown(html, view.ctx.site.base_url).encode()
        files["/404.html"] = self._page(NOT_FOUND, shared).encode()
        return files

    def _page(self, page: SitePage, values: Mapping[str, Any]) -> str:
        return self._env.get_template(page.template).render(values, page=page)

    def _docs_values(self, view: PageView) -> dict[str, Any]:
        # The schemas change once a day at most; the same object gives the same tables.
        if self._docs is None or self._docs[0] is not view.schemas:
            self._docs = (view.schemas, docs(view.schemas))
        answers = {endpoint.id: answer(view.bodies.get(endpoint.path)) for endpoint in ENDPOINTS}
        return {"docs": self._docs[1], "answers": answers}


def environment(resources: Resources) -> Environment:
    """Build the one environment: escaped by default, an unknown name is an error."""
    env = Environment(
        loader=FileSystemLoader(resources.templates),
        autoescape=select_autoescape(("html", "xml"), default=False),
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    names = ("price", "percent", "signed", "usd", "word", "when", "clock", "duration", "count")
    env.filters.update({name: getattr(page_format, name) for name in names}, iso=iso)
    return env


def _facts() -> dict[str, Any]:
    return {
        "assets": ASSETS,
        "endpoints": ENDPOINTS,
        "order": [ENDPOINT_BY_ID[name] for name in RECOMMENDED_ORDER],
        "products": PRODUCTS,
        "pages": PAGES,
        "discovery_files": DISCOVERY_FILES,
        "statuses": STATUSES,
        "buyer": BUYER,
        "buyer_agent": BUYER_AGENT,
        "cache_seconds": CACHE_SECONDS,
        "catalog_version": CATALOG_VERSION,
        "disclaimer": DISCLAIMER,
        "client_advice": CLIENT_ADVICE,
        "capacity_notice": CAPACITY_NOTICE,
        "version_advice": VERSION_ADVICE,
        "mode_banners": MODE_BANNERS,
        "terms": glossary(),
        "question": question,
        "track_record": track_record,
    }


def _version(resources: Resources) -> str:
    # In the address of style sheet and script, so that a new release never meets an old copy in a cache.
    folder = resources.site / "assets"
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:10]
