"""The published record of one generator: the log's signed checkpoint and tiles, and the counted ballots."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import structlog

from generator.errors import GeneratorError, RecordBehind
from generator.record.audit.ladders import ladders_path
from generator.record.audit.recount import PART, BallotPart, content, path_of
from generator.record.keys import make_key, read_keys
from generator.record.log.note import Checkpoint, NoteError, Signer, other_lines
from generator.record.log.proofs import TreeHashes, consistency_proof
from generator.record.log.tiles import WIDTH, Tile, tiles_between
from generator.record.memory import ballots, exports, ladders, log, witnessed
from generator.record.memory.store import Memory
from generator.record.memory.tables import BEHIND_KEY

PREFIX: Final = "/log/"
CHECKPOINT: Final = f"{PREFIX}checkpoint"
KEYS: Final = f"{PREFIX}keys.txt"
WITNESSED: Final = f"{PREFIX}witnessed.txt"  # sizes of the newest heads that witnesses signed, the newest first
WITNESSED_LISTED: Final = 1_000
LOOKED_AT: Final = 8  # tiles a release: ten years of them in about fourteen hours, for some 10 ms of each tick
STEP: Final = 128 * WIDTH  # entries whose tiles are offered to one release: about 35 MB; ten years in half an hour

logger = structlog.get_logger("emi.log")


def witnessed_path(size: int) -> str:
    """Return where the head of so many entries is published as witnesses signed it."""
    return f"/files/witnessed/{size}.txt"


@dataclass(frozen=True, slots=True)
class RecordFiles:
    """What one release publishes of the record."""

    checkpoint: bytes  # a signed head of the log whose tiles are all there, empty while there is none
    keys: bytes  # one a line
    immutable: Mapping[str, bytes]  # tiles and a part of the ballots; written before the checkpoint that needs them
    again: Mapping[str, bytes]  # a few tiles that readers have already, looked at in turn and written again if damaged
    ballots: BallotPart | None  # that part, None when all are published
    tiled: int = 0  # entries of the log whose tiles readers have once this is out
    witnessed: tuple[int, ...] = ()  # sizes of the newest heads that witnesses signed, the newest first
    newly_witnessed: tuple[int, ...] = ()  # those of all of them that come with this release
    ladder_days: tuple[int, ...] = ()  # whose ladders come with this release

    @property
    def in_release(self) -> dict[str, bytes]:
        """Files of the release itself, path -> bytes."""
        files = {CHECKPOINT: self.checkpoint, KEYS: self.keys} if self.checkpoint else {}
        if self.witnessed:
            files[WITNESSED] = "".join(f"{size}\n" for size in self.witnessed).encode()
        return files

    @property
    def is_head(self) -> bool:
        """Whether the checkpoint is that of all entries whose tiles readers have."""
        return bool(self.checkpoint) and head_of(self.checkpoint).size == self.tiled

    @property
    def digest(self) -> str | None:
        """SHA-256 hex of the checkpoint, None while there is none."""
        return hashlib.sha256(self.checkpoint).hexdigest() if self.checkpoint else None


class PublishedRecord:
    """The published record of one generator: its transparency log and the counted ballots.

    `prepare` gives the files of the next release and `done` notes that it is out; a crash in between makes the next
    release publish the same bytes again. Nothing is read or written before the first use, so that a generator on
    standby holds no key and no log.

    A release gets the tiles of `step` more entries at most. Where readers lack those of more, as after a site was lost,
    they keep the checkpoint that they have, if any, and the head is published with the last of its tiles.

    Args:
        name: of a log that is begun now; one that was begun keeps its own.
        made_if_missing: make the key at a log's very beginning, where the operator named no file.
        part: ballots of one release, at most.
        step: entries whose tiles one release gets, at most; this many are held in memory.
    """

    def __init__(
        self,
        memory: Memory,
        key_file: Path,
        name: str,
        source_mode: str,
        *,
        made_if_missing: bool,
        part: int = PART,
        step: int = STEP,
    ) -> None:
        self._memory = memory
        self._key_file = key_file
        self._name = name
        self._source_mode = source_mode
        self._made_if_missing = made_if_missing
        self._part = part
        self._step = step

        self._signers: tuple[Signer, ...] = ()

        self._last = b""  # the checkpoint that readers have
        self._tiled = 0  # entries whose tiles readers have, with or without a checkpoint
        self._is_ours = False  # whether that checkpoint was found to be the beginning of this log
        self._looked_at = 0  # of the tiles that readers have, how many were looked at in this turn
        self._withheld = False

    def check(self) -> None:
        """Check that the keys will do for `begin`, writing nothing; else GeneratorError leaves the lease to another."""
        origin, noted = self._noted_keys()
        if not self._is_to_be_made(noted):
            self._keys(origin, noted)

    def refuse_if_behind(self, *, accept: bool = False) -> None:
        """Raise RecordBehind where readers have a log that this memory does not extend, before anything is written.

        Args:
            accept: whether that is meant; noted in the memory, as a restore does.
        """
        if accept:
            self._memory.set_meta(BEHIND_KEY, "meant by --new-record")
        fault = self._behind()

        if fault is None:
            if self._memory.meta(BEHIND_KEY):
                self._memory.set_meta(BEHIND_KEY, "")
        elif not self._memory.meta(BEHIND_KEY):
            raise RecordBehind(
                f"{fault}: starting would play a new record over theirs. Restore the newer memory, or a backup with "
                "`emi restore`; where a new record is meant, run `emi tick --new-record` once"
            )

    def _behind(self) -> str | None:
        """Return why the log that readers have is not the beginning of this memory's, None where it is, or is none."""
        if not self._last:
            return None

        seen = head_of(self._last)
        with self._memory.reading() as connection:
            size = self._memory.log_state(connection).edge.size
            if seen.size > size:
                return f"the memory is behind the published log: it has {size} entries, readers have {seen.size}"
            if log.load_edge(connection, seen.size).root() != seen.root:
                return f"the published log of {seen.size} entries is another one than the memory's"
        return None

    @property
    def withheld(self) -> str | None:
        """Why nothing is added to the log that readers have, None where that is not so."""
        return "readers have a log that this record does not extend: nothing is added to it" if self._withheld else None

    def key_fault(self) -> str | None:
        """Return what is wrong with the key's file while its key is in use: a restart would not find it."""
        if not self._signers or self._key_file.is_file():
            return None
        return f"the log's key {self._key_file} is gone: put it back; the next start fails without it"

    def begin(self, now_ms: int) -> None:
        """Load the keys, begin the log if it is empty, and note a key that is new to it. Cheap when done before."""
        if self._signers:
            return
        origin, noted = self._noted_keys()
        if self._is_to_be_made(noted):
            make_key(self._key_file, self._name)
        signers = self._keys(origin, noted)

        newest = signers[0].verifier
        secret = signers[0].derive("salts of sealed forecasts")
        if newest.text not in noted[-1:]:
            with self._memory.writing() as connection:
                if noted:
                    state = log.note_key(connection, self._memory.log_state(connection), now_ms, newest.text)
                else:
                    state = log.begin(connection, now_ms, newest.name, self._source_mode, newest.text, secret)
            self._memory.keep(log_state=state)  # only now: what was not committed is not the log's state

        self._signers = signers
        self._withhold_if_not_ours()

    @property
    def log_name(self) -> str:
        """The name that the log gives itself, kept when its address changes; before it begins, what it will be."""
        origin, _ = self._noted_keys()
        return origin or self._name

    def _noted_keys(self) -> tuple[str, list[str]]:
        """Return the log's origin and every key that was noted in it, oldest first; empty before its begin."""
        with self._memory.reading() as connection:
            return log.keys(connection)

    def _is_to_be_made(self, noted: Sequence[str]) -> bool:
        return self._made_if_missing and not noted and not self._key_file.exists()

    def _keys(self, origin: str, noted: Sequence[str]) -> tuple[Signer, ...]:
        """Return the keys of the file; with `noted` keys the log has begun, and must be theirs."""
        signers = read_keys(self._key_file)
        if noted and signers[0].verifier.name != origin:
            raise GeneratorError(f"log key {self._key_file} is {signers[0].verifier.name}'s, the log is {origin}'s")
        if noted and not {signer.verifier.text for signer in signers} & set(noted):
            raise GeneratorError(
                f"log key {self._key_file} never signed this log; put the old key back, or add the new one to it "
                "with `emi key log --rotate`"
            )
        return signers

    def _withhold_if_not_ours(self) -> None:
        """Leave the published log as it is when the memory does not extend it, e.g. after an old copy was restored.

        Tiles are immutable: what readers have is never overwritten, and the free answers do not stop for it.
        """
        if not self._last:
            return
        self._withheld = self._behind() is not None
        self._is_ours = not self._withheld
        if self._withheld:
            logger.error(
                "published log is not a prefix of the local log; it is left as it is and nothing is added to it",
                mend="restore the newer memory; without one, move the published site away: docs/howto/operating.md",
            )

    def prepare(self) -> RecordFiles:
        """Return what the next release publishes; the head is read and signed once."""
        with self._memory.reading() as connection:
            part = ballots.due(connection, self._part)
            counted = {} if part is None else {path_of(part.round_id, part.part): content(part)}
            if not self._signers:
                return RecordFiles(b"", b"", counted, {}, part)

            keys = "".join(signer.verifier.text + "\n" for signer in self._signers).encode()
            if self._withheld:
                return RecordFiles(self._last, keys, counted, {}, part)

            edge = self._memory.log_state(connection).edge
            old = self._tiled if self._tiled <= edge.size else 0
            new = min(edge.size, old + self._step)
            tiles = {PREFIX + tile.path: log.content(connection, tile) for tile in tiles_between(old, new)}
            again = {PREFIX + tile.path: log.content(connection, tile) for tile in self._next_in_turn(old)}

            # The head is signed with the last of its tiles; before that readers keep the one that they have.
            checkpoint = self._last
            if new == edge.size:
                head = Checkpoint(self._signers[0].verifier.name, edge.size, edge.root())
                cosigned = witnessed.note_of(connection, edge.size)
                checkpoint = head.signed(self._signers) + other_lines(cosigned, head.origin)
            else:
                logger.info("publishing the log's tiles; its checkpoint follows them", entries=new, of=edge.size)

            days = ladders.due(connection)
            heads = {size: note for size, note in witnessed.due(connection).items() if size <= new}
            return RecordFiles(
                checkpoint,
                keys,
                tiles
                | counted
                | {witnessed_path(size): note for size, note in heads.items()}
                | {ladders_path(day): data for day, data in days.items()},
                again,
                part,
                new,
                witnessed=tuple(size for size in witnessed.newest(connection, WITNESSED_LISTED) if size <= new),
                newly_witnessed=tuple(heads),
                ladder_days=tuple(days),
            )

    def _next_in_turn(self, size: int) -> list[Tile]:
        """Return a few tiles of the tree that readers have, the whole of it over many releases.

        None where its checkpoint was not compared with this log: only then they can hold nothing else.
        """
        if not self._is_ours:
            return []
        begin = self._looked_at
        tiles = list(islice(tiles_between(0, size), begin, begin + LOOKED_AT))
        self._looked_at = begin + len(tiles) if len(tiles) == LOOKED_AT else 0
        return tiles

    def done(self, files: RecordFiles, tick_id: str, generation: str, at_ms: int) -> None:
        """Note that the release with these files is published."""
        self._last = files.checkpoint or self._last
        self._tiled = files.tiled or self._tiled
        self._is_ours = not self._withheld
        self._memory.tick_done(tick_id, generation, at_ms, ok=True, reason=None, published=files.ballots)
        if files.newly_witnessed or files.ladder_days:
            with self._memory.writing() as connection:
                witnessed.done(connection, files.newly_witnessed)
                ladders.done(connection, files.ladder_days)

    def extension_of(self, old: int) -> list[bytes]:
        """Return the proof that the log that readers have extends its first `old` entries; ValueError if it does not.

        Empty for none, and where nothing was added.
        """
        size = head_of(self._last).size
        with self._memory.reading() as connection:
            return consistency_proof(TreeHashes(size, lambda tile: log.content(connection, tile)), old)

    def cosigned(self, note: bytes) -> None:
        """Keep a head of this log as witnesses signed it, for the next release."""
        with self._memory.writing() as connection:
            witnessed.keep(connection, head_of(note).size, note)

    def resume(self, note: bytes | None) -> None:
        """Resume from the checkpoint of the last release, so that a restart does not publish the whole log again.

        With None the site is new or was lost: all tiles are published again, all ballots that are still kept, and the
        files of all months, each in steps. A checkpoint that cannot be read makes all tiles be published again.
        """
        self._last = b""
        self._tiled = 0
        self._is_ours = False

        if note is None:
            with self._memory.writing() as connection:
                ballots.requeue_all(connection)
                witnessed.requeue_all(connection)
                ladders.requeue_all(connection)
                exports.forget_months(connection)
        else:
            with suppress(NoteError):
                self._tiled = head_of(note).size
                self._last = note


def head_of(note: bytes) -> Checkpoint:
    """Return what a checkpoint states, its signature not checked."""
    return Checkpoint.parse(note.decode(errors="replace").partition("\n\n")[0] + "\n")
