"""The sentences about the market, as one table: each with the case in which it is said and the places that it fills.

A group is one place of a page or a body; of its sentences the first whose case holds is said. `render` fills the names
in braces: from `SLOTS`, figures of the facts in words, or from another group of the table. One case, one wording.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.counts import in_words
from generator.catalog.text import figures
from generator.catalog.text.figures import UNCHANGED
from generator.catalog.text.happened import (
    RANKED_DAYS,
    Chance,
    Coin,
    LargestHour,
    Legs,
    MarketFacts,
    Moment,
    Row,
    Situation,
    is_unchanged,
)
from generator.catalog.words import Call, MarketSide, VolatilityWord

LONGEST_HEADLINE: Final = 110
MOST_NUMBERS: Final = 3  # in a headline
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
Case = Callable[[MarketFacts], bool]


class Sentence(NamedTuple):
    """One wording."""

    text: str  # with places to fill in braces
    case: str  # when it is said, for people
    when: Case


def _always(_: MarketFacts) -> bool:
    return True


def _in(situation: Situation) -> Case:
    return lambda facts: facts.situation is situation


def _both(*cases: Case) -> Case:
    return lambda facts: all(case(facts) for case in cases)


def render(group: str, facts: MarketFacts) -> str:
    """Say the first sentence of a group whose case holds; empty where none does."""
    for sentence in TABLE[group]:
        if sentence.when(facts):
            return sentence.text.format_map(_Slots(facts))
    return ""


class _Slots(Mapping[str, str]):
    """What stands in the places of a sentence, worked out when it is asked for."""

    def __init__(self, facts: MarketFacts) -> None:
        self._facts = facts

    def __getitem__(self, name: str) -> str:
        if name in TABLE:
            return render(name, self._facts)
        return SLOTS[name](self._facts)

    def __iter__(self) -> Iterator[str]:
        return iter((*TABLE, *SLOTS))

    def __len__(self) -> int:
        return len(TABLE) + len(SLOTS)


# Cases, and what they ask.


def _coin(facts: MarketFacts) -> Coin:
    """Return the coin in focus; there must be one."""
    coin = facts.coin
    if coin is None:
        raise LookupError(f"{facts.focus} has no price")
    return coin


def _chance(facts: MarketFacts) -> Chance:
    """Return the forecast of the coin in focus; there must be one."""
    chance = _coin(facts).chance
    if chance is None:
        raise LookupError(f"{facts.focus} has no forecast")
    return chance


def _place(facts: MarketFacts) -> float | None:
    """Return where the coin in focus is between its low of the day, 0, and its high, 1."""
    coin = _coin(facts)
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


def _told(facts: MarketFacts) -> bool:
    """Whether the headline gives the day's move."""
    return facts.situation in {Situation.GREAT_DAY, Situation.MOVE, Situation.PLAIN, Situation.DAYS_IN_A_ROW}


def _unranked(facts: MarketFacts) -> bool:
    return facts.volatility is VolatilityWord.UNKNOWN or facts.outlook_rank is None


def _turned_in_hour(facts: MarketFacts) -> bool:
    return abs(facts.z_hour) >= 8 and (facts.hour or 0.0) * (facts.day or 0.0) < 0


def _is_far(facts: MarketFacts) -> bool:
    """Whether the day has come back from its extreme by .3 of it and three quarters of a usual day."""
    if facts.extreme is None or not facts.usual_day:
        return False
    return facts.off_extreme >= 0.3 * abs(facts.extreme.percent) and facts.off_extreme >= 0.75 * facts.usual_day


def _goes_on(facts: MarketFacts) -> bool:
    if (facts.hour or 0.0) * (facts.day or 0.0) <= 0 or _is_far(facts):
        return False
    large = abs(facts.z_hour) >= 6 and abs(facts.hour or 0.0) >= 0.2 * abs(facts.day or 0.0)
    return abs(facts.z_hour) >= 8 or large


def _record_day(facts: MarketFacts) -> bool:
    is_record = facts.records.rise_of_day if (facts.day or 0.0) > 0 else facts.records.fall_of_day
    return is_record and facts.record_days >= 30


def _record_hour(facts: MarketFacts) -> bool:
    is_record = facts.records.rise_of_hour if (facts.hour or 0.0) > 0 else facts.records.fall_of_hour
    return is_record and facts.has_yardstick


def _recent_largest(facts: MarketFacts) -> bool:
    return abs(facts.z_largest) >= 8 and facts.largest_hours_ago <= 8


