"""The pages for people, rendered each tick from one environment; parts that did not change are kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from gateway.wire.networks import NETWORKS
from generator.arena.values import PredictionMade
from generator.catalog.assets import ASSETS
from generator.catalog.counts import ASSETS_IN_WORDS, ENDPOINTS_IN_WORDS, PRODUCTS_IN_WORDS
from generator.catalog.discovery import (
    CATALOG_VERSION,
    DISCOVERY_FILES,
    FEEDS,
    PAGES,
    STATUSES,
    SharePicture,
    SitePage,
)
from generator.catalog.downloads import DOWNLOADS, RecordFile
from generator.catalog.endpoints import CACHE_SECONDS, ENDPOINT_BY_ID, ENDPOINTS, RECOMMENDED_ORDER
from generator.catalog.formats import iso
from generator.catalog.links import ARENA, BUYER, BUYER_AGENT, DOCS, LEARN, STATUS, TRACK_RECORD
from generator.catalog.measured import DAYS, MARKETS, MEASURED
from generator.catalog.products import PRODUCTS
from generator.catalog.text.answers import CAPACITY_NOTICE, CLIENT_ADVICE, DISCLAIMER, VERSION_ADVICE, WHAT_THIS_IS_NOT
from generator.catalog.text.glossary import glossary
from generator.catalog.text.labels import MODE_BANNERS
from generator.catalog.text.questions import LEARN_QUESTIONS, PRICING_QUESTIONS
from generator.compose.context import TickContext
from generator.compose.scores import hour_statement
from generator.site import format as page_format
from generator.site.pages.arena import history, live_view, question, rate_words, voters, who_was_right
from generator.site.pages.changelog import versions
from generator.site.pages.docs import Schemas, answer, docs
from generator.site.pages.landing import landing, missing
from generator.site.pages.linked import linked_data
from generator.site.pages.markdown import markdown
from generator.site.pages.record import by_month, record_view
from generator.site.pages.terms import with_terms_linked
from generator.site.resources import Resources, assets_version

_SHARED: Final = ENDPOINT_BY_ID["shared-intelligence"].path
_CROWD: Final = ENDPOINT_BY_ID["human-consensus"].path
_LESSONS: Final = ENDPOINT_BY_ID["teacher-lessons"].path
_REFERENCE: Final = frozenset(
    {"pages/docs.html", "pages/glossary.html", "pages/changelog.html"}
)  # without links to terms


@dataclass(frozen=True, slots=True)
class PageView:
    """What the pages are made from.

    Args:
        ctx: the tick.
        bodies: path -> the free body published there, as plain values.
        schemas: model name -> JSON schema, from the published OpenAPI.
        rounds: rows of `/arena/rounds.json`, newest first.
        predictions: hourly forecasts that came due or were void, newest first.
        shares: page path -> the picture it shows where it is shared; the other pages show that of "".
        months: files of the record of months that are over.
    """

    ctx: TickContext
    bodies: Mapping[str, Mapping[str, Any]]
    schemas: Schemas = field(default_factory=dict)
    rounds: Sequence[Mapping[str, Any]] = ()
    predictions: Sequence[PredictionMade] = ()
    shares: Mapping[str, SharePicture] = field(default_factory=dict)
    months: Sequence[RecordFile] = ()


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
        "rounds": _CROWD,
    }


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a page's content.

    Args:
        template: below templates/.
        source: returns what the piece is made from; while that is equal the piece is kept. None: made every tick.
        values: returns what its template reads apart from the shared values.
    """

    template: str
    source: Callable[[PageView], object] | None
    values: Callable[[PageView], Mapping[str, Any]] = _nothing


@dataclass(frozen=True, slots=True)
class _Made:
    html: str
    text: str  # the Markdown twin


def _settled(view: PageView) -> object:
    return (view.ctx.site, view.ctx.observation.mode)


def _lessons(view: PageView) -> object:
    return (_settled(view), view.ctx.arena.lessons)


def _record(view: PageView) -> object:
    arena = view.ctx.arena
    return (
        _settled(view),
        arena.hourly_record,
        arena.arena_record,
        arena.how_far,
        arena.teacher,
        arena.teacher_live,
        arena.rehearsal,
        tuple(view.predictions),
        tuple(view.rounds),
        tuple(view.months),
    )


def _played(view: PageView) -> object:
    lessons = view.bodies[_LESSONS]
    arena = view.ctx.arena
    return (
        _settled(view),
        arena.teacher,
        arena.teacher_live,
        tuple(view.rounds),
        lessons.get("leaderboard"),
        lessons.get("patterns"),
    )


