"""What only a kept record can say: how long such states last, and where now ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from generator.catalog.counts import listed, quantity
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
    """Write a state within a sentence: `a rising day`, `rough or wild volatility`."""
    if name == SIDE[MarketSide.UNKNOWN]:
        return f"an {name}"
    return f"a {name}" if name in SIDE.values() else name


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
