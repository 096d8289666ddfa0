"""Recorded candles: sigma, ranges, volatility words and label against what came, with bars."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from generator.arena.scoring import NORMAL, pinball, qlike_of
from generator.brain.engine import Engine
from generator.brain.facts import BASELINES
from generator.brain.outlook import HORIZON_BARS
from generator.brain.swings import ROUGH, WILD
from generator.brain.week import quarter_is_over
from generator.brain.weights import Weights
from generator.catalog.horizons import HORIZONS
from generator.lab.outlook import moves_after
from generator.lab.report import Row, met, table
from generator.lab.scores import Flags, resampled
from generator.lab.states import LONG_DAYS, State, States, explained_share, rows_of_states, state_of
from generator.market.bars import BAR_MS, BARS_A_DAY, BarFrame, FloatArray

QUANTILES: Final = (0.05, 0.25, 0.75, 0.95)
_FEWEST_DAYS: Final = 7  # for the state to mean anything
_STRESS_BARS: Final = 48
_DAY: Final = 96  # moments
_TOP: Final = 0.8


@dataclass(frozen=True, slots=True)
class QuarterReadings:
    """What the brain said at the end of each quarter hour, and the baselines; logs and fractions."""

    at: npt.NDArray[np.int64]  # rows of the frame, (n,)
    sigma: FloatArray  # of the move over each horizon, (n, 4, assets)
    level: FloatArray  # log volatility of a bar over the horizon, against the slow one, (n, 4, assets)
    reach: FloatArray  # log moves that half and nine tenths stay within, (n, 4, assets, 2)
    slow: FloatArray  # log of the slow variance of a bar, (n, assets)
    baselines: FloatArray  # sigma of a bar by last hour, last day and EWMA, (n, 3, assets)
    risk: FloatArray  # of the market, 0..100, (n,)
    states: States  # of the market, at every bar from the first of `at` on


def follow(frame: BarFrame, warm_up: int, weights: Weights) -> QuarterReadings:
    """Feed candles and keep what is said from the end of the first quarter hour after `warm_up` bars on."""
    first = next(row for row in range(warm_up, len(frame)) if quarter_is_over(int(frame.t[row])))
    engine = Engine(weights, frame.assets)

    moments: list[tuple[FloatArray | float, ...]] = []
    states: list[State] = []
    for row in engine.replay(frame):
        if row < first:
            continue
        states.append(state_of(engine))
        if quarter_is_over(int(frame.t[row])):
            sigma = engine.sigma()
            reach = sigma[..., None] * engine.ranges.widths()[:, None]
            slow = engine.volatility.slow[0].copy()
            market_risk = 100.0 * float(engine.record.rank[0, -1])
            moments.append((row, sigma, engine.outlook.level.copy(), reach, slow, _baselines(engine), market_risk))

    at, sigma, level, reach, slow, baselines, risks = (np.array(column) for column in zip(*moments, strict=True))
    return QuarterReadings(
        at=at,
        sigma=sigma,
        level=level,
        reach=reach,
        slow=slow,
        baselines=baselines,
        risk=risks,
        states=States.of(states),
    )


def _baselines(engine: Engine) -> FloatArray:
    """Return the sigmas that an outlook must beat, (3, assets), NaN where unknown."""
    unknown = dict.fromkeys(BASELINES, np.nan)
    by_window = engine.past().baselines(engine.volatility.variance[1])
    return np.array([list((sigmas or unknown).values()) for sigmas in by_window]).T


def rows_of(frame: BarFrame, readings: QuarterReadings) -> list[Row]:
    """Return every measure of one set."""
    move, variance = moves_after(frame, readings.at)

    rows = [_spread(name, move[h] / readings.sigma[:, h], has_bar=h < 3) for h, name in enumerate(HORIZONS)]
    rows.append(_loss_of_the_hour(variance[1], readings))
    for h, least in ((0, None), (1, 0.54), (2, 0.50)):
        rows.append(_explained_by_the_outlook(variance[h], readings, h, least))
    for h, name in enumerate(HORIZONS):
        rows += _ranges(name, move[h], readings, h)

    days = len(readings.states.label) / BARS_A_DAY
    if days >= _FEWEST_DAYS:
        rows += _stress(frame, variance[2], readings, days)
        rows += _states(frame, variance[2], readings)
    return rows


def _unscored(frame: BarFrame, readings: QuarterReadings) -> str:
    """Return how the state behave on candles that something was fitted on, held to no bar."""
    if len(readings.states.label) < _FEWEST_DAYS * BARS_A_DAY:
        return ""
    _, variance = moves_after(frame, readings.at)
    return table(
        "measure | figure", [(measure, figure) for measure, _, figure, _ in _states(frame, variance[2], readings)]
    )


def _states(frame: BarFrame, variance: FloatArray, readings: QuarterReadings) -> list[Row]:
    """Return how steady the state are, and what they say of the next four hours."""
    log_volatility = 0.5 * np.log(variance).mean(axis=1)
    known = np.isfinite(log_volatility)
    first_bar = int(frame.t[readings.at[0]]) // BAR_MS
    at = (readings.at - readings.at[0])[known]
    return rows_of_states(readings.states, at, log_volatility[known], first_bar)


def _spread(name: str, sizes: FloatArray, *, has_bar: bool) -> Row:
    """Return the standard deviation of moves over their expected sigma, which should be 1."""
    spread = float(np.nanstd(sizes))
    measure = f"sd(move / sigma), {name}"
    if not has_bar:
        return measure, "", f"{spread:.3f}", None
    return measure, "0.90 to 1.10", f"{spread:.3f}", 0.90 <= spread <= 1.10


def _loss_of_the_hour(variance: FloatArray, readings: QuarterReadings) -> Row:
    """Return the QLIKE loss of the hour's variance over that of a 2-hour EWMA."""
    own = _qlike(variance, (readings.sigma[:, 1] / HORIZON_BARS[1] ** 0.5) ** 2)
    usual = _qlike(variance, readings.baselines[:, 2] ** 2)
    ratio = own / usual
    return "QLIKE at 1 h over a 2 h EWMA's", "<= 0.95", f"{ratio:.3f}", ratio <= 0.95


