"""The atomic release: what readers see at every step, and after every failure."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from generator.errors import PublishError
from generator.publish.disk import LocalDisk
from generator.publish.release import Releases

FILES = {"/a.json": b'{"n":1}', "/api/b.php": b'{"n":1}'}


class FailingDisk(LocalDisk):
    """Fail one kind of operation from its `n`th use on, as a full disk does."""

    def __init__(self, step: str, n: int = 0) -> None:
        self.step, self.left = step, n

    def _maybe(self, step: str) -> None:
        if step == self.step:
            if self.left == 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            self.left -= 1

    def write(self, path: Path, data: bytes) -> None:
        if path.name != ".probe":
            self._maybe("write")
        super().write(path, data)

    def link(self, source: Path, path: Path) -> None:
        self._maybe("link")
        super().link(source, path)

    def sync(self, folder: Path) -> None:
        self._maybe("sync")
        super().sync(folder)

    def point(self, link: Path, target: str) -> None:
        self._maybe("point")
        super().point(link, target)

    def replace_text(self, path: Path, data: bytes) -> None:
        self._maybe("replace")
        super().replace_text(path, data)


def opened(site: Path, disk: LocalDisk | None = None) -> Releases:
    releases = Releases(site, disk)
    releases.open()
    return releases


def seen(site: Path) -> dict[str, bytes]:
    folder = site / "current"
    return {
        "/" + path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_release_is_what_the_pointer_shows(tmp_path: Path) -> None:
    releases = opened(tmp_path)

    releases.publish("000000000001", FILES, now_s=0)

    assert seen(tmp_path) == FILES
    assert releases.generation() == 1


def test_unchanged_files_keep_their_inode_and_changed_ones_do_not(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s=0)
    before = {path: (tmp_path / "current" / path.lstrip("/")).stat() for path in FILES}

    written = releases.publish("000000000002", {**FILES, "/a.json": b'{"n":2}'}, now_s=1)

    after = {path: (tmp_path / "current" / path.lstrip("/")).stat() for path in FILES}
    assert written == 1
    assert after["/api/b.php"].st_ino == before["/api/b.php"].st_ino
    assert after["/api/b.php"].st_mtime_ns == before["/api/b.php"].st_mtime_ns
    assert after["/a.json"].st_ino != before["/a.json"].st_ino


@pytest.mark.parametrize(("step", "n"), [("write", 0), ("write", 1), ("link", 0), ("sync", 0), ("point", 0)])
def test_a_failure_at_any_step_leaves_the_last_release_and_the_next_tick_recovers(
    tmp_path: Path, step: str, n: int
) -> None:
    opened(tmp_path).publish("000000000001", FILES, now_s=0)
    new = {"/a.json": b'{"n":2}', "/api/b.php": b'{"n":1}', "/c.json": b"{}", "/d.json": b"{}"}

    with pytest.raises(PublishError, match="No space left"):
        opened(tmp_path, FailingDisk(step, n)).publish("000000000002", new, now_s=1)

    assert seen(tmp_path) == FILES
    releases = opened(tmp_path)
    number = releases.generation() + 1
    releases.publish(f"{number:012d}", new, now_s=2)
    assert seen(tmp_path) == new


def test_debris_of_a_crash_is_swept_at_the_start(tmp_path: Path) -> None:
    debris = tmp_path / "releases" / ".000000000007"
    debris.mkdir(parents=True)
    (debris / "half").write_bytes(b"x")

    opened(tmp_path)

    assert not debris.exists()


def test_a_generation_is_never_used_again_after_a_crash_before_the_pointer(tmp_path: Path) -> None:
    opened(tmp_path).publish("000000000001", FILES, now_s=0)
    (tmp_path / "releases" / "000000000002").mkdir()

    assert opened(tmp_path).generation() == 2


def test_old_releases_are_kept_ten_minutes(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s=0)
    made = (tmp_path / "releases" / "000000000001").stat().st_mtime

    releases.publish("000000000002", FILES, now_s=made + 599)
    kept = {folder.name for folder in (tmp_path / "releases").iterdir()}
    releases.publish("000000000003", FILES, now_s=made + 700)
    left = {folder.name for folder in (tmp_path / "releases").iterdir()}

    assert kept == {"000000000001", "000000000002"}
    assert "000000000001" not in left


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file where the folder should be")

    with pytest.raises(PublishError, match="site"):
        opened(tmp_path / "site")
