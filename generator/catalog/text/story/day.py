"""What was: the day, its hours, who moved with whom, who pays, how deep."""

from collections.abc import Mapping
from typing import Final

from generator.catalog.counts import quantity
from generator.catalog.text import kept
from generator.catalog.text.story.facts import (
    LargestHour,
    Pen,
    StoryFacts,
    coin_name,
    joined,
    of_100,
    place_by_size,
    rank_clause,
    usd,
)

CLOSE: Final = 0.9  # correlation from which coins are said to move as one
LOOSE: Final = 0.5
_SMALL: Final = 0.5  # of a usual day, below which a day is small
_LARGE: Final = 1.5  # and from which on it is large
_PAYMENTS_A_DAY: Final = 3
_POSITION_USD: Final = 10_000
_FLAT: Final = 0.1  # percent


def title(facts: StoryFacts) -> str:
    """Name the report by what the day was like."""
    pen = Pen(facts.turn)
    if facts.mean is None or not facts.usual_day:
        return "The market now: what is known, and what is not"
    days = abs(facts.mean) / facts.usual_day
    way = "rise" if facts.mean > 0 else "fall"
    if days < _SMALL:
        return pen.pick("title", "A day that led nowhere", "A quiet day, measured", "Little changed, and how we know")
    if days < _LARGE:
        return pen.pick("title", f"An ordinary {way}", f"An everyday {way}", f"A day's {way}, put in its place")
    return pen.pick("title", f"A {way} larger than most", f"A day that stood out: a {way}", f"More than a usual {way}")


def opening(facts: StoryFacts) -> list[str]:
    """Say what kind of day it was, against the month's, and what the report is about."""
    pen = Pen(facts.turn)
    if facts.mean is None:
        return ["How the coins moved over the last day is not known, so this report begins with what is."]
    return [*_day(pen, facts, facts.mean), *_short_outlook(pen, facts)]


def _day(pen: Pen, facts: StoryFacts, mean: float) -> list[str]:
    size = f"{abs(mean):.1f}%"
    verb = "gained" if mean > 0 else "lost"
    way = f"took {size} from the average coin"
    if mean > 0:
        way = f"added {size} to the average coin"

    if abs(mean) < _FLAT:
        said = pen.pick(
            "flat day",
            "The average coin is worth what it was a day ago.",
            "Add up the last day's moves and almost nothing is left.",
        )
    else:
        said = pen.pick(
            "day",
            f"Since yesterday at this hour the coins {verb} {size} on average.",
            f"On average the coins {verb} {size} from one day to the next.",
            f"The average coin {verb} {size} over the last day.",
            f"Between this hour yesterday and now the average coin {verb} {size}.",
            f"Equal parts of all coins {verb} {size} in a day.",
            f"Twenty-four hours {way}.",
        )
    yardstick, *others = _yardstick(pen, facts, mean) or [""]
    return [joined(said, yardstick) if yardstick else said, *others]


def _yardstick(pen: Pen, facts: StoryFacts, mean: float) -> list[str]:
    if not facts.usual_day:
        return []
    usual = f"{facts.usual_day:.1f}%"
    kept_days = f"{facts.usual_days_kept} days"
    times = abs(mean) / facts.usual_day
    if times < _SMALL:
        text = pen.pick(
            "yardstick",
            f"The middle one of the last {kept_days} moved {usual}, so this is a small day.",
            f"Half of the last {kept_days} moved more than {usual}, and this one did not come near that.",
            f"A usual day moves {usual} either way: today brought less than half of it.",
        )
    elif times < _LARGE:
        text = pen.pick(
            "yardstick",
            f"That is in line with the last {kept_days}, whose middle day moved {usual}.",
            f"Nothing odd there: the median of {kept_days} is {usual}.",
            f"It is close to what a day usually does, {usual} one way or the other.",
        )
    else:
        text = pen.pick(
            "yardstick",
            f"The middle one of the last {kept_days} moved {usual}, and this one {times:.1f} times as far.",
            f"A usual day moves {usual}, so this was {times:.1f} days' worth in one.",
            f"Against {usual} on the median day of {kept_days}, that is a big step.",
        )
    return [text, *_day_rank(pen, facts, times)]


