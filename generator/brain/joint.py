"""How all assets may move together: scenarios of one moment's moves, drawn from the moments before.

A range of one asset says nothing of the others. Read as independent, seven ranges make a portfolio look far calmer than
it is, since coins fall together. So the moves of all assets at each full hour are kept as one row, each over the sigma
that was published for it, for 60 days. A scenario is such a row on today's sigmas (filtered historical simulation:
Barone-Adesi, Giannopoulos and Vosper, 1999). Which way the market goes is not known: each row counts twice, as it came
and with every sign turned. Nothing is drawn by lot and nothing is fitted, so anyone who has the rows gets the same.
"""

from itertools import combinations
from typing import ClassVar, Final, NamedTuple

import numpy as np

from generator.brain.doubt import wider
from generator.brain.part import Part, Times
from generator.brain.record import Half, in_half
from generator.brain.smoothing import Flags
from generator.catalog.durations import HOUR_MS
from generator.catalog.horizons import HORIZONS
from generator.market.bars import BAR_MS, FloatArray
from generator.values.ranges import MoveRange

TOGETHER: Final = ("1h", "4h", "24h")
"""The horizons of the scenarios: those of whole hours."""
DAYS: Final = 60
"""Days of full hours that are kept."""
FEWEST_ROWS: Final = 14 * 24
"""Full hours from which on there are scenarios."""
FEWEST_ASSETS: Final = 3
MANY: Final = 3
"""Assets whose large moves at once are one event."""
LARGE: Final = 1.5
"""Sigmas from which on a move is large."""
_QUANTILES: Final = (0.05, 0.25, 0.75, 0.95)
_HOURS: Final = np.array([HORIZONS[name].minutes // 60 for name in TOGETHER])
_LONGEST: Final = int(_HOURS[-1])
_PLACES: Final = [list(HORIZONS).index(name) for name in TOGETHER]
_CLOSE: Final = 0  # of what is kept of an hour that begins; then the sigmas


class JointMoves(Part):
    """The moves of all assets over their sigma that ended at each full hour, oldest first; NaN where unknown."""

    STATE: ClassVar[tuple[str, ...]] = ("hours", "began", "hour")

    def __init__(self, assets: int) -> None:
        """Start empty."""
        super().__init__()
        # Half precision is what is kept: three digits are more than a quantile of two months can show.
        self.hours: Half = np.full((DAYS * 24, len(TOGETHER), assets), np.nan, dtype=np.float16)
        self.began = np.full((_LONGEST + 1, 1 + len(TOGETHER), assets), np.nan)  # log close and sigmas of the last day
        self.hour = np.full(1, -1.0)  # number of the last, since 1970

    def update(self, t_ms: Times, log_close: FloatArray, sigma: FloatArray, ready: Flags) -> None:
        """Take a block of bars.

        Args:
            t_ms: open times, (n,).
            log_close: (n, assets), NaN where there is no bar.
            sigma: expected of log moves over `HORIZONS`, (4, n, assets).
            ready: True where the asset has enough history, (n, assets).
        """
        closes_ms = t_ms + BAR_MS
        numbers = closes_ms // HOUR_MS
        full = np.flatnonzero(closes_ms % HOUR_MS == 0)
        close = log_close[full]

        began, places = self.slid("began", int(self.hour[0]), numbers)
        now = places[full]
        began[now, _CLOSE] = np.where(ready[full], close, np.nan)
        began[now, 1:] = sigma[_PLACES][:, full].swapaxes(0, 1)

        starts = now[:, None] - _HOURS
        sizes = (close[:, None] - began[starts, _CLOSE]) / began[starts, 1 + np.arange(len(TOGETHER))]
        hours, hour_places = self.slid("hours", int(self.hour[0]), numbers)
        hours[hour_places[full]] = in_half(sizes)

        self._windows = {"began": (began, places + 1), "hours": (hours, hour_places + 1)}
        self.hour = numbers.astype(np.float64)[:, None]

    def rows(self, horizon: int, columns: Flags) -> FloatArray:
        """Return the rows of a horizon in which all of some assets are known, (rows, those assets)."""
        rows = self.hours[:, horizon, columns].astype(np.float64)
        return np.asarray(rows[np.isfinite(rows).all(axis=1)])


class Scenario(NamedTuple):
    """What all assets may do together over one horizon; moves are in percent."""

    rows: int  # full hours that it rests on
    portfolio: MoveRange  # of a portfolio with an equal part of each asset, left alone
    best: MoveRange  # of the asset that moves highest, whichever it is
    worst: MoveRange  # of the one that moves lowest
    pairs: tuple[MoveRange, ...]  # of the first asset's move less the second's, points, in the order of `pairs_of`
    large: tuple[float, ...]  # move of each asset, either way, that counts as large
    many: float  # chance that `MANY` assets or more move that far or farther


class Joint(NamedTuple):
    """The scenarios of one moment."""

    assets: tuple[str, ...]
    horizons: dict[str, Scenario]  # by `TOGETHER`, without those of too few rows


def joint(
    names: tuple[str, ...], moves: JointMoves, sigma: FloatArray, doubt: FloatArray, known: Flags
) -> Joint | None:
    """Return how the assets may move together; None where too little is known.

    Args:
        names: of all assets.
        moves: what came before.
        sigma: published for the horizons, log moves, (4, assets).
        doubt: share of it in each asset, which widens its moves as it does its range, (assets,).
        known: True where an asset has a range, (assets,).
    """
    long_known = np.isfinite(moves.hours).all(axis=1).sum(axis=0) >= FEWEST_ROWS
    columns = known & long_known
    assets = tuple(name for name, is_in in zip(names, columns.tolist(), strict=True) if is_in)
    if len(assets) < FEWEST_ASSETS:
        return None

    horizons: dict[str, Scenario] = {}
    shorter: Scenario | None = None
    for horizon, name in enumerate(TOGETHER):
        rows = moves.rows(horizon, columns)
        if len(rows) < FEWEST_ROWS:
            continue
        expected = sigma[_PLACES[horizon], columns]
        shorter = _nested(shorter, scenario(rows, wider(expected, doubt[columns]), expected))
        horizons[name] = shorter
    return Joint(assets, horizons) if horizons else None


def scenario(rows: FloatArray, sigma: FloatArray, usual: FloatArray | None = None) -> Scenario:
    """Return what rows of moves over their sigma say on today's sigmas.

    Args:
        rows: (n, assets), all known.
        sigma: of today, (assets,).
        usual: the sigma that says which move is large, where doubt widens the other.
    """
    large = LARGE * (sigma if usual is None else usual)
    paths = paths_of(rows, sigma)
    first, second = np.array(list(combinations(range(len(sigma)), 2))).T

    # One column for each quantity, so that the quantiles of all are taken at once.
    together = (paths.mean(axis=1, keepdims=True), paths.max(axis=1, keepdims=True), paths.min(axis=1, keepdims=True))
    quantities = np.concatenate((*together, paths[:, first] - paths[:, second]), axis=1)
    portfolio, best, worst, *pairs = (MoveRange(*ends) for ends in ends_of(quantities).tolist())
    return Scenario(
        rows=len(rows),
        portfolio=portfolio,
        best=best,
        worst=worst,
        pairs=tuple(pairs),
        large=tuple((100.0 * np.expm1(large)).tolist()),
        many=many_of(paths, 100.0 * np.expm1(large)),
    )


def paths_of(rows: FloatArray, sigma: FloatArray) -> FloatArray:
    """Return the moves of each scenario in percent, (2 n, assets): each row as it came, then with every sign turned.

    >>> paths_of(np.array([[1.0, -0.5]]), np.array([0.01, 0.02])).round(3).tolist()
    [[1.005, -0.995], [-0.995, 1.005]]
    """
    logs = rows * sigma
    out: FloatArray = 100.0 * np.expm1(np.concatenate((logs, -logs)))
    return out


def ends_of(quantities: FloatArray) -> FloatArray:
    """Return the ends of the ranges of some quantities, (quantities, 4), from their scenarios, (n, quantities)."""
    return np.asarray(np.quantile(quantities, _QUANTILES, axis=0).T)


def many_of(paths: FloatArray, large: FloatArray) -> float:
    """Return the share of scenarios in which `MANY` assets or more move by at least so much, either way, percent.

    >>> many_of(np.array([[2.0, -2.0, 2.0], [2.0, 0.0, 2.0]]), np.ones(3))
    0.5
    """
    return float(np.mean((np.abs(paths) >= large).sum(axis=1) >= MANY))


def pairs_of(assets: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of some assets, in their order.

    >>> pairs_of(("A", "B", "C"))
    (('A', 'B'), ('A', 'C'), ('B', 'C'))
    """
    return tuple(combinations(assets, 2))


def _nested(shorter: Scenario | None, longer: Scenario) -> Scenario:
    """Return the longer horizon's, whose ranges reach at least as far as the shorter one's."""
    if shorter is None:
        return longer
    pairs = tuple(_reaching(*each) for each in zip(shorter.pairs, longer.pairs, strict=True))
    return longer._replace(portfolio=_reaching(shorter.portfolio, longer.portfolio), pairs=pairs)


def _reaching(shorter: MoveRange, longer: MoveRange) -> MoveRange:
    return MoveRange(
        min(shorter.low_90, longer.low_90),
        min(shorter.low_50, longer.low_50),
        max(shorter.high_50, longer.high_50),
        max(shorter.high_90, longer.high_90),
    )
