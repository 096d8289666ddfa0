"""What may come: how far, how long states last, the next four hours."""

from collections.abc import Mapping
from typing import Final

from generator.catalog.counts import quantity
from generator.catalog.text import kept
from generator.catalog.text.kept import SpellFacts
from generator.catalog.text.story.facts import Pen, StoryFacts, begun, joined

_ENOUGH: Final = 30  # cases of which a rate is said
_NEAR: Final = 3.0  # of 100 cases: chances this close to their base rates say nothing of their own


def how_far(facts: StoryFacts) -> list[str]:
    """Say how far Bitcoin may move over four horizons and how those ranges did."""
    pen = Pen(facts.turn)
    if len(facts.ranges) < 4:
        return ["How far prices may move cannot be said without a reading."]
    quarter, one, four, day = (facts.ranges[name] for name in ("15m", "1h", "4h", "24h"))
    ranges = pen.pick(
        "ranges",
        f"Expect Bitcoin to end, nine times in ten, less than {quarter[3]:.2f}% away after fifteen minutes, "
        f"{one[3]:.2f}% after an hour, {four[3]:.1f}% after four hours and {day[3]:.1f}% after a day.",
        f"In nine of ten cases Bitcoin should end within {quarter[3]:.2f}% after a quarter hour, {one[3]:.2f}% "
        f"after an hour, {four[3]:.1f}% after four and {day[3]:.1f}% after a day.",
        f"Bitcoin's wide ranges, which should hold nine times in ten, reach {quarter[3]:.2f}% either way for "
        f"fifteen minutes, {one[3]:.2f}% for an hour, {four[3]:.1f}% for four and {day[3]:.1f}% for a day.",
        f"Nine moves of Bitcoin in ten should come out below {quarter[3]:.2f}% in 15 minutes, {one[3]:.2f}% in "
        f"an hour, {four[3]:.1f}% in four hours and {day[3]:.1f}% in a day, up or down.",
        f"How far is far for Bitcoin: one time in ten it should end more than {quarter[3]:.2f}% away after "
        f"fifteen minutes, {one[3]:.2f}% after an hour, {four[3]:.1f}% after four, {day[3]:.1f}% after a day.",
    )
    beyond = _beyond(pen, facts.beyond)
    sentences = [joined(ranges, beyond) if beyond else ranges]
    sentences += _record(pen, facts)
    return sentences


def _beyond(pen: Pen, beyond: Mapping[str, tuple[float, float, float]]) -> str:
    if "4h" not in beyond:
        return ""
    level, end, touch = beyond["4h"]
    return pen.pick(
        "beyond",
        f"For {level:g}% in four hours the odds are {_percent(end)} at the end and {_percent(touch)} somewhere "
        "along the way.",
        f"Some time within four hours the price should touch {level:g}% in {_percent(touch)} of cases, and end "
        f"there or further in {_percent(end)}.",
        f"A move of more than {level:g}% in four hours, either way, has a chance of {_percent(end)}; that the "
        f"price gets so far at some point on the way, {_percent(touch)}.",
        f"Four hours from now Bitcoin is more than {level:g}% away with a chance of {_percent(end)}; with "
        f"{_percent(touch)} it is there at least once on the way.",
        f"Beyond {level:g}% at the end of four hours: {_percent(end)}. Beyond it at any moment in between: "
        f"{_percent(touch)}.",
        f"The chance to touch {level:g}% within four hours is {_percent(touch)}, but only {_percent(end)} to be "
        "beyond it at the end: prices often come back.",
    )


def _percent(chance: float) -> str:
    if chance < 1:
        return "under 1%"
    return "over 99%" if chance > 99 else f"{chance:.0f}%"


def _record(pen: Pen, facts: StoryFacts) -> list[str]:
    if facts.record is None or facts.record[0] < _ENOUGH:
        return [
            pen.pick(
                "record",
                "Too few of these ranges have come due to show a record.",
                "Their own record is still too short to show.",
            )
        ]
    n, half, most = facts.record
    where = "In the backtest before the start" if facts.record_is_backtest else "On the live record"
    return [
        pen.pick(
            "record",
            f"{where}, over {n:,} hourly moves, {half:.0f} in 100 stayed in the 50% range and {most:.0f} in the 90% "
            "range.",
            f"{where}, {n:,} ranges over an hour have come due: the narrow ones held {half:.0f}% of moves and the "
            f"wide ones {most:.0f}%, where 50 and 90 would be right.",
            f"{where} these ranges held {half:.0f} and {most:.0f} in 100 of {n:,} hourly moves; 50 and 90 were "
            "promised.",
            f"{where} {half:.0f}% of {n:,} hourly moves fell inside the narrow range (50% is right) and {most:.0f}% "
            "inside the wide one (90% is).",
            f"How good are they? {where} the wide range held {most:.0f} and the narrow one {half:.0f} of 100 moves, "
            f"over {n:,} hours and coins.",
            f"Do they hold? {where}, {n:,} hourly moves: {half:.0f}% inside the 50% range, {most:.0f}% inside the "
            "90% range.",
        )
    ]