def _qlike(realised: FloatArray, expected: FloatArray) -> float:
    """Return the mean QLIKE loss of expected variances."""
    return float(np.nanmean(qlike_of(realised / expected)))


def _explained_by_the_outlook(variance: FloatArray, readings: QuarterReadings, h: int, least: float | None) -> Row:
    """Return the R2 of the outlook over one horizon, and in brackets that of a 2-hour EWMA."""
    ewma = np.log(readings.baselines[:, 2]) - 0.5 * readings.slow
    own = _explained(variance, readings, readings.level[:, h])
    usual = _explained(variance, readings, ewma)

    measure = f"R2 of the outlook, {list(HORIZONS)[h]} (2 h EWMA)"
    figure = f"{own:.3f} ({usual:.3f})"
    if least is None:
        return measure, "", figure, None
    return measure, f">= {least:.2f}, mean of sets", figure, own >= least


def _explained(variance: FloatArray, readings: QuarterReadings, level: FloatArray) -> float:
    """Return the R2 of the mean log volatility over the assets, against the slow one."""
    true = 0.5 * (np.log(variance) - readings.slow)
    both = np.isfinite(true).all(axis=1) & np.isfinite(level).all(axis=1)
    mean = true[both].mean(axis=1)
    guess = level[both].mean(axis=1)
    return 1.0 - float(((mean - guess) ** 2).mean() / mean.var())


