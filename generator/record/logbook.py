"""The transparency log of one generator: its keys on disk, its head as signed, and what of it is to be published."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import structlog

from generator.errors import GeneratorError
from generator.record.log.note import Checkpoint, NoteError, Signer, Verifier
from generator.record.log.reader import LogReader
from generator.record.memory.store import Memory

PREFIX: Final = "/log/"
CHECKPOINT: Final = f"{PREFIX}checkpoint"
KEYS: Final = f"{PREFIX}keys.txt"
LARGEST_KEY_FILE: Final = 4_096

log = structlog.get_logger("emi.log")


class KeyFileError(GeneratorError):
    """The log's key file is missing, unreadable, or not one."""


def name_of(origin: str) -> str:
    """Return the log's name for an origin: its URL without the scheme, as C2SP recommends."""
    return f"{urlsplit(origin).netloc}/log"


def read_keys(path: Path) -> tuple[Signer, ...]:
    """Read the keys of a file, the newest first; every one of them signs.

    Raises:
        KeyFileError: it is missing, cannot be read, or holds something else. The message never holds a key.
    """
    try:
        if path.stat().st_size > LARGEST_KEY_FILE:
            raise KeyFileError(f"log key {path} is too large for a key file")
        lines = path.read_text(encoding="utf-8").split("\n")
        signers = tuple(Signer.parse(line) for line in lines if line.strip())
    except OSError as error:
        raise KeyFileError(f"log key {path} cannot be read: {error.strerror or error}") from error
    except (NoteError, UnicodeDecodeError) as error:
        raise KeyFileError(f"log key {path}: {error}; `emi log init` makes one") from error
    if not signers:
        raise KeyFileError(f"log key {path} is empty; `emi log init` makes one")
    return signers


def make_key(path: Path, name: str) -> Signer:
    """Make a key file, readable for its owner alone, safe on disk when this returns.

    Raises:
        KeyFileError: there is one already, or it cannot be written.
    """
    signer = Signer.generate(name)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(path, signer.text + "\n", os.O_EXCL)
    except FileExistsError as error:
        raise KeyFileError(f"log key {path} is there already; it is never overwritten") from error
    except OSError as error:
        raise KeyFileError(f"log key {path} cannot be written: {error.strerror or error}") from error
    return signer


def add_key(path: Path) -> Signer:
    """Put a new key before the others of a file: old and new sign together until `drop_old_keys`.

    Raises:
        KeyFileError: there is no key file, or it cannot be written.
    """
    signers = read_keys(path)
    fresh = Signer.generate(signers[0].verifier.name)
    _replace(path, (fresh, *signers))
    return fresh


def drop_old_keys(path: Path) -> Signer:
    """Keep only the newest key of a file.

    Raises:
        KeyFileError: there is no key file, or it cannot be written.
    """
    newest = read_keys(path)[0]
    _replace(path, (newest,))
    return newest


def _replace(path: Path, signers: Sequence[Signer]) -> None:
    beside = path.with_name(f".{path.name}.new")
    try:
        _write(beside, "".join(signer.text + "\n" for signer in signers), os.O_TRUNC)
        beside.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        raise KeyFileError(f"log key {path} cannot be written: {error.strerror or error}") from error


