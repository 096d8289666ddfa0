"""Do joint scenarios hold: at full hours, next to independence and a Gaussian copula with the same marginals.

All three have the same moves of each asset, those of the trailing rows on today's sigmas; they differ only in which of
them come together. Independence shuffles each asset's. The copula draws from a normal distribution with the rank
correlation of the rows (Kendall's relation for Spearman's rho: r = 2 sin(pi rho / 6)).

Source of the energy score: T. Gneiting and A. Raftery, Strictly proper scoring rules, prediction, and estimation, 2007.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from generator.brain.engine import Engine
from generator.brain.joint import FEWEST_ASSETS, FEWEST_ROWS, LARGE, TOGETHER, ends_of, many_of, paths_of
from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.horizons import HORIZONS
from generator.lab.coverage import WARM_UP, Days, ratio_by_days
from generator.lab.outlook import moves_after
from generator.lab.report import met, table
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.values.ranges import interval_score

WAYS: Final = ("scenarios", "independent", "copula")
STATED: Final = (50, 90)
NEAR: Final = (3.0, 2.0)
"""Points within which a portfolio's ranges should hold."""
_PLACES: Final = [list(HORIZONS).index(name) for name in TOGETHER]
_SCORES: Final = ("inside_50", "inside_90", "interval", "energy", "many")
_INTERVAL, _ENERGY, _MANY = range(2, len(_SCORES))
_ENDS: Final = (1, 2, 0, 3)  # low and high of the 50% range, then of the 90% range
_SHIFTS: Final = 2  # with which scenarios are paired for the spread in an energy score


