"""Figures of the market's facts in words, by the names of the places that they fill.

A slot is asked only by a sentence whose case makes sure that its fact is known.
"""

from typing import Final

from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.counts import in_words
from generator.catalog.text import figures
from generator.catalog.text.book import Slot, known
from generator.catalog.text.happened import Chance, Coin, MarketFacts
from generator.catalog.words import MarketSide, VolatilityWord

VOLATILITY: Final = {
    VolatilityWord.CALM: "calm",
    VolatilityWord.NORMAL: "normal",
    VolatilityWord.ELEVATED: "rough",
    VolatilityWord.EXTREME: "wild",
    VolatilityWord.UNKNOWN: "unknown",
}
SIDE: Final = {
    MarketSide.RISING: "rising",
    MarketSide.FALLING: "falling",
    MarketSide.FLAT: "flat",
    MarketSide.BOTH_WAYS: "up and down",
    MarketSide.UNKNOWN: "unknown",
}


def coin_of(facts: MarketFacts) -> Coin:
    """Return the coin in focus; there must be one."""
    return known(facts.coin)


def chance_of(facts: MarketFacts) -> Chance:
    """Return the forecast of the coin in focus; there must be one."""
    return known(coin_of(facts).chance)


def _falls(percent: float, falling: str, rising: str) -> str:
    return falling if percent < 0 else rising


def _most_coins(facts: MarketFacts) -> str:
    """Say how many coins went the way that most did, e.g. `Five of six are higher`."""
    count, higher = (facts.up, "higher") if facts.up >= facts.down else (facts.down, "lower")
    verb = "is" if count == 1 else "are"
    return f"{in_words(count).capitalize()} of {in_words(len(facts.days))} coins {verb} {higher}"


def _others_between(facts: MarketFacts) -> tuple[str, str]:
    """Return the smaller and the larger size of the others' moves, which all go one way."""
    near, far = sorted((abs(facts.others[0]), abs(facts.others[-1])))
    return figures.size(near), figures.size(far)


def _since_start(facts: MarketFacts) -> str:
    now = known(facts.bitcoin).price
    return figures.moved(100 * (now / known(facts.first_price) - 1))


def _touched_ago(hours: float) -> str:
    return "within the last hour" if hours < 1 else figures.ago(hours)


def _alike(facts: MarketFacts) -> str:
    chance = chance_of(facts)
    return ", up or down alike" if abs(chance.up - chance.down) <= 2 else ""


