"""Verify a published record as a reader: the signed log, its rounds and their counted ballots.

A log that was verified before must extend the checkpoint that was signed then; `SeenFile` remembers it.
"""

import hashlib
import json
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gateway.wire.durable import replace_file
from gateway.wire.foreign import read_json
from gateway.wire.space import reason_of
from generator.catalog.durations import HOUR_S
from generator.catalog.formats import iso
from generator.errors import GeneratorError
from generator.record.audit.audit import Audit
from generator.record.audit.game import AuditError, Read, Row, Site
from generator.record.audit.rounds import rows_of
from generator.record.keys import read_verifiers
from generator.record.log.cosignatures import times_of
from generator.record.log.note import Checkpoint, NoteError, Verifier
from generator.record.log.policy import Policy
from generator.record.log.tiles import HASH_BYTES, WIDTH, Edge, Tile, leaf_hash, unbundle
from generator.record.published import CHECKPOINT, KEYS, PREFIX, WITNESSED, witnessed_path

Progress = Callable[[int, int, str], None]  # done, total, of what
PROGRESS_EACH: Final = 2_000  # entries
LOOKED_FOR_QUORUM: Final = 50  # of the newest heads that a witness signed


class VerifyError(ValueError):
    """What is published does not hold; the message names what."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The keys that were trusted on the last visit and the checkpoint that they had signed."""

    keys: tuple[Verifier, ...]
    head: Checkpoint


class SeenFile:
    """The note of the last visit to one origin or folder."""

    def __init__(self, folder: Path, where: str) -> None:
        self.path = folder / f"{hashlib.sha256(where.encode()).hexdigest()[:16]}.json"
        self._where = where

    def load(self) -> Seen | None:
        """Return what was seen, None on the first visit; a file that cannot be used is never discarded silently."""
        try:
            noted = read_json(self.path.read_bytes())
            keys = tuple(Verifier.parse(key) for key in noted["keys"])
            return Seen(keys, Checkpoint.open(noted["checkpoint"].encode(), keys))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise GeneratorError(
                f"{self.path} holds what was verified before and cannot be used ({error}); "
                "remove it to start over, without proof that nothing was changed since"
            ) from None

    def store(self, keys: Sequence[Verifier], note: bytes) -> None:
        """Remember what was verified, whole or not at all."""
        noted = {"where": self._where, "keys": [key.text for key in keys], "checkpoint": note.decode()}
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self.path, json.dumps(noted).encode())
        except OSError as error:
            raise GeneratorError(f"{self.path} cannot be written: {reason_of(error, self.path)}") from None


@dataclass(frozen=True, slots=True)
class SignedLog:
    """A log whose checkpoint has a trusted signature."""

    head: Checkpoint
    note: bytes  # the checkpoint as signed
    keys: tuple[Verifier, ...]  # as published
    seen: Seen | None  # on the last visit, None on the first


def open_log(read: Read, seen: Seen | None = None, key: str | None = None) -> SignedLog:
    """Read the checkpoint and check its signature; raise VerifyError where there is none that can be trusted.

    `key` is the public key that the reader was given out of band; None trusts the last visit's, or what is published.
    """
    note = read(CHECKPOINT)
    published_keys = read(KEYS)
    if note is None or published_keys is None:
        had = ", and it had one on the last visit" if seen else ""
        raise VerifyError(f"this site publishes no transparency log{had}")

    try:
        keys = read_verifiers(published_keys.decode())
        head = Checkpoint.open(note, _trusted(key, seen, keys))
    except (NoteError, UnicodeDecodeError) as error:
        hint = "; if its operator announced a new key, pass it with --key" if seen and not key else ""
        raise VerifyError(f"the log's checkpoint: {error}{hint}") from None

    if seen is not None and seen.head.origin != head.origin:
        raise VerifyError(f"this is the log {head.origin}; on the last visit it was {seen.head.origin}")
    return SignedLog(head, note, keys, seen)