def _bitcoin_hour_against(facts: MarketFacts) -> bool:
    hour = facts.hours.get("BTC")
    return facts.is_average and hour is not None and hour * (facts.hour or 0.0) < 0 and abs(hour) >= 0.2


def _is_ordinary(facts: MarketFacts) -> bool:
    return abs(facts.z_largest) < 6 and abs(facts.z_day) <= 1.3


def _ranked(facts: MarketFacts, least: float) -> bool:
    return facts.has_yardstick and facts.day_rank is not None and facts.day_rank >= least


def _back(facts: MarketFacts) -> float:
    back = facts.largest.back if facts.largest else None
    return 0.0 if back is None else back


# Figures in words. A slot is asked only by a sentence whose case makes sure that its fact is known.


def _known(value: float | None) -> float:
    if value is None:
        raise LookupError("a sentence was chosen without its figure")
    return value


def _falls(percent: float, falling: str, rising: str) -> str:
    return falling if percent < 0 else rising


def _largest(facts: MarketFacts) -> LargestHour:
    if facts.largest is None:
        raise LookupError("no largest hour is known")
    return facts.largest


def _legs(facts: MarketFacts) -> Legs:
    if facts.legs is None:
        raise LookupError("the day has no two legs")
    return facts.legs


def _row(facts: MarketFacts) -> Row:
    if facts.row is None:
        raise LookupError("no days in a row are known")
    return facts.row


def _extreme(facts: MarketFacts) -> Moment:
    if facts.extreme is None:
        raise LookupError("the day's line is not known")
    return facts.extreme


def _bitcoin(facts: MarketFacts) -> Coin:
    if facts.bitcoin is None:
        raise LookupError("Bitcoin has no price")
    return facts.bitcoin


def _most_coins(facts: MarketFacts) -> str:
    """Say how many coins went the way that most did, e.g. `Five of seven coins are higher`."""
    count, higher = (facts.up, "higher") if facts.up >= facts.down else (facts.down, "lower")
    verb = "is" if count == 1 else "are"
    return f"{in_words(count).capitalize()} of {in_words(len(facts.days))} coins {verb} {higher}"


def _others_between(facts: MarketFacts) -> tuple[str, str]:
    """Return the smaller and the larger size of the others' moves, which all go one way."""
    near, far = sorted((abs(facts.others[0]), abs(facts.others[-1])))
    return figures.size(near), figures.size(far)


def _touched_ago(hours: float) -> str:
    return "within the last hour" if hours < 1 else figures.ago(hours)


def _alike(facts: MarketFacts) -> str:
    chance = _chance(facts)
    return ", up or down alike" if abs(chance.up - chance.down) <= 2 else ""


