"""Partial tiles go away once full ones took their place; whatever happens meanwhile, every reader still reads."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from generator.cli._log_audit import open_log
from generator.cli._published import Published
from generator.record.log.note import Checkpoint
from generator.record.log.tiles import Tile, tiles_between
from generator.record.logbook import CHECKPOINT
from generator.record.pruning import META_KEY, Pruning, full_tiles
from generator.release.partials import AllPartials, FolderPartials
from generator.runtime.tick import tick
from generator.wings.bucket.partials import BucketPartials
from generator.wings.bucket.store import StoreFault
from tests.support.arena_inputs import HOUR, MINUTE, NOON
from tests.support.buckets import FaultyBucket, memory, put
from tests.support.clock import NOON as SERVICE_NOON
from tests.support.clock import ManualClock
from tests.support.log_records import Record
from tests.support.services import opened

RELEASES, ENTRIES = 60, 5  # more than one full tile, published five entries at a time
DAY = 24 * HOUR
LATER = NOON + 40 * DAY


class Site:
    """A record whose tiles lie where a generator puts them, with the head of every release it had."""

    def __init__(self, folder: Path) -> None:
        self.record = Record(folder)
        self.heads: list[bytes] = []

    @property
    def once(self) -> Path:
        return self.record.folder / "public" / "once"

    def publish(self) -> None:
        tiles = self.record.logbook.tiles()
        files = self.record.logbook.files()
        self.record.publish()
        for path, data in tiles.items():
            target = Path(f"{self.once}{path}")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        self.heads.append(files[CHECKPOINT])
        current = self.record.folder / "public" / "current" / "log"
        current.mkdir(parents=True, exist_ok=True)
        for name in ("checkpoint", "keys.txt"):
            (current / name).write_bytes(files[f"/log/{name}"])


def grow(record: Record, release: int) -> None:
    """Append entries; what they say does not matter to tiles."""
    for number in range(ENTRIES):
        record.memory.note_log_key(NOON + release * MINUTE, f"entry {number} of release {release}")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of more than one full tile, of which every few entries were published."""
    folder = tmp_path_factory.mktemp("pruning")
    site = Site(folder)
    site.record.logbook.begin(NOON)
    for number in range(RELEASES):
        grow(site.record, number)
        site.publish()
    size, _ = site.record.memory.log_head()
    assert size > 256
    (folder / "heads").mkdir()
    for number, head in enumerate(site.heads):
        (folder / "heads" / str(number)).write_bytes(head)
    site.record.memory.close()
    return folder


@pytest.fixture
def record(played: Path, tmp_path: Path) -> Iterator[Record]:
    folder = tmp_path / "copy"
    shutil.copytree(played, folder)
    made = Record(folder)
    made.logbook.begin(LATER)
    yield made
    made.memory.close()


def public(record: Record) -> Path:
    return record.folder / "public"


def partial_files(record: Record) -> list[str]:
    once = public(record) / "once"
    return sorted(f"/{path.relative_to(once)}" for path in once.rglob("*.p/*"))


def prunable(record: Record) -> list[str]:
    return [path for path in partial_files(record) if "/000.p/" in path and "/1/" not in path]


def pruning(record: Record, grace_ms: int = DAY) -> Pruning:
    return Pruning(record.memory, FolderPartials(public(record)), grace_ms)


def prune(record: Record) -> None:
    """Let the grace pass and prune everything there is."""
    doing = pruning(record)
    for now in (LATER, LATER + DAY, LATER + DAY + MINUTE, LATER + DAY + 2 * MINUTE):
        doing.after(record.logbook.published, now)


def check_every_reader(record: Record) -> None:
    """Whoever holds a head of any release, the first or the last, proves the whole of it."""
    shown = public(record) / "current" / "log" / "checkpoint"
    newest = shown.read_bytes()
    for path in (record.folder / "heads").iterdir():
        shown.write_bytes(newest)
        head = open_log(Published(public(record)), None, None)
        earlier = Checkpoint.parse(path.read_text().partition("\n\n")[0] + "\n")
        assert len(list(head.reader.audit(earlier))) == head.checkpoint.size
        shown.write_bytes(path.read_bytes())
        old = open_log(Published(public(record)), None, None)
        assert len(list(old.reader.audit())) == earlier.size
        assert old.reader.entry(earlier.size - 1)
    shown.write_bytes(newest)