def _trusted(key: str | None, seen: Seen | None, published: tuple[Verifier, ...]) -> tuple[Verifier, ...]:
    """Return the keys to believe: the one given out of band, else those of the last visit, else what is published."""
    if key:
        return (Verifier.parse(key),)
    if seen:
        return seen.keys
    return published


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A head of the log that enough witnesses signed, and when they were enough, in seconds since 1970."""

    head: Checkpoint
    at: int


def newest_witnessed(read: Read, log: SignedLog, policy: Policy, now: float, max_age_s: float) -> Witnessed:
    """Return the newest head that enough witnesses of a policy signed; raise VerifyError where there is none to trust.

    Args:
        now: seconds since 1970.
        max_age_s: age of that head from which on it says too little.
    """
    sizes = witnessed_sizes(read)

    for size in sizes[:LOOKED_FOR_QUORUM]:
        head = witnessed_head(read, size, policy, policy.logs or log.keys)
        if head is None:
            continue
        if size > log.head.size:
            raise VerifyError(
                f"witnesses saw {size} entries of the log, and it has {log.head.size}: entries were removed"
            )

        if now - head.at > max_age_s:
            raise VerifyError(
                f"witnesses saw the log last {(now - head.at) / HOUR_S:.1f} hours ago; "
                f"more than {max_age_s / HOUR_S:g} hours prove too little (--max-age)"
            )
        return head

    raise VerifyError(
        f"no head of the log has the witnesses that the policy asks for ({len(sizes)} were signed by any)"
    )


def witnessed_head(read: Read, size: int, policy: Policy, keys: Sequence[Verifier]) -> Witnessed | None:
    """Return the head of so many entries as witnesses signed it; None where the policy asks for more of them."""
    path = witnessed_path(size)
    note = read(path)
    if note is None:
        raise VerifyError(f"{path}: nothing is published there")

    try:
        head = Checkpoint.open(note, keys)
        at = policy.quorum_time(times_of(note, policy.cosigners))
    except NoteError as error:
        raise VerifyError(f"{path}: {error}") from None

    if head.size != size:
        raise VerifyError(f"{path} is the head of {head.size} entries")
    return None if at is None else Witnessed(head, at)


def witnessed_sizes(read: Read) -> list[int]:
    """Return the sizes of the heads that witnesses signed, the newest first."""
    listed = read(WITNESSED)
    if listed is None:
        raise VerifyError("this site publishes no head of its log that a witness signed")
    try:
        return [int(line) for line in listed.decode("ascii").split()]
    except ValueError:
        raise VerifyError(f"{WITNESSED} is not a list of sizes") from None


def entries(read: Read, head: Checkpoint, *known: Checkpoint) -> Iterator[bytes]:
    """Yield every entry of a log; ends normally only if all of them lead to the signed root.

    `known` are heads that the log must begin with, `head` its own, the signatures already checked. VerifyError:
    entry is missing or altered, the log shrank, or what it began with was changed.
    """
    roots: dict[int, bytes] = {}
    for earlier in known:
        if earlier.size > head.size:
            raise VerifyError(
                f"the log had {earlier.size} entries when it was last seen "
                f"and has {head.size} now: entries were removed"
            )
        if roots.setdefault(earlier.size, earlier.root) != earlier.root:
            raise VerifyError(f"two heads of {earlier.size} entries differ: the log shows two histories")

    edge = Edge()
    hashes = HashTiles(read)
    for first in range(0, head.size, WIDTH):
        bundle = _bundle(read, Tile(None, first // WIDTH, min(WIDTH, head.size - first)))
        leaves = [leaf_hash(entry) for entry in bundle]

        # In parts where a known head ended, since its root is compared there.
        ends = sorted({size - first for size in roots if 0 < size - first < len(leaves)} | {len(leaves)})
        for begin, end in zip([0, *ends], ends, strict=False):
            part = leaves[begin:end]
            edge, nodes = edge.append(part)
            hashes.add(0, part)
            for node in nodes:
                hashes.add(node.level + 1, [node.value])
            if roots.get(edge.size, edge.root()) != edge.root():
                raise VerifyError(
                    f"the first {edge.size} entries are not those that were signed before: history was changed"
                )
        yield from bundle

    if edge.root() != head.root:
        raise VerifyError("the entries do not lead to the signed root: an entry was changed, dropped or moved")
    hashes.check_last()


class HashTiles:
    """Compare every published tile of hashes, of all levels, with the hashes that follow from the entries.

    No proof of ours needs these tiles, but readers who prove single entries read nothing else.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._pending: dict[int, list[bytes]] = {}  # per level, hashes of its last tile
        self._checked: dict[int, int] = {}  # per level, tiles

    def add(self, level: int, hashes: Sequence[bytes]) -> None:
        """Add hashes of a level, at most one tile of them, and check the tile that they fill."""
        pending = self._pending.setdefault(level, [])
        pending += hashes
        if len(pending) == WIDTH:
            self._check(level)

    def check_last(self) -> None:
        """Check the tiles that are not full."""
        for level, pending in self._pending.items():
            if pending:
                self._check(level)

    def _check(self, level: int) -> None:
        hashes = self._pending[level]
        index = self._checked.get(level, 0)

        there, data = published_tile(self._read, Tile(level, index, len(hashes)))
        if len(data) != there.width * HASH_BYTES or not data.startswith(b"".join(hashes)):
            raise VerifyError(f"{there.path} does not hold the hashes that follow from the entries")

        self._pending[level] = []
        self._checked[level] = index + 1


