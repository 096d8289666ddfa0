"""Recorded candles: sigma, ranges and the axis of stress against what came, how often the label moves, each with its bar."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from generator.brain.engine import Engine
from generator.brain.facts import BASELINES
from generator.brain.outlook import HORIZON_BARS
from generator.brain.reading import ROUGH
from generator.brain.week import quarter_is_over
from generator.brain.weights import Weights
from generator.catalog.horizons import HORIZONS
from generator.lab.outlook import came
from generator.lab.report import met, table
from generator.lab.scores import BARS_A_DAY, TRANSITION, resampled
from generator.market.bars import BarFrame, FloatArray

QUANTILES: Final = (0.05, 0.25, 0.75, 0.95)
NORMAL: Final = (-1.6449, -0.6745, 0.6745, 1.6449)
LONG_DAYS: Final = 20
_FEWEST_DAYS: Final = 7  # for the axis of stress to mean anything
_STRESS_BARS: Final = 48
_DAY: Final = 96  # moments
_TOP: Final = 0.8
_NAMES: Final = tuple(HORIZONS)
Flags = npt.NDArray[np.bool_]
Row = tuple[str, str, str, bool | None]
"""Measure, bar, figure, whether it is met."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the brain said at the end of each quarter hour, and the baselines; logs and fractions."""

    at: npt.NDArray[np.int64]  # rows
    sigma: FloatArray  # (n, 4, assets)
    level: FloatArray  # (n, 4, assets)
    reach: FloatArray  # (n, 4, assets, 2)
    slow: FloatArray  # log of the slow variance of a bar, (n, assets)
    baselines: FloatArray  # sigma of a bar by last hour, last day and EWMA, (n, 3, assets)
    risk: FloatArray  # of the market, 0..100, (n,)
    stressed: Flags  # of the market, at every bar from the first of `at` on
    label: npt.NDArray[np.int64]  # likewise


def follow(frame: BarFrame, warm_up: int, weights: Weights) -> Said:
    """Feed candles bar by bar and keep what is said from the end of the first quarter hour after `warm_up` bars on."""
    engine = Engine(weights, frame.assets)
    nothing = dict.fromkeys(BASELINES, np.nan)
    first = next(row for row in range(warm_up, len(frame)) if quarter_is_over(int(frame.t[row])))
    engine.advance(frame.rows(0, first))
    kept: list[tuple[FloatArray | float, ...]] = []
    stressed: list[bool] = []
    label: list[int] = []
    for row in range(first, len(frame)):
        engine.advance(frame.rows(row, row + 1))
        risk, words = engine.stress.reading()
        stressed.append(words[-1] in ROUGH)
        label.append(int(engine.filter.label[-1]))
        if quarter_is_over(int(frame.t[row])):
            sigma, usual = engine.sigma(), engine.past().baselines(engine.volatility.variance[1])
            reach = sigma[..., None] * engine.ranges.widths()[:, None]
            baselines = np.array([list((one or nothing).values()) for one in usual]).T
            slow, risen = engine.volatility.slow[0].copy(), np.nan if risk[-1] is None else risk[-1]
            kept.append((row, sigma, engine.outlook.level.copy(), reach, slow, baselines, risen))
    columns = [np.array(column) for column in zip(*kept, strict=True)]
    return Said(*columns, *map(np.array, (stressed, label)))


def rows_of(frame: BarFrame, said: Said) -> list[Row]:
    """Return every measure of one set."""
    move, variance = came(frame, said.at)
    out: list[Row] = []
    for h, name in enumerate(_NAMES):
        spread = float(np.nanstd(move[h] / said.sigma[:, h]))
        bar = "0.90 to 1.10" if h < 3 else ""
        out.append((f"sd(move / sigma), {name}", bar, f"{spread:.3f}", 0.90 <= spread <= 1.10 if bar else None))
    own, usual = (
        _qlike(variance[1], one**2) for one in (said.sigma[:, 1] / HORIZON_BARS[1] ** 0.5, said.baselines[:, 2])
    )
    ratio = own / usual
    out.append(("QLIKE at 1 h over a 2 h EWMA's", "<= 0.95", f"{ratio:.3f}", ratio <= 0.95))
    for h, least in ((0, None), (1, 0.54), (2, 0.50)):
        own, usual = (_explained(variance[h], said, level) for level in (said.level[:, h], None))
        good = None if least is None else own >= least
        bar = "" if least is None else f">= {least:.2f}, mean of sets"
        out.append((f"R2 of the outlook, {_NAMES[h]} (2 h EWMA)", bar, f"{own:.3f} ({usual:.3f})", good))
    for h, name in enumerate(_NAMES):
        out += _ranges(name, move[h], said, h)
    days = len(said.stressed) / BARS_A_DAY
    return out + (_stress(frame, variance[2], said, days) if days >= _FEWEST_DAYS else [])


