"""What the track-record page shows: scores with their counts, charts, and every forecast, hit or miss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from generator.arena.scores import BIN_CASES, wilson
from generator.arena.values import ArenaView, PredictionMade, Rate, Rehearsal, TrackRecord
from generator.catalog.assets import ASSETS
from generator.catalog.downloads import SERIES, RecordFile
from generator.site.charts.record import (
    GUESS_PERCENT,
    Outcome,
    briers,
    curve,
    interval,
    rates,
    reliability,
)
from generator.site.format import NOT_YET, UNKNOWN, count, ms_of, percent

GRID_HOURS: Final = 24
NAMES: Final = {"hourly": "hourly forecast", "arena": "Arena forecast"}


MonthRow = tuple[str, tuple[tuple[str, tuple[RecordFile, ...]], ...]]  # month, then name and files of each series


@dataclass(frozen=True, slots=True)
class Cell:
    """One hourly forecast in the grid; `right` is None where none came due."""

    said: str
    came: str
    right: bool | None


def by_month(files: Sequence[RecordFile]) -> tuple[MonthRow, ...]:
    """Return months that are over, newest first, each with its files by series, those in the order of the catalog."""
    months = sorted({file.month for file in files if file.month}, reverse=True)
    return tuple(
        (
            month,
            tuple(
                (series.name, tuple(file for file in files if (file.month, file.series) == (month, series.name)))
                for series in SERIES
            ),
        )
        for month in months
    )


def verdict(record: TrackRecord) -> str:
    """Say in plain words what forecasts of a kind were worth, always with their count."""
    apart = (
        f" {count(record.warm_up, 'forecast')} of a backtest before the start are not counted."
        if record.warm_up
        else ""
    )
    if not record.resolved or record.hit.percent is None:
        return f"No forecast has been scored yet.{apart}"
    text = (
        f"Of {count(record.resolved, NAMES.get(record.kind, 'forecast'))}, {percent(record.hit.percent)} named the outcome "
        f"that came true (95% interval {interval(record.hit)}); a blind guess among three gets {percent(GUESS_PERCENT)}."
    )
    return f"{text} {compared(record)}{apart}"


def compared(record: TrackRecord) -> str:
    """Say how the Brier score compares with the base rate's."""
    base, skill = record.baselines.get("base_rate"), record.skill_percent.get("base_rate")
    if record.resolved < BIN_CASES:
        return f"That is fewer than {BIN_CASES}: too few to say more."
    if record.brier is None or base is None or skill is None:
        return "There are too few cases to compare them with a baseline."
    said = f"{skill:.1f}% better, which may still be chance" if skill > 0 else "no skill shown"
    return f"Their Brier score is {record.brier:.3f}; always giving the base rate scores {base:.3f}: {said}."


def headline(record: TrackRecord) -> str:
    """Say the finding in a few words."""
    low, high = record.hit.low_percent, record.hit.high_percent
    if record.resolved < BIN_CASES or low is None or high is None:
        return "Too early to tell"
    skill = record.skill_percent.get("base_rate")
    if low > GUESS_PERCENT and skill is not None and skill > 0:
        return "So far a little better than a blind guess"
    if high < GUESS_PERCENT:
        return "So far worse than a blind guess"
    return "So far no better than a blind guess"


def record_view(
    arena: ArenaView,
    predictions: Sequence[PredictionMade],
    rounds: Sequence[Mapping[str, Any]],
    source: Markup | str,
) -> dict[str, Any]:
    """Return what pages/track_record.html reads.

    Args:
        arena: its scores, and those of the backtest.
        predictions: the newest that came due or were void, newest first.
        rounds: the newest finished rounds, newest first, as published.
        source: for the line under each chart.
    """
    hourly, people = arena.hourly_record, (arena.teacher_live or arena.teacher).crowd
    due = [made for made in predictions if made.outcome is not None]
    hourly_outcomes = _outcomes(due, rehearsed=False)
    arena_outcomes = [
        Outcome(ms_of(row["end"]), row["asset"], row["forecast"]["prediction"], row["outcome"])
        for row in reversed(rounds)
        if row["outcome"] is not None and row["forecast"] is not None and not row["warm_up"]
    ]
    hits = sum(outcome.hit for outcome in hourly_outcomes)
    return {
        "headline": headline(hourly),
        "lead": verdict(hourly),
        "number": NOT_YET if hourly.hit.percent is None else percent(hourly.hit.percent),
        "number_what": f"of {hourly.resolved:,} hourly forecasts came true"
        if hourly.resolved
        else "hourly forecasts scored",
        "number_how": f"95% interval {interval(hourly.hit)}" if hourly.resolved else "",
        "sections": (
            _section(
                "hourly", "Hourly forecasts", hourly, _by_asset(hourly.hit, hourly_outcomes), hourly_outcomes, source
            ),
            _section(
                "arena",
                "The brain in the Arena",
                arena.arena_record,
                (("Brain", arena.arena_record.hit), ("People", people)),
                arena_outcomes,
                source,
            ),
        ),
        "rehearsal": _rehearsal(arena.rehearsal, due, drawn=hourly.resolved < BIN_CASES),
        "grid": _grid(due),
        "assets": ASSETS,
        "misses": len(hourly_outcomes) - hits,
        "hits": hits,
        "needed": BIN_CASES,
    }


