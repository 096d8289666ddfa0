"""Opening a memory: new, foreign, corrupt, unreachable; of an older or newer schema: test_schema.py."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from generator.errors import MemoryUnreadable
from generator.record.memory.database import POSTGRES_ARGUMENTS, name_of, open_database
from generator.record.memory.store import Memory
from tests.support.arena_inputs import HOUR, NOON, hours, inputs_at, play_tick, store_tick
from tests.support.databases import url_in


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with ten hours in it."""
    folder = tmp_path_factory.mktemp("played")
    memory = Memory.open(url_in(folder))
    with memory.batch():
        for now in hours(NOON, 10):
            store_tick(memory, inputs_at(now))
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


def test_a_postgres_that_is_gone_holds_no_tick_up_for_long() -> None:
    assert POSTGRES_ARGUMENTS == {
        "connect_timeout": 5,  # seconds
        "tcp_user_timeout": 10_000,  # milliseconds, as the next two
        "options": "-c statement_timeout=15000 -c lock_timeout=10000",
    }


def test_a_database_of_a_server_is_named_without_its_password() -> None:
    assert name_of(make_url("postgresql://emi:secret@db.example.org/memory")) == (
        "postgresql://emi:***@db.example.org/memory"
    )
    assert name_of(make_url("sqlite:////var/lib/emi/memory.sqlite3")) == "/var/lib/emi/memory.sqlite3"
    assert name_of(make_url("sqlite://")) == ":memory:"
