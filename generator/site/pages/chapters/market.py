"""Chapters that are counted from prices: base rates, volatility, fat tails, correlation."""

from collections.abc import Mapping, Sequence
from math import comb, sqrt
from statistics import NormalDist, fmean, median, pstdev, pvariance
from typing import Final

from generator.arena.rates import part, rate
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.counts import quantity
from generator.catalog.durations import DAY_MS
from generator.catalog.horizons import HOUR
from generator.catalog.text.chapters import REMARKS
from generator.catalog.text.figures import day, percent, price, signed
from generator.site.charts.plot import Caption, Chart, Row, row_chart
from generator.site.charts.ranges import how_far
from generator.site.pages.chapters.chapter import (
    OWN_RECORD,
    Ask,
    Facts,
    counted,
    in_words,
    remark,
    share_guess,
    share_of,
    size_guess,
    wildest,
)
from generator.site.words.month import HourlyMonth, pairs
from generator.values.ranges import MoveRange
from generator.values.scores import Rate

NAME: Final = ASSET_NAMES[DEFAULT_ASSET]
PRICES: Final = "Source: candles of the last month, at full hours."
NEAR_PERCENT: Final = 0.25  # a move of less ends near where it began
FEWEST_HOURS: Final = 48  # of prices, below which a chapter asks nothing of them
EDGES: Final = (0.0, 0.25, 0.5, 1.0)  # percent, where the bars of the picture begin
WILDEST: Final = 0.2  # part of all hours
SPANS: Final = (1, 4, 12, 24)  # hours
FAR: Final = 3  # standard deviations
_ENOUGH_FAR: Final = 10  # hours
_AGREES: Final = 1.2  # times, up to which a size agrees with a rule
_FAR_OUTSIDE: Final = 1.5  # times as far as a range
_NORMAL: Final = NormalDist()
_FEWEST_TOGETHER: Final = 3  # assets
_FEW_ASSETS: Final = 4


def base_rates(facts: Facts) -> tuple[Ask, ...]:
    """Ask how often an hour ends near where it began."""
    moves = facts.month.moves()
    if len(moves) < FEWEST_HOURS:
        return ()

    sizes = [abs(move) for move in moves.values()]
    near = share_of((end_ms, abs(move) <= NEAR_PERCENT) for end_ms, move in moves.items())
    near_in_100 = round(100 * near.hits / near.n)
    return in_words(
        (
            Ask(
                f"Of {NAME}'s last {len(sizes)} hours, how many ended within {percent(NEAR_PERCENT, 2)} of where they "
                "began?",
                f"{counted(near)}. Whoever gave that chance before looking at a chart had the best plain forecast.",
                share_guess(near),
                sizes_chart(sizes),
            ),
            _after_a_rise(moves),
            _days_up(facts.month),
            Ask(
                f"A service says: “right in {near_in_100} of 100 hours”. It says every time that the hour will end "
                f"within {percent(NEAR_PERCENT, 2)}. How much skill is that?",
                "None: it is the base rate of this month. Skill is what goes beyond it.",
            ),
        )
    )


def sizes_chart(sizes: Sequence[float]) -> Chart:
    """Draw how many hours moved how far."""
    rows = []
    for begin, end in zip(EDGES, (*EDGES[1:], None), strict=True):
        number = sum(begin < size <= (end or float("inf")) or size == begin == 0 for size in sizes)
        label = f"over {percent(begin, 2)}" if end is None else f"{percent(begin, 2)} to {percent(end, 2)}"
        rows.append(Row(label, float(number), f"{number} of {len(sizes)}"))
    caption = Caption(
        name="base-rates",
        finding=f"How far {NAME} moved in its last {len(sizes)} hours",
        desc="A bar for each size of move, up or down, with the number of hours.",
        source=PRICES,
        columns=("Move", "Hours"),
    )
    return row_chart(caption, "hours", rows, bars=True)


