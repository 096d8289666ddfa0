"""The log's keys: a file that only its owner may read, the newest key first, and the names under which they sign."""

import os
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gateway.wire.durable import replace_file
from gateway.wire.space import reason_of
from generator.errors import GeneratorError
from generator.record.log.note import NoteError, Signer, Verifier

FOR_OTHERS: Final = 0o077  # bits of a file's mode


def name_of(origin: str) -> str:
    """Return the log's name for an origin: its URL without the scheme, as C2SP recommends."""
    return f"{urlsplit(origin).netloc}/log"


def read_keys(path: Path) -> tuple[Signer, ...]:
    """Read the keys of a file, the newest first; every one of them signs. GeneratorError never holds a key."""
    try:
        _refuse_if_shared(path)
        signers = tuple(Signer.parse(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip())
    except OSError as error:
        raise GeneratorError(f"log key {path} cannot be read: {error.strerror or error}") from error
    except (NoteError, UnicodeDecodeError) as error:
        raise GeneratorError(f"log key {path}: {error}; `emi key log --make` makes one") from error

    if not signers:
        raise GeneratorError(f"log key {path} is empty; `emi key log --make` makes one")
    return signers


def _refuse_if_shared(path: Path) -> None:
    """Raise GeneratorError for a key file that anyone but its owner may read or write."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & FOR_OTHERS:
        raise GeneratorError(
            f"log key {path} can be read by others (mode {mode:04o}): chmod 600 {shlex.quote(str(path))}"
        )


def make_key(path: Path, name: str) -> Signer:
    """Make a key file, readable for its owner alone, safe on disk when this returns; GeneratorError if there is one."""
    signer = Signer.generate(name)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_private(path, signer.text + "\n", os.O_EXCL)
    except FileExistsError as error:
        raise GeneratorError(f"log key {path} is there already; it is never overwritten") from error
    except OSError as error:
        raise GeneratorError(f"log key {path} cannot be written: {reason_of(error, path)}") from error
    return signer


def add_key(path: Path) -> Signer:
    """Put a new key before the others of a file: old and new sign together until `drop_old_keys`."""
    signers = read_keys(path)
    fresh = Signer.generate(signers[0].verifier.name)
    _replace(path, (fresh, *signers))
    return fresh


def drop_old_keys(path: Path) -> Signer:
    """Keep only the newest key of a file."""
    newest = read_keys(path)[0]
    _replace(path, (newest,))
    return newest


def _replace(path: Path, signers: Sequence[Signer]) -> None:
    try:
        replace_file(path, "".join(f"{signer.text}\n" for signer in signers).encode())
    except OSError as error:
        raise GeneratorError(f"log key {path} cannot be written: {reason_of(error, path)}") from error


def _write_private(path: Path, text: str, flag: int) -> None:
    """Write a file that only its owner may read, safe on disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def read_verifiers(text: str) -> tuple[Verifier, ...]:
    """Read published keys, one a line."""
    return tuple(Verifier.parse(line) for line in text.splitlines() if line.strip())
