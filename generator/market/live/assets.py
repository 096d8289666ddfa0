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
        return [reading for reading in self.readings if isinstance(reading, kind) and reading.asset == asset]

    def rate(self, currency: str) -> float:
        """Return USD for one unit of a quote currency."""
        return self.usd_per_coin if currency == STABLECOIN else 1.0


BASIS_UNKNOWN: Final = f"no venue quoted {STABLECOIN} in USD: 1 {STABLECOIN} is taken as 1 USD"


def basis(readings: Iterable[Reading], now_ms: int) -> float | None:
    """Return USD for one unit of the stablecoin, the agreed mid of the venues that quote it; None if unknown."""
    quotes = [
        VenueQuote(reading.venue, reading.mid, reading.as_of_ms)
        for reading in readings
        if isinstance(reading, PriceReading) and reading.asset == STABLECOIN
    ]
    return agree(quotes, now_ms).price


def observe_asset(asset: str, snapshot: LiveSnapshot) -> AssetObservation:
    """Read one asset from the snapshot; every None has its reason among the limitations."""
    quotes = snapshot.of(PriceReading, asset)
    in_usd = [VenueQuote(quote.venue, quote.mid * snapshot.rate(quote.currency), quote.as_of_ms) for quote in quotes]
    agreed = agree(in_usd, snapshot.now_ms)

    as_of_ms = None
    if agreed.price is not None:
        # Answers arrive seconds after the tick began; an age is never negative.
        stamps = [quote.as_of_ms for quote in quotes if quote.venue in agreed.venues]
        as_of_ms = min([*stamps, snapshot.now_ms])

    change, change_limits = _change(snapshot.of(DayReading, asset), agreed.venues)
    book, book_limits = _book(snapshot.of(BookReading, asset), agreed.venues, snapshot)
    funding, funding_limits = _funding(snapshot.of(FundingReading, asset), snapshot.now_ms)
    interest, interest_limits = _interest(asset, snapshot, agreed.price)
    liquidations, liquidations_limits = _liquidations(snapshot.of(LiquidationReading, asset), snapshot)

    return AssetObservation(
        asset,
        price=agreed.price,
        price_as_of_ms=as_of_ms,
        venues=agreed.venues,
        change_24h_percent=change,
        book=book,
        funding=funding,
        open_interest=interest,
        liquidations=liquidations,
        limitations=(
            *_price_limits(agreed),
            *change_limits,
            *book_limits,
            *funding_limits,
            *interest_limits,
            *liquidations_limits,
        ),
    )


def _price_limits(agreed: Agreement) -> list[str]:
    limits = [f"{venue} left out of the price: {reason}" for venue, reason in agreed.left_out.items()]
    if agreed.price is None:
        return [f"price: {agreed.reason}", *limits]
    if len(agreed.venues) == 1:
        return ["price: one venue only", *limits]
    return limits


def _change(days: Sequence[DayReading], venues: tuple[str, ...]) -> tuple[float | None, list[str]]:
    """Return the median change over 24 hours in percent, of the venues that agree on the price."""
    changes = [day.change_percent for day in days if day.venue in venues]
    if not changes:
        return None, ["24 h change: not reported by a venue that agrees"]
    return median(changes), []


def _book(
    books: Sequence[BookReading], venues: tuple[str, ...], snapshot: LiveSnapshot
) -> tuple[OrderBook | None, list[str]]:
    """Return the book of the venues that agree on the price: depths in USD summed, the median of the spreads."""
    agreeing = [book for book in books if book.venue in venues]
    if not agreeing:
        return None, ["order book: no venue that agrees on the price sent one"]

    bids = sum(book.bid_depth * snapshot.rate(book.currency) for book in agreeing)
    asks = sum(book.ask_depth * snapshot.rate(book.currency) for book in agreeing)
    if bids + asks <= 0:
        return None, ["order book: nothing rests within 1%"]

    limits = []
    short = [book.venue for book in agreeing if not book.reaches]
    if short:
        limits.append(f"order book: {', '.join(short)} sends less than 1% of the book, depth is a lower bound")

    merged = OrderBook(
        spread_bps=median(book.spread_bps for book in agreeing),
        depth_1pct_usd=bids + asks,
        imbalance_percent=100 * (bids - asks) / (bids + asks),
        venues=tuple(book.venue for book in agreeing),
    )
    return merged, limits


