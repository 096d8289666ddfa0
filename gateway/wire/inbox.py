"""What a generator says in its inbox to the gateways that add ballots: which round takes votes, and who voted before.

Both are files with a dot, which are no ballots. Each is written whole and then renamed, so that a reader finds the last
one or the next, and never a part.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from gateway.wire.algorand import KEY_BYTES
from gateway.wire.ballots import FORM, WORDS_FORM

OPEN_ROUND: Final = ".open-round"
"""Which round takes votes, written by each tick."""
OPEN_DAILY: Final = ".open-daily"
"""Which daily question takes answers, likewise."""
EARLIER_VOTERS: Final = ".earlier-voters"
"""Whose votes were counted in an earlier round, written when a round was locked or resolved."""
REJECTED: Final = "rejected"
"""The folder of ballots with which two ticks failed; for people to look at."""
READ_WITHIN_MS: Final = 180_000
MOST_VOTERS: Final = 20_000
"""So many earlier voters are named, those of most rounds first: 640 kB."""
_DIGEST_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class AnnouncedRound:
    """What a generator says in its inbox of the round that takes votes; times are wall time."""

    round_id: str  # or the name of the daily question
    closes_ms: int
    read_ms: int  # of the tick that read the inbox last
    form: int = FORM  # of the ballots that the round takes

    @property
    def takes_chances(self) -> bool:
        """Whether a vote may give chances in place of a word."""
        return self.form > WORDS_FORM

    def content(self) -> bytes:
        """Write it.

        It ends with the form of ballots: a gateway that knows no such form reads nothing here, and takes no ballots
        that would not count.
        """
        return f"{self.round_id} {self.closes_ms} {self.read_ms} {self.form}".encode()

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Read it; ValueError when it is of a form that is not known here.

        A generator from before ballots had forms names none: it takes words alone.
        """
        round_id, closes_ms, read_ms, *forms = data.decode().split()
        form = int(forms[0]) if forms else WORDS_FORM
        if len(forms) > 1 or not WORDS_FORM <= form <= FORM:
            raise ValueError("this generator takes ballots of another form")
        return cls(round_id, int(closes_ms), int(read_ms), form)

    def is_read(self, now_ms: float) -> bool:
        """Return whether a generator read the inbox lately."""
        return now_ms - self.read_ms <= READ_WITHIN_MS


def pack_voters(keys: Iterable[bytes]) -> bytes:
    """Write public keys of 32 bytes, at most `MOST_VOTERS`, after their digest."""
    rows = b"".join(list(keys)[:MOST_VOTERS])
    return hashlib.sha256(rows).digest() + rows


def unpack_voters(data: bytes) -> frozenset[bytes]:
    """Return the public keys that `pack_voters` wrote; ValueError where they are not whole."""
    digest = data[:_DIGEST_BYTES]
    rows = data[_DIGEST_BYTES:]
    if hashlib.sha256(rows).digest() != digest or len(rows) % KEY_BYTES or len(rows) > MOST_VOTERS * KEY_BYTES:
        raise ValueError("the earlier voters are not whole")
    return frozenset(rows[at : at + KEY_BYTES] for at in range(0, len(rows), KEY_BYTES))


def inbox_of(url: str | None, state_dir: Path) -> Path:
    """Return the folder of the ballots: a path, `file:///a/folder`, or the state folder's own."""
    if not url:
        return state_dir / "inbox"
    if url.startswith("file://"):
        return Path(unquote(urlsplit(url).path))
    return Path(url)