def _day_rank(pen: Pen, facts: StoryFacts, times: float) -> list[str]:
    """Say how rare a day so small or so large is in the month; nothing where the rank does not bear out the size."""
    if facts.day_rank is None:
        return []
    rank = of_100(facts.day_rank)
    if times >= _LARGE and facts.day_rank >= kept.HIGH:
        return [
            pen.pick(
                "day rank",
                f"Only {100 - rank} in 100 stretches of a day in the month went further.",
                f"Slide a day-long window over the month, and it holds a smaller move in {rank} places of 100.",
            )
        ]
    if times < _SMALL and facts.day_rank <= kept.LOW:
        return [
            pen.pick(
                "day rank",
                f"Of all day-long stretches of the month, {100 - rank} in 100 went further than this one.",
                f"Take any other day-long stretch of the month: {100 - rank} times in 100 it moved more.",
            )
        ]
    return []


def _short_outlook(pen: Pen, facts: StoryFacts) -> list[str]:
    day = facts.ranges.get("24h")
    if day is None:
        return []
    _, low, high, _ = day
    return [
        pen.pick(
            "short outlook",
            f"If this is a day like others, one chance in two puts Bitcoin between {low:+.1f}% and {high:+.1f}% a "
            "day from now.",
            f"A day from now Bitcoin is as likely inside {low:+.1f}% to {high:+.1f}% as outside.",
            f"For the day ahead the honest answer is a span: Bitcoin should end between {low:+.1f}% and {high:+.1f}% "
            "in half of all cases like this.",
            f"Where Bitcoin will be tomorrow is open, but half of such days end between {low:+.1f}% and {high:+.1f}%.",
            f"Tomorrow at this hour the odds are even that Bitcoin is inside {low:+.1f}% to {high:+.1f}% of its "
            "price now.",
        )
    ]


def hour(facts: StoryFacts) -> list[str]:
    """Say which hour made the day, and where it and the last hour rank."""
    pen = Pen(facts.turn)
    sentences = []
    if facts.largest is not None:
        sentences += _largest(pen, facts.largest)
    if facts.largest is not None and facts.largest.is_last:
        sentences.append(
            pen.pick(
                "now",
                "That is the hour just over, so the story is still being written.",
                "It is the last hour we have: what follows it is not in this report.",
                "No other hour has come after it yet.",
            )
        )
    elif facts.last_hour is not None:
        sentences.append(_last_hour(pen, facts.last_hour, facts.last_hour_rank))
    return sentences or ["The candles of the day have holes, so its hours cannot be compared."]


def _largest(pen: Pen, largest: LargestHour) -> list[str]:
    move = f"{abs(largest.move):.1f}%"
    verb = "rose" if largest.move > 0 else "fell"
    noun = "rise" if largest.move > 0 else "fall"
    first = pen.pick(
        "largest",
        f"The day's biggest hour ended at {largest.at} UTC, when the average coin {verb} {move}.",
        f"One hour leads the other 23: up to {largest.at} UTC prices {verb} {move}.",
        f"If you had looked only once, {largest.at} UTC was the time: a {noun} of {move} in sixty minutes.",
        f"The biggest step came in the hour to {largest.at} UTC, a {noun} of {move}.",
    )
    return [first, joined(_part_of_day(pen, largest), _places(pen, largest))]


def _part_of_day(pen: Pen, largest: LargestHour) -> str:
    if largest.share is None:
        return pen.pick(
            "part",
            "The other 23 hours took back part of it, or more.",
            "The day as a whole did not keep it: the other hours pulled the other way.",
            "What it did, the rest of the day undid in part or in whole.",
        )
    if largest.share >= 50:
        return pen.pick(
            "part",
            f"It alone accounts for {largest.share}% of the day's move.",
            f"Take that hour out and {largest.share}% of the day is gone.",
        )
    return pen.pick(
        "part",
        f"That is {largest.share}% of the day's move, and the rest came in smaller pieces.",
        f"Still, it explains only {largest.share}% of the day, so the move was spread out.",
        f"With {largest.share}% of the day in it, no single hour decided things.",
    )


