"""Where backups lie: a folder, or a prefix of an object store. In both a backup is whole, or it is not there.

In a folder it is written under a name that begins with a dot and renamed at last. An object store knows no renaming:
its manifest is put last and taken away first, and what has none does not count.
"""

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Protocol

from gateway.wire.object_store import BucketUrl, is_bucket, open_store, plain_error, store_errors
from gateway.wire.space import reason_of
from generator.errors import BackupError
from generator.operate.keep import manifest
from generator.operate.keep.files import CHUNK, sync_file
from generator.operate.keep.manifest import Manifest
from generator.operate.keep.retention import is_name

REQUEST_S: Final = 120.0
RETRIES: Final = 5
RETRY_FOR_S: Final = REQUEST_S * RETRIES
STEP_BYTES: Final = 5 << 20
"""What one request sends or gets, the least that S3 takes in parts. One at a time: each has `REQUEST_S` for itself, so
that a line of 45 kB/s is enough, however large a backup is."""
DRAFT: Final = "."


class Target(Protocol):
    """Where backups lie. Every method raises BackupError where the place cannot be reached, or has no room."""

    def names(self) -> list[str]:
        """Return the names of the backups that are there, oldest first."""
        ...

    def adding(self, name: str) -> contextlib.AbstractContextManager[Path]:
        """Give a folder to fill; at the end of the block it is there as a backup, after an exception it is not."""
        ...

    def read(self, name: str, file: str, most_bytes: int) -> Iterator[bytes]:
        """Yield a file of a backup; refused at once is one that is longer, or anything but a regular file."""
        ...

    def remove(self, name: str) -> None:
        """Remove a backup."""
        ...


def manifest_of(target: Target, name: str) -> Manifest:
    """Read the manifest of a backup; BackupError where it cannot be read, or cannot be right."""
    return Manifest.of(b"".join(target.read(name, manifest.FILE, manifest.MOST_BYTES)), name)


def manifests(target: Target) -> dict[str, Manifest | None]:
    """Return the manifest of each backup that is there, oldest first; None for one that cannot be read."""
    backups: dict[str, Manifest | None] = {}
    for name in target.names():
        try:
            backups[name] = manifest_of(target, name)
        except BackupError:
            backups[name] = None
    return backups


def open_target(where: str, scratch: Path) -> Target:
    """Open the target of a path or an object store's URL; BackupError where it cannot be one.

    Args:
        where: a folder, made if absent, or `s3://bucket/prefix`, `gs://…`, `az://…`.
        scratch: folder in which a backup for an object store is made first.
    """
    if not where.strip():
        raise BackupError("the target is empty: name a folder, or s3://, gs:// or az:// (is BACKUP_TARGET set?)")
    if is_bucket(where):
        return BucketTarget(where, scratch)
    if "://" in where:
        raise BackupError(f"the target {where} is neither a folder nor s3://, gs:// or az://")
    return FolderTarget(Path(where))


