"""The tables of `docs/explain/brain.md`: every measure with its bar, every model on the same markets."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from generator.lab.evaluate import OURS, Evaluation
from generator.lab.scores import Outcomes, RegimeRun, RegimeScore, regime_error, resampled, score_regimes

FIRST: Final = ("base", "hard", "wild", "alt")
REGIMES: Final = (*FIRST, "second")
_OVERLAP: Final = 4  # forecasts of an hour, one each quarter of it
_DAY_MOMENTS: Final = 96  # quarters of an hour
_NEAR: Final = 0.10 + 1e-9
_MODELS: Final = (
    "family | model | balanced accuracy | stressed/calm | ECE (calibrated: mean, 95% below) | delay h | missed % | "
    "false a day | dwell h | transition % | claimed %"
)
_ARENA: Final = (
    "family | model | Arena skill 60 min % (95%) | ECE (calibrated: mean, 95% below, an hour's outcomes as one)"
)
_BARS: Final = (
    ("balanced accuracy, first families", ">= 0.72", "accuracy", FIRST),
    ("balanced accuracy, second", ">= 0.70", "accuracy", ("second",)),
    ("transition, share of bars", "<= 0.15", "transition", REGIMES),
    ("stressed against calm", ">= 0.89", "stressed", REGIMES),
    ("median delay, hours", "<= 3", "delay_hours", REGIMES),
    ("false switches a day", "<= 1.2", "false_a_day", REGIMES),
    ("mean dwell, hours", ">= 8", "dwell_hours", REGIMES),
    ("driftless: share of time with a claim", "<= 0.40", "claimed", ("null",)),
)
"""Measure, bar, field of the score, families whose mean it is."""


def tables(found: Evaluation, missing: Sequence[str] = ()) -> str:
    """Return all tables as Markdown.

    Args:
        missing: peers that could not be run.
    """
    seeds = f"{found.seeds.start}-{found.seeds.stop - 1}"
    warm_up = f"{found.days} days a market, the first {found.days // 2} are warm-up"
    scores = {model: {f: score_regimes(runs) for f, runs in each.items()} for model, each in found.runs.items()}
    models = [_model(f, m, scores[m][f], found.runs[m][f]) for f in (*REGIMES, "null") for m in scores]
    arena = [_arena(f, m, parts[f]) for f in (*REGIMES, "null") for m, parts in found.outcomes.items()]
    lines = [f"Seeds {seeds}, weights `{found.digest[:12]}`, {warm_up}.", ""]
    lines += _table("measure | bar | figure | met | n | 95% interval", _bars(found, scores))
    lines += _table(_MODELS, models) + _table(_ARENA, arena)
    lines += [f"Not run, because the library is not installed: {name}.\n" for name in missing]
    return "\n".join(lines)


def _table(head: str, rows: Sequence[str]) -> list[str]:
    return [f"| {head} |", "|---" * (head.count("|") + 1) + "|", *(f"| {row} |" for row in rows), ""] if rows else []


def _bars(found: Evaluation, scores: dict[str, dict[str, RegimeScore]]) -> list[str]:
    """Return every bar of the simulated markets with our figure."""
    ours, runs, n = scores[OURS], found.runs[OURS], f"{len(found.seeds)} markets a family"
    rows = []
    for name, bar, key, families in _BARS:
        value, limit = _mean(ours, families, key), float(bar.split()[1])
        low, high = resampled([runs[family] for family in families], key)
        met = value >= limit if bar.startswith(">") else value <= limit
        rows.append(_judged(name, bar, f"{value:.3f}", n, met=met, interval=f"{low:.3f} to {high:.3f}"))
    peers = [each for model, each in scores.items() if model != OURS and not model.startswith("`")]
    for name, families in (("first families", FIRST), ("second", ("second",))):
        best = max((_mean(each, families, "accuracy") for each in peers), default=math.nan)
        ratio = _mean(ours, families, "accuracy") / best
        rows.append(
            _judged(f"ratio to the best peer, {name}", ">= 1.3", f"{ratio:.2f} x {best:.3f}", n, met=ratio >= 1.3)
        )
    behind = np.concatenate([run.behind() for each in runs.values() for run in each])
    near = float((behind <= _NEAR).mean())
    rows.append(
        _judged("label near the likeliest", "100%", f"{100 * near:.2f}%", f"{len(behind)} bars", met=near == 1.0)
    )
    regime = {family: regime_error(runs[family]) for family in REGIMES}
    arena = {family: (part.error(), part.error_by_chance(_OVERLAP)) for family, part in found.outcomes[OURS].items()}
    for name, errors, limit, digits in (("regime", regime, 0.06, 3), ("Arena", arena, 0.01, 4)):
        figures = ", ".join(
            f"{f} {error:.{digits}f} (< {chance.high:.{digits}f})" for f, (error, chance) in errors.items()
        )
        met = all(error <= max(limit, chance.high) for error, chance in errors.values())
        rows.append(_judged(f"{name} ECE of each family", f"<= {limit} or by chance", figures, n, met=met))
    null = found.outcomes[OURS]["null"]
    low, high = null.interval(_DAY_MOMENTS)
    interval, met = f"{low:+.3f} to {high:+.3f}", null.skill() >= -0.02
    many = f"{len(null.outcome)} forecasts"
    rows.append(
        _judged("Arena skill %, driftless", ">= -0.02", f"{null.skill():+.3f}", many, met=met, interval=interval)
    )
    return rows


def _judged(name: str, bar: str, figure: str, n: str, *, met: bool, interval: str = "") -> str:
    return f"{name} | {bar} | {figure} | {'yes' if met else '**no**'} | {n} | {interval}"


def _mean(scores: dict[str, RegimeScore], families: Sequence[str], key: str) -> float:
    return float(np.mean([getattr(scores[family], key) for family in families]))


def _model(family: str, model: str, one: RegimeScore, runs: Sequence[RegimeRun]) -> str:
    """Return the figures of one model on one family; without a true drift only how it moves and claims."""
    shown = ["-"] * 6
    if family != "null":
        error = "-"
        if runs[0].chances is not None:
            found, chance = regime_error(runs)
            error = f"{found:.3f} ({chance.mean:.3f}, {chance.high:.3f})"
        delay = "never" if one.delay_hours > 1e6 else f"{one.delay_hours:.1f}".replace("nan", "-")
        missed = f"{100 * one.missed:.0f}"
        shown = [f"{one.accuracy:.3f}", f"{one.stressed:.3f}", error, delay, missed, f"{one.false_a_day:.2f}"]
    ends = [f"{one.dwell_hours:.1f}", f"{100 * one.transition:.1f}", f"{100 * one.claimed:.0f}"]
    return " | ".join([family, model, *shown, *ends])


def _arena(family: str, model: str, part: Outcomes) -> str:
    if not len(part.outcome):
        return f"{family} | {model} | - | -"
    low, high = part.interval(_DAY_MOMENTS)
    chance = part.error_by_chance(_OVERLAP)
    skill = f"{part.skill():+.3f} ({low:+.3f} to {high:+.3f})"
    return f"{family} | {model} | {skill} | {part.error():.4f} ({chance.mean:.4f}, {chance.high:.4f})"