def endings(facts: StoryFacts) -> list[str]:
    """Say how long such states last, and what ends them."""
    pen = Pen(facts.turn)
    if not facts.spells:
        return ["Since when the market is in its state is not known, so how long it may last is not either."]
    first, *others = facts.spells
    return [*_spell(pen, first, "side"), *(sentence for other in others for sentence in _spell(pen, other, "step")[:1])]


def _spell(pen: Pen, spell: SpellFacts, place: str) -> list[str]:
    age = kept.span(spell.hours or 0.0)
    seen = f"{quantity(spell.n, 'spell')} on {quantity(spell.days, 'day')}"
    subject = kept.with_article(spell.state)
    four = spell.lasting["4h"]
    day = spell.lasting["24h"]
    if four is None or day is None:
        return [
            pen.pick(
                place,
                f"We have been in {subject} for {age}, and the record holds {seen} of it: too few for a share.",
                f"{begun(subject)} has held for {age}; with {seen} on file, how long it may last stays open.",
            )
        ]
    sentences = [
        pen.pick(
            place,
            f"We have been in {subject} for {age}; of {seen} on file, {four:.0f} in 100 outlast four hours and "
            f"{day:.0f} a day.",
            f"{begun(subject)} has held for {age}, and of {seen} {four:.0f} in 100 last beyond four hours, {day:.0f} "
            "beyond a day.",
            f"{begun(subject)}, {age} so far: the record has {seen}; {four:.0f} in 100 outlive four hours, {day:.0f} "
            "a day.",
            f"{begun(subject)} is {age} old now; there were {seen}, of which {four:.0f} in 100 outlast four hours "
            f"and {day:.0f} a day.",
            f"How long {subject} lasts: this one is {age} old, and of {seen} seen {four:.0f} in 100 pass four hours "
            f"and {day:.0f} a whole day.",
        )
    ]
    onward = _onward(pen, place, spell)
    ended = _ended(pen, place, spell)
    if onward and ended:
        return [*sentences, joined(onward, ended)]
    return [*sentences, *(text for text in (onward, ended) if text)]


def _onward(pen: Pen, place: str, spell: SpellFacts) -> str:
    if spell.from_now["4h"] is None:
        return ""
    share = f"{spell.from_now['4h']:.0f}"
    return pen.pick(
        f"{place} onward",
        f"Those that got as old as this one lasted another four hours in {share} of 100 cases.",
        f"From here on, {share} in 100 spells of this age lasted four hours more.",
        f"Given that it is this old, the chance of four more hours was {share} in 100.",
        f"Age counts: of spells as old as this, {share} in 100 made it through four more hours.",
        f"Of those that had come this far, {share} in 100 went on for four hours or longer.",
    )


def _ended(pen: Pen, place: str, spell: SpellFacts) -> str:
    if not spell.came_next:
        return ""
    (following, count), *_ = spell.came_next.items()
    name = kept.with_article(following)
    total = sum(spell.came_next.values())
    return pen.pick(
        f"{place} next",
        f"After the {total} that ended, {name} came in {count}.",
        f"When one ends, {name} follows: so it was in {count} of {total}.",
        f"At its end it gave way to {name} {count} times of {total}.",
        f"So far {total} such spells are over, and {name} followed {count} of them.",
        f"Of {total} endings, {count} led into {name}.",
    )


