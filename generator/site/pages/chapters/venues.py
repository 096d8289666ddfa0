"""Chapters that are counted from venues: funding with open interest, and order books."""

from statistics import fmean, median
from typing import Final

from markupsafe import Markup

from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.figures import percent, usd
from generator.site.charts.plot import Caption, Chart, Row, row_chart
from generator.site.pages.chapters.chapter import (
    Ask,
    Facts,
    counted,
    in_words,
    remark,
    rounded_up,
    share_guess,
    share_of,
    size_guess,
    wildest,
)
from generator.site.pages.chapters.market import FEWEST_HOURS, NAME, WILDEST
from generator.site.words.month import HourlyMonth

BOOKS: Final = "Source: order books of the venues, newest full hour."
STAKE_USD: Final = 1_000
EIGHT_HOURS: Final = 8  # a rate of funding is for so many
_A_DAY: Final = 3  # of them
_DAYS_A_YEAR: Final = 365


def funding(facts: Facts) -> tuple[Ask, ...]:
    """Ask who paid whom for futures, and how much."""
    rates = facts.month.known("funding")
    if len(rates) < FEWEST_HOURS:
        return _usual_rate(facts.funding)

    paid = STAKE_USD * sum(rates) / EIGHT_HOURS
    known = zip(facts.month.ends_ms, facts.month.values["funding", DEFAULT_ASSET], strict=True)
    longs = share_of((end_ms, rate > 0) for end_ms, rate in known if rate is not None)
    a_year = 100 * rates[-1] * _A_DAY * _DAYS_A_YEAR
    return in_words(
        (
            Ask(
                f"Somebody was long {STAKE_USD:,} USD of {NAME} futures through the last {len(rates)} hours. How much "
                "did they pay for funding (below zero: receive)?",
                f"{usd(abs(paid))}, {'paid to' if paid >= 0 else 'received from'} those who were short and not the "
                f"venue, at a mean rate of {percent(100 * fmean(rates), 4)} per 8 hours.",
                size_guess(paid, "{} USD", times=4, least=-1),
                facts.funding,
            ),
            Ask(
                "In how many of these hours did longs pay shorts?",
                f"{counted(longs)}. It says which side is in demand, not where the price goes.",
                share_guess(longs),
            ),
            Ask(
                f"The newest rate is {percent(100 * rates[-1], 4)} per 8 hours. How much is that in a year?",
                f"{percent(a_year, 1)}, if it stayed: a small number, paid three times a day.",
                size_guess(a_year, "{}%", times=4, least=-1),
            ),
            _opened_while_falling(facts.month),
        )
    )


def _usual_rate(drawn: Markup | None) -> tuple[Ask, ...]:
    """Ask for the usual rate over a year, where this month's are not known."""
    a_year = 0.01 * _A_DAY * _DAYS_A_YEAR
    return (
        Ask(
            "0.01% per 8 hours: how much is that in a year?",
            f"{percent(a_year, 1)}, if it stays: a small number, paid three times a day.",
            size_guess(a_year, "{}%", times=4),
            drawn,
        ),
    )


def _opened_while_falling(month: HourlyMonth) -> Ask | None:
    """Ask how often open interest rose while the price fell clearly."""
    moves = month.moves()
    interest = dict(zip(month.ends_ms, month.values.get(("open_interest", DEFAULT_ASSET), ()), strict=True))
    clearly = median(map(abs, moves.values())) if moves else 0.0

    opened = []
    for end_ms, move in moves.items():
        before = interest.get(end_ms - HOUR_MS)
        after = interest[end_ms]
        if move < -clearly and before is not None and after is not None:
            opened.append((end_ms, after > before))
    if not opened:
        return None
    rose = share_of(opened)
    return Ask(
        f"Take the hours in which {NAME} fell by more than its typical hour. In how many did open interest rise?",
        f"{counted(rose)}. In these more contracts were opened than closed, each with a long and a "
        "short: open interest does not say which side people took.",
        share_guess(rose),
    )


