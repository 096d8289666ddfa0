"""Track records to the contract's form, each with a plain sentence."""

from typing import Final

from generator.arena.values import Bin, Rate, TrackRecord
from generator.catalog.formats import percent, score
from generator.catalog.text.answers import NO_ROUND_COUNTS, NO_ROUND_ENDED, NO_SCORES
from generator.contract import scores as contract

BASELINE: Final = "base_rate"
ENOUGH: Final = 30
CHANCE_PERCENT: Final = 34.0  # a third, and the width of one step of the published figures


def rate(value: Rate) -> contract.Rate:
    """Publish a share with its interval."""
    return contract.Rate(
        n=value.n,
        percent=percent(value.percent),
        low_percent=percent(value.low_percent),
        high_percent=percent(value.high_percent),
    )


def calibration_bin(value: Bin) -> contract.CalibrationBin:
    """Publish one bin; below 30 cases it says so instead of a rate."""
    hit = value.hit if value.n >= ENOUGH else None
    return contract.CalibrationBin.of(
        value,
        low_percent=percent(value.low_percent) or 0.0,
        high_percent=percent(value.high_percent) or 0.0,
        hit=None if hit is None else rate(hit),
        note=f"{value.n} case{'' if value.n == 1 else 's'}: fewer than {ENOUGH}, too few for a rate"
        if hit is None
        else None,
    )


def track_record(record: TrackRecord) -> contract.TrackRecord:
    """Publish a track record."""
    names = dict.fromkeys((BASELINE, *record.baselines))
    hit = rate(record.hit)
    return contract.TrackRecord.of(
        record,
        n=hit.n,
        hit_rate_percent=hit.percent,
        hit_rate_low_percent=hit.low_percent,
        hit_rate_high_percent=hit.high_percent,
        brier=score(record.brier),
        log_score=score(record.log_score),
        baseline=BASELINE,
        brier_baseline=score(record.baselines.get(BASELINE)),
        skill_percent=percent(record.skill_percent.get(BASELINE)),
        baselines=tuple(
            contract.Baseline(
                name=name,
                n=record.resolved,
                brier=score(record.baselines.get(name)),
                skill_percent=percent(record.skill_percent.get(name)),
            )
            for name in names
        ),
        calibration=tuple(calibration_bin(row) for row in record.bins),
        statement=statement(record),
    )


def score_limits(*records: TrackRecord, rounds_ended: int = 0) -> tuple[str, ...]:
    """Say that scores are null where nothing that counts has resolved yet.

    Args:
        records: of forecasts.
        rounds_ended: Arena rounds that are over, whether they count or not.
    """
    arena = NO_ROUND_COUNTS.format(ended=rounds_ended) if rounds_ended else NO_ROUND_ENDED
    said = {"hourly": NO_SCORES, "arena": arena}
    return tuple(said.get(record.kind, NO_SCORES) for record in records if not record.resolved)


def looks_better(record: TrackRecord) -> bool:
    """Return whether a record looks better than guessing: enough cases, better than the base rate and a blind guess.

    The interval takes forecasts as independent. Those of one hour are not, so this is a hint and never a proof.
    """
    skill, low = percent(record.skill_percent.get(BASELINE)), percent(record.hit.low_percent)
    return record.resolved >= ENOUGH and skill is not None and skill > 0 and low is not None and low > CHANCE_PERCENT


def statement(record: TrackRecord) -> str:
    """Say in one plain sentence what a record shows."""
    apart = (
        f" {record.warm_up} more were made by backtest before the start and are counted apart."
        if record.warm_up
        else ""
    )
    if not record.resolved:
        return f"No forecast has resolved yet, so no score is shown.{apart}"
    if record.resolved < ENOUGH:
        return f"Only {record.resolved} forecasts have resolved: no skill is shown, it is too few to tell.{apart}"
    skill = percent(record.skill_percent.get(BASELINE))
    if looks_better(record):
        return (
            f"Over {record.resolved} forecasts the Brier score is {skill:g}% better than the base rate's, and more came "
            f"true than of a blind guess. Coins move together, so this may still be chance, and it promises nothing of the "
            f"next forecast.{apart}"
        )
    against = "" if skill is None else f" (Brier skill against the base rate {skill:g}%)"
    return f"No skill is shown: over {record.resolved} forecasts the result could be chance{against}.{apart}"
