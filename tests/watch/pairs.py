"""Every ordered pair of faults within one hour: each is reported, whatever was reported before or is still on.

The second begins five minutes after the end of the first, or while the first lasts. Known again is a fault by name,
subject and text without its figures, as it is reported when nothing else is wrong. Where the first has the second as
its consequence, such as a full disk that keeps ticks from being published, it was reported with the first, and counts.
"""

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from generator.operate.watch.alerts import Message
from tests.watch.simulated import HIDDEN_BY, KINDS, MINUTE, NOON, Trouble, played

BEGINS: Final = NOON + 10 * MINUTE + 25
LASTS: Final = 10 * MINUTE
WITHIN_S: Final = 180.0
Signature = tuple[str, str, str]


@dataclass(frozen=True)
class Pair:
    """Two faults, and whether the second begins while the first lasts."""

    first: str
    second: str
    overlaps: bool

    def waited_s(self) -> float | None:
        """Return the seconds until the second was reported: from when its limit was crossed and nothing hid it."""
        ends = BEGINS + LASTS + KINDS[self.first]
        begins = ends - 5 * MINUTE if self.overlaps else ends + 5 * MINUTE
        seen_from = max(begins, ends) if self.is_hidden else begins
        due = seen_from + KINDS[self.second]
        first = Trouble(self.first, BEGINS, ends)
        second = Trouble(self.second, begins, due + LASTS)
        with contextlib.redirect_stdout(io.StringIO()):
            heard = played([first, second], NOON, second.ends + 3 * MINUTE).heard

        found = [at for at, message in heard if message.event == "start" and signature(message) == alone(self.second)]
        return max(0.0, found[-1] - due) if found else None

    @property
    def is_hidden(self) -> bool:
        """Whether the second cannot be seen while the first lasts: one thing has one cause at a time."""
        of_one_name = self.first.partition("/")[0] == self.second.partition("/")[0]
        return of_one_name or self.second in HIDDEN_BY.get(self.first, ())


def signature(message: Message) -> Signature:
    return (message.fault, message.subject, re.sub(r"[\d.:TZ-]+", "#", message.text))


@cache
def alone(kind: str) -> Signature:
    """Return what is reported of a fault when nothing else is wrong."""
    trouble = Trouble(kind, BEGINS, BEGINS + LASTS + KINDS[kind])
    with contextlib.redirect_stdout(io.StringIO()):
        heard = played([trouble], NOON, trouble.ends + 3 * MINUTE).heard
    return next(signature(message) for _, message in heard if message.fault == trouble.fault)


def pairs() -> Iterator[Pair]:
    """Yield every ordered pair, both ways."""
    for first in KINDS:
        for second in KINDS:
            if first != second:
                yield Pair(first, second, overlaps=False)
                yield Pair(first, second, overlaps=True)
