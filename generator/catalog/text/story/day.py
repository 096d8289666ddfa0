"""What was: the day, its hours, who moved with whom, who pays, how deep."""

from typing import Final

from generator.catalog.counts import quantity
from generator.catalog.text import kept
from generator.catalog.text.story.facts import (
    LargestHour,
    Pen,
    StoryFacts,
    joined,
    of_100,
    place_by_size,
)

CLOSE: Final = 0.9  # correlation from which coins are said to move as one
LOOSE: Final = 0.5


def hour(facts: StoryFacts) -> list[str]:
    """Say which hour made the day, and where it and the last hour rank."""
    pen = Pen(facts.turn)
    sentences = []
    if facts.largest is not None:
        sentences += _largest(pen, facts.largest)
    if facts.largest is not None and facts.largest.is_last:
        sentences.append(
            pen.pick(
                "now",
                "That is the hour just over, so the story is still being written.",
                "It is the last hour we have: what follows it is not in this report.",
                "No other hour has come after it yet.",
            )
        )
    elif facts.last_hour is not None:
        sentences.append(_last_hour(pen, facts.last_hour, facts.last_hour_rank))
    return sentences or ["The candles of the day have holes, so its hours cannot be compared."]


def _largest(pen: Pen, largest: LargestHour) -> list[str]:
    move = f"{abs(largest.move):.1f}%"
    verb = "rose" if largest.move > 0 else "fell"
    noun = "rise" if largest.move > 0 else "fall"
    first = pen.pick(
        "largest",
        f"The day's biggest hour ended at {largest.at} UTC, when the average coin {verb} {move}.",
        f"One hour leads the other 23: up to {largest.at} UTC prices {verb} {move}.",
        f"If you had looked only once, {largest.at} UTC was the time: a {noun} of {move} in sixty minutes.",
        f"The biggest step came in the hour to {largest.at} UTC, a {noun} of {move}.",
    )
    return [first, joined(_part_of_day(pen, largest), _places(pen, largest))]


def _part_of_day(pen: Pen, largest: LargestHour) -> str:
    if largest.share is None:
        return pen.pick(
            "part",
            "The other 23 hours took back part of it, or more.",
            "The day as a whole did not keep it: the other hours pulled the other way.",
            "What it did, the rest of the day undid in part or in whole.",
        )
    if largest.share >= 50:
        return pen.pick(
            "part",
            f"It alone accounts for {largest.share}% of the day's move.",
            f"Take that hour out and {largest.share}% of the day is gone.",
        )
    return pen.pick(
        "part",
        f"That is {largest.share}% of the day's move, and the rest came in smaller pieces.",
        f"Still, it explains only {largest.share}% of the day, so the move was spread out.",
        f"With {largest.share}% of the day in it, no single hour decided things.",
    )


def _places(pen: Pen, largest: LargestHour) -> str:
    week = place_by_size(largest.in_week)
    month = place_by_size(largest.in_month)
    if largest.in_month == 1:
        return pen.pick(
            "places", "No hour of the month was larger.", "You have to leave the month to find a larger hour."
        )
    if largest.in_week == 1:
        return pen.pick(
            "places",
            f"It is the week's largest hour and the month's {month}.",
            f"Nothing in seven days was larger, and in thirty days it is the {month}.",
        )
    return pen.pick(
        "places",
        f"In the week it ranks {week}, in the month {month}.",
        f"From the largest down, it is the {week} hour of seven days and the {month} of thirty.",
        f"It is number {largest.in_week} of the week's hours, the largest first, and number {largest.in_month} of "
        "the month's.",
        f"There were {quantity(largest.in_week - 1, 'larger hour')} in the week and {largest.in_month - 1} in the "
        "month.",
        f"Seven days hold {quantity(largest.in_week - 1, 'larger hour')}, thirty days {largest.in_month - 1}.",
    )


def _last_hour(pen: Pen, moved: float, rank: float | None) -> str:
    size = f"{abs(moved):.2f}%"
    way = "up" if moved > 0 else "down"
    if not moved:
        return pen.pick(
            "last hour",
            "The hour just over left prices where they were.",
            "In the last sixty minutes the average coin went nowhere.",
        )
    if rank is None:
        return pen.pick(
            "last hour",
            f"The last sixty minutes took prices {way} {size}.",
            f"In the hour just over prices went {way} {size}.",
        )
    n = of_100(rank)
    if rank >= kept.HIGH:
        return pen.pick(
            "last hour",
            f"The hour just over is lively too: {way} {size}, more than {n} of 100 hours of the week.",
            f"And it is not calm now: the last sixty minutes took prices {way} {size}, beyond {n} in 100 of the "
            "week's.",
        )
    if rank <= kept.LOW:
        return pen.pick(
            "last hour",
            f"By now it has gone still: {size} {way} in the last hour, less than most of the week.",
            f"The last hour brought {size} {way}; {100 - n} in 100 hours of the week brought more.",
        )
    return pen.pick(
        "last hour",
        f"The last hour, {way} {size}, is an ordinary one for this week.",
        f"In the sixty minutes to now prices went {way} {size}, no more and no less than they often do.",
        f"The hour just over brought {size} {way}, near the middle of the week's hours.",
        f"As for the hour just over, {size} {way} is what this week's hours tend to do.",
        f"Right now things are plain: {way} {size} in the last sixty minutes.",
    )
