"""How many voters a round has taken free ballots of, from which networks, and whether one more may come.

A round has 500 places for voters with free ballots, and 250 of them are kept for those who were counted in three rounds
on two days, until five minutes before the close: whoever has many addresses can fill the others, and not these. The
last 50 of newcomers, and of all, are for networks from which no ballot came yet. One network address has 40 places,
which is a setting, and its wider network 60, whoever its voters are. A vote that is changed takes no second place: the
form of a ballot bounds how often one is.

What was taken is kept in one file, so that neither a restart nor a second gateway on the same folder begins at zero. It
has a line for each voter: hashes of the voter and of the networks that the ballot came from, under a key that is made
for the round and goes with it. No address is stored. A lock on the file makes check and count one step.

What is unknown is neither zero nor a reason to turn everybody away:

- A line that cannot be read, such as one cut short by a power cut, is a newcomer from a network of its own:
  the count of the round is right, and no network is charged.
- Without its first line the hashes mean nothing, and may be of another round. Each further line counts the same way, as
  at most 250, and networks begin at zero.
- A file that is there and cannot be read at all counts as if newcomers had taken their places. Earlier voters have
  theirs, and five minutes before the close everybody has.
- Where no file can be kept, this process counts by itself, as it does where the file was removed under it.
"""

import errno
import fcntl
import hashlib
import os
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from io import FileIO
from pathlib import Path
from typing import Final, NamedTuple, Self

import structlog

from gateway.wire.inbox import AnnouncedRound

PER_ADDRESS: Final = 40
"""A class behind one router; a setting."""
PER_NETWORK: Final = 60
"""Of newcomers and earlier voters together; no less than what an address has."""
FOR_NEW_NETWORKS: Final = 50
PER_ROUND: Final = 500
FOR_EARLIER_VOTERS: Final = 250
FOR_NEWCOMERS: Final = PER_ROUND - FOR_EARLIER_VOTERS
FREED_BEFORE_CLOSE_MS: Final = 5 * 60_000
MAX_FILE_BYTES: Final = 256 * 1024
KEY_BYTES: Final = 32
HASH_BYTES: Final = 16
LOCK_STEPS: Final = 40
LOCK_STEP_S: Final = 0.05
UNCOUNTED: Final = "-"
"""In the place of a network's hash: loopback, which is not counted."""

log = structlog.get_logger("gateway")


class Claim(NamedTuple):
    """A voter who asks for a place."""

    voter: str  # the same voter again takes no second place
    address: str | None  # the client's address, or the network that one subscriber has; None is not counted
    network: str | None  # the wider network around it
    earlier: bool  # whether the voter was counted in an earlier round


class Place(NamedTuple):
    """A place that was taken, as it is kept: hashes under the round's key."""

    address: str
    network: str
    earlier: bool


class NoPlace(StrEnum):
    """Why a ballot gets no place."""

    ADDRESS = "address"
    NETWORK = "network"
    NEWCOMERS = "newcomers"  # only places that are kept for earlier voters are left
    NEW_NETWORKS = "new networks"  # only places that are kept for networks without a ballot are left
    ROUND = "round"


