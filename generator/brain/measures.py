"""What is followed bar by bar: O(1) a bar, vectorised over the assets. It never looks ahead."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, Protocol, Self

import numpy as np

from generator.brain.axes import MarketAxes
from generator.brain.bars import CleanBars, clean
from generator.brain.closes import Closes
from generator.brain.derivatives import Derivatives
from generator.brain.direction import MIN_BARS, DirectionModel, direction_inputs
from generator.brain.doubt import Doubt, doubted_chance, doubts, less_sure, overall
from generator.brain.facts import Past, usual_days
from generator.brain.features import REGIME_INPUTS, Features
from generator.brain.forecast import CALLS, Calls, Forecast, OutcomeChances, SideRule, follow, in_units
from generator.brain.liquidity import Liquidity
from generator.brain.outlook import Outlook
from generator.brain.part import Part, Times, stretches
from generator.brain.ranges import RangeModel
from generator.brain.regime import LABELS, REGIMES, RegimeFacts, RegimeFilter, facts_of
from generator.brain.returns import JOIN_BARS, Returns
from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.stress import Stress
from generator.brain.structure import Structure
from generator.brain.volatility import Volatility, bar_variance
from generator.brain.week import DAY, QUARTER_MS, Week, last_closed, quarter_is_over
from generator.brain.weights import Weights
from generator.catalog.horizons import HORIZONS
from generator.catalog.words import RegimeLabel
from generator.market.bars import BAR_MS, BarFrame, FloatArray

SHOWN_MINUTES: Final = 60  # horizon of the forecasts in a reading
_LOG_MINUTES: Final = np.log([float(horizon.minutes) for horizon in HORIZONS.values()])
_ROUNDS: Final = (15, 60)  # minutes: horizons that the direction learns
_STRESS_HORIZON: Final = 2  # four hours
_STATE_FORMAT: Final = 7
_BLOCK: Final = 7 * DAY_BARS  # most bars that are read together, which bounds the memory
_LONGEST_GAP: Final = HOUR_BARS  # bars that never came; a longer gap ends a block


class BarPart(Protocol):
    """What is followed one bar or quarter hour at a time: its arrays are those after the last."""

    STATE: ClassVar[tuple[str, ...]]


@dataclass(slots=True)
class Counters:
    """What was wrong with the input so far."""

    bars: int = 0
    late: int = 0  # late, doubled, out of order or off the 5-minute grid: ignored
    gaps: int = 0  # missing bars between two that came
    dropped: int = 0  # impossible cells


class _Ahead(NamedTuple):
    """What forecasts are made of, at some bars."""

    inputs: FloatArray  # of the direction models, (inputs, n, assets)
    sigma: FloatArray  # by the outlook, (4, n, assets)
    moving: FloatArray  # 0.0 where the price has stood for hours, else 1.0, (n, assets)

    def of(self, bars: slice) -> _Ahead:
        """Return the same at fewer bars."""
        return _Ahead(self.inputs[:, bars], self.sigma[:, bars], self.moving[bars])


class Measures:
    """Every measure of some assets, the columns to read. One instance belongs to one thread."""

    def __init__(self, weights: Weights, assets: tuple[str, ...]) -> None:
        """Start with no history."""
        self.assets = assets
        self.weights = weights
        self.counters = Counters()

        n = len(assets)
        self.returns = Returns(n)
        self.volatility = Volatility((n,))
        self.features = Features((n,))
        self.filter = RegimeFilter(n, (weights.asset, weights.market), weights.calibrations)
        self.direction = DirectionModel(n, weights.direction)
        self.liquidity = Liquidity(n)
        self.derivatives = Derivatives(n)
        self.structure = Structure(n)
        self.week = Week(n)
        self.closes = Closes(n)
        self.outlook = Outlook(n, weights.outlook)
        self.ranges = RangeModel(n, weights.outlook)
        self.stress = Stress(n)
        self.axes = MarketAxes()
        self.calls = Calls(n)
        self.sides: SideRule | None = None
        """What opens a side to a call; None: none is open. Set by whoever knows the record; no part of the state."""

        self._parts: tuple[Part, ...] = (
            self.returns,
            self.volatility,
            self.features,
            self.liquidity,
            self.derivatives,
            self.structure,
            self.week,
            self.closes,
            self.outlook,
            self.stress,
            self.filter,
            self.axes,
        )
        self._t: int | None = None
        self._past = Past(self.week, 0)
        self._usual = (-1, np.full((1, n + 1), np.nan))  # number of a quarter hour, and usual days at its end

    @property
    def t_ms(self) -> int | None:
        """Open time of the last bar fed, None before the first."""
        return self._t

    def advance(self, frame: BarFrame) -> None:
        """Feed bars in order.

        Late, doubled and out-of-order rows are ignored and counted; hours instead of 5 minutes are not read at all.
        """
        for _ in self.replay(frame, every_ms=0):
            pass

    def replay(self, frame: BarFrame, every_ms: int = BAR_MS) -> Iterator[int]:
        """Feed bars in order as `advance` does; give rows that were read, each when all is as after that bar.

        Args:
            frame: see `advance`.
            every_ms: which rows: those that close at a multiple of it; 0: none.
        """
        if frame.interval_ms != BAR_MS or not len(frame):
            return
        bars = clean(frame, self.assets)
        passed = 0
        for rows in _blocks(frame.t, self._taken(frame.t)):
            for bar, row in enumerate(self._read(frame.t[rows], bars, rows)):
                self.counters.late += row - passed
                passed = row + 1
                if every_ms and (int(frame.t[row]) + BAR_MS) % every_ms == 0:
                    self._put(bar)
                    yield row
            if len(rows) > 1:
                self._put(-1)
        self.counters.late += len(frame) - passed

    def _put(self, bar: int) -> None:
        """Put what is followed in blocks to one bar of the last."""
        for part in self._parts:
            part.at(bar)

    def _taken(self, t_ms: Times) -> Times:
        """Return the rows to read: those whose time is on the grid and after all before."""
        on_grid = (t_ms >= 0) & (t_ms % BAR_MS == 0)
        last = -1 if self._t is None else self._t
        newest = np.maximum.accumulate(np.concatenate(([last], np.where(on_grid, t_ms, -1))))
        return np.flatnonzero(on_grid & (t_ms > newest[:-1]))

    def _read(self, t_ms: Times, bars: CleanBars, rows: Times) -> Iterator[int]:
        """Read a block of bars."""
        first = t_ms[0] - BAR_MS if self._t is None else self._t
        steps = np.diff(t_ms, prepend=first) // BAR_MS
        self._measure(t_ms, bars, rows, steps)

        # What learns from outcomes does so at the end of a quarter hour, and what it says holds for the bars of one.
        ahead = _Ahead(self.inputs(), self.outlook.sigma, self.volatility.moving())
        for quarter in stretches((t_ms + BAR_MS) // QUARTER_MS):
            self._t = int(t_ms[quarter.start])
            self._put(quarter.start)
            if quarter_is_over(self._t):
                self._learn(self._t, bars.log_close[rows[quarter.start]])
            units = self._units(ahead.of(quarter))

            for bar in range(quarter.start, quarter.stop):
                self._t = int(t_ms[bar])
                self.counters.bars += 1
                self.counters.gaps += int(steps[bar]) - 1
                self.counters.dropped += int(bars.dropped[rows[bar]])
                self.calls.update(units[:, bar - quarter.start], self.sides)
                yield int(rows[bar])

    def _measure(self, t_ms: Times, bars: CleanBars, rows: Times, steps: Times) -> None:
        """Let every part take a block, in the order in which they need each other."""
        log_close = bars.log_close[rows]
        range_variance = bars.range_variance[rows]
        extra = {name: values[rows] for name, values in bars.extra.items()}
        passed = steps.astype(np.float64)

        # Volatility first: everything else is measured in units of it.
        returns = self.returns.update(log_close, passed)
        self.volatility.update(returns, range_variance, extra["volume"], passed)
        self.features.update(returns, self.volatility)

        # What the assets' own data say.
        self.liquidity.update(
            extra["depth_usd"], extra["spread_bps"], extra["imbalance"], self.volatility.levels()[1], passed
        )
        self.derivatives.update(t_ms, extra["funding"], extra["open_interest"], passed)
        self.structure.update(self.features)
        volume_and_variance = np.array((extra["volume"], bar_variance(returns, range_variance)))
        self.week.update(t_ms, log_close, bars.top[rows], bars.bottom[rows], volume_and_variance)
        self.closes.update(t_ms, log_close, bars.top[rows], bars.bottom[rows])

        # How far prices may move.
        self.outlook.update(t_ms, self.volatility)
        log_volatility = self.outlook.level[_STRESS_HORIZON] + 0.5 * self.volatility.slow[0]
        fresh = self.volatility.fresh()
        self.stress.update(t_ms, log_volatility, fresh)

        # The regime, to which all of that is evidence.
        informative = fresh * self.volatility.moving()
        support = self.features.count * np.concatenate((informative, informative.max(axis=-1, keepdims=True)), axis=-1)
        inputs = self.features.current[: len(REGIME_INPUTS)]
        self.filter.update(t_ms, inputs, support, self._facts(t_ms), steps)
        weight = self.filter.weight(self.features.count)[:, -1]
        stressed = np.where(fresh.any(axis=-1), self.stress.stressed()[:, -1], np.nan)
        self.axes.update(t_ms, self.filter.chances[:2, :, -1].T, weight, stressed, passed)

        for part in self._parts:
            part.keep()

    def _learn(self, t_ms: int, log_close: FloatArray) -> None:
        """Score at the end of a quarter hour what was said before, and write down what is said now."""
        ready = self.ready()
        self.ranges.update(t_ms, log_close, self.outlook.sigma, ready, self.week)
        self.direction.update(t_ms, log_close, self.inputs(), self.round, ready)

    def _units(self, ahead: _Ahead) -> FloatArray:
        """Return the chances of the next hour as published, see `in_units`, after some bars of a quarter hour."""
        band = self.past().band(SHOWN_MINUTES)
        sigma = self._sigma_over(SHOWN_MINUTES, ahead.sigma)
        within = np.where(ahead.moving > 0.0, self.ranges.within(1, band / sigma), np.nan)
        chance, _ = self.direction.mixed(1, ahead.inputs, within)
        return in_units(chance)

    def facts(self) -> RegimeFacts:
        """Return the facts of the day that bear on the regimes after the last bar."""
        change = np.expm1(self.past().day_change(self._known_close()))
        return facts_of(change, self.structure.trend, self.stress.stressed(), self.past().usual)

    def _facts(self, t_ms: Times) -> RegimeFacts:
        """Return the facts of the day that bear on the regimes after each bar of a block."""
        closes, ends = self.week.closes(t_ms)
        change = np.expm1(self._known_close() - closes[ends - DAY])
        closed = last_closed(int(t_ms[-1]))
        if ends[0] == ends[-1] and self._usual[0] == closed:
            usual = self._usual[1]
        else:
            quarters, quarter_of_bar = np.unique(ends, return_inverse=True)
            usual = usual_days(closes, quarters)[quarter_of_bar]
            self._usual = (closed, usual[-1:])
        return facts_of(change, self.structure.trend, self.stress.stressed(), usual)

    def _known_close(self) -> FloatArray:
        """Return each asset's last close, NaN where it is stale."""
        return np.where(self.returns.age > HOUR_BARS, np.nan, self.returns.log_close)

    def past(self) -> Past:
        """Return what the week says up to the last quarter hour that is over."""
        if self._past.closed != last_closed(self._t or 0):
            self._past = Past(self.week, self._t or 0)
        return self._past

    def sigma(self) -> FloatArray:
        """Return the expected sigma of log returns over 15 minutes, 1, 4 and 24 hours, as a fraction, (4, assets)."""
        return self.ranges.sigma(self._t or 0, self.outlook.sigma[:, None])[:, 0]

    def round(self, at: int, minutes: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the neutral band, as a fraction, and the outlook's chance that a move stays within it, (assets,).

        The chance is NaN where the price has stood for hours: that says nothing about the next one.

        Args:
            at: 0 for the law of moves over 15 minutes, 1 for that of an hour.
            minutes: of the round; None: as long as those moves.
        """
        minutes = minutes or _ROUNDS[at]
        band = self.past().band(minutes)
        sigma = self._sigma_over(minutes, self.outlook.sigma[:, None])[0]
        within = self.ranges.within(at, band / sigma)
        return band, np.where(self.volatility.moving() > 0.0, within, np.nan)

    def _mixed(self, horizon: int, inputs: FloatArray, within: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return chances and base rates after the last bar, both (3, assets)."""
        chance, base = self.direction.mixed(horizon, inputs[:, None], within[None])
        return chance[:, 0], base

    def inputs(self) -> FloatArray:
        """Return the inputs of the direction models now."""
        return direction_inputs(self.features, self.filter.tilt(), self.liquidity.known_imbalance())

    def doubts(self) -> tuple[Doubt, ...]:
        """Return how far each asset's data is in doubt now, and why."""
        volatility = self.volatility
        return doubts(
            self.features.count[:-1], self.returns.age, volatility.capped, volatility.still, self.derivatives.odd
        )

    def market_label(self) -> RegimeLabel:
        """Return the label of the market's regime after the last bar."""
        return LABELS[int(self.filter.label[-1])]

    def market_chances(self) -> dict[RegimeLabel, float]:
        """Return the chances of the market's regimes as they are published after the last bar."""
        doubt = overall(self.doubts())
        chances = self.filter.chances[:, -1].tolist()
        return {regime: doubted_chance(chance, doubt) for regime, chance in zip(REGIMES, chances, strict=True)}

    def ready(self) -> np.ndarray:
        """Say which assets have enough recent history for a forecast."""
        return (self.features.count[:-1] >= MIN_BARS) & (self.returns.age <= JOIN_BARS)

    def forecast(self, asset: str, horizon_minutes: int) -> Forecast | None:
        """Forecast one asset from the close of the last bar; None with too little or too old history."""
        return self.forecasts(horizon_minutes)[self.assets.index(asset)]

    def forecasts(self, horizon_minutes: int) -> list[Forecast | None]:
        """Forecast every asset.

        Args:
            horizon_minutes: 15 to 90; learned at 15 and 60, between them interpolated on the square root of time.
        """
        inputs = self.inputs()
        band, within = self.round(1, horizon_minutes)
        chance, base = self._mixed(1, inputs, within)

        near_root, far_root = (math.sqrt(minutes) for minutes in _ROUNDS)
        share = min(1.0, (math.sqrt(horizon_minutes) - near_root) / (far_root - near_root))
        if share < 1.0:
            _, near_within = self.round(0, horizon_minutes)
            near_chance, near_base = self._mixed(0, inputs, near_within)
            chance = (1.0 - share) * near_chance + share * chance
            base = (1.0 - share) * near_base + share * base

        # What is published decides the call; data in doubt names no side.
        doubt = np.array([doubt.share for doubt in self.doubts()])
        chance = less_sure(chance, doubt)
        held = self.calls.held if horizon_minutes == SHOWN_MINUTES else np.zeros(len(self.assets))
        units = in_units(chance)
        call = np.where(doubt > 0.0, follow(held, units, None), follow(held, units, self.sides))

        sound = self.ready() & np.isfinite(band)
        forecasts: list[Forecast | None] = []
        for column, asset in enumerate(self.assets):
            if not sound[column]:
                forecasts.append(None)
                continue
            forecast = Forecast(
                asset=asset,
                horizon_minutes=horizon_minutes,
                probabilities=OutcomeChances(*chance[:, column].tolist()),
                base_rate=OutcomeChances(*base[:, column].tolist()),
                call=CALLS[float(call[column])],
                band_bps=1e4 * float(band[column]),
            )
            forecasts.append(forecast)
        return forecasts

    def _sigma_over(self, minutes: int, expected: FloatArray) -> FloatArray:
        """Return each asset's expected sigma of the log return over 15 minutes to a day, (bars, assets).

        `expected` is by the outlook after some bars of this quarter hour, (4, bars, assets).

        Between the outlook's horizons log sigma is interpolated on log time, as a power law of time would be.
        """
        at = math.log(minutes)
        left = min(int(np.searchsorted(_LOG_MINUTES, at, side="right")) - 1, len(_LOG_MINUTES) - 2)
        share = (at - _LOG_MINUTES[left]) / (_LOG_MINUTES[left + 1] - _LOG_MINUTES[left])

        sigma = self.ranges.sigma(self._t or 0, expected)
        out: FloatArray = sigma[left] ** (1.0 - share) * sigma[left + 1] ** share
        return out

    def _arrays(self) -> list[tuple[Part | BarPart, str, FloatArray]]:
        """Return the whole state: the arrays that each part names, in the order of the file."""
        parts: tuple[Part | BarPart, ...] = (
            *self._parts,
            self.direction,
            self.ranges,
            self.ranges.profile,
            self.calls,
        )
        return [(part, name, getattr(part, name)) for part in parts for name in part.STATE]

    def dump(self) -> bytes:
        """Return the whole state: a JSON line, then every array as little-endian doubles, compressed.

        `load` continues as if nothing had happened.
        """
        counters = self.counters
        header = {
            "format": _STATE_FORMAT,
            "assets": self.assets,
            "weights": self.weights.digest,
            "t": self._t,
            "counters": [counters.bars, counters.late, counters.gaps, counters.dropped],
        }
        head = json.dumps(header, sort_keys=True).encode()
        body = b"".join(array.astype("<f8").tobytes() for _, _, array in self._arrays())
        return zlib.compress(head + b"\n" + body, 1)

    @classmethod
    def load(cls, weights: Weights, assets: tuple[str, ...], data: bytes) -> Self:
        """Restore what `dump` returned.

        Raises:
            ValueError: damaged, of other assets, or made with other weights; start again from history then.
        """
        try:
            head, body = zlib.decompress(data).split(b"\n", 1)
            header: dict[str, Any] = json.loads(head)
            values = np.frombuffer(body, dtype="<f8")
        except (zlib.error, ValueError) as error:
            raise ValueError(f"not a brain state: {error}") from error
        if header.get("format") != _STATE_FORMAT:
            raise ValueError("a brain state of another format")
        if header["assets"] != list(assets) or header["weights"] != weights.digest:
            raise ValueError("a brain state of other assets or other weights")

        restored = cls(weights, assets)
        arrays = restored._arrays()
        if values.size != sum(array.size for _, _, array in arrays):
            raise ValueError("a brain state of another shape")
        at = 0
        for part, name, array in arrays:
            saved = values[at : at + array.size].astype(np.float64)
            setattr(part, name, saved.reshape(array.shape))
            at += array.size

        restored._t = header["t"]
        restored.counters = Counters(*header["counters"])
        return restored


def _blocks(t_ms: Times, rows: Times) -> list[Times]:
    """Return the rows to read, those together that are read together."""
    steps = np.diff(t_ms[rows]) // BAR_MS
    pieces = np.split(rows, np.flatnonzero(steps > _LONGEST_GAP) + 1)
    return [piece[begin : begin + _BLOCK] for piece in pieces for begin in range(0, len(piece), _BLOCK)]