def test_partial_tiles_of_full_ones_go_and_those_of_the_edge_stay(record: Record) -> None:
    before, size = partial_files(record), record.logbook.published
    prune(record)
    left = partial_files(record)

    assert len(prunable(record)) == 0
    assert len(before) > 2 * len(left) > 0
    assert {f"/log/{tile.path}" for tile in tiles_between(0, size)} >= {
        path for path in left if f"/{size % 256}" in path
    }
    assert all("/001.p/" in path or "/tile/1/" in path for path in left)
    check_every_reader(record)


def test_nothing_goes_before_a_day_has_passed_since_a_head_had_the_full_tile(record: Record) -> None:
    before = partial_files(record)
    doing = pruning(record)
    for now in (LATER, LATER + HOUR, LATER + DAY - 1):
        doing.after(record.logbook.published, now)

    assert partial_files(record) == before


def test_a_restart_does_not_begin_the_day_anew(record: Record) -> None:
    pruning(record).after(record.logbook.published, LATER)
    record.restart()
    pruning(record).after(record.logbook.published, LATER + DAY)

    assert prunable(record) == []


def test_a_clock_that_went_back_begins_the_day_anew(record: Record) -> None:
    doing = pruning(record)
    doing.after(record.logbook.published, LATER)
    doing.after(record.logbook.published, LATER - DAY)
    doing.after(record.logbook.published, LATER - 1)
    assert prunable(record) != []
    doing.after(record.logbook.published, LATER)

    assert prunable(record) == []


def test_a_log_that_nobody_can_tell_about_loses_nothing(record: Record) -> None:
    before = partial_files(record)
    doing = pruning(record)
    for day in range(5):
        doing.after(0, LATER + day * DAY)

    assert partial_files(record) == before


def test_where_the_full_tile_is_missing_its_parts_stay(record: Record) -> None:
    for name in ("entries/000", "0/000"):
        (public(record) / "once" / "log" / "tile" / name).unlink()
    before = partial_files(record)
    prune(record)

    assert partial_files(record) == before


@pytest.mark.parametrize("seed", range(6))
def test_a_crash_after_any_file_leaves_a_log_that_reads_and_the_next_start_ends_it(record: Record, seed: int) -> None:
    pruning(record).after(record.logbook.published, LATER)
    chosen = random.Random(seed)
    gone = chosen.sample(prunable(record), chosen.randrange(len(prunable(record)) + 1))
    for path in gone:  # what a power cut in the middle leaves: some are gone, and nothing is noted
        Path(f"{public(record)}/once{path}").unlink()
    check_every_reader(record)
    record.restart()
    pruning(record).after(record.logbook.published, LATER + DAY)

    assert prunable(record) == []
    check_every_reader(record)


def test_a_crash_before_it_is_noted_repeats_what_was_done(record: Record) -> None:
    pruning(record).after(record.logbook.published, LATER)
    noted = record.memory.meta(META_KEY)
    pruning(record).after(record.logbook.published, LATER + DAY)
    assert noted is not None
    record.memory.set_meta(META_KEY, noted)
    record.restart()
    pruning(record).after(record.logbook.published, LATER + DAY + MINUTE)

    assert prunable(record) == []
    assert record.memory.meta(META_KEY) != noted


def test_what_was_pruned_is_not_put_again(record: Record) -> None:
    prune(record)
    before = partial_files(record)
    grow(record, RELEASES)
    again = record.logbook.tiles()

    assert again
    assert not [path for path in again if "/000.p/" in path and "/1/" not in path]
    assert partial_files(record) == before


def test_a_shorter_log_of_a_memory_that_was_put_back_begins_the_count_anew(record: Record) -> None:
    doing = pruning(record)
    doing.after(512, LATER)
    doing.after(512, LATER + DAY)
    doing.after(300, LATER + 2 * DAY)
    doing.after(300, LATER + 4 * DAY)
    before = partial_files(record)
    doing.after(600, LATER + 5 * DAY)

    assert partial_files(record) == before  # 600 was seen for the first time