def _write(path: Path, text: str, flag: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


class Logbook:
    """The log of one generator.

    Nothing is read or written before the first use, so that a generator on standby holds no key and no log.

    Args:
        memory: where the entries are.
        key_file: of the log.
        name: of a log that is begun now; one that was begun keeps its own.
        source_mode: told in the first entry.
        made_if_missing: make the key at a log's very beginning, where the operator named no file.
    """

    def __init__(self, memory: Memory, key_file: Path, name: str, source_mode: str, *, made_if_missing: bool) -> None:
        self._memory = memory
        self._key_file = key_file
        self._name = name
        self._source_mode = source_mode
        self._made_if_missing = made_if_missing
        self._signers: tuple[Signer, ...] = ()
        self._published = 0
        self._last = b""  # the head that readers have
        self._withheld = False

    def check(self) -> None:
        """Look whether the keys will do for `begin`; nothing is made and nothing written.

        Raises:
            KeyFileError: there is no key that can be used: who has none leaves the lease to who has.
        """
        origin, noted = self._memory.log_keys()
        if not self._is_to_be_made(noted):
            self._keys(origin, noted)

    def begin(self, now_ms: int) -> None:
        """Take the keys up, begin the log if it is empty, and note a key that is new to it. Cheap when done before.

        Raises:
            KeyFileError: there is no key that can be used.
        """
        if self._signers:
            return
        origin, noted = self._memory.log_keys()
        if self._is_to_be_made(noted):
            make_key(self._key_file, self._name)
        signers = self._keys(origin, noted)
        newest = signers[0].verifier.text
        if not noted:
            secret = signers[0].derive("salts of sealed forecasts")
            self._memory.begin_log(now_ms, signers[0].verifier.name, self._source_mode, newest, secret)
        elif newest != noted[-1]:
            self._memory.note_log_key(now_ms, newest)
        self._signers = signers
        self._withhold_if_not_ours()

    def _is_to_be_made(self, noted: Sequence[str]) -> bool:
        return self._made_if_missing and not noted and not self._key_file.exists()

    def _keys(self, origin: str, noted: Sequence[str]) -> tuple[Signer, ...]:
        """Return the keys of the file; with `noted` keys the log has begun, and must be theirs."""
        signers = read_keys(self._key_file)
        if noted and signers[0].verifier.name != origin:
            raise KeyFileError(f"log key {self._key_file} is {signers[0].verifier.name}'s, the log is {origin}'s")
        if noted and not {signer.verifier.text for signer in signers} & set(noted):
            raise KeyFileError(
                f"log key {self._key_file} never signed this log; put the old key back, or add the new one to it "
                "with `emi log rotate`"
            )
        return signers

    def _withhold_if_not_ours(self) -> None:
        """Leave the published log as it is when the memory does not go on from it, e.g. after an old copy was put back.

        Tiles are put once: what readers have is never overwritten, and the free answers do not stop for it.
        """
        size, root = self._memory.log_head()
        if not self._last:
            return
        head = Checkpoint(self._signers[0].verifier.name, size, root)
        try:
            LogReader(self._memory.log_tile, head).check_extends(head_of(self._last))
        except ValueError as error:
            self._withheld = True
            log.error(  # noqa: TRY400  a line for the operator, not a traceback
                "published log is not a prefix of the local log; it is left as it is and nothing is added to it",
                reason=str(error),
                mend="restore the newer memory; without one, move the published log away: docs/operating.md",
            )

    def checkpoint(self) -> bytes:
        """Return the signed head; empty before `begin`."""
        if not self._signers:
            return b""
        if self._withheld:
            return self._last
        size, root = self._memory.log_head()
        return Checkpoint(self._signers[0].verifier.name, size, root).signed(self._signers)

    def digest(self) -> str | None:
        """Return SHA-256 hex of the signed head, None before `begin`."""
        note = self.checkpoint()
        return hashlib.sha256(note).hexdigest() if note else None

    def files(self) -> dict[str, bytes]:
        """Return the part of the log that stands in the release."""
        note = self.checkpoint()
        keys = "".join(signer.verifier.text + "\n" for signer in self._signers)
        return {CHECKPOINT: note, KEYS: keys.encode()} if note else {}

    def tiles(self) -> dict[str, bytes]:
        """Return the tiles that were not published yet, path -> bytes: put once, before the head that needs them."""
        if not self._signers or self._withheld:
            return {}
        size, _ = self._memory.log_head()
        if self._published > size:  # what is published is not this log's
            self._published = 0
        return {PREFIX + path: data for path, data in self._memory.log_tiles(self._published, size).items()}

    def done(self, note: bytes) -> None:
        """Note that the release with this head, and all its tiles, is published."""
        if note:
            self._published, self._last = size_of(note), note

    @property
    def published(self) -> int:
        """Entries of the head that readers have; 0 while nobody can tell."""
        return 0 if self._withheld else self._published

    def resume(self, note: bytes | None) -> None:
        """Go on from the head of the last release, so that a restart does not put the whole log again.

        Args:
            note: its bytes, None when there is none; a head that is not ours makes all tiles be put again.
        """
        if note:
            try:
                self._published, self._last = size_of(note), note
            except NoteError:
                self._published, self._last = 0, b""


def size_of(note: bytes) -> int:
    """Return the size that a checkpoint names, its signature not checked.

    Raises:
        NoteError: it is not a checkpoint.
    """
    return head_of(note).size


def head_of(note: bytes) -> Checkpoint:
    """Return what a checkpoint says, its signature not checked.

    Raises:
        NoteError: it is not a checkpoint.
    """
    return Checkpoint.parse(note.decode(errors="replace").partition("\n\n")[0] + "\n")


def read_verifiers(text: str) -> tuple[Verifier, ...]:
    """Read published keys, one a line.

    Raises:
        NoteError: a line is no key.
    """
    return tuple(Verifier.parse(line) for line in text.splitlines() if line.strip())
