"""The journal of what was made of a machine: a row on disk before each deed, so that whatever happens can be undone."""

import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import Any, Final, Self

from pydantic import TypeAdapter, ValidationError

from gateway.wire.foreign import read_json
from generator.errors import SetupError
from generator.operate.setup.machine import Machine, sync_folder
from generator.operate.setup.made import Made, sha256_of

FOLDER: Final = "/var/lib/emi-setup"
_MADE: Final[TypeAdapter[Made]] = TypeAdapter(Made)


class Journal:
    """What was begun, what was done, what was undone, and how the machine was asked for; one process at a time."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        self._folder = folder
        self._descriptor = descriptor
        self._begun: dict[int, Made] = {}
        self._done: set[int] = set()
        self.choice: dict[str, Any] | None = None

    @classmethod
    def open(cls, machine: Machine) -> Self:
        """Open the machine's journal, or begin one; SetupError where another process has it open."""
        folder = machine.at(FOLDER)
        (folder / "kept").mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)

        descriptor = os.open(folder / "journal.jsonl", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise SetupError("another emi setup is at work on this machine") from error

        sync_folder(folder)
        journal = cls(folder, descriptor)
        journal._replay(_rows(descriptor))
        return journal

    @classmethod
    def exists(cls, machine: Machine) -> bool:
        """Return whether something was made of the machine."""
        return (machine.at(FOLDER) / "journal.jsonl").exists()

    def close(self) -> None:
        """Let others open it."""
        os.close(self._descriptor)

    def remember(self, choice: dict[str, Any]) -> None:
        """Note how the machine was asked for, for the next time."""
        if choice != self.choice:
            self._append({"choice": choice})
            self.choice = choice

    def begin(self, item: Made, keep: dict[str, bytes]) -> int:
        """Note what is about to be made; return its number. What is to be kept is on disk before."""
        for digest, data in keep.items():
            self._keep(digest, data)
        number = max(self._begun, default=0) + 1
        self._append({"begin": number, "made": item.model_dump()})
        self._begun[number] = item
        return number

    def end(self, number: int) -> None:
        """Note that it was made."""
        self._append({"end": number})
        self._done.add(number)

    def undone(self, number: int) -> None:
        """Note that it is undone."""
        self._append({"undone": number})
        self._forget(number)

    def unfinished(self, key: str) -> int | None:
        """Return the number of what was begun and never ended, None where there is none of this key."""
        unfinished = [number for number, item in self._begun.items() if item.key == key and number not in self._done]
        return unfinished[-1] if unfinished else None

    def is_done(self, key: str) -> bool:
        """Return whether it was made."""
        return any(item.key == key and number in self._done for number, item in self._begun.items())

    def newest_first(self) -> list[tuple[int, Made]]:
        """Return what was begun and is not undone, in the order of undoing."""
        return sorted(self._begun.items(), reverse=True)

    def kept(self) -> dict[str, bytes]:
        """Return the files that were there before, by digest; SetupError where one is not what was kept."""
        originals = {path.name: path.read_bytes() for path in (self._folder / "kept").iterdir()}
        for digest, data in originals.items():
            if sha256_of(data) != digest:
                raise SetupError(f"{self._folder / 'kept' / digest} is damaged")
        return originals

    def remove(self) -> None:
        """Remove the journal and what it kept, once nothing is left of it."""
        shutil.rmtree(self._folder)
        sync_folder(self._folder.parent)

    def _keep(self, digest: str, data: bytes) -> None:
        path = self._folder / "kept" / digest
        new = path.with_suffix(".new")
        with new.open("wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        sync_folder(path.parent)

    def _append(self, row: dict[str, Any]) -> None:
        line = json.dumps(row).encode() + b"\n"
        size = os.fstat(self._descriptor).st_size
        if os.write(self._descriptor, line) < len(line):
            os.ftruncate(self._descriptor, size)
            raise SetupError(f"{self._folder}/journal.jsonl: no space left")
        os.fsync(self._descriptor)

    def _replay(self, rows: list[dict[str, Any]]) -> None:
        try:
            for row in rows:
                if "choice" in row:
                    self.choice = row["choice"]
                elif "begin" in row:
                    self._begun[row["begin"]] = _MADE.validate_python(row["made"])
                elif "end" in row:
                    self._done.add(row["end"])
                else:
                    self._forget(row["undone"])

        # A newer version's rows are not guessed at: what was begun could not be undone.
        except (KeyError, TypeError, ValidationError) as error:
            raise SetupError(f"{self._folder}/journal.jsonl has a row that this version does not know") from error

    def _forget(self, number: int) -> None:
        self._begun.pop(number, None)
        self._done.discard(number)


def _rows(descriptor: int) -> list[dict[str, Any]]:
    """Read the rows; one that was cut off was never followed by its deed, and is removed."""
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.ftruncate(descriptor, len(whole))
        os.fsync(descriptor)
    try:
        return [read_json(line) for line in whole.splitlines()]
    except ValueError as error:
        raise SetupError(f"{FOLDER}/journal.jsonl cannot be read") from error
