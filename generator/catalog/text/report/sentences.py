"""The report's sentences: what happened, how rough it is, how far prices may go, what followed such days, an idea.

The title is the headline. A sentence whose figures are not known is left out, and nothing is said to fill a page.
Shares are given from 30 cases on, with an interval.
"""

from enum import StrEnum
from typing import Final

from generator.catalog.text.book import Book, Groups, Sentence, always, joined
from generator.catalog.text.happened import WEEK_YARDSTICK_DAYS, Situation, is_unchanged
from generator.catalog.text.headline import HEADLINE_GROUPS
from generator.catalog.text.now import NOW_GROUPS
from generator.catalog.text.report.facts import FEWEST, ReportFacts, Share
from generator.catalog.text.report.slots import REPORT_SLOTS
from generator.catalog.text.slots import SLOTS
from generator.catalog.words import Call, VolatilityWord

_HELD_FEW: Final = 19  # of a day's 24 ranges
_HELD_ALL: Final = 24
_FEW_HOURS: Final = 10
_LATELY_HOURS: Final = 2.0


class Part(StrEnum):
    """The parts of a report, in order, by their headings."""

    HAPPENED = "What happened"
    ROUGH = "How rough it is"
    FAR = "How far from here"
    AFTER = "What came after such days"
    LONG = "How long it lasts"
    YESTERDAY = "Yesterday, graded"
    IDEA = "An idea to keep"
    QUESTION = "A question"


PARTS: Final[dict[Part, tuple[str, ...]]] = {
    Part.HAPPENED: (
        *("day_and_coins", "day_by_usual", "largest_hour", "largest_share", "best_and_worst_point"),
        *("bitcoin_traded", "best_and_worst_coin", "together", "trading", "over_a_week"),
    ),
    Part.ROUGH: ("called_rough", "swung"),
    Part.FAR: ("hour_and_four", "a_day_on", "call", "widest_and_narrowest", "no_direction", "held"),
    Part.AFTER: ("like_days", "like_days_rose", "like_days_luck", "like_days_size"),
    Part.LONG: ("spell",),
    Part.YESTERDAY: ("yesterday", "day_of_ranges", "day_of_ranges_means"),
    Part.IDEA: ("idea",),
    Part.QUESTION: ("question",),
}


def _enough(share: Share | None) -> bool:
    return share is not None and share.n >= FEWEST


def _come_in_groups(share: Share | None) -> bool:
    """Say whether the next hour was larger than usual more often than by luck."""
    return share is not None and _enough(share) and round(share.low) > 50


def _has_no_like(facts: ReportFacts) -> bool:
    """Say whether days could be like this one, and whether they are is not known."""
    return facts.record_days >= WEEK_YARDSTICK_DAYS and facts.like_days is None


def _has_day(facts: ReportFacts) -> bool:
    return facts.day is not None and bool(facts.days)


def _way_was_large(facts: ReportFacts) -> bool:
    wide = facts.line_range is not None and bool(facts.usual_day) and facts.line_range >= 2.5 * (facts.usual_day or 0.0)
    return abs(facts.z_largest) >= 5 or wide


def _is_luck(facts: ReportFacts) -> bool:
    like = facts.like_days
    return like is not None and like.rose is not None and like.rose.low <= like.any_rose <= like.rose.high


def _livelier(facts: ReportFacts) -> int:
    """Return 1 where the next days were livelier than most, -1 where quieter, 0 where that is not shown."""
    like = facts.like_days
    if like is None or like.moved_more is None:
        return 0
    if like.moved_more.low > like.any_moved_more:
        return 1
    return -1 if like.moved_more.high < like.any_moved_more else 0


def _had_large_hour(facts: ReportFacts) -> bool:
    return _has_day(facts) and abs(facts.z_largest) >= 4


def _after_a_shock(facts: ReportFacts) -> bool:
    return facts.situation in {Situation.SHOCK, Situation.GREAT_DAY, Situation.AFTERMATH}