def _places(pen: Pen, largest: LargestHour) -> str:
    week = place_by_size(largest.in_week)
    month = place_by_size(largest.in_month)
    if largest.in_month == 1:
        return pen.pick(
            "places", "No hour of the month was larger.", "You have to leave the month to find a larger hour."
        )
    if largest.in_week == 1:
        return pen.pick(
            "places",
            f"It is the week's largest hour and the month's {month}.",
            f"Nothing in seven days was larger, and in thirty days it is the {month}.",
        )
    return pen.pick(
        "places",
        f"In the week it ranks {week}, in the month {month}.",
        f"From the largest down, it is the {week} hour of seven days and the {month} of thirty.",
        f"It is number {largest.in_week} of the week's hours, the largest first, and number {largest.in_month} of "
        "the month's.",
        f"There were {quantity(largest.in_week - 1, 'larger hour')} in the week and {largest.in_month - 1} in the "
        "month.",
        f"Seven days hold {quantity(largest.in_week - 1, 'larger hour')}, thirty days {largest.in_month - 1}.",
    )


def _last_hour(pen: Pen, moved: float, rank: float | None) -> str:
    size = f"{abs(moved):.2f}%"
    way = "up" if moved > 0 else "down"
    if not moved:
        return pen.pick(
            "last hour",
            "The hour just over left prices where they were.",
            "In the last sixty minutes the average coin went nowhere.",
        )
    if rank is None:
        return pen.pick(
            "last hour",
            f"The last sixty minutes took prices {way} {size}.",
            f"In the hour just over prices went {way} {size}.",
        )
    n = of_100(rank)
    if rank >= kept.HIGH:
        return pen.pick(
            "last hour",
            f"The hour just over is lively too: {way} {size}, more than {n} of 100 hours of the week.",
            f"And it is not calm now: the last sixty minutes took prices {way} {size}, beyond {n} in 100 of the "
            "week's.",
        )
    if rank <= kept.LOW:
        return pen.pick(
            "last hour",
            f"By now it has gone still: {size} {way} in the last hour, less than most of the week.",
            f"The last hour brought {size} {way}; {100 - n} in 100 hours of the week brought more.",
        )
    return pen.pick(
        "last hour",
        f"The last hour, {way} {size}, is an ordinary one for this week.",
        f"In the sixty minutes to now prices went {way} {size}, no more and no less than they often do.",
        f"The hour just over brought {size} {way}, near the middle of the week's hours.",
        f"As for the hour just over, {size} {way} is what this week's hours tend to do.",
        f"Right now things are plain: {way} {size} in the last sixty minutes.",
    )


def together(facts: StoryFacts) -> list[str]:
    """Say whether the coins move alone or together, and who made the average."""
    pen = Pen(facts.turn)
    sentences = []
    if facts.correlation is not None:
        sentences.append(_correlation(pen, facts.correlation, facts.ranks.get("correlation")))
    if facts.dispersion is not None:
        sentences.append(_dispersion(pen, facts.dispersion, facts.ranks.get("dispersion")))
    if len(facts.changes) > 2:
        sentences += _maker(pen, facts.changes)
    return sentences


def _correlation(pen: Pen, value: float, rank: float | None) -> str:
    figure = f"{value:.2f}"
    if value >= CLOSE:
        said = pen.pick(
            "correlation",
            f"Hour by hour the coins moved as one: their average correlation is {figure} out of 1",
            f"To know one coin's hour was nearly to know them all: hourly moves correlate at {figure}",
        )
    elif value >= LOOSE:
        said = pen.pick(
            "correlation",
            f"The coins mostly move together, with an average correlation of {figure} over the day's hours",
            f"On a scale where 1 is lockstep, the coins' hours score {figure}, together but not the same",
            f"Two coins picked at random shared most of their hours, with a correlation of {figure}",
        )
    else:
        said = pen.pick(
            "correlation",
            f"The coins go their own ways today: hourly moves correlate at only {figure}",
            f"With a correlation of {figure}, knowing one coin's hour says little about the next coin's",
        )
    return f"{said}{rank_clause(pen, 'correlation rank', rank)}."


def _dispersion(pen: Pen, value: float, rank: float | None) -> str:
    figure = f"{value:.1f} points"
    said = pen.pick(
        "dispersion",
        f"The spread between their days is {figure}",
        f"Measured as a standard deviation, their days lie {figure} apart",
        f"Their days scatter by {figure}, one standard deviation",
        f"From coin to coin the day differs by {figure}, as a standard deviation",
        f"They ended {figure} apart, by the standard deviation",
    )
    return f"{said}{rank_clause(pen, 'dispersion rank', rank)}."


