"""The steps of a plan: each says what it is, whether it is there already, and does it."""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from generator.errors import SetupError
from generator.operate.setup.machine import Machine, Rights
from generator.operate.setup.made import (
    Before,
    Made,
    MadeAccounts,
    MadeCommand,
    MadeFile,
    MadeFolder,
    MadeLink,
    MadeUnit,
    link_target,
    sha256_of,
)


class Step(Protocol):
    """One small thing to make."""

    @property
    def group(self) -> str:
        """Under which heading it is shown; commands of a group follow its other steps."""

    def line(self) -> str:
        """Return what it is, for people."""

    def is_there(self, machine: Machine) -> bool:
        """Return whether the machine has it as it should be."""

    def plan(self, machine: Machine, keep: dict[str, bytes]) -> Made:
        """Return what its undoing has to know, and put what has to be kept for it into `keep`."""

    def do(self, machine: Machine) -> None:
        """Make it; doing it twice is doing it once."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of root.

    Args:
        is_theirs: whether it is the operator's once it is there: settings are never written over.
    """

    group: str
    path: str
    data: bytes
    mode: int = 0o644
    is_theirs: bool = False

    def line(self) -> str:
        """Name it with its mode and its size."""
        return f"file    {self.path}  {self.mode:04o} root:root, {len(self.data)} bytes"

    def is_there(self, machine: Machine) -> bool:
        """Compare content, owner and mode, of settings the name alone."""
        if self.is_theirs:
            return machine.at(self.path).exists()
        return machine.read(self.path) == self.data and machine.rights_of(self.path) == self._rights(machine)

    def plan(self, machine: Machine, keep: dict[str, bytes]) -> MadeFile:
        """Keep what was there."""
        before = None
        old = machine.read(self.path)
        rights = machine.rights_of(self.path)
        if old is not None and rights is not None:
            before = Before(sha256=sha256_of(old), uid=rights.uid, gid=rights.gid, mode=rights.mode)
            keep[before.sha256] = old
        return MadeFile(path=self.path, sha256=sha256_of(self.data), before=before)

    def do(self, machine: Machine) -> None:
        """Write it."""
        machine.write(self.path, self.data, self._rights(machine))

    def _rights(self, machine: Machine) -> Rights:
        return rights(machine, "root", "root", self.mode)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with its owner and mode."""

    group: str
    path: str
    mode: int
    owner: str
    owner_group: str

    def line(self) -> str:
        """Name it with its mode and owner."""
        return f"folder  {self.path}  {self.mode:04o} {self.owner}:{self.owner_group}"

    def is_there(self, machine: Machine) -> bool:
        """Compare owner and mode."""
        if machine.user_id(self.owner) is None or machine.group_id(self.owner_group) is None:
            return False
        return machine.rights_of(self.path) == self._rights(machine)

    def plan(self, machine: Machine, keep: dict[str, bytes]) -> MadeFolder:
        """Remember whose it was."""
        old = machine.rights_of(self.path)
        return MadeFolder(path=self.path, before=None if old is None else (old.uid, old.gid, old.mode))

    def do(self, machine: Machine) -> None:
        """Make it, and give it away."""
        machine.make_folder(self.path)
        machine.give(self.path, self._rights(machine))

    def _rights(self, machine: Machine) -> Rights:
        return rights(machine, self.owner, self.owner_group, self.mode)


@dataclass(frozen=True, slots=True)
class Accounts:
    """Users without a password or a shell, and their group, made by systemd-sysusers of its own file.

    Args:
        folders: where their files lie.
    """

    group: str
    file: str
    users: tuple[tuple[str, str], ...]  # name and home
    groups: tuple[str, ...]
    folders: tuple[str, ...]

    def line(self) -> str:
        """Name them."""
        users = "\n".join(f"user    {name}  no password, no shell, home {home}" for name, home in self.users)
        return "\n".join([*(f"group   {name}" for name in self.groups), users])

    def is_there(self, machine: Machine) -> bool:
        """Look whether none is missing."""
        return not any(self._missing(machine))

    def plan(self, machine: Machine, keep: dict[str, bytes]) -> MadeAccounts:
        """Note those that are not there yet."""
        users, groups = self._missing(machine)
        return MadeAccounts(users=users, groups=groups, folders=self.folders)

    def do(self, machine: Machine) -> None:
        """Make them."""
        machine.run(["systemd-sysusers", *machine.under_root("--root"), self.file])
        if any(missing := self._missing(machine)):
            raise SetupError(f"systemd-sysusers did not make {', '.join(name for names in missing for name in names)}")

    def _missing(self, machine: Machine) -> tuple[tuple[str, ...], tuple[str, ...]]:
        users = [name for name, _ in self.users if machine.user_id(name) is None]
        groups = [name for name in self.groups if machine.group_id(name) is None]
        return tuple(users), tuple(groups)


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    group: str
    path: str
    target: str

    def line(self) -> str:
        """Say where it leads."""
        return f"link    {self.path} -> {self.target}"

    def is_there(self, machine: Machine) -> bool:
        """Look where it leads."""
        return link_target(machine.at(self.path)) == self.target

    def plan(self, machine: Machine, keep: dict[str, bytes]) -> MadeLink:
        """Remember where it led."""
        return MadeLink(path=self.path, target=self.target, before=link_target(machine.at(self.path)))

    def do(self, machine: Machine) -> None:
        """Make it."""
        machine.link(self.path, self.target)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of systemd that is started with the machine."""

    group: str
    name: str

    def line(self) -> str:
        """Show the command."""
        return f"run     systemctl enable {self.name}"

    def is_there(self, machine: Machine) -> bool:
        """Look whether some target wants it."""
        targets = machine.at("/etc/systemd/system").glob("*.wants")
        return any((target / self.name).is_symlink() for target in targets)

    def plan(self, machine: Machine, keep: dict[str, bytes]) -> MadeUnit:
        """Note its name."""
        return MadeUnit(name=self.name)

    def do(self, machine: Machine) -> None:
        """Enable it."""
        machine.run(["systemctl", *machine.under_root("--root"), "enable", self.name])


class Where(Enum):
    """On which machines a command means something."""

    THIS = "this"  # also one on which systemd does not run, such as a container
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Command:
    """A command that follows other steps; it is run again when one of them changed something.

    Args:
        command: empty for none.
        afterwards: what is run once all steps after this one are undone; empty for none.
        follows: the key of the one step that it follows; empty for all steps of its group.
    """

    group: str
    command: tuple[str, ...] = ()
    afterwards: tuple[str, ...] = ()
    where: Where = Where.RUNNING
    follows: str = ""

    def line(self) -> str:
        """Show the command."""
        return f"run     {' '.join(self.command)}" if self.command else ""

    def is_there(self, machine: Machine) -> bool:
        """Say no: what there is of a command is in the journal."""
        return False

    def plan(self, machine: Machine, keep: dict[str, bytes]) -> MadeCommand:
        """Note what follows its undoing."""
        return MadeCommand(command=self.command, afterwards=self.afterwards)

    def do(self, machine: Machine) -> None:
        """Run it where it means something."""
        applies = machine.is_running if self.where is Where.RUNNING else machine.is_this_one
        if self.command and applies:
            machine.run(self.command)


def rights(machine: Machine, owner: str, group: str, mode: int) -> Rights:
    """Return rights by number; SetupError where the machine does not know a name."""
    uid = machine.user_id(owner)
    gid = machine.group_id(group)
    if uid is None or gid is None:
        raise SetupError(f"this machine has no user {owner} or no group {group}")
    return Rights(uid, gid, mode)
