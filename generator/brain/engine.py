"""The streaming engine: bars in, a reading out, put together from every measure for each asset and the market."""

import math
from dataclasses import replace
from enum import StrEnum
from typing import Final, TypeVar

import numpy as np

from generator.brain.derivatives import Pressure
from generator.brain.doubt import SILENT, named
from generator.brain.events import record_of
from generator.brain.evidence import Facts, breadth_lean
from generator.brain.forecast import CALLS, Forecast
from generator.brain.label import LABELS, REGIMES, UNKNOWN, dwell_minutes
from generator.brain.like_days import counts_of
from generator.brain.market_facts import Followed, market_facts
from generator.brain.measures import SHOWN_MINUTES, Measures
from generator.brain.month import Month, month_of
from generator.brain.moves import DAY, THREE_HOURS, WEEK
from generator.brain.outlook import MIN_BARS, RANGE_BARS
from generator.brain.reading import (
    ROUGH,
    AssetReading,
    AssetReadings,
    Axes,
    BrainReading,
    LearningReading,
    RegimeReading,
    VolatilityOutlook,
)
from generator.brain.record import DAY_MOVE, HOUR_MOVE, WEEK_MOVE
from generator.brain.side import SIDES
from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.structure import counts, structures
from generator.catalog.durations import MINUTE_MS
from generator.catalog.horizons import HORIZONS
from generator.catalog.text import labels, readings
from generator.catalog.text.figures import day_and_clock
from generator.catalog.text.happened import MarketFacts
from generator.catalog.text.lessons import HoursOnRecord
from generator.catalog.words import (
    BIAS_OF_CALL,
    MODE_OF_SIDE,
    Bias,
    Call,
    DerivativesState,
    LiquidityContext,
    MarketSide,
    MarketStructure,
    RegimeLabel,
    Trend,
    VolatilityWord,
)
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.values.ranges import MoveRange

_Word = TypeVar("_Word", bound=StrEnum)
_REGIME_BARS: Final = 3 * DAY_BARS
_ROOT_3: Final = math.sqrt(3.0)  # from a usual hour to a usual three
_CROWDS: Final = (DerivativesState.CROWDED_LONGS, DerivativesState.CROWDED_SHORTS, DerivativesState.DELEVERAGING)


class Engine(Measures):
    """Read a market bar by bar. One instance belongs to one thread."""

    def update(self, frame: BarFrame, day: FloatArray | None = None) -> BrainReading | None:
        """Feed bars in order and return the reading after the last; `day` as for `reading`."""
        self.advance(frame)
        return self.reading(day)

    def reading(self, day: FloatArray | None = None) -> BrainReading | None:
        """Return the reading after the last bar, None before the first.

        Args:
            day: each asset's log change over exactly 24 hours where the observation has it, NaN elsewhere, (assets,).
        """
        if self.t_ms is None:
            return None
        return _Assembly(self, self.t_ms, day).reading()

    def hours_before(self, asset: str, at_ms: int, move: float) -> HoursOnRecord | None:
        """Compare a move over an hour, a fraction, with the asset's hours on record that ended by a market time."""
        return self.record.hours_before(self.assets.index(asset), at_ms, move)

    def month(self, frame: BarFrame) -> Month | None:
        """Return what the kept month says of the last bar; None where the bars given do not end with it."""
        if not len(frame) or int(frame.t[-1]) != self.t_ms:
            return None
        usual = self.record.usual[:, -1].tolist()
        day = float(self.moves.moves[DAY, -1])
        word = int(self.swings.word[-1])
        counts = counts_of(self.highlights.hours, usual[HOUR_MOVE], usual[DAY_MOVE], day, word)
        month = month_of(frame, self.spells, self.expected(), counts)
        events = record_of(self.highlights.hours, int(self.highlights.hour[0]))
        return None if month is None else replace(month, events=events)


