"""Observe each asset from a tick's readings; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

from generator.market.consensus import Agreement, VenueQuote, agree
from generator.market.live.readings import (
    BookReading,
    DayAgoReading,
    DayReading,
    FundingReading,
    InterestReading,
    LiquidationReading,
    PriceReading,
    R,
    Reading,
)
from generator.market.live.venues import STABLECOIN
from generator.market.observation import AssetObservation, FundingRate, LiquidationSums, OpenInterestSum, OrderBook


@dataclass(frozen=True, slots=True)
class LiveSnapshot:
    """Readings that count at one tick, and the dollar value of the stablecoin."""

    readings: tuple[Reading, ...]
    now_ms: int
    usd_per_coin: float
    liquidations_asked: bool  # some venue of ours publishes liquidations

    def of(self, kind: type[R], asset: str) -> list[R]:
        """Return the readings of one type and asset."""
        return [one for one in self.readings if isinstance(one, kind) and one.asset == asset]

    def rate(self, currency: str) -> float:
        """Return USD for one unit of a quote currency."""
        return self.usd_per_coin if currency == STABLECOIN else 1.0


BASIS_UNKNOWN: Final = f"no venue quoted {STABLECOIN} in USD: 1 {STABLECOIN} is taken as 1 USD"


def basis(readings: Iterable[Reading], now_ms: int) -> float | None:
    """Return USD for one unit of the stablecoin, the agreed mid of the venues that quote it; None if unknown."""
    quoted = [one for one in readings if isinstance(one, PriceReading) and one.asset == STABLECOIN]
    return agree([VenueQuote(one.venue, one.mid, one.as_of_ms) for one in quoted], now_ms).price


def observe_asset(asset: str, snapshot: LiveSnapshot) -> AssetObservation:
    """Read one asset from the snapshot; every None has its reason among the limitations."""
    quotes = snapshot.of(PriceReading, asset)
    in_usd = [VenueQuote(one.venue, one.mid * snapshot.rate(one.currency), one.as_of_ms) for one in quotes]
    agreed = agree(in_usd, snapshot.now_ms)
    why = _price_limits(agreed)
    stamps = [one.as_of_ms for one in quotes if one.venue in agreed.venues]
    book, book_why = _book(snapshot.of(BookReading, asset), agreed.venues, snapshot)
    funding, funding_why = _funding(snapshot.of(FundingReading, asset), snapshot.now_ms)
    interest, interest_why = _interest(asset, snapshot, agreed.price)
    liquidations, liquidations_why = _liquidations(snapshot.of(LiquidationReading, asset), snapshot)
    change = _change(snapshot.of(DayReading, asset), agreed.venues)
    change_why = ["24 h change: not reported by a venue that agrees"] if change is None else []
    return AssetObservation(
        asset,
        price=agreed.price,
        # Answers arrive seconds after the tick began; an age is never negative.
        price_as_of_ms=min([*stamps, snapshot.now_ms]) if agreed.price is not None else None,
        venues=agreed.venues,
        change_24h_percent=change,
        book=book,
        funding=funding,
        open_interest=interest,
        liquidations=liquidations,
        limitations=(*why, *change_why, *book_why, *funding_why, *interest_why, *liquidations_why),
    )


def _price_limits(agreed: Agreement) -> list[str]:
    limits = [f"{venue} left out of the price: {reason}" for venue, reason in agreed.left_out.items()]
    if agreed.price is None:
        return [f"price: {agreed.reason}", *limits]
    if len(agreed.venues) == 1:
        return ["price: one venue only", *limits]
    return limits


def _change(days: Sequence[DayReading], venues: tuple[str, ...]) -> float | None:
    known = [one.change_percent for one in days if one.venue in venues]
    return median(known) if known else None


def _book(
    books: Sequence[BookReading], venues: tuple[str, ...], snapshot: LiveSnapshot
) -> tuple[OrderBook | None, list[str]]:
    agreeing = [one for one in books if one.venue in venues]
    if not agreeing:
        return None, ["order book: no venue that agrees on the price sent one"]
    bids = sum(one.bid_depth * snapshot.rate(one.currency) for one in agreeing)
    asks = sum(one.ask_depth * snapshot.rate(one.currency) for one in agreeing)
    if bids + asks <= 0:
        return None, ["order book: nothing rests within 1%"]
    short = [one.venue for one in agreeing if not one.reaches]
    limits = [f"order book: {', '.join(short)} sends less than 1% of the book, depth is a lower bound"] if short else []
    imbalance = 100 * (bids - asks) / (bids + asks)
    spread = median(one.spread_bps for one in agreeing)
    return OrderBook(spread, bids + asks, imbalance, tuple(one.venue for one in agreeing)), limits


def _funding(rates: Sequence[FundingReading], now_ms: int) -> tuple[FundingRate | None, list[str]]:
    if not rates:
        return None, ["funding: no venue answered"]
    assumed = [one.venue for one in rates if not one.interval_known]
    limits = [f"funding: 8 h between payments is assumed for {', '.join(assumed)}"] if assumed else []
    as_of_ms = min(now_ms, *(one.as_of_ms for one in rates))
    return FundingRate(fmean(one.rate_8h for one in rates), tuple(one.venue for one in rates), as_of_ms), limits


def _interest(asset: str, snapshot: LiveSnapshot, price: float | None) -> tuple[OpenInterestSum | None, list[str]]:
    marks = {one.venue: one.mark for one in snapshot.of(FundingReading, asset) if one.mark}
    rate = snapshot.rate(STABLECOIN)  # contracts settle in the stablecoin
    reported = snapshot.of(InterestReading, asset)
    contracts: dict[str, float] = {}
    usd: dict[str, float] = {}
    for one in reported:
        mark = marks.get(one.venue, price / rate if price else None)
        if one.coins is not None:
            contracts[one.venue] = one.coins
        elif one.usd is not None and mark is not None:
            contracts[one.venue] = one.usd / mark
        if one.usd is not None:
            usd[one.venue] = one.usd * rate
        elif one.coins is not None and mark is not None:
            usd[one.venue] = one.coins * mark * rate
    if not contracts and not usd:
        return None, ["open interest: no venue answered"]
    day = snapshot.of(DayAgoReading, asset)
    changes = (
        _since(contracts, {one.venue: one.coins for one in day if one.coins is not None}),
        _since(usd, {one.venue: one.usd * rate for one in day if one.usd is not None}),
    )
    limits = ["open interest: no venue reported it for a day ago"] if None in changes else []
    as_of_ms = min(snapshot.now_ms, *(one.as_of_ms for one in reported))
    coins, dollars = (sum(held.values()) if held else None for held in (contracts, usd))
    venues = tuple(dict.fromkeys((*contracts, *usd)))
    return OpenInterestSum(coins, changes[0], dollars, changes[1], venues, as_of_ms), limits


def _since(now: dict[str, float], then: dict[str, float]) -> float | None:
    """Return the change in percent over the venues that also report a day ago; None without one."""
    both = [venue for venue in now if venue in then]
    return 100 * (sum(now[venue] for venue in both) / sum(then[venue] for venue in both) - 1) if both else None


def _liquidations(
    reported: Sequence[LiquidationReading], snapshot: LiveSnapshot
) -> tuple[LiquidationSums | None, list[str]]:
    if not reported:
        silent = "the venue that publishes them did not answer"
        return None, [f"liquidations: {silent if snapshot.liquidations_asked else 'no venue publishes them'}"]
    rate = snapshot.rate(STABLECOIN)
    longs, shorts = sum(one.long_usd for one in reported), sum(one.short_usd for one in reported)
    return LiquidationSums(longs * rate, shorts * rate, tuple(one.venue for one in reported)), []
