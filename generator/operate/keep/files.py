"""Files on this machine: written for their owner alone and durably, compressed, digested, given back."""

import gzip
import hashlib
import os
import pwd
import shutil
import stat
import zlib
from collections.abc import Iterable
from grp import getgrgid, getgrnam
from pathlib import Path
from typing import IO, Final

from generator.errors import BackupError

CHUNK: Final = 1 << 20
LEVEL: Final = 1  # of gzip: a third of the time of the default, for a tenth more bytes
PRIVATE: Final = 0o600


def write_private(path: Path, data: bytes) -> None:
    """Write a new file that only its owner may read, safe on disk when this returns."""
    with create(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def create(path: Path) -> IO[bytes]:
    """Open a new file that only its owner may read, whatever the umask."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb")


def sync_file(path: Path) -> None:
    """Return once a file or a folder is on stable storage."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest_of(path: Path) -> tuple[int, str]:
    """Return the bytes of a file and their SHA-256 in hex."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return file.tell(), digest.hexdigest()


def compress(source: Path, target: Path) -> int:
    """Write a file's bytes compressed into a new file; return how many they were."""
    with source.open("rb") as plain, create(target) as file, gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as packed:
        shutil.copyfileobj(plain, packed, CHUNK)
        return plain.tell()


def decompress(source: IO[bytes], target: IO[bytes], most_bytes: int, what: str) -> None:
    """Write what was compressed into another file, and stop where it becomes more than it was said to be.

    Args:
        source: what `compress` wrote.
        target: gets the plain bytes.
        most_bytes: how many they are at most.
        what: names it in an error.

    Raises:
        BackupError: it is not whole, or larger.
    """
    left = most_bytes

    # A few kilobytes may unpack to the whole disk: it is counted while it is written.
    try:
        with gzip.GzipFile("", "rb", fileobj=source) as packed:
            while chunk := packed.read(CHUNK):
                left -= len(chunk)
                if left < 0:
                    raise BackupError(f"{what} is larger, once unpacked, than the {most_bytes} bytes that it may be")
                target.write(chunk)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BackupError(f"{what} is not whole: {error}") from error


def names_below(folder: Path) -> list[str]:
    """Return the files below a folder by their path in it; none where there is no folder."""
    files: list[str] = []
    for at, _, names in os.walk(folder):
        inside = Path(at).relative_to(folder)
        files += [(inside / name).as_posix() for name in names]
    return sorted(files)


def owner_of(path: Path) -> tuple[str, str, int]:
    """Return a file's owner and group by name, or by number where they have none, and its mode."""
    status = path.stat()

    try:
        owner = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        owner = str(status.st_uid)

    try:
        group = getgrgid(status.st_gid).gr_name
    except KeyError:
        group = str(status.st_gid)

    return owner, group, stat.S_IMODE(status.st_mode)


def give(path: Path, owner: str, group: str, mode: int) -> None:
    """Give a file its mode and, where this process may, its owner; BackupError where no such user is here."""
    path.chmod(mode)
    if os.geteuid() != 0 or not owner:
        return
    try:
        shutil.chown(path, _known(owner), _known(group))
    except LookupError as error:
        raise BackupError(f"{path} belongs to {owner}:{group}, unknown on this machine: make them first") from error
    path.chmod(mode)  # a change of owner takes some bits away


def check_owner(owner: str, group: str) -> None:
    """Raise BackupError where `give` would: this process may change owners, and there is no such user here."""
    if os.geteuid() != 0 or not owner:
        return
    try:
        _ = owner.isdecimal() or pwd.getpwnam(owner)
        _ = group.isdecimal() or getgrnam(group)
    except KeyError as error:
        raise BackupError(f"files belong to {owner}:{group}, unknown on this machine: make them first") from error


def _known(name: str) -> str | int:
    return int(name) if name.isdecimal() else name


def processes_with(paths: Iterable[Path]) -> dict[int, Path]:
    """Return which processes of this machine have one of some files open, as far as this user may see."""
    wanted: dict[tuple[int, int], Path] = {}
    for path in paths:
        if path.exists():
            status = path.stat()
            wanted[status.st_dev, status.st_ino] = path

    holders: dict[int, Path] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            opened = [(status.st_dev, status.st_ino) for link in (process / "fd").iterdir() if (status := link.stat())]
        except OSError:
            # It ended meanwhile, or is another user's.
            continue
        for place in opened:
            if place in wanted and int(process.name) != os.getpid():
                holders[int(process.name)] = wanted[place]
    return holders