def _after_a_rise(moves: dict[int, float]) -> Ask | None:
    """Ask whether a rise makes the next one likelier."""
    again = share_of((end_ms, later > 0) for end_ms, move, later in pairs(moves) if move > 0)
    if not again.n:
        return None

    rises = sum(move > 0 for move in moves.values())
    return Ask(
        f"{NAME} rose in {rises} of its {len(moves)} hours. After an hour in which it rose, how often did it rise "
        "again in the next?",
        f"{counted(again)}. {remark('again', again, 100 * rises / len(moves))}",
        share_guess(again),
    )


def _days_up(month: HourlyMonth) -> Ask | None:
    """Ask how many days ended higher than they began."""
    moves = [move for end_ms, move in month.moves(hours=24).items() if end_ms % DAY_MS == 0]
    if not moves:
        return None

    up = sum(move > 0 for move in moves)
    share = rate(up, len(moves))
    return Ask(
        f"On how many of its last {len(moves)} whole days (UTC) did {NAME} end higher than it began?",
        f"{up} of {len(moves)}. So few days leave the true rate open: anything from {share.low_percent:.0f} to "
        f"{share.high_percent:.0f} in 100 fits.",
        share_guess(part(up, len(moves))),
    )


def volatility(facts: Facts) -> tuple[Ask, ...]:
    """Ask how moves grow with time, and how wild hours follow each other."""
    typical = {hours: _typical(facts.month, hours) for hours in SPANS}
    hour = typical[1]
    day_move = typical[24]
    if len(facts.month.moves()) < FEWEST_HOURS or hour is None or day_move is None:
        return in_words((_range_end(facts),))

    known = {hours: size for hours, size in typical.items() if size is not None}
    ruled = hour * sqrt(24)
    beyond = share_of(
        ((end_ms, abs(move) > ruled) for end_ms, move in facts.month.moves(hours=24).items()),
        hours=24,
    )
    return in_words(
        (
            Ask(
                f"A typical hour of {NAME} moved {percent(hour, 2)} this month, up or down. How far did a typical day "
                "of 24 hours go?",
                f"{percent(day_move, 2)}, not 24 times as far. The rule of the square root says {percent(ruled, 2)}, "
                f"so that half of all days go further; {counted(beyond)} did. {remark('rule', beyond, 50)}",
                size_guess(day_move, "{}%", times=4),
                growth_chart(known),
            ),
            _range_end(facts),
            _wild_again(facts.month.moves()),
            _a_week(known),
        )
    )


def _a_week(typical: Mapping[int, float]) -> Ask | None:
    """Ask what the rule of the square root says of a week; where the bars refute it, whether to use it at all.

    Args:
        typical: hours of a span -> median size of the moves over it, percent, as the picture of the chapter shows.
    """
    hour = typical[1]
    day_move = typical[24]
    if not hour or not day_move:
        return None  # prices did not move

    off = {hours: size / (hour * sqrt(hours)) for hours, size in typical.items()}
    span, worst = max(off.items(), key=lambda pair: max(pair[1], 1 / pair[1]) if pair[1] else 0.0)
    if 1 / _AGREES < worst < _AGREES:
        week = day_move * sqrt(7)
        return Ask(
            f"A typical day went {percent(day_move, 2)}. How far does a typical week go by the rule of the square "
            "root?",
            f"{percent(week, 2)}: 2.6 times as far, not 7 times.",
            size_guess(week, "{}%"),
        )
    return Ask(
        f"By the rule of the square root {span} hours go {percent(hour * sqrt(span), 2)}; the typical move over them "
        f"was {percent(typical[span], 2)}. Would you use the rule for a week?",
        f"No: over {span} hours the moves went {worst:.1f} times as far as it says. It holds where hours are "
        "independent of each other, and a rule is checked before it is used.",
    )


def _typical(month: HourlyMonth, hours: int) -> float | None:
    """Return the median size of the moves over so many hours, None without any."""
    sizes = [abs(move) for move in month.moves(hours=hours).values()]
    return median(sizes) if sizes else None


