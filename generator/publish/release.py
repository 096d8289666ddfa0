"""The atomic release: a new folder for every generation, and one pointer that moves last."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from generator.errors import PublishError
from generator.lease.fence import Fence, one_writer
from generator.publish.disk import Disk, LocalDisk
from generator.publish.values import NOTHING

KEEP_OLD_S: Final = 600
POINTER: Final = "current"


class Releases:
    """The releases below one site folder: `releases/<generation>/…` and the pointer `current`.

    A crash at any instruction leaves the pointer on a whole release: what was being written is a dot-folder, swept
    at the next start.
    """

    def __init__(self, site: Path, disk: Disk | None = None, fence: Fence = one_writer) -> None:
        self._site = site
        self._folder = site / "releases"
        self._disk: Disk = disk or LocalDisk()
        self._fence = fence
        self._last: dict[str, bytes] = {}
        self._last_folder: Path | None = None

    def open(self) -> None:
        """Create the folders, sweep the debris of a crash and remember what the last release holds.

        Raises:
            PublishError: the folder cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for debris in self._folder.glob(".*"):
                shutil.rmtree(debris, ignore_errors=True)
            probe = self._folder / ".probe"
            self._disk.write(probe, b"")
            probe.unlink()
        except OSError as error:
            raise PublishError(f"site folder {self._site}: cannot write: {error.strerror or error}") from error
        self._remember(self._current())

    def generation(self) -> int:
        """Return the highest generation ever pointed at or left behind here; 0 before the first."""
        names = [path.name for path in self._folder.iterdir() if path.name.isdigit()] if self._folder.is_dir() else []
        pointer = self._site / POINTER
        if pointer.is_symlink():
            names.append(pointer.readlink().name)
        return max((int(name) for name in names if name.isdigit()), default=0)

    def publish(
        self, generation: str, files: Mapping[str, bytes], now_s: float, once: Mapping[str, bytes] = NOTHING
    ) -> int:
        """Publish `files` (path with leading slash -> bytes) as `generation`.

        Unchanged files are hard-linked, so they keep their mtime; every other file gets a new one.

        Returns:
            How many files were written anew.

        Raises:
            PublishError: nothing changed for readers; the last release stands.
        """
        draft, final = self._folder / f".{generation}", self._folder / generation
        try:
            self._put_once(once)
            written = self._write(draft, files)
            self._disk.sync(draft)
            draft.rename(final)
            self._fence()
            self._disk.point(self._site / POINTER, f"releases/{generation}")
        except OSError as error:
            shutil.rmtree(draft, ignore_errors=True)
            raise PublishError(f"release {generation} not published: {error.strerror or error}") from error
        self._last, self._last_folder = dict(files), final
        self._prune(final, now_s)
        return written

    def _put_once(self, once: Mapping[str, bytes]) -> None:
        for path, data in once.items():
            target = self._site / "once" / path.lstrip("/")
            if not target.exists():
                self._disk.write(target, data)

    def _write(self, draft: Path, files: Mapping[str, bytes]) -> int:
        written = 0
        draft.mkdir()
        for path, data in files.items():
            target = draft / path.lstrip("/")
            if self._last_folder is not None and self._last.get(path) == data:
                self._disk.link(self._last_folder / path.lstrip("/"), target)
            else:
                self._disk.write(target, data)
                written += 1
        return written

    def _current(self) -> Path | None:
        pointer = self._site / POINTER
        folder = pointer.resolve() if pointer.is_symlink() else None
        return folder if folder is not None and folder.is_dir() else None

    def _remember(self, folder: Path | None) -> None:
        self._last_folder = folder
        self._last = {}
        if folder is None:
            return
        for path in folder.rglob("*"):
            if path.is_file():
                self._last["/" + path.relative_to(folder).as_posix()] = path.read_bytes()

    def _prune(self, current: Path, now_s: float) -> None:
        """Drop releases that no reader can still be in; failing to is no failure of the tick."""
        for folder in sorted(self._folder.iterdir()):
            try:
                old = folder != current and now_s - folder.stat().st_mtime > KEEP_OLD_S
            except OSError:
                continue
            if old:
                shutil.rmtree(folder, ignore_errors=True)
