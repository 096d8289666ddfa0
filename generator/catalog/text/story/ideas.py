"""One idea of markets a report, explained with the numbers of its hour, and one question."""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from generator.catalog.text.story.facts import StoryFacts, coin_name, joined


class Idea(NamedTuple):
    """An idea in a few sentences, and a question about it."""

    sentences: tuple[str, ...]
    question: str


_SAME: Final = 0.2  # percent
_CLOSE: Final = 0.15  # to the factor two
_PROMISED: Final = 10  # of 100 moves leave a 90% range
_GOLDEN: Final = 0.618_033_988_75


def _idea(*sentences: str, question: str) -> Idea:
    return Idea(sentences, question)


def idea_of(facts: StoryFacts) -> Idea | None:
    """Return the idea of the hour, of those whose numbers are known; None where none is."""
    known = [idea for make in _IDEAS if (idea := make(facts)) is not None]
    if not known:
        return None
    # By steps of the golden ratio, so that neither days nor hours bring one back soon.
    return known[int(_GOLDEN * facts.turn % 1.0 * len(known))]


def _root_of_time(facts: StoryFacts) -> Idea | None:
    if "1h" not in facts.ranges or "4h" not in facts.ranges:
        return None
    hour = facts.ranges["1h"][3]
    four = facts.ranges["4h"][3]
    if not hour:
        return None
    ratio = four / hour
    verdict = "close to that"
    if abs(ratio - 2) >= _CLOSE:
        verdict = "more than that" if ratio > 2 else "less than that"
    why = {
        "close to that": "today the two spans agree, as they would if each hour were a fresh draw of the same kind",
        "more than that": "the later hours are expected to be livelier than the next one",
        "less than that": "the next hour is expected to be livelier than the ones after it",
    }[verdict]
    return _idea(
        "The idea of the hour is the square root of time: if every hour were a fresh and equal draw, four hours would "
        "move twice as far as one, not four times, since ups and downs partly cancel.",
        f"Bitcoin's wide ranges are {hour:.2f}% for an hour and {four:.2f}% for four, a factor of {ratio:.2f}, "
        f"{verdict}: {why}.",
        question="By that rule, how many hours does it take until a price moves three times as far as in one?",
    )


def _average(facts: StoryFacts) -> Idea | None:
    if len(facts.changes) < 3 or facts.mean is None:
        return None
    ordered = sorted(facts.changes.values())
    middle = ordered[len(ordered) // 2]
    if len(ordered) % 2 == 0:
        middle = (ordered[len(ordered) // 2 - 1] + middle) / 2
    gap = abs(facts.mean - middle)
    lesson = (
        "Here they agree, so no single coin bends the picture."
        if gap < _SAME
        else "They disagree here, because a few coins moved much further than the rest."
    )
    return _idea(
        f"Two numbers can both claim to be the middle of a market: the average of the coins' days, {facts.mean:+.1f}%, "
        f"and the median, with as many above as below, {middle:+.1f}%.",
        joined("One wild coin drags an average with it and leaves a median where it was.", lesson),
        question="If the day's best coin had risen ten points more, which of the two would have moved?",
    )


def _funding(facts: StoryFacts) -> Idea | None:
    if not facts.funding:
        return None
    asset = max(facts.funding, key=lambda name: abs(facts.funding[name]))
    rate = facts.funding[asset]
    yearly = 3 * 365 * abs(rate)
    payer = "longs" if rate > 0 else "shorts"
    return _idea(
        "Think of funding as rent: a future without an end date has nothing that pulls it to the coin's price, so "
        "every eight hours the side in demand pays the other.",
        f"In {coin_name(asset)} it is the {payer} who pay, {abs(rate):.4f}% each time, which would come to "
        f"{yearly:.0f}% if it held for a year; the rent says which side is crowded, not which side will be right.",
        question="How far would the price have to move in a day to cost as much as that day's rent?",
    )


def _censoring(facts: StoryFacts) -> Idea | None:
    spell = next((spell for spell in facts.spells if spell.lasting["4h"] is not None), None)
    if spell is None:
        return None
    unseen = "one is not over, the present one"
    if spell.not_over > 1:
        unseen = f"{spell.not_over} were not seen to end, the present one among them"
    return _idea(
        "How long something lasts is hard to count while some of it is still going: of "
        f"{spell.n} such spells {unseen}.",
        "Leave such a spell out and long ones go missing, count it as over and they look too short; the way out is to "
        "let it count for as long as it was watched and no further, an idea from medicine, where patients outlive "
        "studies.",
        question="If a bakery asks today's customers how long they have been coming, whom does it never ask?",
    )


def _leverage(facts: StoryFacts) -> Idea | None:
    if "24h" not in facts.ranges:
        return None
    low, _, _, high = facts.ranges["24h"]
    if not high:
        return None
    times = math.ceil(100 / abs(low))
    return _idea(
        "Borrowed money turns a range into a cliff: over a day, one case in twenty should take Bitcoin below "
        f"{low:+.1f}% and one in twenty above {high:+.1f}%.",
        f"For a position {times} times as large as the money behind it, the lower end alone would use up all of that "
        "money; the range is the same for everyone, but how much it hurts is decided by how large the position is.",
        question="Why can such a position be closed by force even on a day that ends higher than it began?",
    )


def _correlation(facts: StoryFacts) -> Idea | None:
    if facts.correlation is None or len(facts.changes) < 3:
        return None
    many = len(facts.changes)
    value = max(facts.correlation, 0.0)
    effective = many / (1 + (many - 1) * value)
    return _idea(
        f"Many coins are not as many chances: with an average correlation of {facts.correlation:.2f}, the swings of "
        f"an equal mix of {many} coins shrink only as much as those of {effective:.1f} unrelated ones would.",
        "What they share cannot be spread away, only what each does on its own, and the measure moves: it tends to be "
        "highest on the days on which spreading would help most.",
        question="At a correlation of zero, how many unrelated coins would these be worth?",
    )


def _coverage(facts: StoryFacts) -> Idea | None:
    if facts.record is None or facts.record[0] < 30:
        return None
    n, half, most = facts.record
    left = round(100 - most)
    way = "neither too narrow nor too wide"
    if left != _PROMISED:
        way = "too narrow" if left > _PROMISED else "wider than promised"
    return _idea(
        "A range that always holds is worthless: make it wide enough and nothing escapes, but nothing is said either, "
        "for the art is to be wrong as often as promised.",
        f"Of {n:,} hourly moves {left} in 100 left the 90% range, where ten should: on this record it was {way}; "
        f"the 50% range, left by {100 - half:.0f} in 100, is judged the same way.",
        question="If a forecaster's 90% ranges hold 200 times out of 200, is that good?",
    )


_IDEAS: Final[tuple[Callable[[StoryFacts], Idea | None], ...]] = (
    _root_of_time,
    _average,
    _funding,
    _censoring,
    _leverage,
    _correlation,
    _coverage,
)
