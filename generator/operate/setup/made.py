"""What was made of a machine, as its journal keeps it, and how each of it is undone."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from generator.errors import SetupError
from generator.operate.setup.machine import Machine, Rights, half_of

HOW_TO_DELETE: Final = "--undo --delete-data removes it"


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of one thing; `is_left` where it stays, and so does its row in the journal."""

    line: str
    is_left: bool = False


@dataclass(slots=True)
class Undoing:
    """One run of undo.

    Args:
        kept: bytes of the files that were there before, by their digest.
        delete_data: whether what the programs wrote, and settings that were edited, go too.
        has_failed: whether something could not be undone, such as a program that does not stop; then no data goes.
    """

    machine: Machine
    kept: Mapping[str, bytes]
    delete_data: bool = False
    has_failed: bool = field(default=False)

    @property
    def deletes(self) -> bool:
        """Whether data is deleted now."""
        return self.delete_data and not self.has_failed


class _Made(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Before(_Made):
    """A file that was there before; its bytes are kept next to the journal."""

    sha256: str
    uid: int
    gid: int
    mode: int

    @property
    def rights(self) -> Rights:
        """Whose it was."""
        return Rights(self.uid, self.gid, self.mode)


class MadeFile(_Made):
    """A file, with the digest of what was written into it."""

    kind: Literal["file"] = "file"
    path: str
    sha256: str
    before: Before | None = None

    @property
    def key(self) -> str:
        """What it is, whatever its content."""
        return f"file {self.path}"

    def undo(self, undoing: Undoing) -> Undone:
        """Remove it or put back what was there; one that was edited since is left."""
        machine = undoing.machine
        half_of(machine.at(self.path)).unlink(missing_ok=True)
        data = machine.read(self.path)
        digest = None if data is None else sha256_of(data)
        if digest == (self.before.sha256 if self.before else None):
            return Undone(f"{self.path} is as it was")
        if digest not in {None, self.sha256} and not undoing.deletes:
            return Undone(f"{self.path} was edited since; {HOW_TO_DELETE}", is_left=True)

        if self.before is None:
            machine.remove(self.path)
            return Undone(f"removed {self.path}")
        machine.write(self.path, undoing.kept[self.before.sha256], self.before.rights)
        return Undone(f"put back {self.path} as it was before")


class MadeFolder(_Made):
    """A folder; `before` is whose it was, where it was there."""

    kind: Literal["folder"] = "folder"
    path: str
    before: tuple[int, int, int] | None = None

    @property
    def key(self) -> str:
        """What it is."""
        return f"folder {self.path}"

    def undo(self, undoing: Undoing) -> Undone:
        """Remove it where it is empty, or where data goes too; one that was there gets its rights back."""
        machine = undoing.machine
        where = machine.at(self.path)
        if not where.is_dir():
            return Undone(f"{self.path} is gone already")
        if self.before is not None:
            machine.give(self.path, Rights(*self.before))
            return Undone(f"{self.path} has its owner and mode of before")

        if not any(where.iterdir()):
            machine.remove_folder(self.path)
            return Undone(f"removed {self.path}")
        if not undoing.deletes:
            return Undone(f"{self.path} holds data; {HOW_TO_DELETE}", is_left=True)
        machine.remove_folder(self.path, with_content=True)
        return Undone(f"removed {self.path} with all that was in it")


class MadeAccounts(_Made):
    """Users and groups, and the folders in which their files lie."""

    kind: Literal["accounts"] = "accounts"
    users: tuple[str, ...]
    groups: tuple[str, ...]
    folders: tuple[str, ...]

    @property
    def key(self) -> str:
        """What they are."""
        return f"accounts {' '.join((*self.groups, *self.users))}"

    def undo(self, undoing: Undoing) -> Undone:
        """Remove them; not while files of theirs are left, which the next user of their number would own."""
        machine = undoing.machine
        names = ", ".join((*self.users, *self.groups))
        if left := [path for path in self.folders if machine.at(path).exists()]:
            return Undone(f"the accounts {names} stay while {' and '.join(left)} hold their files", is_left=True)

        for name in self.users:
            if machine.user_id(name) is not None:
                machine.run(["userdel", *machine.under_root("--prefix"), name])
        for name in self.groups:
            if machine.group_id(name) is not None:
                machine.run(["groupdel", *machine.under_root("--prefix"), name])
        return Undone(f"removed the accounts {names}")


class MadeLink(_Made):
    """A symbolic link; `before` is where it led before."""

    kind: Literal["link"] = "link"
    path: str
    target: str
    before: str | None = None

    @property
    def key(self) -> str:
        """What it is."""
        return f"link {self.path}"

    def undo(self, undoing: Undoing) -> Undone:
        """Remove it, or let it lead where it led; one that leads elsewhere by now is left."""
        where = undoing.machine.at(self.path)
        half_of(where).unlink(missing_ok=True)
        if not where.is_symlink():
            return Undone(f"{self.path} is gone already")
        if str(where.readlink()) != self.target:
            return Undone(f"{self.path} leads elsewhere by now", is_left=True)

        if self.before is None:
            undoing.machine.remove(self.path)
            return Undone(f"removed {self.path}")
        undoing.machine.link(self.path, self.before)
        return Undone(f"{self.path} leads to {self.before} again")


class MadeUnit(_Made):
    """A unit of systemd that is started with the machine."""

    kind: Literal["unit"] = "unit"
    name: str

    @property
    def key(self) -> str:
        """What it is."""
        return f"unit {self.name}"

    def undo(self, undoing: Undoing) -> Undone:
        """Stop it, and let it not be started again."""
        machine = undoing.machine
        stop = ["--now"] if machine.is_running else []
        machine.run(["systemctl", *machine.under_root("--root"), "disable", *stop, self.name])
        return Undone(f"disabled {self.name}")


class MadeCommand(_Made):
    """A command that ran, and the one that follows once what it was for is undone; empty for none."""

    kind: Literal["command"] = "command"
    command: tuple[str, ...]
    afterwards: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What it is."""
        return f"command {' '.join(self.command)}; {' '.join(self.afterwards)}"

    def undo(self, undoing: Undoing) -> Undone:
        """Run the command that follows, where systemd runs."""
        if not self.afterwards or not undoing.machine.is_running:
            return Undone("")
        undoing.machine.run(self.afterwards)
        return Undone(f"ran {' '.join(self.afterwards)}")


Made: TypeAlias = Annotated[
    MadeFile | MadeFolder | MadeAccounts | MadeLink | MadeUnit | MadeCommand, Field(discriminator="kind")
]


def sha256_of(data: bytes) -> str:
    """Return the digest by which a file is known again."""
    return hashlib.sha256(data).hexdigest()


def link_target(path: Path) -> str | None:
    """Return where a link leads, None where there is nothing; SetupError where something else is."""
    if path.is_symlink():
        return str(path.readlink())
    if path.exists():
        raise SetupError(f"{path} is there and is not a link; move it away first")
    return None
