"""One venue of six lies, in one quantity and one way; what is published is compared with honest minutes."""

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np

from generator.catalog.assets import ASSETS
from generator.catalog.venues import VENUES
from generator.market.bars import BarFrame
from generator.market.live.source import LiveSource
from generator.market.observation import AssetObservation, Observation
from tests.venues.exchange import BAR, FakeExchange, Lie, Moment, Path, steady

START: Final = 1_763_640_000_000  # on a bar boundary
TICKS: Final = tuple(START + bars * BAR for bars in (0, 1, 2, 3, 4))
SINCE: Final = START - 3 * BAR
DAYS: Final = 1  # of history
HALF_AN_HOUR: Final = 1_800_000
PRICE_TOLERANCE: Final = 0.01
ROUNDING: Final = 1e-6

WAYS: Final = {
    "x1.5": Lie(factor=1.5),
    "x100": Lie(factor=100.0),
    "x1e300": Lie(factor=1e300),
    "stale": Lie(age_ms=HALF_AN_HOUR),
    "other unit": Lie(factor=0.001),
    "frozen": Lie(frozen_ms=START - 2 * BAR),
}
# What counts as another unit where it is not thousands: percent of a year, dollars for coins, a fraction for percent.
_UNITS: Final = {
    "funding": 109_500.0,
    "interest coins": 60_000.0,
    "interest coins a day ago": 60_000.0,
    "volume": 60_000.0,
    "24 h change": 0.01,
    "depth": 60_000.0,
}
_SPOT: Final = ("kraken", "coinbase", "okx", "binance", "bybit")
_FUTURES: Final = ("okx", "binance", "bybit", "gate")
QUANTITIES: Final[dict[str, tuple[str, ...]]] = {
    "price": _SPOT,
    "stablecoin": ("kraken", "coinbase"),
    "24 h change": ("coinbase", "okx", "binance", "bybit"),
    "depth": _SPOT,
    "spread": _SPOT,
    "bars": _SPOT,
    "highs": _SPOT,
    "lows": _SPOT,
    "volume": _SPOT,
    "history": _SPOT,
    "funding": _FUTURES,
    "interval": _FUTURES,
    "mark": _FUTURES,
    "interest coins": _FUTURES,
    "interest usd": _FUTURES,
    "interest coins a day ago": ("binance", "bybit", "gate"),
    "interest usd a day ago": ("binance", "bybit", "gate"),
    "contract size": _FUTURES,
    "liquidations": ("gate",),
}
# What a lie about a quantity can reach: there only the other venues' values are honest.
_REACHES: Final[dict[str, tuple[str, ...]]] = {
    "price": ("24 h change", "depth", "spread", "imbalance"),
    "stablecoin": ("depth", "open interest in USD"),
    "24 h change": ("24 h change",),
    "depth": ("depth", "imbalance"),
    "spread": ("depth", "spread", "imbalance"),
    "funding": ("funding",),
    "interval": ("funding",),
    "mark": ("contracts", "open interest in USD"),
    "interest coins": ("contracts", "change of contracts"),
    "interest usd": ("open interest in USD", "change of open interest in USD"),
    "interest coins a day ago": ("change of contracts",),
    "interest usd a day ago": ("change of open interest in USD",),
    "contract size": ("contracts", "change of contracts", "open interest in USD", "change of open interest in USD"),
}
# What one venue alone says can be contradicted by none: a bound is all there is. docs/explain/venues.md names them.
ALONE: Final = ("volume", "liquidations")
# A size, an interval and an extreme of a bar have no time of their own.
_TIMELESS: Final = ("highs", "lows", "interval", "contract size")


@dataclass(frozen=True)
class Case:
    """One lie, by its names."""

    venue: str
    quantity: str
    way: str

    @property
    def lie(self) -> Lie:
        """What the venue says wrongly: from the second tick on, but for a history, which is wrong from the start."""
        lie = replace(WAYS[self.way], venue=self.venue, quantity=self.quantity, from_ms=TICKS[1])
        if self.way == "other unit":
            lie = replace(lie, factor=_UNITS.get(self.quantity, lie.factor))
        if self.quantity in {"history", "contract size"}:
            lie = replace(lie, from_ms=0)
        return replace(lie, quantity="bars") if self.quantity == "history" else lie


@dataclass(frozen=True)
class Verdict:
    """What became of one lie."""

    case: Case
    price_moved: float  # largest, as a fraction
    bar_moved: float  # largest of open, high, low and close
    unknown: int  # values that are null in some tick, with a reason
    faults: tuple[str, ...]  # what breaks the promise


def cases() -> Iterator[Case]:
    """Yield every case of the table."""
    for quantity, venues in QUANTITIES.items():
        for venue in venues:
            for way in WAYS:
                if quantity not in _TIMELESS or way not in {"stale", "frozen"}:
                    yield Case(venue, quantity, way)