def _qlike(came_: FloatArray, expected: FloatArray) -> float:
    """Return the mean QLIKE loss (Patton 2011)."""
    ratio = came_ / expected
    return float(np.nanmean(ratio - np.log(ratio) - 1.0))


def _explained(variance: FloatArray, said: Said, level: FloatArray | None) -> float:
    """Return the R2 of the mean log volatility over the assets, against the slow one; None: of the 2-hour EWMA."""
    outlook = np.log(said.baselines[:, 2]) - 0.5 * said.slow if level is None else level
    true = 0.5 * (np.log(variance) - said.slow)
    both = np.isfinite(true).all(axis=1) & np.isfinite(outlook).all(axis=1)
    mean, guess = true[both].mean(axis=1), outlook[both].mean(axis=1)
    return 1.0 - float(((mean - guess) ** 2).mean() / mean.var())


def _ranges(name: str, move: FloatArray, said: Said, h: int) -> list[Row]:
    """Return coverage and pinball loss over one horizon."""
    out: list[Row] = []
    known = np.isfinite(move)
    block = max(_DAY, 2 * HORIZON_BARS[h] // 3)  # moments, no shorter than the horizon
    for at, (level, low, high) in enumerate(((50, 45, 55), (90, 86, 94))):
        inside = np.abs(move) <= said.reach[:, h, :, at]
        share = _share(inside, known, np.arange(len(move)))
        spread = _between(resampled(partial(_share, inside, known), len(move), block), 1)
        bar, figure = f"{low} to {high}" if h < 3 else "", f"{share:.1f} ({spread})"
        out.append((f"coverage of the {level}% range, {name}, %", bar, figure, low <= share <= high if bar else None))
    reach = said.reach[:, h]
    own = pinball(move, np.stack((-reach[..., 1], -reach[..., 0], reach[..., 0], reach[..., 1])))
    width = np.sqrt(HORIZON_BARS[h])
    rest = [
        own / pinball(move, np.array(NORMAL)[:, None, None] * width * said.baselines[:, i])
        for i in range(len(BASELINES))
    ]
    figure = ", ".join(f"{one:.3f} of {usual.replace('_', ' ')}" for one, usual in zip(rest, BASELINES, strict=True))
    return [*out, (f"pinball loss, {name}", "< 1", figure, max(rest) < 1.0)]


def _between(edges: tuple[float, float], digits: int) -> str:
    return f"{edges[0]:.{digits}f} to {edges[1]:.{digits}f}"


def _share(inside: Flags, known: Flags, take: npt.NDArray[np.int64]) -> float:
    """Return how many percent of the known cases of some moments are inside."""
    return 100.0 * _mean(inside[take][known[take]])


def _mean(values: npt.NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else np.nan


def pinball(move: FloatArray, edges: FloatArray) -> float:
    """Return the mean pinball loss of the four quantiles, (4, n, assets)."""
    away = move - edges
    levels = np.array(QUANTILES)[:, None, None]
    return float(np.nanmean(np.maximum(levels * away, (levels - 1.0) * away)))


def _stress(frame: BarFrame, variance: FloatArray, said: Said, days: float) -> list[Row]:
    """Return how the axis of stress and the risk score stand to the next four hours."""
    mean = 0.5 * (np.log(variance) - said.slow).mean(axis=1)
    log = 0.5 * np.log(variance).mean(axis=1)
    fall = _falls(frame, said.at)
    known = np.isfinite(mean) & np.isfinite(said.risk) & np.isfinite(fall)
    stressed = said.stressed[said.at - said.at[0]][known]
    mean, log, fall, risk = mean[known], log[known], fall[known], said.risk[known]
    flips, moved = (float(np.count_nonzero(np.diff(one)) / days) for one in (said.stressed, said.label))
    between = 100 * float((said.label == TRANSITION).mean())
    share = explained_share(log, stressed)
    top = mean >= np.quantile(mean, _TOP)
    own, outlook = auc(risk, top), auc(said.level[known][:, 2].mean(axis=1), top)
    third = np.exp(log[risk >= 200 / 3]).mean() / np.exp(log[risk < 100 / 3]).mean()

    def falls(take: npt.NDArray[np.int64]) -> float:
        return _mean(fall[take][stressed[take]]) / _mean(fall[take][~stressed[take]])

    def whole(met: bool) -> bool | None:  # noqa: FBT001
        return met if days >= LONG_DAYS else None

    ratio, spread = falls(np.arange(len(fall))), _between(resampled(falls, len(fall), _DAY), 2)
    return [
        ("share of time stressed", "", f"{100 * float(said.stressed.mean()):.0f}%", None),
        ("explained share of the next 4 h's log volatility", ">= 0.15", f"{share:.3f}", whole(share >= 0.15)),
        ("flips a day", "<= 1.7", f"{flips:.2f}", whole(flips <= 1.7)),
        ("changes of the regime's label a day", "<= 3.2", f"{moved:.2f}", whole(moved <= 3.2)),
        ("transition, share of bars", "<= 15%", f"{between:.1f}%", whole(between <= 15)),
        ("AUC of risk_score, top fifth", ">= the outlook's - 0.02", f"{own:.3f}, {outlook:.3f}", own >= outlook - 0.02),
        ("volatility, upper over lower third of risk_score", ">= 1.35", f"{third:.2f}", whole(third >= 1.35)),
        ("fall of the next 4 h, stressed over not", "> 1", f"{ratio:.2f} ({spread})", bool(ratio > 1)),
    ]


def _falls(frame: BarFrame, at: npt.NDArray[np.int64]) -> FloatArray:
    """Return how far prices fell at most within the next four hours, mean over the assets, NaN at the end."""
    close = np.log(frame.fields["close"])
    steps = at[:, None] + np.arange(_STRESS_BARS + 1)
    ahead = close[np.minimum(steps, len(close) - 1)]
    fall = (close[at][:, None] - ahead).max(axis=1)
    return np.where(at + _STRESS_BARS < len(close), fall.mean(axis=1), np.nan)


def explained_share(values: FloatArray, flag: Flags) -> float:
    """Return the share of the variance that two groups explain."""
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in (values[flag], values[~flag]) if len(group))
    return 1.0 - within / float(((values - values.mean()) ** 2).sum())


def auc(score: FloatArray, top: Flags) -> float:
    """Return the chance that a moment of the top has a higher score than another; ties count half."""
    order = np.sort(score[~top])
    below, upto = (np.searchsorted(order, score[top], side=side) for side in ("left", "right"))
    return float((0.5 * (below + upto)).mean() / len(order))


def measured(name: str, frame: BarFrame, weights: Weights) -> str:
    """Return the measures of one set as a Markdown table; a week of it (of less, the first half) is warm-up."""
    fitted = weights.recipe["outlook"]
    first, last = (str(np.datetime64(int(t_ms), "ms"))[:10] for t_ms in (frame.t[0], frame.t[-1]))
    if first <= fitted["last_day"] and last >= fitted["first_day"]:
        return (
            f"How far, {name}: not scored, the outlook was fitted on {fitted['first_day']} to {fitted['last_day']}.\n"
        )
    week = 7 * BARS_A_DAY
    said = follow(frame, week if len(frame) > week else len(frame) // 2, weights)
    head = f"{name}: {len(frame.assets)} assets, {len(said.at) / _DAY:.0f} days, {len(said.at)} moments"
    rows = [(measure, bar, figure, met(good)) for measure, bar, figure, good in rows_of(frame, said)]
    return f"How far, {head}.\n\n" + table("measure | bar | figure | met", rows)
