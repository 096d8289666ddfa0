"""How far prices may move: the ranges stored before each hour, the moves that came, and the scores.

A forecast of an hour holds ranges over four horizons, all from the price at the start of the hour. Three simple rules
are stored with them: the volatility of the last hour, of the last day, and an exponentially weighted one, each as a
sigma that grows with the square root of time; their ranges are the quantiles of a normal distribution.

The scores are coverage, pinball loss and QLIKE, with intervals that respect that moves come together in blocks: all
assets and hours that start in the same 4 hours, or for 24 hours on the same UTC day. Every score is a ratio of two
totals, and its interval comes from how the blocks' own parts of both scatter. Counts are integers of scaled numbers,
and of the blocks only sums of squares and products are kept: they do not grow with the record, and every reader gets
the same whatever the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, sqrt
from typing import Final

from generator.arena.outcome import PricePoint, fix_price
from generator.arena.rates import rate
from generator.arena.scoring import E9, NORMAL, TWENTIETHS, Ratio, pinball_units, qlike
from generator.brain.facts import BASELINES
from generator.brain.forecast import UNITS
from generator.brain.reading import AssetReading
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import rounded
from generator.catalog.horizons import HORIZONS
from generator.values.hours import Move, PredictionMade
from generator.values.ranges import MoveRange, RangeForecast
from generator.values.scores import Estimate, HorizonRecord, RangeForecastScore, Rate

BAR_MINUTES: Final = 5


def ranges_of(reading: AssetReading) -> dict[str, RangeForecast] | None:
    """Return the ranges of one asset as published, None where the brain or a simple rule has none."""
    outlook = reading.outlook
    ranges = reading.ranges
    baselines = reading.baselines
    if outlook is None or ranges is None or baselines is None:
        return None

    sigmas = {"15m": outlook.m15, "1h": outlook.h1, "4h": outlook.h4, "24h": outlook.h24}
    forecasts = {}
    for name, horizon in HORIZONS.items():
        root_of_time = sqrt(horizon.minutes / BAR_MINUTES)
        forecasts[name] = RangeForecast(
            *ranges[name].rounded(4).ends,
            sigma=_percent(sigmas[name]),
            last_hour=_percent(baselines["last_hour"] * root_of_time),
            last_day=_percent(baselines["last_day"] * root_of_time),
            ewma=_percent(baselines["ewma"] * root_of_time),
        )

    if not all(_is_sound(forecast) for forecast in forecasts.values()):
        return None
    return forecasts


def _percent(fraction: float) -> float:
    return rounded(100 * fraction, 4)


def _is_sound(forecast: RangeForecast) -> bool:
    """Return whether every number is finite, every sigma positive, and the quantiles ascend."""
    sigmas = (forecast.sigma, forecast.last_hour, forecast.last_day, forecast.ewma)
    return forecast.is_sound and all(map(isfinite, sigmas)) and min(sigmas) > 0


def sigma_of(forecast: RangeForecast, baseline: str | None) -> float:
    """Return the sigma of the brain, or of a simple rule."""
    sigma: float = getattr(forecast, baseline or "sigma")
    return sigma


def range_by(forecast: RangeForecast, baseline: str | None) -> MoveRange:
    """Return the range of the brain, or of a simple rule."""
    if baseline is None:
        return forecast
    return MoveRange(*(round(z * sigma_of(forecast, baseline), 4) for z in NORMAL))


def move_percent(start_price: float, end_price: float) -> float:
    """Return the move between two published prices in percent, 4 decimals."""
    return rounded(100 * (end_price / start_price - 1), 4)


def end_ms(prediction: PredictionMade, horizon: str) -> int:
    """Return when a horizon of a forecast ends."""
    return prediction.start_ms + HORIZONS[horizon].length_ms


def due_ms(prediction: PredictionMade) -> int | None:
    """Return when the next horizon ends whose move is not known, None where there is none."""
    open_ends = [end_ms(prediction, horizon) for horizon in prediction.ranges or () if horizon not in prediction.moves]
    return min(open_ends, default=None)


def void_moves(prediction: PredictionMade, reason: str) -> dict[str, Move]:
    """Return the moves with every horizon void whose move is not known."""
    return {horizon: prediction.moves.get(horizon) or Move(void_reason=reason) for horizon in prediction.ranges or ()}


def measure(
    prediction: PredictionMade, now_ms: int, prices: Mapping[str, PricePoint], venues_needed: int
) -> Mapping[str, Move]:
    """Return the moves with those of the horizons that have ended by now."""
    if prediction.start_price is None:
        return prediction.moves
    moves = dict(prediction.moves)
    for horizon in prediction.ranges or ():
        late_ms = now_ms - end_ms(prediction, horizon)
        if horizon in moves or late_ms < 0:
            continue

        price, reason = fix_price(prices, prediction.asset, venues_needed, "end", late_ms)
        if price is None:
            moves[horizon] = Move(void_reason=reason)
        else:
            moves[horizon] = Move(price, move_percent(prediction.start_price, price))

    return moves


FORECASTERS: Final = (None, *BASELINES)
_WIDTH: Final = 4  # counts a forecaster: inside 50, inside 90, pinball loss, QLIKE

Counts = tuple[int, ...]  # resolved, void, then those of each forecaster
RangeCase = tuple[str, int, Counts]  # horizon, start, counts
CountsOfBlock = Callable[[str, int], Counts]  # horizon, block -> what was counted of it before
NOTHING: Final = (0,) * (2 + _WIDTH * len(FORECASTERS))


def counts_of(forecast: RangeForecast, outcome: Move) -> Counts:
    """Count one forecast over one horizon."""
    if outcome.move is None:
        return (0, 1, *NOTHING[2:])

    counts = [1, 0]
    for name in FORECASTERS:
        within = range_by(forecast, name)
        counts += [
            int(within.holds_50(outcome.move)),
            int(within.holds_90(outcome.move)),
            pinball_units(within.ends, outcome.move),
            round(qlike(sigma_of(forecast, name), outcome.move) * E9),
        ]
    return tuple(counts)


def block_ms(horizon: str) -> int:
    """Return how long a block is; at least as long as the horizon."""
    return 24 * HOUR_MS if horizon == "24h" else 4 * HOUR_MS


def block_of(start_ms: int, horizon: str) -> int:
    """Return the number of the block that a start belongs to."""
    return start_ms // block_ms(horizon)


def together(counts: Iterable[Counts]) -> Counts:
    """Add counts up."""
    return tuple(map(sum, zip(NOTHING, *counts, strict=True)))


def never_counted(_horizon: str, _block: int) -> Counts:
    """Stand for a record in which every block is new."""
    return NOTHING


@dataclass(frozen=True, slots=True)
class Spread:
    """How far blocks differ: how many have a move, and for each ratio the sums over blocks of y^2, xy and x^2."""

    blocks: int = 0
    products: tuple[int, ...] = (0,) * (3 * _WIDTH * len(FORECASTERS))

    def changed(self, before: Counts, after: Counts) -> Spread:
        """Replace one block's counts by others."""
        had_move = int(before[0] > 0)
        has_move = int(after[0] > 0)
        blocks = self.blocks - had_move + has_move

        parts = zip(self.products, _products(before), _products(after), strict=True)
        return Spread(blocks, tuple(known - old + new for known, old, new in parts))


