"""The streaming engine: bars in, a reading out, O(1) per bar, vectorised over assets. It never looks ahead."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from generator.brain.bars import CleanBars, clean
from generator.brain.derivatives import Derivatives
from generator.brain.direction import MIN_BARS, Direction, direction_inputs
from generator.brain.doubt import Doubt, doubted, doubts
from generator.brain.evidence import VOTE_LEAN, breadth_lean
from generator.brain.facts import Past
from generator.brain.features import REGIME_INPUTS, Features
from generator.brain.forecast import WORDS, Forecast, Probabilities, Shown, words
from generator.brain.liquidity import Liquidity
from generator.brain.outlook import HORIZON_BARS, Outlook
from generator.brain.ranges import Ranges
from generator.brain.reading import BrainReading, Parts, assemble
from generator.brain.regime import Facts, RegimeFilter, facts_of
from generator.brain.smoothing import HOUR_BARS
from generator.brain.stress import Stress
from generator.brain.structure import Structure, counts
from generator.brain.volatility import Volatility, VolatilityReading, bar_variance
from generator.brain.week import Week, last_closed
from generator.brain.weights import Weights
from generator.market.bars import BAR_MS, BarFrame, FloatArray

HORIZON_LIMITS: Final = (15, 90)
_SHOWN_MINUTES: Final = 60  # horizon of the forecasts in a reading
_JOIN_BARS: Final = 3  # a return over a gap of at most this many bars is still used, scaled to one bar
_MINUTES: Final = np.log(5.0 * np.array(HORIZON_BARS))
_ROUNDS: Final = (15, 60)  # minutes: horizons that the direction learns
_STRESS_HORIZON: Final = 2  # four hours
_STATE_FORMAT: Final = 4


@dataclass(slots=True)
class Counters:
    """What was wrong with the input so far."""

    bars: int = 0
    late: int = 0  # late, doubled, out of order or off the 5-minute grid: ignored
    gaps: int = 0  # missing bars between two that came
    dropped: int = 0  # impossible cells


class Engine:
    """Read a market bar by bar. One instance belongs to one thread."""

    def __init__(self, weights: Weights, assets: tuple[str, ...]) -> None:
        """Start with no history.

        Args:
            weights: from `Weights.load`.
            assets: the columns to read; at least one, no doubles.

        Raises:
            ValueError: no assets, or a name twice.
        """
        if not assets or len(set(assets)) != len(assets):
            raise ValueError("assets must be at least one and all different")
        n = len(assets)
        self.assets = tuple(assets)
        self.weights = weights
        self.counters = Counters()
        self.volatility = Volatility((n,))
        self.features = Features((n,))
        self.filter = RegimeFilter(n, (weights.asset, weights.market), weights.calibrations)
        self.direction = Direction(n, weights.direction)
        self.liquidity = Liquidity(n)
        self.derivatives = Derivatives(n)
        self.structure = Structure(n)
        self.week = Week(n)
        self.outlook = Outlook(n, weights.outlook)
        self.ranges = Ranges(n, weights.outlook)
        self.stress = Stress(n)
        self.shown = Shown(n)
        self.log_close = np.full(n, np.nan)
        self.close_age = np.full(n, 1e6)  # bars since `log_close`
        self._t: int | None = None
        self._past = Past(self.week, 0)

    @property
    def t_ms(self) -> int | None:
        """Open time of the last bar fed, None before the first."""
        return self._t

    def update(self, frame: BarFrame, day: FloatArray | None = None) -> BrainReading | None:
        """Feed bars in order and return the reading after the last; `day` as for `reading`.

        Late, doubled and out-of-order rows are ignored and counted; hours instead of 5 minutes are not read at all.
        """
        self.advance(frame)
        return self.reading(day)

    def advance(self, frame: BarFrame) -> None:
        """Feed bars in order without making a reading."""
        if frame.interval_ms == BAR_MS and len(frame):
            bars = clean(frame, self.assets)
            for row, t_ms in enumerate(frame.t.tolist()):
                self._feed(int(t_ms), bars, row)

    def reading(self, day: FloatArray | None = None) -> BrainReading | None:
        """Return the reading after the last bar, None before the first.

        Args:
            day: each asset's log change over exactly 24 hours where the observation has it, NaN elsewhere, (assets,).
        """
        if self._t is None:
            return None
        bars = self.features.count
        stale = self.close_age > HOUR_BARS
        parts = Parts(
            assets=self.assets,
            t_ms=self._t,
            bars_seen=self.counters.bars,
            gaps=self.counters.gaps,
            fresh=(~stale & (bars[:-1] > 0.0)).tolist(),
            bars=bars.tolist(),
            doubt=self.doubts(),
            regime=self.filter.reading(),
            volatility=self._far(),
            structure=self.structure.reading(self._t, self.log_close, stale, self.past(), day),
            baselines=self.past().baselines(self.volatility.variance[1]),
            push=self.features.pushes(),
            liquidity=self.liquidity.reading(),
            pressure=self.derivatives.readings(),
            forecast=self.forecasts(_SHOWN_MINUTES),
            resolved=int(self.direction.resolved.sum()),
        )
        return assemble(parts)

    def _feed(self, t_ms: int, bars: CleanBars, row: int) -> None:
        if t_ms % BAR_MS or t_ms < 0 or (self._t is not None and t_ms <= self._t):
            self.counters.late += 1
            return
        steps = 1 if self._t is None else (t_ms - self._t) // BAR_MS
        self._t = t_ms
        self.counters.bars += 1
        self.counters.gaps += steps - 1
        self.counters.dropped += int(bars.dropped[row])
        self._measure(t_ms, bars, row, steps)

    def _measure(self, t_ms: int, bars: CleanBars, row: int, steps: int) -> None:
        """Let every part take the row, in the order in which they need each other."""
        self._skip(steps - 1)
        extra = bars.extra
        returns = self._returns(bars.log_close[row])
        self.volatility.update(returns, bars.range_variance[row], extra["volume"][row])
        self.features.update(returns, self.volatility)
        fresh = self.volatility.fresh()
        informative = fresh * self.volatility.moving()
        support = self.features.count * np.append(informative, informative.max())
        depth, spread, imbalance = (extra[name][row] for name in ("depth_usd", "spread_bps", "imbalance"))
        self.liquidity.update(depth, spread, imbalance, self.volatility.levels()[1])
        self.derivatives.update(t_ms, extra["funding"][row], extra["open_interest"][row])
        self.structure.update(self.features)
        more = np.array((extra["volume"][row], bar_variance(returns, bars.range_variance[row])))
        self.week.update(t_ms, bars.log_close[row], bars.top[row], bars.bottom[row], more)
        self.outlook.update(t_ms, self.volatility)
        self.stress.update(t_ms, self.outlook.level[_STRESS_HORIZON] + 0.5 * self.volatility.slow[0], fresh)
        self.filter.update(t_ms, self.features.current[: len(REGIME_INPUTS)], support, self.facts(), steps)
        ready = self.ready()
        self.ranges.update(t_ms, bars.log_close[row], self.outlook.sigma, ready)
        self.direction.update(t_ms, bars.log_close[row], self.inputs, self.round, ready)
        self._stand()

    def _skip(self, missing: int) -> None:
        """Let everything that is dated grow older by bars that never came."""
        if missing:
            self.close_age += missing
            self.volatility.age += missing
            self.liquidity.age += missing
            self.liquidity.imbalance_age += missing
            self.derivatives.age += missing

    def _returns(self, log_close: FloatArray) -> FloatArray:
        """Return log returns per bar, NaN where this bar or the one before is missing for too long."""
        here = np.isfinite(log_close)
        age = self.close_age + 1.0
        returns = np.where(age <= _JOIN_BARS, (log_close - self.log_close) / np.sqrt(age), np.nan)
        self.log_close = np.where(here, log_close, self.log_close)
        self.close_age = np.where(here, 0.0, age)
        return returns

    def facts(self) -> Facts:
        """Return what the regimes may not contradict after the last bar."""
        return facts_of(self._day_change(), self.structure.trend, self.stress.reading()[1], self.past().usual)

    def past(self) -> Past:
        """Return what the week says up to the last quarter hour that is over."""
        if self._past.closed != last_closed(self._t or 0):
            self._past = Past(self.week, self._t or 0)
        return self._past

    def _day_change(self) -> FloatArray:
        """Return each asset's change over the day, as a fraction, NaN where unknown or stale."""
        here = np.where(self.close_age > HOUR_BARS, np.nan, self.log_close)
        return np.expm1(self.past().day_change(here))

    def _far(self) -> VolatilityReading:
        """Return how far prices may move."""
        sigma, widths = self.sigma(), self.ranges.widths()
        risk, words_ = self.stress.reading()
        return VolatilityReading(
            sigma=sigma.T.tolist(),
            reach=(sigma.T[..., None] * widths).tolist(),
            seen=self.volatility.count[0].tolist(),
            fresh=int(np.count_nonzero(self.volatility.fresh())),
            risk=risk,
            word=words_,
        )

    def sigma(self) -> FloatArray:
        """Return the expected sigma of log returns over 15 minutes, 1, 4 and 24 hours, as a fraction, (4, assets)."""
        out: FloatArray = self.outlook.sigma * self.ranges.correction()
        return out

    def round(self, at: int, minutes: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the neutral band, as a fraction, and the outlook's chance that a move stays within it, (assets,).

        The chance is NaN where the price has stood for hours: that says nothing about the next one.

        Args:
            at: 0 for the law of moves over 15 minutes, 1 for that of an hour.
            minutes: of the round; None: as long as those moves.
        """
        minutes = minutes or _ROUNDS[at]
        band = self.past().band(minutes)
        within = self.ranges.within(at, band / self._sigma_over(minutes))
        return band, np.where(self.volatility.moving() > 0.0, within, np.nan)

    def _stand(self) -> None:
        """Let the words for the next hour take the bar."""
        chance, base = self.direction.mixed(1, self.inputs(), self.round(1)[1])
        self.shown.update(chance, words(chance, base, self._balance))

    def _balance(self) -> FloatArray:
        """Return how many families of evidence point up less how many point down, (assets,)."""
        here = (self.close_age <= HOUR_BARS) & (self.volatility.count[0] >= HOUR_BARS)
        votes = [VOTE_LEAN[one.vote] or 0 for one in self.derivatives.readings()]
        books = [lean or 0 for lean in self.liquidity.reading().lean]
        own = (self.structure.trend[:-1] + np.sign(self.features.pushes())) * here
        out: FloatArray = own + np.array(votes) + np.array(books) + (breadth_lean(counts(self._day_change())) or 0)
        return out

    def inputs(self) -> FloatArray:
        """Return the inputs of the direction models now."""
        return direction_inputs(self.features, self.filter.tilt(), self.liquidity.known_imbalance())

    def doubts(self) -> tuple[Doubt, ...]:
        """Return how far each asset's data is in doubt now, and why."""
        volatility = self.volatility
        return doubts(
            self.features.count[:-1], self.close_age, volatility.capped, volatility.still, self.derivatives.odd
        )

    def ready(self) -> np.ndarray:
        """Say which assets have enough recent history for a forecast."""
        return (self.features.count[:-1] >= MIN_BARS) & (self.close_age <= _JOIN_BARS)

    def forecast(self, asset: str, horizon_minutes: int) -> Forecast | None:
        """Forecast one asset from the close of the last bar.

        Args:
            asset: one of the engine's.
            horizon_minutes: 15 to 90; learned at 15 and 60, between them interpolated on the square root of time.

        Raises:
            ValueError: unknown asset, or a horizon outside the limits.

        Returns:
            None with too little or too old history.
        """
        if asset not in self.assets:
            raise ValueError(f"no forecast for {asset!r}; the assets are {', '.join(self.assets)}")
        return self.forecasts(horizon_minutes)[self.assets.index(asset)]

    def forecasts(self, horizon_minutes: int) -> tuple[Forecast | None, ...]:
        """Forecast every asset over one horizon; see `forecast`."""
        low, high = HORIZON_LIMITS
        if not low <= horizon_minutes <= high:
            raise ValueError(f"no forecast over {horizon_minutes} minutes; {low} to {high} are possible")
        if self._t is None:
            return (None,) * len(self.assets)
        inputs = self.inputs()
        near_root, far_root = (math.sqrt(minutes) for minutes in _ROUNDS)
        share = min(1.0, (math.sqrt(horizon_minutes) - near_root) / (far_root - near_root))
        band, far = self.round(1, horizon_minutes)
        mixed = self.direction.mixed(1, inputs, far)
        if share < 1.0:
            near = self.direction.mixed(0, inputs, self.round(0, horizon_minutes)[1])
            mixed = ((1.0 - share) * near[0] + share * mixed[0], (1.0 - share) * near[1] + share * mixed[1])
        shown = self.shown.word if horizon_minutes == _SHOWN_MINUTES else words(*mixed, self._balance)
        ready = self.ready() & np.isfinite(band)
        columns = zip(
            self.assets,
            mixed[0].T.tolist(),
            mixed[1].T.tolist(),
            band.tolist(),
            shown.tolist(),
            ready.tolist(),
            strict=True,
        )
        every = tuple(
            Forecast(asset, horizon_minutes, Probabilities(*chance), Probabilities(*base), WORDS[int(word)], 1e4 * wide)
            if sound
            else None
            for asset, chance, base, wide, word, sound in columns
        )
        shares = [doubt.share for doubt in self.doubts()]
        if not any(shares):
            return every
        return tuple(doubted(one, share) if one and share else one for one, share in zip(every, shares, strict=True))

    def _sigma_over(self, minutes: int) -> FloatArray:
        """Return each asset's expected sigma of the log return over 15 minutes to a day, (assets,)."""
        sigma, at = self.sigma(), math.log(minutes)
        left = min(int(np.searchsorted(_MINUTES, at, side="right")) - 1, len(_MINUTES) - 2)
        share = (at - _MINUTES[left]) / (_MINUTES[left + 1] - _MINUTES[left])
        out: FloatArray = sigma[left] ** (1.0 - share) * sigma[left + 1] ** share
        return out

    def _parts(self) -> tuple[object, ...]:
        return (
            self.volatility, self.features, self.filter, self.direction, self.liquidity, self.derivatives,
            self.structure, self.week, self.outlook, self.ranges, self.stress, self.shown, self,
        )  # fmt: skip

    def dump(self) -> bytes:
        """Return the whole state: a JSON line, then every array as little-endian doubles, compressed.

        `Engine.load` continues as if nothing had happened.
        """
        c = self.counters
        counters = [c.bars, c.late, c.gaps, c.dropped]
        header = {"assets": self.assets, "weights": self.weights.digest, "t": self._t, "counters": counters}
        return _pack(header, self._parts())

    @classmethod
    def load(cls, weights: Weights, assets: tuple[str, ...], data: bytes) -> Engine:
        """Restore an engine from `dump`.

        Raises:
            ValueError: damaged, of other assets, or made with other weights; start again from history then.
        """
        engine = cls(weights, assets)
        header = _unpack(data, engine._parts())
        if header.get("assets") != list(engine.assets) or header.get("weights") != weights.digest:
            raise ValueError("a brain state of other assets or other weights")
        engine._t = header["t"]
        engine.counters = Counters(*header["counters"])
        engine.features.refresh(engine.volatility)
        return engine


def _arrays_of(part: object) -> dict[str, FloatArray]:
    """Return the public arrays of a part, which are its whole state; `current` is derived from the rest."""
    found = {name: value for name, value in vars(part).items() if not name.startswith("_") and name != "current"}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def _pack(header: dict[str, Any], parts: Iterable[object]) -> bytes:
    """Return the header and every array of the parts as bytes."""
    values = [array.astype("<f8").tobytes() for part in parts for array in _arrays_of(part).values()]
    head = json.dumps({"format": _STATE_FORMAT, **header}, sort_keys=True).encode() + b"\n"
    return zlib.compress(head + b"".join(values), 1)


def _unpack(data: bytes, parts: Iterable[object]) -> dict[str, Any]:
    """Fill the arrays of the parts in place and return the header.

    Raises:
        ValueError: not a state of this program, or of other shapes.
    """
    try:
        head, body = zlib.decompress(data).split(b"\n", 1)
        header = json.loads(head)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"not a brain state: {error}") from error
    if not isinstance(header, dict) or header.get("format") != _STATE_FORMAT:
        raise ValueError("a brain state of another format")
    at, values = 0, np.frombuffer(body, dtype="<f8") if len(body) % 8 == 0 else np.empty(0)
    for part in parts:
        for name, array in _arrays_of(part).items():
            piece = values[at : at + array.size]
            if piece.size != array.size:
                raise ValueError("a brain state of another shape")
            setattr(part, name, piece.astype(np.float64).reshape(array.shape))
            at += array.size
    if at != values.size:
        raise ValueError("a brain state of another shape")
    return header
