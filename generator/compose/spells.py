"""How long the market's states have lasted, what ended them and what came next; and where today ranks in its month."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from pydantic import Field

from generator.arena.rates import rate
from generator.brain.label import LABELS
from generator.brain.month import Month, MonthRank
from generator.brain.side import SIDES
from generator.brain.spells import FEWEST_DAYS, FEWEST_SPELLS, UNRATED, Spell, begun_on, enough, survival
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import fixed, iso, share, significant
from generator.catalog.text import kept
from generator.catalog.text.kept import SpellFacts, in_a_hundred
from generator.compose.body import Body
from generator.compose.context import TickContext
from generator.values.scores import Estimate

STEPS: Final = ("calm_or_normal", "elevated_or_extreme")
SPANS: Final[dict[str, int]] = {"1h": 1, "4h": 4, "12h": 12, "24h": 24}
FEWEST: Final = f"null with fewer than {FEWEST_SPELLS} such spells on {FEWEST_DAYS} days"


class Lasting(Body):
    """How many spells last longer than some hours, by the estimate of Kaplan and Meier."""

    percent: float = Field(description="Share of spells that last longer, percent 0..100; one that is not over counts.")
    low_percent: float = Field(description="Lower end of its 95% interval (Greenwood), percent.")
    high_percent: float = Field(description="Upper end of it, percent.")


class LastingOn(Lasting):
    """How many of the spells that got as far as the present one last so many hours more."""

    n: int = Field(description="Spells that got as far.")


class EndedBy(Body):
    """What ended the spells that are over and began within the kept month."""

    n: int = Field(description="Spells that are over.")
    sharp_hour: int = Field(description="Ended in an hour whose move was among the largest tenth of the month's.")
    volatility_change: int = Field(
        description="Ended within an hour of a change of volatility, without such a move; 0 of volatility."
    )
    neither: int = Field(description="Ended without either: the state faded.")


class StateSpells(Body):
    """Spells of the state that one axis is in now."""

    state: str = Field(description="The state now.")
    since: str | None = Field(description="Market time at which it began, ISO 8601 UTC; null where that was not seen.")
    hours: float | None = Field(description="Hours for which it has lasted; null where its beginning was not seen.")
    n: int = Field(
        description="Spells of this state in the kept record of which the beginning was seen, with this one."
    )
    days: int = Field(description="Distinct UTC days on which they began.")
    not_over: int = Field(description="How many of them are not over, or their end was not seen: right-censored.")
    median_hours: float | None = Field(description=f"Hours that half of them outlast; {FEWEST}, or where not seen.")
    survival: dict[str, Lasting | None] = Field(
        description=f"Share of them that lasts longer than 1, 4, 12 and 24 hours; {FEWEST}, or where none was seen so "
        "long."
    )
    from_now: dict[str, LastingOn | None] = Field(
        description=f"Of those that lasted as long as this one, the share that lasts so much longer; {FEWEST} that did."
    )
    came_next: dict[str, int] = Field(description="State that followed to how often.")
    ended_by: EndedBy | None = Field(description="What ended those that are over; null where it is not known of any.")
    text: str = Field(description="The same in words.")


class Rank(Body):
    """One measure of now among the hours of the kept month."""

    now: float | None = Field(description="Its value now; null where it is not known.")
    usual: float | None = Field(description="Its median over the month; null with less than a week of hours.")
    rank_percent: float | None = Field(
        description="Share of the month's hours with a smaller value, percent 0..100; null with less than a week of "
        "hours."
    )
    n: int = Field(description="Hours of the month with a value.")


class Spells(Body):
    """How long: the spells of the market's side, volatility and label, and today's rank in the kept month."""

    side: StateSpells | None = Field(description="Of the side: rising, falling, flat or both_ways; null where unknown.")
    volatility: StateSpells | None = Field(
        description="Of the two-way step of volatility: calm_or_normal or elevated_or_extreme; null where unknown."
    )
    label: StateSpells | None = Field(description="Of the regime label; null where unknown.")
    ranks: dict[str, Rank] = Field(
        description="stress (log of the expected volatility of the next four hours), dispersion (standard deviation of "
        "the assets' changes over 24 hours, percentage points), correlation (mean over the pairs, of a day's hourly "
        "moves), funding (mean rate per 8 hours, percent), volume (traded in 24 hours, US dollars) and depth (within "
        "1% of the price, US dollars), each among the hours of the month."
    )
    record_days: float | None = Field(description="Days over which the spells were seen; null where none was.")
    statement: str = Field(description="What stands out, in words.")


def spells(ctx: TickContext) -> Spells | None:
    """Compose how long the states have lasted; None without a kept month."""
    month = ctx.month
    if month is None or ctx.reading is None:
        return None

    side = _state(month, month.spells.side, SIDES, kept.SIDE)
    volatility = _state(month, month.spells.step, STEPS, kept.STEP)
    label = _state(month, month.spells.label, LABELS, kept.LABEL)
    known = [spell for of_kind in (month.spells.side, month.spells.step) for spell in of_kind]
    record_days = None
    if known:
        record_days = fixed((month.now_ms - min(spell.start_ms for spell in known)) / DAY_MS, 1)

    ranks = {name: _rank(name, rank) for name, rank in month.ranks.items()}
    return Spells(
        side=side,
        volatility=volatility,
        label=label,
        ranks=ranks,
        record_days=record_days,
        statement=kept.ranks_sentence(
            {name: rank.rank_percent for name, rank in ranks.items()},
            max((rank.n for rank in ranks.values()), default=0),
        ),
    )


def _state(month: Month, every: Sequence[Spell], names: Sequence[str], words: dict[str, str]) -> StateSpells | None:
    """Compose the spells of the state that one axis is in now; None where the present spell is not known."""
    if not every or every[-1].end_ms != month.now_ms or every[-1].came_next is not None:
        return None
    now = every[-1]
    # The present spell is one of them: it is not over, so it counts as censored.
    like = [spell for spell in every if spell.state == now.state]
    is_enough = enough(like)
    lasting = {name: _lasting(survival(like, hours)) if is_enough else None for name, hours in SPANS.items()}
    outlasted = [spell for spell in like if spell.hours > now.hours]
    from_now = {name: _from_now(outlasted, now.hours, hours) for name, hours in SPANS.items()}
    came_next = Counter(names[spell.came_next] for spell in like if spell.came_next is not None)
    median = _median(like) if is_enough else None
    state = str(names[now.state])
    hours = fixed(now.hours, 2)

    over = sum(came_next.values())
    facts = SpellFacts(
        state=words[state],
        hours=hours,
        n=len(like),
        days=begun_on(like),
        median=median,
        four_hours=_in_words(lasting["4h"]),
        day=_in_words(lasting["24h"]),
        as_old=len(outlasted),
        four_more=_in_words(from_now["4h"]),
        over=over,
        next=_next(came_next, over, words),
    )
    return StateSpells(
        state=state,
        since=iso(now.start_ms),
        hours=hours,
        n=len(like),
        days=facts.days,
        not_over=sum(spell.came_next is None for spell in like),
        median_hours=median,
        survival=lasting,
        from_now=from_now,
        came_next=dict(came_next.most_common()),
        # A change of volatility cannot be what ended a spell of volatility.
        ended_by=_ended_by(month, like, [] if names is STEPS else month.spells.step),
        text=kept.spell_text(facts),
    )


def _lasting(estimate: Estimate | None) -> Lasting | None:
    if estimate is None:
        return None

    value = share(estimate.value)
    low = share(estimate.low)
    high = share(estimate.high)
    if value is None or low is None or high is None:
        return None
    return Lasting(percent=value, low_percent=low, high_percent=high)


def _in_words(lasting: Lasting | None) -> str | None:
    return None if lasting is None else in_a_hundred(lasting.percent, lasting.low_percent, lasting.high_percent)


def _next(came_next: Counter[str], over: int, words: dict[str, str]) -> tuple[str, str] | None:
    """Return what followed most of the spells that are over; None where its interval holds one half."""
    if over < FEWEST_SPELLS:
        return None
    ((name, count),) = came_next.most_common(1)
    chance = rate(count, over)
    if chance.percent is None or chance.low_percent is None or chance.high_percent is None or chance.low_percent <= 50:
        return None
    return words[name], in_a_hundred(chance.percent, chance.low_percent, chance.high_percent)


def _from_now(outlasted: Sequence[Spell], age: float, hours: float) -> LastingOn | None:
    """Return the share of the spells that passed some age that last so many hours longer; None of too few."""
    if not enough(outlasted):
        return None
    # Counted from that age on, survival is conditional on having reached it.
    rest = [spell._replace(start_ms=spell.start_ms + round(age * HOUR_MS)) for spell in outlasted]
    lasting = _lasting(survival(rest, hours))
    return None if lasting is None else LastingOn(**lasting.as_fields(), n=len(outlasted))


def _median(like: Sequence[Spell]) -> float | None:
    """Return the shortest length that at most half of the spells outlast; None where that was not seen."""
    for hours in sorted({spell.hours for spell in like if spell.came_next is not None}):
        estimate = survival(like, hours)
        if estimate is not None and estimate.value <= 0.5:
            return fixed(hours, 2)
    return None


def _ended_by(month: Month, like: Sequence[Spell], steps: Sequence[Spell]) -> EndedBy | None:
    """Count what ended the spells that are over and ended within the kept month.

    Args:
        like: the spells.
        steps: spells of the step of volatility, of which an end may have ended them.
    """
    changes = [spell.end_ms for spell in steps if spell.came_next not in {None, UNRATED}]
    counts: Counter[str] = Counter()

    for spell in like:
        sharp = None if spell.came_next is None else month.is_sharp(spell.end_ms)
        if sharp is None:
            continue
        # The sharp hour comes first, since volatility often changes with it; so each end has one cause.
        if sharp:
            counts["sharp_hour"] += 1
        elif any(abs(spell.end_ms - at_ms) <= HOUR_MS for at_ms in changes):
            counts["volatility_change"] += 1
        else:
            counts["neither"] += 1
    if not counts:
        return None
    return EndedBy(
        n=counts.total(),
        sharp_hour=counts["sharp_hour"],
        volatility_change=counts["volatility_change"],
        neither=counts["neither"],
    )


_PERCENT: Final = {"dispersion": 2, "funding": 4}  # measures that are fractions, and their decimals as percent


def _rank(name: str, rank: MonthRank) -> Rank:
    return Rank(
        now=_shown(name, rank.now),
        usual=_shown(name, rank.usual),
        rank_percent=share(rank.rank),
        n=rank.n,
    )


def _shown(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    if name in _PERCENT:
        return fixed(100 * value, _PERCENT[name])
    return fixed(value, 2) if name in {"stress", "correlation"} else significant(value, 4)