@dataclass(frozen=True, slots=True)
class RangeSums:
    """Sums by horizon; immutable, so that a rolled-back tick leaves them as they were. They do not grow."""

    totals: Mapping[str, Counts] = field(default_factory=dict)
    spreads: Mapping[str, Spread] = field(default_factory=dict)

    def plus(self, cases: Iterable[RangeCase], before: CountsOfBlock = never_counted) -> RangeSums:
        """Add counts of horizons and starts.

        Args:
            before: what was added earlier of a block that is added to.
        """
        cases = list(cases)
        blocks: dict[tuple[str, int], list[Counts]] = {}
        for horizon, start_ms, counts in cases:
            blocks.setdefault((horizon, block_of(start_ms, horizon)), []).append(counts)

        spreads = dict(self.spreads)
        for (horizon, block), added in blocks.items():
            known = before(horizon, block)
            spreads[horizon] = spreads.get(horizon, Spread()).changed(known, together((known, *added)))

        return RangeSums(self.plus_totals(cases).totals, spreads)

    def plus_totals(self, cases: Iterable[RangeCase]) -> RangeSums:
        """Add counts without their blocks, for scores without intervals."""
        totals = dict(self.totals)
        for horizon, _, counts in cases:
            totals[horizon] = together((totals.get(horizon, NOTHING), counts))
        return RangeSums(totals)

    def scores(self, *, backtest: bool = False) -> tuple[HorizonRecord, ...]:
        """Return the scores of each horizon, none before the first move; the moves are live or of the `backtest`."""
        if not self.totals:
            return ()
        return tuple(
            _horizon(horizon, self.totals.get(horizon, NOTHING), self.spreads.get(horizon, Spread()), backtest=backtest)
            for horizon in HORIZONS
        )


