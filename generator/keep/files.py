"""Files on this machine: written for their owner alone and durably, packed, compressed, digested, given back."""

import gzip
import hashlib
import io
import os
import pwd
import shutil
import stat
import tarfile
from collections.abc import Iterable, Iterator
from grp import getgrgid
from pathlib import Path, PurePosixPath
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


def compress(source: Path, target: Path) -> None:
    """Write a file's bytes compressed into a new file."""
    with source.open("rb") as plain, create(target) as file, gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as packed:
        shutil.copyfileobj(plain, packed, CHUNK)


def decompress(source: Path, target: Path) -> None:
    """Write what `compress` wrote into a new file; BackupError where it is not whole."""
    try:
        with gzip.open(source, "rb") as packed, create(target) as file:
            shutil.copyfileobj(packed, file, CHUNK)
            file.flush()
            os.fsync(file.fileno())
    except (EOFError, gzip.BadGzipFile) as error:
        raise BackupError(f"{source.name} is not whole: {error}") from error


def names_below(folder: Path) -> list[str]:
    """Return the files below a folder by their path in it; none where there is no folder."""
    found: list[str] = []
    for at, _, names in os.walk(folder):
        inside = Path(at).relative_to(folder)
        found += [(inside / name).as_posix() for name in names]
    return sorted(found)


def pack(target: Path, files: Iterable[tuple[Path, str]]) -> int:
    """Pack files under their names into a new archive; return how many.

    One that is gone meanwhile is left out, and so is whatever is not a plain file: a link could lead anywhere.
    """
    with create(target) as file:
        return _pack(file, files)


def packed(files: Iterable[tuple[Path, str]]) -> bytes:
    """Return the archive that `pack` writes."""
    file = io.BytesIO()
    _pack(file, files)
    return file.getvalue()


def _pack(file: IO[bytes], files: Iterable[tuple[Path, str]]) -> int:
    count = 0
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=LEVEL) as archive:
        for path, name in files:
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                if path.is_symlink():
                    continue
                raise

            with os.fdopen(descriptor, "rb") as content:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    continue
                member = archive.gettarinfo(arcname=name, fileobj=content)
                # A file that grows or shrinks meanwhile must not spoil the archive: its size is that of what was read.
                data = content.read()
                member.type = tarfile.REGTYPE
                member.linkname = ""
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
                count += 1
    return count


def members(archive: IO[bytes]) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield the plain files of an archive; BackupError where it is not whole, or a name leads out of its folder."""
    try:
        with tarfile.open(fileobj=archive, mode="r:gz") as opened:
            for member in opened:
                name = PurePosixPath(member.name)
                content = opened.extractfile(member)
                if content is None or name.is_absolute() or ".." in name.parts:
                    raise BackupError(f"the archive holds {member.name!r}, which cannot be put back")
                yield member, content.read()
    except (tarfile.TarError, EOFError, gzip.BadGzipFile) as error:
        raise BackupError(f"an archive is not whole: {error}") from error


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


def _known(name: str) -> str | int:
    return int(name) if name.isdecimal() else name


def processes_with(paths: Iterable[Path]) -> dict[int, Path]:
    """Return which processes of this machine have one of some files open, as far as this user may see."""
    wanted: dict[tuple[int, int], Path] = {}
    for path in paths:
        if path.exists():
            status = path.stat()
            wanted[status.st_dev, status.st_ino] = path

    found: dict[int, Path] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            opened = [(status.st_dev, status.st_ino) for link in (process / "fd").iterdir() if (status := link.stat())]
        except OSError:
            # It ended meanwhile, or is another user's.
            continue
        for place in opened:
            if place in wanted and int(process.name) != os.getpid():
                found[int(process.name)] = wanted[place]
    return found