Slot = Callable[[MarketFacts], str]
SLOTS: Final[dict[str, Slot]] = {
    # The market.
    "Crypto": lambda facts: "Crypto" if facts.is_average else "Bitcoin",
    "crypto": lambda facts: "crypto" if facts.is_average else "Bitcoin",
    "record": lambda facts: figures.span(facts.record_days),
    "record_last": lambda facts: figures.last(facts.record_days),
    "record_ago": lambda facts: figures.ago(24 * facts.record_days),
    "stale": lambda facts: f"{facts.minutes_stale:.0f} minutes",
    "known": lambda facts: in_words(len(facts.days)),
    "day": lambda facts: figures.size(_known(facts.day)),
    "day_moved": lambda facts: figures.moved(_known(facts.day)),
    "higher": lambda facts: _falls(_known(facts.day), "lower", "higher"),
    "fell_day": lambda facts: _falls(_known(facts.day), "fell", "rose"),
    "fall_day": lambda facts: _falls(_known(facts.day), "fall", "rise"),
    "fallen_day": lambda facts: _falls(_known(facts.day), "fallen", "risen"),
    "three_moved": lambda facts: figures.moved(_known(facts.three_hours)),
    "week": lambda facts: figures.size(_known(facts.week)),
    "week_moved": lambda facts: figures.moved(_known(facts.week)),
    "week_higher": lambda facts: _falls(_known(facts.week), "lower", "higher"),
    "line_range": lambda facts: figures.size(_known(facts.line_range)),
    "extreme_moved": lambda facts: figures.moved(_extreme(facts).percent),
    "extreme_ago": lambda facts: figures.ago(facts.hours_since(_extreme(facts).at_ms)),
    "side": lambda facts: SIDE[facts.side],
    "Volatility": lambda facts: VOLATILITY[facts.volatility].capitalize(),
    "rougher": lambda facts: figures.of_100(_known(facts.outlook_rank)),
    "calmer": lambda facts: figures.of_100(100 - _known(facts.outlook_rank)),
    # Its last hour, and the largest of its day.
    "hour": lambda facts: figures.size(_known(facts.hour)),
    "hour_moved": lambda facts: figures.moved(_known(facts.hour)),
    "fallen_hour": lambda facts: _falls(_known(facts.hour), "fallen", "risen"),
    "fall_hour": lambda facts: _falls(_known(facts.hour), "fall", "rise"),
    "hour_leader_name": lambda facts: facts.name(facts.hour_leader),
    "hour_leader_size": lambda facts: figures.size(facts.hours[facts.hour_leader]),
    "largest": lambda facts: figures.size(_largest(facts).percent),
    "largest_ago": lambda facts: figures.ago(facts.largest_hours_ago),
    "fell_largest": lambda facts: _falls(_largest(facts).percent, "fell", "rose"),
    "falling_largest": lambda facts: _falls(_largest(facts).percent, "falling", "rising"),
    "a_fall_largest": lambda facts: _falls(_largest(facts).percent, "a fall", "a rise"),
    "lost_since": lambda facts: _falls(_largest(facts).percent, "lost", "gained"),
    "since": lambda facts: figures.size(_known(_largest(facts).since)),
    "won_back": lambda facts: _falls(_largest(facts).percent, "won back", "given back"),
    # Its legs, its days in a row.
    "first_leg": lambda facts: figures.size(_legs(facts).first),
    "second_leg": lambda facts: figures.size(_legs(facts).second),
    "fell_first": lambda facts: _falls(_legs(facts).first, "fell", "rose"),
    "fell_second": lambda facts: _falls(_legs(facts).second, "fell", "rose"),
    "fallen_second": lambda facts: _falls(_legs(facts).second, "fallen", "risen"),
    "turned_ago": lambda facts: figures.ago(facts.hours_since(_legs(facts).turned_ms)),
    "row_days": lambda facts: in_words(_row(facts).days),
    "row_moved": lambda facts: figures.moved(_row(facts).percent),
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
    "others_least": lambda facts: figures.signed(facts.others[0]),
    "others_most": lambda facts: figures.signed(facts.others[-1]),
    # Bitcoin.
    "bitcoin_price": lambda facts: figures.dollars(_bitcoin(facts).price),
    "bitcoin_size": lambda facts: figures.size(_known(facts.bitcoin_day)),
    "bitcoin_moved": lambda facts: figures.moved(_known(facts.bitcoin_day)),
    "bitcoin_higher": lambda facts: _falls(_known(facts.bitcoin_day), "lower", "higher"),
    "bitcoin_hour_moved": lambda facts: figures.moved(facts.hours[DEFAULT_ASSET]),
    "bitcoin_since_start": lambda facts: figures.moved(100 * (_bitcoin(facts).price / _known(facts.first_price) - 1)),
    "bitcoin_range": lambda facts: figures.size(_known(facts.bitcoin_range)),
    "bitcoin_low": lambda facts: figures.dollars(_known(_bitcoin(facts).low)),
    "bitcoin_high": lambda facts: figures.dollars(_known(_bitcoin(facts).high)),
    "low_ago": lambda facts: _touched_ago(facts.hours_since(_bitcoin(facts).low_ms or 0)),
    "high_ago": lambda facts: _touched_ago(facts.hours_since(_bitcoin(facts).high_ms or 0)),
    "bitcoin_from": lambda facts: figures.dollars((_bitcoin(facts).hour_range or (0.0, 0.0))[0]),
    "bitcoin_to": lambda facts: figures.dollars((_bitcoin(facts).hour_range or (0.0, 0.0))[1]),
    "width": lambda facts: figures.wide(_known(facts.width)),
    # The coin in focus.
    "Focus": lambda facts: facts.name(facts.focus),
    "price": lambda facts: figures.dollars(_coin(facts).price),
    "moved": lambda facts: figures.moved(_known(_coin(facts).day)),
    "below_high": lambda facts: figures.size(100 * (1 - _coin(facts).price / _known(_coin(facts).high))),
    "above_low": lambda facts: figures.size(100 * (_coin(facts).price / _known(_coin(facts).low) - 1)),
    "from": lambda facts: figures.dollars((_coin(facts).hour_range or (0.0, 0.0))[0]),
    "to": lambda facts: figures.dollars((_coin(facts).hour_range or (0.0, 0.0))[1]),
    "band": lambda facts: figures.about_dollars(_coin(facts).price * _chance(facts).band / 100),
    "small": lambda facts: f"{_chance(facts).small:.0f}%",
    "usual_small": lambda facts: f"{_chance(facts).usual_small:.0f}%",
    "large": lambda facts: f"{100 - _chance(facts).small:.0f}%",
    "usual_large": lambda facts: f"{100 - _chance(facts).usual_small:.0f}%",
    "surely": lambda facts: "almost surely" if _chance(facts).small <= 5 else "probably",
    "alike": _alike,
    "called": lambda facts: _chance(facts).call.value,
    "called_chance": lambda facts: f"{max(_chance(facts).up, _chance(facts).down):.0f}%",
    "other_chance": lambda facts: f"{min(_chance(facts).up, _chance(facts).down):.0f}%",
}

