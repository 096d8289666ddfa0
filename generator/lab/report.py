"""The tables of `docs/brain.md`: every measure with its bar, every model on the same markets."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from generator.lab.evaluate import BRAIN, REGIME_FAMILIES, Evaluation, RecordedScore
from generator.lab.scores import Outcomes, RegimeScore

_OVERLAP: Final = (1, 4)  # forecasts of 15 and of 60 minutes, one each quarter of an hour
_DAY_MOMENTS: Final = 96  # quarters of an hour
_MODELS: Final = "Every model on the same markets."
_ARENA: Final = (
    "Forecasts of the Arena against the causal base rate. In brackets: the ECE that a perfectly calibrated forecaster "
    "gets by chance, from every outcome for itself to all assets and overlapping hours as one; then the 95 % quantile of "
    "the latter."
)
Row = tuple[str, str, str, bool | None]


def tables(found: Evaluation, missing: Sequence[str] = ()) -> str:
    """Return all tables as Markdown.

    Args:
        missing: peers that could not be run.
    """
    seeds = f"{found.seeds.start}-{found.seeds.stop - 1}"
    warm_up = f"{found.days} days a market, the first {found.days // 2} are warm-up"
    lines = [f"Seeds {seeds}, weights `{found.digest[:12]}`, {warm_up}.", ""]
    lines += _table("measure | measured | bar | reached", [_judged(*row) for row in _simulated(found)])
    head = "family | model | balanced accuracy | stressed/calm | ECE | delay h | missed % | false a day | dwell h | claimed %"
    models = [
        f"{family} | {model} | {_model(found.scores[model][family], driftless=family == 'null')}"
        for family in (*REGIME_FAMILIES, "null")
        for model in found.scores
    ]
    lines += [_MODELS, "", *_table(head, models)]
    lines += [f"Not run, because the library is not installed: {name}.\n" for name in missing]
    head = "family | skill 15 min % | skill 60 min % | ECE 15 min | ECE 60 min"
    lines += [_ARENA, "", *_table(head, [_forecasts(family, *pair) for family, pair in found.outcomes.items()])]
    if found.recorded:
        head = (
            "set | labels: on / off / range / high / transition %, each of the four 5-60 | dwell h, >= 5 | 4 h volatility, "
            "high over range, >= 1.5 | R2 of the outlook: 15 min, 1 h, 4 h (2-hour EWMA), 1 h and 4 h >= EWMA + .06 | Arena "
            "skill 15 min % (95 %), >= -.05 | Arena skill 60 min % (95 %), >= -.05 | Arena ECE 15 / 60, <= .01"
        )
        lines += ["Recorded candles, the first week as warm-up, brackets as above; the head names the bars:", ""]
        lines += _table(head, [_recorded(one) for one in found.recorded])
    return "\n".join(lines)


def _table(head: str, rows: Sequence[str]) -> list[str]:
    return [f"| {head} |", "|---" * (head.count("|") + 1) + "|", *(f"| {row} |" for row in rows), ""]


def _judged(name: str, value: str, bar: str, reached: bool | None) -> str:  # noqa: FBT001
    return f"{name} | {value} | {bar} | {'' if reached is None else 'yes' if reached else '**no**'}"


def _simulated(found: Evaluation) -> list[Row]:
    own = [found.scores[BRAIN][family] for family in REGIME_FAMILIES]
    accuracy, stressed, false = (
        float(np.mean([getattr(one, name) for one in own])) for name in ("accuracy", "stressed", "false_a_day")
    )
    peers = [scores for model, scores in found.scores.items() if model != BRAIN]
    best = max((float(np.mean([one[f].accuracy for f in REGIME_FAMILIES])) for one in peers), default=math.nan)
    worst = max(one.error or 0.0 for one in own)
    dwell = float(np.mean([one.dwell_hours for one in own]))
    delay = float(np.median([one.delay_hours for one in own]))
    claimed = found.scores[BRAIN]["null"].claimed
    null = min(part.skill() for part in found.outcomes["null"])
    error = max(part.error() for pair in found.outcomes.values() for part in pair)
    return [
        ("balanced accuracy, mean of four families", f"{accuracy:.3f}", ">= 0.72", accuracy >= 0.72),
        ("... over the best peer", f"{accuracy / best:.2f} x {best:.3f}", "", None),
        ("stressed against calm", f"{stressed:.3f}", ">= 0.88", stressed >= 0.88),
        ("median detection delay", f"{delay:.1f} h", "<= 4 h", delay <= 4.0),
        ("false switches a day", f"{false:.2f}", "<= 1", false <= 1.0),
        ("mean dwell", f"{dwell:.1f} h", ">= 10 h", dwell >= 10.0),
        ("confidence ECE, worst family", f"{worst:.3f}", "<= 0.06", worst <= 0.06),
        ("driftless: share of time with a claimed bias", f"{claimed:.2f}", "<= 0.40", claimed <= 0.40),
        ("Arena skill, driftless, worse horizon", f"{null:+.3f} %", ">= -0.02 %", null >= -0.02),
        ("Arena ECE, worst family and horizon", f"{error:.4f}", "<= 0.01", error <= 0.01),
    ]


def _model(one: RegimeScore, *, driftless: bool) -> str:
    """Return the figures of one model on one family; without a true drift only how it moves and claims."""
    shown = ["-"] * 6
    if not driftless:
        error = "-" if one.error is None else f"{one.error:.3f}"
        delay = "never" if one.delay_hours > 1e6 else f"{one.delay_hours:.1f}".replace("nan", "-")
        missed = f"{100 * one.missed:.0f}"
        shown = [f"{one.accuracy:.3f}", f"{one.stressed:.3f}", error, delay, missed, f"{one.false_a_day:.2f}"]
    return " | ".join([*shown, f"{one.dwell_hours:.1f}", f"{100 * one.claimed:.0f}"])


def _forecasts(family: str, near: Outcomes, far: Outcomes) -> str:
    return f"{family} | {near.skill():+.3f} | {far.skill():+.3f} | {_error(near, 0)} | {_error(far, 1)}"


def _error(part: Outcomes, horizon: int) -> str:
    """Return a calibration error, and in brackets its size by chance."""
    alone, together = part.error_by_chance(_OVERLAP[horizon])
    return f"{part.error():.4f} ({alone.mean:.4f}-{together.mean:.4f}, < {together.high:.4f})"


def _recorded(one: RecordedScore) -> str:
    shares = " / ".join(f"{100 * share:.0f}" for share in one.shares)
    fits, usual = (", ".join(f"{pair[which]:.3f}" for pair in one.fits) for which in (0, 1))
    skills = [
        f"{part.skill():+.3f} ({', '.join(f'{edge:+.3f}' for edge in part.interval(_DAY_MOMENTS))})"
        for part in one.outcomes
    ]
    errors = " / ".join(_error(part, horizon) for horizon, part in enumerate(one.outcomes))
    return (
        f"{one.name}, {one.assets} assets | {shares} | {one.dwell_hours:.1f} | {one.ratio:.2f} | {fits} ({usual}) | "
        f"{skills[0]} | {skills[1]} | {errors}"
    )
