"""Who is read first where more lies in an inbox than one look can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Protocol, TypeVar

Row = TypeVar("Row")


class Lots(Protocol):
    """What draws lots, e.g. `random.SystemRandom`."""

    def shuffle(self, rows: list[Row], /) -> None:
        """Put a list into any order, each as likely."""
        ...


def in_turn(
    rows: Iterable[Row], sender: Callable[[Row], str], age: Callable[[Row], tuple[int, str]], lots: Lots
) -> Iterator[Row]:
    """Yield every row once, in an order that no flood can turn against one ballot.

    Senders take turns, so that one who sends much keeps only itself waiting. Of one sender's rows every other is the
    oldest that is left and every other is drawn by lot: what waits longest is read, and what is sent into the middle of
    a flood has the chance of every other row, whatever its name or age.

    Args:
        rows: what lies there.
        sender: whose row it is.
        age: by which rows are ordered, the oldest first.
        lots: draws lots.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(sender(row), []).append(row)
    for turn in zip_longest(*(_mixed(sorted(group, key=age), lots) for group in groups.values())):
        yield from (row for row in turn if row is not None)


def _mixed(oldest: Sequence[Row], lots: Lots) -> Iterator[Row]:
    """Yield by turns the oldest that is left and one drawn by lot."""
    drawn = list(range(len(oldest)))
    lots.shuffle(drawn)
    given = [False] * len(oldest)
    for pair in zip(range(len(oldest)), drawn, strict=True):
        for place in pair:
            if not given[place]:
                given[place] = True
                yield oldest[place]
