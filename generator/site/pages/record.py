"""What the track-record page shows: how far, which way, and every forecast, hit or miss."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from generator.arena.rates import ENOUGH, counted, enough, rate, share
from generator.catalog.assets import ASSETS
from generator.catalog.horizons import HORIZONS
from generator.catalog.text.figures import NOT_YET, UNKNOWN, percent, signed
from generator.catalog.text.labels import CALL
from generator.catalog.words import Call
from generator.compose.holds import holds_statement
from generator.compose.scores import (
    against,
    comparable,
    compared,
    far_statement,
    hour_of,
    hour_statement,
    looks_better,
    move_statement,
    statement,
)
from generator.site.charts.plot import Chart
from generator.site.charts.record import coverage, rates, reliability, saved, skills
from generator.site.pages.rounds import NamedRate, crowds
from generator.site.words.record import FirstFigure, far_figure, interval
from generator.values.hours import PredictionMade
from generator.values.joint import JointScores
from generator.values.ladders import MeanInterval, PartitionScore
from generator.values.rows import PublishedRound
from generator.values.scores import (
    BacktestScores,
    CalibrationBin,
    Estimate,
    ForecastScores,
    HoldRecord,
    HorizonRecord,
    MoveScores,
    Rate,
)
from generator.values.view import ArenaView

_KIND: Final = {"end": "at the end", "touch": "touched"}
GRID_HOURS: Final = 24
GRID_OPEN: Final = 8  # hours; those before are folded
NOT_KNOWN: Final = "Which way prices will move is not known."


class Fact(NamedTuple):
    """One figure with its name; `meaning` is empty where there is nothing to say of it."""

    name: str
    value: str
    meaning: str


class LevelRow(NamedTuple):
    """The forecasts of one level of chance, and how often they came true."""

    mean: str
    n: str
    hit: str
    between: str
    fits: bool | None


class HourRow(NamedTuple):
    """The chances of a move in one hour of the day, and how often it came."""

    hour: str
    n: str
    mean: str
    moved: str


class CallRow(NamedTuple):
    """The calls of one kind."""

    call: str
    n: str
    hit: str
    between: str


class BeforeRow(NamedTuple):
    """The forecasts with one word from before calls."""

    kind: str
    word: str
    n: str
    hit: str
    between: str


class BeforeCalls(NamedTuple):
    """The forecasts from before calls."""

    last_ms: int
    rows: tuple[BeforeRow, ...]


class HorizonRow(NamedTuple):
    """What the ranges over one horizon were worth."""

    horizon: str
    record: HorizonRecord
    statement: str


class LadderRow(NamedTuple):
    """The chances of moves beyond one level."""

    horizon: str
    level: str
    kind: str
    n: str
    mean: str
    observed: str
    skill: str
    rare: str


class PartitionRow(NamedTuple):
    """The next four hours in three parts."""

    n: int
    brier: float
    base_rate_brier: float
    skill: str


class LadderView(NamedTuple):
    """How the chances of moves beyond each level came true."""

    rows: tuple[LadderRow, ...]
    tested: bool
    partition: PartitionRow | None


class MoveView(NamedTuple):
    """Whether prices moved."""

    statement: str
    chart: Chart | None
    tested: bool
    levels: tuple[LevelRow, ...]
    hours: tuple[HourRow, ...]


class BrierRow(NamedTuple):
    """The Brier score of one forecaster; `skill` is the skill of the brain against it."""

    name: str
    brier: str
    skill: str


class HoldsView(NamedTuple):
    """Whether a label still stood after four hours."""

    statement: str
    levels: tuple[LevelRow, ...]
    rows: tuple[BrierRow, ...]
    tested: bool


class Section(NamedTuple):
    """The record of one kind of forecast."""

    name: str
    record: ForecastScores
    title: str
    enough: bool
    statement: str
    facts: tuple[Fact, ...]
    calls: tuple[CallRow, ...]
    charts: tuple[Chart, ...]
    levels: tuple[LevelRow, ...]


class TestedRow(NamedTuple):
    """One kind of forecast in the backtest."""

    name: str
    resolved: str
    hit: str
    between: str


class TestedRange(NamedTuple):
    """The ranges over one horizon in the backtest."""

    horizon: str
    half: str
    most: str


class BacktestView(NamedTuple):
    """The backtest before the start."""

    far: tuple[TestedRange, ...]
    rows: tuple[TestedRow, ...]


class GridRow(NamedTuple):
    """One hour with the forecast of each asset that came due, None where there was none."""

    start_ms: int
    forecasts: tuple[PredictionMade | None, ...]
    from_backtest: bool


class FarCharts(NamedTuple):
    """The charts of the ranges."""

    charts: tuple[Chart, ...]
    tested: bool


class TogetherRow(NamedTuple):
    """How the joint scenarios of one horizon did."""

    horizon: str
    n: str
    held_50: str
    held_90: str
    if_independent: str
    skill: str


class RecordView(NamedTuple):
    """The track record."""

    headline: str
    lead: str
    figure: FirstFigure
    young: bool  # too few moves over an hour were judged for a share: all but the first figure and picture is folded
    far: tuple[HorizonRow, ...]
    ladder: LadderView
    move: MoveView
    together: tuple[TogetherRow, ...]
    holds: HoldsView
    before: BeforeCalls | None
    grid_before_ms: int | None
    far_charts: FarCharts
    sections: tuple[Section, ...]
    backtest: BacktestView | None
    grid: tuple[GridRow, ...]
    grid_open: int
    assets: tuple[str, ...]
    needed: int


def headline(hour: HorizonRecord | None) -> str:
    """Say in a few words how far the ranges can be trusted, by those over one hour."""
    if hour is None or not hour.scores or hour.scores[0].inside_90.low_percent is None:
        return "Too early to tell"

    words = [compared(rule) for rule in hour.scores[1:]]
    if set(words) == {"better"}:
        return "How far prices move: better than three simple rules"
    if "worse" in words:
        return "How far prices move: worse than a simple rule"
    return "How far prices move: not shown to beat every simple rule"


def direction(record: ForecastScores) -> str:
    """Say what the forecasts of direction were worth, and that which way is not known while they show no skill."""
    worth = statement(record)
    return worth if looks_better(record) else f"{NOT_KNOWN} {worth}"


def record_view(
    arena: ArenaView,
    predictions: Sequence[PredictionMade],
    source: Markup | str,
    now_ms: int,
    rounds: Sequence[PublishedRound] = (),
) -> RecordView:
    """Return what pages/track_record.html reads.

    Args:
        predictions: the newest that came due or were void, newest first.
        rounds: those that ended, newest first.
    """
    resolved = [prediction for prediction in predictions if prediction.outcome is not None]
    backtest = arena.backtest
    hourly = _section(
        "hourly",
        "Which way",
        arena.hourly_record,
        backtest.hourly if backtest else None,
        direction(arena.hourly_record),
        _by_asset(arena.hourly_record.hit, resolved),
        source,
    )
    in_arena = _section(
        "arena",
        "The brain in the Arena",
        arena.arena_record,
        backtest.arena if backtest else None,
        statement(arena.arena_record),
        (NamedRate("Brain", arena.arena_record.hit), *crowds(arena.teacher, rounds)),
        source,
    )

    grid = _grid(resolved)
    return RecordView(
        headline=headline(hour_of(arena.how_far)),
        lead=_lead(arena),
        figure=_first_figure(arena, now_ms),
        young=_is_young(arena),
        far=tuple(
            HorizonRow(HORIZONS[scores.horizon].words, scores, far_statement(scores)) for scores in arena.how_far
        ),
        ladder=_ladder(arena),
        move=_move(arena.hourly_record.move, backtest.hourly.move if backtest else None, source),
        together=tuple(map(_together, arena.joint)),
        holds=_holds(arena.holds),
        before=_before(arena),
        grid_before_ms=_last_before_calls(grid),
        far_charts=_far_charts(arena, source),
        sections=(hourly, in_arena),
        backtest=_backtest(arena.backtest),
        grid=grid,
        grid_open=GRID_OPEN,
        assets=ASSETS,
        needed=ENOUGH,
    )


def _is_young(arena: ArenaView) -> bool:
    hour = hour_of(arena.how_far)
    return hour is None or not hour.scores or not enough(hour.scores[0].inside_90)


def _ladder(arena: ArenaView) -> LadderView:
    """Return how the chances of moves beyond each level came true; before the first live ones, in the backtest."""
    is_live = bool(arena.ladder_record.levels)
    record = arena.ladder_record if is_live else arena.ladder_backtest
    rows = tuple(
        LadderRow(
            horizon=HORIZONS[score.horizon].words,
            level=f"{score.level:g}%",
            kind=_KIND[score.kind],
            n=f"{score.n:,}",
            mean=percent(score.said_percent, 2),
            observed=UNKNOWN if score.came_percent is None else percent(score.came_percent, 2),
            skill=skill_of(score.skill_percent),
            rare="pooled" if score.rare else "",
        )
        for score in record.levels
    )
    return LadderView(rows, not is_live and bool(rows), _partition(record.partition))


def _partition(score: PartitionScore | None) -> PartitionRow | None:
    if score is None:
        return None
    return PartitionRow(score.n, score.brier, score.base_rate_brier, skill_of(score.skill_percent))


def skill_of(skill: Estimate | MeanInterval | None) -> str:
    """Write a skill with its interval; below ten days or ten events there is none."""
    if skill is None or skill.low is None or skill.high is None:
        return NOT_YET
    return f"{signed(skill.value, 1)} ({signed(skill.low, 1)} to {signed(skill.high, 1)})"


def _lead(arena: ArenaView) -> str:
    """Say how the ranges over an hour compare with simple rules; the first figure says how many held."""
    hour = hour_of(arena.how_far)
    return against(hour) if hour and comparable(hour) else hour_statement(arena)


def _first_figure(arena: ArenaView, now_ms: int) -> FirstFigure:
    """Return the first figure: how many moves ended inside the 90% range; before the first live one, the backtest's."""
    live = far_figure(arena, now_ms)
    tested = hour_of(arena.backtest.how_far) if arena.backtest else None
    if arena.how_far or tested is None or not tested.scores:
        return live

    inside = tested.scores[0].inside_90
    first_live = f"{live.what.capitalize()}: {live.number}."
    return FirstFigure(
        number=share(inside),
        what=f"of {inside.n:,} moves over 1 hour ended inside the 90% range",
        how=f"A backtest before the start, scored apart from the record. {first_live}",
        tested=True,
    )


