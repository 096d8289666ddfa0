"""Archives of files: written from this machine, and read as what a stranger may have written.

What is read is checked member by member before anything of it is used: plain files alone, under names of one kind, each
once, of sizes that end, and with no right that a copied file should not have. Python's own filter for this is younger
than the Python of a system that this runs on, and lets more through.
"""

import gzip
import io
import os
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Final

from generator.errors import BackupError
from generator.operate.keep.files import LEVEL, create

LONGEST_NAME: Final = 1024
LONGEST_STEP: Final = 255  # of a path; a file system takes no more
LARGEST_HEADER: Final = 1 << 20
"""So much is read at once: more is asked for by a header alone that claims to be longer than any of ours."""
LAST_MTIME: Final = 1 << 33
LAST_NUMBER: Final = 1 << 31  # of users and groups
PLAIN: Final = (tarfile.REGTYPE, tarfile.AREGTYPE)


def pack(target: Path, files: Iterable[tuple[Path, str]]) -> tuple[int, int]:
    """Pack files under their names into a new archive; return how many, and the bytes of the archive once unpacked.

    One that is gone meanwhile is left out, and so is whatever is not a plain file, for a link could lead anywhere, and
    what could not be put back under its name.
    """
    with create(target) as file:
        return _pack(file, files)


def packed(files: Iterable[tuple[Path, str]]) -> tuple[bytes, int]:
    """Return the archive that `pack` writes, and its bytes once unpacked."""
    file = io.BytesIO()
    _, plain = _pack(file, files)
    return file.getvalue(), plain


def _pack(file: IO[bytes], files: Iterable[tuple[Path, str]]) -> tuple[int, int]:
    count = 0
    with gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as plain:
        with tarfile.open(fileobj=plain, mode="w") as archive:
            for path, name in files:
                if _complaint_of_name(name) is None and _add(archive, path, name):
                    count += 1
        size = plain.tell()
    return count, size


def _add(archive: tarfile.TarFile, path: Path, name: str) -> bool:
    """Add a file; False where it is gone, or is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        if path.is_symlink():
            return False
        raise

    with os.fdopen(descriptor, "rb") as content:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        member = archive.gettarinfo(arcname=name, fileobj=content)
        # A file that grows or shrinks meanwhile must not spoil the archive: its size is that of what was read.
        data = content.read()
        member.type = tarfile.REGTYPE
        member.linkname = ""
        member.size = len(data)
        # Whoever owns a file sets its mode and its time: no value of them may keep the archive from being put back.
        member.mode &= 0o777
        member.mtime = min(max(member.mtime, 0), LAST_MTIME - 1)
        archive.addfile(member, io.BytesIO(data))
    return True


def check(archive: IO[bytes], what: str, refusal: Callable[[str], str | None]) -> int:
    """Read an archive to its end, without using anything of it; return how many files it holds.

    Args:
        archive: once unpacked.
        what: names it in an error.
        refusal: says why a file of a name does not belong there, None where it does.

    Raises:
        BackupError: it is not whole, or holds what is not put back; the text names the first.
    """
    names: set[str] = set()
    try:
        with tarfile.open(fileobj=_Bounded(archive), mode="r:") as opened:
            for member in opened:
                complaint = _complaint(member) or refusal(member.name)
                if member.name in names:
                    complaint = "comes twice"
                if complaint:
                    raise BackupError(f"{what} holds {member.name[:LONGEST_STEP]!a}, which {complaint}")

                names.add(member.name)
                _drain(opened, member)
    except RecursionError:
        raise BackupError(f"{what} is not whole: headers without end") from None
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise BackupError(f"{what} is not whole: {error}"[:200]) from error
    return len(names)


def members(archive: IO[bytes]) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    """Yield the files of an archive that `check` took, with their content."""
    archive.seek(0)
    with tarfile.open(fileobj=archive, mode="r:") as opened:
        for member in opened:
            content = opened.extractfile(member)
            if content is not None:
                yield member, content


def _drain(opened: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    content = opened.extractfile(member)
    size = 0
    while content is not None and (chunk := content.read(LARGEST_HEADER)):
        size += len(chunk)
    if size != member.size:
        raise EOFError("it ends within a file")


class _Bounded(io.RawIOBase):
    """A file that gives no more than `LARGEST_HEADER` bytes at once, and never all the rest."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= LARGEST_HEADER:
            raise tarfile.ReadError(f"a header that claims {size} bytes")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def _complaint(member: tarfile.TarInfo) -> str | None:
    """Say why a member is not put back, whatever it is a part of; None where it may be."""
    if complaint := _complaint_of_name(member.name):
        return complaint
    if member.type not in PLAIN or member.issparse():
        return "is not a regular file"
    if member.size < 0:
        return "has a negative size"
    if member.mode & ~0o777:
        return f"has mode {member.mode:o}"
    if not 0 <= member.mtime < LAST_MTIME:
        return "has an invalid time"

    numbers_fit = all(0 <= number < LAST_NUMBER for number in (member.uid, member.gid))
    names_fit = all(len(name) <= LONGEST_STEP and name.isprintable() for name in (member.uname, member.gname))
    return None if numbers_fit and names_fit else "has an invalid owner"


def _complaint_of_name(name: str) -> str | None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        return "leads out of its folder"
    if not path.parts or str(path) != name or not name.isprintable():
        return "is not a valid file name"
    longest = max(len(step.encode()) for step in path.parts)
    return "has too long a name" if longest > LONGEST_STEP or len(name) > LONGEST_NAME else None
