"""Observe each asset from a tick's readings; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from generator.market.consensus import UNANSWERED, Agreement, Bounds, Middle, VenueQuote, agree, middle
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
from generator.market.observation import AssetObservation, FundingRate, OrderBook, disagreement_bps
from generator.values.market import Liquidations, OpenInterest

# What is possible, and what is named as far from the other venues'.
_BASIS: Final = Bounds(0.5, 2.0)  # USD
_DAY_CHANGE: Final = Bounds(-99.9, 1000.0, apart=2.0, share=0.5)  # percent
_DEPTH: Final = Bounds(1e-6, 1e13, times=30.0)  # USD
_SPREAD: Final = Bounds(1e-6, 1000.0, times=30.0)  # basis points
_IMBALANCE: Final = Bounds(-100.0, 100.0, apart=100.0)  # percent: books of venues lean apart
_FUNDING: Final = Bounds(-0.03, 0.03, apart=0.001, share=0.5)  # a fraction per 8 hours; venues cap it below 3%
_INTEREST: Final = Bounds(1e-6, 1e13, times=30.0)  # coins, and USD
_INTEREST_CHANGE: Final = Bounds(-90.0, 900.0, apart=10.0, share=0.25)  # percent: tenfold, either way, in a day


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
BASIS_KEPT: Final = f"venues disagree on {STABLECOIN} in USD: what they agreed on within the last hour is taken"
BASIS_DISPUTED: Final = f"venues disagree on {STABLECOIN} in USD: 1 {STABLECOIN} is taken as 1 USD"


def basis(readings: Iterable[Reading], now_ms: int) -> Agreement:
    """Agree on USD for one unit of the stablecoin, the mid of the venues that quote it; it is a dollar or near it."""
    quotes = [
        VenueQuote(reading.venue, reading.mid, reading.as_of_ms)
        for reading in readings
        if isinstance(reading, PriceReading) and reading.asset == STABLECOIN and _BASIS.holds(reading.mid)
    ]
    return agree(quotes, now_ms)


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
    interest, interest_limits = _interest(asset, snapshot, agreed.price, change)
    liquidations, liquidations_limits = _liquidations(snapshot.of(LiquidationReading, asset), snapshot, interest)

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
        disagreement_bps=disagreement_bps([quote.mid for quote in in_usd if quote.venue in agreed.venues]),
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
    changes = {day.venue: day.change_percent for day in days if day.venue in venues}
    if not changes:
        return None, ["24 h change: not reported by a venue that agrees"]

    agreed = middle(changes, _DAY_CHANGE)
    return agreed.value, _limits("24 h change", agreed)


def _limits(subject: str, agreed: Middle) -> list[str]:
    """Name who was left out, and why there is no value."""
    limits = [f"{venue} left out of the {subject}: {reason}" for venue, reason in agreed.left_out.items()]
    return limits if agreed.reason is None else [f"{subject}: {agreed.reason}", *limits]


def _book(
    books: Sequence[BookReading], venues: tuple[str, ...], snapshot: LiveSnapshot
) -> tuple[OrderBook | None, list[str]]:
    """Return the book of the venues that agree on the price: each measure is the median over them, depth in USD."""
    agreeing = [book for book in books if book.venue in venues]
    if not agreeing:
        return None, ["order book: no venue that agrees on the price sent one"]
    resting = [book for book in agreeing if book.bid_depth + book.ask_depth > 0]
    if not resting:
        return None, ["order book: nothing rests within 1%"]

    depth = middle({book.venue: _depth_usd(book, snapshot) for book in resting}, _DEPTH)
    spread = middle({book.venue: book.spread_bps for book in resting}, _SPREAD)
    imbalance = middle({book.venue: _imbalance(book) for book in resting}, _IMBALANCE)
    limits = [
        *_limits("order book's depth", depth),
        *_limits("order book's spread", spread),
        *_limits("order book's imbalance", imbalance),
    ]
    if depth.value is None or spread.value is None or imbalance.value is None:
        return None, limits

    short = [book.venue for book in resting if book.venue in depth.venues and not book.reaches]
    if short:
        limits.append(f"order book: {', '.join(short)} sends less than 1% of the book, depth is a lower bound")
    return OrderBook(spread.value, depth.value, imbalance.value, depth.venues), limits


def _depth_usd(book: BookReading, snapshot: LiveSnapshot) -> float:
    return (book.bid_depth + book.ask_depth) * snapshot.rate(book.currency)


def _imbalance(book: BookReading) -> float:
    """Return the surplus of bids in percent of both sides; not a number where a side is beyond what a float holds."""
    return 100 * (book.bid_depth - book.ask_depth) / (book.bid_depth + book.ask_depth)


def _funding(rates: Sequence[FundingReading], now_ms: int) -> tuple[FundingRate | None, list[str]]:
    if not rates:
        return None, ["funding: no venue answered"]

    agreed = middle({rate.venue: rate.rate_8h for rate in rates}, _FUNDING)
    limits = _limits("funding", agreed)
    if agreed.value is None:
        return None, limits

    counted = [rate for rate in rates if rate.venue in agreed.venues]
    assumed = [rate.venue for rate in counted if not rate.interval_known]
    if assumed:
        limits.append(f"funding: 8 h between payments is assumed for {', '.join(assumed)}")
    as_of_ms = min([now_ms, *(rate.as_of_ms for rate in counted)])
    return FundingRate(agreed.value, agreed.venues, as_of_ms, {rate.venue: rate.rate_8h for rate in rates}), limits


def _interest(
    asset: str, snapshot: LiveSnapshot, price: float | None, change_percent: float | None
) -> tuple[OpenInterest | None, list[str]]:
    """Return open interest in contracts and in USD; what a venue does not report follows from the other by its mark.

    Of a day ago it follows by the price of then, which the change over 24 hours gives.
    """
    reported = snapshot.of(InterestReading, asset)
    in_coins, in_usd = _by_mark(asset, reported, snapshot, price)
    if not in_coins and not in_usd:
        return None, ["open interest: no venue answered"]
    contracts = middle(in_coins, _INTEREST)
    usd = middle(in_usd, _INTEREST)
    if contracts.value is None and usd.value is None:
        return None, _limits("open interest", contracts if in_coins else usd)

    day_ago = snapshot.of(DayAgoReading, asset)
    price_then = price / (1 + change_percent / 100) if price and change_percent is not None else None
    contracts_change = _since(in_coins, {then.venue: then.coins for then in day_ago if then.coins is not None})
    usd_change = _since(in_usd, _usd_then(day_ago, snapshot.rate(STABLECOIN), price_then))

    venues = tuple(dict.fromkeys((*contracts.venues, *usd.venues)))
    as_of_ms = min([snapshot.now_ms, *(interest.as_of_ms for interest in reported if interest.venue in venues)])
    counted = OpenInterest.of(
        contracts.value, contracts_change.value, usd.value, usd_change.value, venues, as_of_ms=as_of_ms
    )
    return counted, _interest_limits(contracts, usd, contracts_change, usd_change)


def _by_mark(
    asset: str, reported: Sequence[InterestReading], snapshot: LiveSnapshot, price: float | None
) -> tuple[dict[str, float], dict[str, float]]:
    """Return venue -> open interest in coins and in USD; a venue's own mark, else the agreed price, gives the other."""
    rate = snapshot.rate(STABLECOIN)  # contracts settle in the stablecoin
    marks = {funding.venue: funding.mark for funding in snapshot.of(FundingReading, asset) if funding.mark}
    spot_mark = price / rate if price else None

    in_coins: dict[str, float] = {}
    in_usd: dict[str, float] = {}
    for interest in reported:
        mark = marks.get(interest.venue, spot_mark)
        if interest.coins is not None:
            in_coins[interest.venue] = interest.coins
        elif interest.usd is not None and mark is not None:
            in_coins[interest.venue] = interest.usd / mark

        if interest.usd is not None:
            in_usd[interest.venue] = interest.usd * rate
        elif interest.coins is not None and mark is not None:
            in_usd[interest.venue] = interest.coins * mark * rate
    return in_coins, in_usd


