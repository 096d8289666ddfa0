"""How all assets may move together: scenarios of one moment's moves, drawn from the moments before.

A range of one asset says nothing of the others. Read as independent, seven ranges make a portfolio look far calmer than
it is, since coins fall together. So the moves of all assets at each full hour are kept as one row, each over the sigma
that was published for it, for 60 days. A scenario is such a row on today's sigmas (filtered historical simulation:
Barone-Adesi, Giannopoulos and Vosper, 1999). Which way the market goes is not known: each row counts twice, as it came
and with every sign turned. Nothing is drawn by lot and nothing is fitted, so anyone who has the rows gets the same.
"""

from collections.abc import Iterator, Mapping
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
PATHS: Final = 40
"""Scenarios that are published of each horizon."""
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


class Joint(Mapping[str, Scenario]):
    """The scenarios of one moment by horizon (`TOGETHER`, without those of too few hours), each made when asked for."""

    __slots__ = ("_doubt", "_made", "_rows", "_sigma", "assets", "hour")

    def __init__(
        self, assets: tuple[str, ...], rows: Mapping[str, FloatArray], sigma: FloatArray, doubt: FloatArray, hour: int
    ) -> None:
        """Take what scenarios are made from.

        Args:
            assets: those that they are of.
            rows: moves over their sigma by horizon, (n, assets), all known.
            sigma: of today, (3, assets).
            doubt: share of it in each asset, (assets,).
            hour: number of the last full hour, since 1970.
        """
        self.assets = assets
        self.hour = hour
        self._rows = rows
        self._sigma = sigma
        self._doubt = doubt
        self._made: dict[str, Scenario] = {}

    def __getitem__(self, horizon: str) -> Scenario:
        """Return what is said of a horizon; KeyError of one that is not there."""
        if horizon not in self._made:
            rows = self._rows[horizon]
            made = scenario(rows, self._sigma_of(horizon), self._sigma[TOGETHER.index(horizon)])
            shorter = [name for name in self._rows if TOGETHER.index(name) < TOGETHER.index(horizon)]
            self._made[horizon] = _nested(self[shorter[-1]], made) if shorter else made
        return self._made[horizon]

    def __iter__(self) -> Iterator[str]:
        """Give the horizons, the shortest first."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return how many horizons there are."""
        return len(self._rows)

    def apart(self, horizon: str) -> tuple[MoveRange, float]:
        """Return what the same moves of each asset say of the portfolio, and of many at once, if they were independent.

        The order in which they are put together follows from the hour.
        """
        rng = np.random.default_rng(self.hour)
        paths = rng.permuted(paths_of(self._rows[horizon], self._sigma_of(horizon)), axis=0)
        [portfolio] = ends_of(paths.mean(axis=1, keepdims=True)).tolist()
        return MoveRange(*portfolio), many_of(paths, np.array(self[horizon].large))

    def paths(self, horizon: str) -> FloatArray:
        """Return `PATHS` scenarios of a horizon, percent, (paths, assets): hours as far apart as can be, either way.

        Which ones follows from the hour, so that anyone who has the rows gets the same.
        """
        rows = self._rows[horizon]
        places = (self.hour + np.arange(PATHS // 2) * len(rows) // (PATHS // 2)) % len(rows)
        return paths_of(rows[places], self._sigma_of(horizon))

    def _sigma_of(self, horizon: str) -> FloatArray:
        return wider(self._sigma[TOGETHER.index(horizon)], self._doubt)


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
    has_enough = np.isfinite(moves.hours[:, 0]).sum(axis=0) >= FEWEST_ROWS
    columns = known & has_enough
    assets = tuple(name for name, is_in in zip(names, columns.tolist(), strict=True) if is_in)
    if len(assets) < FEWEST_ASSETS:
        return None

    every = {name: moves.rows(horizon, columns) for horizon, name in enumerate(TOGETHER)}
    rows = {name: of_horizon for name, of_horizon in every.items() if len(of_horizon) >= FEWEST_ROWS}
    if not rows:
        return None
    return Joint(assets, rows, sigma[_PLACES][:, columns], doubt[columns], int(moves.hour[0]))


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