def _far_charts(arena: ArenaView, source: Markup | str) -> FarCharts:
    """Draw the live record of the ranges; while it is too short for a chart, the backtest."""
    charts = _drawn(coverage("coverage", arena.how_far, source), saved("saved", arena.how_far, source))
    if charts or arena.backtest is None:
        return FarCharts(charts, tested=False)

    tested = arena.backtest.how_far
    charts = _drawn(coverage("coverage", tested, source), saved("saved", tested, source))
    return FarCharts(charts, tested=bool(charts))


def _drawn(*charts: Chart | None) -> tuple[Chart, ...]:
    return tuple(chart for chart in charts if chart is not None)


def _backtest(tested: BacktestScores | None) -> BacktestView | None:
    if tested is None:
        return None

    far = []
    for horizon in tested.how_far:
        if horizon.scores:
            brain = horizon.scores[0]
            words = HORIZONS[horizon.horizon].words
            far.append(TestedRange(words, counted(brain.inside_50, "moves"), share(brain.inside_90)))

    records = (("Which way, each hour", tested.hourly), ("Arena forecasts", tested.arena))
    rows = tuple(
        TestedRow(
            name=name,
            resolved=f"{record.resolved:,}",
            hit=share(record.hit) if record.hit.n else "no calls",
            between=interval(record.hit),
        )
        for name, record in records
    )
    return BacktestView(tuple(far), rows)


