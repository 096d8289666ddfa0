"""What each part of the ranges adds: the same candles read without it, at full hours, against the brain as it is.

A part that is left out is left out from the first bar on, so that what learns after it learns without it. A figure
above one is what the part adds: how much larger the loss is without it, with the 95% interval by blocks of days.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from generator.arena.scoring import qlike_of, squared_error
from generator.brain.engine import Engine
from generator.brain.outlook import HORIZON_BARS, MONTH_SHARES, Outlook
from generator.brain.part import Part, Times
from generator.brain.profile import DayProfile
from generator.brain.ranges import RangeModel
from generator.brain.smoothing import Flags
from generator.brain.volatility import Volatility
from generator.brain.weights import Weights
from generator.catalog.horizons import HORIZONS
from generator.lab.coverage import HOUR, STATED, FullHours, coverages, listen
from generator.lab.outlook import moves_after
from generator.lab.report import table
from generator.lab.scores import draw, interval_of
from generator.market.bars import BAR_MS, BARS_A_DAY, BarFrame, FloatArray
from generator.values.ranges import interval_score

_DRAWS: Final = 1000
_DAYS_TOGETHER: Final = (2, 5)  # in a block; of a day's moves, which overlap with the next day's
_LOSSES: Final = ("interval score 50%", "interval score 90%", "QLIKE", "will it move, Brier")


class _NoProfile(DayProfile):
    """All hours of a day alike."""

    def added(self, numbers: int | Times) -> FloatArray:
        """Return zeros."""
        return np.zeros_like(super().added(numbers))


class _NoCorrection(RangeModel):
    """Sigma as the frozen outlook has it."""

    def _corrected(self, squares: FloatArray, cases: FloatArray) -> FloatArray:
        return np.ones_like(squares + cases)


class _OneLevel(RangeModel):
    """One correction of all assets."""

    def _corrected(self, squares: FloatArray, cases: FloatArray) -> FloatArray:
        every = np.broadcast_to(squares.mean(axis=-1, keepdims=True), squares.shape)
        return super()._corrected(every, np.broadcast_to(cases.mean(axis=-1, keepdims=True), cases.shape))


class _FrozenLaw(RangeModel):
    """The law of moves over sigma as it was fitted."""

    def _binned(self, sizes: FloatArray, known: Flags) -> FloatArray:
        return np.zeros_like(super()._binned(sizes, known))


class _NoMonth(Outlook):
    """A day ahead without the level of a month."""

    def update(self, t_ms: Times, volatility: Volatility) -> None:
        """Take a block of bars, and take the month out of what is expected."""
        super().update(t_ms, volatility)
        shares = MONTH_SHARES[:, None, None]
        level = (self.level - shares * volatility.month_level()) / (1.0 - shares)
        self.sigma = self.sigma * np.exp(level - self.level)
        self.level = level


def without(part: str, weights: Weights, assets: tuple[str, ...]) -> Engine:
    """Return a brain without one of `PARTS`."""
    engine = Engine(weights, assets)
    new = PARTS[part](weights, len(assets))

    if isinstance(new, Outlook):
        engine.replace(engine.outlook, new)
        engine.outlook = new
    elif isinstance(new, RangeModel):
        engine.replace(engine.ranges.profile, new.profile)
        engine.replace(engine.ranges, new)
        engine.ranges = new
    elif isinstance(new, DayProfile):
        engine.replace(engine.ranges.profile, new)
        engine.ranges.profile = new
    return engine


PARTS: Final[dict[str, Callable[[Weights, int], Part]]] = {
    "profile of the day": lambda _, __: _NoProfile(),
    "correction": lambda weights, assets: _NoCorrection(assets, weights.outlook),
    "each asset's own level in it": lambda weights, assets: _OneLevel(assets, weights.outlook),
    "kept law": lambda weights, assets: _FrozenLaw(assets, weights.outlook),
    "month's level, 24 h": lambda weights, assets: _NoMonth(assets, weights.outlook),
}


def losses(frame: BarFrame, hours: FullHours) -> FloatArray:
    """Return the losses of each hour, the mean over the assets, NaN where one is unknown, (4 losses, 4 horizons, n).

    The interval score of the ranges of 50 and 90% in log moves, QLIKE, and of an hour ahead the Brier score of the
    chance that the move leaves its band.
    """
    at = np.searchsorted(frame.t, hours.t - BAR_MS)
    _, variance = moves_after(frame, at)
    bars = np.array(HORIZON_BARS, dtype=np.float64)[:, None, None]
    # The variance is that of one bar, sigma that of the whole horizon.
    ratio = variance * bars / hours.sigma**2

    scores = []
    for level, stated in enumerate(STATED):
        reach = hours.reach[level]
        scores.append(interval_score(-reach, reach, 1.0 - stated / 100.0, hours.move))
    # Only the hour ahead has a band; of the other horizons this loss is unknown.
    brier = np.full_like(ratio, np.nan)
    moved = (np.abs(np.expm1(hours.move[HOUR])) > hours.band).astype(np.float64)
    brier[HOUR] = np.where(np.isfinite(hours.move[HOUR]), squared_error(hours.chance, moved), np.nan)
    out: FloatArray = np.array((*scores, qlike_of(ratio), brier)).mean(axis=-1)
    return out


def ratio_of(day: Times, above: FloatArray, below: FloatArray, together: int) -> tuple[float, float, float]:
    """Return the ratio of two mean losses, and its 95% interval by blocks of days."""
    known = np.isfinite(above) & np.isfinite(below)
    if not known.any():
        return np.nan, np.nan, np.nan
    many = int(day.max()) + 1
    top, bottom = (np.bincount(day[known], weights=values[known], minlength=many) for values in (above, below))
    # Both losses are drawn on the same days, so that what moves them together cancels. The seed keeps tables stable.
    taken = draw(np.random.default_rng(0), many, together, _DRAWS)
    low, high = interval_of(top[taken].sum(axis=1) / bottom[taken].sum(axis=1))
    return float(top.sum() / bottom.sum()), low, high


def ablated(name: str, frame: BarFrame, weights: Weights, warm_up: int) -> str:
    """Return the table of one market as Markdown: each part and horizon, with the coverage without the part."""
    whole = listen(frame, weights, warm_up)
    usual = losses(frame, whole)
    rows = [_row("nothing", whole, None, horizon) for horizon in range(len(HORIZONS))]
    for part in PARTS:
        hours = listen(frame, weights, warm_up, engine=without(part, weights, frame.assets))
        partial = losses(frame, hours)
        for horizon, bars in enumerate(HORIZON_BARS):
            together = _DAYS_TOGETHER[bars >= BARS_A_DAY]
            ratios = [
                ratio_of(hours.day, here, there, together)
                for here, there in zip(partial[:, horizon], usual[:, horizon], strict=True)
            ]
            rows.append(_row(part, hours, ratios, horizon))

    size = f"{len(frame.assets)} assets, {len(whole.t) / 24:.0f} days"
    head = "left out | horizon | " + " | ".join(f"{loss}, ratio (95%)" for loss in _LOSSES) + " | held, 50 and 90%"
    return f"{name}: {size}.\n\n{table(head, rows)}"


def _row(part: str, hours: FullHours, ratios: list[tuple[float, float, float]] | None, horizon: int) -> tuple[str, ...]:
    shares = [coverage.share for coverage in coverages(hours) if coverage.horizon == list(HORIZONS)[horizon]]
    cells = ["1"] * len(_LOSSES)
    if ratios is not None:
        cells = ["" if np.isnan(ratio) else f"{ratio:.4f} ({low:.4f} to {high:.4f})" for ratio, low, high in ratios]
    return (part, list(HORIZONS)[horizon], *cells, ", ".join(f"{share:.1f}" for share in shares))
