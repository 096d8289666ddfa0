"""What each page is made from, what its template reads of that, and when it is made again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from gateway.wire.networks import NETWORKS, Network
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.discovery import SharePicture
from generator.catalog.downloads import SERIES, RecordFile
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import moment
from generator.catalog.pages import SitePage
from generator.compose.free import FreeBodies
from generator.compose.rounds import HumanConsensusResponse
from generator.compose.tick import Tick
from generator.market.bars import BAR_MS
from generator.site.charts.history import WINDOWS, Window
from generator.site.charts.lessons import by_kind
from generator.site.charts.sources import source_of
from generator.site.pages.arena import TAPS, LiveView, Taps, Voters, crowds_scores, live_view, tapped_words, voters
from generator.site.pages.asset import AssetNow, asset_view
from generator.site.pages.chapters.chapter import Facts
from generator.site.pages.daily import Daily, daily_source, daily_view
from generator.site.pages.docs import FreePage, PaidPage, free_page, paid_page
from generator.site.pages.landing import Landing, landing
from generator.site.pages.learn import ChapterPage, LearnPage, chapter_view, learn_view
from generator.site.pages.practice import Practice, SheetForClass, own_months, practice_view, sheet_for_class
from generator.site.pages.record import RecordView, record_view
from generator.site.pages.rounds import RoundRow, WhoWasRight, history, who_was_right
from generator.site.pages.today import examples
from generator.site.resources import ShippedMonth
from generator.site.words.days import Day
from generator.site.words.format import when
from generator.site.words.month import HourlyMonth
from generator.site.words.record import first_due
from generator.site.words.reference import ObjectFields, Reference
from generator.site.words.weeks import Week
from generator.values.hours import PredictionMade
from generator.values.rows import PublishedRound


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """What the pages are made from.

    Args:
        bodies: the free answers of the same tick.
        reference: the fields of every answer, from the published OpenAPI.
        sold: path of a product -> an answer of it from a simulated day.
        rounds: rows of `/arena/rounds.json`, newest first.
        predictions: hourly forecasts that came due or were void, newest first.
        shares: page path -> the picture it shows where it is shared; the other pages show that of "".
        months: files of the record by month, for download.
        figures: name -> drawn chart, such as `btc-7d`; one that could not be drawn is left out.
        month: the market at the full hours of the last month.
        weeks: with their most surprising hours, the newest first.
        days: a line for each, newest first.
    """

    ctx: Tick
    bodies: FreeBodies
    reference: Reference = field(default_factory=partial(Reference, {}))
    sold: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rounds: Sequence[PublishedRound] = ()
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


class PlainPage(NamedTuple):
    """A page that shows nothing but the catalog."""


class LandingPage(NamedTuple):
    """The first page."""

    now: Landing


class ArenaPage(NamedTuple):
    """The Arena: the question of the day, and the round of the hour."""

    daily: Daily
    live: LiveView | None
    crowd: HumanConsensusResponse
    network: Network
    taps: Taps
    tapped: str


class HistoryPage(NamedTuple):
    """Finished rounds, newest first, and a line for each day."""

    rows: tuple[RoundRow, ...]
    right: WhoWasRight
    chances_scored: tuple[str, ...]
    voters: Voters
    days: tuple[Day, ...]
    first_hour: str


class RecordPage(NamedTuple):
    """The track record, and the files of the months that are over."""

    record: RecordView
    months: tuple[RecordFile, ...]


class ReferencePage(NamedTuple):
    """Methods, terms and shared fields; `today` has an example of some terms."""

    today: Mapping[str, str]
    parts: tuple[ObjectFields, ...]


class DailyPage(NamedTuple):
    """The daily question."""

    daily: Daily


class PracticePage(NamedTuple):
    """Practice on past hours, and a sheet of ten for a class."""

    practice: Practice
    sheet: SheetForClass


class AssetFigures(NamedTuple):
    """The charts of one asset: its price over each window that is drawn; None where one could not be."""

    windows: tuple[tuple[Window, Markup], ...]
    funding: Markup | None
    interest: Markup | None


class AssetPage(NamedTuple):
    """One asset."""

    now: AssetNow
    figures: AssetFigures


class PageRecipe(NamedTuple):
    """How the part between the head and the foot of a page is made.

    Args:
        values: returns what the template reads; the fields of its type are the names that the template knows.
        source: returns what the page is made from; while that is equal the page is kept. None: made every tick.
    """

    values: Callable[[SitePage, PageView], NamedTuple]
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


def _record(_page: SitePage, view: PageView) -> RecordPage:
    newest_ms = max((prediction.end_ms for prediction in view.predictions), default=None)
    until = Markup()
    if newest_ms is not None:
        until = Markup(", up to {}").format(when(newest_ms))
        priced_ms = view.ctx.freshness.priced_ms(newest_ms)
        if priced_ms is not None:
            until += Markup(", prices of {}").format(when(priced_ms))
    source = Markup('Source: own record, <a href="{}">downloads</a>{}.').format("#downloads", until)

    record = record_view(
        view.ctx.arena,
        view.predictions,
        source,
        view.ctx.freshness.generated_ms,
        view.rounds,
    )
    series = {row.name for row in SERIES}
    return RecordPage(record, tuple(file for file in view.months if file.series in series))


def _arena(_page: SitePage, view: PageView) -> ArenaPage:
    return ArenaPage(
        daily=daily_view(view.ctx),
        live=live_view(view.ctx, view.bodies.shared_intelligence.price),
        crowd=view.bodies.human_consensus,
        network=NETWORKS[view.ctx.site.network],
        taps=TAPS,
        tapped=tapped_words(view.rounds),
    )


def _history(_page: SitePage, view: PageView) -> HistoryPage:
    rounds = view.rounds
    first_hour = moment(view.ctx.freshness.generated_ms + HOUR_MS)

    return HistoryPage(
        rows=history(rounds),
        right=who_was_right(view.ctx.arena, rounds, "Source: resolved rounds since the start."),
        chances_scored=crowds_scores(view.ctx),
        voters=voters(view.bodies.teacher_lessons),
        days=tuple(view.days),
        first_hour=f"{first_hour:%H}:00",
    )


def _history_source(view: PageView) -> tuple[object, ...]:
    """Return what changes when a round ends or an hour was published."""
    arena = view.ctx.arena
    lessons = view.bodies.teacher_lessons
    return (
        tuple(view.rounds),
        (arena.teacher, arena.arena_record, arena.backtest, arena.crowd_record, arena.simulated_crowd_record),
        (lessons.leaderboard, lessons.patterns),
        tuple(view.days),
        # Until the first day has a line, the page says when it is due.
        None if view.days and not view.days[0].tested else view.ctx.freshness.generated_ms // HOUR_MS,
    )


def _learn(_page: SitePage, view: PageView) -> LearnPage:
    return learn_view(view.ctx.arena, view.figures, view.weeks)


def _kinds_of_day(view: PageView) -> tuple[Markup | None, ...]:
    return tuple(kind.picture for kind in by_kind(view.figures))


def _chapter(page: SitePage, view: PageView) -> ChapterPage:
    funding = view.figures.get(f"{DEFAULT_ASSET.lower()}-funding")
    return chapter_view(page.subject, Facts(view.month, view.predictions, view.ctx.arena, funding))


def _chapter_source(view: PageView) -> tuple[object, ...]:
    """Return what changes once an hour: full hours of the month, and forecasts that came due."""
    arena = view.ctx.arena
    newest = tuple(view.predictions[: len(ASSETS)])
    return (view.month, len(view.predictions), newest, arena.hourly_record.move, arena.backtest)


def _practice(_page: SitePage, view: PageView) -> PracticePage:
    own = own_months(view.months)
    mode = str(view.ctx.observation.mode)
    shipped = ShippedMonth.load()
    return PracticePage(practice_view(shipped, own, mode), sheet_for_class(shipped, own, mode))


def _daily(_page: SitePage, view: PageView) -> DailyPage:
    return DailyPage(daily_view(view.ctx))


def _asset(page: SitePage, view: PageView) -> AssetPage:
    asset = page.subject.lower()
    drawn = ((window, view.figures.get(f"{asset}-{window.name}")) for window in WINDOWS.values())
    figures = AssetFigures(
        windows=tuple((window, figure) for window, figure in drawn if figure is not None),
        funding=view.figures.get(f"{asset}-funding"),
        interest=view.figures.get(f"{asset}-interest"),
    )
    return AssetPage(asset_view(page.subject, view.bodies, view.predictions, source_of(view.ctx)), figures)


def _reference(_page: SitePage, view: PageView) -> ReferencePage:
    return ReferencePage(_today(view), view.reference.shared())


def _today(view: PageView) -> Mapping[str, str]:
    return examples(view.bodies, view.predictions, view.ctx.freshness.generated_ms, view.ctx.observation.mode)


def _each_five_minutes(view: PageView) -> tuple[object, ...]:
    """Return what changes every five minutes, as closed bars do."""
    return (view.figures, view.ctx.freshness.generated_ms // BAR_MS, tuple(view.predictions))


def _landing(_page: SitePage, view: PageView) -> LandingPage:
    return LandingPage(landing(view.ctx, view.bodies))


def _free(_page: SitePage, view: PageView) -> FreePage:
    return free_page(view.reference, view.bodies.by_path, view.ctx.site)


def _paid(_page: SitePage, view: PageView) -> PaidPage:
    return paid_page(view.reference, view.sold, view.ctx.site)


def _nothing(_page: SitePage, _view: PageView) -> PlainPage:
    return PlainPage()


def _schemas(view: PageView) -> tuple[object, ...]:
    """Return what a page of the documentation changes with: its answers are those of a start, and of each day."""
    return (view.reference.schemas,)


_PLAIN: Final = PageRecipe(_nothing, lambda _view: ())
RECIPES: Final[Mapping[str, PageRecipe]] = {
    "pages/index.html": PageRecipe(_landing, None),
    "pages/arena.html": PageRecipe(_arena, None),
    "pages/history.html": PageRecipe(_history, _history_source),
    "pages/track_record.html": PageRecipe(_record, _record_source),
    "pages/methodology.html": PageRecipe(_reference, lambda view: (_today(view), *_schemas(view))),
    "pages/learn.html": PageRecipe(
        _learn, lambda view: (view.ctx.arena.lessons, _kinds_of_day(view), tuple(view.weeks))
    ),
    "pages/learn_chapter.html": PageRecipe(_chapter, _chapter_source),
    "pages/daily.html": PageRecipe(_daily, lambda view: daily_source(view.ctx)),
    "pages/practice.html": PageRecipe(_practice, lambda view: (own_months(view.months),)),
    "pages/asset.html": PageRecipe(_asset, _each_five_minutes),
    "pages/docs_free.html": PageRecipe(_free, _schemas),
    "pages/docs_paid.html": PageRecipe(_paid, _schemas),
}


def recipe_of(page: SitePage) -> PageRecipe:
    """Return how a page is made."""
    return RECIPES.get(page.template, _PLAIN)