def _documented(view: PageView) -> object:
    return (view.ctx.site, view.schemas)


def _docs_values(view: PageView) -> Mapping[str, Any]:
    # A placeholder for each of the day's answers is exchanged in the finished text.
    return {"docs": docs(view.schemas, view.ctx.site.base_url), "answers": {row.id: _mark(row.id) for row in ENDPOINTS}}


def _mark(name: str) -> str:
    return f"@@{name}@@"


def _record_source(view: PageView) -> Markup:
    newest = max((made.end_ms for made in view.predictions), default=None)
    until = Markup(", up to {}").format(page_format.when(newest)) if newest is not None else ""
    return Markup('Source: own record, <a href="{}">downloads</a>{}.').format("#downloads", until)


_PARTS: Final[Mapping[str, tuple[Part, ...]]] = {
    "/": (
        Part("pages/index.html", None, lambda view: {"now": landing(view.ctx, view.bodies)}),
        Part("pages/index_offer.html", _settled),
    ),
    ARENA: (
        Part(
            "pages/arena.html",
            None,
            lambda view: {
                "live": live_view(view.ctx, view.bodies[_SHARED]),
                "crowd": view.bodies[_CROWD],
                "ballot": ballot_terms(view),
            },
        ),
        Part(
            "pages/arena_history.html",
            _played,
            lambda view: {
                "rows": history(view.rounds),
                "right": who_was_right(view.ctx.arena, "Source: all resolved rounds since the start."),
                "voters": voters(view.bodies[_LESSONS]),
            },
        ),
    ),
    TRACK_RECORD: (
        Part(
            "pages/track_record.html",
            _record,
            lambda view: {
                "record": record_view(view.ctx.arena, view.predictions, _record_source(view)),
                "months": by_month(view.months),
            },
        ),
    ),
    LEARN: (Part("pages/learn.html", _lessons),),
    STATUS: (
        Part(
            "pages/status.html",
            None,
            lambda view: {
                "lacking": missing(view.ctx, view.bodies),
                "how_far": hour_statement(view.ctx.arena),
            },
        ),
    ),
    DOCS: (Part("pages/docs.html", _documented, _docs_values),),
}


def _parts(page: SitePage) -> tuple[Part, ...]:
    return _PARTS.get(page.path) or (Part(page.template, _settled),)


def lasting(page: SitePage) -> bool:
    """Return whether a page shows nothing of this minute; its script asks /status.json whether the service is fresh."""
    return all(part.source is not None for part in _parts(page))


