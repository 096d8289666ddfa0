"""The atomic release: a new folder for every generation, and one pointer that moves last."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import structlog

from gateway.wire.space import reason_of
from generator.catalog.discovery import PARTIAL_TILES_KEPT_S, full_tile
from generator.errors import PublishError
from generator.release.disk import LocalDisk
from generator.release.values import NOTHING
from generator.runtime.lease import Fence, no_fence

KEEP_OLD_S: Final = 600
KEPT_ANYWAY: Final = 2  # the newest ones stay, however far the clock was set ahead
KEPT_AT_MOST: Final = 12  # of those that seem to come from the future, after the clock was set back
POINTER: Final = "current"
NAMED: Final = 3  # of many faults, in one line
STAMPS_KEPT: Final = 10_000  # a week of releases
log = structlog.get_logger("emi.publish")


@dataclass
class _Shown:
    """What the pointer shows; a stamp is a path's mtime."""

    folder: Path | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    stamps: dict[str, int] = field(default_factory=dict)


class Releases:
    """The releases below one site folder: `releases/<generation>/…`, the pointer `current`, and `once/…`.

    A crash at any instruction leaves the pointer on a whole release: what was being written is a dot-folder, swept
    at the next start. Files of `once/` are written and durable before the release that names them, and are never
    changed; partial tiles go a day after their full tile came.
    """

    def __init__(self, site: Path, disk: LocalDisk | None = None, fence: Fence = no_fence) -> None:
        self._site = site
        self._folder = site / "releases"
        self._once = site / "once"
        self._disk = disk or LocalDisk()
        self._fence = fence
        self._shown = _Shown()
        self._known = ""  # the pointer as it was last seen or moved by us
        self._highest = 0
        self._used: dict[int, None] = {}  # stamps of late, the oldest first
        self._partial_tiles: set[Path] = set()  # folders of them
        self._sweeper = ThreadPoolExecutor(1, thread_name_prefix="sweeper")

    def open(self) -> None:
        """Create the folders, sweep the debris of a crash and remember what the last release holds."""
        try:
            for folder in (self._folder, self._once):
                self._disk.folder(folder)
            for debris in self._folder.glob(".*"):
                shutil.rmtree(debris, ignore_errors=True)
            probe = self._folder / ".probe"
            self._disk.write(probe, b"")
            probe.unlink()
            self._remember()
            self._partial_tiles = set(_partial_tiles(self._once))
        except OSError as error:
            raise PublishError(f"site folder {self._site}: cannot write: {reason_of(error, self._site)}") from error

    def generation(self) -> int:
        """Return the highest generation ever pointed at or left behind here; 0 before the first."""
        names = [path.name for path in self._folder.iterdir()] if self._folder.is_dir() else []
        self._highest = max(self._highest, *map(_number, names), _number(self._pointed()))
        return self._highest

    def is_empty(self) -> bool:
        """Return whether readers have nothing: no pointer, or one that leads nowhere."""
        return self._shown.folder is None

    def shown(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return those of `paths` that the release which readers see has.

        It only reads, so a standby may ask too, and answers nothing where the place does not answer.
        """
        folder = self._folder / self._pointed()
        files = {}
        for path in paths:
            with suppress(OSError):
                files[path] = Path(f"{folder}{path}").read_bytes()
        return files

    def publish(
        self,
        generation: str,
        files: Mapping[str, bytes],
        now_s: float,
        once: Mapping[str, bytes] = NOTHING,
        again: Mapping[str, bytes] = NOTHING,
    ) -> int:
        """Publish `files` (path with leading slash -> bytes) as `generation`, after the new ones of `once`.

        Unchanged files are hard-linked, so they keep their mtime; every other file gets one in whole seconds, as HTTP
        dates have them, that the path did not have with other bytes. None is later than `now_s`, the wall time of the
        tick in seconds. Returns how many files were written again.

        Args:
            generation: 12 digits, higher than every one before; FIRST_GENERATION where nothing was ever published.
            files: the whole release, variants included.
            once: files below `ONCE_PREFIXES`, with or without those that are already there; never rewritten, but for
                one that was cut: what is there is the beginning of its bytes, and not all of them.
            again: such files whose bytes readers can hold to a signature, so that other ones are damage: written again.

        Raises:
            PublishError, LeadershipLost: readers still see the last release. Only if the very last sync failed, they
                see the new one already, and the text says so.
        """
        try:
            with self._alone():
                written = self._publish(generation, files, now_s, once, again)
        except OSError as error:
            seen = self._known == generation
            state = "is seen by readers but may not outlast a power cut" if seen else "not published"
            raise PublishError(f"release {generation} {state}: {reason_of(error, self._site)}") from error

        self._prune(now_s)
        self._prune_partial_tiles(now_s)
        return written

    def _publish(
        self,
        generation: str,
        files: Mapping[str, bytes],
        now_s: float,
        once: Mapping[str, bytes],
        again: Mapping[str, bytes],
    ) -> int:
        self._refuse_a_rival(generation)
        new = self._to_write(once, again)
        self._date_back(int(now_s))

        shown = _Shown(self._folder / generation, dict(files), dict(self._shown.stamps))
        try:
            written = self._write(f"{self._folder}/.{generation}", shown, int(now_s))
            self._commit(generation, new, now_s)
        finally:
            self._end(generation, shown)

        self._partial_tiles |= {Path(f"{self._once}{path}").parent for path in new if full_tile(path)}
        return written + len(new)

    def _date_back(self, now_s: int) -> None:
        """After the clock was set back, date everything that is served and seems to come from the future: to now.

        An edge would give it as a Last-Modified after its own Date. What cannot be dated is left as it is.
        """
        stamps = self._shown.stamps
        if max(stamps.values(), default=now_s) <= now_s:
            return

        stamp_s = self._stamp(now_s)
        for at, _, names in os.walk(self._site):
            for name in names:
                path = Path(at, name)
                with suppress(OSError):
                    if path.stat().st_mtime > now_s:
                        os.utime(path, (stamp_s, stamp_s))

        self._shown.stamps = {path: at if at <= now_s else stamp_s for path, at in stamps.items()}

    def _stamp(self, now_s: int) -> int:
        """Return an mtime for what is new: the last second up to now that no release of late has.

        After the clock was set back the same seconds pass again, and an edge that makes its ETag of mtime and size must
        not give other bytes the one that they had.
        """
        stamp_s = next(second for second in count(now_s, -1) if second not in self._used)
        self._used[stamp_s] = None
        if len(self._used) > STAMPS_KEPT:
            del self._used[next(iter(self._used))]
        return stamp_s

    def _write(self, draft: str, shown: _Shown, now_s: int) -> int:
        """Fill the draft folder and set the stamps of what is new."""
        self._disk.folder(Path(draft))
        before = self._shown
        stamp_s = self._stamp(now_s)
        written = 0
        for path, data in shown.files.items():
            is_unchanged = before.files.get(path) == data
            if is_unchanged:
                with suppress(OSError):  # it is gone, or the file system knows no links: then it is written
                    self._disk.link(f"{before.folder}{path}", draft + path)
                    continue

            if not is_unchanged or path not in shown.stamps:
                shown.stamps[path] = stamp_s
            self._disk.write(draft + path, data, shown.stamps[path])
            written += 1
        return written

    def _commit(self, generation: str, new: Mapping[str, bytes], now_s: float) -> None:
        """Make everything durable, give it its name, and move the pointer; the order is what a crash relies on."""
        draft = self._folder / f".{generation}"
        final = self._folder / generation
        for path, data in new.items():
            self._disk.write(f"{draft}.once{path}", data, int(now_s))
            self._disk.folder(Path(f"{self._once}{path}").parent)
        os.utime(draft, (now_s, now_s))
        self._disk.sync(self._folder)

        # The release last: where it has its name, what it needs is there.
        immutable = [(f"{draft}.once{path}", f"{self._once}{path}") for path in new]
        self._disk.move([*immutable, (draft, final)])

        self._fence()
        self._disk.point(self._site / POINTER, f"releases/{generation}")

    def _end(self, generation: str, shown: _Shown) -> None:
        """Continue from what readers see now, whatever was raised, and take away what they do not see."""
        self._highest = max(self._highest, int(generation))
        left = [f".{generation}", f".{generation}.once"]
        if self._pointed() == generation:
            self._shown, self._known = shown, generation
        else:
            left.append(generation)
        for name in left:
            shutil.rmtree(self._folder / name, ignore_errors=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep another process of this machine from publishing in between; the kernel drops the lock if we die."""
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise PublishError(f"another generator is publishing into {self._site}") from error
            yield
        finally:
            os.close(descriptor)

    def _refuse_a_rival(self, generation: str) -> None:
        """Refuse a number that is taken, and to overwrite what another generator published meanwhile.

        Under a lease another one's release is a change of leaders, and the fence decides. Without one there are two
        writers where there must be one: this tick fails visibly, and the next continues from what is there.
        """
        pointed = self._pointed()
        known = self._known
        if pointed != known:
            self._remember()
            if _number(pointed) > _number(known) and self._fence() == 0:
                raise PublishError(f"another generator published {pointed} into {self._site}; run only one")

        taken = any((self._folder / f"{sign}{generation}").exists() for sign in ("", "."))
        if int(generation) <= _number(pointed) or taken:
            raise PublishError(f"release {generation} not published: {self.generation():012d} is there already")

    def _to_write(self, once: Mapping[str, bytes], again: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return what is not there, or is damaged, of the files outside of the release."""
        wanted: dict[str, bytes] = {}
        changed: list[str] = []
        for path, data in {**again, **once}.items():
            there = _bytes_of(f"{self._once}{path}")
            if there == data:
                continue

            was_cut = there is not None and data.startswith(there)
            if there is not None and not was_cut and path not in again:
                changed.append(path)
                continue
            if there is not None:
                log.warning("an immutable file was damaged; it is written again", file=path, bytes=len(there))
            wanted[path] = data

        if changed:
            names = ", ".join(sorted(changed)[:NAMED]) + (" …" if len(changed) > NAMED else "")
            raise PublishError(f"{len(changed)} immutable files would change: {names}; they stay as they were written")
        return wanted

    def _pointed(self) -> str:
        """Return the name of the release that the pointer names, empty without one."""
        try:
            return Path(os.readlink(self._site / POINTER)).name  # noqa: PTH115
        except OSError:
            return ""

    def _remember(self) -> None:
        """Read what the pointer shows."""
        self._known = name = self._pointed()
        folder = self._folder / name
        self._highest = max(self._highest, _number(name))
        if not name or not folder.is_dir():
            self._shown = _Shown()
            return

        shown = _Shown(folder)
        for at, _, names in os.walk(folder):
            for file_name in names:
                file = Path(at, file_name)
                path = "/" + file.relative_to(folder).as_posix()
                shown.files[path] = file.read_bytes()
                shown.stamps[path] = int(file.stat().st_mtime)
        self._shown = shown
        self._used |= dict.fromkeys(sorted(shown.stamps.values()))

    def _prune(self, now_s: float) -> None:
        """Drop releases that were replaced ten minutes ago; the tick does not fail if that does."""
        try:
            with os.scandir(self._folder) as entries:
                made_at = {entry.name: entry.stat().st_mtime for entry in entries if entry.name.isdigit()}
        except OSError:
            return

        newest = sorted(made_at, key=int, reverse=True)
        for place in range(KEPT_ANYWAY, len(newest)):
            # It was replaced when the one after it was made; after the clock was set back that is in the future.
            age_s = now_s - made_at[newest[place - 1]]
            is_kept = age_s <= KEEP_OLD_S if age_s >= 0 else place < KEPT_AT_MOST
            if not is_kept:
                self._drop(self._folder / newest[place], newest[place])

    def _prune_partial_tiles(self, now_s: float) -> None:
        """Drop partial tiles a day after their full tile became durable; the tick does not fail if that does.

        A day by the full tile's date, which is a tick's wall time. Set back, the clock begins the day again, because
        `_date_back` dates the tile to now. Set ahead, it ends the day early: who holds an older checkpoint then reads
        the full tile, as they do a day later.
        """
        for folder in sorted(self._partial_tiles):
            try:
                written_s = folder.with_suffix("").stat().st_mtime
            except OSError:
                continue  # it is not full yet

            if now_s - written_s >= PARTIAL_TILES_KEPT_S:
                name = "-".join(folder.relative_to(self._once).parts)
                if self._drop(folder, name) or not folder.exists():
                    self._partial_tiles.discard(folder)

    def _drop(self, folder: Path, name: str) -> bool:
        """Remove a folder; first it goes from where readers look, so that none ever finds half of it."""
        dropped = self._folder / f".{name}.old"
        try:
            folder.rename(dropped)
        except OSError:
            return False
        self._sweeper.submit(shutil.rmtree, dropped, ignore_errors=True)  # no one waits for it; a start sweeps the rest
        return True


def _partial_tiles(once: Path) -> Iterator[Path]:
    """Give the folders that hold partial tiles, without a look into them."""
    for at, folders, _ in os.walk(once):
        partial = [name for name in folders if name.endswith(".p")]
        yield from (Path(at, name) for name in partial)
        folders[:] = [name for name in folders if name not in partial]


def _bytes_of(path: str) -> bytes | None:
    """Return what a file holds, None when it is not there."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None


def _number(name: str) -> int:
    return int(name) if name.isdigit() else -1
