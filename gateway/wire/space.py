"""What a full file system lacks: bytes, or inodes (room for one more file), which the system gives one error for."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

NO_INODES: Final = "no inodes left on its file system: it has bytes free but no room for another file; remove files"


class FileSystem(Protocol):
    """The two figures of `os.statvfs` that tell used-up inodes."""

    @property
    def f_files(self) -> int:
        """Inodes in all; 0 where the file system does not count them."""

    @property
    def f_favail(self) -> int:
        """Inodes that this user may still use."""


Ask = Callable[[Path], FileSystem]
ASK: Final[Ask | None] = getattr(os, "statvfs", None)  # None on Windows, whose file systems have no inodes


def has_no_inodes(path: Path, ask: Ask | None = ASK) -> bool:
    """Return whether no file can be added where `path` lies, or would lie, because every inode is in use."""
    if ask is None:
        return False
    for place in (path, *path.parents):
        try:
            file_system = ask(place)
        except OSError:
            continue

        # Some file systems (btrfs) make inodes as they go, and count none.
        return file_system.f_files > 0 and file_system.f_favail == 0
    return False


def reason_of(error: OSError, path: Path, ask: Ask | None = ASK) -> str:
    """Return what went wrong at `path`, in the system's words but for used-up inodes, which it calls a full disk."""
    if error.errno == errno.ENOSPC and has_no_inodes(path, ask):
        return NO_INODES
    return error.strerror or str(error)
