"""What the track-record page shows: how far, which way, and every forecast, hit or miss."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from generator.arena.rates import ENOUGH, counted, enough, rate, share
from generator.catalog.assets import ASSETS
from generator.catalog.horizons import HORIZONS
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
from generator.site.pages.rounds import FinishedRound, crowds
from generator.site.words.format import NOT_YET, UNKNOWN, percent, signed
from generator.site.words.record import far_figure, interval
from generator.values.hours import PredictionMade
from generator.values.scores import (
    BacktestScores,
    ForecastScores,
    HoldRecord,
    HorizonRecord,
    MeanInterval,
    MoveScores,
    Proportion,
)
from generator.values.view import ArenaView

_KIND: Final = {"end": "at the end", "touch": "touched"}
GRID_HOURS: Final = 24
GRID_OPEN: Final = 8  # hours; those before are folded
NOT_KNOWN: Final = "Which way prices will move is not known."


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
    rounds: Sequence[FinishedRound] = (),
) -> dict[str, Any]:
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
        (("Brain", arena.arena_record.hit), *crowds(arena.teacher, rounds)),
        source,
    )

    grid = _grid(resolved)
    return {
        "headline": headline(hour_of(arena.how_far)),
        "lead": _lead(arena),
        "figure": _first_figure(arena, now_ms),
        "far": tuple((HORIZONS[scores.horizon].words, scores, far_statement(scores)) for scores in arena.how_far),
        "ladder": _ladder(arena),
        "move": _move(arena.hourly_record.move, backtest.hourly.move if backtest else None, source),
        "holds": _holds(arena.holds),
        "before": _before(arena),
        "grid_before_ms": _last_before_calls(grid),
        **_far_charts(arena, source),
        "sections": (hourly, in_arena),
        "backtest": _backtest(arena.backtest),
        "grid": grid,
        "grid_open": GRID_OPEN,
        "assets": ASSETS,
        "needed": ENOUGH,
    }


def _ladder(arena: ArenaView) -> dict[str, Any]:
    """Return how the chances of moves beyond each level came true; before the first live ones, in the backtest."""
    is_live = bool(arena.ladder_record.levels)
    record = arena.ladder_record if is_live else arena.ladder_backtest
    rows = [
        (
            HORIZONS[score.horizon].words,
            f"{score.level:g}%",
            _KIND[score.kind],
            f"{score.n:,}",
            percent(score.said_percent, 2),
            UNKNOWN if score.came_percent is None else percent(score.came_percent, 2),
            skill_of(score.skill_percent),
            "pooled" if score.rare else "",
        )
        for score in record.levels
    ]
    return {"rows": rows, "tested": not is_live and bool(rows), "partition": record.partition, "skill": skill_of}


def skill_of(skill: MeanInterval) -> str:
    """Write a skill with its interval; below ten days or ten events there is none."""
    if skill.low is None or skill.high is None:
        return NOT_YET
    return f"{signed(skill.value, 1)} ({signed(skill.low, 1)} to {signed(skill.high, 1)})"


def _lead(arena: ArenaView) -> str:
    """Say how the ranges over an hour compare with simple rules; the first figure says how many held."""
    hour = hour_of(arena.how_far)
    return against(hour) if hour and comparable(hour) else hour_statement(arena)


def _first_figure(arena: ArenaView, now_ms: int) -> dict[str, Any]:
    """Return the first figure: how many moves ended inside the 90% range; before the first live one, the backtest's."""
    live = far_figure(arena, now_ms)
    tested = hour_of(arena.backtest.how_far) if arena.backtest else None
    if arena.how_far or tested is None or not tested.scores:
        return {**live, "tested": False}

    inside = tested.scores[0].inside_90
    first_live = f"{live['what'].capitalize()}: {live['number']}."
    return {
        "number": share(inside),
        "what": f"of {inside.n:,} moves over 1 hour ended inside the 90% range",
        "how": f"A backtest before the start, scored apart from the record. {first_live}",
        "tested": True,
    }


def _far_charts(arena: ArenaView, source: Markup | str) -> dict[str, Any]:
    """Draw the live record of the ranges; while it is too short for a chart, the backtest."""
    charts = _drawn(coverage("coverage", arena.how_far, source), saved("saved", arena.how_far, source))
    if charts or arena.backtest is None:
        return {"far_charts": charts, "far_tested": False}

    tested = arena.backtest.how_far
    charts = _drawn(coverage("coverage", tested, source), saved("saved", tested, source))
    return {"far_charts": charts, "far_tested": bool(charts)}


def _drawn(*charts: Chart | None) -> tuple[Chart, ...]:
    return tuple(chart for chart in charts if chart is not None)


def _backtest(tested: BacktestScores | None) -> dict[str, Any] | None:
    if tested is None:
        return None

    far = []
    for horizon in tested.how_far:
        if horizon.scores:
            brain = horizon.scores[0]
            words = HORIZONS[horizon.horizon].words
            far.append((words, counted(brain.inside_50, "moves"), share(brain.inside_90)))

    records = (("Which way, each hour", tested.hourly), ("Arena forecasts", tested.arena))
    rows = [
        (name, f"{record.resolved:,}", share(record.hit) if record.hit.n else "no calls", interval(record.hit))
        for name, record in records
    ]
    return {"far": far, "rows": rows}


def _by_asset(whole: Proportion, resolved: Sequence[PredictionMade]) -> tuple[tuple[str, Proportion], ...]:
    """Return how often the live calls came true: of all, then of each asset that has any."""
    live = [prediction for prediction in resolved if not prediction.warm_up]
    rows = [("All", whole)]
    for asset in ASSETS:
        right = [made.outcome == made.prediction for made in live if made.asset == asset and is_called(made)]
        if right:
            rows.append((asset, rate(sum(right), len(right))))
    return tuple(rows)


