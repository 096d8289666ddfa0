"""The tables of `docs/explain/brain.md`: every measure with its bar, every model on the same markets."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from generator.lab.evaluate import OURS, Evaluation
from generator.lab.peers import PEERS
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


def tables(found: Evaluation) -> str:
    """Return all tables as Markdown."""
    seeds = f"{found.seeds.start}-{found.seeds.stop - 1}"
    warm_up = f"{found.days} days a market, the first {found.days // 2} are warm-up"
    scores = {model: {f: score_regimes(runs) for f, runs in each.items()} for model, each in found.runs.items()}
    models = [_model(f, m, scores[m][f], found.runs[m][f]) for f in (*REGIMES, "null") for m in scores]
    arena = [_arena(f, m, parts[f]) for f in (*REGIMES, "null") for m, parts in found.outcomes.items()]
    head = f"Seeds {seeds}, weights `{found.digest[:12]}`, {warm_up}.\n"
    bars = table("measure | bar | figure | met | n | 95% interval", _bars(found, scores))
    return "\n".join((head, bars, table(_MODELS, models), table(_ARENA, arena)))


def table(head: str, rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = (f"| {line} |\n" for line in (head, *(" | ".join(row) for row in rows)))
    return next(lines) + "|---" * (head.count("|") + 1) + "|\n" + "".join(lines)


def met(value: bool | None) -> str:  # noqa: FBT001
    """Return the word for a bar that is met, missed, or that there is none."""
    return "" if value is None else "yes" if value else "**no**"


def _bars(found: Evaluation, scores: dict[str, dict[str, RegimeScore]]) -> list[Sequence[str]]:
    """Return every bar of the simulated markets with our figure."""
    ours, runs, n = scores[OURS], found.runs[OURS], f"{len(found.seeds)} markets a family"
    rows: list[Sequence[str]] = []

    def judge(name: str, bar: str, figure: str, *, good: bool, n: str = n, interval: str = "") -> None:
        rows.append((name, bar, figure, met(good), n, interval))

    for name, bar, key, families in _BARS:
        value, limit = _mean(ours, families, key), float(bar.split()[1])

        def drawn(take: Iterable[int], families: Sequence[str] = families, key: str = key) -> float:
            again = {family: score_regimes([runs[family][i] for i in take]) for family in families}
            return _mean(again, families, key)

        low, high = resampled(drawn, len(found.seeds), draws=100)
        good = value >= limit if bar.startswith(">") else value <= limit
        judge(name, bar, f"{value:.3f}", good=good, interval=f"{low:.3f} to {high:.3f}")
    for name, families in (("first families", FIRST), ("second", ("second",))):
        best = max((_mean(scores[peer], families, "accuracy") for peer in PEERS if peer in scores), default=math.nan)
        ratio = _mean(ours, families, "accuracy") / best
        judge(f"ratio to the best peer, {name}", ">= 1.3", f"{ratio:.2f} x {best:.3f}", good=ratio >= 1.3)
    behind = np.concatenate([run.behind() for each in runs.values() for run in each])
    near = float((behind <= _NEAR).mean())
    judge("label near the likeliest", "100%", f"{100 * near:.2f}%", n=f"{len(behind)} bars", good=near == 1.0)
    regime = {family: regime_error(runs[family]) for family in REGIMES}
    arena = {family: (part.error(), part.error_by_chance(_OVERLAP)) for family, part in found.outcomes[OURS].items()}
    for name, errors, limit, digits in (("regime", regime, 0.06, 3), ("Arena", arena, 0.01, 4)):
        each = (f"{f} {error:.{digits}f} (< {chance.high:.{digits}f})" for f, (error, chance) in errors.items())
        good = all(error <= max(limit, chance.high) for error, chance in errors.values())
        judge(f"{name} ECE of each family", f"<= {limit} or by chance", ", ".join(each), good=good)
    null = found.outcomes[OURS]["null"]
    skill, (low, high) = null.skill(), null.interval(_DAY_MOMENTS)
    many, interval = f"{len(null.outcome)} forecasts", f"{low:+.3f} to {high:+.3f}"
    judge("Arena skill %, driftless", ">= -0.02", f"{skill:+.3f}", good=skill >= -0.02, n=many, interval=interval)
    return rows


def _mean(scores: dict[str, RegimeScore], families: Sequence[str], key: str) -> float:
    return float(np.mean([getattr(scores[family], key) for family in families]))


def _model(family: str, model: str, one: RegimeScore, runs: Sequence[RegimeRun]) -> Sequence[str]:
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
    return family, model, *shown, f"{one.dwell_hours:.1f}", f"{100 * one.transition:.1f}", f"{100 * one.claimed:.0f}"


def _arena(family: str, model: str, part: Outcomes) -> Sequence[str]:
    if not len(part.outcome):
        return family, model, "-", "-"
    low, high = part.interval(_DAY_MOMENTS)
    chance = part.error_by_chance(_OVERLAP)
    skill = f"{part.skill():+.3f} ({low:+.3f} to {high:+.3f})"
    return family, model, skill, f"{part.error():.4f} ({chance.mean:.4f}, {chance.high:.4f})"