class _Assembly:
    """What every measure says after one bar; lists run over the assets and, where a market has it too, end with it."""

    def __init__(self, measures: Measures, t_ms: int, day: FloatArray | None) -> None:
        """Ask every measure once; `day` as for `Engine.reading`."""
        self.measures = measures
        self.t_ms = t_ms
        self.past = measures.past()

        # The day's change, from outside where that is known, decides what trend words may say.
        stale = measures.returns.age > HOUR_BARS
        log_close = np.where(stale, np.nan, measures.returns.log_close)
        moved = self.past.day_change(log_close)
        if day is not None:
            # Over a jump that was left out the change from outside is none of the market.
            moved = np.where(np.isfinite(day) & (measures.volatility.capped == 0.0), day, moved)
        self.change = np.round(np.expm1(moved), 4).astype(np.float64)  # as published, NaN where unknown
        self.counts = counts(self.change)

        # How much is known of each asset, and how far it is to be trusted.
        self.seen = measures.volatility.count[0]
        self.fresh = ~stale & (self.seen > 0.0)
        self.moving = int(np.count_nonzero(measures.volatility.fresh()))
        self.doubt = measures.doubts()

        # What each measure says.
        now = measures.now(self.doubt)
        self.forecast = measures.forecasts(SHOWN_MINUTES, now)
        self.pressure = measures.derivatives.readings()
        self.context = measures.liquidity.words()
        self.lean = measures.liquidity.leans()
        self.trend = measures.side.trends()
        self.structure = structures(self.trend[:-1], log_close, self.past.day_edges(t_ms), self.change)
        self.word = measures.swings.words()
        self.rank = measures.record.rank[0].tolist()
        self.label = [LABELS[int(label)] for label in measures.label.label.tolist()]
        self.holding = measures.chances(self.doubt)

        # How far prices may move, and what happened.
        self.sigma = now.sigma
        self.ladder = measures.ladders(now)
        self.partition = measures.partitions(now)
        self.reach = measures.reach(now)
        self.has_range = self.fresh & (self.seen >= RANGE_BARS) & (now.doubt < SILENT)
        self.joint = measures.joint_scenarios(now, self.has_range)
        self.market_week, self.facts = self.past.facts(t_ms, log_close, measures.closes)
        self.baselines = self.past.baselines(measures.volatility.variance[1])

        # What speaks for a call and against it.
        usual = measures.record.usual
        self.evidence = Facts(
            measures.moves.moves[[THREE_HOURS, DAY, WEEK], :-1],
            np.array((_ROOT_3 * usual[HOUR_MOVE], usual[DAY_MOVE], usual[WEEK_MOVE]))[:, :-1],
            breadth_lean(self.counts),
            self.past.volume,
            self.pressure,
            self.lean,
        )
        self.agreement = self.evidence.agreement(self.forecast.calls)
        self.coverage = self.evidence.coverage()

    def reading(self) -> BrainReading:
        """Return what the brain says."""
        measures = self.measures
        agreements = self.agreement[np.isfinite(self.agreement)]
        calls = self.forecast.calls[self.forecast.sound]
        learned = int(measures.outcomes.resolved[0, 0])

        return BrainReading(
            t_ms=self.t_ms,
            bars_seen=measures.counters.bars,
            regime=self._regime(),
            outlook=self._market_outlook(),
            direction=_direction([BIAS_OF_CALL[CALLS[call]] for call in calls.tolist()]),
            confidence=self._forecast_confidence(),
            agreement=_mean(agreements.tolist()),
            coverage=_mean(self.coverage.tolist()) or 0.0,
            assets=AssetReadings(measures.assets, self._asset),
            learning=LearningReading(resolved=learned, status="learning" if learned else "idle"),
            market=self._market(),
            limitations=self._market_limits(),
            joint=self.joint,
        )

    def _market(self) -> MarketFacts:
        """Return what happened in the market."""
        measures = self.measures
        followed = Followed(measures.moves, measures.record, measures.highlights, measures.situations)
        side = SIDES[int(measures.side.side[-1])] if self.moving else MarketSide.UNKNOWN
        word = self.word[-1] if self.moving else VolatilityWord.UNKNOWN
        return market_facts(measures.assets, self.t_ms + BAR_MS, followed, side, word, doubt=self.doubt[0].share)

    def _market_outlook(self) -> VolatilityOutlook | None:
        """Return the geometric mean of the outlooks of the assets that have one, None without any."""
        rows = self.sigma.T[self.fresh & (self.seen >= MIN_BARS)]
        if not len(rows):
            return None
        sigma = np.exp(np.add.reduce(np.log(rows)) / len(rows))
        return VolatilityOutlook(*sigma.tolist())

    def _asset(self, name: str, column: int) -> AssetReading:
        """Return what is said of one asset; words that need more bars than it has are unknown."""
        fresh = self.fresh[column]
        has_hour = fresh and self.seen[column] >= HOUR_BARS
        has_outlook = fresh and self.seen[column] >= MIN_BARS
        has_range = bool(self.has_range[column])

        forecast = self.forecast[column]
        call = forecast.call if forecast else Call.NONE
        pressure = self.pressure[column]
        trend = self.trend[column] if fresh else Trend.UNKNOWN
        volatility = self.word[column] if fresh else VolatilityWord.UNKNOWN
        regime = self.label[column] if fresh else RegimeLabel.UNKNOWN

        return AssetReading(
            asset=name,
            bias=BIAS_OF_CALL[call],
            forecast=forecast,
            regime=regime,
            regime_confidence=self._confidence(column, regime),
            trend=trend,
            structure=self.structure[column] if has_hour else MarketStructure.UNKNOWN,
            liquidity=self.context[column],
            derivatives=pressure.shown,
            vote=pressure.vote,
            pressure=pressure,
            volatility=volatility,
            side=SIDES[int(self.measures.side.side[column])] if fresh else MarketSide.UNKNOWN,
            outlook=VolatilityOutlook(*self.sigma[:, column].tolist()) if has_outlook else None,
            ranges=_ranges(self.reach[:, column].tolist()) if has_range else None,
            baselines=self.baselines[column] if has_range else None,
            ladder=self.ladder[column] if has_range else None,
            partition=self.partition[column] if has_range else None,
            change=_known(self.change[column]),
            facts=self.facts[column],
            agreement=_known(self.agreement[column]),
            coverage=float(self.coverage[column]),
            evidence=self.evidence.of(column, float(self.forecast.calls[column])),
            limitations=self._limits(column, forecast, pressure),
            book_lean=None if math.isnan(self.lean[column]) else int(self.lean[column]),
        )

    def _confidence(self, column: int, label: RegimeLabel) -> float | None:
        """Return the chance that a label still stands in four hours; None of one that is none of the four."""
        return float(self.holding[REGIMES.index(label), column]) if label in REGIMES else None

    def _regime(self) -> RegimeReading:
        """Return the market's regime, the last column of every part."""
        volatility = self.word[-1] if self.moving else VolatilityWord.UNKNOWN
        side = SIDES[int(self.measures.side.side[-1])] if self.moving else MarketSide.UNKNOWN
        rank = self.rank[-1]

        since_ms = int(self.measures.label.since[-1]) + BAR_MS
        before = LABELS[int(self.measures.label.previous[-1])]
        return RegimeReading(
            axes=Axes(volatility, side),
            label=self.label[-1],
            holding=dict(zip(REGIMES, self.holding[:, -1].tolist(), strict=True)),
            confidence=self._confidence(-1, self.label[-1]),
            since_ms=since_ms,
            dwell_minutes=dwell_minutes(self.t_ms, since_ms),
            previous=None if before is LABELS[UNKNOWN] else before,
            previous_side=self._side_before(side),
            trend=self.trend[-1] if self.moving else Trend.UNKNOWN,
            volatility=volatility,
            counts=self.counts,
            facts=self.market_week,
            risk_score=None if volatility is VolatilityWord.UNKNOWN or math.isnan(rank) else 100.0 * rank,
            drivers=self._drivers(volatility),
        )

    def _side_before(self, side: MarketSide) -> MarketSide | None:
        """Return the last side that goes by another mode than this one; None where none is kept."""
        changes = self.measures.spells.side[::-1, 1].tolist()
        sides = (SIDES[int(state)] for state in changes if not math.isnan(state))
        return next((before for before in sides if MODE_OF_SIDE[before] is not MODE_OF_SIDE[side]), None)

    def _drivers(self, volatility: VolatilityWord) -> tuple[str, ...]:
        """Return the risk drivers in words."""
        books = _shared(self.context)
        futures = _shared(self.pressure.words)

        drivers = []
        if volatility in ROUGH:
            drivers.append(labels.EXPECTED[volatility])
        if breadth_lean(self.counts) == -1:
            drivers.append(labels.BREADTH[-1])
        if books is LiquidityContext.THIN:
            drivers.append(labels.LIQUIDITY[LiquidityContext.THIN].most)
        if futures in _CROWDS:
            drivers.append(labels.DERIVATIVES[futures].most)
        return tuple(drivers)

    def _forecast_confidence(self) -> float | None:
        """Return the mean confidence of the calls, less the doubt in assets without a forecast; None without any."""
        mean = _mean(self.forecast.confidences())
        known = [
            (doubt.share, is_sound)
            for doubt, is_sound in zip(self.doubt, self.forecast.sound.tolist(), strict=True)
            if doubt.known
        ]
        lost = sum(share for share, is_sound in known if not is_sound)

        if mean is None or not lost:
            return mean
        return mean * (1.0 - lost / len(known))

    def _limits(self, column: int, forecast: Forecast | None, pressure: Pressure) -> tuple[str, ...]:
        """Return what is missing for one asset."""
        missing = []
        if not self.seen[column]:
            missing.append(readings.NO_BARS)
        elif not forecast and self.fresh[column] and self.seen[column] < DAY_BARS // 2:
            missing.append(readings.SHORT)
        if self.context[column] is LiquidityContext.UNKNOWN:
            missing.append(readings.NO_BOOK)
        if pressure.state is DerivativesState.UNAVAILABLE:
            missing += pressure.limitations

        return (*missing, *self.doubt[column].reasons)

    def _market_limits(self) -> tuple[str, ...]:
        """Return what is missing for the market."""
        missing = []
        if self.moving < len(self.measures.assets):
            missing.append(readings.SOME_MISSING if self.moving else readings.NOTHING_FRESH)
        missing += named(self.doubt, self.measures.assets)
        if self.measures.counters.bars < _REGIME_BARS:
            missing.append(readings.SHORT_REGIME)
        hole = self.measures.closes.last_hole(self.t_ms)
        if hole:
            begin_ms, end_ms = hole
            now_ms = self.t_ms + BAR_MS
            begin = day_and_clock(begin_ms, now_ms)
            end = day_and_clock(end_ms, now_ms)
            minutes = (end_ms - begin_ms) // MINUTE_MS
            missing.append(readings.HOLE.format(begin=begin, end=end, minutes=minutes))

        counters = self.measures.counters
        if counters.gaps > counters.bars // 20:
            missing.append(readings.GAPS)
        return tuple(missing)


def _ranges(reach: list[list[float]]) -> dict[str, MoveRange]:
    """Return the ranges by horizon from the log moves that half and nine tenths stay within."""
    return {
        name: MoveRange(*(100 * math.expm1(end) for end in (-most, -half, half, most)))
        for name, (half, most) in zip(HORIZONS, reach, strict=True)
    }


def _shared(words: list[_Word]) -> _Word | None:
    """Return the word of more than half of the assets, None without one."""
    return next((word for word in dict.fromkeys(words) if 2 * words.count(word) > len(words)), None)


def _direction(biases: list[Bias]) -> Bias:
    """Return the word of most assets, FLAT on a tie or without any."""
    up = biases.count(Bias.UP)
    down = biases.count(Bias.DOWN)
    flat = biases.count(Bias.FLAT)
    if up > max(down, flat):
        return Bias.UP
    if down > max(up, flat):
        return Bias.DOWN
    return Bias.FLAT


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
