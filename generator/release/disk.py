"""The few disk operations that publishing needs, each one safe against a power cut at any instruction.

The process's umask keeps everything to its owner. What is published or sold is read by other users, so it gets its
modes here, whatever the umask says.
"""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

StrPath: TypeAlias = str | os.PathLike[str]
PUBLIC: Final = 0o644
"""Files of the site: anybody's."""
SHARED: Final = 0o640
"""Files of the vault: the owner's, and the group's that the gateway belongs to."""
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC


class LocalDisk:
    """A POSIX file system where releases are written; tests pass one that fails."""

    _mode = PUBLIC

    def __init__(self, mode: int = PUBLIC) -> None:
        self._mode = mode

    def folder(self, path: Path) -> None:
        """Make a folder and what is missing above it; one that is there stays as it is."""
        if path.is_dir():
            return
        self.folder(path.parent)

        # Who may read its files may enter it: the bit of each reader, two places to the right.
        mode = self._mode | (self._mode & 0o444) >> 2
        # Renamed, so that no crash leaves a folder of this name that its readers cannot enter.
        fresh = path.with_name(f".{path.name}.new")
        fresh.mkdir(mode, exist_ok=True)
        _grant(fresh, mode)
        fresh.rename(path)

    def write(self, path: StrPath, data: bytes, modified_s: int | None = None) -> None:
        """Create `path` with `data`, in the page cache only; its mtime is `modified_s`, by default now."""
        with self._created(path) as file:
            file.write(data)
            if modified_s is not None:
                file.flush()
                os.utime(file.fileno(), (modified_s, modified_s))

    def link(self, source: StrPath, path: StrPath) -> None:
        """Make `path` a second name of the unchanged file `source`."""
        try:
            os.link(source, path)
        except FileNotFoundError:
            self.folder(Path(path).parent)
            os.link(source, path)

    def sync(self, folder: StrPath) -> None:
        """Return once everything written below `folder` is on stable storage; OSError: what is on it is unknown.

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

    def move(self, pairs: Sequence[tuple[StrPath, StrPath]]) -> None:
        """Rename each (source, target) in turn; durable when it returns. The targets' folders are there already."""
        for source, target in pairs:
            os.rename(source, target)  # noqa: PTH104  thousands of them at the first tick of a log
        for folder in dict.fromkeys(Path(target).parent for _, target in pairs):
            _fsync_folder(folder)

    def replace_text(self, path: Path, data: bytes) -> None:
        """Replace a small file atomically and durably."""
        fresh = path.with_name(f".{path.name}.new")
        with self._created(fresh) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        _fsync_folder(path.parent)

    def point(self, link: Path, target: str) -> None:
        """Swap the symbolic link `link` to `target` atomically and durably."""
        fresh = link.with_name(f".{link.name}.new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target)
        fresh.replace(link)
        _fsync_folder(link.parent)

    def _created(self, path: StrPath) -> BinaryIO:
        """Open a new file for writing, with its folders; asking first whether they exist costs more than failing."""
        try:
            descriptor = os.open(path, _CREATE, self._mode)
        except FileNotFoundError:
            self.folder(Path(path).parent)
            descriptor = os.open(path, _CREATE, self._mode)
        file = os.fdopen(descriptor, "wb")
        _grant(descriptor, self._mode)
        return file


def _grant(place: Path | int, mode: int) -> None:
    """Add what the umask took away; a file system without modes is not asked to change any.

    A set-group-ID bit that a folder has of the one above it is not asked for: a unit with RestrictSUIDSGID may not.
    """
    bits = os.stat(place).st_mode & 0o777  # noqa: PTH116  a path or a descriptor
    if bits & mode != mode:
        os.chmod(place, bits | mode)  # noqa: PTH101  likewise


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
