"""Short texts about now: what follows the headline, the market's state, a coin in a line, its next hour."""

from dataclasses import replace
from typing import Final

from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.text.book import Book, Groups, Sentence, always, joined
from generator.catalog.text.happened import RANKED_DAYS, MarketFacts, Situation, is_unchanged
from generator.catalog.text.headline import HEADLINE_GROUPS
from generator.catalog.text.slots import SLOTS, chance_of, coin_of
from generator.catalog.words import Call, MarketSide, VolatilityWord

_WIDE: Final = 2.5  # usual days from the day's low to its high, from which on it is not flat
_AS_WIDE: Final = (0.8, 1.25)  # between these a range is about as wide as usual
_APART: Final = 5  # points from a base rate, from which on a chance is likelier or less likely than usual
_MOST_OF_RANGE: Final = 0.95  # of the day's range, from which on its move went one way


def _place(facts: MarketFacts) -> float | None:
    """Return where the coin in focus is between its low of the day, 0, and its high, 1."""
    coin = coin_of(facts)
    if coin.high is None or coin.low is None or coin.high <= coin.low:
        return None
    return (coin.price - coin.low) / (coin.high - coin.low)


def _touched(facts: MarketFacts, *, low: bool) -> bool:
    """Whether Bitcoin was at its day's low, or high, within three hours, and is a percent or more from it."""
    coin = facts.bitcoin
    if coin is None or coin.low_ms is None or coin.high_ms is None or not coin.low or not coin.high:
        return False
    at_ms = coin.low_ms if low else coin.high_ms
    off = coin.price / coin.low - 1.0 if low else 1.0 - coin.price / coin.high
    return facts.hours_since(at_ms) <= 3 and off >= 0.01


def _any_touched(facts: MarketFacts) -> bool:
    return _touched(facts, low=True) or _touched(facts, low=False)


def _counts_coins(facts: MarketFacts) -> bool:
    return facts.is_average and facts.situation is not Situation.UNKNOWN


def _all_one_way(facts: MarketFacts) -> bool:
    return max(facts.up, facts.down) == len(facts.days)


def _gives_day(facts: MarketFacts) -> bool:
    """Whether the headline gives the day's move."""
    return facts.situation in {Situation.GREAT_DAY, Situation.MOVE, Situation.PLAIN, Situation.DAYS_IN_A_ROW}


def _went_both_ways(facts: MarketFacts) -> bool:
    """Return whether the day did: for up to an hour after its last turn the side is still so, and the line is not."""
    return (
        facts.side is MarketSide.BOTH_WAYS
        and facts.line_range is not None
        and abs(facts.day or 0.0) < _MOST_OF_RANGE * facts.line_range
    )


def _was_flat(facts: MarketFacts) -> bool:
    """Return whether a day is called flat that no longer is: for up to an hour after a wide move."""
    if facts.side is not MarketSide.FLAT or not facts.usual_day:
        return False
    wide = facts.line_range is not None and facts.line_range >= _WIDE * facts.usual_day
    return wide or abs(facts.day or 0.0) > facts.usual_day


def _unranked(facts: MarketFacts) -> bool:
    return facts.volatility is VolatilityWord.UNKNOWN or facts.outlook_rank is None


def _width_denies(facts: MarketFacts) -> bool:
    """Return whether the first screen calls Bitcoin's range wide or narrow and `usually` of its chance would deny that.

    A chance of moving above its base rate goes with a wide range, one below it with a narrow range.
    """
    if facts.focus != DEFAULT_ASSET or facts.width is None or facts.record_days < RANKED_DAYS:
        return False
    more = chance_of(facts).usual_small - chance_of(facts).small  # points by which a move is likelier than usual
    if facts.width >= _AS_WIDE[1]:
        return more < _APART
    return facts.width < _AS_WIDE[0] and more > -_APART