@dataclass(slots=True)
class Book:
    """What is known of one round."""

    round_id: str
    closes_ms: int
    key: bytes
    places: dict[str, Place] = field(default_factory=dict)  # by the voter's hash
    unknown: int = 0  # voters of whom only the number is known

    @classmethod
    def begun(cls, taking: AnnouncedRound, unknown: int = 0) -> Self:
        """Begin a round under a new key."""
        return cls(taking.round_id, taking.closes_ms, secrets.token_bytes(KEY_BYTES), unknown=unknown)

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Read a file; ValueError where its first line is not whole."""
        head, *lines = data.decode("ascii", "replace").split("\n")
        round_id, closes_ms, key = head.split(" ")
        if len(key) != 2 * KEY_BYTES or not lines:
            raise ValueError("the first line is cut short")

        book = cls(round_id, int(closes_ms), bytes.fromhex(key))
        for line in filter(None, lines):
            voter, place = _place_of(line)
            if place is None:
                book.unknown += 1
            else:
                book.places[voter] = place
        return book

    @property
    def taken(self) -> int:
        """All places that are taken."""
        return len(self.places) + self.unknown

    def content(self) -> bytes:
        """Write the whole book."""
        head = f"{self.round_id} {self.closes_ms} {self.key.hex()}\n"
        lines = [line_of(voter, place) for voter, place in self.places.items()]
        return (head + "".join(lines) + "?\n" * self.unknown).encode()

    def hash(self, text: str) -> str:
        """Hash what must not be stored."""
        return hashlib.blake2b(text.encode(), key=self.key, digest_size=HASH_BYTES).hexdigest()

    def place_for(self, claim: Claim) -> Place:
        """Return what would be kept of a claim."""
        address = UNCOUNTED if claim.address is None else self.hash(claim.address)
        network = UNCOUNTED if claim.network is None else self.hash(claim.network)
        return Place(address, network, claim.earlier)

    def refusal(self, place: Place, now_ms: float, per_address: int) -> NoPlace | None:
        """Return why a place cannot be given; None when it can."""
        taken = self.places.values()
        if place.address != UNCOUNTED and sum(other.address == place.address for other in taken) >= per_address:
            return NoPlace.ADDRESS

        of_network = 0
        if place.network != UNCOUNTED:
            of_network = sum(other.network == place.network for other in taken)
        if of_network >= max(PER_NETWORK, per_address):
            return NoPlace.NETWORK
        return self.full(now_ms, earlier=place.earlier, kept=FOR_NEW_NETWORKS if of_network else 0)

    def full(self, now_ms: float, *, earlier: bool, kept: int = 0) -> NoPlace | None:
        """Return why a newcomer, or an earlier voter, gets no place.

        `kept` places are for others: none where the voter's network has no ballot yet.
        """
        if self.taken >= PER_ROUND:
            return NoPlace.ROUND
        if self.taken + kept >= PER_ROUND:
            return NoPlace.NEW_NETWORKS
        if earlier or now_ms >= self.closes_ms - FREED_BEFORE_CLOSE_MS:
            return None

        newcomers = self.unknown + sum(not other.earlier for other in self.places.values())
        return NoPlace.NEWCOMERS if newcomers + kept >= FOR_NEWCOMERS else None


def line_of(voter: str, place: Place) -> str:
    """Write one place."""
    return f"{voter} {place.address} {place.network} {'earlier' if place.earlier else 'new'}\n"


def _place_of(line: str) -> tuple[str, Place | None]:
    """Read one place; None where the line is not whole."""
    parts = line.split(" ")
    if len(parts) != 4 or parts[3] not in {"earlier", "new"}:
        return "", None
    return parts[0], Place(parts[1], parts[2], parts[3] == "earlier")


class Places:
    """The places of the round that takes votes, in a file that several gateways may share.

    `take` and `forget` wait for the disk and for other processes: call them from one thread that does nothing else.

    Args:
        path: the file.
        per_address: so many places one address has.
        lock_steps: so often another process that holds the file's lock is waited for.
    """

    def __init__(self, path: Path, per_address: int = PER_ADDRESS, lock_steps: int = LOCK_STEPS) -> None:
        self._path = path
        self._per_address = per_address
        self._lock_steps = lock_steps
        self._book: Book | None = None  # as it was when this process last looked
        self._complained = False

    def take(self, taking: AnnouncedRound, claim: Claim, now_ms: float, store: Callable[[], None]) -> NoPlace | None:
        """Give a voter a place and store the ballot, or return why there is none; what `store` raises leaves it free.

        The ballot is stored before its place is written: power that goes in between leaves a ballot without a line,
        never a line without a ballot, and the same ballot sent again gets its line.
        """
        file = self._open()
        try:
            book, behind = self._look(file, taking)
            voter = book.hash(claim.voter)
            if voter in book.places:
                store()  # the vote was changed, or the same ballot is sent again
                return None
            place = book.place_for(claim)
            refusal = book.refusal(place, now_ms, self._per_address)
            if refusal is not None:
                return refusal

            store()
            book.places[voter] = place
            if behind is None:
                self._write(file, book.content(), at=0)
            else:
                self._write(file, behind + line_of(voter, place).encode())
            return None
        finally:
            if file is not None:
                file.close()

    def full(self, taking: AnnouncedRound, now_ms: float) -> NoPlace | None:
        """Return why a newcomer gets no place in the round; None where one does."""
        try:
            book = _read(self._path.read_bytes())
        except OSError:
            book = None
        if book is None or book.round_id != taking.round_id:
            book = self._book
        if book is None or book.round_id != taking.round_id:
            return None
        return book.full(now_ms, earlier=False)

    def forget(self, now_ms: float) -> None:
        """Remove the key, and with it all hashes, of a round that is closed."""
        if self._book is not None and now_ms >= self._book.closes_ms:
            self._book = None
        with suppress(OSError), self._path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            book = _read(file.read(MAX_FILE_BYTES))
            if book is not None and now_ms >= book.closes_ms:
                file.truncate(0)
                os.fsync(file.fileno())

    def _open(self) -> FileIO | None:
        """Open and lock the file; None where there can be none, which is logged once."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            self._complain(error)
            return None

        file = FileIO(descriptor, "r+b")
        try:
            _lock(file, self._lock_steps)
        except OSError as error:
            file.close()
            self._complain(error)
            return None
        return file

    def _look(self, file: FileIO | None, taking: AnnouncedRound) -> tuple[Book, bytes | None]:
        """Return the round's book, and what the file lacks of it: lines, or None where all of it is to be written."""
        mine = self._book if self._book is not None and self._book.round_id == taking.round_id else None
        data = None
        if file is not None:
            try:
                data = file.read(MAX_FILE_BYTES)
            except OSError as error:
                self._complain(error)

        behind: bytes | None = None
        if data is not None:
            book, behind = _continued(data, mine, taking)
        elif mine is not None:
            book = mine
        else:
            book = Book.begun(taking, unknown=FOR_NEWCOMERS if self._path.exists() else 0)
        self._book = book
        return book, behind

    def _write(self, file: FileIO | None, data: bytes, at: int | None = None) -> None:
        """Write the whole file from its begin, or add lines at its end; what fails is written with the next ballot."""
        if file is None:
            return
        try:
            if at is None:
                file.seek(0, os.SEEK_END)
            else:
                file.seek(at)
                file.truncate()
            if file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        if not self._complained:
            log.warning(
                "the count of free ballots cannot be kept: this process counts by itself",
                file=str(self._path),
                reason=error.strerror,
            )
        self._complained = True