def _usd_then(day_ago: Sequence[DayAgoReading], rate: float, price_then: float | None) -> dict[str, float]:
    """Return venue -> open interest of a day ago in USD, by the price of then where the venue says coins alone."""
    in_usd: dict[str, float] = {}
    for then in day_ago:
        if then.usd is not None:
            in_usd[then.venue] = then.usd * rate
        elif then.coins is not None and price_then is not None:
            in_usd[then.venue] = then.coins * price_then
    return in_usd


def _interest_limits(contracts: Middle, usd: Middle, *changes: Middle) -> list[str]:
    left_out = usd.left_out | contracts.left_out
    limits = [f"{venue} left out of the open interest: {reason}" for venue, reason in left_out.items()]
    limits += [f"open interest: {total.reason}" for total in (contracts, usd) if total.reason is not None]

    for change in changes:
        limits += [
            f"{venue} left out of the open interest's change: {reason}"
            for venue, reason in change.left_out.items()
            if venue not in left_out
        ]
    reasons = [change.reason for change in changes if change.reason is not None]
    if UNANSWERED in reasons:
        return list(dict.fromkeys([*limits, "open interest: no venue reported it for a day ago"]))
    return list(dict.fromkeys([*limits, *(f"open interest's change: {reason}" for reason in reasons)]))


def _since(now: dict[str, float], then: dict[str, float]) -> Middle:
    """Return the change in percent over the venues that also report a day ago."""
    return middle({venue: 100 * (now[venue] / then[venue] - 1) for venue in now if venue in then}, _INTEREST_CHANGE)


def _liquidations(
    reported: Sequence[LiquidationReading], snapshot: LiveSnapshot, interest: OpenInterest | None
) -> tuple[Liquidations | None, list[str]]:
    """Return what was liquidated, which one venue says alone: at most what the venues hold open."""
    if not reported:
        if snapshot.liquidations_asked:
            return None, ["liquidations: the venue that publishes them did not answer"]
        return None, ["liquidations: no venue publishes them"]

    rate = snapshot.rate(STABLECOIN)
    long_usd = sum(venue.long_usd for venue in reported) * rate
    short_usd = sum(venue.short_usd for venue in reported) * rate
    venues = tuple(venue.venue for venue in reported)
    names = ", ".join(venues)
    held_usd = interest.usd if interest is not None else None
    if held_usd is not None and max(long_usd, short_usd) > held_usd:
        return None, [f"liquidations: {names} reports more than is held open"]
    return Liquidations.of(long_usd, short_usd, venues), [f"liquidations: {names} alone publishes them"]