def _outcomes(due: Sequence[PredictionMade], *, rehearsed: bool) -> list[Outcome]:
    return [
        Outcome(made.end_ms, made.asset, str(made.prediction), str(made.outcome))
        for made in reversed(due)
        if made.warm_up == rehearsed
    ]


def _rehearsal(held: Rehearsal | None, due: Sequence[PredictionMade], *, drawn: bool) -> dict[str, Any] | None:
    if held is None:
        return None
    named = (("Hourly forecasts", held.hourly), ("Arena forecasts", held.arena))
    source = "Source: the backtest before the first start; none of it counts."
    outcomes = _outcomes(due, rehearsed=True)
    charts = (
        reliability("rehearsal-reliability", held.hourly.bins, source),
        curve("rehearsal-curve", outcomes, source),
    )
    return {
        "rows": tuple(
            (
                name,
                f"{record.resolved:,}",
                percent(record.hit.percent),
                interval(record.hit),
                UNKNOWN if record.brier is None else f"{record.brier:.4f}",
            )
            for name, record in named
        ),
        "charts": tuple(chart for chart in charts if chart is not None) if drawn else (),
    }


def _by_asset(whole: Rate, outcomes: Sequence[Outcome]) -> tuple[tuple[str, Rate], ...]:
    rows = [("All", whole)]
    for asset in ASSETS:
        own = [outcome.hit for outcome in outcomes if outcome.name == asset]
        if own:
            rows.append((asset, wilson(sum(own), len(own))))
    return tuple(rows)


def _section(  # noqa: PLR0917  each is another thing
    name: str,
    title: str,
    record: TrackRecord,
    compared_rates: tuple[tuple[str, Rate], ...],
    outcomes: Sequence[Outcome],
    source: Markup | str,
) -> dict[str, Any]:
    enough = record.resolved >= BIN_CASES
    drawn = (
        reliability(f"{name}-reliability", record.bins, source),
        curve(f"{name}-curve", outcomes, source),
        rates(f"{name}-rates", title, compared_rates, source),
        briers(f"{name}-brier", record, source),
    )
    return {
        "name": name,
        "record": record,
        "title": title,
        "enough": enough,
        "verdict": verdict(record),
        "facts": _facts(record),
        "charts": tuple(chart for chart in drawn if chart is not None) if enough else (),
    }


def _facts(record: TrackRecord) -> tuple[tuple[str, str, str], ...]:
    skill = record.skill_percent.get("base_rate")
    return (
        ("Came due", f"{record.resolved:,}", f"of {record.predictions:,} made, {record.void:,} void"),
        (
            "Came true",
            percent(record.hit.percent),
            f"95% interval {interval(record.hit)}" if record.resolved else "",
        ),
        (
            "Brier score",
            UNKNOWN if record.brier is None else f"{record.brier:.4f}",
            "0 is perfect, 0.667 equal chances",
        ),
        ("Skill", percent(skill), "against the base rate; 0 or less is none"),
        ("Log score", UNKNOWN if record.log_score is None else f"{record.log_score:.4f}", "1.099 is equal chances"),
    )


def _grid(due: Sequence[PredictionMade]) -> tuple[dict[str, Any], ...]:
    by_hour: dict[int, dict[str, PredictionMade]] = {}
    for made in due:
        by_hour.setdefault(made.start_ms, {})[made.asset] = made
    newest = sorted(by_hour, reverse=True)[:GRID_HOURS]
    return tuple(
        {
            "start_ms": start,
            "cells": tuple(_cell(by_hour[start].get(asset)) for asset in ASSETS),
            "rehearsed": any(made.warm_up for made in by_hour[start].values()),
        }
        for start in newest
    )


def _cell(made: PredictionMade | None) -> Cell:
    if made is None or made.outcome is None:
        return Cell("", "", None)
    return Cell(made.prediction.lower(), made.outcome.lower(), made.prediction == made.outcome)