def _by_asset(whole: Rate, resolved: Sequence[PredictionMade]) -> tuple[NamedRate, ...]:
    """Return how often the live calls came true: of all, then of each asset that has any."""
    live = [prediction for prediction in resolved if not prediction.warm_up]
    rows = [NamedRate("All", whole)]
    for asset in ASSETS:
        right = [
            prediction.outcome == prediction.prediction
            for prediction in live
            if prediction.asset == asset and is_called(prediction)
        ]
        if right:
            rows.append(NamedRate(asset, rate(sum(right), len(right))))
    return tuple(rows)


def _move(scores: MoveScores, tested: MoveScores | None, source: Markup | str) -> MoveView:
    """Return what the page shows of whether prices moved."""
    chart = reliability("reliability", scores, source)
    is_tested = False
    if chart is None and tested is not None:
        chart = reliability("reliability", tested, source)
        is_tested = chart is not None

    hours = tuple(
        HourRow(f"{row.hour:02d}:00", f"{row.n:,}", percent(row.said_percent), share(row.moved))
        for row in scores.hours
        if enough(row.moved)
    )
    return MoveView(move_statement(scores), chart, is_tested, _levels(scores.bins), hours)


def _levels(bins: Sequence[CalibrationBin]) -> tuple[LevelRow, ...]:
    """Return the levels that have cases enough for a share."""
    return tuple(
        LevelRow(percent(level.said_percent), f"{level.n:,}", share(level.hit), interval(level.hit), level.fits)
        for level in bins
        if level.hit is not None
    )


def _together(scores: JointScores) -> TogetherRow:
    """Return one horizon of the joint scenarios."""
    # The energy score says most: it is of all coins at once, not of one portfolio.
    return TogetherRow(
        HORIZONS[scores.horizon].words,
        f"{scores.held_90.n:,}",
        share(scores.held_50),
        share(scores.held_90),
        share(scores.held_90_if_independent),
        skill_of(scores.energy_skill),
    )


