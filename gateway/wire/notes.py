"""Notes of ballots, in the ARC-2 form, in the one spelling that counts.

A word, `emi-arena/v1:j{"r":"<round_id>","p":"BULLISH|BEARISH|NEUTRAL"}`, or the chances of a rise, a small move and a
fall in whole percent, `emi-arena/v2:j{"r":"<round_id>","q":[60,25,15]}`. Another kind of note is another value than
`RoundVote`, with the keys by which `_OF_KEYS` knows it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

from gateway.wire.daily import KEYS as DAILY_KEYS
from gateway.wire.daily import DailyAnswer
from gateway.wire.foreign import ForeignBytesError, read_json
from gateway.wire.refusals import Refusal, RefusedError

ANY_PREFIX: Final = b"emi-arena/v"
"""What the notes of all versions begin with."""
WORD_PREFIX: Final = b"emi-arena/v1:j"
CHANCES_PREFIX: Final = b"emi-arena/v2:j"
MAX_NOTE_BYTES: Final = 256
CHOICES: Final = frozenset({"BULLISH", "BEARISH", "NEUTRAL"})
WHOLE: Final = 100


class Chances(NamedTuple):
    """The chances that a voter gives, in whole percent, together 100."""

    up: int
    neutral: int
    down: int

    @classmethod
    def of(cls, values: object) -> Self:
        """Read three chances; ValueError where they are not three whole numbers from 0 to 100 that add up to 100.

        >>> Chances.of([60, 25, 15])
        Chances(up=60, neutral=25, down=15)
        """
        if not isinstance(values, list | tuple) or len(values) != 3:
            raise ValueError("chances are three numbers: of up, small move and down")
        # A bool is an int to Python, and 55.0 is equal to 55: neither is a whole number as it is written.
        if any(type(value) is not int or not 0 <= value <= WHOLE for value in values):
            raise ValueError("chances are whole numbers from 0 to 100")
        if sum(values) != WHOLE:
            raise ValueError(f"the chances add up to {sum(values)}, not to 100")
        return cls(*values)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read them as people write them, `60,25,15`; ValueError says what is wrong."""
        parts = [part.strip() for part in text.split(",")]
        if not all(part.isascii() and part.isdecimal() and len(part) <= 3 for part in parts):
            raise ValueError("chances are whole numbers from 0 to 100, with commas between: 60,25,15")
        return cls.of([int(part) for part in parts])

    @property
    def choice(self) -> str:
        """The word that they count for among words: that of the largest, NEUTRAL where two are the largest.

        >>> Chances(60, 25, 15).choice, Chances(40, 20, 40).choice, Chances(20, 40, 40).choice
        ('BULLISH', 'NEUTRAL', 'NEUTRAL')
        """
        if self.up > max(self.neutral, self.down):
            return "BULLISH"
        if self.down > max(self.neutral, self.up):
            return "BEARISH"
        return "NEUTRAL"

    def __str__(self) -> str:
        """Write them as `read` reads them."""
        return f"{self.up},{self.neutral},{self.down}"


# What one tap says: a little more for its answer, which costs little where no one can tell. With 60, 25 and 15 a side
# must be right in 46 of 100 rounds to score no worse than a base rate of thirds; with these in 37.
TAPPED: Final = {"BULLISH": Chances(40, 33, 27), "NEUTRAL": Chances(30, 40, 30), "BEARISH": Chances(27, 33, 40)}


@dataclass(frozen=True, slots=True)
class RoundVote:
    """A vote in a round of the Arena: a word, or chances, from which the word follows."""

    round_id: str  # the round that it votes in, which may not exist
    choice: str  # one of CHOICES
    chances: Chances | None = None  # None: a word alone

    @classmethod
    def of(cls, round_id: str, choice: str, chances: Chances | None = None) -> Self:
        """Make a vote of chances where there are some, else of a word."""
        return cls(round_id, choice if chances is None else chances.choice, chances)

    @property
    def subject(self) -> str:
        """What it votes on; the lease of a ballot follows from it."""
        return self.round_id

    @property
    def note(self) -> bytes:
        """The note, in the only spelling that counts."""
        if self.chances is None:
            return WORD_PREFIX + _json({"r": self.round_id, "p": self.choice})
        return CHANCES_PREFIX + _json({"r": self.round_id, "q": list(self.chances)})


def note_of(round_id: str, choice: str, chances: Chances | None = None) -> bytes:
    """Write the note of a vote in a round."""
    return RoundVote.of(round_id, choice, chances).note


Vote = RoundVote | DailyAnswer


def read_note(note: object) -> Vote:
    """Read a note; its spelling is the reader's to compare with `RoundVote.note`.

    Raises:
        RefusedError: no ballot has such a note.
    """
    if not isinstance(note, bytes) or len(note) > MAX_NOTE_BYTES:
        raise RefusedError(Refusal.NOTE_FORM)

    prefix = note[: len(WORD_PREFIX)]
    try:
        fields = read_json(note[len(prefix) :])
    except ForeignBytesError:
        raise RefusedError(Refusal.NOTE_FORM) from None

    read = _OF_KEYS.get((prefix, frozenset(fields))) if isinstance(fields, dict) else None
    if read is None:
        raise RefusedError(Refusal.NOTE_FORM)
    return read(fields)


def _read_word(fields: Mapping[str, Any]) -> RoundVote:
    if not isinstance(fields["r"], str) or not isinstance(fields["p"], str):
        raise RefusedError(Refusal.NOTE_FORM)
    if fields["p"] not in CHOICES:
        raise RefusedError(Refusal.CHOICE)
    return RoundVote(fields["r"], fields["p"])


def _read_chances(fields: Mapping[str, Any]) -> RoundVote:
    if not isinstance(fields["r"], str):
        raise RefusedError(Refusal.NOTE_FORM)
    try:
        chances = Chances.of(fields["q"])
    except ValueError:
        raise RefusedError(Refusal.CHANCES) from None
    return RoundVote.of(fields["r"], "", chances)


def _read_daily(fields: Mapping[str, Any]) -> DailyAnswer:
    if not isinstance(fields["d"], str):
        raise RefusedError(Refusal.NOTE_FORM)
    try:
        return DailyAnswer.of(fields["d"], fields["r50"], fields["r90"])
    except ValueError:
        raise RefusedError(Refusal.RANGES) from None


_OF_KEYS: Final[Mapping[tuple[bytes, frozenset[str]], Callable[[Mapping[str, Any]], Vote]]] = {
    (WORD_PREFIX, frozenset({"r", "p"})): _read_word,
    (CHANCES_PREFIX, frozenset({"r", "q"})): _read_chances,
    (CHANCES_PREFIX, DAILY_KEYS): _read_daily,
}


def _json(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()
