"""The pages for people, rendered each tick from one environment; parts that did not change are kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from gateway.wire.networks import NETWORKS
from generator.arena.values import PredictionMade
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.counts import ASSETS_IN_WORDS, ENDPOINTS_IN_WORDS, PRODUCTS_IN_WORDS
from generator.catalog.discovery import (
    CATALOG_VERSION,
    DISCOVERY_FILES,
    FEEDS,
    MENU,
    PAGES,
    STATUSES,
    SharePicture,
)
from generator.catalog.downloads import DOWNLOADS, RecordFile
from generator.catalog.endpoints import CACHE_SECONDS, ENDPOINT_BY_ID, ENDPOINTS, RECOMMENDED_ORDER
from generator.catalog.formats import iso
from generator.catalog.links import (
    ARCHIVE,
    ARENA,
    BADGE,
    BUYER,
    BUYER_AGENT,
    BUYER_PAGES,
    DOCS,
    DOCS_INDEX,
    HISTORY,
    HISTORY_CSV,
    LEARN,
    STATUS,
    TRACK_RECORD,
    asset_path,
    embedded,
)
from generator.catalog.measured import DAYS, MARKETS, MEASURED
from generator.catalog.pages import DOC_PAGES, SitePage
from generator.catalog.products import PRODUCTS
from generator.catalog.text.answers import CAPACITY_NOTICE, CLIENT_ADVICE, DISCLAIMER, VERSION_ADVICE, WHAT_THIS_IS_NOT
from generator.catalog.text.glossary import glossary
from generator.catalog.text.labels import MODE_BANNERS
from generator.catalog.text.questions import LEARN_QUESTIONS, PRICING_QUESTIONS
from generator.compose.context import TickContext
from generator.compose.scores import hour_statement
from generator.market.bars import BAR_MS
from generator.site import format as page_format
from generator.site.charts.history import WINDOWS
from generator.site.pages.arena import history, live_view, rate_words, voters, who_was_right
from generator.site.pages.asset import asset_view
from generator.site.pages.changelog import versions
from generator.site.pages.docs import Schemas, values
from generator.site.pages.landing import landing, missing
from generator.site.pages.linked import MADE, linked_data
from generator.site.pages.markdown import markdown
from generator.site.pages.record import by_month, first_due, record_view
from generator.site.pages.terms import with_terms_linked
from generator.site.resources import Resources, assets_version

_SHARED: Final = ENDPOINT_BY_ID["shared-intelligence"].path
_CROWD: Final = ENDPOINT_BY_ID["human-consensus"].path
_LESSONS: Final = ENDPOINT_BY_ID["teacher-lessons"].path
FIRST: Final = f"{DEFAULT_ASSET.lower()}-7d"  # the chart of the landing page
# Without links to terms.
_REFERENCE: Final = frozenset(
    {"pages/docs.html", "pages/glossary.html", "pages/changelog.html", *(page.template for page in DOC_PAGES)}
)


@dataclass(frozen=True, slots=True)
class PageView:
    """What the pages are made from.

    Args:
        bodies: path -> the free body published there, as plain values.
        schemas: model name -> JSON schema, from the published OpenAPI.
        predictions: hourly forecasts that came due or were void, newest first.
        shares: page path -> the picture it shows where it is shared; the other pages show that of "".
    """

    ctx: TickContext
    bodies: Mapping[str, Mapping[str, Any]]
    schemas: Schemas = field(default_factory=dict)
    rounds: Sequence[Mapping[str, Any]] = ()
    predictions: Sequence[PredictionMade] = ()
    shares: Mapping[str, SharePicture] = field(default_factory=dict)
    months: Sequence[RecordFile] = ()
    figures: Mapping[str, Markup] = field(default_factory=dict)
    days: Sequence[tuple[str, ...]] = ()


def _nothing(_view: PageView) -> Mapping[str, Any]:
    return {}


def ballot_terms(view: PageView) -> Mapping[str, str]:
    """Return what a wallet needs to sign a ballot."""
    site = view.ctx.site
    network = NETWORKS[site.network]
    return {
        "address": site.arena_address,
        "network": network.name,
        "genesis_id": network.genesis_id,
        "genesis_hash": network.genesis_hash,
    }


@dataclass(frozen=True, slots=True)
class Content:
    """What is between the head and the foot of a page.

    Args:
        source: returns what the page is made from; while that is equal the page is kept. None: made every tick.
    """

    templates: tuple[str, ...]
    source: Callable[[PageView], object] | None
    values: Callable[[PageView], Mapping[str, Any]] = _nothing


def _settled(view: PageView) -> object:
    return (view.ctx.site, view.ctx.observation.mode)


def _lessons(view: PageView) -> object:
    return (_settled(view), view.ctx.arena.lessons)


def _record(view: PageView) -> object:
    arena = view.ctx.arena
    scores = (arena.hourly_record, arena.arena_record, arena.how_far)
    played = (arena.teacher, arena.teacher_live, arena.rehearsal)
    due = None if arena.how_far else first_due(arena, view.ctx.freshness.generated_ms)
    return (_settled(view), due, scores, played, tuple(view.predictions), tuple(view.rounds), tuple(view.months))


def _documented(view: PageView) -> object:
    return (_settled(view), view.schemas)


def _record_source(view: PageView) -> Markup:
    newest = max((made.end_ms for made in view.predictions), default=None)
    until = Markup(", up to {}").format(page_format.when(newest)) if newest is not None else ""
    return Markup('Source: own record, <a href="{}">downloads</a>{}.').format("#downloads", until)


def _document(page: SitePage, view: PageView) -> Mapping[str, Any]:
    return values(page, view.schemas, view.bodies, view.ctx.site)


_CONTENT: Final[Mapping[str, Content]] = {
    "/": Content(
        ("pages/index.html", "pages/index_offer.html"),
        None,
        lambda view: {"now": landing(view.ctx, view.bodies, view.figures.get(FIRST))},
    ),
    ARENA: Content(
        ("pages/arena.html", "pages/arena_history.html"),
        None,
        lambda view: {
            "live": live_view(view.ctx, view.bodies[_SHARED]),
            "crowd": view.bodies[_CROWD],
            "ballot": ballot_terms(view),
            "rows": history(view.rounds),
            "right": who_was_right(view.ctx.arena, "Source: all resolved rounds since the start."),
            "voters": voters(view.bodies[_LESSONS]),
        },
    ),
    TRACK_RECORD: Content(
        ("pages/track_record.html",),
        _record,
        lambda view: {
            "record": record_view(
                view.ctx.arena, view.predictions, _record_source(view), view.ctx.freshness.generated_ms
            ),
            "months": by_month(view.months),
        },
    ),
    LEARN: Content(("pages/learn.html",), _lessons),
    STATUS: Content(
        ("pages/status.html",),
        None,
        lambda view: {
            "lacking": missing(view.ctx, view.bodies),
            "how_far": hour_statement(view.ctx.arena),
            "uptime": view.figures.get("uptime"),
        },
    ),
    # The answers are those of the tick that made the page: at a start, and each day.
    **{page.path: Content((page.template,), _documented, partial(_document, page)) for page in DOC_PAGES},
}


def _content(page: SitePage) -> Content:
    if page.template == "pages/asset.html":
        return Content((page.template,), _slowly, partial(_asset, page.subject))
    if page.template == "pages/history.html":
        return Content((page.template,), _drawn, partial(_history, page.subject))
    if page.path == ARCHIVE:
        return Content((page.template,), lambda view: (_settled(view), view.days), lambda view: {"days": view.days})
    return _CONTENT.get(page.path) or Content((page.template,), _settled)


def _drawn(view: PageView) -> object:
    return (_settled(view), view.figures)


def _slowly(view: PageView) -> object:
    """Return what changes every five minutes, as closed bars do."""
    return (_drawn(view), view.ctx.freshness.generated_ms // BAR_MS, tuple(view.predictions))


def _asset(asset: str, view: PageView) -> Mapping[str, Any]:
    names = {"week": "7d", "funding": "funding", "interest": "interest"}
    figures = {name: view.figures.get(f"{asset.lower()}-{key}") for name, key in names.items()}
    return {"now": asset_view(asset, view.bodies, view.predictions), "figures": figures}


def _history(window: str, view: PageView) -> Mapping[str, Any]:
    return {"window": WINDOWS[window], "figure": view.figures.get(f"{DEFAULT_ASSET.lower()}-{window}")}


def lasting(page: SitePage) -> bool:
    """Return whether a page shows nothing of this minute; its script asks /status.json whether the service is fresh."""
    return _content(page).source is not None


class Pages:
    """Render every page; those that show nothing of this minute stay as they were made until their source changes."""

    def __init__(self, resources: Resources | None = None) -> None:
        self._env = environment(resources or Resources.locate())
        self._kept: dict[str, tuple[object, dict[str, bytes]]] = {}

    def render(self, view: PageView) -> dict[str, bytes]:
        """Return path -> bytes of every page and its Markdown twin.

        Raises:
            KeyError: a free body is missing from `view.bodies`.
        """
        return {path: content for _, make in self.each(view) for path, content in make().items()}

    def each(self, view: PageView) -> Iterator[tuple[SitePage, Callable[[], dict[str, bytes]]]]:
        """Give every page with what renders it and its twin, so that one may fail and the others not."""
        frame = cache(partial(self._frame, view))
        for page in PAGES:
            yield page, partial(self._page, page, view, frame)

    def _page(self, page: SitePage, view: PageView, frame: Callable[..., Mapping[str, Any]]) -> dict[str, bytes]:
        source = _content(page).source
        if source is None:
            return self._made(page, view, frame(lasting=False))
        key = (source(view), view.shares.get(page.path) or view.shares.get(""))
        held = self._kept.get(page.path)
        if held is None or held[0] != key:
            held = self._kept[page.path] = (key, self._made(page, view, frame(lasting=True)))
        return held[1]

    def _frame(self, view: PageView, *, lasting: bool) -> dict[str, Any]:
        """Render the frame around the content, and its Markdown."""
        ctx = view.ctx
        values = {"ctx": ctx, "site": ctx.site, "fresh": ctx.freshness, "mode": str(ctx.observation.mode)}
        values["lasting"] = lasting
        head, foot = (self._env.get_template(f"pages/{name}.html").render(values) for name in ("head", "foot"))
        return {
            **values,
            "head": Markup(head),  # noqa: S704  ours, escaped when it was made
            "foot": Markup(foot),  # noqa: S704
            "before": markdown(head, ctx.site.base_url),
            "after": markdown(foot, ctx.site.base_url),
        }

    def _made(self, page: SitePage, view: PageView, frame: Mapping[str, Any]) -> dict[str, bytes]:
        """Render a page and its twin."""
        ctx, content = view.ctx, _content(page)
        made_at = page_format.when(ctx.freshness.generated_ms)
        made = {**frame, "page": page, "answer_time": made_at, **content.values(view)}
        main = "\n".join(self._env.get_template(name).render(made) for name in content.templates)
        main = main if page.template in _REFERENCE else with_terms_linked(main)
        html = self._env.get_template("pages/base.html").render(
            frame,
            page=page,
            main=Markup(main),  # noqa: S704  made from our templates, escaped there
            linked=linked_data(page, ctx.site).replace(MADE, iso(ctx.freshness.generated_ms)),
            share_picture=view.shares.get(page.path) or view.shares.get(""),
        )
        said = "" if page.path == "/" else f"{DISCLAIMER}\n\n"  # there it is a part of the page
        text = f"{frame['before']}\n{markdown(main, ctx.site.base_url)}\n{said}{frame['after']}"
        return {page.file: html.encode(), page.twin: text.encode()}


@lru_cache(maxsize=8)
def environment(resources: Resources) -> Environment:
    """Return the one environment, which knows the catalog: escaped by default, an unknown name is an error.

    A process compiles each template once, on first use.
    """
    env = Environment(
        loader=FileSystemLoader(resources.templates),
        autoescape=select_autoescape(("html", "xml", "svg"), default=False),
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    names = ("price", "percent", "signed", "usd", "word", "when", "day", "clock", "duration", "count", "left", "coded")
    env.filters.update(
        {name: getattr(page_format, name) for name in names},
        iso=iso,
        rate=rate_words,
        asset_path=asset_path,
        embedded=embedded,
    )
    env.globals.update(_facts(), versions=versions(resources.changelog), assets_version=assets_version(resources))
    return env


def _facts() -> dict[str, Any]:
    return {
        "assets": ASSETS,
        "endpoints": ENDPOINTS,
        "order": [ENDPOINT_BY_ID[name] for name in RECOMMENDED_ORDER],
        "products": PRODUCTS,
        "pages": PAGES,
        "doc_groups": list(dict.fromkeys(page.group for page in DOC_PAGES)),
        "docs": DOCS,
        "docs_index": DOCS_INDEX,
        "menu": MENU,
        "discovery_files": DISCOVERY_FILES,
        "downloads": DOWNLOADS,
        "feeds": FEEDS,
        "statuses": STATUSES,
        "asset_count": ASSETS_IN_WORDS,
        "endpoint_count": ENDPOINTS_IN_WORDS,
        "product_count": PRODUCTS_IN_WORDS,
        "buyer": BUYER,
        "buyer_agent": BUYER_AGENT,
        "buyer_pages": BUYER_PAGES,
        "cache_seconds": CACHE_SECONDS,
        "catalog_version": CATALOG_VERSION,
        "disclaimer": DISCLAIMER,
        "client_advice": CLIENT_ADVICE,
        "capacity_notice": CAPACITY_NOTICE,
        "version_advice": VERSION_ADVICE,
        "what_this_is_not": WHAT_THIS_IS_NOT,
        "measured": MEASURED,
        "measured_markets": MARKETS,
        "measured_days": DAYS,
        "mode_banners": MODE_BANNERS,
        "learn_questions": LEARN_QUESTIONS.items(),
        "pricing_questions": PRICING_QUESTIONS.items(),
        "terms": glossary(),
        "status_page": STATUS,
        "history": HISTORY,
        "badge": BADGE,
        "history_csv": HISTORY_CSV,
        "windows": WINDOWS,
    }
