"""The headline: eleven situations, the most urgent first, and what is said where none is known."""

from collections.abc import Callable
from typing import Final

from generator.catalog.text.book import Groups, Sentence, always
from generator.catalog.text.figures import UNCHANGED
from generator.catalog.text.happened import RANKED_DAYS, MarketFacts, Situation, is_unchanged

LONGEST: Final = 110  # characters
MOST_NUMBERS: Final = 3
Case = Callable[[MarketFacts], bool]


def _in(situation: Situation) -> Case:
    return lambda facts: facts.situation is situation


def _both(*cases: Case) -> Case:
    return lambda facts: all(case(facts) for case in cases)


def _turned_in_hour(facts: MarketFacts) -> bool:
    return abs(facts.z_hour) >= 8 and (facts.hour or 0.0) * (facts.day or 0.0) < 0


def _is_far(facts: MarketFacts) -> bool:
    """Whether the day has come back from its extreme by .3 of it and three quarters of a usual day."""
    if facts.extreme is None or not facts.usual_day:
        return False
    return facts.off_extreme >= 0.3 * abs(facts.extreme.percent) and facts.off_extreme >= 0.75 * facts.usual_day


def _continues(facts: MarketFacts) -> bool:
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


HEADLINE: Final[tuple[Sentence[MarketFacts], ...]] = (
    # Row 0: what is not known.
    Sentence(
        "No fresh prices: what the market did is unknown",
        "no price of Bitcoin",
        lambda facts: facts.bitcoin is None,
    ),
    Sentence(
        "No new prices for {stale}; Bitcoin was last at {bitcoin_price}",
        "the last price is older than ten minutes",
        lambda facts: facts.is_stale,
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
        "{Crypto} is {day_moved} in a day, but {hour_moved} in the last hour{bitcoin_apart}",
        "a great day, and the last hour went against it by eight usual hours",
        _both(_in(Situation.GREAT_DAY), _turned_in_hour),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day, but {three_moved} in the last three hours{bitcoin_apart}",
        "a great day, and the last three hours went against it by .7 of a usual day",
        _both(_in(Situation.GREAT_DAY), lambda facts: facts.turned_lately),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day{day_leader} and {hour} in the last hour{bitcoin_apart}",
        "a great day, and the last hour went on with it",
        _both(_in(Situation.GREAT_DAY), _continues),
    ),
    Sentence(
        "{Crypto} is {day_moved} in a day{day_leader}, its largest {fall_day} in {record}{bitcoin_apart}",
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
        "{Crypto} {fell_first} {first_leg}, {fell_second} {second_leg} and is now where it was a day ago",
        "two legs that are over, and no change",
        _both(
            _in(Situation.REVERSAL),
            lambda facts: facts.legs is not None and facts.legs.is_over,
            lambda facts: is_unchanged(facts.day or 0.0),
        ),
    ),
    Sentence(
        "{Crypto} {fell_first} {first_leg}, {fell_second} {second_leg} and is now {day} {higher} than a day ago",
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
        "{Crypto} is where it was a day ago",
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
    Sentence("{Crypto} is {day_moved} in a day{bitcoin_after}", "the rest", always),
)

HEADLINE_GROUPS: Final[Groups[MarketFacts]] = {
    "headline": HEADLINE,
    "hour_leader": (
        Sentence(" ({hour_leader_name} {hour_leader_size})", "three coins or more", lambda facts: facts.is_average),
    ),
    "day_leader": (
        Sentence("", "Bitcoin is named instead", lambda facts: facts.is_clearly_against),
        Sentence(" ({leader} {leader_size})", "three coins or more", lambda facts: facts.is_average),
    ),
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
        Sentence("; Bitcoin is {bitcoin_moved}", "else", always),
    ),
    "bitcoin_hour_after": (
        Sentence(", {bitcoin_hour_moved} in an hour", "the hour is known", lambda facts: "BTC" in facts.hours),
    ),
    "against_usual": (
        Sentence("about as much as usual", "below 1.25 usual days", lambda facts: abs(facts.z_day) < 1.25),
        Sentence("more than usual", "below 1.75", lambda facts: abs(facts.z_day) < 1.75),
        Sentence("about twice as much as usual", "below 2.4", lambda facts: abs(facts.z_day) < 2.4),
        Sentence("far more than usual", "the rest", always),
    ),
    "share_back": (
        Sentence("about a quarter of it", "less than .29 of it", lambda facts: _back(facts) < 0.29),
        Sentence("about a third of it", "less than .4", lambda facts: _back(facts) < 0.4),
        Sentence("about half of it", "less than .6", lambda facts: _back(facts) < 0.6),
        Sentence("most of it", "less than .9", lambda facts: _back(facts) < 0.9),
        Sentence("all of it", "less than 1.15", lambda facts: _back(facts) < 1.15),
        Sentence("all of it and more", "the rest", always),
    ),
}