NOW_GROUPS: Final[Groups[MarketFacts]] = {
    # The first screen.
    "first_price": (
        Sentence("", "no price", lambda facts: facts.bitcoin is None),
        Sentence(
            "Bitcoin was last at {bitcoin_price}, {stale} ago.",
            "its last price is older than ten minutes",
            lambda facts: facts.is_stale,
        ),
        Sentence("Bitcoin is at {bitcoin_price}.", "no day known", lambda facts: facts.bitcoin_day is None),
        Sentence(
            "Bitcoin is at {bitcoin_price}, as it was a day ago.",
            "no change",
            lambda facts: is_unchanged(facts.bitcoin_day or 0.0),
        ),
        Sentence("Bitcoin is at {bitcoin_price}, {bitcoin_size} {bitcoin_higher} than a day ago.", "else", always),
    ),
    "first_touched": (
        Sentence(
            "It touched {bitcoin_low} {low_ago}.",
            "its low of the day is at most three hours old and one percent away",
            lambda facts: _touched(facts, low=True),
        ),
        Sentence(
            "It touched {bitcoin_high} {high_ago}.", "likewise its high", lambda facts: _touched(facts, low=False)
        ),
    ),
    "first_range": (
        Sentence("", "no range", lambda facts: facts.bitcoin is None or facts.bitcoin.hour_range is None),
        Sentence(
            "An hour from now it should be between {bitcoin_from} and {bitcoin_to}, nine times in ten.",
            "no usual width known",
            lambda facts: facts.width is None or facts.record_days < RANKED_DAYS,
        ),
        Sentence(
            "An hour from now it should be between {bitcoin_from} and {bitcoin_to}, nine times in ten: {width} usual.",
            "else",
            always,
        ),
    ),
    "first_coins": (
        Sentence("", "fewer than three coins, or a young record", lambda facts: not _counts_coins(facts)),
        Sentence(
            "All {known} coins are {higher_coins} than a day ago.",
            "all of them, after a price touched or where the headline gives the day",
            lambda facts: _all_one_way(facts) and _gives_day(facts) and (_any_touched(facts) or facts.week is None),
        ),
        Sentence(
            "All {known} coins are {higher_coins} than a day ago; over a week the average is {week_moved}.",
            "all of them, where the headline gives the day",
            lambda facts: _all_one_way(facts) and _gives_day(facts),
        ),
        Sentence(
            "All {known} coins are {higher_coins} than a day ago, by {day} on average.",
            "all of them",
            _all_one_way,
        ),
        Sentence(
            "{Most_coins} than a day ago.",
            "after a price touched",
            _any_touched,
        ),
        Sentence(
            "{Most_coins} than a day ago; over a week the average is {week_moved}.",
            "where the headline gives the day",
            lambda facts: _gives_day(facts) and facts.week is not None,
        ),
        Sentence("{Most_coins} than a day ago; the average is {day_moved}.", "else", always),
    ),
    # The regime's summary.
    "regime_day": (
        Sentence(
            "What the market did over the last day is not known.",
            "no side",
            lambda facts: facts.side is MarketSide.UNKNOWN or facts.day is None,
        ),
        Sentence(
            "A day of ups and downs: {crypto} swung {line_range} and is {day_moved} in 24 hours{week_after}.",
            "both ways",
            _went_both_ways,
        ),
        Sentence(
            "{Crypto} is {day_moved} in 24 hours{week_after}.",
            "both ways until a moment ago, or on a line with a hole; flat until a moment ago",
            lambda facts: facts.side is MarketSide.BOTH_WAYS or _was_flat(facts),
        ),
        Sentence("A {side} day: {crypto} is {day_moved} in 24 hours{week_after}.", "else", always),
    ),
    "week_after": (
        Sentence("", "no week known", lambda facts: facts.week is None),
        Sentence(
            " and {week} in a week",
            "the same way as the day",
            lambda facts: (
                (facts.week or 0.0) * (facts.day or 0.0) > 0
                and not is_unchanged(facts.week or 0.0)
                and not is_unchanged(facts.day or 0.0)
            ),
        ),
        Sentence(" and {week_moved} in a week", "else", always),
    ),
    "regime_volatility": (
        Sentence("", "unknown", _unranked),
        Sentence(
            "Calm: the next four hours look quieter than {calmer} hours of {record_last} did.",
            "calm",
            lambda facts: facts.volatility is VolatilityWord.CALM,
        ),
        Sentence(
            "{Volatility}: the next four hours look rougher than {rougher} hours of {record_last} did.", "else", always
        ),
    ),
    # One coin.
    "asset": (Sentence("{asset_day}{coin_range}", "always", always),),
    "asset_day": (
        Sentence("{Focus}: no price is known.", "no price", lambda facts: facts.coin is None),
        Sentence(
            "{Focus} was last at {price}, {price_age} ago.",
            "its last price is older than ten minutes",
            lambda facts: coin_of(facts).is_stale,
        ),
        Sentence("{Focus} {price}.", "no day known", lambda facts: coin_of(facts).day is None),
        Sentence("{Focus} {price}, {coin_move}.", "else", always),
    ),
    "coin_day": (
        Sentence("no price is known", "no price", lambda facts: facts.coin is None),
        Sentence(
            "last at {price}, {price_age} ago",
            "its last price is older than ten minutes",
            lambda facts: coin_of(facts).is_stale,
        ),
        Sentence("no price of a day ago is known", "no day known", lambda facts: coin_of(facts).day is None),
        Sentence("{coin_move}", "else", always),
    ),
    "coin_move": (Sentence("{moved} in a day{coin_place}", "always", always),),
    "coin_place": (
        Sentence("", "no high and low of the day", lambda facts: _place(facts) is None),
        Sentence(", near its day's high", "in the top tenth of its day", lambda facts: (_place(facts) or 0) >= 0.9),
        Sentence(", near its day's low", "in the lowest tenth", lambda facts: (_place(facts) or 0) <= 0.1),
        Sentence(", {below_high} below its day's high", "in the lower half", lambda facts: (_place(facts) or 0) < 0.5),
        Sentence(", {above_low} above its day's low", "in the upper half", always),
    ),
    "coin_range": (
        Sentence("", "no price, or no range", lambda facts: facts.coin is None or facts.coin.hour_range is None),
        Sentence(" In an hour, nine times in ten between {from} and {to}.", "else", always),
    ),
    "call": (
        Sentence("", "no forecast", lambda facts: facts.coin is None or facts.coin.chance is None),
        Sentence(
            "{Focus} will probably be about here in an hour: within {band} either way ({small}).",
            "likewise, and the range's width says another thing of what is usual",
            lambda facts: chance_of(facts).small >= 50 and _width_denies(facts),
        ),
        Sentence(
            "{Focus} will probably be about here in an hour: within {band} either way "
            "({small}; usually {usual_small}).",
            "a small move has a chance of one half or more",
            lambda facts: chance_of(facts).small >= 50,
        ),
        Sentence(
            "The call for {Focus} is {called}: {called_chance}, against {other_chance} for the other way.",
            "a side is called",
            lambda facts: chance_of(facts).call in {Call.UP, Call.DOWN},
        ),
        Sentence(
            "The chance that {Focus} ends the next hour more than {band} from here, either way, is {large}.",
            "the range's width says another thing of what is usual",
            _width_denies,
        ),
        Sentence(
            "{Focus} will {surely} end the next hour more than {band} from here{alike} "
            "({large}; usually {usual_large}).",
            "five points over its base rate",
            lambda facts: chance_of(facts).usual_small - chance_of(facts).small >= _APART,
        ),
        Sentence(
            "{Focus} is less likely than usual to end the next hour more than {band} from here "
            "({large}; usually {usual_large}).",
            "five points under it",
            lambda facts: chance_of(facts).small - chance_of(facts).usual_small >= _APART,
        ),
        Sentence(
            "An hour like most: the chance that {Focus} ends it more than {band} from here, either way, is {large} "
            "(usually {usual_large}).",
            "between",
            always,
        ),
    ),
}
BOOK: Final[Book[MarketFacts]] = Book({**HEADLINE_GROUPS, **NOW_GROUPS}, SLOTS)


