"""What only a kept record can say: how long such states last, and what followed hours like this one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from generator.catalog.counts import listed, quantity
from generator.catalog.words import MarketSide, RegimeLabel

SIDE: Final[dict[str, str]] = {
    MarketSide.RISING: "uptrend",
    MarketSide.FALLING: "downtrend",
    MarketSide.NONE: "market without a trend",
    MarketSide.UNKNOWN: "unknown trend",
}
STEP: Final[dict[str, str]] = {
    "calm_or_normal": "normal volatility",
    "elevated_or_extreme": "elevated volatility",
}
LABEL: Final[dict[str, str]] = {
    RegimeLabel.RISK_ON: "risk-on",
    RegimeLabel.RISK_OFF: "risk-off",
    RegimeLabel.RANGE: "range",
    RegimeLabel.HIGH_VOLATILITY: "high volatility",
    RegimeLabel.TRANSITION: "a mixed regime",
    RegimeLabel.UNKNOWN: "an unknown regime",
}
RANKED: Final[dict[str, str]] = {
    "stress": "expected volatility",
    "dispersion": "the spread between the coins' days",
    "correlation": "how closely the coins move together",
    "funding": "funding",
    "volume": "the day's volume",
    "depth": "order-book depth",
}
HIGH: Final = 80.0  # a rank from which on a measure stands out
LOW: Final = 20.0


@dataclass(frozen=True, slots=True)
class SpellFacts:
    """What is published of the spells of one state; shares in percent, None where there are too few."""

    state: str
    hours: float | None
    n: int
    days: int
    median: float | None
    lasting: Mapping[str, float | None]
    from_now: Mapping[str, float | None]
    came_next: Mapping[str, int]
    not_over: int = 1  # or were not seen to end


def spell_text(facts: SpellFacts) -> str:
    """Say how long the present spell has lasted, how long others did, and what came next."""
    sentences = [_so_far(facts), _others(facts), _onward(facts), _next(facts)]
    return " ".join(sentence for sentence in sentences if sentence)


def _so_far(facts: SpellFacts) -> str:
    name = facts.state[0].upper() + facts.state[1:]
    return f"{name}: {span(facts.hours or 0.0)} so far."


def _others(facts: SpellFacts) -> str:
    seen = f"{quantity(facts.n, 'spell')} on {quantity(facts.days, 'day')}"
    if facts.lasting["4h"] is None:
        return f"The record holds {seen} of it, too few for a share."
    parts = [
        f"{_whole(percent)} of 100 outlast {hours}"
        for hours, percent in (("four hours", facts.lasting["4h"]), ("a day", facts.lasting["24h"]))
        if percent is not None
    ]
    half = "" if facts.median is None else f"; half of them are over within {span(facts.median)}"
    return f"Of {seen} in the record, {listed(parts)}{half}."


def _onward(facts: SpellFacts) -> str:
    percent = facts.from_now["4h"]
    if percent is None:
        return ""
    return f"Of those that had come as far as this one, {_whole(percent)} of 100 lasted four hours more."


def _next(facts: SpellFacts) -> str:
    if not facts.came_next or facts.state in STEP.values():
        return ""
    (name, count), *_ = facts.came_next.items()
    total = sum(facts.came_next.values())
    if count == total:
        return f"All {total} that are over gave way to {with_article(name)}."
    return f"Of the {total} that are over, {count} gave way to {with_article(name)}."


def with_article(name: str) -> str:
    """Write a state within a sentence: `an uptrend`, `normal volatility`."""
    if name in {SIDE[MarketSide.RISING], SIDE[MarketSide.UNKNOWN]}:
        return f"an {name}"
    return f"a {name}" if name in SIDE.values() else name


@dataclass(frozen=True, slots=True)
class AfterFacts:
    """What is published of what followed hours like this one over so many hours."""

    hours: int
    usual: float  # half-width of the usual move, percent
    like: tuple[int, int, int]  # up, within, down
    every: tuple[int, int, int]
    differs: tuple[bool, bool, bool]


def rule_of(side: str, step: str, size: int, usual_day: float) -> str:
    """Say which hours count as like this one.

    Args:
        side: of the market, as in `SIDE`.
        step: of volatility, as in `STEP`.
        size: 1 where the day's mean move was up by more than usual, -1 down, 0 within.
        usual_day: half-width of the usual move over a day, percent.
    """
    moves = {
        1: f"prices are up more than {usual_day:.1f}% on the day",
        0: f"prices are within {usual_day:.1f}% of where they were a day before",
        -1: f"prices are down more than {usual_day:.1f}% on the day",
    }
    return f"an hour counts as like this one if it falls in {with_article(side)} with {step}, and {moves[size]}"


def after_sentence(facts: AfterFacts) -> str:
    """Say what followed, as counts next to those of all hours, and whether that is any different."""
    n = sum(facts.like)
    total = sum(facts.every)
    up, within, down = facts.like
    usual = [round(100 * count / total) for count in facts.every]
    hours = "Four hours" if facts.hours == 4 else f"{facts.hours} hours"
    return (
        f"{hours} after {n} such hours the average coin was up more than {facts.usual:.1f}% in {up}, down more in "
        f"{down} and between in {within}. Of all {total} hours, {usual[0]} in 100 were followed by such a rise, "
        f"{usual[2]} by such a fall. {verdict(facts)}"
    )


def verdict(facts: AfterFacts) -> str:
    """Say that such hours differ from no other, unless an interval excludes that."""
    n = sum(facts.like)
    total = sum(facts.every)
    names = ("rises", "small moves", "falls")
    apart = []
    for name, like, every, differs in zip(names, facts.like, facts.every, facts.differs, strict=True):
        if differs:
            apart.append(f"{'more' if like / n > every / total else 'fewer'} {name}")
    if not apart:
        return NO_DIFFERENT
    return f"That is {listed(apart)} than after other hours, by more than luck of the days explains."


def too_few(hours: int, days: int) -> str:
    """Say that there are too few hours like this one."""
    return f"The month holds {quantity(hours, 'hour')} like this one on {quantity(days, 'day')}: too few to count on."


NO_DIFFERENT: Final = "By this count such an hour does not differ from any other."


def ranks_sentence(ranks: Mapping[str, float | None]) -> str:
    """Name the measures that stand out in their month; say so where none does."""
    high = [f"{RANKED[name]} ({_whole(rank)})" for name, rank in ranks.items() if rank is not None and rank >= HIGH]
    low = [f"{RANKED[name]} ({_whole(rank)})" for name, rank in ranks.items() if rank is not None and rank <= LOW]
    parts = []
    if high:
        parts.append(f"high in its month, by rank of 100: {listed(high)}")
    if low:
        parts.append(f"low in its month: {listed(low)}")
    if not parts:
        known = [name for name, rank in ranks.items() if rank is not None]
        return "No measure of the market is far from the middle of its month." if known else ""
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


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


def _whole(percent: float) -> int:
    return round(percent)
