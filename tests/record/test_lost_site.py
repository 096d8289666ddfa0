"""A site that was lost: the record is published again in steps, and readers never see a head without its tiles."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.record.audit.entries import entry
from generator.record.keys import read_keys
from generator.record.log.note import Checkpoint
from generator.record.log.tiles import WIDTH, tiles_between, unbundle
from generator.record.memory import log
from generator.record.published import CHECKPOINT, RecordFiles, head_of
from generator.record.verify import VerifyError, entries
from tests.support import rfc6962
from tests.support.arena_inputs import MINUTE, NOON
from tests.support.log_records import Record

ENTRIES = 3_000
STEP = 2 * WIDTH
MOST_TILES = 5  # of a step: two of entries, two of hashes, one of the level above


def lengthen(record: Record, count: int) -> None:
    """Add entries to the log, as years of ticks do."""
    with record.memory.writing() as connection:
        entries = [entry("clock.stepped", NOON, before=str(number)) for number in range(count)]
        log.append(connection, log.load_edge(connection), entries)
    record.restart()
    record.published.begin(NOON + MINUTE)


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    """A log of three thousand entries, of which nothing is published."""
    made = Record(tmp_path, step=STEP)
    made.play([NOON])
    lengthen(made, ENTRIES)
    yield made
    made.memory.close()


def release(record: Record) -> RecordFiles:
    """Publish what one release holds: immutable files first."""
    files = record.published.prepare()
    record.write({**files.immutable, **files.in_release})
    record.done(files)
    return files


def releases(record: Record) -> list[RecordFiles]:
    """Publish until the head of the whole log is out."""
    made = [release(record)]
    while not made[-1].checkpoint or head_of(made[-1].checkpoint).size < record.log_size:
        made.append(release(record))
    return made


def missing_tiles(record: Record) -> list[str]:
    """Return the tiles that the published head needs and that are not there."""
    size = head_of((record.site / CHECKPOINT.lstrip("/")).read_bytes()).size
    return [tile.path for tile in tiles_between(0, size) if not (record.site / "log" / tile.path).exists()]


def test_a_release_holds_a_bounded_number_of_the_tiles_that_readers_lack(record: Record) -> None:
    made = releases(record)

    counts = [len(files.immutable) for files in made]
    assert len(counts) == -(-record.log_size // STEP) == 6
    assert max(counts) <= MOST_TILES
    assert missing_tiles(record) == []


def test_the_head_is_published_with_the_last_of_its_tiles_and_none_before(record: Record) -> None:
    *steps, last = releases(record)

    assert [files.in_release for files in steps] == [{}] * 5
    assert {files.digest for files in steps} == {None}
    signer = read_keys(record.key_file)[0].verifier
    head = Checkpoint.open(last.checkpoint, [signer])
    bundles = sorted((record.site / "log/tile/entries").glob("[0-9][0-9][0-9]"))
    rest = record.read(f"tile/entries/{head.size // WIDTH:03d}.p/{head.size % WIDTH}")
    entries = [data for bundle in (*(path.read_bytes() for path in bundles), rest) for data in unbundle(bundle)]
    assert head.root == rfc6962.mth(entries)


def test_readers_keep_the_head_that_they_have_until_the_next_one_has_its_tiles(tmp_path: Path) -> None:
    record = Record(tmp_path, step=STEP)
    record.play([NOON])
    before = release(record).checkpoint
    lengthen(record, ENTRIES)

    *steps, last = releases(record)

    assert [files.checkpoint for files in steps] == [before] * 5
    assert head_of(last.checkpoint).size > ENTRIES
    assert missing_tiles(record) == []
    record.memory.close()


@pytest.mark.parametrize("noted", [False, True], ids=["before it was noted", "after"])
def test_a_death_on_the_way_is_finished_by_the_next_start(record: Record, noted: bool) -> None:
    release(record)
    files = record.published.prepare()
    record.write(files.immutable)
    if noted:
        record.done(files)
    written = {path: path.stat().st_mtime_ns for path in (record.site / "log").rglob("*") if path.is_file()}

    record.restart()
    record.published.begin(NOON + MINUTE)
    counts = [len(files.immutable) for files in releases(record)]

    assert max(counts) <= MOST_TILES
    assert missing_tiles(record) == []
    assert written.keys() <= {path for path in (record.site / "log").rglob("*") if path.is_file()}


def test_entries_that_are_made_on_the_way_are_in_the_head_as_well(record: Record) -> None:
    release(record)
    record.play([NOON + 55 * MINUTE])
    size = record.log_size

    made = releases(record)

    assert head_of(made[-1].checkpoint).size == size
    assert missing_tiles(record) == []


def test_months_that_were_given_away_are_closed_again_and_so_given_away_again(record: Record) -> None:
    record.memory.note_months({"2026-10": "[]", "2026-11": "[]"})
    release(record)

    record.published.resume(b"unreadable")
    kept = dict(record.memory.exports().notes())
    record.published.resume(None)

    assert list(kept) == ["2026-10", "2026-11"]
    assert record.memory.exports().notes() == {}


def test_behind_a_checkpoint_that_is_larger_than_the_log_every_tile_is_published(record: Record) -> None:
    signer = read_keys(record.key_file)[0]
    larger = Checkpoint(signer.verifier.name, record.log_size + WIDTH, bytes(32))
    record.published.resume(larger.signed([signer]))

    for _ in range(record.log_size // STEP + 1):
        last = release(record)

    assert head_of(last.checkpoint).size == record.log_size
    assert missing_tiles(record) == []


def test_a_reader_of_the_log_finds_a_wrong_hash_on_every_level_of_its_tiles(record: Record) -> None:
    def read(path: str) -> bytes | None:
        file = record.site / path.lstrip("/")
        return file.read_bytes() if file.exists() else None

    head = head_of(releases(record)[-1].checkpoint)
    tiles = [tile for tile in tiles_between(0, head.size) if tile.level is not None]

    assert len(list(entries(read, head))) == head.size
    assert {tile.level for tile in tiles} == {0, 1}
    for tile in tiles:
        file = record.site / "log" / tile.path
        content = file.read_bytes()
        file.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        with pytest.raises(VerifyError, match=f"^{tile.path} does not hold the hashes that follow from the entries$"):
            list(entries(read, head))
        file.write_bytes(content)
