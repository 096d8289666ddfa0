"""The atomic release: what readers see at every step, and after every failure."""

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.errors import LeadershipLost, PublishError
from generator.release.disk import PUBLIC, SHARED, LocalDisk
from generator.release.release import Releases
from tests.support.disks import CountingDisk, FailingDisk

FILES = {"/a.json": b'{"n":1}', "/api/b.php": b'{"n":1}'}
NEW = {"/a.json": b'{"n":2}', "/api/b.php": b'{"n":1}', "/c.json": b"{}", "/d.json": b"{}"}
TILES = {"/log/tile/0/000": b"tile", "/files/2026-11.json": b"{}"}


def opened(site: Path, disk: LocalDisk | None = None) -> Releases:
    releases = Releases(site, disk)
    releases.open()
    return releases


def seen(site: Path) -> dict[str, bytes]:
    folder = site / "current"
    return {
        "/" + path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def put(site: Path) -> dict[str, bytes]:
    folder = site / "once"
    return {
        "/" + path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def modified(site: Path, path: str) -> float:
    return (site / "current" / path.lstrip("/")).stat().st_mtime


def names(site: Path) -> set[str]:
    return {folder.name for folder in (site / "releases").iterdir() if not folder.name.endswith(".old")}


def next_number(releases: Releases) -> str:
    return f"{releases.generation() + 1:012d}"


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


def test_after_a_restart_nothing_unchanged_is_written_again(tmp_path: Path) -> None:
    opened(tmp_path).publish("000000000001", FILES, now_s=100)
    disk = CountingDisk()
    releases = opened(tmp_path, disk)
    disk.counts.clear()

    releases.publish("000000000002", {**FILES, "/a.json": b'{"n":2}'}, now_s=160)

    assert disk.counts == {"write": 1, "link": 1, "sync": 1, "point": 1}


@pytest.mark.parametrize("later_s", [0.0, 0.3, -3600.0, 60.0], ids=["same instant", "same second", "back", "on"])
@pytest.mark.parametrize("restart", [False, True])
def test_the_mtime_of_a_changed_file_is_another_second_and_not_in_the_future(
    tmp_path: Path, later_s: float, restart: bool
) -> None:
    now_s = 1_800_000_000.4
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s)
    before = modified(tmp_path, "/a.json")

    releases = opened(tmp_path) if restart else releases
    releases.publish("000000000002", {**FILES, "/a.json": b'{"n":2}'}, now_s + later_s)

    after = modified(tmp_path, "/a.json")
    assert (int(before), int(after)) == (before, after)
    assert after != before
    assert after <= now_s + later_s
    assert modified(tmp_path, "/api/b.php") == min(before, int(now_s + later_s))


def test_after_a_clock_was_set_back_nothing_is_dated_ahead_and_no_date_is_reused(
    tmp_path: Path,
) -> None:
    noon = 1_800_000_000
    releases = opened(tmp_path)
    stamps: dict[float, bytes] = {}
    times = [*range(noon, noon + 600, 60), *range(noon + 86_400, noon + 87_000, 60), *range(noon, noon + 600, 60)]

    for number, now_s in enumerate(times, 1):
        text = b"%d" % number
        once = {"/files/ahead.json": b"{}"} if now_s > noon + 600 else {}
        releases.publish(f"{number:012d}", {"/a.json": text, "/style.css": b"s"}, now_s, once)
        assert stamps.setdefault(modified(tmp_path, "/a.json"), text) == text
        served = [path for root in ("current", "once") for path in (tmp_path / root).rglob("*") if path.is_file()]
        assert max(path.stat().st_mtime for path in served) <= now_s


@pytest.mark.parametrize(("releases_made", "stamp_s"), [(10_000, 0), (10_001, 1)])
def test_the_dates_of_ten_thousand_releases_are_not_given_again(
    releases_made: int, stamp_s: int, tmp_path: Path
) -> None:
    releases = opened(tmp_path)
    for second in range(1, releases_made + 1):
        releases._stamp(second)

    assert releases._stamp(2) == stamp_s


def test_when_a_clock_is_set_back_only_what_is_dated_ahead_of_it_is_dated_again(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000001", {"/old.json": b"1", "/now.json": b"1", "/ahead.json": b"1"}, now_s=100)
    releases.publish("000000000002", {"/old.json": b"1", "/now.json": b"2", "/ahead.json": b"1"}, now_s=160)
    releases.publish("000000000003", {"/old.json": b"1", "/now.json": b"2", "/ahead.json": b"3"}, now_s=161)
    before = {path: modified(tmp_path, path) for path in ("/old.json", "/now.json")}

    releases.publish("000000000004", {"/old.json": b"1", "/now.json": b"2", "/ahead.json": b"3"}, now_s=160)

    assert {path: modified(tmp_path, path) for path in before} == before == {"/old.json": 100, "/now.json": 160}
    assert modified(tmp_path, "/ahead.json") == 159


def test_a_path_that_goes_and_comes_back_is_never_dated_as_it_was_with_other_bytes(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s=1000)
    releases.publish("000000000002", {"/api/b.php": b"{}"}, now_s=1000)

    releases.publish("000000000003", {**FILES, "/a.json": b'{"n":3}'}, now_s=500)

    assert modified(tmp_path, "/a.json") < 500


def test_a_file_and_its_variants_never_share_an_mtime_with_other_bytes(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    seen_at: dict[tuple[str, float], bytes] = {}
    for number in range(1, 12):
        text = b"%d" % (number // 2)
        variants = {"/a.json.gz": b"z" + text, "/a.json.br": b"b" + text} if number % 3 else {}
        releases.publish(f"{number:012d}", {"/a.json": text, **variants}, now_s=1000)
        for path, data in {"/a.json": text, **variants}.items():
            for_text = seen_at.setdefault(("text", modified(tmp_path, path)), text)
            for_bytes = seen_at.setdefault((path, modified(tmp_path, path)), data)
            assert (for_text, for_bytes) == (text, data)


def test_readers_who_saw_a_release_whose_last_sync_failed_get_another_mtime_next(tmp_path: Path) -> None:
    disk = FailingDisk("point", done=True)
    disk.heal()
    releases = opened(tmp_path, disk)
    releases.publish("000000000001", FILES, now_s=1000)
    disk.armed = True
    with pytest.raises(PublishError, match="seen by readers"):
        releases.publish("000000000002", NEW, now_s=1060)
    before = modified(tmp_path, "/a.json")
    disk.heal()

    releases.publish("000000000003", {**NEW, "/a.json": b'{"n":3}'}, now_s=1060)

    assert modified(tmp_path, "/a.json") != before
    assert modified(tmp_path, "/c.json") == before


@pytest.mark.parametrize(
    ("step", "n"), [("write", 0), ("write", 1), ("write", 3), ("sync", 0), ("move", 0), ("point", 0)]
)
@pytest.mark.parametrize("done", [False, True], ids=["before", "done"])
def test_a_power_cut_at_any_step_leaves_a_whole_release_and_the_next_start_recovers(
    tmp_path: Path, step: str, n: int, done: bool
) -> None:
    class PowerCut(FailingDisk):
        """Nothing is tidied after the cut: what is on the disk at that step stays."""

        def _run(self, at: str, work: object, *arguments: object) -> None:
            try:
                super()._run(at, work, *arguments)
            except OSError:
                shutil.copytree(tmp_path / "site", tmp_path / "cut", symlinks=True)
                raise

    opened(tmp_path / "site").publish("000000000001", FILES, now_s=1000)
    with pytest.raises(PublishError):
        opened(tmp_path / "site", PowerCut(step, n, done=done)).publish("000000000002", NEW, now_s=1060, once=TILES)

    cut = tmp_path / "cut"
    assert seen(cut) in (FILES, NEW)
    assert set(put(cut).items()) <= set(TILES.items())
    releases = opened(cut)
    releases.publish(next_number(releases), NEW, now_s=1120, once=TILES)
    assert (seen(cut), put(cut)) == (NEW, TILES)


def test_a_link_that_cannot_be_made_is_a_copy_with_the_same_mtime(tmp_path: Path) -> None:
    releases = opened(tmp_path, FailingDisk("link", number=errno.EROFS))
    releases.publish("000000000001", FILES, now_s=1000)

    releases.publish("000000000002", {**FILES, "/a.json": b"[]"}, now_s=1060)

    assert (modified(tmp_path, "/api/b.php"), modified(tmp_path, "/a.json")) == (1000, 1060)


def test_readers_have_nothing_before_a_release_and_where_the_pointer_leads_nowhere(tmp_path: Path) -> None:
    first = opened(tmp_path)
    before = first.is_empty()
    first.publish("000000000001", FILES, now_s=0)
    shutil.rmtree(tmp_path / "releases" / "000000000001")

    assert (before, first.is_empty(), opened(tmp_path).is_empty()) == (True, False, True)


def test_debris_of_a_crash_is_swept_at_the_start(tmp_path: Path) -> None:
    debris = [tmp_path / "releases" / name for name in (".000000000007", ".000000000007.once", ".000000000001.old")]
    for folder in debris:
        folder.mkdir(parents=True)
        (folder / "half").write_bytes(b"x")

    opened(tmp_path)

    assert not any(folder.exists() for folder in debris)


def test_a_generation_is_never_used_again_when_folders_or_pointer_were_removed(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000007", FILES, now_s=1000)

    shutil.rmtree(tmp_path / "releases")
    assert opened(tmp_path).generation() == 7
    (tmp_path / "current").unlink()
    assert releases.generation() == 7
    releases.publish("000000000008", FILES, now_s=1000)

    assert seen(tmp_path) == FILES
    with pytest.raises(PublishError, match="000000000008 is there already"):
        releases.publish("000000000008", NEW, now_s=1001)


def test_old_releases_are_kept_until_ten_minutes_after_they_were_replaced(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    for number, now_s in ((1, 10_000), (2, 13_600), (3, 13_660)):
        releases.publish(f"{number:012d}", FILES, now_s)

    releases.publish("000000000004", FILES, now_s=14_200)
    kept = names(tmp_path)
    releases.publish("000000000005", FILES, now_s=14_261)
    left = names(tmp_path)

    assert kept == {f"{number:012d}" for number in (1, 2, 3, 4)}
    assert left == {f"{number:012d}" for number in (3, 4, 5)}


def test_with_the_clock_set_back_an_hour_old_releases_neither_vanish_nor_pile_up(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s=10_000)

    for number in range(2, 40):
        releases.publish(f"{number:012d}", FILES, now_s=6_400 + 60 * number)

    assert f"{29:012d}" in names(tmp_path)
    assert len(names(tmp_path)) <= 13


def test_of_releases_that_seem_to_come_from_the_future_the_newest_twelve_are_kept(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    for number in range(1, 31):
        releases.publish(f"{number:012d}", FILES, now_s=10_000 + number)

    before = names(tmp_path)
    releases.publish(f"{31:012d}", FILES, now_s=6_400)

    assert len(before) == 30
    assert names(tmp_path) == {f"{number:012d}" for number in range(20, 32)}


def test_immutable_files_lie_outside_the_release_and_are_never_written_again(tmp_path: Path) -> None:
    disk = CountingDisk()
    releases = opened(tmp_path, disk)
    releases.publish("000000000001", FILES, now_s=1000, once=TILES)
    before = {path: (tmp_path / "once" / path.lstrip("/")).stat().st_ino for path in TILES}
    disk.counts.clear()

    written = releases.publish("000000000002", FILES, now_s=1060, once={**TILES, "/log/tile/0/001": b"next"})

    assert (written, disk.counts["write"]) == (1, 1)
    assert {path: (tmp_path / "once" / path.lstrip("/")).stat().st_ino for path in TILES} == before
    assert put(tmp_path) == {**TILES, "/log/tile/0/001": b"next"}
    assert seen(tmp_path) == FILES


@pytest.mark.parametrize("restart", [False, True])
def test_other_content_for_an_immutable_path_is_counted_named_and_changes_nothing(
    tmp_path: Path, restart: bool
) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s=1000, once=TILES)
    releases = opened(tmp_path) if restart else releases

    with pytest.raises(PublishError, match=r"1 immutable files would change: /log/tile/0/000"):
        releases.publish("000000000002", NEW, now_s=1060, once={**TILES, "/log/tile/0/000": b"lie"})

    assert (seen(tmp_path), put(tmp_path)) == (FILES, TILES)


@pytest.mark.parametrize(("count", "more"), [(3, ""), (4, " …")])
def test_of_immutable_files_that_would_change_three_are_named(tmp_path: Path, count: int, more: str) -> None:
    tiles = {f"/files/{number}.json": b"{}" for number in range(count)}
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s=1000, once=tiles)

    with pytest.raises(PublishError) as refused:
        releases.publish("000000000002", FILES, now_s=1060, once=dict.fromkeys(tiles, b"lie"))

    named = f"/files/0.json, /files/1.json, /files/2.json{more}"
    assert str(refused.value) == f"{count} immutable files would change: {named}; they stay as they were written"


@pytest.mark.parametrize("there", [b"", b"ti"])
def test_an_immutable_file_that_was_cut_is_written_again(tmp_path: Path, there: bytes) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s=1000, once=TILES)
    (tmp_path / "once/log/tile/0/000").write_bytes(there)

    releases.publish("000000000002", FILES, now_s=1060, once=TILES)

    assert put(tmp_path) == TILES


@pytest.mark.parametrize("there", [b"lies", b"", None])
def test_a_damaged_file_whose_bytes_are_signed_is_written_again(tmp_path: Path, there: bytes | None) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s=1000, once=TILES)
    tile = tmp_path / "once/log/tile/0/000"
    tile.unlink()
    if there is not None:
        tile.write_bytes(there)

    releases.publish("000000000002", FILES, now_s=1060, again=TILES)

    assert put(tmp_path) == TILES


def test_who_lost_the_lease_moves_no_pointer_and_leaves_nothing_behind(tmp_path: Path) -> None:
    def lost() -> int:
        raise LeadershipLost("another generator holds the lease")

    opened(tmp_path).publish("000000000001", FILES, now_s=1000)
    releases = Releases(tmp_path, fence=lost)
    releases.open()

    with pytest.raises(LeadershipLost):
        releases.publish("000000000002", NEW, now_s=1060)

    assert seen(tmp_path) == FILES
    assert names(tmp_path) == {"000000000001"}


def test_of_two_writers_without_a_lease_one_fails_visibly_and_never_goes_back(tmp_path: Path) -> None:
    one, two = opened(tmp_path), opened(tmp_path)
    one.publish("000000000001", FILES, now_s=1000)

    with pytest.raises(PublishError, match="another generator published 000000000001"):
        two.publish(next_number(two), NEW, now_s=1000)

    assert seen(tmp_path) == FILES
    two.publish(next_number(two), NEW, now_s=1060)
    assert seen(tmp_path) == NEW
    assert modified(tmp_path, "/api/b.php") == 1000


def test_a_new_leader_continues_from_what_the_last_one_published(tmp_path: Path) -> None:
    standby = Releases(tmp_path, fence=lambda: 2)
    standby.open()
    opened(tmp_path).publish("000000000001", FILES, now_s=1000)

    standby.publish(next_number(standby), NEW, now_s=1000)

    assert seen(tmp_path) == NEW
    assert (modified(tmp_path, "/a.json"), modified(tmp_path, "/api/b.php")) == (999, 1000)


def test_an_operator_s_site_folder_keeps_its_mode_and_hands_its_group_on(tmp_path: Path) -> None:
    tmp_path.chmod(0o2750)

    opened(tmp_path).publish("000000000001", FILES, now_s=0)

    folders = (tmp_path, tmp_path / "releases", tmp_path / "releases/000000000001/api")
    assert [oct(folder.stat().st_mode & 0o7777) for folder in folders] == ["0o2750", "0o2755", "0o2755"]


@pytest.fixture
def of_the_owner_alone() -> Iterator[None]:
    """Take every right of others away from what is made."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("of_the_owner_alone")
@pytest.mark.parametrize(("mode", "folder_mode"), [(PUBLIC, 0o755), (SHARED, 0o750)])
def test_readers_may_read_what_is_published_whatever_the_umask_says(
    tmp_path: Path, mode: int, folder_mode: int
) -> None:
    opened(tmp_path, LocalDisk(mode)).publish("000000000001", FILES, now_s=0, once=TILES)

    made = [*(tmp_path / "releases").rglob("*"), *(tmp_path / "once").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {mode}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_dir()} == {folder_mode}


@pytest.mark.usefixtures("of_the_owner_alone")
def test_rights_are_added_without_asking_for_the_set_id_bits_that_a_unit_may_not_set(tmp_path: Path) -> None:
    tmp_path.chmod(0o2750)

    opened(tmp_path).publish("000000000001", FILES, now_s=0)

    assert oct((tmp_path / "releases").stat().st_mode & 0o7777) == "0o755"


def test_what_a_crash_left_half_made_is_in_no_one_s_way(tmp_path: Path) -> None:
    (tmp_path / ".site.new").mkdir()
    site = tmp_path / "site"
    LocalDisk().folder(site)
    (site / ".current.new").symlink_to("nowhere")
    LocalDisk().folder(site / "releases")
    (site / "releases" / ".probe").touch()
    (site / "releases" / ".000000000001").mkdir()

    opened(site).publish("000000000001", FILES, now_s=0)

    assert seen(site) == FILES
    assert {path.name for path in (*tmp_path.iterdir(), *site.iterdir())} == {"site", "current", "once", "releases"}
    assert {path.name for path in (site / "releases").iterdir()} == {"000000000001"}


@pytest.mark.parametrize("step", ["write", "sync", "move", "point"])
def test_of_a_release_that_failed_nothing_is_left(tmp_path: Path, step: str) -> None:
    disk = FailingDisk(step)
    disk.heal()
    releases = opened(tmp_path, disk)
    releases.publish("000000000001", FILES, now_s=0)
    disk.armed = True

    with pytest.raises(PublishError):
        releases.publish("000000000002", NEW, now_s=60, once=TILES)

    assert {path.name for path in (tmp_path / "releases").iterdir()} == {"000000000001"}
    assert seen(tmp_path) == FILES


def test_the_number_of_a_release_that_readers_lost_is_not_given_again(tmp_path: Path) -> None:
    opened(tmp_path).publish("000000000007", FILES, now_s=0)
    shutil.rmtree(tmp_path / "releases" / "000000000007")
    releases = opened(tmp_path)

    with pytest.raises(PublishError, match="release 000000000007 not published: 000000000007 is there already"):
        releases.publish("000000000007", NEW, now_s=60)


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file where the folder should be")

    with pytest.raises(PublishError, match="site"):
        opened(tmp_path / "site")


@pytest.mark.parametrize("left", ["000000000002", ".000000000002"])
def test_a_number_that_is_taken_is_not_published_over(tmp_path: Path, left: str) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000001", FILES, now_s=0)
    (tmp_path / "releases" / left).mkdir()

    with pytest.raises(PublishError, match=r"release 000000000002 not published: \d{12} is there already"):
        releases.publish("000000000002", NEW, now_s=60)

    assert seen(tmp_path) == FILES


def test_a_number_below_the_one_that_readers_see_is_not_published(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    releases.publish("000000000005", FILES, now_s=0)

    with pytest.raises(PublishError, match="release 000000000004 not published: 000000000005 is there already"):
        releases.publish("000000000004", NEW, now_s=60)

    assert seen(tmp_path) == FILES
