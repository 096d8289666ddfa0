"""Hours of the kept month like this one, and what followed, next to what followed all hours."""

from typing import Final

from pydantic import Field

from generator.brain.axes import SIDES
from generator.brain.month import OUTCOMES, Followed
from generator.catalog.formats import change, share
from generator.catalog.text import kept
from generator.catalog.text.kept import AfterFacts
from generator.compose.body import Body
from generator.compose.context import TickContext
from generator.compose.spells import STEPS


class OutcomeCount(Body):
    """How often one outcome followed."""

    such: int = Field(description="Of the hours like this one.")
    all: int = Field(description="Of all hours of the month.")
    difference_percent: float = Field(description="Share of the such minus share of all, percentage points.")
    low_percent: float = Field(description="Lower end of its 99% interval, from days drawn again.")
    high_percent: float = Field(description="Upper end of it.")
    differs: bool = Field(description="Whether the interval leaves out 0.")


class After(Body):
    """What followed over so many hours."""

    usual_percent: float = Field(description="Half-width of the usual move of the assets' mean, percent.")
    such: int = Field(description="Hours like this one of which it is known.")
    days: int = Field(description="Distinct UTC days on which they lie.")
    all: int = Field(description="All hours of which it is known.")
    outcomes: dict[str, OutcomeCount] = Field(description="up (beyond the usual move), within and down, to the counts.")
    text: str = Field(description="The same in words, and whether it differs from any hour.")


class SuchHours(Body):
    """Hours of the kept month like this one."""

    rule: str = Field(description="Which hours count as like this one.")
    hours: int = Field(description="How many there are in the kept month.")
    days: int = Field(description="Distinct UTC days on which they lie.")
    after: dict[str, After | None] = Field(
        description="What followed after 4 and 24 hours; null with fewer than 10 such hours on 7 days."
    )
    statement: str = Field(description="What the count shows, in words.")


SPANS: Final = {"4h": 4, "24h": 24}


def such_hours(ctx: TickContext) -> SuchHours | None:
    """Compose what followed hours like this one; None where the state or the month is not known."""
    month = ctx.month
    if month is None or month.such is None or month.state is None:
        return None

    found = month.such
    side, step = month.state
    rule = kept.rule_of(
        kept.SIDE[SIDES[side]], kept.STEP[STEPS[step]], found.size, change(100 * found.usual_day) or 0.0
    )
    by_hours = {each.hours: each for each in found.followed}
    after = {name: _after(by_hours[hours]) if hours in by_hours else None for name, hours in SPANS.items()}
    texts = [each.text for each in after.values() if each is not None]
    return SuchHours(
        rule=f"{rule[0].upper()}{rule[1:]}.",
        hours=found.n,
        days=found.days,
        after=after,
        statement=" ".join(texts) or kept.too_few(found.n, found.days),
    )


def after_facts(found: Followed) -> AfterFacts:
    """Return what is said of what followed."""
    up, within, down = found.differs
    return AfterFacts(found.hours, change(100 * found.usual) or 0.0, found.like, found.every, (up, within, down))


def _after(found: Followed) -> After:
    such = sum(found.like)
    every = sum(found.every)
    outcomes = {}
    rows = zip(OUTCOMES, found.like, found.every, found.intervals, found.differs, strict=True)
    for name, like, count, (low, high), differs in rows:
        outcomes[name] = OutcomeCount(
            such=like,
            all=count,
            difference_percent=share(like / such - count / every) or 0.0,
            low_percent=share(low) or 0.0,
            high_percent=share(high) or 0.0,
            differs=differs,
        )
    facts = after_facts(found)
    return After(
        usual_percent=facts.usual,
        such=such,
        days=found.days,
        all=every,
        outcomes=outcomes,
        text=kept.after_sentence(facts),
    )
