"""Figures of a report's facts in words, by the names of the places that they fill."""

from collections.abc import Callable
from typing import Final

from generator.catalog.counts import in_words
from generator.catalog.formats import moment
from generator.catalog.text import figures
from generator.catalog.text.book import Slot, known
from generator.catalog.text.happened import LargestHour, Moment
from generator.catalog.text.report.facts import ReportFacts, Share
from generator.catalog.text.slots import VOLATILITY


def _clock(move: Moment | LargestHour | None, facts: ReportFacts) -> str:
    return figures.clock_of_day(move.at_ms if move else 0, facts.now_ms)


def _now(facts: ReportFacts) -> str:
    now = moment(facts.now_ms)
    return f"{figures.clock(facts.now_ms)} UTC on {now.day} {now:%B}"


def _most_coins(facts: ReportFacts) -> str:
    """Say how many coins are higher or lower, whichever are more, e.g. `and all of them are lower`."""
    coins = in_words(len(facts.days))
    if facts.up == facts.down:
        return f"and as many of the {coins} coins are higher as are lower"
    count, higher = (facts.up, "higher") if facts.up > facts.down else (facts.down, "lower")
    joined = "but" if ((facts.day or 0.0) > 0) != (facts.up > facts.down) else "and"
    if count == len(facts.days):
        return f"{joined} all {coins} coins are {higher}"
    return f"{joined} {in_words(count)} of {coins} coins {'is' if count == 1 else 'are'} {higher}"


def _kind_of_day(facts: ReportFacts) -> str:
    days = abs(facts.z_day)
    if days < 0.5:
        return "a small one"
    if days < 1.3:
        return "an ordinary one"
    if days < 1.75:
        return "about one and a half usual days in one"
    return f"about {in_words(int(days + 0.5))} usual days in one"


def _part_of_day(facts: ReportFacts) -> str:
    for limit, words in _PARTS_IN_WORDS:
        if facts.largest_of_day < limit:
            return words
    return "all"


_PARTS_IN_WORDS: Final = (
    (0.29, "a quarter"),
    (0.38, "a third"),
    (0.45, "two fifths"),
    (0.55, "half"),
    (0.63, "three fifths"),
    (0.70, "two thirds"),
    (0.78, "three quarters"),
    (0.90, "most"),
    (1.001, "nearly all"),
)


def _like_kind(facts: ReportFacts) -> str:
    like = known(facts.like_days)
    if not like.smallest:
        moves = "a move" if like.n == 1 else "moves"
        return f"{moves} of less than {figures.size(like.largest)} either way"
    rise = "rise" if (facts.day or 0.0) > 0 else "fall"
    rises = f"a {rise}" if like.n == 1 else f"{rise}s"
    return f"{rises} of between {figures.size(like.smallest)} and {figures.size(like.largest)}"


def _age(hours: int) -> str:
    if hours < 1:
        return "less than an hour"
    if hours < 36:
        return f"about {'an' if hours == 1 else in_words(hours)} hour{'' if hours == 1 else 's'}"
    return f"about {in_words(int(hours / 24 + 0.5))} days"


def _promised(share: Share) -> str:
    if share.high < 90:
        return "too narrow"
    return "about right" if share.low <= 90 else "too wide"


def _inside(facts: ReportFacts) -> str:
    day = known(facts.yesterday)
    if day.price > day.high:
        return "above"
    return "inside" if day.price >= day.low else "below"


def _half(facts: ReportFacts, horizon: str) -> str:
    price = facts.bitcoin.price if facts.bitcoin else 1.0
    return figures.size(100 * (facts.spans[horizon].high_90 / price - 1))


def _busier(percent: float) -> str:
    """Say against how many times of a month, of which an hour is an eighth of a percent."""
    if percent >= _EVERY_TIME:
        return "at any time"
    return "at almost any time" if percent >= _ALMOST_EVERY_TIME else f"{percent:.0f} in 100 times"