class Pages:
    """Render every page."""

    def __init__(self, resources: Resources | None = None) -> None:
        self._env = environment(resources or Resources.locate())
        self._kept: dict[str, tuple[object, Any]] = {}

    def render(self, view: PageView) -> dict[str, bytes]:
        """Return path -> bytes of every page and its Markdown twin.

        Raises:
            KeyError: a free body is missing from `view.bodies`.
        """
        return {path: content for _, make in self.each(view) for path, content in make().items()}

    def each(self, view: PageView) -> Iterator[tuple[SitePage, Callable[[], dict[str, bytes]]]]:
        """Give every page with what renders it and its twin, so that one may fail and the others not."""
        shared = self._shared(view)
        frame = cache(lambda: self._framing(shared, view, lasting=False))
        for page in PAGES:
            yield page, partial(self._page, page, view, shared, frame)

    def _page(
        self, page: SitePage, view: PageView, shared: Mapping[str, Any], frame: Callable[[], Mapping[str, Any]]
    ) -> dict[str, bytes]:
        made = self._lasting(page, view, shared) if lasting(page) else self._whole(page, view, shared, frame())
        return {page.file: made.html.encode(), page.twin: made.text.encode()}

    def _lasting(self, page: SitePage, view: PageView, shared: Mapping[str, Any]) -> _Made:
        """Return a page that shows nothing of this minute, as it was made when what it is made from last changed."""
        sources = [part.source(view) for part in _parts(page) if part.source is not None]
        share = view.shares.get(page.path) or view.shares.get("")

        def make() -> _Made:
            return self._whole(page, view, shared, self._framing(shared, view, lasting=True))

        made: _Made = self._keep(f"page {page.path}", (sources, shared["mode"], view.ctx.site, share), make)
        return made

    def _whole(self, page: SitePage, view: PageView, shared: Mapping[str, Any], frame: Mapping[str, Any]) -> _Made:
        made = self._content(page, view, shared)
        html = self._frame(page, view, frame, made.html)
        return _Made(html, f"{frame['before']}\n{made.text}\n{frame['after']}")

    def _framing(self, shared: Mapping[str, Any], view: PageView, *, lasting: bool) -> dict[str, Any]:
        """Render the frame around the content, and its Markdown."""
        values = {**shared, "lasting": lasting}
        head, foot = (self._env.get_template(f"pages/{name}.html").render(values) for name in ("head", "foot"))
        base_url = view.ctx.site.base_url
        return {
            **values,
            "head": Markup(head),  # noqa: S704  ours, escaped when it was made
            "foot": Markup(foot),  # noqa: S704
            "before": markdown(head, base_url),
            "after": markdown(foot, base_url),
        }

    def _shared(self, view: PageView) -> dict[str, Any]:
        ctx = view.ctx
        return {"ctx": ctx, "site": ctx.site, "fresh": ctx.freshness, "mode": str(ctx.observation.mode)}

    def _content(self, page: SitePage, view: PageView, shared: Mapping[str, Any]) -> _Made:
        made = [self._part(part, view, shared) for part in _parts(page)]
        whole = _Made("\n".join(part.html for part in made), "\n".join(part.text for part in made))
        return _with_answers(whole, view) if page.path == DOCS else whole

    def _part(self, part: Part, view: PageView, shared: Mapping[str, Any]) -> _Made:
        def make() -> _Made:
            html = self._env.get_template(part.template).render(shared, **part.values(view))
            html = html if part.template in _REFERENCE else with_terms_linked(html)
            return _Made(html, markdown(html, view.ctx.site.base_url))

        made: _Made = make() if part.source is None else self._keep(part.template, part.source(view), make)
        return made

    def _frame(self, page: SitePage, view: PageView, frame: Mapping[str, Any], main: str) -> str:
        ctx = view.ctx
        linked = self._keep(f"linked {page.path}", ctx.site, lambda: linked_data(page, ctx.site))
        dated = linked.replace(_mark("made"), iso(ctx.freshness.generated_ms))
        content = Markup(main)  # noqa: S704  made from our templates, escaped there
        shared = view.shares.get(page.path) or view.shares.get("")
        return self._env.get_template("pages/base.html").render(
            frame, page=page, main=content, linked=dated, share_picture=shared
        )

    def _keep(self, name: str, source: object, make: Callable[[], Any]) -> Any:
        held = self._kept.get(name)
        if held is None or held[0] != source:
            held = self._kept[name] = (source, make())
        return held[1]


def _with_answers(made: _Made, view: PageView) -> _Made:
    """Put the answers of the tick that made the page where their marks stand: at a start, and each day."""
    html, text = made.html, made.text
    for endpoint in ENDPOINTS:
        shown = answer(view.bodies.get(endpoint.path)) or "There is no answer at the moment."
        html = html.replace(_mark(endpoint.id), str(escape(shown)))
        # Still the same JSON, and no tag even where Markdown is shown without its fences.
        text = text.replace(_mark(endpoint.id), shown.replace("<", "\\u003c"))
    made_at = page_format.when(view.ctx.freshness.generated_ms)
    return _Made(html.replace(_mark("when"), made_at), text.replace(_mark("when"), made_at.striptags()))


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
    names = ("price", "percent", "signed", "usd", "word", "when", "clock", "duration", "count", "left", "coded")
    env.filters.update({name: getattr(page_format, name) for name in names}, iso=iso, rate=rate_words)
    env.globals.update(_facts(), versions=versions(resources.changelog), assets_version=assets_version(resources))
    return env


def _facts() -> dict[str, Any]:
    return {
        "assets": ASSETS,
        "endpoints": ENDPOINTS,
        "order": [ENDPOINT_BY_ID[name] for name in RECOMMENDED_ORDER],
        "products": PRODUCTS,
        "pages": PAGES,
        "discovery_files": DISCOVERY_FILES,
        "downloads": DOWNLOADS,
        "feeds": FEEDS,
        "statuses": STATUSES,
        "asset_count": ASSETS_IN_WORDS,
        "endpoint_count": ENDPOINTS_IN_WORDS,
        "product_count": PRODUCTS_IN_WORDS,
        "buyer": BUYER,
        "buyer_agent": BUYER_AGENT,
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
        "learn_questions": LEARN_QUESTIONS,
        "pricing_questions": PRICING_QUESTIONS,
        "terms": glossary(),
        "question": question,
        "answer_time": _mark("when"),
        "status_page": STATUS,
    }
