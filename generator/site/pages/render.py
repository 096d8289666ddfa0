"""The pages for people, rendered each tick from one environment; parts that did not change are kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from gateway.wire.networks import NETWORKS
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.discovery import PAGES, SharePicture
from generator.catalog.downloads import SERIES, RecordFile
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import iso
from generator.catalog.pages import SitePage
from generator.catalog.text import answers
from generator.compose.context import TickContext
from generator.compose.free import FreeBodies
from generator.compose.scores import hour_statement
from generator.market.bars import BAR_MS
from generator.site.charts.history import FIRST_CHART, WINDOWS
from generator.site.charts.lessons import by_kind
from generator.site.charts.sources import source_of
from generator.site.pages.arena import crowds_scores, live_view, voters
from generator.site.pages.asset import asset_view
from generator.site.pages.chapters.chapter import Facts
from generator.site.pages.daily import daily_source, daily_view
from generator.site.pages.docs import document_view
from generator.site.pages.landing import landing, missing
from generator.site.pages.learn import chapter_view, learn_view
from generator.site.pages.linked import linked_data
from generator.site.pages.markdown import markdown
from generator.site.pages.practice import class_view, own_months, practice_view
from generator.site.pages.record import record_view
from generator.site.pages.rounds import FinishedRound, history, who_was_right
from generator.site.pages.terms import with_terms_linked
from generator.site.pages.today import examples
from generator.site.resources import Resources, ShippedMonth
from generator.site.templates import environment
from generator.site.words import format as page_format
from generator.site.words.days import DAYS_KEPT, Day
from generator.site.words.month import HourlyMonth
from generator.site.words.record import first_due
from generator.site.words.reference import Reference
from generator.site.words.weeks import Week
from generator.values.hours import PredictionMade

_NO_TERMS: Final = ("pages/docs.html", "pages/glossary.html", "pages/changelog.html")  # without links to terms


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """What the pages are made from.

    Args:
        bodies: the free answers of the same tick.
        reference: the fields of every answer, from the published OpenAPI.
        rounds: rows of `/arena/rounds.json`, newest first.
        predictions: hourly forecasts that came due or were void, newest first.
        shares: page path -> the picture it shows where it is shared; the other pages show that of "".
        months: files of the record by month, for download.
        figures: name -> drawn chart, such as `btc-7d`; one that could not be drawn is left out.
        month: the market at the full hours of the last month.
        weeks: with their most surprising hours, the newest first.
        days: those of the archive, newest first.
    """

    ctx: TickContext
    bodies: FreeBodies
    reference: Reference = field(default_factory=partial(Reference, {}))
    rounds: Sequence[Mapping[str, Any]] = ()
    predictions: Sequence[PredictionMade] = ()
    shares: Mapping[str, SharePicture] = field(default_factory=dict)
    months: Sequence[RecordFile] = ()
    figures: Mapping[str, Markup] = field(default_factory=dict)
    month: HourlyMonth = field(default_factory=HourlyMonth)
    weeks: Sequence[Week] = ()
    days: Sequence[Day] = ()

    def share(self, page: SitePage) -> SharePicture | None:
        """Return the picture of a page."""
        return self.shares.get(page.path) or self.shares.get("")

    def finished_rounds(self) -> tuple[FinishedRound, ...]:
        """Return what the pages read of the rounds, newest first."""
        return tuple(map(FinishedRound.of, self.rounds))


class PageRecipe(NamedTuple):
    """How the part between the head and the foot of a page is made.

    Args:
        values: returns what the template reads.
        source: returns what the page is made from; while that is equal the page is kept. None: made every tick.
    """

    values: Callable[[SitePage, PageView], Mapping[str, Any]]
    source: Callable[[PageView], tuple[object, ...]] | None


def _record_source(view: PageView) -> tuple[object, ...]:
    arena = view.ctx.arena
    # Until the first score of the ranges, the page says when it is due, which moves with the clock.
    due = None if arena.how_far else first_due(arena, view.ctx.freshness.generated_ms)
    return (
        due,
        arena.hourly_record,
        arena.how_far,
        arena.teacher,
        arena.backtest,
        arena.arena_record,
        tuple(view.predictions),
        tuple(view.rounds),
        tuple(view.months),
    )


def _record(_page: SitePage, view: PageView) -> Mapping[str, Any]:
    newest_ms = max((prediction.end_ms for prediction in view.predictions), default=None)
    until = Markup()
    if newest_ms is not None:
        until = Markup(", up to {}").format(page_format.when(newest_ms))
        priced_ms = view.ctx.freshness.priced_ms(newest_ms)
        if priced_ms is not None:
            until += Markup(", prices of {}").format(page_format.when(priced_ms))
    source = Markup('Source: own record, <a href="{}">downloads</a>{}.').format("#downloads", until)

    record = record_view(
        view.ctx.arena,
        view.predictions,
        source,
        view.ctx.freshness.generated_ms,
        view.finished_rounds(),
    )
    series = {row.name for row in SERIES}
    return {"record": record, "months": [file for file in view.months if file.series in series]}


def _arena(_page: SitePage, view: PageView) -> Mapping[str, Any]:
    rounds = view.finished_rounds()
    return {
        "live": live_view(view.ctx, view.bodies.shared_intelligence.price),
        "crowd": view.bodies.human_consensus,
        "network": NETWORKS[view.ctx.site.network],
        "rows": history(rounds),
        "right": who_was_right(view.ctx.arena, rounds, "Source: resolved rounds since the start."),
        "chances_scored": crowds_scores(view.ctx),
        "voters": voters(view.bodies.teacher_lessons),
    }


def _status(_page: SitePage, view: PageView) -> Mapping[str, Any]:
    return {
        "lacking": missing(view.ctx, view.bodies),
        "how_far": hour_statement(view.ctx.arena),
        "uptime": view.figures.get("uptime"),
    }


def _learn(_page: SitePage, view: PageView) -> Mapping[str, Any]:
    return learn_view(view.ctx.arena, view.figures)


def _kinds_of_day(view: PageView) -> tuple[Markup | None, ...]:
    return tuple(picture for _, picture in by_kind(view.figures))


def _chapter(page: SitePage, view: PageView) -> Mapping[str, Any]:
    funding = view.figures.get(f"{DEFAULT_ASSET.lower()}-funding")
    return chapter_view(page.subject, Facts(view.month, view.predictions, view.ctx.arena, funding))


def _chapter_source(view: PageView) -> tuple[object, ...]:
    """Return what changes once an hour: full hours of the month, and forecasts that came due."""
    arena = view.ctx.arena
    newest = tuple(view.predictions[: len(ASSETS)])
    return (view.month, len(view.predictions), newest, arena.hourly_record.move, arena.backtest)


def _practice(_page: SitePage, view: PageView) -> Mapping[str, Any]:
    return practice_view(ShippedMonth.load(), own_months(view.months), str(view.ctx.observation.mode))


def _daily(_page: SitePage, view: PageView) -> Mapping[str, Any]:
    return daily_view(view.ctx)


def _class(_page: SitePage, view: PageView) -> Mapping[str, Any]:
    return class_view(ShippedMonth.load(), own_months(view.months), str(view.ctx.observation.mode))


def _asset(page: SitePage, view: PageView) -> Mapping[str, Any]:
    asset = page.subject.lower()
    figures = {
        "week": view.figures.get(f"{asset}-7d"),
        "funding": view.figures.get(f"{asset}-funding"),
        "interest": view.figures.get(f"{asset}-interest"),
    }
    now = asset_view(page.subject, view.bodies, view.predictions, source_of(view.ctx))
    return {"now": now, "figures": figures}


def _history(page: SitePage, view: PageView) -> Mapping[str, Any]:
    figure = view.figures.get(f"{DEFAULT_ASSET.lower()}-{page.subject}")
    return {"window": WINDOWS[page.subject], "figure": figure}


def _today(view: PageView) -> Mapping[str, str]:
    return examples(view.bodies, view.predictions, view.ctx.freshness.generated_ms, view.ctx.observation.mode)


def _archive(_page: SitePage, view: PageView) -> Mapping[str, Any]:
    first_hour = page_format.moment(view.ctx.freshness.generated_ms + HOUR_MS)
    return {"days": view.days, "days_kept": DAYS_KEPT, "first_hour": f"{first_hour:%H}:00"}


def _each_five_minutes(view: PageView) -> tuple[object, ...]:
    """Return what changes every five minutes, as closed bars do."""
    return (view.figures, view.ctx.freshness.generated_ms // BAR_MS, tuple(view.predictions))


def _landing(_page: SitePage, view: PageView) -> Mapping[str, Any]:
    return {"now": landing(view.ctx, view.bodies, view.figures.get(FIRST_CHART))}


def _document(page: SitePage, view: PageView) -> Mapping[str, Any]:
    return document_view(page, view.reference, view.bodies.by_path, view.ctx.site)


def _nothing(*_: object) -> Mapping[str, Any]:
    return {}


_PLAIN: Final = PageRecipe(_nothing, lambda _view: ())
# The answers are those of the tick that made the page: at a start, and each day.
_DOCUMENT: Final = PageRecipe(_document, lambda view: (view.reference.schemas,))
_BY_TEMPLATE: Final[Mapping[str, PageRecipe]] = {
    "pages/index.html": PageRecipe(_landing, None),
    "pages/arena.html": PageRecipe(_arena, None),
    "pages/status.html": PageRecipe(_status, None),
    "pages/track_record.html": PageRecipe(_record, _record_source),
    "pages/glossary.html": PageRecipe(lambda _, view: {"today": _today(view)}, lambda view: (_today(view),)),
    "pages/learn.html": PageRecipe(_learn, lambda view: (view.ctx.arena.lessons, _kinds_of_day(view))),
    "pages/learn_week.html": PageRecipe(lambda _, view: {"weeks": view.weeks}, lambda view: (tuple(view.weeks),)),
    "pages/learn_chapter.html": PageRecipe(_chapter, _chapter_source),
    "pages/daily.html": PageRecipe(_daily, lambda view: daily_source(view.ctx)),
    "pages/practice_class.html": PageRecipe(_class, lambda view: (own_months(view.months),)),
    "pages/practice.html": PageRecipe(_practice, lambda view: (own_months(view.months),)),
    "pages/asset.html": PageRecipe(_asset, _each_five_minutes),
    "pages/history.html": PageRecipe(_history, lambda view: (view.figures,)),
    "pages/archive.html": PageRecipe(_archive, lambda view: (view.days,)),
    "pages/archive_day.html": PageRecipe(lambda _, view: {"day": view.days[0]}, lambda view: (view.days,)),
}


def _recipe(page: SitePage) -> PageRecipe:
    if page.template in _BY_TEMPLATE:
        return _BY_TEMPLATE[page.template]
    return _DOCUMENT if page.group else _PLAIN


class Pages:
    """Render every page; those that show nothing of this minute stay as they were made until their source changes."""

    def __init__(self, resources: Resources | None = None) -> None:
        self._env = environment(resources or Resources.locate())
        self._kept: dict[str, tuple[object, dict[str, bytes]]] = {}

    def render(self, view: PageView) -> dict[str, bytes]:
        """Return path -> bytes of every page and its twin; raise KeyError when a free body is missing."""
        return {path: content for _, make in self.each(view) for path, content in make().items()}

    def each(self, view: PageView) -> Iterator[tuple[SitePage, Callable[[], dict[str, bytes]]]]:
        """Give every page with what renders it and its twin, so that one may fail and the others not."""
        frame = cache(partial(self._frame, view))
        for page in PAGES:
            yield page, partial(self._page, page, view, frame)

        for day in view.days[:DAYS_KEPT]:
            if not day.tested:
                page = day.page()
                yield page, partial(self._page, page, replace(view, days=(day,)), frame)
        for day in view.days[DAYS_KEPT:]:
            self._kept.pop(day.path, None)

    def _page(self, page: SitePage, view: PageView, frame: Callable[..., Mapping[str, Any]]) -> dict[str, bytes]:
        """Return a page and its twin, those of before while what they are made from is equal."""
        source = _recipe(page).source
        if source is None:
            return self._render(page, view, frame(lasting=False))

        clocks = (view.ctx.freshness.offset_ms, view.ctx.freshness.moved_ms)
        key = (view.ctx.site, view.ctx.observation.mode, clocks, view.share(page), *source(view))
        if page.path in self._kept:
            kept_key, files = self._kept[page.path]
            if kept_key == key:
                return files

        files = self._render(page, view, frame(lasting=True))
        self._kept[page.path] = (key, files)
        return files

    def _frame(self, view: PageView, *, lasting: bool) -> dict[str, Any]:
        """Render the frame around the content, and its Markdown.

        Args:
            lasting: the page shows nothing of this minute; its script asks /status.json whether the service is fresh.
        """
        ctx = view.ctx
        values = {
            "ctx": ctx,
            "site": ctx.site,
            "fresh": ctx.freshness,
            "mode": str(ctx.observation.mode),
            "lasting": lasting,
        }

        head = self._env.get_template("pages/head.html").render(values)
        foot = self._env.get_template("pages/foot.html").render(values)

        return {
            **values,
            "head": Markup(head),  # noqa: S704  ours, escaped when it was made
            "foot": Markup(foot),  # noqa: S704
            "before": markdown(head, ctx.site.base_url),
            "after": markdown(foot, ctx.site.base_url),
        }

    def _render(self, page: SitePage, view: PageView, frame: Mapping[str, Any]) -> dict[str, bytes]:
        """Render a page and its twin."""
        ctx = view.ctx
        main = self._env.get_template(page.template).render(
            {
                **frame,
                "page": page,
                "answer_time": page_format.when(ctx.freshness.generated_ms),
                **_recipe(page).values(page, view),
            }
        )
        if not page.group and page.template not in _NO_TERMS:
            main = with_terms_linked(main)

        html = self._env.get_template("pages/base.html").render(
            frame,
            page=page,
            main=Markup(main),  # noqa: S704  made from our templates, escaped there
            linked=linked_data(page, ctx.site, iso(ctx.freshness.generated_ms)),
            share_picture=view.share(page),
        )
        disclaimer = f"{answers.DISCLAIMER}\n\n"
        if page.path == "/":
            disclaimer = ""  # there it is a part of the page
        twin = f"{frame['before']}\n{markdown(main, ctx.site.base_url)}\n{disclaimer}{frame['after']}"
        return {page.file: html.encode(), page.twin: twin.encode()}