_EVERY_TIME: Final = 99.93
_ALMOST_EVERY_TIME: Final = 99.5


def _is_few(count: int) -> str:
    if not count:
        return "are none"
    return f"{'is' if count == 1 else 'are'} {in_words(count)}"


def _count(count: int) -> str:
    return in_words(count) if count else "none"


def _separate(count: int) -> str:
    return "one day" if count == 1 else f"{in_words(count)} separate days"


_FIGURES: Final[dict[str, Slot[ReportFacts]]] = {
    "now": _now,
    "average": lambda facts: "the average coin" if facts.is_average else "Bitcoin",
    "most_coins": _most_coins,
    "Known": lambda facts: in_words(len(facts.days)).capitalize(),
    "usual_day": lambda facts: figures.size(known(facts.usual_day)),
    "usual_week": lambda facts: figures.size(known(facts.usual_week)),
    "small_or_ordinary": lambda facts: "small" if abs(facts.z_day) < 0.5 else "ordinary",
    "kind_of_day": _kind_of_day,
    "largest_clock": lambda facts: _clock(facts.largest, facts),
    "largest_usual": lambda facts: in_words(int(abs(facts.z_largest) + 0.5)),
    "largest_part": _part_of_day,
    "rest_of_day": lambda facts: figures.size(facts.rest_of_day),
    "rose_rest": lambda facts: "rose" if facts.rest_of_day > 0 else "fell",
    "line_high": lambda facts: figures.size(facts.line_high.percent if facts.line_high else 0.0),
    "line_high_clock": lambda facts: _clock(facts.line_high, facts),
    "line_low": lambda facts: figures.size(facts.line_low.percent if facts.line_low else 0.0),
    "line_low_clock": lambda facts: _clock(facts.line_low, facts),
    "best_moved": lambda facts: figures.moved(facts.days[facts.best]),
    "worst_moved": lambda facts: figures.moved(facts.days[facts.worst]),
    "correlation": lambda facts: f"{known(facts.correlation):.2f}",
    "busier": lambda facts: _busier(known(facts.trading).rank),
    "quieter": lambda facts: _busier(100 - known(facts.trading).rank),
    "trading_days": lambda facts: (
        "the last 30 days" if known(facts.trading).days >= 30 else figures.last(known(facts.trading).days)
    ),
    "traded": lambda facts: figures.billions(known(facts.trading).dollars),
    "volatility": lambda facts: VOLATILITY[facts.volatility],
    "swung_more": lambda facts: figures.of_100(known(facts.day_rank)),
    "swung_less": lambda facts: figures.of_100(100 - known(facts.day_rank)),
    "hour_low": lambda facts: figures.dollars(facts.spans["1h"].low_90),
    "hour_high": lambda facts: figures.dollars(facts.spans["1h"].high_90),
    "four_low": lambda facts: figures.dollars(facts.spans["4h"].low_90),
    "four_high": lambda facts: figures.dollars(facts.spans["4h"].high_90),
    "day_low": lambda facts: figures.dollars(facts.spans["24h"].low_90),
    "day_high": lambda facts: figures.dollars(facts.spans["24h"].high_90),
    "day_inner_low": lambda facts: figures.dollars(facts.spans["24h"].low_50),
    "day_inner_high": lambda facts: figures.dollars(facts.spans["24h"].high_50),
    "hour_width": lambda facts: _half(facts, "1h"),
    "four_width": lambda facts: _half(facts, "4h"),
    "widest": lambda facts: facts.name(max(facts.widths, key=facts.widths.__getitem__)),
    "widest_width": lambda facts: figures.size(max(facts.widths.values())),
    "narrowest": lambda facts: facts.name(min(facts.widths, key=facts.widths.__getitem__)),
    "narrowest_width": lambda facts: figures.size(min(facts.widths.values())),
    "scored_where": lambda facts: "in our backtest" if facts.held_in_backtest else "scored so far",
    "held_n": lambda facts: f"{known(facts.held).n:,}",
    "held_hits": lambda facts: f"{known(facts.held).hits:,}",
    "as_promised": lambda facts: _promised(known(facts.held)),
    "like_n": lambda facts: str(known(facts.like_days).n),
    "like_n_words": lambda facts: _separate(known(facts.like_days).n),
    "like_kind": _like_kind,
    "rose": lambda facts: str(known(known(facts.like_days).rose).hits),
    "any_rose": lambda facts: f"{known(facts.like_days).any_rose:.0f}",
    "moved_more": lambda facts: str(known(known(facts.like_days).moved_more).hits),
    "spell_age": lambda facts: _age(known(facts.spell).hours),
    "spell_as_old": lambda facts: str(known(facts.spell).as_old),
    "spell_as_old_words": lambda facts: _count(known(facts.spell).as_old),
    "spell_n": lambda facts: str(known(facts.spell).n),
    "spell_count": lambda facts: _is_few(known(facts.spell).n),
    "spell_more": lambda facts: str(known(known(facts.spell).twelve_more).hits),
    "then_clock": lambda facts: figures.clock_of_day(known(known(facts.yesterday).due_ms), facts.now_ms),
    "then_low": lambda facts: figures.dollars(known(facts.yesterday).low),
    "then_high": lambda facts: figures.dollars(known(facts.yesterday).high),
    "then_price": lambda facts: figures.dollars(known(facts.yesterday).price),
    "then_place": _inside,
    "held_of": lambda facts: _count(known(facts.yesterday).hours),
    "held_of_day": lambda facts: _count(known(facts.yesterday).held),
    "should_hold": lambda facts: f"{0.9 * known(facts.yesterday).hours:.0f}",
    "large_hours": lambda facts: str(known(facts.large_hours).hits),
    "large_hours_n": lambda facts: str(known(facts.large_hours).n),
    "large_hours_days": lambda facts: str(facts.large_hours_days),
    "travelled": lambda facts: figures.size(known(facts.travelled)),
    "largest_hours": lambda facts: _count((facts.largest_from_calm or (0, 0))[1]),
    "from_calm": lambda facts: _count((facts.largest_from_calm or (0, 0))[0]),
    "apart": lambda facts: facts.name(facts.apart),
    "others_count": lambda facts: in_words(len(facts.days) - 1),
    "without": lambda facts: figures.moved(facts.without),
    "usual_days": lambda facts: _count((facts.last_days or (0, 0, 0))[0]),
    "smaller_days": lambda facts: _count((facts.last_days or (0, 0, 0))[1]),
    "larger_days": lambda facts: _count((facts.last_days or (0, 0, 0))[2]),
    "average_swing": lambda facts: figures.percent(known(facts.average_swing), 0),
    "mixed_away": lambda facts: f"{100 - round(known(facts.average_swing))}%",
}


def _share_slots(name: str, share_of: Callable[[ReportFacts], Share]) -> dict[str, Slot[ReportFacts]]:
    """Return the slots of a share's percent and of the ends of its interval."""
    return {
        f"{name}_percent": lambda facts: f"{share_of(facts).percent:.0f}",
        f"{name}_low": lambda facts: f"{share_of(facts).low:.0f}",
        f"{name}_high": lambda facts: f"{share_of(facts).high:.0f}",
    }


_SHARES: Final[dict[str, Slot[ReportFacts]]] = {
    **_share_slots("held", lambda facts: known(facts.held)),
    **_share_slots("rose", lambda facts: known(known(facts.like_days).rose)),
    **_share_slots("moved_more", lambda facts: known(known(facts.like_days).moved_more)),
    **_share_slots("spell_more", lambda facts: known(known(facts.spell).twelve_more)),
    **_share_slots("large_hours", lambda facts: known(facts.large_hours)),
}
REPORT_SLOTS: Final[dict[str, Slot[ReportFacts]]] = {**_FIGURES, **_SHARES}