def _read(data: bytes) -> Book | None:
    try:
        return Book.of(data)
    except ValueError:
        return None


def _lock(file: FileIO, steps: int) -> None:
    """Lock a file; OSError where another process, such as a stopped one, holds it for longer than a ballot takes."""
    for _ in range(steps):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        threading.Event().wait(LOCK_STEP_S)
    raise BlockingIOError(errno.EWOULDBLOCK, "another process holds it")


def _continued(data: bytes, mine: Book | None, taking: AnnouncedRound) -> tuple[Book, bytes | None]:
    """Return the book that follows from a file and from what this process knew, and what the file lacks of it."""
    found = _read(data)
    if found is None or found.round_id != taking.round_id:
        if mine is not None:  # the file was removed, or its first line is damaged
            return mine, None
        lines = data.split(b"\n")[1:] if found is None else []
        counted = sum(bool(line) for line in lines)
        return Book.begun(taking, unknown=min(counted, FOR_NEWCOMERS)), None

    behind = b"" if data.endswith(b"\n") else b"\n"
    if mine is None:
        return found, behind
    if mine.key == found.key:
        missing = {voter: mine.places[voter] for voter in mine.places.keys() - found.places.keys()}
        found.places |= missing
        found.unknown = max(found.unknown, mine.unknown)
        return found, behind + "".join(line_of(*item) for item in missing.items()).encode()
    lost = max(0, mine.taken - found.taken)  # another gateway began a new file
    found.unknown += lost
    return found, behind + b"?\n" * lost
