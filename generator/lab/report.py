"""The tables of `docs/explain/brain.md`: every measure with its bar, every model on the same markets."""

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from generator.brain.regime import LEAD
from generator.lab.evaluate import OURS, Evaluation
from generator.lab.peers import PEERS
from generator.lab.scores import Chance, Outcomes, RegimeRun, RegimeScore, regime_error, resampled, score_regimes

FIRST: Final = ("base", "hard", "wild", "alt")
REGIMES: Final = (*FIRST, "second")
_OVERLAP: Final = 4  # forecasts of an hour, one each quarter of it
_DAY_MOMENTS: Final = 96  # quarters of an hour
_NEAR: Final = LEAD + 1e-9
_MODELS: Final = (
    "family | model | balanced accuracy | stressed/calm | ECE (calibrated: mean, 95% below) | delay h | missed % | "
    "false a day | dwell h | transition % | claimed %"
)
_ARENA: Final = (
    "family | model | Arena skill 60 min % (95%) | ECE (calibrated: mean, 95% below, an hour's outcomes as one)"
)


class _Bar(NamedTuple):
    """A figure of the regimes and what it is held to."""

    measure: str
    sign: str
    limit: float
    key: str  # field of the score
    families: Sequence[str]  # whose mean it is
    lower: float = -math.inf  # to which the lower end of its interval is held

    def __str__(self) -> str:
        """Return the bar as the table shows it."""
        text = f"{self.sign} {self.limit:.2f}"
        return text if math.isinf(self.lower) else f"{text}, lower bound >= {self.lower}"

    def met(self, value: float, low: float) -> bool:
        """Say whether a figure and the lower end of its interval reach the bar."""
        good = value >= self.limit if self.sign == ">=" else value <= self.limit
        return good and low >= self.lower


_BARS: Final = (
    _Bar("balanced accuracy, first families", ">=", 0.71, "accuracy", FIRST, 0.695),
    _Bar("balanced accuracy, second", ">=", 0.72, "accuracy", ("second",)),
    _Bar("transition, share of bars", "<=", 0.05, "transition", REGIMES),
    _Bar("stressed against calm", ">=", 0.89, "stressed", REGIMES),
    _Bar("median delay, hours", "<=", 3.0, "delay_hours", REGIMES),
    _Bar("false switches a day", "<=", 1.2, "false_a_day", REGIMES),
    _Bar("mean dwell, hours", ">=", 8.0, "dwell_hours", REGIMES),
    _Bar("driftless: share of time with a claim", "<=", 0.45, "claimed", ("null",)),
    _Bar("driftless: share of time with a side", "<=", 0.25, "sided", ("null",)),
)
_GROUPS: Final = (("first families", FIRST), ("second", ("second",)))


def tables(evaluation: Evaluation) -> str:
    """Return all tables as Markdown."""
    seeds = f"{evaluation.seeds.start}-{evaluation.seeds.stop - 1}"
    warm_up = f"{evaluation.days} days a market, the first {evaluation.days // 2} are warm-up"
    head = f"Seeds {seeds}, weights `{evaluation.digest[:12]}`, {warm_up}.\n"

    scores = {
        model: {family: score_regimes(runs) for family, runs in each.items()} for model, each in evaluation.runs.items()
    }
    bars = _bars(evaluation, scores)
    models: list[Sequence[str]] = []
    arena: list[Sequence[str]] = []
    for family in (*REGIMES, "null"):
        models += [_model(family, model, scores[model][family], evaluation.runs[model][family]) for model in scores]
        arena += [_arena(family, model, each[family]) for model, each in evaluation.outcomes.items()]

    bars_table = table("measure | bar | figure | met | n | 95% interval", bars)
    return "\n".join((head, bars_table, table(_MODELS, models), table(_ARENA, arena)))


Row = tuple[str, str, str, bool | None]
"""Measure, bar, figure, whether it is met."""