def _move(scores: MoveScores, tested: MoveScores | None, source: Markup | str) -> dict[str, Any]:
    """Return what the page shows of whether prices moved."""
    chart = reliability("reliability", scores, source)
    is_tested = False
    if chart is None and tested is not None:
        chart = reliability("reliability", tested, source)
        is_tested = chart is not None

    levels = tuple(
        (percent(level.said_percent), f"{level.n:,}", share(level.hit), interval(level.hit), level.fits)
        for level in scores.bins
        if level.hit is not None
    )
    hours = tuple(
        (f"{row.hour:02d}:00", f"{row.n:,}", percent(row.said_percent), share(row.moved))
        for row in scores.hours
        if enough(row.moved)
    )
    return {
        "statement": move_statement(scores),
        "chart": chart,
        "tested": is_tested,
        "levels": levels,
        "hours": hours,
    }


def _holds(record: HoldRecord) -> dict[str, Any]:
    """Return what the page shows of whether a label still stood; before 30 live cases the table is the backtest's."""
    is_live = enough(record.live.held)
    scores = record.live if is_live else record.backtest
    levels = tuple(
        (percent(level.said_percent), f"{level.n:,}", share(level.hit), interval(level.hit), level.fits)
        for level in scores.bins
        if level.hit is not None
    )
    rows: tuple[tuple[str, str, str], ...] = ()
    if enough(scores.held):
        rows = (
            ("The chances", _score(scores.brier), ""),
            ("How often each label stood before", _score(scores.climate_brier), skill_of(scores.climate_skill_percent)),
            ("Sure that it stays", _score(scores.persistence_brier), skill_of(scores.persistence_skill_percent)),
        )
    return {"statement": holds_statement(record), "levels": levels, "rows": rows, "tested": bool(rows) and not is_live}


def _calls(rates: Mapping[Call, Proportion]) -> tuple[tuple[str, str, str, str], ...]:
    """Return each call with its count, how often it came true, and its interval."""
    return tuple((CALL[call], f"{hits.n:,}", share(hits), interval(hits)) for call, hits in rates.items() if hits.n)


def _before(arena: ArenaView) -> dict[str, Any] | None:
    """Return the forecasts from before calls, each word of each kind; None where there are none."""
    kinds = (("each hour", arena.hourly_record.before_calls), ("the Arena", arena.arena_record.before_calls))
    known = [(kind, before) for kind, before in kinds if before is not None]
    if not known:
        return None
    return {
        "last_ms": max(before.last_ms for _, before in known),
        "rows": tuple((kind, *row) for kind, before in known for row in _calls(before.by_word)),
    }


def _section(  # noqa: PLR0917  each is another thing
    name: str,
    title: str,
    record: ForecastScores,
    tested: ForecastScores | None,
    claim: str,
    compared_rates: tuple[tuple[str, Proportion], ...],
    source: Markup | str,
) -> dict[str, Any]:
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

    return {
        "name": name,
        "record": record,
        "title": title,
        "enough": is_enough,
        "statement": claim,
        "facts": _facts(record),
        "calls": _calls(record.by_call),
        "charts": charts,
        "levels": tuple(
            (percent(level.said_percent), f"{level.n:,}", share(level.hit), interval(level.hit), level.fits)
            for level in record.bins
            if level.hit is not None
        ),
    }


def _facts(record: ForecastScores) -> tuple[tuple[str, str, str], ...]:
    """Return name, value and meaning of each figure; scores only from enough cases on."""
    judged = ("Judged", f"{record.resolved:,}", f"of {record.predictions:,} made, {record.void:,} void")
    calls = ("Calls", f"{record.hit.n:,}", f"{record.no_calls:,} made no call: no hit and no miss")
    chance = ("Chance level", share(record.chance), "always naming the outcome most frequent before")
    between = f"of calls; 95% interval {interval(record.hit)}" if enough(record.hit) else "of calls"
    right = ("Right", share(record.hit), between)
    if record.resolved < ENOUGH:
        return (judged, calls, right, chance)

    skill = record.skill_percent.get("base_rate")
    shown = NOT_YET if skill is None else percent(skill)
    return (
        judged,
        calls,
        right,
        chance,
        ("Brier score", _score(record.brier), "0 is perfect, 0.667 equal chances"),
        ("Skill", shown, "against the base rate, from ten days and ten moves on; 0 or less is none"),
        ("Log score", _score(record.log_score), "1.099 is equal chances"),
    )


def _score(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.4f}"


def is_called(made: PredictionMade) -> bool:
    """Return whether a forecast made a call; one from before calls did not."""
    return made.call is not None and made.call is not Call.NONE


def _last_before_calls(grid: Sequence[Mapping[str, Any]]) -> int | None:
    """Return when the newest forecast of a grid began that had a word and no call; None where all are from since."""
    starts = [made.start_ms for row in grid for made in row["forecasts"] if made is not None and made.call is None]
    return max(starts, default=None)


def _grid(resolved: Sequence[PredictionMade]) -> tuple[dict[str, Any], ...]:
    """Return the newest hours with the forecast of each asset that came due, None where there was none."""
    by_hour: dict[int, dict[str, PredictionMade]] = {}
    for prediction in resolved:
        by_hour.setdefault(prediction.start_ms, {})[prediction.asset] = prediction

    newest = sorted(by_hour.items(), reverse=True)[:GRID_HOURS]
    return tuple(
        {
            "start_ms": start_ms,
            "forecasts": tuple(of_hour.get(asset) for asset in ASSETS),
            "from_backtest": any(prediction.warm_up for prediction in of_hour.values()),
        }
        for start_ms, of_hour in newest
    )