def judge(case: Case) -> Verdict:
    """Play one lie and compare."""
    frames, seen = played((case.lie,), with_history=case.quantity == "history")
    honest_frames, honest = _honest(with_history=case.quantity == "history")
    faults: list[str] = []

    price_moved = 0.0
    unknown = 0
    for number, (shown, true) in enumerate(zip(seen, honest, strict=True)):
        for asset in ASSETS:
            price_moved = max(price_moved, _moved(shown.assets[asset].price, true.assets[asset].price))
            ranges = _ranges(asset, number, case)
            unknown += _judge_asset(shown.assets[asset], ranges, faults, alone=case.quantity in ALONE)

    bar_moved = max(_bars_moved(shown, true) for shown, true in zip(frames, honest_frames, strict=True))
    if not price_moved <= PRICE_TOLERANCE:
        faults.append(f"a price moves by {price_moved:.3%}")
    if not bar_moved <= PRICE_TOLERANCE:
        faults.append(f"a bar moves by {bar_moved:.3%}")
    return Verdict(case, price_moved, bar_moved, unknown, tuple(dict.fromkeys(faults)))


def _moved(shown: float | None, true: float | None) -> float:
    """Return how far a price is from the honest one, as a fraction; infinitely where it is missing."""
    if shown is None or true is None:
        return math.inf
    return abs(shown / true - 1)


def _bars_moved(shown: BarFrame, true: BarFrame) -> float:
    if list(shown.t) != list(true.t):
        return math.inf
    moves = [np.abs(shown.fields[name] / true.fields[name] - 1) for name in ("open", "high", "low", "close")]
    return max((float(np.nan_to_num(move, nan=math.inf).max()) for move in moves if move.size), default=0.0)


def _judge_asset(
    shown: AssetObservation, ranges: dict[str, tuple[float, float]], faults: list[str], *, alone: bool
) -> int:
    """Add what lies outside the honest venues' values to the faults; return how many values are null."""
    unknown = 0
    for name, value in _values(shown).items():
        if name not in ranges:
            continue
        low, high = ranges[name]
        # Only one venue gives liquidations: what moves them here is the stablecoin's price, of which two venues agree.
        slack = (PRICE_TOLERANCE if name == "liquidations" else ROUNDING) * max(abs(low), abs(high))
        if value is None:
            unknown += 1
            if not shown.limitations:
                faults.append(f"{name} is null without a reason")
        elif not low - slack <= value <= high + slack and not (alone and name == "liquidations"):
            faults.append(f"{name} {value:.4g} is outside {low:.4g} to {high:.4g}")
    return unknown


def _values(seen: AssetObservation) -> dict[str, float | None]:
    parts = {
        "depth": (seen.book, "depth_1pct_usd"),
        "spread": (seen.book, "spread_bps"),
        "imbalance": (seen.book, "imbalance_percent"),
        "funding": (seen.funding, "rate_8h"),
        "contracts": (seen.open_interest, "contracts"),
        "open interest in USD": (seen.open_interest, "usd"),
        "change of contracts": (seen.open_interest, "contracts_change_24h_percent"),
        "change of open interest in USD": (seen.open_interest, "change_24h_percent"),
        "liquidations": (seen.liquidations, "long_usd_24h"),
    }
    values = {name: None if part is None else getattr(part, field) for name, (part, field) in parts.items()}
    return {"24 h change": seen.change_24h_percent, **values}


def _ranges(asset: str, tick: int, case: Case) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest value of each quantity that an honest venue gives when it is asked alone."""
    reached = _REACHES.get(case.quantity, ())
    ranges: dict[str, tuple[float, float]] = {}
    for venue in VENUES:
        for name, value in _values(_alone(venue)[tick].assets[asset]).items():
            if value is None or (venue == case.venue and name in reached and TICKS[tick] >= case.lie.from_ms):
                continue
            low, high = ranges.get(name, (value, value))
            ranges[name] = (min(low, value), max(high, value))
    return ranges


@cache
def _alone(venue: str) -> Sequence[Observation]:
    # Futures alone have no price, by which some of their values are converted.
    venues = (venue,) if venue != "gate" else ("gate", "kraken")
    return played((), venues=venues)[1]


@cache
def _honest(*, with_history: bool) -> tuple[Sequence[BarFrame], Sequence[Observation]]:
    return played((), with_history=with_history)


def played(
    lies: tuple[Lie, ...],
    venues: tuple[str, ...] | None = None,
    *,
    with_history: bool = False,
    price: Path = steady,
) -> tuple[Sequence[BarFrame], Sequence[Observation]]:
    """Return the bars of history and of each tick, and the observations."""
    moment = Moment(TICKS[0], price)

    def factory(ccxt_id: str, _config: dict[str, Any]) -> FakeExchange:
        return FakeExchange(ccxt_id, moment, list(lies))

    async def play() -> tuple[Sequence[BarFrame], Sequence[Observation]]:
        source = LiveSource(venues, exchange_factory=factory, retry_pause_s=0.0)
        frames: list[BarFrame] = []
        since_ms = SINCE
        if with_history:
            frames.append(await source.backfill(TICKS[0], DAYS, lambda *_: None))
            since_ms = int(frames[0].t[-1])

        seen = []
        for now_ms in TICKS:
            moment.now_ms = now_ms
            seen.append(await source.observe(now_ms, since_ms))
            bars = seen[-1].new_bars
            frames.append(bars)
            since_ms = int(bars.t[-1]) if len(bars) else since_ms
        await source.aclose()
        return frames, seen

    return asyncio.run(play())