def _ranges(name: str, move: FloatArray, readings: QuarterReadings, h: int) -> list[Row]:
    """Return coverage and pinball loss over one horizon."""
    rows: list[Row] = []
    known = np.isfinite(move)
    block = max(_DAY, 2 * HORIZON_BARS[h] // 3)  # moments, no shorter than the horizon
    for at, (level, low, high) in enumerate(((50, 45, 55), (90, 86, 94))):
        inside = np.abs(move) <= readings.reach[:, h, :, at]
        share = _share(inside, known, np.arange(len(move)))
        spread = _between(resampled(partial(_share, inside, known), len(move), block), 1)
        measure = f"coverage of the {level}% range, {name}, %"
        figure = f"{share:.1f} ({spread})"
        if h < 3:
            rows.append((measure, f"{low} to {high}", figure, low <= share <= high))
        else:
            rows.append((measure, "", figure, None))

    half, most = np.moveaxis(readings.reach[:, h], -1, 0)
    own = pinball_loss(move, np.stack((-most, -half, half, most)))
    normal = np.array(NORMAL)[:, None, None] * np.sqrt(HORIZON_BARS[h])
    ratios = [own / pinball_loss(move, normal * readings.baselines[:, i]) for i in range(len(BASELINES))]
    figure = ", ".join(
        f"{ratio:.3f} of {usual.replace('_', ' ')}" for ratio, usual in zip(ratios, BASELINES, strict=True)
    )
    rows.append((f"pinball loss, {name}", "< 1", figure, max(ratios) < 1.0))
    return rows


def _between(edges: tuple[float, float], digits: int) -> str:
    return f"{edges[0]:.{digits}f} to {edges[1]:.{digits}f}"


def _share(inside: Flags, known: Flags, take: npt.NDArray[np.int64]) -> float:
    """Return how many percent of the known cases of some moments are inside."""
    return 100.0 * _mean(inside[take][known[take]])


def _mean(values: npt.NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else np.nan


def pinball_loss(move: FloatArray, edges: FloatArray) -> float:
    """Return the mean pinball loss of the four quantiles, (4, n, assets)."""
    levels = np.array(QUANTILES)[:, None, None]
    return float(np.nanmean(pinball(levels, edges, move)))


def _stress(frame: BarFrame, variance: FloatArray, readings: QuarterReadings, days: float) -> list[Row]:
    """Return how the words of volatility and the risk score stand to the next four hours."""
    excess = 0.5 * (np.log(variance) - readings.slow).mean(axis=1)
    fall = _falls(frame, readings.at)
    known = np.isfinite(excess) & np.isfinite(readings.risk) & np.isfinite(fall)
    rough = np.isin(readings.states.word, (ROUGH, WILD))
    stressed = rough[readings.at - readings.at[0]][known]
    excess = excess[known]
    fall = fall[known]
    risk = readings.risk[known]
    log_volatility = (0.5 * np.log(variance).mean(axis=1))[known]

    # What word and score say of the volatility that follows.
    share = explained_share(log_volatility, stressed)
    top = excess >= np.quantile(excess, _TOP)
    own = auc(risk, top)
    outlook = auc(readings.level[known][:, 2].mean(axis=1), top)
    upper = np.exp(log_volatility[risk >= 200 / 3]).mean()
    lower = np.exp(log_volatility[risk < 100 / 3]).mean()
    third = upper / lower

    def falls(take: npt.NDArray[np.int64]) -> float:
        drawn = fall[take]
        is_stressed = stressed[take]
        return _mean(drawn[is_stressed]) / _mean(drawn[~is_stressed])

    def whole(met: bool) -> bool | None:  # noqa: FBT001
        return met if days >= LONG_DAYS else None

    # What they say of the fall that follows.
    ratio = falls(np.arange(len(fall)))
    spread = _between(resampled(falls, len(fall), _DAY), 2)
    return [
        ("share of time rough or wild", "", f"{100 * float(rough.mean()):.0f}%", None),
        ("explained share of the next 4 h's log volatility", ">= 0.15", f"{share:.3f}", whole(share >= 0.15)),
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


def auc(score: FloatArray, top: Flags) -> float:
    """Return the chance that a moment of the top has a higher score than another; ties count half."""
    order = np.sort(score[~top])
    below = np.searchsorted(order, score[top], side="left")
    up_to = np.searchsorted(order, score[top], side="right")
    return float((0.5 * (below + up_to)).mean() / len(order))


def measured(name: str, frame: BarFrame, weights: Weights) -> str:
    """Return the measures of one set as a Markdown table; a week of it (of less, the first half) is warm-up."""
    fitted = weights.recipe
    first = str(np.datetime64(int(frame.t[0]), "ms"))[:10]
    last = str(np.datetime64(int(frame.t[-1]), "ms"))[:10]
    was_fitted = first <= fitted["last_day"] and last >= fitted["first_day"]

    week = 7 * BARS_A_DAY
    warm_up = week if len(frame) > week else len(frame) // 2
    readings = follow(frame, warm_up, weights)
    moments = len(readings.at)
    head = f"{name}: {len(frame.assets)} assets, {moments / _DAY:.0f} days, {moments} moments"
    if was_fitted:
        reason = f"not scored, the outlook was fitted on {fitted['first_day']} to {fitted['last_day']}"
        return f"The state, {head}: {reason}.\n\n" + _unscored(frame, readings)

    scored = [(measure, bar, figure, met(good)) for measure, bar, figure, good in rows_of(frame, readings)]
    return f"How far, {head}.\n\n" + table("measure | bar | figure | met", scored)
