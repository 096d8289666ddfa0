"""A machine as setup sees it: a folder that is its root, its accounts, and the commands that it runs."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from generator.errors import SetupError

COMMAND_TIMEOUT_S: Final = 300  # a gateway that is stopped lets its payments end, 200 s at most
RUNNING_SYSTEMD: Final = "/run/systemd/system"

Runner = Callable[[Sequence[str]], None]
"""Runs a command to its end; SetupError where it fails."""


@dataclass(frozen=True, slots=True)
class Rights:
    """Whose a file or a folder is, by number as the disk has it, and its mode."""

    uid: int
    gid: int
    mode: int


def run_command(command: Sequence[str]) -> None:
    """Run a command of this machine; SetupError with its last line where it fails."""
    environment = os.environ | {"LC_ALL": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    try:
        done = subprocess.run(  # noqa: S603  the plan's own commands
            command, env=environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{' '.join(command)}: {error}") from error

    if done.returncode:
        output = (done.stderr or done.stdout).strip().splitlines() or ["no word of why"]
        raise SetupError(f"{' '.join(command)} ended with code {done.returncode}: {output[-1]}")


@dataclass(frozen=True, slots=True)
class Machine:
    """The files below a root folder, and what runs commands.

    Args:
        root: `/`, or the root of an image that is being built, or of a test.
        run: the runner of commands.
    """

    root: Path
    run: Runner = run_command

    @property
    def is_this_one(self) -> bool:
        """Whether its programs are those of this process's own root."""
        return self.root == Path("/")

    @property
    def is_running(self) -> bool:
        """Whether systemd runs on it, so that something can be started."""
        return self.is_this_one and Path(RUNNING_SYSTEMD).is_dir()

    def at(self, path: str) -> Path:
        """Return where an absolute path of the machine lies."""
        return self.root / path.lstrip("/")

    def under_root(self, option: str) -> list[str]:
        """Return the option with which a program works below another root, nothing for this machine."""
        return [] if self.is_this_one else [option, str(self.root)]

    def user_id(self, name: str) -> int | None:
        """Return the number of a user, None for an unknown one."""
        return self._number("/etc/passwd", name)

    def group_id(self, name: str) -> int | None:
        """Return the number of a group, None for an unknown one."""
        return self._number("/etc/group", name)

    def _number(self, file: str, name: str) -> int | None:
        for line in (self.read(file) or b"").decode().splitlines():
            row = line.split(":")
            if row[0] == name:
                return int(row[2])
        return None

    def rights_of(self, path: str) -> Rights | None:
        """Return whose a path is, None where there is nothing; a link is followed."""
        try:
            status = self.at(path).stat()
        except FileNotFoundError:
            return None
        return Rights(status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode))

    def make_folder(self, path: str) -> None:
        """Make a folder where there is none, closed to all until it has its owner."""
        where = self.at(path)
        where.mkdir(mode=0o700, exist_ok=True)
        sync_folder(where.parent)

    def remove_folder(self, path: str, *, with_content: bool = False) -> None:
        """Remove a folder, by default only an empty one."""
        where = self.at(path)
        if with_content:
            shutil.rmtree(where)
        else:
            where.rmdir()
        sync_folder(where.parent)

    def link(self, path: str, target: str) -> None:
        """Let a symbolic link lead somewhere, whole or as it was before."""
        where = self.at(path)
        new = half_of(where)
        new.unlink(missing_ok=True)
        new.symlink_to(target)
        new.replace(where)
        sync_folder(where.parent)

    def remove(self, path: str) -> None:
        """Remove a file or a link, where it is there, and what was half written of it."""
        where = self.at(path)
        half_of(where).unlink(missing_ok=True)
        where.unlink(missing_ok=True)
        sync_folder(where.parent)

    def give(self, path: str, rights: Rights) -> None:
        """Give a path its owner, its group and its mode."""
        where = self.at(path)
        os.chown(where, rights.uid, rights.gid)
        where.chmod(rights.mode)  # after the owner: a change of owner takes some bits away

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, None where there is none."""
        try:
            return self.at(path).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, path: str, data: bytes, rights: Rights) -> None:
        """Replace a file, whole and on disk, or leave the one that was there."""
        where = self.at(path)
        new = half_of(where)
        new.unlink(missing_ok=True)

        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            os.fchown(descriptor, rights.uid, rights.gid)
            os.fchmod(descriptor, rights.mode)
            file.flush()
            os.fsync(descriptor)
        new.replace(where)
        sync_folder(where.parent)


def half_of(path: Path) -> Path:
    """Return where a file or a link is written before it takes its name."""
    return path.with_name(f".{path.name}.new")


def sync_folder(folder: Path) -> None:
    """Return once the names in a folder are on stable storage."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