def _bundle(read: Read, tile: Tile) -> list[bytes]:
    """Return the entries of a tile."""
    there, data = published_tile(read, tile)
    try:
        bundle = unbundle(data)
    except ValueError as error:
        raise VerifyError(f"{there.path}: {error}") from error

    if len(bundle) != there.width:
        raise VerifyError(f"{there.path} has {len(bundle)} entries")
    return bundle[: tile.width]


def published_tile(read: Read, tile: Tile) -> tuple[Tile, bytes]:
    """Return what is published of a tile, and which: the full one where a partial one is gone, which it begins with."""
    for there in dict.fromkeys((tile, tile.full)):
        data = read(PREFIX + there.path)
        if data is not None:
            return there, data
    raise VerifyError(f"{tile.path}: nothing is published there")


@dataclass(frozen=True, slots=True)
class Verified:
    """A whole record that holds: the audit, the published rounds, and how much was counted again of each game."""

    log: SignedLog
    audit: Audit
    rows: Sequence[Row]
    counted: Mapping[str, int]  # by what is counted: ballots of rounds, answers to questions, days of ladders
    witnessed: Witnessed | None = None

    @property
    def lines(self) -> list[str]:
        """What was checked."""
        audit = self.audit
        lines = [self._head_line()]

        steps = f"; the clock went back {audit.clock_steps} times" if audit.clock_steps else ""
        lines.append(f"from {audit.first_at} to {audit.last_at}: {len(audit.rounds.ended)} rounds ended{steps}")

        if self.witnessed is not None:
            at = iso(1000 * self.witnessed.at)
            lines.append(f"witnesses of the policy signed its first {self.witnessed.head.size} entries by {at}")

        for game in audit.games:
            lines += game.lines(self.counted.get(game.recounted, 0))
        return lines

    def _head_line(self) -> str:
        """Say which log it is, who signed it, and what the last visit proves of it."""
        since = FIRST_VISIT
        if self.log.seen:
            since = f"its first {self.log.seen.head.size} entries are those of the last visit"
        head = f"log {self.log.head.origin} ({self.audit.mode} market): {self.log.head.size} entries"
        return f"{head}, signed by {self.log.keys[0].name}; {since}"

    @property
    def proves(self) -> str:
        """What this check proved, and what it did not."""
        logged = sum(str(row.get("round_id")) in self.audit.rounds.rows for row in self.rows)
        simulated = sum(bool(row.get("warm_up")) for row in self.rows)
        parts = [LOG]
        if self.witnessed is not None:
            parts.append(WITNESSES.format(iso(1000 * self.witnessed.at)))

        if logged:
            parts.append(
                f"of the published rounds {logged} are in the log as they are published, none left out since the oldest"
            )
        else:
            parts.append("no published round is in the log yet, so of rounds nothing is proved")

        voted = len(self.audit.rounds.voted)
        if voted:
            parts.append(
                f"in {voted} with real votes these are the published ballots, each signed by its voter, one a voter"
            )
        else:
            parts.append("no round in the log has real votes to count again")

        parts.append(_others(simulated, "warm_up, backtested before the start"))
        parts.append(_others(len(self.rows) - logged - simulated, "older than the log"))
        unproved = NOT_LOG if self.witnessed is None else NOT_WITNESSED_LOG
        return filled(f"This proves: {'; '.join(filter(None, parts))}.", unproved)

    def remember(self, file: SeenFile) -> None:
        """Keep the checkpoint, and of the published keys those that the log itself names."""
        keys = tuple(key for key in self.log.keys if key.text in self.audit.keys) or self.log.keys
        file.store(keys, self.log.note)