def test_ticks_prune_the_log_that_they_publish(tmp_path: Path) -> None:
    asyncio.run(_ticks(tmp_path))

    once = tmp_path / "state" / "site" / "once" / "log" / "tile"
    assert (once / "entries" / "000").is_file()
    assert list(once.glob("*/001.p/*"))
    assert [path.parent.parent.name for path in once.glob("*/000.p/*")] == ["1"]  # of a level that is not full yet


async def _ticks(folder: Path) -> None:
    clock = ManualClock(SERVICE_NOON + timedelta(seconds=5))
    async with opened(folder / "state", clock) as app:
        await tick(app, clock.now())
        assert list((folder / "state" / "site" / "once").glob("log/tile/*/000.p/*"))
        for number in range(300):
            app.record.memory.note_log_key(int(clock.now().timestamp() * 1000), f"entry {number}")
        await tick(app, clock.step(timedelta(minutes=1)))
        await tick(app, clock.step(timedelta(hours=24)))


# An object store


def uploaded(record: Record) -> FaultyBucket:
    bucket = memory()
    once = public(record) / "once"
    for path in once.rglob("*"):
        if path.is_file():
            put(bucket, f"once/{path.relative_to(once)}", path.read_bytes())
    return FaultyBucket(bucket)


def left_in(bucket: FaultyBucket) -> list[str]:
    return [path for path in bucket.inner.files("once") if "/000.p/" in path and "/1/" not in path]


def test_an_object_store_and_the_copy_beside_it_are_pruned_alike(record: Record) -> None:
    bucket = uploaded(record)
    there = len(bucket.inner.files("once"))
    doing = Pruning(record.memory, AllPartials([BucketPartials(bucket), FolderPartials(public(record))]), DAY)
    for now in (LATER, LATER + DAY):
        doing.after(record.logbook.published, now)

    assert (left_in(bucket), prunable(record)) == ([], [])
    assert "once/log/tile/entries/000" in bucket.inner.files("once")
    assert 0 < len(bucket.inner.files("once")) < there


def test_a_store_that_fails_is_asked_again_and_loses_nothing_else(record: Record) -> None:
    bucket = uploaded(record)
    doing = Pruning(record.memory, BucketPartials(bucket), DAY)
    doing.after(record.logbook.published, LATER)
    bucket.reads_fail = True
    doing.after(record.logbook.published, LATER + DAY)
    assert left_in(bucket) != []
    bucket.reads_fail = False
    doing.after(record.logbook.published, LATER + DAY + MINUTE)

    assert left_in(bucket) == []


def test_a_store_without_the_full_tile_keeps_its_parts(record: Record) -> None:
    bucket = uploaded(record)
    bucket.inner.delete(["once/log/tile/0/000"])
    doing = Pruning(record.memory, BucketPartials(bucket), DAY)
    for now in (LATER, LATER + DAY):
        doing.after(record.logbook.published, now)

    assert any("/tile/0/000.p/" in path for path in left_in(bucket))
    assert not any("/entries/000.p/" in path for path in left_in(bucket))


def test_a_store_s_fault_is_an_oserror() -> None:
    class Down(FaultyBucket):
        def files(self, prefix: str) -> dict[str, int]:
            raise StoreFault("away")

    with pytest.raises(OSError, match="away"):
        BucketPartials(Down(memory())).drop("/log/tile/0/000.p", "/log/tile/0/000")


# Which tiles


def test_a_level_above_becomes_full_with_its_last_tile() -> None:
    assert list(full_tiles(0, 255)) == []
    assert list(full_tiles(0, 256)) == [Tile(None, 0), Tile(0, 0)]
    assert list(full_tiles(65_280, 65_536)) == [Tile(None, 255), Tile(0, 255), Tile(1, 0)]


def test_every_tile_of_a_log_is_named_once() -> None:
    named = [tile for old in range(0, 65_536 * 2, 256) for tile in full_tiles(old, old + 256)]

    assert len(named) == len(set(named)) == 512 + 512 + 2
    assert set(named) == {tile for tile in tiles_between(0, 65_536 * 2) if tile.width == 256}
