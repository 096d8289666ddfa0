"""What the track-record page shows: how far, which way, and every forecast, hit or miss."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from generator.arena.rates import ENOUGH, counted, enough, rate, share
from generator.arena.values import ArenaView, BacktestScores, ForecastScores, HorizonRecord, PredictionMade, Proportion
from generator.catalog.assets import ASSETS
from generator.catalog.horizons import HORIZONS
from generator.compose.scores import (
    compared,
    far_statement,
    hour_of,
    hour_statement,
    looks_better,
    statement,
)
from generator.site.charts.plot import Chart
from generator.site.charts.record import coverage, rates, saved, skills
from generator.site.pages.arena import crowds
from generator.site.words.format import UNKNOWN, percent
from generator.site.words.record import far_figure, interval

GRID_HOURS: Final = 24
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
    return statement(record) if looks_better(record) else f"{NOT_KNOWN} {statement(record)}"


def record_view(
    arena: ArenaView,
    predictions: Sequence[PredictionMade],
    source: Markup | str,
    now_ms: int,
    rounds: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return what pages/track_record.html reads.

    Args:
        predictions: the newest that came due or were void, newest first.
        rounds: rows of `/arena/rounds.json`.
    """
    hourly, people = arena.hourly_record, crowds(arena.teacher, rounds)
    due = [made for made in predictions if made.outcome is not None]
    return {
        "headline": headline(hour_of(arena.how_far)),
        "lead": hour_statement(arena),
        "figure": far_figure(arena, now_ms),
        "far": tuple((HORIZONS[one.horizon].words, one, far_statement(one)) for one in arena.how_far),
        "far_charts": _drawn(coverage("coverage", arena.how_far, source), saved("saved", arena.how_far, source)),
        "sections": (
            _section("hourly", "Which way", hourly, direction(hourly), _by_asset(hourly.hit, due), source),
            _section(
                "arena",
                "The brain in the Arena",
                arena.arena_record,
                statement(arena.arena_record),
                (("Brain", arena.arena_record.hit), *people),
                source,
            ),
        ),
        "backtest": _backtest(arena.backtest),
        "grid": _grid(due),
        "assets": ASSETS,
        "needed": ENOUGH,
    }


def _drawn(*charts: Chart | None) -> tuple[Chart, ...]:
    return tuple(chart for chart in charts if chart is not None)


def _backtest(held: BacktestScores | None) -> dict[str, Any] | None:
    if held is None:
        return None
    named = (("Which way, each hour", held.hourly), ("Arena forecasts", held.arena))
    far = [(one, one.scores[0]) for one in held.how_far if one.scores]
    return {
        "far": tuple(
            (HORIZONS[one.horizon].words, counted(it.inside_50, "moves"), share(it.inside_90)) for one, it in far
        ),
        "rows": tuple(
            (name, f"{record.resolved:,}", share(record.hit), interval(record.hit)) for name, record in named
        ),
    }


def _by_asset(whole: Proportion, due: Sequence[PredictionMade]) -> tuple[tuple[str, Proportion], ...]:
    rows = [("All", whole)]
    for asset in ASSETS:
        own = [made.outcome == made.prediction for made in due if made.asset == asset and not made.warm_up]
        if own:
            rows.append((asset, rate(sum(own), len(own))))
    return tuple(rows)


def _section(  # noqa: PLR0917  each is another thing
    name: str,
    title: str,
    record: ForecastScores,
    said: str,
    compared_rates: tuple[tuple[str, Proportion], ...],
    source: Markup | str,
) -> dict[str, Any]:
    hits = rates(f"{name}-rates", title, compared_rates, source, record.chance)
    charts = _drawn(hits, skills(f"{name}-skill", record, source))
    return {
        "name": name,
        "record": record,
        "title": title,
        "enough": enough(record.hit),
        "statement": said,
        "facts": _facts(record),
        "charts": charts if enough(record.hit) else (),
        "levels": tuple(
            (percent(part.said_percent), f"{part.n:,}", share(part.hit), interval(part.hit), part.fits)
            for part in record.bins
            if part.hit is not None
        ),
    }


def _facts(record: ForecastScores) -> tuple[tuple[str, str, str], ...]:
    skill = record.skill_percent.get("base_rate")
    counts = (
        ("Came due", f"{record.resolved:,}", f"of {record.predictions:,} made, {record.void:,} void"),
        ("Came true", share(record.hit), f"95% interval {interval(record.hit)}" if enough(record.hit) else ""),
        ("Chance level", share(record.chance), "always naming the outcome most frequent before"),
    )
    if not enough(record.hit):
        return counts
    return (
        *counts,
        (
            "Brier score",
            UNKNOWN if record.brier is None else f"{record.brier:.4f}",
            "0 is perfect, 0.667 equal chances",
        ),
        ("Skill", percent(skill), "against the base rate; 0 or less is none"),
        ("Log score", UNKNOWN if record.log_score is None else f"{record.log_score:.4f}", "1.099 is equal chances"),
    )


def _grid(due: Sequence[PredictionMade]) -> tuple[dict[str, Any], ...]:
    """Return the newest hours with the forecast of each asset that came due, None where there was none."""
    by_hour: dict[int, dict[str, PredictionMade]] = {}
    for made in due:
        by_hour.setdefault(made.start_ms, {})[made.asset] = made
    return tuple(
        {
            "start_ms": start,
            "made": tuple(hour.get(asset) for asset in ASSETS),
            "from_backtest": any(made.warm_up for made in hour.values()),
        }
        for start, hour in sorted(by_hour.items(), reverse=True)[:GRID_HOURS]
    )
