"""What only a kept record can say: how long such states last, and where now ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from generator.catalog.counts import listed, quantity
from generator.catalog.text.book import Book, Sentence, always, known
from generator.catalog.text.figures import last
from generator.catalog.words import MarketSide, RegimeLabel

SIDE: Final[dict[str, str]] = {
    MarketSide.RISING: "rising day",
    MarketSide.FALLING: "falling day",
    MarketSide.FLAT: "flat day",
    MarketSide.BOTH_WAYS: "day of ups and downs",
    MarketSide.UNKNOWN: "unknown side",
}
STEP: Final[dict[str, str]] = {
    "calm_or_normal": "calm or normal volatility",
    "elevated_or_extreme": "rough or wild volatility",
}
LABEL: Final[dict[str, str]] = {
    RegimeLabel.RISK_ON: "risk-on",
    RegimeLabel.RISK_OFF: "risk-off",
    RegimeLabel.RANGE: "range",
    RegimeLabel.HIGH_VOLATILITY: "high volatility",
    RegimeLabel.TRANSITION: "a mixed regime",
    RegimeLabel.UNKNOWN: "an unknown regime",
}
HIGH: Final = 90.0  # a rank from which on a measure stands out
LOW: Final = 10.0
_HIGHEST: Final = 99.95  # of 100, from which on no hour of the record is beyond
# How each measure stands out: the lowest on record, among the lowest tenth, among the highest, the highest.
RANKED: Final[dict[str, tuple[str, str, str, str]]] = {
    "stress": (
        "the calmest outlook",
        "an outlook among the calmest tenth",
        "an outlook among the roughest tenth",
        "the roughest outlook",
    ),
    "dispersion": (
        "the narrowest spread between the coins' days",
        "a spread between the coins' days among the narrowest tenth",
        "a spread between the coins' days among the widest tenth",
        "the widest spread between the coins' days",
    ),
    "correlation": (
        "the coins least in step",
        "coins in step among the loosest tenth",
        "coins in step among the closest tenth",
        "the coins most in step",
    ),
    "funding": (
        "the lowest funding",
        "funding among the lowest tenth",
        "funding among the highest tenth",
        "the highest funding",
    ),
    "volume": (
        "the quietest day of trading",
        "a day of trading among the quietest tenth",
        "a day of trading among the busiest tenth",
        "the busiest day of trading",
    ),
    "depth": (
        "the thinnest order books",
        "order books among the thinnest tenth",
        "order books among the deepest tenth",
        "the deepest order books",
    ),
}


def in_a_hundred(percent: float, low: float, high: float) -> str:
    """Write a share of spells as one of a hundred, with its 95% interval; all percent."""
    return f"{percent:.0f} in 100 ({low:.0f} to {high:.0f} allowing for luck)"


@dataclass(frozen=True, slots=True)
class SpellFacts:
    """What is published of the spells of one state; shares in words, None where there are too few."""

    state: str
    hours: float | None
    n: int
    days: int
    median: float | None
    four_hours: str | None  # last longer
    day: str | None
    as_old: int  # that got as far as this one
    four_more: str | None  # of those
    over: int
    next: tuple[str, str] | None  # what followed more than half of those that are over, sure of that


SPELL: Final[Book[SpellFacts]] = Book(
    {
        "spell": (Sentence("{spell_so_far} {spell_others}{spell_onward}{spell_next}", "always", always),),
        "spell_so_far": (Sentence("{State}: {age} so far.", "always", always),),
        "spell_others": (
            Sentence(
                "The record holds {such}: too few to say how long they last.",
                "fewer than 30 spells, or on fewer than seven days",
                lambda spell: spell.four_hours is None,
            ),
            Sentence(
                "Of {seen} on record, {four_hours} lasted longer than four hours, and {day} longer than a day{median}.",
                "30 spells on seven days or more, some seen for a day",
                lambda spell: spell.day is not None,
            ),
            Sentence("Of {seen} on record, {four_hours} lasted longer than four hours{median}.", "else", always),
        ),
        "median": (Sentence("; half were over within {median_age}", "known", lambda spell: spell.median is not None),),
        "spell_onward": (
            Sentence(
                " Of the {as_old} that got as far as this one, {four_more} lasted four hours more.",
                "30 spells as old",
                lambda spell: spell.four_more is not None,
            ),
        ),
        "spell_next": (
            Sentence(
                " Of the {over} that are over, {next_share} gave way to {next}.",
                "30 that are over, and one successor whose interval lies above one half",
                lambda spell: spell.next is not None,
            ),
        ),
    },
    {
        "State": lambda spell: spell.state[0].upper() + spell.state[1:],
        "age": lambda spell: span(spell.hours or 0.0),
        "seen": lambda spell: f"{quantity(spell.n, 'spell')} on {quantity(spell.days, 'day')}",
        "such": lambda spell: f"{quantity(spell.n, 'such spell')} on {quantity(spell.days, 'day')}",
        "four_hours": lambda spell: known(spell.four_hours),
        "day": lambda spell: known(spell.day),
        "median_age": lambda spell: span(known(spell.median)),
        "as_old": lambda spell: str(spell.as_old),
        "four_more": lambda spell: known(spell.four_more),
        "over": lambda spell: str(spell.over),
        "next": lambda spell: with_article(known(spell.next)[0]),
        "next_share": lambda spell: known(spell.next)[1],
    },
)


def spell_text(facts: SpellFacts) -> str:
    """Say how long the present spell has lasted, how long others did, and what came next."""
    return SPELL.say("spell", facts)


def with_article(name: str) -> str:
    """Write a state within a sentence: `a rising day`, `rough or wild volatility`."""
    if name == SIDE[MarketSide.UNKNOWN]:
        return f"an {name}"
    return f"a {name}" if name in SIDE.values() else name


def ranks_sentence(ranks: Mapping[str, float | None], hours: int) -> str:
    """Name the measures that stand out in the kept month; say so where none does.

    Args:
        ranks: percent of its hours with a smaller value.
        hours: of it.
    """
    found = []
    for name, rank in ranks.items():
        if rank is None or LOW < rank < HIGH:
            continue
        lowest, low, high, highest = RANKED[name]
        if rank >= HIGH:
            found.append(highest if rank >= _HIGHEST else high)
        else:
            found.append(lowest if rank <= 100 - _HIGHEST else low)

    if found:
        return f"What stands out of {last(hours / 24)}: {listed(found)}."
    if any(rank is not None for rank in ranks.values()):
        return f"Nothing measured is among the highest or the lowest tenth of {last(hours / 24)}."
    return ""


def span(hours: float) -> str:
    """Write a length of time, e.g. `40 minutes`, `5 hours`, `2.5 days`.

    >>> span(0.42), span(5.2), span(60.0)
    ('25 minutes', '5 hours', '2.5 days')
    """
    if hours < 1.0:
        return quantity(round(60 * hours), "minute")
    if hours < 36.0:
        return quantity(round(hours), "hour")
    days = f"{hours / 24:.1f}".removesuffix(".0")
    return f"{days} days"