def growth_chart(typical: dict[int, float]) -> Chart:
    """Draw the typical move over longer and longer spans, next to the rule of the square root."""
    rows = []
    for hours, size in typical.items():
        rule = typical[1] * sqrt(hours)
        words = f"{percent(size, 2)} (rule {percent(rule, 2)})"
        rows.append(Row("1 hour" if hours == 1 else f"{hours} hours", size, words))
    caption = Caption(
        name="growth",
        finding=f"The median move of {NAME}, and what the rule of the square root says",
        desc="A bar for each span of time, as long as the median size of the move over it.",
        source=PRICES,
        columns=("Span", "Median move"),
    )
    return row_chart(caption, "median move, %", rows, bars=True)


def _wild_again(moves: dict[int, float]) -> Ask | None:
    """Ask how often a wild hour follows a wild hour."""
    edge = wildest([abs(move) for move in moves.values()], WILDEST)
    if edge == 0.0:
        return None  # prices that do not move have no wild hours
    again = share_of((end_ms, abs(later) >= edge) for end_ms, move, later in pairs(moves) if abs(move) >= edge)
    if not again.n:
        return None

    return Ask(
        "Call the wildest fifth of all hours wild. After a wild hour, how often was the next one wild too?",
        f"{counted(again)}, where any hour is wild 20 times in 100. {remark('wild', again, 100 * WILDEST)}",
        share_guess(again),
    )


def _range_end(facts: Facts) -> Ask | None:
    """Ask where the 90% range of the newest hour ended; None before there is one."""
    for made in facts.due:
        within = (made.ranges or {}).get(HOUR)
        came = made.moves.get(HOUR)
        if made.asset == DEFAULT_ASSET and within and came and came.move is not None and made.start_price is not None:
            break
    else:
        return None

    drawn = how_far(
        "guess",
        DEFAULT_ASSET,
        made.start_price,
        {HOUR: within},
        OWN_RECORD,
        at=f"{day(made.start_ms)} UTC",
        came=came.move,
    )
    tested = " (a backtest)" if made.warm_up else ""
    return Ask(
        f"{NAME} stood at {price(made.start_price)} when its newest judged hour began{tested}. Nine times in ten it "
        "should end within a range. How far above the price did that range end?",
        f"At {signed(within.high_90)}; it began at {signed(within.low_90)}. The hour ended at {price(came.end_price)}, "
        f"{signed(came.move)}: {where(within, came.move)}.",
        size_guess(within.high_90, "{}%", times=4),
        drawn,
        made.start_ms,
    )


def where(within: MoveRange, move: float) -> str:
    """Say in which of its ranges a move ended."""
    if within.holds_50(move):
        return "inside both ranges, as half of all hours should"
    if within.holds_90(move):
        return "outside the 50% range and inside the 90% range, as 40 of 100 hours should"
    return "outside both ranges, as one hour in ten should"