def _maker(pen: Pen, changes: Mapping[str, float]) -> list[str]:
    """Say whose move made most of the average, and who went against it."""
    total = sum(changes.values())
    if abs(total) < len(changes) * _FLAT:
        top = max(changes, key=changes.__getitem__)
        bottom = min(changes, key=changes.__getitem__)
        return [
            pen.pick(
                "maker",
                f"{coin_name(top)} ({changes[top]:+.1f}%) and {coin_name(bottom)} ({changes[bottom]:+.1f}%) cancel "
                "most of each other out.",
                f"The average hides both {coin_name(top)} at {changes[top]:+.1f}% and {coin_name(bottom)} at "
                f"{changes[bottom]:+.1f}%.",
            )
        ]
    way = 1 if total > 0 else -1
    first = max(changes, key=lambda asset: way * changes[asset])
    share = round(100 * changes[first] / total)
    noun = "gain" if way > 0 else "loss"
    moved = f"{changes[first]:+.1f}%"
    if share > 100:
        made = pen.pick(
            "maker",
            f"Without {coin_name(first)} ({moved}) the others together would point the other way.",
            f"{coin_name(first)} alone, at {moved}, decides the sign: all others together went the other way.",
        )
    else:
        made = pen.pick(
            "maker",
            f"{coin_name(first)} did the most: its {moved} is {share}% of the coins' summed {noun}.",
            f"Of the coins' summed {noun}, {share}% comes from {coin_name(first)} alone, at {moved}.",
            f"One coin makes up {share}% of the summed {noun}: {coin_name(first)}, at {moved}.",
        )
    against = [asset for asset, moved in changes.items() if way * moved < -_FLAT]
    if not against:
        none = pen.pick(
            "against",
            "No coin went against the others.",
            "Not one coin ended on the other side.",
            "The others all went the same way.",
            "All the rest moved with it or hardly at all.",
        )
        return [joined(made, none)]
    other = min(against, key=lambda asset: way * changes[asset])
    stood_out = pen.pick(
        "against",
        f"{coin_name(other)} swam against it with {changes[other]:+.1f}%.",
        f"Against it went {coin_name(other)}, at {changes[other]:+.1f}%.",
        f"Not so {coin_name(other)}, which ended at {changes[other]:+.1f}%.",
        f"{coin_name(other)}, at {changes[other]:+.1f}%, is furthest on the other side.",
    )
    return [joined(made, stood_out)]


def coin(facts: StoryFacts, asset: str) -> str:
    """Return the size of one coin's day by its own measure, in a word or two."""
    change = facts.changes.get(asset)
    usual = facts.usual_days.get(asset)
    if change is None or not usual:
        return "not known"
    times = abs(change) / usual
    if times < _SMALL:
        return "a small day"
    if times < _LARGE:
        return "a usual day"
    return f"{times:.1f} usual days"


def futures(facts: StoryFacts) -> list[str]:
    """Say who pays whom in the futures, and whether that is much for the month."""
    pen = Pen(facts.turn)
    if not facts.funding:
        return [
            pen.pick(
                "no futures",
                "Nothing is known of the futures now, so who pays whom is left open.",
                "This source has no futures, and who pays funding to whom stays open.",
                "Funding is not known here; what longs and shorts pay each other is left out.",
                "Who pays whom in the futures cannot be said: no rates came with these prices.",
                "For want of funding rates nothing is said of longs and shorts.",
            )
        ]
    mean = sum(facts.funding.values()) / len(facts.funding)
    sentences = [_funding(pen, mean, facts.ranks.get("funding")), _cost(pen, facts.funding)]
    if facts.interest:
        sentences.append(_interest(pen, facts.interest))
    return sentences


def _funding(pen: Pen, mean: float, rank: float | None) -> str:
    payer, taker = ("longs", "shorts") if mean > 0 else ("shorts", "longs")
    figure = f"{mean:+.4f}%"
    said = pen.pick(
        "funding",
        f"In the futures {payer} pay {taker}: funding averages {figure} every eight hours",
        f"Across the coins it is the {payer} who pay; the average rate is {figure} per eight hours",
        f"Funding, the rent on a position, averages {figure} per eight hours ({payer} pay {taker})",
    )
    return f"{said}{rank_clause(pen, 'funding rank', rank)}."


