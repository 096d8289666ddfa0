"""Track records to the contract's form, each with a plain sentence."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from generator.arena.range_scores import ENOUGH_BLOCKS
from generator.arena.values import ArenaView, Bin, Estimate, HorizonScores, RangeScore, TrackRecord
from generator.catalog.text.answers import NO_ROUND_COUNTS, NO_ROUND_ENDED, NO_SCORES
from generator.contract import scores as contract

BASELINE: Final = "base_rate"
ENOUGH: Final = 30
CHANCE_PERCENT: Final = 34.0  # a third, and the width of one step of the published figures
NO_MOVES: Final = "No move over {horizon} is known yet, so no score of the ranges is shown."
HORIZON_WORDS: Final = {"15m": "15 minutes", "1h": "1 hour", "4h": "4 hours", "24h": "24 hours"}
RULE_WORDS: Final = {"last_hour": "the last hour", "last_day": "the last day", "ewma": "EWMA"}


def calibration_bin(value: Bin) -> contract.CalibrationBin:
    """Publish one bin; below 30 cases it says so instead of a rate."""
    few = f"{value.n} case{'' if value.n == 1 else 's'}: fewer than {ENOUGH}, too few for a rate"
    return contract.CalibrationBin.of(value, note=None if value.hit else few)


def track_record(record: TrackRecord) -> contract.TrackRecord:
    """Publish a track record."""
    return contract.TrackRecord.of(
        record,
        n=record.hit.n,
        hit_rate_percent=record.hit.percent,
        hit_rate_low_percent=record.hit.low_percent,
        hit_rate_high_percent=record.hit.high_percent,
        baseline=BASELINE,
        brier_baseline=record.baselines.get(BASELINE),
        skill_percent=record.skill_percent.get(BASELINE),
        baselines=tuple(
            contract.Baseline(
                name=name,
                n=record.resolved,
                brier=record.baselines.get(name),
                skill_percent=record.skill_percent.get(name),
            )
            for name in dict.fromkeys((BASELINE, *record.baselines))
        ),
        calibration=tuple(map(calibration_bin, record.bins)),
        statement=statement(record),
    )


def score_limits(*records: TrackRecord, rounds_ended: int = 0) -> tuple[str, ...]:
    """Say that scores are null where nothing that counts has resolved yet.

    Args:
        rounds_ended: Arena rounds that are over, whether they count or not.
    """
    arena = NO_ROUND_COUNTS.format(ended=rounds_ended) if rounds_ended else NO_ROUND_ENDED
    said = {"hourly": NO_SCORES, "arena": arena}
    return tuple(said.get(record.kind, NO_SCORES) for record in records if not record.resolved)


def looks_better(record: TrackRecord) -> bool:
    """Return whether a record looks better than guessing: enough cases, better than the base rate and than chance.

    Chance is a blind guess of three, or always naming the outcome that was most frequent before.
    """
    skill, low = record.skill_percent.get(BASELINE), record.hit.low_percent
    if record.resolved < ENOUGH or skill is None or low is None:
        return False
    return skill > 0 and low > max(CHANCE_PERCENT, record.chance_percent or 0.0)


def statement(record: TrackRecord) -> str:
    """Say in one plain sentence what a record shows."""
    if not record.resolved:
        return f"No forecast has resolved yet, so no score is shown.{counted_apart(record.warm_up)}"
    if record.resolved < ENOUGH:
        few = f"Only {record.resolved} forecasts have resolved: no skill is shown, it is too few to tell."
        return f"{few}{counted_apart(record.warm_up)}"
    hit, skill = contract.Rate.of(record.hit), record.skill_percent.get(BASELINE)
    came = spread(Estimate(hit.percent, hit.low_percent, hit.high_percent))
    chance = record.chance_percent or 0.0
    rates = f"of {record.resolved} forecasts {came} came true; always naming the outcome most frequent before gets {chance:g}%"
    brier = "" if skill is None else f", and the Brier skill against the base rate is {skill:g}%"
    shown = "More than chance so far" if looks_better(record) else "No skill is shown"
    future = " That promises nothing of the next forecast." if looks_better(record) else ""
    return f"{shown}: {rates}{brier}.{future}{counted_apart(record.warm_up)}"


def counted_apart(warm_up: int) -> str:
    """Say how many more there are of before the start."""
    return f" A backtest before the start made {warm_up}, counted apart." if warm_up else ""


def how_far(view: ArenaView) -> contract.HowFar:
    """Publish the scores of the ranges over every horizon."""
    return contract.HowFar(
        resolved=sum(one.resolved for one in view.how_far),
        warm_up=sum(one.resolved for one in view.rehearsal.how_far) if view.rehearsal else 0,
        horizons=tuple(
            contract.HorizonScores.of(
                one, scores=tuple(map(_range_score(one), one.scores)), statement=far_statement(one)
            )
            for one in view.how_far
        ),
        statement=hour_statement(view),
    )


def performance(view: ArenaView) -> contract.Performance:
    """Publish the record of the hourly forecasts: how far in short, and which way."""
    one = hour_of(view.how_far)
    brain = one.scores[0] if one and one.scores else None
    short = contract.HowFarSummary(
        n=one.resolved if one else 0,
        inside_50_percent=_estimate(brain.inside_50) if brain else None,
        inside_90_percent=_estimate(brain.inside_90) if brain else None,
        statement=hour_statement(view),
    )
    return contract.Performance.of(track_record(view.hourly_record), how_far=short)


def hour_of(scores: Iterable[HorizonScores]) -> HorizonScores | None:
    """Return the scores over one hour, the first figure of the record; None before the first move."""
    return next((one for one in scores if one.horizon == "1h"), None)


def hour_statement(view: ArenaView) -> str:
    """Say what the ranges over one hour were worth so far."""
    one, before = hour_of(view.how_far), hour_of(view.rehearsal.how_far) if view.rehearsal else None
    said = NO_MOVES.format(horizon=HORIZON_WORDS["1h"]) if one is None else far_statement(one)
    return f"{said}{counted_apart(before.resolved if before else 0)}"


def _range_score(one: HorizonScores) -> Callable[[RangeScore], contract.RangeScore]:
    return lambda found: contract.RangeScore.of(
        found,
        n=one.resolved,
        inside_50_percent=_estimate(found.inside_50),
        inside_90_percent=_estimate(found.inside_90),
        pinball_saved_percent=_estimate(found.pinball_saved),
        qlike_saved=_estimate(found.qlike_saved),
    )


def _estimate(found: Estimate) -> contract.Estimate | None:
    return None if found.value is None else contract.Estimate.of(found)


def far_statement(one: HorizonScores) -> str:
    """Say what the ranges over one horizon show, and what they do not."""
    horizon = HORIZON_WORDS[one.horizon]
    if not one.resolved:
        return NO_MOVES.format(horizon=horizon)
    if one.blocks < ENOUGH_BLOCKS:
        return f"Only {one.resolved} moves over {horizon} are known, all from a short time: too few to tell."
    brain = one.scores[0]
    return (
        f"Of {one.resolved} moves over {horizon} {spread(brain.inside_50)} ended inside the 50% range and "
        f"{spread(brain.inside_90)} inside the 90% range. {against(one)}"
    )


def spread(found: Estimate) -> str:
    """Write a share with its interval."""
    if found.low is None or found.high is None:
        return f"{found.value:g}%"
    return f"{found.value:g}% (95% interval {found.low:g} to {found.high:g}%)"


def against(one: HorizonScores) -> str:
    """Say how the ranges compare with those of the simple rules; better is better by both losses."""
    names: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for rule in one.scores[1:]:
        names[compared(rule)].append(RULE_WORDS[rule.name])
    if len(names["better"]) == len(one.scores) - 1:
        return "They scored better than ranges from all three simple rules: the last hour, the last day and EWMA."
    said = [f"{word} than ranges from {listed(names[word])}" for word in ("better", "worse") if names[word]]
    first = f"They scored {' and '.join(said)}" if said else ""
    chance = f"against {listed(names['open'])} the difference could be chance" if names["open"] else ""
    text = "; ".join(filter(None, (first, chance)))
    return f"{text[0].upper()}{text[1:]}."


def compared(score: RangeScore) -> Literal["better", "worse", "open"]:
    """Judge the brain against a simple rule by pinball loss and QLIKE: better by both, worse by one, or open."""
    losses = (score.pinball_saved, score.qlike_saved)
    if any(loss.high is not None and loss.high < 0 for loss in losses):
        return "worse"
    return "better" if all(loss.low is not None and loss.low > 0 for loss in losses) else "open"


def listed(names: Sequence[str]) -> str:
    """Write names as a sentence lists them."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
