"""Scores as they go into the log once a day, and as one line for a reader."""

from collections.abc import Mapping, Sequence
from typing import Any

from generator.arena.rates import in_full
from generator.catalog.counts import quantity
from generator.values.scores import CrowdRecord, ForecastScores, HorizonRecord


def score_line(name: str, record: ForecastScores) -> str:
    """Return how often the forecasts were right, and their Brier score, in one line."""
    parts = [f"{in_full(record.hit)} calls right" if record.hit.n else "no call"]
    parts.append(f"{record.no_calls} forecasts without a call")
    if record.before_calls:
        parts.append(f"{in_full(record.before_calls.hit)} words right from before calls existed")
    parts.append(f"Brier {record.brier} (base rate {record.baselines['base_rate']}, even chances 0.6667)")
    if record.move.brier is not None:
        parts.append(f"will it move: Brier {record.move.brier} (base rate {record.move.base_rate_brier})")
    return f"{name}: {', '.join(parts)}"


def scores_of(record: ForecastScores) -> dict[str, Any]:
    """Write a record's headline as it goes into the log once a day."""
    move = record.move

    return {
        **_scores_of_all(record),
        "hit_rate_percent": record.hit.percent,
        "calls": record.hit.n,
        "move": {
            "resolved": move.n,
            "brier": move.brier,
            "base_rate_brier": move.base_rate_brier,
            "log_score": move.log_score,
            "base_rate_log_score": move.base_rate_log_score,
        },
    }


def crowd_scores_of(scores: CrowdRecord) -> dict[str, Any]:
    """Write the scores of a crowd's chances as they go into the log once a day."""
    return {
        "rounds": scores.n,
        "votes": scores.votes,
        "brier": scores.brier,
        "base_rate_brier": scores.brier_base_rate,
        "brain_brier": scores.brier_brain,
        "log_score": scores.log_score,
        "base_rate_log_score": scores.log_score_base_rate,
        "brain_log_score": scores.log_score_brain,
    }


def crowd_line(name: str, scores: CrowdRecord) -> str:
    """Return what a crowd's chances were worth, in one line."""
    return (
        f"{name}: {quantity(scores.votes, 'vote')} with chances in {quantity(scores.n, 'round')}, "
        f"Brier {scores.brier} (base rate "
        f"{scores.brier_base_rate}, the brain in the same rounds {scores.brier_brain})"
    )


def _scores_of_all(record: ForecastScores) -> dict[str, Any]:
    return {
        "resolved": record.resolved,
        "brier": record.brier,
        "log_score": record.log_score,
        "baselines": dict(record.baselines),
    }


def scores_in_form(stated: Mapping[str, Any], record: ForecastScores) -> dict[str, Any]:
    """Write a record's headline in the form of an entry: one from before calls rates every word."""
    before = record.before_calls
    rated = before.hit.n if before else 0
    if "calls" in stated or record.earlier or rated != record.resolved:
        return scores_of(record)
    return {**_scores_of_all(record), "hit_rate_percent": before.hit.percent if before else None}


def far_line(scores: HorizonRecord) -> str:
    """Return what the ranges over one horizon were worth in one line."""
    brain, *simple = scores.scores
    others = ", ".join(f"{rule.name} {rule.pinball}" for rule in simple)
    return (
        f"ranges over {scores.horizon} in the log: {in_full(brain.inside_50)} inside the 50% range, "
        f"{in_full(brain.inside_90)} inside the 90% range, pinball loss {brain.pinball} ({others})"
    )


def far_scores_of(scores: Sequence[HorizonRecord]) -> dict[str, Any]:
    """Write the ranges' scores as they go into the log once a day."""
    return {
        record.horizon: {
            "resolved": record.resolved,
            "inside_50_percent": record.scores[0].inside_50.percent,
            "inside_90_percent": record.scores[0].inside_90.percent,
            "pinball": {score.name: score.pinball for score in record.scores},
            "qlike": {score.name: score.qlike for score in record.scores},
        }
        for record in scores
        if record.resolved
    }