def _cost(pen: Pen, funding: Mapping[str, float]) -> str:
    asset = max(funding, key=lambda name: abs(funding[name]))
    rate = funding[asset]
    dollars = _PAYMENTS_A_DAY * abs(rate) / 100 * _POSITION_USD
    holder = "long" if rate > 0 else "short"

    # Venues have a usual rate, which most coins share in quiet hours: then none asks the most.
    if sum(abs(other) == abs(rate) for other in funding.values()) > 1:
        return pen.pick(
            "shared cost",
            f"More than one coin has the largest rate, {coin_name(asset)} among them: a {holder} of $10,000 there pays "
            f"${dollars:.2f} a day.",
            f"No coin asks more than {coin_name(asset)}, and some ask as much: $10,000 held {holder} costs "
            f"${dollars:.2f} a day.",
            f"Hold $10,000 {holder} in {coin_name(asset)}, one of the coins that share the largest rate, and a day "
            f"costs ${dollars:.2f}.",
        )
    return pen.pick(
        "cost",
        f"Of all coins {coin_name(asset)} asks the most of whoever is {holder}: ${dollars:.2f} a day for $10,000.",
        f"Hold $10,000 {holder} in {coin_name(asset)}, the coin with the largest rate, and a day costs ${dollars:.2f}.",
        f"The largest bill is {coin_name(asset)}'s, where each $10,000 {holder} pays ${dollars:.2f} a day.",
        f"It is dearest in {coin_name(asset)}: there a {holder} of $10,000 pays ${dollars:.2f} a day.",
        f"In {coin_name(asset)}, where the rate is largest, $10,000 held {holder} costs ${dollars:.2f} in a day.",
        f"What that means in money: ${dollars:.2f} a day for a {holder} of $10,000 in {coin_name(asset)}, the "
        "largest rate.",
    )


def _interest(pen: Pen, interest: Mapping[str, float]) -> str:
    most = max(interest, key=lambda asset: abs(interest[asset]))
    change = interest[most]
    verb = "grew" if change > 0 else "shrank"
    return pen.pick(
        "interest",
        f"By number of open contracts, {coin_name(most)} changed most: {change:+.1f}%.",
        f"Open contracts {verb} most in {coin_name(most)}, by {abs(change):.1f}% in a day, counted in coins.",
        f"The number of open contracts moved most in {coin_name(most)}: {change:+.1f}% since yesterday.",
        f"{coin_name(most)} saw its open contracts change by {change:+.1f}%, more than any other coin's.",
        f"Among open contracts the largest change is {coin_name(most)}'s: {change:+.1f}% in coins, not dollars.",
        f"Traders {'added' if change > 0 else 'closed'} most in {coin_name(most)}: its open contracts {verb} by "
        f"{abs(change):.1f}%.",
    )


def depth(facts: StoryFacts) -> list[str]:
    """Say how deep the order books are, and how much was traded."""
    pen = Pen(facts.turn)
    sentences = []
    if facts.depth is not None:
        said = pen.pick(
            "depth",
            f"Orders worth {usd(facts.depth)} lie within 1% of the prices, all books taken together",
            f"All order books together hold {usd(facts.depth)} within 1% of the price",
            f"Within 1% of the price {usd(facts.depth)} is waiting to trade, over all coins",
            f"Bids and asks close to the price, within 1% of it, add up to {usd(facts.depth)}",
        )
        sentences.append(f"{said}{rank_clause(pen, 'depth rank', facts.ranks.get('depth'))}.")
    if facts.volume is not None:
        said = pen.pick(
            "volume",
            f"{usd(facts.volume)} worth of coins was traded in the day",
            f"Over the day {usd(facts.volume)} changed hands",
            f"The day's turnover is {usd(facts.volume)}",
            f"In all, trades worth {usd(facts.volume)} were made in the day",
            f"Volume over twenty-four hours comes to {usd(facts.volume)}",
            f"A day of trading came to {usd(facts.volume)}",
        )
        sentences.append(f"{said}{rank_clause(pen, 'volume rank', facts.ranks.get('volume'))}.")
    return sentences or ["How deep the order books are is not known."]
