"""The few disk operations that publishing needs, each one safe against a power cut at any instruction."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """Where releases are written; tests pass one that fails."""

    def write(self, path: Path, data: bytes) -> None:
        """Create `path` with `data`, in the page cache only."""
        ...

    def link(self, source: Path, path: Path) -> None:
        """Make `path` a second name of the unchanged file `source`."""
        ...

    def sync(self, folder: Path) -> None:
        """Return once everything written below `folder` is on stable storage."""
        ...

    def replace_text(self, path: Path, data: bytes) -> None:
        """Replace a small file atomically and durably."""
        ...

    def point(self, link: Path, target: str) -> None:
        """Swap the symbolic link `link` to `target` atomically and durably."""
        ...


class LocalDisk:
    """A POSIX file system."""

    def write(self, path: Path, data: bytes) -> None:
        """Create `path` with `data`, in the page cache only."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def link(self, source: Path, path: Path) -> None:
        """Make `path` a second name of the unchanged file `source`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        os.link(source, path)

    def sync(self, folder: Path) -> None:
        """Return once everything written below `folder` is on stable storage.

        One syncfs for the whole file system costs less than an fsync for every file of a release.
        """
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            if not hasattr(libc, "syncfs"):  # not Linux
                os.sync()
            elif libc.syncfs(descriptor) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
        finally:
            os.close(descriptor)

    def replace_text(self, path: Path, data: bytes) -> None:
        """Replace a small file atomically and durably."""
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.new")
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _fsync_folder(path.parent)

    def point(self, link: Path, target: str) -> None:
        """Swap the symbolic link `link` to `target` atomically and durably."""
        beside = link.with_name(f".{link.name}.new")
        beside.unlink(missing_ok=True)
        beside.symlink_to(target)
        beside.replace(link)
        _fsync_folder(link.parent)


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