def _funding(rates: Sequence[FundingReading], now_ms: int) -> tuple[FundingRate | None, list[str]]:
    if not rates:
        return None, ["funding: no venue answered"]

    limits = []
    assumed = [rate.venue for rate in rates if not rate.interval_known]
    if assumed:
        limits.append(f"funding: 8 h between payments is assumed for {', '.join(assumed)}")

    mean = FundingRate(
        rate_8h=fmean(rate.rate_8h for rate in rates),
        venues=tuple(rate.venue for rate in rates),
        as_of_ms=min(now_ms, *(rate.as_of_ms for rate in rates)),
    )
    return mean, limits


def _interest(asset: str, snapshot: LiveSnapshot, price: float | None) -> tuple[OpenInterestSum | None, list[str]]:
    """Return open interest in contracts and in USD; what a venue does not report follows from the other by its mark."""
    rate = snapshot.rate(STABLECOIN)  # contracts settle in the stablecoin
    marks = {funding.venue: funding.mark for funding in snapshot.of(FundingReading, asset) if funding.mark}
    spot_mark = price / rate if price else None

    reported = snapshot.of(InterestReading, asset)
    contracts: dict[str, float] = {}
    usd: dict[str, float] = {}
    for interest in reported:
        mark = marks.get(interest.venue, spot_mark)
        if interest.coins is not None:
            contracts[interest.venue] = interest.coins
        elif interest.usd is not None and mark is not None:
            contracts[interest.venue] = interest.usd / mark

        if interest.usd is not None:
            usd[interest.venue] = interest.usd * rate
        elif interest.coins is not None and mark is not None:
            usd[interest.venue] = interest.coins * mark * rate

    if not contracts and not usd:
        return None, ["open interest: no venue answered"]

    day_ago = snapshot.of(DayAgoReading, asset)
    contracts_change = _since(contracts, {then.venue: then.coins for then in day_ago if then.coins is not None})
    usd_change = _since(usd, {then.venue: then.usd * rate for then in day_ago if then.usd is not None})
    limits = []
    if contracts_change is None or usd_change is None:
        limits.append("open interest: no venue reported it for a day ago")

    total = OpenInterestSum(
        contracts=sum(contracts.values()) if contracts else None,
        contracts_change_24h_percent=contracts_change,
        usd=sum(usd.values()) if usd else None,
        change_24h_percent=usd_change,
        venues=tuple(dict.fromkeys((*contracts, *usd))),
        as_of_ms=min(snapshot.now_ms, *(interest.as_of_ms for interest in reported)),
    )
    return total, limits


def _since(now: dict[str, float], then: dict[str, float]) -> float | None:
    """Return the change in percent over the venues that also report a day ago; None without one."""
    both = [venue for venue in now if venue in then]
    if not both:
        return None
    return 100 * (sum(now[venue] for venue in both) / sum(then[venue] for venue in both) - 1)


def _liquidations(
    reported: Sequence[LiquidationReading], snapshot: LiveSnapshot
) -> tuple[LiquidationSums | None, list[str]]:
    if not reported:
        if snapshot.liquidations_asked:
            return None, ["liquidations: the venue that publishes them did not answer"]
        return None, ["liquidations: no venue publishes them"]

    rate = snapshot.rate(STABLECOIN)
    sums = LiquidationSums(
        long_usd_24h=sum(venue.long_usd for venue in reported) * rate,
        short_usd_24h=sum(venue.short_usd for venue in reported) * rate,
        venues=tuple(venue.venue for venue in reported),
    )
    return sums, []