def _points(facts: ReportFacts) -> tuple[bool, bool]:
    """Say whether the day's line went above and below where it began by .15% or more."""
    high = facts.line_high is not None and facts.line_high.percent >= 0.15
    low = facts.line_low is not None and facts.line_low.percent <= -0.15
    return high, low


def _unranked(facts: ReportFacts) -> bool:
    return facts.volatility is VolatilityWord.UNKNOWN or facts.outlook_rank is None


def _held_share(facts: ReportFacts) -> float | None:
    """Return the share of the day's ranges that held; None unless all 24 are known."""
    day = facts.yesterday
    return None if day is None or day.hours < _HELD_ALL else day.held / day.hours


def _graded(facts: ReportFacts) -> bool:
    """Say whether a range of a day ago came due within the last two hours."""
    due_ms = facts.yesterday.due_ms if facts.yesterday else None
    return due_ms is not None and 0 <= facts.hours_since(due_ms) < _LATELY_HOURS


def _calls_a_side(facts: ReportFacts) -> bool:
    chance = facts.bitcoin.chance if facts.bitcoin else None
    return chance is not None and chance.call in {Call.UP, Call.DOWN}


def _is_usual_day(facts: ReportFacts) -> bool:
    return 0.75 <= abs(facts.z_day) < 1.3 and facts.last_days is not None and facts.record_days > 30


