"""The record of the regime's chances as published: whether the label still stood four hours later."""

from pydantic import Field

from generator.arena.holds import AHEAD_MS
from generator.arena.rates import ENOUGH, enough, in_words, shared
from generator.catalog.counts import quantity
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import iso_or_none
from generator.catalog.text import figures
from generator.compose.body import Body, Percent, Score
from generator.values.scores import CalibrationBin, Estimate, HoldRecord, HoldScores, Rate

_AHEAD = f"{AHEAD_MS // HOUR_MS} hours"


class EarlierHours(Body):
    """Hours whose chances were of another kind than today's."""

    kind: str | None = Field(description="What they were the chances of; null: before that was kept.")
    hours: int = Field(description="How many are kept; they are not scored.")


class RegimeRecord(Body):
    """Whether the label of an hour still stood four hours later, against the chances kept of it."""

    chances_kind: str | None = Field(description="What is scored: holds_four_hours.")
    hours: int = Field(description="Hours kept with a label and its chances, of the UTC days that are counted.")
    n: int = Field(description="Of these, hours whose label four hours later was kept too.")
    days: int = Field(description="UTC days with such an hour: the blocks of the intervals.")
    warm_up: int = Field(description="How many more a backtest read before the start; not in n.")
    since: str | None = Field(description="The first of the hours, ISO 8601 UTC.")
    until: str | None = Field(description="The last of them; a day is counted at 04:00 UTC on the next.")
    said_percent: Percent = Field(description="Mean chance that the label still stands, percent.")
    held: Rate = Field(description="How often it did.")
    four_way_brier: Score = Field(description="Brier score of the four labels' chances, 0..2, lower is better.")
    four_way_brier_climate: Score = Field(description="That of how often each label stood before.")
    four_way_brier_persistence: Score = Field(description="That of being sure that the label stays.")
    climate_skill_percent: Estimate | None = Field(
        description="1 - Brier / the climate's, percent; null below ten days or ten labels of either kind."
    )
    persistence_skill_percent: Estimate | None = Field(description="The same against persistence.")
    calibration: tuple[CalibrationBin, ...] = Field(description="Chance that it still stands against how often it did.")
    earlier: tuple[EarlierHours, ...] = Field(description="Hours of earlier kinds of chances.")
    statement: str = Field(description="What is shown, and what is not, in plain words.")


class RegimeReliability(Body):
    """What the chance that the label still stands was worth so far; statistics has the scores."""

    n: int = Field(description="Hours of which it is known whether the label still stood.")
    said_percent: Percent = Field(description="Mean chance that it would, percent.")
    held: Rate = Field(description="How often it did.")


def regime_record(record: HoldRecord) -> RegimeRecord:
    """Publish the live record."""
    live = record.live

    return RegimeRecord(
        chances_kind=record.kind,
        hours=live.hours,
        n=live.n,
        days=live.days,
        warm_up=record.backtest.n,
        since=iso_or_none(live.since_ms),
        until=iso_or_none(live.until_ms),
        said_percent=live.said_percent,
        held=shared(live.held),
        four_way_brier=live.brier,
        four_way_brier_climate=live.climate_brier,
        four_way_brier_persistence=live.persistence_brier,
        climate_skill_percent=live.climate_skill_percent,
        persistence_skill_percent=live.persistence_skill_percent,
        calibration=live.bins,
        earlier=tuple(EarlierHours(kind=kind, hours=hours) for kind, hours in record.earlier.items()),
        statement=holds_statement(record),
    )


def regime_reliability(scores: HoldScores) -> RegimeReliability | None:
    """Publish what the live record shows in short; None below 30 cases."""
    if not enough(scores.held):
        return None
    return RegimeReliability(n=scores.n, said_percent=scores.said_percent, held=shared(scores.held))


def holds_statement(record: HoldRecord) -> str:
    """Say in plain words what the live chances were worth."""
    scores = record.live
    if not scores.n:
        return f"No label's chance to stand for {_AHEAD} has been scored yet."
    if scores.n < ENOUGH:
        return f"Only {quantity(scores.n, 'chance')} of a label to stand for {_AHEAD} could be judged: too few to tell."

    sentence = (
        f"Of {scores.n} labels {in_words(scores.held)} still stood {_AHEAD} later; "
        f"the chances said {figures.percent(scores.said_percent)}."
    )
    skills = (
        _skill(scores.climate_skill_percent, "past frequencies"),
        _skill(scores.persistence_skill_percent, "certainty"),
    )
    known = [skill for skill in skills if skill]
    if not known:
        return sentence
    return f"{sentence} Brier skill: {', '.join(known)}."


def _skill(skill: Estimate | None, baseline: str) -> str:
    """Say what a skill against a baseline shows, empty where there is none."""
    if skill is None or skill.low is None or skill.high is None:
        return ""
    return f"{skill.value:g}% ({skill.low:g} to {skill.high:g}%) against {baseline}"