def headline(facts: MarketFacts) -> str:
    """Return the headline: the news first, at most 110 characters and three numbers, without a full stop."""
    return BOOK.say("headline", facts)


def first_screen(facts: MarketFacts) -> str:
    """Return what follows the headline: the price, the next hour, that no direction is known, the coins."""
    is_open = facts.bitcoin is not None and not facts.is_stale
    direction = "Which way? Nobody knows, nor do we." if is_open else ""

    return joined(
        [
            BOOK.say("first_price", facts),
            BOOK.say("first_touched", facts),
            BOOK.say("first_range", facts),
            direction,
            BOOK.say("first_coins", facts),
        ]
    )


def regime_summary(facts: MarketFacts) -> str:
    """Return the state of the market in a sentence or two."""
    return joined([BOOK.say("regime_day", facts), BOOK.say("regime_volatility", facts)])


def asset_line(facts: MarketFacts, asset: str) -> str:
    """Return one coin in a line: its price, its day, its next hour."""
    return BOOK.say("asset", replace(facts, focus=asset))


def asset_day(facts: MarketFacts, asset: str) -> str:
    """Return one coin's price and day in a line."""
    return BOOK.say("asset_day", replace(facts, focus=asset))


def coin_day(facts: MarketFacts, asset: str) -> str:
    """Return one coin's day where its name and price are written next to it."""
    text = BOOK.say("coin_day", replace(facts, focus=asset))
    return f"{text[0].upper()}{text[1:]}."


def call_sentence(facts: MarketFacts, asset: str = DEFAULT_ASSET) -> str:
    """Return what the next hour's forecast of one coin says; empty without one."""
    return BOOK.say("call", replace(facts, focus=asset))
