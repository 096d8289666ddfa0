"""Opening a memory: new, foreign, corrupt, of another version, unreachable."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from generator.errors import MemoryUnreadable
from generator.record.memory.database import open_database
from generator.record.memory.store import Memory
from generator.record.memory.tables import SCHEMA_VERSION
from tests.support.arena_inputs import HOUR, MINUTE, NOON, hours, inputs_at, play_tick
from tests.support.databases import dump, url_in

DIED = 17


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with ten hours in it."""
    folder = tmp_path_factory.mktemp("played")
    memory = Memory.open(url_in(folder))
    with memory.batch():
        for now in hours(NOON, 10):
            play_tick(memory, inputs_at(now))
    memory.close()
    return folder / "memory.sqlite3"


@pytest.fixture
def filled(played: Path, tmp_path: Path) -> Path:
    """A copy of it in this test's folder."""
    return Path(shutil.copy(played, tmp_path / "memory.sqlite3"))


def run_sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def complaint(url: str) -> str:
    with pytest.raises(MemoryUnreadable) as caught:
        Memory.open(url)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_new_memory_is_made_with_its_folder_in_wal_mode(tmp_path: Path) -> None:
    path = tmp_path / "state" / "memory.sqlite3"

    Memory.open(f"sqlite:///{path}").close()

    assert path.parent.stat().st_mode & 0o777 == 0o700
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_what_a_tick_wrote_is_synced_to_the_disk(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    with memory._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
    memory.close()


def test_a_file_that_is_not_a_database_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    path.write_bytes(b"these are my tax papers, not a database\n" * 100)
    before = path.read_bytes()

    text = complaint(url_in(tmp_path))

    assert str(path) in text
    assert "move it away to start again" in text
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_a_torn_database_is_named_and_left_as_it_is(tmp_path: Path, filled: Path, share: float) -> None:
    content = bytearray(filled.read_bytes())
    begin = int(len(content) * share) // 4096 * 4096
    content[begin : begin + 8192] = b"\xa5" * len(content[begin : begin + 8192])
    filled.write_bytes(content)

    text = complaint(url_in(tmp_path))

    assert str(filled) in text
    assert "nothing was changed" in text
    assert filled.read_bytes() == bytes(content)


def tear(path: Path, table: str) -> None:
    """Spoil the root page of a table."""
    with closing(sqlite3.connect(path)) as connection:
        root, size = connection.execute(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : root * size] = b"\xa5" * size
    path.write_bytes(content)


def test_of_a_large_memory_only_what_every_tick_reads_is_checked(tmp_path: Path, filled: Path) -> None:
    tear(filled, "events")
    open_database(url_in(tmp_path), checked_whole=4096).dispose()
    with pytest.raises(MemoryUnreadable, match="not a readable database"):
        open_database(url_in(tmp_path))

    tear(filled, "ticks")

    with pytest.raises(MemoryUnreadable, match="not a readable database"):
        open_database(url_in(tmp_path), checked_whole=4096)


@pytest.mark.parametrize("version", ["0", "99", "abc"])
def test_another_schema_version_is_refused_untouched(tmp_path: Path, filled: Path, version: str) -> None:
    run_sql(filled, f"UPDATE meta SET value = '{version}' WHERE key = 'schema_version'")
    before = dump(url_in(tmp_path))

    assert f"has schema version {version}, this program knows {SCHEMA_VERSION}" in complaint(url_in(tmp_path))
    assert dump(url_in(tmp_path)) == before


def made_older(path: Path) -> None:
    """Take away what the schema before ranges did not have: columns, an index, and the totals that are kept."""
    lacking = [f"ALTER TABLE predictions DROP COLUMN {name}" for name in ("ranges", "moves", "due_ms")]
    version = "UPDATE meta SET value = '4' WHERE key = 'schema_version'"
    run_sql(path, "DROP INDEX predictions_by_due", "DROP TABLE running_totals", *lacking, version)


def rows_of(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        kept = [dict(row) for row in connection.execute("SELECT * FROM predictions ORDER BY id")]
    return [tuple(value for name, value in row.items() if name not in {"ranges", "moves", "due_ms"}) for row in kept]


def test_a_memory_from_before_ranges_keeps_its_record_and_continues_with_them(tmp_path: Path, filled: Path) -> None:
    made_older(filled)
    before = rows_of(filled)

    memory = Memory.open(url_in(tmp_path))

    assert rows_of(filled) == before
    assert memory.view(NOON).hourly_record.resolved > 0
    play_tick(memory, inputs_at(NOON + 10 * HOUR + 55 * MINUTE))
    play_tick(memory, inputs_at(NOON + 11 * HOUR))
    view = play_tick(memory, inputs_at(NOON + 12 * HOUR))
    assert [one.resolved for one in view.how_far] == [0, 7, 0, 0]
    assert [one.void for one in view.how_far] == [7, 0, 0, 0]
    memory.close()


def test_a_memory_without_kept_totals_gets_them_at_its_first_start(tmp_path: Path, filled: Path) -> None:
    version = "UPDATE meta SET value = '6' WHERE key = 'schema_version'"
    run_sql(filled, "DROP TABLE running_totals", "DROP INDEX ballot_sheets_due", version)

    memory = Memory.open(url_in(tmp_path))

    assert list(memory.count_again()) == [(1, 1)]
    assert list(memory.count_again()) == []
    memory.close()
    with closing(sqlite3.connect(filled)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE name = 'ballot_sheets_due'").fetchall()
    assert found == [("ballot_sheets_due",)]


def test_a_process_that_dies_while_it_migrates_leaves_a_memory_that_opens(tmp_path: Path, filled: Path) -> None:
    made_older(filled)
    before, deaths = rows_of(filled), 0

    while os.waitstatus_to_exitcode(os.waitpid(_opened_until(deaths, url_in(tmp_path)), 0)[1]) == DIED:
        deaths += 1
        assert rows_of(filled) == before

    assert deaths > 5
    Memory.open(url_in(tmp_path)).close()
    assert rows_of(filled) == before


def _opened_until(statements: int, url: str) -> int:
    """Open a memory in a process that ends before one of its statements; return its id."""
    pid = os.fork()
    if pid:
        return pid
    left = iter(range(statements))

    @event.listens_for(Engine, "before_cursor_execute")
    def die(*_: object) -> None:
        if next(left, None) is None:
            os._exit(DIED)

    Memory.open(url)
    os._exit(0)


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    run_sql(path, "CREATE TABLE customers (id INTEGER)")
    before = path.read_bytes()

    assert "another program's database" in complaint(url_in(tmp_path))
    assert path.read_bytes() == before


def test_a_folder_in_the_place_of_the_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "memory.sqlite3").mkdir()

    assert "cannot be opened" in complaint(url_in(tmp_path))


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")

    assert "its folder cannot be made" in complaint(url_in(tmp_path / "state"))


@pytest.mark.parametrize("url", ["", "not a url", "nosuchdatabase://x", "postgresql+nosuchdriver://u:secret@h/d"])
def test_a_url_that_names_no_database_is_one_line_without_secrets(url: str) -> None:
    text = complaint(url)

    assert "MEMORY_URL" in text
    assert "secret" not in text


def test_a_memory_that_another_program_holds_says_so(tmp_path: Path, filled: Path) -> None:
    with closing(sqlite3.connect(filled, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")

        assert "in use by another program" in complaint(f"{url_in(tmp_path)}?timeout=0.05")


def test_a_disk_that_is_full_loses_nothing_recorded(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    view = play_tick(memory, inputs_at(NOON))
    with memory._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    failure = None
    for now in hours(NOON + HOUR, 48):
        try:
            view = play_tick(memory, inputs_at(now))
        except MemoryUnreadable as error:
            failure = error
            break

    assert "make room; what was recorded before is kept" in str(failure)
    assert memory.view(view.events[0].at_ms).rounds == view.rounds
    memory.close()
    again = Memory.open(url_in(tmp_path))
    assert again.view(NOON).rounds == view.rounds
    again.close()