HEADLINE: Final = (
    # Row 0: what is not known.
    Sentence(
        "No fresh prices: what the market did is unknown",
        "no price of Bitcoin",
        lambda facts: facts.bitcoin is None,
    ),
    Sentence(
        "No new prices for {stale}; Bitcoin was last at {bitcoin_price}",
        "the last price is older than ten minutes",
        lambda facts: facts.minutes_stale >= 10,
    ),
    Sentence(
        "Just started: Bitcoin is at {bitcoin_price}",
        "a record of under an hour",
        lambda facts: facts.record_days < 1 / 24 and facts.day is None,
    ),
    Sentence(
        "We began to watch {record_ago}: Bitcoin is {bitcoin_since_start} since",
        "a record of under 25 hours",
        lambda facts: facts.record_days < 25 / 24 and facts.day is None and facts.first_price is not None,
    ),
    Sentence(
        "Part of the last day is missing; Bitcoin is at {bitcoin_price}{bitcoin_hour_after}",
        "the day's or the hour's move is unknown",
        lambda facts: facts.day is None or (facts.situation is Situation.UNKNOWN and facts.record_days >= RANKED_DAYS),
    ),
    Sentence(
        "Bitcoin is {bitcoin_moved} in a day, the average coin {day_moved}; our records are {record} old",
        "a record of under three days",
        lambda facts: facts.situation is Situation.UNKNOWN and facts.bitcoin_day is not None and facts.is_average,
    ),
    Sentence(
        "Bitcoin is {bitcoin_moved} in a day; our records are {record} old",
        "the same, with fewer than three coins",
        lambda facts: facts.situation is Situation.UNKNOWN and facts.bitcoin_day is not None,
    ),
    # Row 1: an hour far beyond the usual.
    Sentence(
        "{Crypto} has {fallen_hour} {hour} in an hour, but Bitcoin is {bitcoin_hour_moved}",
        "a shock, and Bitcoin went the other way by .2% or more",
        _both(_in(Situation.SHOCK), _bitcoin_hour_against),
    ),
    Sentence(
        "{Crypto} has {fallen_hour} {hour} in an hour{hour_leader}, its largest hourly {fall_hour} in {record}",
        "a shock, the largest on a record of two weeks or more",
        _both(_in(Situation.SHOCK), _record_hour),
    ),
    Sentence(
        "{Crypto} has {fallen_hour} {hour} in an hour{hour_leader}, one of its largest hourly {fall_hour}s in {record}",
        "a shock, one of the largest on a record of half a year or more",
        _both(_in(Situation.SHOCK), lambda facts: facts.rare_hour),
    ),
    Sentence("{Crypto} has {fallen_hour} {hour} in an hour{hour_leader}", "any other shock", _in(Situation.SHOCK)),
    # Row 2: a day far beyond the usual.
    Sentence(
        "{Crypto} is {day_moved} in a day, but {hour_moved} in the last hour",
        "a great day, and the last hour went against it by eight usual hours",
        _both(_in(Situation.GREAT_DAY), _turned_in_hour),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, but {three_moved} in the last three hours{bitcoin_apart}",
        "a great day, and the last three hours went against it by .7 of a usual day",
        _both(_in(Situation.GREAT_DAY), lambda facts: facts.turned_lately),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day{day_leader} and {hour} in the last hour",
        "a great day, and the last hour went on with it",
        _both(_in(Situation.GREAT_DAY), _goes_on),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day{day_leader}, its largest {fall_day} in {record}",
        "a great day, the largest on a record of a month or more",
        _both(_in(Situation.GREAT_DAY), _record_day),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day: {leader} {leader_size}, but Bitcoin is {bitcoin_moved}",
        "a great day, and Bitcoin went the other way",
        _both(_in(Situation.GREAT_DAY), lambda facts: facts.is_against),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, after being {extreme_moved} {extreme_ago}",
        "a great day that has come back by .3 of its extreme and .75 of a usual day",
        _both(_in(Situation.GREAT_DAY), _is_far),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, despite {a_fall_largest} of {largest} in one hour, {largest_ago}",
        "a great day, against an hour of eight usual ones in the last eight",
        _both(_in(Situation.GREAT_DAY), _recent_largest, lambda facts: facts.largest_of_day < 0),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day; it {fell_largest} {largest} in one hour, {largest_ago}",
        "a great day, less than half of it in such an hour",
        _both(_in(Situation.GREAT_DAY), _recent_largest, lambda facts: facts.largest_of_day < 0.5),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, after {falling_largest} {largest} in one hour, {largest_ago}",
        "a great day, less than its largest hour by three tenths",
        _both(
            _in(Situation.GREAT_DAY),
            lambda facts: facts.largest_of_day > 1.3 and abs(facts.z_largest) >= 6 and facts.largest_hours_ago >= 0.2,
        ),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, all of it in one hour, {largest_ago}",
        "a great day, about as large as its largest hour",
        _both(
            _in(Situation.GREAT_DAY),
            lambda facts: 1.0 < facts.largest_of_day <= 1.3 and facts.largest_hours_ago >= 0.2,
        ),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, most of it in one hour, {largest_ago}",
        "a great day, three fifths of it in one hour",
        _both(
            _in(Situation.GREAT_DAY),
            lambda facts: 0.6 <= facts.largest_of_day <= 1.0 and facts.largest_hours_ago >= 1,
        ),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, half of it in one hour, {largest_ago}",
        "a great day, half of it in one hour",
        _both(
            _in(Situation.GREAT_DAY),
            lambda facts: 0.5 <= facts.largest_of_day < 0.6 and facts.largest_hours_ago >= 1,
        ),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day; Bitcoin {fell_day} most, {bitcoin_size}",
        "a great day that Bitcoin leads",
        _both(_in(Situation.GREAT_DAY), lambda facts: facts.leader == "BTC" and facts.is_average),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day: {leader} {leader_size}, Bitcoin {bitcoin_size}",
        "a great day that Bitcoin shares",
        _both(
            _in(Situation.GREAT_DAY),
            lambda facts: facts.is_average and (facts.bitcoin_day or 0.0) * (facts.day or 0.0) > 0,
        ),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day: {leader} by {leader_size}{bitcoin_after}",
        "any other great day",
        _both(_in(Situation.GREAT_DAY), lambda facts: facts.is_average),
    ),
    Sentence("Bitcoin is {day_moved} in a day", "a great day of Bitcoin alone", _in(Situation.GREAT_DAY)),
    # Row 3: the hours after a shock.
    Sentence(
        "{Crypto} {fell_largest} {largest} in one hour, {largest_ago}, and has {lost_since} {since} more since",
        "after an hour of eight usual ones, which went on",
        _both(_in(Situation.AFTERMATH), lambda facts: _back(facts) < -0.15),
    ),
    Sentence(
        "{Crypto} {fell_largest} {largest} in one hour, {largest_ago}, and has stayed there",
        "after such an hour, within .15 of it either way",
        _both(_in(Situation.AFTERMATH), lambda facts: _back(facts) < 0.15),
    ),
    Sentence(
        "{Crypto} {fell_largest} {largest} in one hour, {largest_ago}, and has {won_back} {share_back}",
        "after such an hour, which was partly or wholly undone",
        _in(Situation.AFTERMATH),
    ),
    # Row 4: one coin.
    Sentence(
        "{alone} stands out: {alone_moved} in a day; the other {others} are {others_way} {others_low} to {others_high}",
        "a coin far from the others, which all went one way",
        _both(_in(Situation.ONE_COIN), lambda facts: facts.others[0] >= UNCHANGED or facts.others[-1] <= -UNCHANGED),
    ),
    Sentence(
        "{alone} stands out: {alone_moved} in a day; the other {others} lie between {others_least} and {others_most}",
        "a coin far from the others",
        _in(Situation.ONE_COIN),
    ),
    # Row 5: a day in two legs.
    Sentence(
        "{Crypto} {fell_first} {first_leg}, {fell_second} {second_leg} and now stands where it was a day ago",
        "two legs that are over, and no change",
        _both(
            _in(Situation.REVERSAL),
            lambda facts: facts.legs is not None and facts.legs.is_over,
            lambda facts: is_unchanged(facts.day or 0.0),
        ),
    ),
    Sentence(
        "{Crypto} {fell_first} {first_leg}, {fell_second} {second_leg} and now stands {day} {higher} than a day ago",
        "two legs that are over",
        _both(_in(Situation.REVERSAL), lambda facts: facts.legs is not None and facts.legs.is_over),
    ),
    Sentence(
        "{Crypto} {fell_first} {first_leg} until {turned_ago} and has {fallen_second} {second_leg} since",
        "two legs, the second still going on",
        _both(_in(Situation.REVERSAL), lambda facts: facts.legs is not None),
    ),
    # Row 6: days in a row.
    Sentence(
        "{Crypto} is {row_moved} in {row_days} days, but {three_moved} in the last three hours",
        "three days or more one way, and the last three hours against it",
        _both(_in(Situation.DAYS_IN_A_ROW), lambda facts: facts.turned_lately),
    ),
    Sentence(
        "{Crypto} has {fallen_day} {row_days} days in a row: {row_moved} in all, {day} in the last day",
        "three days or more one way",
        _in(Situation.DAYS_IN_A_ROW),
    ),
    # Row 7: a week.
    Sentence(
        "Little changed in a day, but {crypto} is {week} {week_higher} than a week ago",
        "a flat day in a week of 1.75 usual ones",
        _in(Situation.WEEK),
    ),
    # Row 8: coins that part ways.
    Sentence(
        "Coins part ways: {best} up {best_size} in a day, {worst} down {worst_size}",
        "two or more coins on either side, Bitcoin the best or the worst",
        _both(_in(Situation.SPLIT), lambda facts: "BTC" in {facts.best, facts.worst}),
    ),
    Sentence(
        "Coins part ways: {best} up {best_size} in a day, {worst} down {worst_size}, Bitcoin {bitcoin_moved}",
        "two or more coins on either side",
        _in(Situation.SPLIT),
    ),
    # Rows 9 and 11: a move, and the rest, where the last hours turned.
    Sentence(
        "{Crypto} is {day_moved} in a day, but {three_moved} in the last three hours{bitcoin_apart}",
        "a move, and the last three hours went against it by .7 of a usual day",
        _both(_in(Situation.MOVE), lambda facts: facts.turned_lately),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, {against_usual}{bitcoin_after}",
        "a move of 1.3 usual days",
        _both(_in(Situation.MOVE), lambda facts: facts.has_yardstick),
    ),
    Sentence("{Crypto} is {day_moved} in a day{bitcoin_after}", "the same on a young record", _in(Situation.MOVE)),
    # Row 10: calm.
    Sentence(
        "Bitcoin's quietest day in {record}: it has stayed within {bitcoin_range}",
        "calm, and no narrower day on a record of a month or more",
        _both(_in(Situation.CALM), lambda facts: facts.records.narrowest_day and facts.record_days >= 30),
    ),
    Sentence(
        "Quiet: Bitcoin has stayed within {bitcoin_range} for a day and is {bitcoin_moved}",
        "calm and flat",
        _in(Situation.CALM),
    ),
    # Row 11: the rest.
    Sentence(
        "{Crypto} stands where it stood a day ago",
        "no change at all",
        lambda facts: is_unchanged(facts.day or 0.0) and is_unchanged(facts.bitcoin_day or 0.0),
    ),
    Sentence(
        "Bitcoin is {bitcoin_moved} in a day, but the average coin is {day_moved}",
        "Bitcoin and the average coin went opposite ways by .2% each",
        lambda facts: facts.is_clearly_against and abs(facts.day or 0.0) >= 0.2,
    ),
    Sentence(
        "Mixed: {up_coins} up in a day, {down} down; Bitcoin is {bitcoin_moved}",
        "fewer than half of the coins went the average's way",
        lambda facts: facts.is_average and not facts.is_many and abs(facts.day or 0.0) >= 0.1,
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, but {three_moved} in the last three hours{bitcoin_apart}",
        "the last three hours went against the day by .7 of a usual day",
        lambda facts: facts.turned_lately and not is_unchanged(facts.day or 0.0),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, a wild one{bitcoin_after}",
        "the day's volatility in the top twentieth of the record",
        lambda facts: _ranked(facts, 95.0),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, a rough one{bitcoin_after}",
        "in the top quarter",
        lambda facts: _ranked(facts, 75.0),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, an ordinary one{bitcoin_after}",
        "below, and neither the day nor its largest hour stands out",
        lambda facts: _ranked(facts, 0.0) and _is_ordinary(facts),
    ),
    Sentence("{Crypto} is {day_moved} in a day{bitcoin_after}", "the rest", _always),
)

