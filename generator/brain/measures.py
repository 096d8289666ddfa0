"""What is followed bar by bar: O(1) a bar, vectorised over the assets. It never looks ahead."""

import json
import math
import zlib
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np

from generator.brain.bars import CleanBars, clean
from generator.brain.derivatives import Derivatives
from generator.brain.direction import MIN_BARS, DirectionModel, direction_inputs
from generator.brain.doubt import Doubt, doubted, doubts
from generator.brain.evidence import VOTE_LEAN, breadth_lean
from generator.brain.facts import Past
from generator.brain.features import REGIME_INPUTS, Features
from generator.brain.forecast import WORDS, Forecast, OutcomeChances, Shown, words
from generator.brain.liquidity import Liquidity
from generator.brain.outlook import Outlook
from generator.brain.ranges import RangeModel
from generator.brain.regime import RegimeFacts, RegimeFilter, facts_of
from generator.brain.smoothing import HOUR_BARS
from generator.brain.stress import Stress
from generator.brain.structure import Structure, counts
from generator.brain.volatility import Volatility, bar_variance
from generator.brain.week import Week, last_closed
from generator.brain.weights import Weights
from generator.catalog.horizons import HORIZONS
from generator.market.bars import BAR_MS, BarFrame, FloatArray

SHOWN_MINUTES: Final = 60  # horizon of the forecasts in a reading
_JOIN_BARS: Final = 3  # a return over a gap of at most this many bars is still used, scaled to one bar
_LOG_MINUTES: Final = np.log([float(horizon.minutes) for horizon in HORIZONS.values()])
_ROUNDS: Final = (15, 60)  # minutes: horizons that the direction learns
_STRESS_HORIZON: Final = 2  # four hours
_STATE_FORMAT: Final = 4


class Part(Protocol):
    """What is followed bar by bar and survives a restart."""

    STATE: ClassVar[tuple[str, ...]]
    """Names of the arrays of doubles that `dump` saves, in the order of the file; the rest is worked out from them."""


@dataclass(slots=True)
class Counters:
    """What was wrong with the input so far."""

    bars: int = 0
    late: int = 0  # late, doubled, out of order or off the 5-minute grid: ignored
    gaps: int = 0  # missing bars between two that came
    dropped: int = 0  # impossible cells