class FolderTarget:
    """A folder of this machine, or one that is mounted here."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """See `Target`."""
        with self._named():
            if not self._folder.is_dir():
                return []
            return sorted(path.name for path in self._folder.iterdir() if is_name(path.name) and path.is_dir())

    @contextlib.contextmanager
    def adding(self, name: str) -> Iterator[Path]:
        """See `Target`; what an interrupted backup left is removed first."""
        draft = self._folder / f"{DRAFT}{name}"
        final = self._folder / name
        with self._named(), self._alone():
            self._clean()
            if final.exists():
                raise BackupError(f"{final} is there already: one backup a second")

            draft.mkdir(mode=0o700)
            try:
                yield draft
                # Everything else is on stable storage by now; the name comes last.
                sync_file(draft)
                draft.rename(final)
                sync_file(self._folder)
            finally:
                shutil.rmtree(draft, ignore_errors=True)

    def read(self, name: str, file: str, most_bytes: int) -> Iterator[bytes]:
        """See `Target`; a link is not followed, and nothing is waited for that a device or a pipe may say."""
        try:
            descriptor = os.open(self._folder / name / file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as content:
                # Another user's target may hold a pipe or a device under the name of a file.
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode) or status.st_size > most_bytes:
                    raise BackupError(f"backup {name}: {file} is not a regular file, or larger than it may be")
                while chunk := content.read(CHUNK):
                    yield chunk
        except OSError as error:
            raise BackupError(f"backup {name}: {file} cannot be read: {error.strerror}") from error

    def remove(self, name: str) -> None:
        """Remove a backup; renamed first, so that no half of one keeps its name."""
        with self._named():
            draft = (self._folder / name).rename(self._folder / f"{DRAFT}{name}")
            shutil.rmtree(draft)

    def _clean(self) -> None:
        for path in self._folder.iterdir():
            if path.name.startswith(DRAFT) and is_name(path.name.removeprefix(DRAFT)):
                shutil.rmtree(path)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep another backup into this folder from running meanwhile; the kernel drops the lock if we die."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise BackupError(f"another backup into {self._folder} is running") from error
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BackupError(f"{self._folder}: {reason_of(error, self._folder)}") from error


class BucketTarget:
    """A prefix of an object store; credentials come from the environment, as for the site's."""

    def __init__(self, url: str, scratch: Path, store: Any = None) -> None:
        self._scratch = scratch
        try:
            self._name = str(BucketUrl.parse(url))
            self._store = store or open_store(self._name, REQUEST_S, RETRIES, RETRY_FOR_S)
        except store_errors() as error:
            raise BackupError(f"{url.partition('?')[0]} cannot be used: {plain_error(error)}") from None

    def names(self) -> list[str]:
        """See `Target`."""
        files = self._files()
        return sorted(name for name, held in files.items() if manifest.FILE in held)

    @contextlib.contextmanager
    def adding(self, name: str) -> Iterator[Path]:
        """See `Target`; what older interrupted backups left is removed first."""
        import obstore  # noqa: PLC0415  only who has an object store pays for it

        for other, held in self._files().items():
            if other < name and manifest.FILE not in held:
                self._delete(other, held)

        folder = self._scratch / name
        folder.mkdir(mode=0o700)
        try:
            yield folder
            with self._named():
                # The manifest last: without it the others are no backup.
                for path in sorted(folder.iterdir(), key=lambda path: path.name == manifest.FILE):
                    place = f"{name}/{path.name}"
                    obstore.put(self._store, place, path, chunk_size=STEP_BYTES, max_concurrency=1)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def read(self, name: str, file: str, most_bytes: int) -> Iterator[bytes]:
        """See `Target`; in steps, since a request has to end in time as a whole."""
        import obstore  # noqa: PLC0415  as above

        place = f"{name}/{file}"
        with self._named():
            size = int(obstore.head(self._store, place)["size"])
            if size > most_bytes:
                raise BackupError(f"backup {name}: {file} is larger than it may be")
            for start in range(0, size, STEP_BYTES):
                end = min(start + STEP_BYTES, size)
                yield bytes(obstore.get_range(self._store, place, start=start, end=end))

    def remove(self, name: str) -> None:
        """See `Target`."""
        self._delete(name, self._files().get(name, []))

    def _files(self) -> dict[str, list[str]]:
        """Return the files of every backup, whole or not."""
        import obstore  # noqa: PLC0415  as above

        files: dict[str, list[str]] = {}
        with self._named():
            for page in obstore.list(self._store):
                for item in page:
                    name, _, file = item["path"].partition("/")
                    if is_name(name):
                        files.setdefault(name, []).append(file)
        return files

    def _delete(self, name: str, files: list[str]) -> None:
        import obstore  # noqa: PLC0415  as above

        with self._named():
            for file in sorted(files, key=lambda file: file != manifest.FILE):
                obstore.delete(self._store, f"{name}/{file}")

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except store_errors() as error:
            raise BackupError(f"{self._name}: {plain_error(error)}") from None