REPORT_GROUPS: Final[Groups[ReportFacts]] = {
    "news": (
        Sentence("{headline}", "unknown how rough the day was", lambda facts: _unranked(facts) or not facts.day_rank),
        Sentence(
            "{headline}. The last 24 hours swung more than {swung_more} days of {record_last}",
            "above the middle",
            lambda facts: (facts.day_rank or 0.0) >= 50,
        ),
        Sentence(
            "{headline}. The last 24 hours swung less than {swung_less} days of {record_last}", "below it", always
        ),
    ),
    "day_and_coins": (
        Sentence("", "no day known", lambda facts: not _has_day(facts)),
        Sentence(
            "In the 24 hours to {now} {average} came back to where it was, {most_coins}.",
            "no change",
            lambda facts: is_unchanged(facts.day or 0.0),
        ),
        Sentence("In the 24 hours to {now} {average} {fell_day} {day}, {most_coins}.", "else", always),
    ),
    "day_by_usual": (
        Sentence("", "a record of under 14 days", lambda facts: not facts.has_yardstick or not _has_day(facts)),
        Sentence(
            "A usual day is a move of {usual_day}, up or down (half of the days on record moved more), so the net "
            "change is {small_or_ordinary}, though the way there was not.",
            "a small or an ordinary day with a large way",
            lambda facts: abs(facts.z_day) < 1.3 and _way_was_large(facts),
        ),
        Sentence(
            "A usual day is a move of {usual_day}, up or down (half of the days on record moved more), so this was "
            "{kind_of_day}.",
            "else",
            always,
        ),
    ),
    "largest_hour": (
        Sentence(
            "The largest hour ended at {largest_clock}: {average} {fell_largest} {largest}.",
            "the same on a record of under 14 days",
            lambda facts: _had_large_hour(facts) and not facts.has_yardstick,
        ),
        Sentence(
            "The largest hour ended at {largest_clock}: {average} {fell_largest} {largest}, about {largest_usual} "
            "times as far as in a usual hour.",
            "an hour of four usual ones, and the day is known",
            _had_large_hour,
        ),
    ),
    "largest_share": (
        Sentence("", "no such hour", lambda facts: not _had_large_hour(facts)),
        Sentence(
            "That one hour accounted for {largest_part} of the day's {fall_day}.",
            "a quarter to all of the day",
            lambda facts: 0.25 <= facts.largest_of_day <= 1 and abs(facts.day or 0.0) > 0.2,
        ),
        Sentence(
            "Over the other 23 hours, taken together, it {rose_rest} {rest_of_day}.",
            "else",
            lambda facts: abs(facts.rest_of_day) >= 0.2,
        ),
    ),
    "best_and_worst_point": (
        Sentence(
            "Compared with a day ago it was {line_high} higher at best ({line_high_clock}) and {line_low} lower at "
            "worst ({line_low_clock}).",
            "above and below where it began",
            lambda facts: all(_points(facts)),
        ),
        Sentence(
            "Compared with a day ago it was hardly lower at any time, and {line_high} higher at best "
            "({line_high_clock}).",
            "above it alone",
            lambda facts: _points(facts)[0],
        ),
        Sentence(
            "Compared with a day ago it was hardly higher at any time, and {line_low} lower at worst "
            "({line_low_clock}).",
            "below it alone",
            lambda facts: _points(facts)[1],
        ),
    ),
    "bitcoin_traded": (
        Sentence(
            "Bitcoin traded between {bitcoin_low} and {bitcoin_high} and is at {bitcoin_price}.",
            "its day is known",
            lambda facts: facts.bitcoin_range is not None,
        ),
    ),
    "best_and_worst_coin": (
        Sentence(
            "Of the {known}, {best} did best, {best_moved}, and {worst} worst, {worst_moved}.",
            "three coins or more",
            lambda facts: facts.is_average,
        ),
    ),
    "together": (
        Sentence("", "not known", lambda facts: facts.correlation is None or not facts.is_average),
        Sentence(
            "Hour by hour the coins moved almost as one (correlation {correlation}; 1 would be in step), so holding "
            "all {known} instead of one spread little of the risk.",
            "a correlation of .8 or more",
            lambda facts: (facts.correlation or 0.0) >= 0.8,
        ),
        Sentence(
            "Hour by hour the coins moved mostly together (correlation {correlation}; 1 would be in step), so holding "
            "all {known} instead of one spread some of the risk.",
            "of .5 or more",
            lambda facts: (facts.correlation or 0.0) >= 0.5,
        ),
        Sentence(
            "Hour by hour the coins went largely their own ways (correlation {correlation}; 1 would be in step), so "
            "holding all {known} instead of one spread much of the risk.",
            "else",
            always,
        ),
    ),
    "trading": (
        Sentence("", "not known, or a young record", lambda facts: facts.trading is None or facts.trading.days < 14),
        Sentence(
            "Trading was busier than {busier} in {trading_days}: {traded} of these coins changed hands in a day.",
            "in the top tenth",
            lambda facts: facts.trading is not None and facts.trading.rank >= 90,
        ),
        Sentence(
            "Trading was quieter than {quieter} in {trading_days}: {traded} of these coins changed hands in a day.",
            "in the lowest tenth",
            lambda facts: facts.trading is not None and facts.trading.rank <= 10,
        ),
    ),
    "over_a_week": (
        Sentence("", "no week known", lambda facts: facts.week is None),
        Sentence(
            "Over seven days {average} is {week_moved}; a usual week is a move of {usual_week}.",
            "a record of 30 days",
            lambda facts: facts.record_days >= WEEK_YARDSTICK_DAYS,
        ),
        Sentence("Over seven days {average} is {week_moved}.", "else", always),
    ),
    "called_rough": (
        Sentence("", "unknown", _unranked),
        Sentence(
            "We call this market {volatility}: the next four hours look rougher than {rougher} hours of "
            "{record_last} did.",
            "above the middle",
            lambda facts: (facts.outlook_rank or 0.0) >= 50,
        ),
        Sentence(
            "We call this market {volatility}: the next four hours look quieter than {calmer} hours of "
            "{record_last} did.",
            "below it",
            always,
        ),
    ),
    "swung": (
        Sentence("", "unknown", lambda facts: _unranked(facts) or facts.day_rank is None),
        Sentence(
            "The last 24 hours themselves swung more than {swung_more} days of that time.",
            "above the middle",
            lambda facts: (facts.day_rank or 0.0) >= 50,
        ),
        Sentence("The last 24 hours themselves swung less than {swung_less} days of that time.", "below it", always),
    ),
    "hour_and_four": (
        Sentence(
            "Nine times in ten Bitcoin should end the next hour between {hour_low} and {hour_high}, and the next four "
            "hours between {four_low} and {four_high}.",
            "ranges are known",
            lambda facts: {"1h", "4h"} <= facts.spans.keys(),
        ),
    ),
    "a_day_on": (
        Sentence(
            "For a day from now that range is {day_low} to {day_high}; one time in two Bitcoin should end between "
            "{day_inner_low} and {day_inner_high}.",
            "ranges are known",
            lambda facts: "24h" in facts.spans,
        ),
    ),
    "widest_and_narrowest": (
        Sentence(
            "Of all coins {widest} has the widest range for the hour, {widest_width} either way, and {narrowest} the "
            "narrowest, {narrowest_width}.",
            "three coins or more",
            lambda facts: len(facts.widths) > 2,
        ),
    ),
    "no_direction": (
        Sentence(
            "We do not say which way it will go: nothing we have scored shows that anyone here knows.",
            "ranges are known, and no side is called",
            lambda facts: bool(facts.spans) and not _calls_a_side(facts),
        ),
    ),
    "held": (
        Sentence("", "fewer than 30 scored", lambda facts: not _enough(facts.held)),
        Sentence(
            "Of the {held_n} one-hour ranges {scored_where}, for all coins together, {held_hits} held: "
            "{held_percent} in 100 ({held_low} to {held_high} allowing for luck). We promise 90, so they were "
            "{as_promised}.",
            "else",
            always,
        ),
    ),
    "like_days": (
        Sentence("", "no day known, or a hole a day ago", lambda facts: not _has_day(facts) or _has_no_like(facts)),
        Sentence(
            "Our record, {record} long, is too short to say what usually follows such a day, and we do not guess.",
            "a record of under 30 days",
            lambda facts: facts.record_days < WEEK_YARDSTICK_DAYS,
        ),
        Sentence(
            "Our record holds {like_n} separate days like this one, with {like_kind}.",
            "30 days or more",
            lambda facts: facts.like_days is not None and facts.like_days.n >= FEWEST,
        ),
        Sentence(
            "Our record holds no other day like this one, with {like_kind}, so it cannot show what usually follows.",
            "none",
            lambda facts: facts.like_days is not None and not facts.like_days.n,
        ),
        Sentence(
            "Our record holds only {like_n_words} like this one, with {like_kind}: too few to say what usually "
            "follows, and we do not guess.",
            "fewer",
            always,
        ),
    ),
    "like_days_rose": (
        Sentence(
            "A day later {average} was higher after {rose} of them, {rose_percent} in 100 ({rose_low} to {rose_high} "
            "allowing for luck), against {any_rose} in 100 after any day.",
            "30 days or more",
            lambda facts: facts.like_days is not None and _enough(facts.like_days.rose),
        ),
    ),
    "like_days_luck": (
        Sentence("", "too few", lambda facts: facts.like_days is None or not _enough(facts.like_days.rose)),
        Sentence(
            "That difference may well be luck, so it says nothing about tomorrow.", "within the interval", _is_luck
        ),
        Sentence(
            "That is more than luck easily gives, but luck alone makes one in twenty such counts look like this, so "
            "we do not build on it.",
            "else",
            always,
        ),
    ),
    "like_days_size": (
        Sentence("", "too few", lambda facts: facts.like_days is None or not _enough(facts.like_days.moved_more)),
        Sentence(
            "What did carry over is size: {moved_more} of those next days, {moved_more_percent} in 100 "
            "({moved_more_low} to {moved_more_high}), moved more than a usual day, so they were livelier than most.",
            "livelier than most",
            lambda facts: _livelier(facts) > 0,
        ),
        Sentence(
            "What did carry over is size: {moved_more} of those next days, {moved_more_percent} in 100 "
            "({moved_more_low} to {moved_more_high}), moved more than a usual day, so they were quieter than most.",
            "quieter than most",
            lambda facts: _livelier(facts) < 0,
        ),
        Sentence(
            "Nor was the next day clearly livelier or quieter: {moved_more} of them, {moved_more_percent} in 100 "
            "({moved_more_low} to {moved_more_high}), moved more than a usual day.",
            "else",
            always,
        ),
    ),
    "spell": (
        Sentence("", "unknown", lambda facts: facts.spell is None or _unranked(facts)),
        Sentence(
            "The market has been {volatility} for {spell_age}; of {spell_as_old} {volatility} spells that lasted as "
            "long, {spell_more} lasted twelve hours more, {spell_more_percent} in 100 ({spell_more_low} to "
            "{spell_more_high} allowing for luck).",
            "30 spells as old",
            lambda facts: facts.spell is not None and _enough(facts.spell.twelve_more),
        ),
        Sentence(
            "The market has been {volatility} for {spell_age}, longer than any of the {spell_n} {volatility} spells "
            "on record: how much longer it may last we cannot say.",
            "30 spells, all of them shorter",
            lambda facts: facts.spell is not None and facts.spell.n >= FEWEST and not facts.spell.as_old,
        ),
        Sentence(
            "The market has been {volatility} for {spell_age}, longer than all but {spell_as_old_words} of the "
            "{spell_n} {volatility} spells on record: too few to say how much longer it may last.",
            "30 spells, most of them shorter",
            lambda facts: facts.spell is not None and facts.spell.n >= FEWEST,
        ),
        Sentence(
            "The market has been {volatility} for {spell_age}. To say how long that may last we need 30 such spells "
            "on record, and there {spell_count}.",
            "fewer",
            always,
        ),
    ),
    "yesterday": (
        Sentence(
            "A day ahead, our backtest expected Bitcoin between {then_low} and {then_high} at {then_clock}, nine times "
            "in ten; it was at {then_price}, {then_place} that range.",
            "a range of the backtest was judged",
            lambda facts: _graded(facts) and facts.yesterday is not None and facts.yesterday.in_backtest,
        ),
        Sentence(
            "A day ahead, we expected Bitcoin between {then_low} and {then_high} at {then_clock}, nine times in ten; "
            "it was at {then_price}, {then_place} that range.",
            "a range was judged",
            _graded,
        ),
    ),
    "day_of_ranges": (
        Sentence(
            "Of the day's {held_of} one-hour ranges, {held_of_day} held; about {should_hold} should have.",
            "ten or more were judged",
            lambda facts: facts.yesterday is not None and facts.yesterday.hours >= _FEW_HOURS,
        ),
    ),
    "day_of_ranges_means": (
        Sentence(
            "Too few: a range knows how wild the market has been, not what is about to happen.",
            "19 of 24 or fewer",
            lambda facts: _held_share(facts) is not None and (_held_share(facts) or 0.0) <= _HELD_FEW / _HELD_ALL,
        ),
        Sentence(
            "All of them is hardly a triumph: on a quiet day wide ranges look good too.",
            "all of a whole day",
            lambda facts: _held_share(facts) == 1.0,
        ),
    ),
    "idea": (
        Sentence(
            "Big hours come in groups: after an hour of four times the usual size or more, the next was again larger "
            "than usual {large_hours} times out of {large_hours_n}, {large_hours_percent} in 100 ({large_hours_low} to "
            "{large_hours_high} allowing for luck, on {large_hours_days} days); after any hour it is 50, by the "
            "meaning of 'usual'.",
            "a shock, a great day or the hours after, a record of 14 days, 30 such hours, and more than luck",
            lambda facts: _after_a_shock(facts) and facts.has_yardstick and _come_in_groups(facts.large_hours),
        ),
        Sentence(
            "The change of a day hides its path: hour by hour the average coin travelled {travelled} in all, and ended "
            "{day} from where it began.",
            "a day in two legs",
            lambda facts: facts.situation is Situation.REVERSAL and facts.travelled is not None,
        ),
        Sentence(
            "Calm is how things are, not what comes: of the {largest_hours} largest hours on record (at least a day "
            "apart) {from_calm} began while we called the market calm or normal.",
            "calm",
            lambda facts: facts.situation is Situation.CALM and facts.largest_from_calm is not None,
        ),
        Sentence(
            "An average can be one coin: without {apart} the other {others_count} are {without} on average; with it "
            "all {known} are {day_moved}.",
            "one coin, or coins that part ways",
            lambda facts: facts.situation in {Situation.ONE_COIN, Situation.SPLIT} and facts.is_average,
        ),
        Sentence(
            "A row of days proves little: if each day were the toss of a coin, three in a row would go the same way "
            "one time in four.",
            "days in a row, a week",
            lambda facts: facts.situation in {Situation.DAYS_IN_A_ROW, Situation.WEEK},
        ),
        Sentence(
            "Usual is the middle, not the rule: of the last 30 days only {usual_days} moved within a quarter of the "
            "usual {usual_day}; {smaller_days} moved less and {larger_days} more.",
            "a day of .75 to 1.3 usual ones, fewer than 15 such days of 30",
            lambda facts: _is_usual_day(facts) and (facts.last_days or (30, 0, 0))[0] < 15,
        ),
        Sentence(
            "Usual is the middle, not the rule: of the last 30 days {usual_days} moved within a quarter of the usual "
            "{usual_day}.",
            "a day of .75 to 1.3 usual ones",
            _is_usual_day,
        ),
        Sentence(
            "{Known} coins are not {known} bets: hour by hour the average of all {known} swung {average_swing} as "
            "much as one coin alone, so mixing them took away {mixed_away} of the roughness.",
            "three coins or more, a correlation of .8 or more",
            lambda facts: facts.is_average and (facts.correlation or 0.0) >= 0.8 and facts.average_swing is not None,
        ),
        Sentence(
            "Time does not stretch a range evenly: four hours go about twice as far as one, not four times. Today "
            "that is {hour_width} either way for the hour and {four_width} for four.",
            "ranges are known",
            lambda facts: {"1h", "4h"} <= facts.spans.keys() and facts.bitcoin is not None,
        ),
    ),
    "question": (
        Sentence(
            "If your own range for each of these hours had held, how wide would it have been on a quiet day?",
            "a shock, a great day, or the hours after",
            _after_a_shock,
        ),
        Sentence(
            "If you had looked at the price only once a day, what would you have seen of this one?",
            "a day in two legs",
            lambda facts: facts.situation is Situation.REVERSAL,
        ),
        Sentence(
            "How could you tell, before it ends, that a calm is about to end?",
            "calm",
            lambda facts: facts.situation is Situation.CALM,
        ),
        Sentence(
            "Which would you rather be given: the average, the middle coin, or the one that moved most?",
            "one coin, or coins that part ways",
            lambda facts: facts.situation in {Situation.ONE_COIN, Situation.SPLIT},
        ),
        Sentence(
            "How many days in a row would you need before calling it more than luck, and did you choose that number "
            "before you looked?",
            "days in a row, a week",
            lambda facts: facts.situation in {Situation.DAYS_IN_A_ROW, Situation.WEEK},
        ),
        Sentence("Ten of your 90% ranges in a row have held: were they good, or too wide?", "else", always),
    ),
}
REPORT: Final[Book[ReportFacts]] = Book({**HEADLINE_GROUPS, **NOW_GROUPS, **REPORT_GROUPS}, {**SLOTS, **REPORT_SLOTS})


def news(facts: ReportFacts) -> str:
    """Return the headline, and what the report adds to it."""
    return REPORT.say("news", facts)


def report(facts: ReportFacts) -> dict[Part, str]:
    """Return the parts that have something to say, in order."""
    texts = {part: joined([REPORT.say(group, facts) for group in groups]) for part, groups in PARTS.items()}
    return {part: text for part, text in texts.items() if text}