def new_cases(before: PredictionMade | None, after: PredictionMade) -> list[RangeCase]:
    """Return the counts of the horizons of one forecast that ended in a change."""
    known = before.moves if before else {}
    return [
        (horizon, after.start_ms, counts_of(after.ranges[horizon], outcome))
        for horizon, outcome in after.moves.items()
        if after.ranges and horizon not in known
    ]


def _horizon(horizon: str, total: Counts, spread: Spread, *, backtest: bool) -> HorizonRecord:
    resolved, void = total[:2]
    if not resolved:
        return HorizonRecord(horizon, resolved, void, spread.blocks, ())

    intervals = _intervals(total, spread)
    scores = []
    for place, name in enumerate(FORECASTERS):
        begin = _WIDTH * place
        counts = total[2 + begin : 2 + begin + _WIDTH]
        of_name = intervals[begin : begin + _WIDTH]
        scores.append(_score(name, counts, resolved, spread.blocks, of_name, backtest=backtest))
    return HorizonRecord(horizon, resolved, void, spread.blocks, tuple(scores))


def _ratios(counts: Counts) -> list[tuple[int, int]]:
    """Return numerator and denominator of every score that has an interval.

    They are, for each forecaster, its two coverages, the brain's pinball loss to its, and by how much the brain's QLIKE
    is below its.
    """
    n = counts[0]
    _, _, brain_pinball, brain_qlike = counts[2 : 2 + _WIDTH]

    ratios = []
    for begin in range(2, len(counts), _WIDTH):
        inside_50, inside_90, pinball, qlike_loss = counts[begin : begin + _WIDTH]
        ratios += [(inside_50, n), (inside_90, n), (brain_pinball, pinball), (qlike_loss - brain_qlike, n)]
    return ratios


def _products(counts: Counts) -> Iterator[int]:
    """Return y^2, xy and x^2 of each ratio y / x."""
    for above, below in _ratios(counts):
        yield from (above * above, above * below, below * below)


def _intervals(total: Counts, spread: Spread) -> list[Estimate]:
    """Return the scores of `_ratios` in the units that are published, with their 95% intervals."""
    intervals = []
    for place, (above, below) in enumerate(_ratios(total)):
        value, unit = _published(place % _WIDTH, above, below)
        half = Ratio(spread.blocks, above, below, *spread.products[3 * place : 3 * place + 3]).half_width()
        if half is None:
            intervals.append(Estimate(value, None, None))
        else:
            intervals.append(Estimate(value, value - unit * half, value + unit * half))
    return intervals


def _published(kind: int, above: int, below: int) -> tuple[float, float]:
    """Return a ratio as it is published, and how much of that unit 1 of the ratio is."""
    if kind <= 1:
        return 100 * above / below, 100.0
    # The ratio is the brain's pinball loss over the rule's: what is published is how much of that loss it saves.
    if kind == 2:
        saved = 100 * (1 - above / below) if below else 0.0
        return saved, 100.0
    return above / below / E9, 1 / E9


def _score(
    name: str | None, counts: Sequence[int], n: int, blocks: int, intervals: Sequence[Estimate], *, backtest: bool
) -> RangeForecastScore:
    """Return one forecaster's scores over `n` moves in blocks; the brain (None) is not compared with itself."""
    inside_50, inside_90, pinball, qlike_loss = counts
    inside_50_interval, inside_90_interval, pinball_saved, qlike_saved = intervals

    mean_pinball = pinball / (20 * len(TWENTIETHS) * UNITS) / n
    scores = RangeForecastScore(
        name=name or "brain",
        inside_50=_inside(inside_50, n, blocks, inside_50_interval, backtest=backtest),
        inside_90=_inside(inside_90, n, blocks, inside_90_interval, backtest=backtest),
        pinball=round(mean_pinball, 4),
        qlike=rounded(qlike_loss / E9 / n, 4),
    )
    if name is None:
        return scores
    return replace(scores, pinball_saved=_rounded(pinball_saved, 1), qlike_saved=_rounded(qlike_saved, 4))


def _inside(hits: int, n: int, blocks: int, interval: Estimate, *, backtest: bool) -> Rate:
    """Return how many moves ended inside a range; where none or all did, blocks cannot differ and count as cases."""
    if interval.low is not None and hits in {0, n}:
        return rate(hits, n, backtest=backtest, effect=n / blocks)
    return rate(hits, n, backtest=backtest, resampled=interval)


def _rounded(interval: Estimate, decimals: int) -> Estimate:
    ends = (None if end is None else rounded(end, decimals) for end in (interval.low, interval.high))
    return Estimate(rounded(interval.value, decimals), *ends)