def verify_all(
    log: SignedLog, body: Any, read: Read, progress: Progress, witnessed: Witnessed | None = None
) -> Verified:
    """Read the whole log, check that it extends the last visit's, recompute what it states, recount the ballots.

    `body` is the published `/arena/rounds.json`; `witnessed` a head that the log must begin with too. VerifyError names
    the first thing that does not hold.
    """
    audit = Audit()
    size = log.head.size
    known = [earlier.head for earlier in (log.seen, witnessed) if earlier is not None]
    try:
        rows = rows_of(body)
        for number, data in enumerate(entries(read, log.head, *known), 1):
            audit.take(data)
            if number % PROGRESS_EACH == 0 or number == size:
                progress(number, size, "entries")
        audit.finish()
    except ValueError as error:
        raise VerifyError(str(error)) from None

    if audit.origin is not None and audit.origin != log.head.origin:
        raise VerifyError(f"the log was opened as {audit.origin}, its checkpoint says {log.head.origin}")
    return _compared(log, audit, Site(read, rows, audit.first_at, audit.last_at), progress, witnessed)


def _compared(log: SignedLog, audit: Audit, site: Site, progress: Progress, witnessed: Witnessed | None) -> Verified:
    """Compare what is published of each game with the log, then count again what has files of its own."""
    for game in audit.games:
        if complaint := game.complaint(site):
            raise VerifyError(complaint)

    counted = {}
    try:
        for game in audit.games:
            counted[game.recounted] = 0
            for number, name in enumerate(game.recounts, 1):
                counted[game.recounted] += game.recount(name, site.read)
                progress(number, len(game.recounts), game.recounted)
    except AuditError as fault:
        raise VerifyError(str(fault)) from None
    return Verified(log, audit, site.rows, counted, witnessed)


FIRST_VISIT: Final = (
    "the first visit: what it holds could have been written at once; the next visit will prove that "
    "none of it was changed"
)
LOG: Final = (
    "every entry is in the log that its operator signed, in its order; nothing seen on an earlier visit was changed, "
    "dropped or moved since; forecasts open to their digests; outcomes, moves, lessons and scores follow from the "
    "logged prices, votes and bands; the ranges are published as they were logged before their hour"
)
WITNESSES: Final = (
    "witnesses that you trust saw this log by {}, so what was in it then was written by then, and they were shown the "
    "history that you see"
)
NOT_LOG: Final = (
    "It does not prove: when an entry was written, beyond this: what an earlier visit saw was there at that visit, so "
    "a forecast whose seal you saw before its round was fixed before it. Nor that two visitors are shown the same log "
    "(compare checkpoints with someone), that the prices were the market's, that no ballot was left out, or any skill."
)
NOT_WITNESSED_LOG: Final = (
    "It does not prove: when an entry was written that came after what the witnesses saw, that the prices were the "
    "market's, that no ballot was left out, or any skill."
)


def _others(number: int, what: str) -> str:
    if not number:
        return ""
    return f"{number} more ({what}) are not in the log: nothing is proved about them but that each adds up"


def filled(*texts: str) -> str:
    """Return texts as paragraphs of a terminal's width."""
    return "\n".join(textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False) for text in texts)
