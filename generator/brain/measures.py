"""What is followed bar by bar: O(1) a bar, vectorised over the assets. It never looks ahead."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np

from generator.brain.bars import CleanBars, clean
from generator.brain.closes import Closes
from generator.brain.columns import Columns
from generator.brain.derivatives import Derivatives
from generator.brain.doubt import SILENT, Doubt, doubts, less_sure, overall, wider
from generator.brain.facts import Past, median_bands
from generator.brain.forecast import Calls, Forecast, Forecasts, SideRule, follow, in_units
from generator.brain.highlights import Highlights
from generator.brain.holds import Holds
from generator.brain.joint import Joint, JointMoves, joint
from generator.brain.label import Label
from generator.brain.ladder import Ladder, Partition, ladders, partitions
from generator.brain.liquidity import Liquidity
from generator.brain.moves import Moves, prices_of, with_market
from generator.brain.outcomes import HORIZON_MINUTES, HORIZON_QUARTERS, Outcomes, split
from generator.brain.outlook import EDGES, QUARTERS, RANGE_BARS, Outlook
from generator.brain.packing import fill, header_of, packed
from generator.brain.part import Part, Times
from generator.brain.profile import REALISED_QUARTERS
from generator.brain.ranges import RangeModel, widths_of
from generator.brain.record import DAY_MOVE, EXPECTED, Record
from generator.brain.returns import JOIN_BARS, Returns
from generator.brain.side import Side
from generator.brain.situation import Situations
from generator.brain.smoothing import DAY_BARS, HOUR_BARS, Flags
from generator.brain.spells import Spells
from generator.brain.stuck import Stuck
from generator.brain.swings import Swings
from generator.brain.volatility import Volatility, bar_variance
from generator.brain.week import QuarterEnds, Week, last_closed
from generator.brain.weights import Weights
from generator.catalog.horizons import HORIZONS
from generator.market.bars import BAR_MS, BarFrame, FloatArray

SHOWN_MINUTES: Final = 60  # horizon of the forecasts in a reading
_LOG_MINUTES: Final = np.log([float(horizon.minutes) for horizon in HORIZONS.values()])
_EXPECTED: Final = 2  # the horizon of four hours, by which the state is rough or calm
_FEWEST_RETURNS: Final = 3 * HOUR_BARS  # of an asset whose volatility is expected
_NEAR, _HOUR, _PARTITION = range(len(HORIZON_MINUTES))
_ROOTS: Final = tuple(math.sqrt(HORIZON_MINUTES[horizon]) for horizon in (_NEAR, _HOUR))
PARTITION_MINUTES: Final = HORIZON_MINUTES[_PARTITION]
_STATE_FORMAT: Final = 16
_BLOCK: Final = 7 * DAY_BARS  # most bars that are read together, which bounds the memory
_NEVER_MS: Final = 1 << 62
_LONGEST_GAP: Final = HOUR_BARS  # bars that never came; a longer gap ends a block


@dataclass(slots=True)
class Counters:
    """What was wrong with the input so far."""

    bars: int = 0
    late: int = 0  # late, doubled, out of order or off the 5-minute grid: ignored
    gaps: int = 0  # missing bars between two that came
    dropped: int = 0  # impossible cells


class ForecastInputs(NamedTuple):
    """What the forecasts after one bar are made from."""

    sigma: FloatArray  # expected of log moves over the horizons, (4, assets)
    laws: FloatArray  # see `RangeModel.laws`
    doubt: FloatArray  # share of it in each asset's data, (assets,)


class Measures:
    """Every measure of some assets, the columns to read. One instance belongs to one thread."""

    def __init__(self, weights: Weights, assets: tuple[str, ...]) -> None:
        """Start with no history."""
        self.assets = assets
        self.weights = weights
        self.counters = Counters()

        n = len(assets)
        self.stuck = Stuck(n)
        self.returns = Returns(n)
        self.volatility = Volatility((n,))
        self.liquidity = Liquidity(n)
        self.derivatives = Derivatives(n)
        self.week = Week(n)
        self.closes = Closes(n)
        self.outlook = Outlook(n, weights.outlook)
        self.ranges = RangeModel(n, weights.outlook)
        self.outcomes = Outcomes(n)
        self.moves = Moves(n)
        self.record = Record(n + 1)
        self.swings = Swings(n + 1)
        self.side = Side(n + 1)
        self.label = Label(n + 1)
        self.highlights = Highlights(n)
        self.situations = Situations()
        self.holds = Holds(n + 1)
        self.spells = Spells()
        self.joint = JointMoves(n)
        self.calls = Calls(n)
        self.sides: SideRule | None = None
        """What opens a side to a call; None: none is open. Set by whoever knows the record; no part of the state."""
        self.one_venue: frozenset[str] = frozenset()
        """Assets whose price one venue alone gives where more are asked; set with each observation, likewise."""

        self._parts: tuple[Part, ...] = (
            self.stuck,
            self.returns,
            self.volatility,
            self.liquidity,
            self.derivatives,
            self.week,
            self.closes,
            self.outlook,
            self.moves,
            self.record,
            self.swings,
            self.side,
            self.label,
            self.holds,
            self.highlights,
            self.situations,
            self.spells,
            self.joint,
            self.ranges,
            self.ranges.profile,
            self.outcomes,
            self.calls,
        )
        self._t: int | None = None
        self._past = Past(self.week, 0)
        # Expected sigmas of a block, (4, n, assets); by the outlook after one bar, and what is made of that.
        self._sigmas = np.empty((len(HORIZONS), 0, n))
        self._sigma: tuple[FloatArray | None, FloatArray] = (None, self._sigmas)
        # Number of a quarter hour, and bands at its end.
        self._kept = (-1, np.full((len(HORIZON_QUARTERS), 1, n), np.nan))

    def replace(self, part: Part, other: Part) -> None:
        """Follow another part in the place of one, before the first bar: what a measurement leaves out."""
        self._parts = tuple(other if kept is part else kept for kept in self._parts)

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
        late = self.counters.late
        taken = 0
        for rows in _blocks(frame.t, self._taken(frame.t)):
            t_ms = frame.t[rows]
            first = t_ms[0] - BAR_MS if self._t is None else self._t
            steps = (t_ms - np.concatenate(([first], t_ms[:-1]))) // BAR_MS
            places = taken + np.arange(len(rows))
            counted = self._counted(late + rows - places, steps - 1, bars.dropped[rows])
            self._measure(t_ms, bars, rows, steps)

            is_given = (t_ms + BAR_MS) % (every_ms or _NEVER_MS) == 0
            for bar in np.flatnonzero(is_given).tolist():
                self._put(bar, t_ms, counted)
                yield int(rows[bar])
            if not is_given[-1]:
                self._put(-1, t_ms, counted)
            taken += len(rows)
        self.counters.late = late + len(frame) - taken

    def _counted(self, late: Times, gaps: Times, dropped: FloatArray) -> list[Counters]:
        """Return the counters after each bar of a block."""
        now = self.counters
        bars = now.bars + np.arange(1, len(late) + 1)
        all_gaps = now.gaps + np.add.accumulate(gaps)
        all_dropped = now.dropped + np.add.accumulate(dropped).astype(np.int64)
        columns = (bars.tolist(), late.tolist(), all_gaps.tolist(), all_dropped.tolist())
        return [Counters(*each) for each in zip(*columns, strict=True)]

    def _put(self, bar: int, t_ms: Times, counted: list[Counters]) -> None:
        """Put everything to one bar of the last block."""
        self._t = int(t_ms[bar])
        self.counters = counted[bar]
        for part in self._parts:
            part.at(bar)
        self._sigma = (self.outlook.sigma, self._sigmas[:, bar])

    def _taken(self, t_ms: Times) -> Times:
        """Return the rows to read: those whose time is on the grid and after all before."""
        on_grid = (t_ms >= 0) & (t_ms % BAR_MS == 0)
        last = -1 if self._t is None else self._t
        newest = np.maximum.accumulate(np.concatenate(([last], np.where(on_grid, t_ms, -1))))
        return np.flatnonzero(on_grid & (t_ms > newest[:-1]))

    def _measure(self, t_ms: Times, bars: CleanBars, rows: Times, steps: Times) -> None:
        """Let every part take a block, in the order in which they need each other."""
        extra = {name: values[rows] for name, values in bars.extra.items()}
        passed = steps.astype(np.float64)

        # What a source repeats is taken for missing.
        log_close, top, bottom, range_variance = self._moving(bars, rows)
        extra["volume"] = np.where(np.isfinite(log_close), extra["volume"], np.nan)

        # Volatility next: everything else is measured in units of it. A jump that is not a move is taken out of prices.
        returns = self.returns.update(log_close, passed)
        joined = self.returns.waited <= JOIN_BARS
        self.volatility.update(returns, range_variance, extra["volume"], passed, joined)
        jumps = self.volatility.jumps
        is_jump = jumps != 0.0
        shift = self.returns.take_out(jumps * np.sqrt(self.returns.waited))
        log_close = log_close - shift
        top, bottom, range_variance = (
            np.where(is_jump, np.nan, values) for values in (top - shift, bottom - shift, range_variance)
        )
        returns = np.where(joined & ~is_jump, returns, np.nan)

        # What the assets' own data say.
        self.liquidity.update(
            extra["depth_usd"], extra["spread_bps"], extra["imbalance"], self.volatility.levels()[1], passed
        )
        self.derivatives.update(t_ms, extra["funding"], extra["open_interest"], passed)
        has_range = np.where(np.isfinite(range_variance), 1.0, np.nan)
        summed_up = np.array((extra["volume"], bar_variance(returns, range_variance), has_range))
        self.week.update(t_ms, log_close, top, bottom, summed_up)
        self.closes.update(t_ms, log_close, top, bottom)

        # How far prices may move.
        self.outlook.update(t_ms, self.volatility)

        # What learns from outcomes does so at the end of a quarter hour.
        ends = QuarterEnds.of(t_ms)
        ready = self.ready()
        realised = self.week.realised(ends.last_bars, REALISED_QUARTERS)
        reached = self.week.reached(ends.last_bars, QUARTERS)
        self.ranges.update(ends, log_close, self.outlook.sigma, ready, realised, reached)
        bands = self._bands(t_ms)
        self.outcomes.update(ends, log_close, bands, ready)
        sigma = self.ranges.sigma(t_ms, self.outlook.sigma)
        self._sigmas = sigma
        self.joint.update(t_ms, log_close, sigma, ready)
        within = self.ranges.within(_HOUR, bands[_HOUR] / sigma[_HOUR])
        self.calls.update(in_units(split(within, self.outcomes.rates(_HOUR))), self.sides)

        # What was, and how rough the next hours look.
        self._follow_state(t_ms, log_close, sigma[_EXPECTED], steps)
        edges = prices_of(np.stack((top, bottom), axis=1))
        self._follow_situation(t_ms, edges, sigma[_HOUR, :, 0])

        for part in self._parts:
            part.keep()

    def _moving(self, bars: CleanBars, rows: Times) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return log close, high and low and the range's variance of a block, NaN where the source is stuck."""
        values = (bars.log_close[rows], bars.top[rows], bars.bottom[rows], bars.range_variance[rows])
        stuck = self.stuck.update(*values[:3])
        if not np.count_nonzero(stuck):
            return values
        close, top, bottom, variance = (np.where(stuck, np.nan, column) for column in values)
        return close, top, bottom, variance

    def _follow_state(self, t_ms: Times, log_close: FloatArray, sigma: FloatArray, steps: Times) -> None:
        """Read side, volatility and label of a block of bars from its prices.

        Args:
            sigma: expected over four hours, (n, assets).
            steps: bars from each to the one before, (n,).
        """
        known = (self.volatility.fresh() > 0.0) & (self.volatility.count[0] >= _FEWEST_RETURNS)
        expected = with_market(np.where(known, np.log(sigma), np.nan))
        self.moves.update(t_ms, log_close)
        self.record.update(t_ms, self.moves, np.exp(expected))
        self.swings.update(self.moves, self.record, steps.astype(np.float64))
        self.side.update(self.moves, self.record.usual[DAY_MOVE])
        self.label.update(t_ms, self.side.side, self.swings.word, self.record.count[EXPECTED])
        self.holds.update(t_ms, self.label.label, self.label.ages(t_ms))

        states = {"side": self.side.side[:, -1], "step": self.swings.steps()[:, -1], "label": self.label.label[:, -1]}
        self.spells.update(t_ms, states, expected[:, -1], steps)

    def _follow_situation(self, t_ms: Times, edges: FloatArray, sigma: FloatArray) -> None:
        """Find what the headline of each bar of a block is about.

        Args:
            edges: high and low prices, (n, 2, assets).
            sigma: expected of the first asset's next hour, (n,).
        """
        # What is usual of a range is the median of those that were published.
        known = (self.volatility.fresh()[:, 0] > 0.0) & (self.volatility.count[0][:, 0] >= RANGE_BARS)
        word = self.swings.word[:, -1]
        self.highlights.update(t_ms, self.moves, edges, np.where(known, sigma, np.nan), word)
        self.situations.update(self.moves, self.record, self.highlights, self.side.side[:, -1], word)

    def _bands(self, t_ms: Times) -> FloatArray:
        """Return the neutral bands of the horizons of outcomes at each bar of a block, (3, n, assets).

        They are of the week up to the last quarter hour that is over.
        """
        closes, ends = self.week.closes(t_ms)
        closed, bands = self._kept
        quarter_of_bar = np.zeros(len(ends), dtype=np.int64)
        if ends[0] != ends[-1] or closed != last_closed(int(t_ms[-1])):
            quarters, quarter_of_bar = np.unique(ends, return_inverse=True)
            bands = np.array([median_bands(closes, quarters, each) for each in HORIZON_QUARTERS])
            self._kept = (last_closed(int(t_ms[-1])), bands[:, -1:])
        out: FloatArray = bands[:, quarter_of_bar]
        return out

    def expected(self) -> float | None:
        """Return the log of the market's expected volatility over the next four hours; None where it is not known."""
        known = (self.volatility.fresh() > 0.0) & (self.volatility.count[0] >= _FEWEST_RETURNS)
        market = float(with_market(np.where(known, np.log(self.sigma()[_EXPECTED]), np.nan)[None])[0, -1])
        return market if math.isfinite(market) else None

    def past(self) -> Past:
        """Return what the week says up to the last quarter hour that is over."""
        if self._past.closed != last_closed(self._t or 0):
            self._past = Past(self.week, self._t or 0)
            number, bands = self._kept
            if number == self._past.closed:
                self._past.know(dict(zip(HORIZON_QUARTERS, bands[:, 0], strict=True)))
        return self._past

    def sigma(self) -> FloatArray:
        """Return the expected sigma of log returns over 15 minutes, 1, 4 and 24 hours, as a fraction, (4, assets)."""
        expected, sigma = self._sigma
        if expected is not self.outlook.sigma:  # after a restart
            sigma = self.ranges.sigma(self._t or 0, self.outlook.sigma)
            self._sigma = (self.outlook.sigma, sigma)
        return sigma

    def now(self, every: tuple[Doubt, ...] | None = None) -> ForecastInputs:
        """Return what all forecasts after the last bar are made from; whoever asks for several hands it on.

        Args:
            every: what `doubts` gives.
        """
        doubt = np.array([doubt.share for doubt in every or self.doubts()])
        return ForecastInputs(self.sigma(), self.ranges.laws(), doubt)

    def reach(self, now: ForecastInputs | None = None) -> FloatArray:
        """Return how far half and nine tenths of the moves reach, as log moves, (4, assets, 2).

        Doubt widens them, and each horizon's is at least the shorter one's: a longer one ends nowhere that is sure.
        """
        sigma, laws, doubt = now or self.now()
        reach = sigma[..., None] * widths_of(laws)[:, None]
        return np.maximum.accumulate(wider(reach, doubt[:, None]))

    def ladders(self, now: ForecastInputs | None = None) -> Columns[Ladder]:
        """Return each asset's chances of moves beyond the levels of the horizons after the last bar."""
        sigma, laws, doubt = now or self.now()
        return ladders(sigma, laws, self.outlook.usual(self.volatility), doubt)

    def partitions(self, now: ForecastInputs | None = None) -> Columns[Partition | None]:
        """Return what the next four hours of each asset may bring; None where its middle third is unknown."""
        sigma, laws, doubt = now or self.now()
        band = self.past().band(PARTITION_MINUTES)
        return partitions(band, sigma[_PARTITION], laws[_PARTITION], self.outcomes.rates(_PARTITION), doubt)

    def joint_scenarios(self, now: ForecastInputs, known: Flags) -> Joint | None:
        """Return how the assets may move together after the last bar; None where too little is known.

        Args:
            now: what `now` gives.
            known: True where an asset has a range, (assets,).
        """
        return joint(self.assets, self.joint, now.sigma, now.doubt, known)

    def doubts(self) -> tuple[Doubt, ...]:
        """Return how far each asset's data is in doubt now, and why."""
        volatility = self.volatility
        return doubts(
            volatility.count[0],
            self.returns.age,
            volatility.capped,
            np.array((self.stuck.is_stuck, volatility.idle)),
            self.derivatives.odd,
            lone=np.array([float(asset in self.one_venue) for asset in self.assets]),
        )

    def chances(self, every: tuple[Doubt, ...] | None = None) -> FloatArray:
        """Return the chances of the four labels in four hours of each asset and, last, of the market, (4, assets + 1).

        The doubt in an asset's data pulls its chances towards how often each label stands at any hour.

        Args:
            every: what `doubts` gives.
        """
        ages = self.label.ages(np.array([self._t or 0], dtype=np.int64))[0]
        of_coin, of_market = self.holds.climate()
        base = np.empty((len(of_market), len(self.assets) + 1))
        base[:, :-1] = of_coin[:, None]
        base[:, -1] = of_market
        every = every or self.doubts()
        share = np.array([*(doubt.share for doubt in every), overall(every)])
        return less_sure(self.holds.chances(self.label.label, ages), base, share)

    def ready(self) -> np.ndarray:
        """Say which assets have enough recent history for a forecast, (..., assets)."""
        return np.asarray((self.volatility.count[0] >= RANGE_BARS) & (self.returns.age <= JOIN_BARS))

    def forecast(self, asset: str, horizon_minutes: int, band_bps: float | None = None) -> Forecast | None:
        """Forecast one asset from the close of the last bar; None with too little or too old history.

        Args:
            asset: which.
            horizon_minutes: as for `forecasts`.
            band_bps: the half-width of a neutral band that was fixed before, in basis points; None for today's.
        """
        return self.forecasts(horizon_minutes, band_bps=band_bps)[self.assets.index(asset)]

    def forecasts(
        self, horizon_minutes: int, now: ForecastInputs | None = None, *, band_bps: float | None = None
    ) -> Forecasts:
        """Forecast every asset.

        Args:
            horizon_minutes: 15 to 90; laws and base rates are kept of 15 and 60, between them interpolated on the
                square root of time.
            now: what `now` gives.
            band_bps: as for `forecast`; base rates stay those of today's band.
        """
        sigma, laws, doubt = now or self.now()
        band = self.past().band(horizon_minutes)
        if band_bps is not None:
            band = np.full_like(band, band_bps / 1e4)
        sizes = band / sigma_over(horizon_minutes, sigma)
        near_root, far_root = _ROOTS
        share = min(1.0, (math.sqrt(horizon_minutes) - near_root) / (far_root - near_root))

        within = share * np.interp(sizes, EDGES, laws[_HOUR, 0])
        base = share * self.outcomes.rates(_HOUR)
        if share < 1.0:
            within += (1.0 - share) * np.interp(sizes, EDGES, laws[_NEAR, 0])
            base += (1.0 - share) * self.outcomes.rates(_NEAR)

        # What is published decides the call; data in doubt names no side, and no chance that is surer than usual.
        chance = less_sure(split(within, base), base, doubt)
        held = self.calls.held if horizon_minutes == SHOWN_MINUTES else np.zeros(len(self.assets))
        units = in_units(chance)[:, None]
        call = np.where(doubt > 0.0, follow(held, units, None), follow(held, units, self.sides))[0]

        sound = self.ready() & np.isfinite(band) & (doubt < SILENT)
        return Forecasts(self.assets, horizon_minutes, chance, base, call, band, sound)

    def arrays(self) -> list[tuple[Part, str, FloatArray]]:
        """Return the whole state: the arrays that each part names, in the order of the file."""
        return [(part, name, getattr(part, name)) for part in self._parts for name in part.STATE]

    def dump(self) -> bytes:
        """Return the whole state, see `packing`; `load` continues as if nothing had happened."""
        counters = self.counters
        header = {
            "format": _STATE_FORMAT,
            "assets": self.assets,
            "weights": self.weights.digest,
            "t": self._t,
            "counters": [counters.bars, counters.late, counters.gaps, counters.dropped],
        }
        return packed(header, [array for _, _, array in self.arrays()])

    @classmethod
    def load(cls, weights: Weights, assets: tuple[str, ...], data: bytes) -> Self:
        """Restore what `dump` returned.

        Raises:
            ValueError: damaged, of other assets, or made with other weights; start again from history then.
        """
        header, body = header_of(data)
        if header.get("format") != _STATE_FORMAT:
            raise ValueError("a brain state of another format")
        if header["assets"] != list(assets) or header["weights"] != weights.digest:
            raise ValueError("a brain state of other assets or other weights")

        restored = cls(weights, assets)
        fill([array for _, _, array in restored.arrays()], body)
        restored._t = header["t"]
        restored.counters = Counters(*header["counters"])
        return restored


def sigma_over(minutes: int, sigma: FloatArray) -> FloatArray:
    """Return the expected sigma of the log return over 15 minutes to a day, (..., assets).

    Between the outlook's horizons log sigma is interpolated on log time, as a power law of time would be.

    Args:
        minutes: of the return.
        sigma: over the outlook's horizons, (4, ..., assets).
    """
    at = math.log(minutes)
    left = min(int(np.searchsorted(_LOG_MINUTES, at, side="right")) - 1, len(_LOG_MINUTES) - 2)
    share = (at - _LOG_MINUTES[left]) / (_LOG_MINUTES[left + 1] - _LOG_MINUTES[left])
    out: FloatArray = sigma[left] ** (1.0 - share) * sigma[left + 1] ** share
    return out


def _blocks(t_ms: Times, rows: Times) -> list[Times]:
    """Return the rows to read, those together that are read together."""
    if len(rows) == 1:
        return [rows]
    steps = np.diff(t_ms[rows]) // BAR_MS
    pieces = np.split(rows, np.flatnonzero(steps > _LONGEST_GAP) + 1)
    return [piece[begin : begin + _BLOCK] for piece in pieces for begin in range(0, len(piece), _BLOCK)]