@dataclass(frozen=True, slots=True)
class JointHours:
    """What was said of all assets together at full hours, and how it scored; NaN where unknown."""

    t: Days  # start of the horizons, ms, (n,)
    scores: FloatArray  # of `WAYS`, by `_SCORES`, (3 horizons, 3 ways, 5, n)
    many: FloatArray  # 1.0 where many moved far, (3 horizons, n)
    assets: int
    rows: FloatArray  # full hours that it rests on, (3 horizons, n)

    @property
    def day(self) -> Days:
        """Number of the day (UTC) of each hour, from 0."""
        return np.asarray(self.t // DAY_MS - self.t[0] // DAY_MS)


class Line(NamedTuple):
    """One horizon's figures of one way."""

    horizon: str
    way: str
    n: int
    held: tuple[tuple[float, float, float], ...]  # percent of the portfolio's ranges that held, with the 95% interval
    interval: float  # interval score, times that of the scenarios
    energy: tuple[float, float, float]  # energy score less that of the scenarios, percent of it, with the 95% interval
    chance: float  # mean one that many move far, percent
    share: float  # of hours in which they did, percent


def listen(frame: BarFrame, weights: Weights, warm_up: int = WARM_UP) -> JointHours:
    """Feed a market and score what is said at each full hour after `warm_up` bars."""
    engine = Engine(weights, frame.assets)
    at: list[int] = []
    sigmas: list[FloatArray] = []
    rows: list[tuple[FloatArray, ...]] = []
    for row in engine.replay(frame, HOUR_MS):
        if row >= warm_up:
            every = np.ones(len(frame.assets), dtype=bool)
            at.append(row)
            sigmas.append(engine.sigma()[_PLACES])
            rows.append(tuple(engine.joint.rows(horizon, every) for horizon in range(len(TOGETHER))))

    moves, _ = moves_after(frame, np.array(at))
    outcomes = 100.0 * np.expm1(moves[_PLACES])
    scores = np.full((len(TOGETHER), len(WAYS), len(_SCORES), len(at)), np.nan)
    many = np.full((len(TOGETHER), len(at)), np.nan)
    counts = np.zeros((len(TOGETHER), len(at)))
    rng = np.random.default_rng(0)
    for hour, (sigma, kept) in enumerate(zip(sigmas, rows, strict=True)):
        for horizon, of_horizon in enumerate(kept):
            outcome = outcomes[horizon, hour]
            is_known = np.isfinite(outcome).all() and np.isfinite(sigma[horizon]).all()
            if len(of_horizon) < FEWEST_ROWS or len(outcome) < FEWEST_ASSETS or not is_known:
                continue
            large = 100.0 * np.expm1(LARGE * sigma[horizon])
            paths = paths_of(of_horizon, sigma[horizon])
            counts[horizon, hour] = len(of_horizon)
            many[horizon, hour] = many_of(outcome[None], large)
            for way, drawn in enumerate((paths, independent(paths, rng), copula(paths, of_horizon, rng))):
                scores[horizon, way, :, hour] = scored(drawn, outcome, large)
    return JointHours(frame.t[np.array(at)] + BAR_MS, scores, many, len(frame.assets), counts)


def independent(paths: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the same moves of each asset, in an order of its own."""
    return np.asarray(rng.permuted(paths, axis=0))


def copula(paths: FloatArray, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the same moves of each asset, in the order of a normal distribution with the rows' rank correlation."""
    both = np.concatenate((rows, -rows))
    rank = both.argsort(axis=0).argsort(axis=0).astype(np.float64)
    correlation = 2.0 * np.sin(np.pi / 6.0 * np.corrcoef(rank.T))
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = rng.standard_normal(paths.shape) @ root.T
    place = normal.argsort(axis=0).argsort(axis=0)
    return np.asarray(np.take_along_axis(np.sort(paths, axis=0), place, axis=0))


def scored(paths: FloatArray, outcome: FloatArray, large: FloatArray) -> tuple[float, ...]:
    """Return the scores of some scenarios, (n, assets), against what came, (assets,): see `_SCORES`."""
    low_50, high_50, low_90, high_90 = ends_of(paths.mean(axis=1, keepdims=True))[0, list(_ENDS)].tolist()
    move = float(outcome.mean())
    half = interval_score(low_50, high_50, 0.5, move)
    most = interval_score(low_90, high_90, 0.1, move)
    return (
        float(low_50 <= move <= high_50),
        float(low_90 <= move <= high_90),
        0.5 * (half + most),
        energy_score(paths, outcome),
        many_of(paths, large),
    )


def energy_score(paths: FloatArray, outcome: FloatArray) -> float:
    """Return the energy score of scenarios, (n, assets), against what came, (assets,), in their unit; less is better.

    Mean distance to what came, less half the mean distance between scenarios: of pairs some places apart.

    >>> energy_score(np.array([[0.0, 0.0], [0.0, 2.0]]), np.array([0.0, 0.0]))
    0.0
    """
    to_outcome = np.linalg.norm(paths - outcome, axis=1).mean()
    # The order of the scenarios is that of time, so pairs are taken from far apart.
    shifts = {max(1, len(paths) * shift // (2 * _SHIFTS + 1)) for shift in range(1, _SHIFTS + 1)}
    spread = np.mean([np.linalg.norm(paths - np.roll(paths, shift, axis=0), axis=1).mean() for shift in shifts])
    return float(to_outcome - 0.5 * spread)


def lines_of(hours: JointHours) -> list[Line]:
    """Return the figures of every horizon and way."""
    return [_line(hours, horizon, way) for horizon in range(len(TOGETHER)) for way in range(len(WAYS))]


def _line(hours: JointHours, horizon: int, way: int) -> Line:
    known = np.isfinite(hours.scores[horizon, 0, 0])
    scores = hours.scores[horizon, :, :, known].transpose(1, 2, 0)
    day = hours.day[known]
    ones = np.ones(len(day))
    # A horizon of a day overlaps with the next day's, so two days are drawn together.
    together = 2 if horizon == len(TOGETHER) - 1 else 1

    held = []
    for level in range(len(STATED)):
        inside = scores[way, level]
        held.append((100.0 * float(inside.mean()), *ratio_by_days(day, inside, ones, together)))
    own = scores[0, _ENERGY]
    gap = scores[way, _ENERGY] - own
    low, high = ratio_by_days(day, gap, own, together) if way else (0.0, 0.0)
    return Line(
        horizon=TOGETHER[horizon],
        way=WAYS[way],
        n=len(day),
        held=tuple(held),
        interval=float(scores[way, _INTERVAL].sum() / scores[0, _INTERVAL].sum()),
        energy=(100.0 * float(gap.sum() / own.sum()), low, high),
        chance=100.0 * float(scores[way, _MANY].mean()),
        share=100.0 * float(hours.many[horizon, known].mean()),
    )


def measured_joint(name: str, hours: JointHours) -> str:
    """Return the table of one market as Markdown."""
    known = np.isfinite(hours.scores[0, 0, 0])
    days = len(np.unique(hours.day[known]))
    size = f"{hours.assets} assets, {days} days, {int(known.sum())} full hours"
    head = f"{name}: {size}; intervals by resampled days, of 24 h two together.\n\n"
    return head + table(
        "horizon | together as | portfolio 50%: held | 90%: held | met | interval score | energy score, % more"
        " | three beyond 1.5 sigma: said, came %",
        [_row(line) for line in lines_of(hours)],
    )


def _row(line: Line) -> tuple[str, ...]:
    is_met = all(
        abs(held - stated) <= near or low <= stated <= high
        for (held, low, high), stated, near in zip(line.held, STATED, NEAR, strict=True)
    )
    more = "" if line.way == WAYS[0] else "{:+.1f} ({:+.1f} to {:+.1f})".format(*line.energy)
    return (
        line.horizon,
        line.way,
        *("{:.1f} ({:.1f} to {:.1f})".format(*held) for held in line.held),
        met(is_met) if line.way == WAYS[0] else "",
        f"{line.interval:.3f}",
        more,
        f"{line.chance:.1f}, {line.share:.1f}",
    )