TABLE: Final[dict[str, tuple[Sentence, ...]]] = {
    "headline": HEADLINE,
    "hour_leader": (
        Sentence(" ({hour_leader_name} {hour_leader_size})", "three coins or more", lambda facts: facts.is_average),
    ),
    "day_leader": (Sentence(" ({leader} {leader_size})", "three coins or more", lambda facts: facts.is_average),),
    "bitcoin_apart": (
        Sentence(
            "; Bitcoin is {bitcoin_moved}",
            "Bitcoin went the other way than the average coin by .2% or more",
            lambda facts: facts.is_clearly_against,
        ),
    ),
    "bitcoin_after": (
        Sentence("", "Bitcoin alone is known", lambda facts: not facts.is_average or facts.bitcoin_day is None),
        Sentence("; but Bitcoin is {bitcoin_moved}", "it went the other way", lambda facts: facts.is_against),
        Sentence("; Bitcoin is {bitcoin_moved}", "else", _always),
    ),
    "bitcoin_hour_after": (
        Sentence(", {bitcoin_hour_moved} in an hour", "the hour is known", lambda facts: "BTC" in facts.hours),
    ),
    "against_usual": (
        Sentence("about as much as usual", "below 1.25 usual days", lambda facts: abs(facts.z_day) < 1.25),
        Sentence("more than usual", "below 1.75", lambda facts: abs(facts.z_day) < 1.75),
        Sentence("about twice as much as usual", "below 2.4", lambda facts: abs(facts.z_day) < 2.4),
        Sentence("far more than usual", "the rest", _always),
    ),
    "share_back": (
        Sentence("about a quarter of it", "less than .29 of it", lambda facts: _back(facts) < 0.29),
        Sentence("about a third of it", "less than .4", lambda facts: _back(facts) < 0.4),
        Sentence("about half of it", "less than .6", lambda facts: _back(facts) < 0.6),
        Sentence("most of it", "less than .9", lambda facts: _back(facts) < 0.9),
        Sentence("all of it", "less than 1.15", lambda facts: _back(facts) < 1.15),
        Sentence("all of it and more", "the rest", _always),
    ),
    # The first screen.
    "first_price": (
        Sentence("", "no price", lambda facts: facts.bitcoin is None),
        Sentence("Bitcoin is at {bitcoin_price}.", "no day known", lambda facts: facts.bitcoin_day is None),
        Sentence(
            "Bitcoin is at {bitcoin_price}, as it was a day ago.",
            "no change",
            lambda facts: is_unchanged(facts.bitcoin_day or 0.0),
        ),
        Sentence("Bitcoin is at {bitcoin_price}, {bitcoin_size} {bitcoin_higher} than a day ago.", "else", _always),
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
            _always,
        ),
    ),
    "first_coins": (
        Sentence("", "fewer than three coins, or a young record", lambda facts: not _counts_coins(facts)),
        Sentence(
            "All {known} coins are {higher_coins} than a day ago.",
            "all of them, after a price touched or where the headline tells the day",
            lambda facts: _all_one_way(facts) and _told(facts) and (_any_touched(facts) or facts.week is None),
        ),
        Sentence(
            "All {known} coins are {higher_coins} than a day ago; over a week the average is {week_moved}.",
            "all of them, where the headline tells the day",
            lambda facts: _all_one_way(facts) and _told(facts),
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
            "where the headline tells the day",
            lambda facts: _told(facts) and facts.week is not None,
        ),
        Sentence("{Most_coins} than a day ago; the average is {day_moved}.", "else", _always),
    ),
    # The regime's summary.
    "regime_day": (
        Sentence(
            "What the market did over the last day is not known.",
            "no side",
            lambda facts: facts.side is MarketSide.UNKNOWN or facts.day is None,
        ),
        Sentence(
            "A day of ups and downs: {crypto} swung {line_range} and is {day_moved}{week_after_comma}.",
            "both ways",
            lambda facts: facts.side is MarketSide.BOTH_WAYS and facts.line_range is not None,
        ),
        Sentence("A {side} day: {crypto} is {day_moved} in 24 hours{week_after}.", "else", _always),
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
        Sentence(" and {week_moved} in a week", "else", _always),
    ),
    "week_after_comma": (
        Sentence(", {week_moved} in a week", "a week is known", lambda facts: facts.week is not None),
    ),
    "regime_volatility": (
        Sentence("", "unknown", _unranked),
        Sentence(
            "Calm: the next four hours look quieter than {calmer} hours of {record_last} did.",
            "calm",
            lambda facts: facts.volatility is VolatilityWord.CALM,
        ),
        Sentence(
            "{Volatility}: the next four hours look rougher than {rougher} hours of {record_last} did.", "else", _always
        ),
    ),
    # One coin.
    "asset": (
        Sentence("{Focus}: no price is known.", "no price", lambda facts: facts.coin is None),
        Sentence("{Focus} {price}.{coin_range}", "no day known", lambda facts: _coin(facts).day is None),
        Sentence("{Focus} {price}, {moved} in a day{coin_place}.{coin_range}", "else", _always),
    ),
    "coin_place": (
        Sentence("", "no high and low of the day", lambda facts: _place(facts) is None),
        Sentence(", near its day's high", "in the top tenth of its day", lambda facts: (_place(facts) or 0) >= 0.9),
        Sentence(", near its day's low", "in the lowest tenth", lambda facts: (_place(facts) or 0) <= 0.1),
        Sentence(", {below_high} below its day's high", "in the lower half", lambda facts: (_place(facts) or 0) < 0.5),
        Sentence(", {above_low} above its day's low", "in the upper half", _always),
    ),
    "coin_range": (
        Sentence("", "no range", lambda facts: _coin(facts).hour_range is None),
        Sentence(" In an hour, nine times in ten between {from} and {to}.", "else", _always),
    ),
    "call": (
        Sentence("", "no forecast", lambda facts: facts.coin is None or facts.coin.chance is None),
        Sentence(
            "{Focus} will probably be about here in an hour: within {band} either way "
            "({small}; usually {usual_small}).",
            "a small move has a chance of one half or more",
            lambda facts: _chance(facts).small >= 50,
        ),
        Sentence(
            "The call for {Focus} is {called}: {called_chance}, against {other_chance} for the other way.",
            "a side is called",
            lambda facts: _chance(facts).call in {Call.UP, Call.DOWN},
        ),
        Sentence(
            "{Focus} will {surely} end the next hour more than {band} from here{alike} "
            "({large}; usually {usual_large}).",
            "five points over its base rate",
            lambda facts: _chance(facts).usual_small - _chance(facts).small >= 5,
        ),
        Sentence(
            "{Focus} is less likely than usual to end the next hour more than {band} from here "
            "({large}; usually {usual_large}).",
            "five points under it",
            lambda facts: _chance(facts).small - _chance(facts).usual_small >= 5,
        ),
        Sentence(
            "An hour like most: the chance that {Focus} ends it more than {band} from here, either way, is {large} "
            "(usually {usual_large}).",
            "between",
            _always,
        ),
    ),
}


def headline(facts: MarketFacts) -> str:
    """Return the headline: the news first, at most 110 characters and three numbers, without a full stop."""
    return render("headline", facts)


def first_screen(facts: MarketFacts) -> str:
    """Return what stands below the headline: the price, the next hour, that no direction is known, the coins."""
    touched = render("first_touched", facts)
    nobody = "Which way? Nobody knows, nor do we." if facts.bitcoin is not None else ""
    parts = (render("first_price", facts), touched, render("first_range", facts), nobody, render("first_coins", facts))
    return " ".join(part for part in parts if part)


def regime_summary(facts: MarketFacts) -> str:
    """Return the state of the market in a sentence or two."""
    return " ".join(part for part in (render("regime_day", facts), render("regime_volatility", facts)) if part)


def asset_line(facts: MarketFacts, asset: str) -> str:
    """Return one coin in a line: its price, its day, its next hour."""
    return render("asset", replace(facts, focus=asset))


def call_sentence(facts: MarketFacts, asset: str = DEFAULT_ASSET) -> str:
    """Return what the next hour's forecast of one coin says; empty without one."""
    return render("call", replace(facts, focus=asset))
