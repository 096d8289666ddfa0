"""Partial tiles of the log in the site's folder: they go a day after their full tile, whatever happens meanwhile."""

from pathlib import Path

import pytest

from generator.release.release import Releases

FILES = {"/a.json": b"{}"}
FULL = "/log/tile/0/000"
PARTIAL = {f"{FULL}.p/1": b"1", f"{FULL}.p/2": b"12"}
NEXT = {"/log/tile/0/001.p/1": b"3"}
ELSE = {"/files/2026-11.json": b"{}", "/files/a.p/1": b"not a tile"}
NOON = 1_800_000_000
HOUR, DAY = 3_600, 86_400


def opened(site: Path) -> Releases:
    releases = Releases(site)
    releases.open()
    return releases


def publish(releases: Releases, now_s: int, once: dict[str, bytes] | None = None) -> None:
    releases.publish(f"{releases.generation() + 1:012d}", FILES, now_s, once or {})


def there(site: Path) -> set[str]:
    folder = site / "once"
    return {"/" + path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def filled(site: Path) -> Releases:
    """Return a site in which a tile became full at noon."""
    releases = opened(site)
    publish(releases, NOON - HOUR, {**PARTIAL, **ELSE})
    publish(releases, NOON, {FULL: b"123", **NEXT})
    return releases


@pytest.mark.parametrize("restart", [False, True])
def test_partial_tiles_go_a_day_after_their_full_tile_and_nothing_else_does(tmp_path: Path, restart: bool) -> None:
    releases = filled(tmp_path)
    publish(releases, NOON + DAY - 1)
    before = there(tmp_path)
    releases = opened(tmp_path) if restart else releases

    publish(releases, NOON + DAY)

    assert before == {FULL, *PARTIAL, *NEXT, *ELSE}
    assert there(tmp_path) == {FULL, *NEXT, *ELSE}


def test_a_partial_tile_without_its_full_tile_stays_however_old(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    publish(releases, NOON, PARTIAL)

    publish(releases, NOON + 1000 * DAY)

    assert there(tmp_path) == set(PARTIAL)


def test_a_clock_set_back_begins_the_day_again(tmp_path: Path) -> None:
    releases = filled(tmp_path)
    publish(releases, NOON - 10 * DAY)

    publish(releases, NOON - 9 * DAY - 1)
    before = there(tmp_path)
    publish(releases, NOON - 9 * DAY)

    assert before >= set(PARTIAL)
    assert there(tmp_path) == {FULL, *NEXT, *ELSE}


def test_a_clock_set_ahead_ends_the_day_early_and_the_full_tile_is_there(tmp_path: Path) -> None:
    releases = filled(tmp_path)

    publish(releases, NOON + 30 * DAY)

    assert there(tmp_path) == {FULL, *NEXT, *ELSE}


def test_a_death_between_taking_away_and_removing_is_finished_by_the_next_start(tmp_path: Path) -> None:
    publish(filled(tmp_path), NOON + HOUR)
    taken = tmp_path / "releases" / ".log-tile-0-000.p.old"
    (tmp_path / "once/log/tile/0/000.p").rename(taken)

    publish(opened(tmp_path), NOON + 2 * DAY)

    assert not taken.exists()
    assert there(tmp_path) == {FULL, *NEXT, *ELSE}


def test_a_folder_that_cannot_be_taken_away_fails_no_tick_and_goes_later(tmp_path: Path) -> None:
    releases = filled(tmp_path)
    blocked = tmp_path / "releases" / ".log-tile-0-000.p.old" / "in the way"
    blocked.mkdir(parents=True)

    publish(releases, NOON + DAY)
    before = there(tmp_path)
    blocked.rmdir()
    publish(releases, NOON + DAY + 60)

    assert before >= set(PARTIAL)
    assert there(tmp_path) == {FULL, *NEXT, *ELSE}


def test_of_many_days_only_the_partial_tiles_of_the_last_are_there(tmp_path: Path) -> None:
    releases = opened(tmp_path)
    for hour in range(24 * 5):
        index, width = divmod(hour + 1, 10)
        tile = f"/log/tile/0/{index:03d}.p/{width}" if width else f"/log/tile/0/{index - 1:03d}"
        publish(releases, NOON + hour * HOUR, {tile: b"%d" % hour})

    left = [path for path in there(tmp_path) if ".p/" in path]
    assert {path[12:15] for path in left} == {"009", "010", "011"}