def fat_tails(facts: Facts) -> tuple[Ask, ...]:
    """Ask how much more often hours go far than a normal distribution says."""
    by_asset = [moves for asset in ASSETS if (moves := _in_deviations(facts.month, asset))]
    sizes = sorted(size for moves in by_asset for size in moves.values())
    if len(sizes) < FEWEST_HOURS:
        return in_words((_furthest_outside(facts),))

    beyond = share_of((end_ms, size > FAR) for moves in by_asset for end_ms, size in moves.items())
    far = beyond.hits
    expected = _beyond(FAR) * len(sizes)
    few = sizes[-max(1, len(sizes) // 100) :]
    of_all = 100 * sum(size**2 for size in few) / sum(size**2 for size in sizes)
    usual_largest = _NORMAL.inv_cdf(1 - 1 / (2 * len(sizes)))
    return in_words(
        (
            Ask(
                f"Take {len(sizes):,} hours of {quantity(len(by_asset), 'asset')}. By a bell curve about "
                f"{expected:.0f} of them would go further than three standard deviations. How many did?",
                f"{far:,}{_times(far, expected)}. {_tails(beyond, expected)}",
                size_guess(far, "{} hours", times=4),
                tails_chart(sizes),
            ),
            Ask(
                "How many standard deviations did the largest of these moves have?",
                f"{sizes[-1]:.1f}. In a bell curve the largest of so many would have about {usual_largest:.1f}.",
                size_guess(sizes[-1], "{} standard deviations"),
            ),
            Ask(
                "Square each move, as a standard deviation does, and add them up. How much of the sum comes from the "
                "wildest hour in 100?",
                f"{of_all:.0f} of 100. In a bell curve it would be 8.",
                size_guess(of_all, "{} of 100"),
            ),
            _furthest_outside(facts),
        )
    )


def _in_deviations(month: HourlyMonth, asset: str) -> dict[int, float]:
    """Return the sizes of an asset's hours in standard deviations of the month, by the time at which they ended."""
    moves = month.moves(asset)
    deviation = pstdev(moves.values()) if moves else 0.0
    if deviation == 0.0:
        return {}
    return {end_ms: abs(move) / deviation for end_ms, move in moves.items()}


def _beyond(deviations: float) -> float:
    """Return how likely a move beyond so many standard deviations is in a normal distribution."""
    return 2 * _NORMAL.cdf(-deviations)


def _tails(beyond: Rate, expected: float) -> str:
    """Say whether tails are fat, where hours enough went so far or should have."""
    if max(beyond.hits, expected) < _ENOUGH_FAR:
        return REMARKS["tails"].few
    return remark("tails", beyond, 100 * _beyond(FAR))


def _times(number: int, expected: float) -> str:
    """Say how many times as many, where that is a multiple."""
    return f", {number / expected:.1f} times as many" if number >= _AGREES * expected else ""


def tails_chart(sizes: Sequence[float]) -> Chart:
    """Draw how many hours went beyond one, two and three standard deviations, over what a bell curve has."""
    rows = []
    for deviations in range(1, FAR + 1):
        number = sum(size > deviations for size in sizes)
        expected = _beyond(deviations) * len(sizes)
        rows.append(Row(f"beyond {deviations}", number / expected, f"{number:,} for {expected:,.0f}"))
    caption = Caption(
        name="tails",
        finding="Hours beyond so many standard deviations, for each that a bell curve would have",
        desc="A dot for one, two and three standard deviations; at 1 the hours are as many as in a bell curve.",
        source=PRICES,
        columns=("Standard deviations", "Hours, for a bell curve's"),
    )
    return row_chart(caption, "times a bell curve's", rows, marks=((1.0, "bell curve"),))


def _furthest_outside(facts: Facts) -> Ask | None:
    """Ask how far the furthest hour outside its 90% range went; None where none went outside."""
    judged, tested = facts.judged()
    known = 0
    outside = []
    for made in judged:
        came = made.moves.get(HOUR)
        ranges = (made.ranges or {}).get(HOUR)
        if came is None or came.move is None or ranges is None:
            continue
        known += 1
        edge = ranges.high_90 if came.move > 0 else ranges.low_90
        if abs(came.move) > abs(edge) > 0:
            outside.append((came.move / edge, came.move, edge, made))
    if not outside:
        return None

    times, move, edge, made = max(outside, key=lambda row: row[0])
    left = (
        "What a 90% range leaves out may be far away." if times >= _FAR_OUTSIDE else "None of them went far beyond it."
    )
    return Ask(
        f"Of the last {known:,} hours with a 90% range{tested}, {len(outside)} ended outside of it. How many times as "
        "far as its range did the furthest go?",
        f"{times:.1f} times: {ASSET_NAMES[made.asset]} ended at {signed(move)}, and its range at {signed(edge)}. "
        f"{left}",
        size_guess(times, "{} times as far"),
    )


def correlation(facts: Facts) -> tuple[Ask, ...]:
    """Ask how often nearly all assets went the same way, and how many bets they are."""
    assets = facts.month.known_assets()
    hours = facts.month.together(assets)
    n = len(assets)
    of_all = pvariance([fmean(moves) for moves in hours.values()]) if hours else 0.0
    if len(hours) < FEWEST_HOURS or n < _FEWEST_TOGETHER or not of_all:
        return ()

    least = _nearly_all(n)
    alike = share_of((end_ms, _leading(moves) >= least) for end_ms, moves in hours.items())
    alone = 100 * sum(comb(n, up) for up in range(n + 1) if max(up, n - up) >= least) / 2**n
    by_asset = dict(zip(assets, zip(*hours.values(), strict=True), strict=True))
    variance = fmean(map(pvariance, by_asset.values()))
    bets = variance / of_all
    shrunk = 100 * (1 - sqrt(of_all) / fmean(map(pstdev, by_asset.values())))
    independent = 100 * (1 - 1 / sqrt(n))
    together = f"at least {least} of {n} assets" if least < n else f"all {n} assets"
    return (
        Ask(
            f"In how many of the last {len(hours)} hours did {together} go the same way?",
            f"{counted(alike)}. Coins that moved independently would do so in {alone:.0f} of 100 hours. "
            f"{remark('together', alike, alone)}",
            share_guess(alike),
            sides_chart(list(hours.values())),
        ),
        Ask(
            f"The mean of independent bets swings less, the more there are. By how it swung, how many independent bets "
            f"were these {n} assets?",
            f"{bets:.1f}: the variance of one asset is so many times that of the mean of all.",
            size_guess(bets, "{} bets", times=n / bets),
        ),
        Ask(
            f"You hold {n} assets in equal parts instead of one. By how many percent is a typical swing of an hour "
            "smaller?",
            f"{shrunk:.0f}%. With independent assets it would be {independent:.0f}%.",
            size_guess(shrunk, "{}%", times=100 / shrunk if shrunk > 1 else 3.0),
        ),
        _least_alike(by_asset),
    )


def _nearly_all(assets: int) -> int:
    """Return how many of so many assets are nearly all: all of a few, as most of them always go one way."""
    return assets - 1 if assets > _FEW_ASSETS else assets


def _leading(moves: Sequence[float]) -> int:
    """Return how many assets went the way of most; one that did not move went neither way."""
    return max(sum(move > 0 for move in moves), sum(move < 0 for move in moves))


def sides_chart(hours: Sequence[Sequence[float]]) -> Chart:
    """Draw how many assets went the same way, hour by hour."""
    rows = []
    assets = len(hours[0])
    half = (assets + 1) // 2
    for number in range(assets, half - 1, -1):
        found = sum(_leading(moves) == number or _leading(moves) < number == half for moves in hours)
        label = f"{number} of {assets}" if number > half else f"{number} or fewer"
        rows.append(Row(label, float(found), f"{found} of {len(hours)}"))
    caption = Caption(
        name="sides",
        finding=f"How many of {assets} assets went the same way in an hour",
        desc="A bar for each number of assets that went the same way, with the number of hours.",
        source=PRICES,
        columns=("Assets on one side", "Hours"),
    )
    return row_chart(caption, "hours", rows, bars=True)


def _least_alike(by_asset: Mapping[str, Sequence[float]]) -> Ask:
    """Ask for the correlation of the asset that went with the first one least."""
    (base, first), *others = by_asset.items()
    found = [(_correlation(first, other), asset) for asset, other in others]
    least, asset = min(found)
    return Ask(
        f"A correlation of 1 means always together, 0 means unrelated. Of the other {len(others)} assets, "
        f"{ASSET_NAMES[asset]} went with {ASSET_NAMES[base]} least. How high was its correlation?",
        f"{least:.2f}; the highest was {max(found)[0]:.2f}.",
        size_guess(least, "{}", times=1 / least if least > 0.01 else 3.0),
    )


def _correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Pearson's correlation; 0 where one of the two does not move."""
    mean_one = fmean(one)
    mean_other = fmean(other)
    shared = sum((a - mean_one) * (b - mean_other) for a, b in zip(one, other, strict=True))
    spread = len(one) * pstdev(one) * pstdev(other)
    return shared / spread if spread else 0.0