def order_books(facts: Facts) -> tuple[Ask, ...]:
    """Ask how far a large sale moves a price, and what a small one costs."""
    depths = {asset: facts.month.newest("depth_usd", asset) for asset in ASSETS}
    known = {asset: depth for asset, depth in depths.items() if depth}
    imbalance = facts.month.newest("imbalance")
    if DEFAULT_ASSET not in known or len(known) < 2 or imbalance is None or imbalance <= -1:
        return _one_book()

    depth = known[DEFAULT_ASSET]
    bids = depth * (1 + imbalance) / 2
    sale = rounded_up(bids / 5)
    fall = sale / bids
    thinnest = min(known, key=lambda asset: known[asset])
    return in_words(
        (
            Ask(
                f"Bids of {usd(bids)} lay within 1% below the price of {NAME} at the newest full hour. Somebody sells "
                f"{usd(sale)} at once. If the bids lie evenly, how far below is the last one that is filled?",
                f"{percent(fall, 2)}, and on average the sale gets half of that less than the price on the screen: "
                "its slippage.",
                size_guess(fall, "{}%"),
                depth_chart(known),
            ),
            Ask(
                f"How many times as deep as the book of {ASSET_NAMES[thinnest]} was that of {NAME}?",
                f"{depth / known[thinnest]:.1f} times. The same sale moves the thinner one so much further.",
                size_guess(depth / known[thinnest], "{} times"),
            ),
            _depth_when_wild(facts.month),
            _round_trip(facts.month.newest("spread_bps")),
        )
    )


def _one_book() -> tuple[Ask, ...]:
    """Ask about an imagined book, where no real one is known."""
    return (
        Ask(
            "A book holds 500,000 USD of bids within 0.1% of the price. Someone sells 1,000,000 USD at once. How far?",
            "Beyond 0.1%: the bids within it take half of the sale. The rest meets lower bids, or waits for new ones.",
        ),
    )


def depth_chart(depths: dict[str, float]) -> Chart:
    """Draw how much lies in the order books of each asset."""
    rows = [Row(asset, depth / 1e6, usd(depth)) for asset, depth in depths.items()]
    caption = Caption(
        name="depth",
        finding="Orders within 1% of the price, both sides",
        desc="A bar for each asset, as long as its order books are deep.",
        source=BOOKS,
        columns=("Asset", "Depth"),
    )
    return row_chart(caption, "million USD", rows, bars=True)


def _depth_when_wild(month: HourlyMonth) -> Ask | None:
    """Ask how deep books were in wild hours, compared with calm ones."""
    depths = dict(zip(month.ends_ms, month.values.get(("depth_usd", DEFAULT_ASSET), ()), strict=True))
    sizes = {end_ms: abs(move) for end_ms, move in month.moves().items() if depths.get(end_ms)}
    if len(sizes) < FEWEST_HOURS:
        return None

    edge = wildest(list(sizes.values()), WILDEST)
    # Prices that do not move have no wild hours.
    if edge == 0:
        return None

    wild = median(depths[end_ms] or 0.0 for end_ms, size in sizes.items() if size >= edge)
    other = median(depths[end_ms] or 0.0 for end_ms, size in sizes.items() if size < edge)
    share = 100 * wild / other
    thinner = share_of((end_ms, (depths[end_ms] or 0.0) < other) for end_ms, size in sizes.items() if size >= edge)
    return Ask(
        f"Call the wildest fifth of all hours wild. How deep was {NAME}'s book at the end of a wild hour, if it is 100 "
        "at the end of the others?",
        f"{share:.0f}. Of the wild hours {counted(thinner)} had a thinner book than the median of the others. "
        f"{remark('thin', thinner, 50)}",
        size_guess(share, "{}", times=2),
    )


def _round_trip(spread_bps: float | None) -> Ask | None:
    """Ask what buying and selling at once costs."""
    if spread_bps is None:
        return None
    cost = STAKE_USD * spread_bps / 10_000
    return Ask(
        f"The best offer lies {spread_bps:.2f} basis points (hundredths of a percent) above the best bid. You buy "
        f"{STAKE_USD:,} USD of {NAME} and sell at once. What does the spread cost you?",
        f"{cost:.3f} USD, before fees, which are usually much more.",
        size_guess(cost, "{} USD", times=4),
    )