def partition(facts: StoryFacts) -> list[str]:
    """Say what the next four hours may bring in three parts, next to their base rates."""
    pen = Pen(facts.turn)
    part = facts.partition
    if part is None:
        return ["The next four hours cannot be cut into chances without a reading."]
    chances = f"up {part.up:.0f}, within {part.within:.0f}, down {part.down:.0f}"
    usual = f"up {part.base_up:.0f}, within {part.base_within:.0f}, down {part.base_down:.0f}"
    first = pen.pick(
        "partition",
        f"In the next four hours {part.name} does one of three things (usual move {part.usual:.2f}%), with these "
        f"chances: {chances}.",
        f"Our split for {part.name}, four hours on and with {part.usual:.2f}% as its usual move, is {chances} in 100.",
        f"Cut the next four hours of {part.name} in three at {part.usual:.2f}% either way, and the chances in 100 "
        f"are {chances}.",
        f"One of three things will be true of {part.name} in four hours, with {part.usual:.2f}% as the border: "
        f"{chances} in 100.",
        f"Where is {part.name} in four hours? With a border of {part.usual:.2f}% either way, in 100 cases: {chances}.",
        f"Three cases, one of which comes true for {part.name} by then (border {part.usual:.2f}%): {chances}, of 100.",
        f"For {part.name} four hours from now we give, in 100 and with a border of {part.usual:.2f}%: {chances}.",
    )
    apart = (abs(part.up - part.base_up) + abs(part.within - part.base_within) + abs(part.down - part.base_down)) / 2
    if apart < _NEAR:
        second = pen.pick(
            "base",
            f"That is almost what it usually is ({usual}), so the forecast claims next to nothing.",
            f"The past alone would have said {usual}: hardly a difference.",
        )
    elif part.within < part.base_within:
        second = pen.pick(
            "base",
            f"Base rates are {usual}. More movement than usual is expected, so both ends grow.",
            f"On past days that split was {usual}, and what left the middle is our view that more will happen.",
            f"The past alone gives {usual}, and we shift weight to both ends, for we expect more movement, not a side.",
            f"Usually it is {usual}, so a larger move than usual is more likely than usual, in either direction.",
        )
    else:
        second = pen.pick(
            "base",
            f"The past alone gives {usual}, and we put more in the middle, because we expect less movement.",
            f"Base rates are {usual}. A calmer stretch than usual is expected, so the middle grows.",
            f"On past days that split was {usual}, and the extra in the middle is our view that less will happen.",
            f"Usually it is {usual}: this time the small move gets the extra weight.",
        )
    furthest = _furthest(pen, facts.furthest)
    return [first, joined(second, furthest) if furthest else second]


def _furthest(pen: Pen, furthest: tuple[str, int] | None) -> str:
    if furthest is None:
        return ""
    name, gap = furthest
    if gap < _NEAR:
        return pen.pick(
            "furthest",
            f"None of the coins departs from its own past by more than {gap} cases in 100.",
            f"Of all coins, {name} differs most from its base rates, and that is {gap} in 100.",
        )
    return pen.pick(
        "furthest",
        f"{name} departs most from its own past: {gap} of 100 cases lie elsewhere.",
        f"Most of its own to say has the forecast for {name}, which moves {gap} cases in 100.",
        f"{name}'s chances are the ones furthest from what they usually are: {gap} in 100 changed place.",
        f"Among the coins, {name} differs most from its base rates, by {gap} cases in 100.",
        f"The boldest of the forecasts is {name}'s, {gap} in 100 away from its base rates.",
    )


def regime_headline(facts: StoryFacts) -> str:
    """Say how long the side of the market has held, and how long others did."""
    spell = facts.spells[0] if facts.spells else None
    if spell is None:
        return "How long: since when the market is in its state is not known yet."
    held = f"How long: {kept.with_article(spell.state)} for {kept.span(spell.hours or 0.0)} so far"
    four = spell.lasting["4h"]
    if four is None:
        return f"{held}; {quantity(spell.n, 'such spell')} in the record, too few for a share."
    return f"{held}; of {spell.n} such spells {four:.0f} in 100 outlast four hours."


def ladder_headline(facts: StoryFacts) -> str:
    """Say how likely Bitcoin is to move beyond a level."""
    if "4h" not in facts.beyond:
        return "How far: how likely moves beyond a level are is not known yet."
    level, end, touch = facts.beyond["4h"]
    return (
        f"How far: Bitcoin ends more than {level:g}% away in four hours with a chance of {_percent(end)} and touches "
        f"that level with {_percent(touch)}."
    )


def partition_headline(facts: StoryFacts) -> str:
    """Say what the next four hours of Bitcoin may bring."""
    part = facts.partition
    if part is None:
        return "The next four hours: no chances can be given yet."
    return (
        f"Bitcoin's next four hours in 100 cases: up {part.up:.0f}, within {part.usual:.2f}% {part.within:.0f}, down "
        f"{part.down:.0f}; usually {part.base_up:.0f}, {part.base_within:.0f}, {part.base_down:.0f}."
    )
