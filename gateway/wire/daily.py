"""An answer to the daily question: a 50% and a 90% range, and the times that follow from the question's name.

Its note is `emi-arena/v2:j{"d":"BTC-DAILY-20261124","r50":[-40,35],"r90":[-120,110]}`, in hundredths of a percent of
`base`, the price published when the question was asked.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self

ASKED_AT: Final = timedelta(hours=13)
"""Of the UTC day that a question's name has."""
CLOSES_AFTER: Final = timedelta(hours=23)
"""From then on: 12:00 of the next day."""
MEASURED_AFTER: Final = timedelta(hours=25)
"""From the close on: 13:00 of the day after that, 48 hours after it was asked."""
MOST: Final = 9_999
"""Hundredths of a percent: no range ends further off."""
NOTE_PREFIX: Final = b"emi-arena/v2:j"
KEYS: Final = frozenset({"d", "r50", "r90"})
Ends = tuple[int, int, int, int]
"""low_90, low_50, high_50, high_90 in hundredths of a percent."""
_NAME: Final = re.compile(r"BTC-DAILY-([0-9]{8})")
_RANGE: Final = re.compile(r"\s*([+-]?[0-9]{1,5})\s*,\s*([+-]?[0-9]{1,5})\s*")


def is_daily(subject: str) -> bool:
    """Return whether a ballot's subject is a daily question, and no round."""
    return _NAME.fullmatch(subject) is not None


def closes_at(question_id: str) -> datetime:
    """Return when a question takes no more answers; ValueError where the name is none.

    >>> closes_at("BTC-DAILY-20261124").isoformat()
    '2026-11-25T12:00:00+00:00'
    """
    name = _NAME.fullmatch(question_id)
    if name is None:
        raise ValueError(f"{question_id} names no daily question")
    try:
        return datetime.strptime(name[1], "%Y%m%d").replace(tzinfo=UTC) + ASKED_AT + CLOSES_AFTER
    except OverflowError:  # the last day that a date can have ends before its question closes
        raise ValueError(f"{question_id} names no daily question") from None


def is_sound(ends: Sequence[int]) -> bool:
    """Return whether four whole numbers are a 50% range inside a 90% range, none further off than what is allowed.

    >>> is_sound((-120, -40, 35, 110)), is_sound((-30, -40, 35, 110)), is_sound((-120, -40, 35, 10_000))
    (True, False, False)
    """
    # A bool is an int to Python, and 55.0 is equal to 55: neither is a whole number as it is written.
    if len(ends) != 4 or any(type(end) is not int for end in ends):
        return False
    return list(ends) == sorted(ends) and ends[0] >= -MOST and ends[3] <= MOST


@dataclass(frozen=True, slots=True)
class DailyAnswer:
    """Two ranges of Bitcoin's move, as one voter expects it."""

    question_id: str  # which may not exist
    ends: Ends

    @classmethod
    def of(cls, question_id: str, half: Any, nine: Any) -> Self:
        """Make an answer of a 50% and a 90% range; ValueError where they are none."""
        if not all(isinstance(one, list | tuple) and len(one) == 2 for one in (half, nine)):
            raise ValueError("a range is two numbers")
        ends = (nine[0], half[0], half[1], nine[1])
        if not is_sound(ends):
            raise ValueError(
                f"the 50% range lies inside the 90% range; whole hundredths of a percent from -{MOST} to {MOST}"
            )
        return cls(question_id, ends)

    @classmethod
    def read(cls, question_id: str, half: str, nine: str) -> Self:
        """Read the ranges as people write them, `-40,35` and `-120,110`; ValueError says what is wrong."""
        found = [_RANGE.fullmatch(text) for text in (half, nine)]
        ranges = [[int(one[1]), int(one[2])] for one in found if one is not None]
        if len(ranges) != 2:
            raise ValueError("a range is two whole numbers with a comma between, in hundredths of a percent: -40,35")
        return cls.of(question_id, *ranges)

    @property
    def subject(self) -> str:
        """What it answers; the lease of a ballot follows from it."""
        return self.question_id

    @property
    def note(self) -> bytes:
        """The note, in the only spelling that counts."""
        low_90, low_50, high_50, high_90 = self.ends
        fields = {"d": self.question_id, "r50": [low_50, high_50], "r90": [low_90, high_90]}
        return NOTE_PREFIX + json.dumps(fields, separators=(",", ":")).encode()

    def __str__(self) -> str:
        """Write both ranges without a space, so that two answers can be compared."""
        low_90, low_50, high_50, high_90 = self.ends
        return f"{low_50},{high_50};{low_90},{high_90}"