def table(head: str, rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    rule = "|---" * (head.count("|") + 1)
    lines = [f"| {head} |", f"{rule}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def met(value: bool | None) -> str:  # noqa: FBT001
    """Return the word for a bar that is met, missed, or that there is none."""
    if value is None:
        return ""
    return "yes" if value else "**no**"


def _bars(evaluation: Evaluation, scores: dict[str, dict[str, RegimeScore]]) -> list[Sequence[str]]:
    """Return every bar of the simulated markets with our figure: measure, bar, figure, met, n, interval."""
    runs = evaluation.runs[OURS]
    outcomes = evaluation.outcomes[OURS]
    markets = f"{len(evaluation.seeds)} markets a family"

    rows = [_score_bar(bar, scores[OURS], runs, markets) for bar in _BARS]
    rows += [_ratio_bar(name, families, scores, markets) for name, families in _GROUPS]
    rows.append(_near_bar(runs))

    regime = {family: regime_error(runs[family]) for family in REGIMES}
    arena = {family: (part.error(), part.error_by_chance(_OVERLAP)) for family, part in outcomes.items()}
    rows.append(_calibration_bar("regime", regime, 0.06, 3, markets))
    rows.append(_calibration_bar("Arena", arena, 0.01, 4, markets))

    rows.append(_skill_bar(outcomes["null"]))
    return rows


def _score_bar(
    bar: _Bar, scores: dict[str, RegimeScore], runs: dict[str, list[RegimeRun]], markets: str
) -> Sequence[str]:
    """Return a figure of the regimes; its interval is over markets drawn again."""
    value = _mean(scores, bar.families, bar.key)

    def drawn(take: Iterable[int]) -> float:
        again = {family: score_regimes([runs[family][i] for i in take]) for family in bar.families}
        return _mean(again, bar.families, bar.key)

    low, high = resampled(drawn, len(runs[bar.families[0]]), draws=100)
    return bar.measure, str(bar), f"{value:.3f}", met(bar.met(value, low)), markets, f"{low:.3f} to {high:.3f}"


def _ratio_bar(
    name: str, families: Sequence[str], scores: dict[str, dict[str, RegimeScore]], markets: str
) -> Sequence[str]:
    best = max((_mean(scores[peer], families, "accuracy") for peer in PEERS if peer in scores), default=math.nan)
    ratio = _mean(scores[OURS], families, "accuracy") / best
    return f"ratio to the best peer, {name}", ">= 1.3", f"{ratio:.2f} x {best:.3f}", met(ratio >= 1.3), markets, ""


def _near_bar(runs: dict[str, list[RegimeRun]]) -> Sequence[str]:
    behind = np.concatenate([run.behind() for each in runs.values() for run in each])
    near = float((behind <= _NEAR).mean())
    return "label near the likeliest", "100%", f"{100 * near:.2f}%", met(near == 1.0), f"{len(behind)} bars", ""


def _calibration_bar(
    name: str, errors: dict[str, tuple[float, Chance]], limit: float, digits: int, markets: str
) -> Sequence[str]:
    """Return the calibration error of each family; it may be as large as chance makes it."""
    figure = ", ".join(
        f"{family} {error:.{digits}f} (< {chance.high:.{digits}f})" for family, (error, chance) in errors.items()
    )
    good = all(error <= max(limit, chance.high) for error, chance in errors.values())
    return f"{name} ECE of each family", f"<= {limit} or by chance", figure, met(good), markets, ""


def _skill_bar(null: Outcomes) -> Sequence[str]:
    skill = null.skill()
    low, high = null.interval(_DAY_MOMENTS)
    return (
        "Arena skill %, driftless",
        ">= -0.02",
        f"{skill:+.3f}",
        met(skill >= -0.02),
        f"{len(null.outcome)} forecasts",
        f"{low:+.3f} to {high:+.3f}",
    )


def _mean(scores: dict[str, RegimeScore], families: Sequence[str], key: str) -> float:
    return float(np.mean([getattr(scores[family], key) for family in families]))


def _model(family: str, model: str, score: RegimeScore, runs: Sequence[RegimeRun]) -> Sequence[str]:
    """Return the figures of one model on one family; without a true drift only how it moves and claims."""
    against_truth = ("-",) * 6 if family == "null" else _against_truth(score, runs)
    return (
        family,
        model,
        *against_truth,
        f"{score.dwell_hours:.1f}",
        f"{100 * score.transition:.1f}",
        f"{100 * score.claimed:.0f}",
    )


def _against_truth(score: RegimeScore, runs: Sequence[RegimeRun]) -> Sequence[str]:
    calibration = "-"
    if runs[0].chances is not None:
        error, chance = regime_error(runs)
        calibration = f"{error:.3f} ({chance.mean:.3f}, {chance.high:.3f})"
    delay = "never" if score.delay_hours > 1e6 else f"{score.delay_hours:.1f}".replace("nan", "-")

    return (
        f"{score.accuracy:.3f}",
        f"{score.stressed:.3f}",
        calibration,
        delay,
        f"{100 * score.missed:.0f}",
        f"{score.false_a_day:.2f}",
    )


def _arena(family: str, model: str, part: Outcomes) -> Sequence[str]:
    if not len(part.outcome):
        return family, model, "-", "-"

    low, high = part.interval(_DAY_MOMENTS)
    chance = part.error_by_chance(_OVERLAP)
    skill = f"{part.skill():+.3f} ({low:+.3f} to {high:+.3f})"
    return family, model, skill, f"{part.error():.4f} ({chance.mean:.4f}, {chance.high:.4f})"