SLOTS: Final[dict[str, Slot[MarketFacts]]] = {
    # The market.
    "Crypto": lambda facts: "Crypto" if facts.is_average else "Bitcoin",
    "crypto": lambda facts: "crypto" if facts.is_average else "Bitcoin",
    "record": lambda facts: figures.span(facts.record_days),
    "record_last": lambda facts: figures.last(facts.record_days),
    "record_ago": lambda facts: figures.ago(24 * facts.record_days),
    "stale": lambda facts: figures.elapsed(known(facts.bitcoin).minutes_old),
    "known": lambda facts: in_words(len(facts.days)),
    "day": lambda facts: figures.size(known(facts.day)),
    "day_moved": lambda facts: figures.moved(known(facts.day)),
    "higher": lambda facts: _falls(known(facts.day), "lower", "higher"),
    "fell_day": lambda facts: _falls(known(facts.day), "fell", "rose"),
    "fall_day": lambda facts: _falls(known(facts.day), "fall", "rise"),
    "fallen_day": lambda facts: _falls(known(facts.day), "fallen", "risen"),
    "three_moved": lambda facts: figures.moved(known(facts.three_hours)),
    "week": lambda facts: figures.size(known(facts.week)),
    "week_moved": lambda facts: figures.moved(known(facts.week)),
    "week_higher": lambda facts: _falls(known(facts.week), "lower", "higher"),
    "line_range": lambda facts: figures.size(known(facts.line_range)),
    "extreme_moved": lambda facts: figures.moved(known(facts.extreme).percent),
    "extreme_ago": lambda facts: figures.ago(facts.hours_since(known(facts.extreme).at_ms)),
    "side": lambda facts: SIDE[facts.side],
    "Volatility": lambda facts: VOLATILITY[facts.volatility].capitalize(),
    "rougher": lambda facts: figures.of_100(known(facts.outlook_rank)),
    "calmer": lambda facts: figures.of_100(100 - known(facts.outlook_rank)),
    # Its last hour, and the largest of its day.
    "hour": lambda facts: figures.size(known(facts.hour)),
    "hour_moved": lambda facts: figures.moved(known(facts.hour)),
    "fallen_hour": lambda facts: _falls(known(facts.hour), "fallen", "risen"),
    "fall_hour": lambda facts: _falls(known(facts.hour), "fall", "rise"),
    "hour_leader_name": lambda facts: facts.name(facts.hour_leader),
    "hour_leader_size": lambda facts: figures.size(facts.hours[facts.hour_leader]),
    "largest": lambda facts: figures.size(known(facts.largest).percent),
    "largest_ago": lambda facts: figures.ago(facts.largest_hours_ago),
    "fell_largest": lambda facts: _falls(known(facts.largest).percent, "fell", "rose"),
    "falling_largest": lambda facts: _falls(known(facts.largest).percent, "falling", "rising"),
    "a_fall_largest": lambda facts: _falls(known(facts.largest).percent, "a fall", "a rise"),
    "lost_since": lambda facts: _falls(known(facts.largest).percent, "lost", "gained"),
    "since": lambda facts: figures.size(known(known(facts.largest).since)),
    "won_back": lambda facts: _falls(known(facts.largest).percent, "won back", "given back"),
    # Its legs, its days in a row.
    "first_leg": lambda facts: figures.size(known(facts.legs).first),
    "second_leg": lambda facts: figures.size(known(facts.legs).second),
    "fell_first": lambda facts: _falls(known(facts.legs).first, "fell", "rose"),
    "fell_second": lambda facts: _falls(known(facts.legs).second, "fell", "rose"),
    "fallen_second": lambda facts: _falls(known(facts.legs).second, "fallen", "risen"),
    "turned_ago": lambda facts: figures.ago(facts.hours_since(known(facts.legs).turned_ms)),
    "row_days": lambda facts: in_words(known(facts.row).days),
    "row_moved": lambda facts: figures.moved(known(facts.row).percent),
    # Its coins.
    "leader": lambda facts: facts.name(facts.leader),
    "leader_size": lambda facts: figures.size(facts.days[facts.leader]),
    "best": lambda facts: facts.name(facts.best),
    "best_size": lambda facts: figures.size(facts.days[facts.best]),
    "worst": lambda facts: facts.name(facts.worst),
    "worst_size": lambda facts: figures.size(facts.days[facts.worst]),
    "up_coins": lambda facts: f"{in_words(facts.up)} coin{'' if facts.up == 1 else 's'}",
    "down": lambda facts: in_words(facts.down),
    "higher_coins": lambda facts: "higher" if facts.up >= facts.down else "lower",
    "Most_coins": _most_coins,
    "alone": lambda facts: facts.name(facts.alone or ""),
    "alone_moved": lambda facts: figures.moved(facts.days[facts.alone or ""]),
    "others": lambda facts: in_words(len(facts.others)),
    "others_way": lambda facts: figures.way(facts.others[0] + facts.others[-1]),
    "others_low": lambda facts: _others_between(facts)[0].removesuffix("%"),
    "others_high": lambda facts: _others_between(facts)[1],
    "others_least": lambda facts: figures.signed_size(facts.others[0]),
    "others_most": lambda facts: figures.signed_size(facts.others[-1]),
    # Bitcoin.
    "bitcoin_price": lambda facts: figures.dollars(known(facts.bitcoin).price),
    "bitcoin_size": lambda facts: figures.size(known(facts.bitcoin_day)),
    "bitcoin_moved": lambda facts: figures.moved(known(facts.bitcoin_day)),
    "bitcoin_higher": lambda facts: _falls(known(facts.bitcoin_day), "lower", "higher"),
    "bitcoin_hour_moved": lambda facts: figures.moved(facts.hours[DEFAULT_ASSET]),
    "bitcoin_since_start": lambda facts: figures.moved(
        100 * (known(facts.bitcoin).price / known(facts.first_price) - 1)
    ),
    "bitcoin_range": lambda facts: figures.size(known(facts.bitcoin_range)),
    "bitcoin_low": lambda facts: figures.dollars(known(known(facts.bitcoin).low)),
    "bitcoin_high": lambda facts: figures.dollars(known(known(facts.bitcoin).high)),
    "low_ago": lambda facts: _touched_ago(facts.hours_since(known(facts.bitcoin).low_ms or 0)),
    "high_ago": lambda facts: _touched_ago(facts.hours_since(known(facts.bitcoin).high_ms or 0)),
    "bitcoin_from": lambda facts: figures.dollars((known(facts.bitcoin).hour_range or (0.0, 0.0))[0]),
    "bitcoin_to": lambda facts: figures.dollars((known(facts.bitcoin).hour_range or (0.0, 0.0))[1]),
    "width": lambda facts: figures.wide(known(facts.width)),
    # The coin in focus.
    "Focus": lambda facts: facts.name(facts.focus),
    "price": lambda facts: figures.dollars(coin_of(facts).price),
    "price_age": lambda facts: figures.elapsed(coin_of(facts).minutes_old),
    "moved": lambda facts: figures.moved(known(coin_of(facts).day)),
    "below_high": lambda facts: figures.size(100 * (1 - coin_of(facts).price / known(coin_of(facts).high))),
    "above_low": lambda facts: figures.size(100 * (coin_of(facts).price / known(coin_of(facts).low) - 1)),
    "from": lambda facts: figures.dollars((coin_of(facts).hour_range or (0.0, 0.0))[0]),
    "to": lambda facts: figures.dollars((coin_of(facts).hour_range or (0.0, 0.0))[1]),
    "band": lambda facts: figures.about_dollars(coin_of(facts).price * chance_of(facts).band / 100),
    "small": lambda facts: figures.percent(chance_of(facts).small, 0),
    "usual_small": lambda facts: figures.percent(chance_of(facts).usual_small, 0),
    "large": lambda facts: figures.percent(100 - chance_of(facts).small, 0),
    "usual_large": lambda facts: figures.percent(100 - chance_of(facts).usual_small, 0),
    "surely": lambda facts: "almost surely" if chance_of(facts).small <= 5 else "probably",
    "alike": _alike,
    "called": lambda facts: chance_of(facts).call.value,
    "called_chance": lambda facts: figures.percent(max(chance_of(facts).up, chance_of(facts).down), 0),
    "other_chance": lambda facts: figures.percent(min(chance_of(facts).up, chance_of(facts).down), 0),
}