def _holds(record: HoldRecord) -> HoldsView:
    """Return what the page shows of whether a label still stood; before 30 live cases the table is the backtest's."""
    is_live = enough(record.live.held)
    scores = record.live if is_live else record.backtest
    rows: tuple[BrierRow, ...] = ()
    if enough(scores.held):
        climate = skill_of(scores.climate_skill_percent)
        persistence = skill_of(scores.persistence_skill_percent)
        rows = (
            BrierRow("The chances", _score(scores.brier), ""),
            BrierRow("How often each label stood before", _score(scores.climate_brier), climate),
            BrierRow("Sure that it stays", _score(scores.persistence_brier), persistence),
        )
    is_tested = bool(rows) and not is_live
    return HoldsView(holds_statement(record), _levels(scores.bins), rows, is_tested)


def _calls(rates: Mapping[Call, Rate]) -> tuple[CallRow, ...]:
    """Return each call with its count, how often it came true, and its interval."""
    return tuple(
        CallRow(CALL[call], f"{hits.n:,}", share(hits), interval(hits)) for call, hits in rates.items() if hits.n
    )


def _before(arena: ArenaView) -> BeforeCalls | None:
    """Return the forecasts from before calls, each word of each kind; None where there are none."""
    kinds = (("each hour", arena.hourly_record.before_calls), ("the Arena", arena.arena_record.before_calls))
    known = [(kind, before) for kind, before in kinds if before is not None]
    if not known:
        return None
    return BeforeCalls(
        last_ms=max(before.last_ms for _, before in known),
        rows=tuple(BeforeRow(kind, *row) for kind, before in known for row in _calls(before.by_word)),
    )


def _section(  # noqa: PLR0917  each is another thing
    name: str,
    title: str,
    record: ForecastScores,
    tested: ForecastScores | None,
    claim: str,
    compared_rates: tuple[NamedRate, ...],
    source: Markup | str,
) -> Section:
    is_enough = enough(record.hit)
    charts: tuple[Chart, ...] = ()
    if is_enough:
        charts = _drawn(
            rates(f"{name}-rates", title, compared_rates, source, record.chance),
            skills(f"{name}-skill", record, source),
        )
    elif tested is not None and enough(tested.hit):
        charts = _drawn(
            rates(f"{name}-rates", title, (("All", tested.hit),), source, tested.chance),
            skills(f"{name}-skill", tested, source),
        )

    return Section(
        name=name,
        record=record,
        title=title,
        enough=is_enough,
        statement=claim,
        facts=_facts(record),
        calls=_calls(record.by_call),
        charts=charts,
        levels=_levels(record.bins),
    )


def _facts(record: ForecastScores) -> tuple[Fact, ...]:
    """Return name, value and meaning of each figure; scores only from enough cases on."""
    judged = Fact("Judged", f"{record.resolved:,}", f"of {record.predictions:,} made, {record.void:,} void")
    calls = Fact("Calls", f"{record.hit.n:,}", f"{record.no_calls:,} made no call: no hit and no miss")
    chance = Fact("Chance level", share(record.chance), "always naming the outcome most frequent before")
    between = f"of calls; 95% interval {interval(record.hit)}" if enough(record.hit) else "of calls"
    right = Fact("Right", share(record.hit), between)
    if record.resolved < ENOUGH:
        return (judged, calls, right, chance)

    skill = record.skill_percent.get("base_rate")
    shown = NOT_YET if skill is None else percent(skill)
    return (
        judged,
        calls,
        right,
        chance,
        Fact("Brier score", _score(record.brier), "0 is perfect, 0.667 equal chances"),
        Fact("Skill", shown, "against the base rate, from ten days and ten moves on; 0 or less is none"),
        Fact("Log score", _score(record.log_score), "1.099 is equal chances"),
    )


def _score(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.4f}"


def is_called(prediction: PredictionMade) -> bool:
    """Return whether a forecast made a call; one from before calls did not."""
    return prediction.call is not None and prediction.call is not Call.NONE


def _last_before_calls(grid: Sequence[GridRow]) -> int | None:
    """Return when the newest forecast of a grid began that had a word and no call; None where all are from since."""
    starts = [
        prediction.start_ms
        for row in grid
        for prediction in row.forecasts
        if prediction is not None and prediction.call is None
    ]
    return max(starts, default=None)


def _grid(resolved: Sequence[PredictionMade]) -> tuple[GridRow, ...]:
    """Return the newest hours with the forecast of each asset that came due, None where there was none."""
    by_hour: dict[int, dict[str, PredictionMade]] = {}
    for prediction in resolved:
        by_hour.setdefault(prediction.start_ms, {})[prediction.asset] = prediction

    newest = sorted(by_hour.items(), reverse=True)[:GRID_HOURS]
    return tuple(
        GridRow(
            start_ms=start_ms,
            forecasts=tuple(of_hour.get(asset) for asset in ASSETS),
            from_backtest=any(prediction.warm_up for prediction in of_hour.values()),
        )
        for start_ms, of_hour in newest
    )