class Measures:
    """Every measure of some assets, the columns to read. One instance belongs to one thread."""

    STATE: ClassVar[tuple[str, ...]] = ("log_close", "close_age")

    def __init__(self, weights: Weights, assets: tuple[str, ...]) -> None:
        """Start with no history."""
        self.assets = assets
        self.weights = weights
        self.counters = Counters()

        n = len(assets)
        self.volatility = Volatility((n,))
        self.features = Features((n,))
        self.filter = RegimeFilter(n, (weights.asset, weights.market), weights.calibrations)
        self.direction = DirectionModel(n, weights.direction)
        self.liquidity = Liquidity(n)
        self.derivatives = Derivatives(n)
        self.structure = Structure(n)
        self.week = Week(n)
        self.outlook = Outlook(n, weights.outlook)
        self.ranges = RangeModel(n, weights.outlook)
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

    def advance(self, frame: BarFrame) -> None:
        """Feed bars in order.

        Late, doubled and out-of-order rows are ignored and counted; hours instead of 5 minutes are not read at all.
        """
        if frame.interval_ms != BAR_MS or not len(frame):
            return
        bars = clean(frame, self.assets)
        for row, t_ms in enumerate(frame.t.tolist()):
            self._feed(int(t_ms), bars, row)

    def _feed(self, t_ms: int, bars: CleanBars, row: int) -> None:
        """Take one row of `bars` if its time is on the grid and after the last one, else count it as late."""
        on_grid = t_ms >= 0 and t_ms % BAR_MS == 0
        if not on_grid or (self._t is not None and t_ms <= self._t):
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
        log_close = bars.log_close[row]
        range_variance = bars.range_variance[row]
        extra = {name: values[row] for name, values in bars.extra.items()}

        # Volatility first: everything else is measured in units of it.
        returns = self._returns(log_close)
        self.volatility.update(returns, range_variance, extra["volume"])
        self.features.update(returns, self.volatility)

        # What the assets' own data say.
        self.liquidity.update(
            extra["depth_usd"], extra["spread_bps"], extra["imbalance"], volatility=self.volatility.levels()[1]
        )
        self.derivatives.update(t_ms, extra["funding"], extra["open_interest"])
        self.structure.update(self.features)
        volume_and_variance = np.array((extra["volume"], bar_variance(returns, range_variance)))
        self.week.update(t_ms, log_close, bars.top[row], bars.bottom[row], volume_and_variance)

        # How far prices may move.
        self.outlook.update(t_ms, self.volatility)
        fresh = self.volatility.fresh()
        log_volatility = self.outlook.level[_STRESS_HORIZON] + 0.5 * self.volatility.slow[0]
        self.stress.update(t_ms, log_volatility, fresh)

        # The regime, which may not contradict any of that.
        informative = fresh * self.volatility.moving()
        support = self.features.count * np.append(informative, informative.max())
        self.filter.update(t_ms, self.features.current[: len(REGIME_INPUTS)], support, self.facts(), steps)

        # Last what learns from outcomes: it scores what it said before, then says the next.
        ready = self.ready()
        self.ranges.update(t_ms, log_close, self.outlook.sigma, ready)
        inputs = self.inputs()
        self.direction.update(t_ms, log_close, inputs, self.round, ready)
        _, within = self.round(1)
        chance, base = self.direction.mixed(1, inputs, within)
        self.shown.update(chance, words(chance, base, self._balance))

    def _skip(self, missing: int) -> None:
        """Let everything that is dated grow older by bars that never came."""
        if not missing:
            return
        self.close_age += missing
        self.volatility.age += missing
        self.liquidity.age += missing
        self.liquidity.imbalance_age += missing
        self.derivatives.age += missing

    def _returns(self, log_close: FloatArray) -> FloatArray:
        """Return log returns per bar, NaN where this bar or the one before is missing for too long.

        A return over a short gap is divided by the square root of its bars: variance grows with time.
        """
        age = self.close_age + 1.0
        returns = np.where(age <= _JOIN_BARS, (log_close - self.log_close) / np.sqrt(age), np.nan)

        here = np.isfinite(log_close)
        self.log_close = np.where(here, log_close, self.log_close)
        self.close_age = np.where(here, 0.0, age)
        return returns

    def facts(self) -> RegimeFacts:
        """Return what the regimes may not contradict after the last bar."""
        return facts_of(self._day_change(), self.structure.trend, self.stress.stressed(), self.past().usual)

    def past(self) -> Past:
        """Return what the week says up to the last quarter hour that is over."""
        if self._past.closed != last_closed(self._t or 0):
            self._past = Past(self.week, self._t or 0)
        return self._past

    def _day_change(self) -> FloatArray:
        """Return each asset's change over the day, as a fraction, NaN where unknown or stale."""
        here = np.where(self.close_age > HOUR_BARS, np.nan, self.log_close)
        return np.expm1(self.past().day_change(here))

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

    def _balance(self) -> FloatArray:
        """Return how many families of evidence point up less how many point down, (assets,)."""
        here = (self.close_age <= HOUR_BARS) & (self.volatility.count[0] >= HOUR_BARS)
        trend_and_push = (self.structure.trend[:-1] + np.sign(self.features.pushes())) * here
        votes = np.array([VOTE_LEAN[pressure.vote] or 0 for pressure in self.derivatives.readings()])
        _, leans = self.liquidity.reading()
        books = np.array([lean or 0 for lean in leans])
        breadth = breadth_lean(counts(self._day_change())) or 0

        out: FloatArray = trend_and_push + votes + books + breadth
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
        """Forecast one asset from the close of the last bar; None with too little or too old history."""
        return self.forecasts(horizon_minutes)[self.assets.index(asset)]

    def forecasts(self, horizon_minutes: int) -> list[Forecast | None]:
        """Forecast every asset.

        Args:
            horizon_minutes: 15 to 90; learned at 15 and 60, between them interpolated on the square root of time.
        """
        inputs = self.inputs()
        band, within = self.round(1, horizon_minutes)
        chance, base = self.direction.mixed(1, inputs, within)

        near_root, far_root = (math.sqrt(minutes) for minutes in _ROUNDS)
        share = min(1.0, (math.sqrt(horizon_minutes) - near_root) / (far_root - near_root))
        if share < 1.0:
            _, near_within = self.round(0, horizon_minutes)
            near_chance, near_base = self.direction.mixed(0, inputs, near_within)
            chance = (1.0 - share) * near_chance + share * chance
            base = (1.0 - share) * near_base + share * base

        is_shown = horizon_minutes == SHOWN_MINUTES
        word = self.shown.word if is_shown else words(chance, base, self._balance)
        sound = self.ready() & np.isfinite(band)
        doubt = self.doubts()
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
                prediction=WORDS[int(word[column])],
                band_bps=1e4 * float(band[column]),
            )
            forecasts.append(doubted(forecast, doubt[column].share))
        return forecasts

    def _sigma_over(self, minutes: int) -> FloatArray:
        """Return each asset's expected sigma of the log return over 15 minutes to a day, (assets,).

        Between the outlook's horizons log sigma is interpolated on log time, as a power law of time would be.
        """
        at = math.log(minutes)
        left = min(int(np.searchsorted(_LOG_MINUTES, at, side="right")) - 1, len(_LOG_MINUTES) - 2)
        share = (at - _LOG_MINUTES[left]) / (_LOG_MINUTES[left + 1] - _LOG_MINUTES[left])

        sigma = self.sigma()
        out: FloatArray = sigma[left] ** (1.0 - share) * sigma[left + 1] ** share
        return out

    def _arrays(self) -> list[tuple[Part, str, FloatArray]]:
        """Return the whole state: the arrays that each part names, in the order of the file."""
        parts: tuple[Part, ...] = (
            self.volatility,
            self.features,
            self.filter,
            self.direction,
            self.liquidity,
            self.derivatives,
            self.structure,
            self.week,
            self.outlook,
            self.ranges,
            self.stress,
            self.shown,
            self,
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
        restored.features.refresh(restored.volatility)
        return restored
