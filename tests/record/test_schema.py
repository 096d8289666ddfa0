"""A memory of an earlier schema is brought to today's, one of today's is stamped, any other is refused untouched."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, event, inspect

from gateway.wire.notes import Chances
from generator.catalog.words import Prediction
from generator.errors import MemoryUnreadable
from generator.record.memory import tables as t
from generator.record.memory.schema import MIGRATIONS, OLDEST, bring_up_to_date
from generator.record.memory.store import Memory
from tests.support.arena_inputs import HOUR, MINUTE, NOON, Vote, hours, inputs_at, play_tick, store_tick
from tests.support.databases import url_in

LATER_COLUMNS = ("chances_kind",)
DAILY_CLOSE = ("base_price", "closing_brain", "closing_usual")
# What takes a memory of today to that of commit fac0d958.
BEFORE_FAIR_PLAY = (
    *(f"ALTER TABLE daily_questions DROP COLUMN {name}" for name in DAILY_CLOSE),
    "ALTER TABLE daily_answers DROP COLUMN saved",
    "ALTER TABLE rounds DROP COLUMN closing",
    *(f"ALTER TABLE voters DROP COLUMN {name}" for name in ("since_ms", "by_hits", "by_chances")),
    "ALTER TABLE voters ADD COLUMN squares BIGINT",
    "UPDATE memory_version SET version_num = '19'",
    "UPDATE meta SET value = '19' WHERE key = 'schema_version'",
)
# And to that of commit 78f9e24c.
UNDONE = (
    *BEFORE_FAIR_PLAY,
    *(f"DROP TABLE {name}" for name in ("venues", "sealed", "bars")),
    *(f"ALTER TABLE {name} DROP COLUMN chances_kind" for name in ("rounds", "predictions", "hours")),
    "ALTER TABLE regime_history DROP COLUMN confidence_kind",
    "ALTER TABLE hours DROP COLUMN situation",
    f"UPDATE memory_version SET version_num = '{OLDEST}'",
    f"UPDATE meta SET value = '{OLDEST}' WHERE key = 'schema_version'",
)


def config() -> Config:
    """Return the migrations as Alembic reads them."""
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS))
    made.attributes["version_table"] = t.stamp.name
    return made


def run_sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def schema_of(path: Path) -> tuple[str, str]:
    """Return what Alembic's table says, and what programs from before it read."""
    with closing(sqlite3.connect(path)) as connection:
        [stamped] = connection.execute("SELECT version_num FROM memory_version").fetchall()
        [noted] = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchall()
    return stamped[0], noted[0]


def make_older(path: Path) -> None:
    """Leave a memory as commit 78f9e24c had it."""
    run_sql(path, *UNDONE)


def rows_of(path: Path) -> list[tuple[object, ...]]:
    """Return the predictions without what later schemas know of them."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        kept = [dict(row) for row in connection.execute("SELECT * FROM predictions ORDER BY id")]
    return [tuple(value for name, value in row.items() if name not in LATER_COLUMNS) for row in kept]


def differences(engine: Engine) -> list[object]:
    """Return in what a database differs from the tables of this program."""
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": t.stamp.name})
        found: list[object] = compare_metadata(context, t.metadata)
    return found


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


def make_oldest(engine: Engine) -> None:
    """Make the tables of the oldest schema that is upgraded."""
    oldest = config()
    with engine.begin() as connection:
        oldest.attributes["connection"] = connection
        command.upgrade(oldest, OLDEST)


def test_the_newest_migration_and_the_oldest_are_those_that_the_program_names() -> None:
    script = ScriptDirectory.from_config(config())

    assert (script.get_heads(), script.get_bases()) == ([t.SCHEMA_VERSION], [OLDEST])


def test_a_memory_that_was_migrated_has_the_tables_and_indexes_of_a_new_one(tmp_path: Path) -> None:
    engine = create_engine(url_in(tmp_path))
    make_oldest(engine)

    Memory.open(url_in(tmp_path)).close()

    assert differences(engine) == []
    engine.dispose()


def test_a_new_memory_notes_its_schema_twice(filled: Path) -> None:
    assert schema_of(filled) == (t.SCHEMA_VERSION, t.SCHEMA_VERSION)


def test_a_memory_of_the_oldest_schema_keeps_its_rows_and_has_todays_tables(tmp_path: Path, filled: Path) -> None:
    make_older(filled)
    before = rows_of(filled)

    Memory.open(url_in(tmp_path)).close()

    assert rows_of(filled) == before
    assert schema_of(filled) == (t.SCHEMA_VERSION, t.SCHEMA_VERSION)
    engine = create_engine(url_in(tmp_path))
    assert differences(engine) == []
    engine.dispose()


def test_what_voters_saved_is_made_again_from_their_ballots(tmp_path: Path) -> None:
    """Two days of words and chances, some left out; the migration gives what each tick had counted."""
    memory = Memory.open(url_in(tmp_path))
    for hour in range(30):
        now = NOON + hour * HOUR
        store_tick(memory, inputs_at(now))
        subject = f"BTC-{datetime.fromtimestamp((now + HOUR) / 1000, UTC):%Y%m%d-%H0000}"
        said = [Vote(subject, by=0, chances=Chances(55, 30, 15)), Vote(subject, Prediction.BEARISH, by=1)]
        votes = said[: 1 + hour % 2]
        if hour > 20:
            votes.append(Vote(subject, by=2, chances=Chances(20, 60, 20)))
        store_tick(
            memory, replace(inputs_at(now + MINUTE), ballots=tuple(vote.but(at_ms=now).file() for vote in votes))
        )
    memory.close()
    path = tmp_path / "memory.sqlite3"
    before = voters_of(path)
    run_sql(path, *BEFORE_FAIR_PLAY)

    Memory.open(url_in(tmp_path)).close()

    assert len(before) == 3
    assert voters_of(path) == before


def voters_of(path: Path) -> dict[str, dict[str, object]]:
    """Return the voters with all that is known of each."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return {row["address"]: dict(row) for row in connection.execute("SELECT * FROM voters")}


def test_a_program_below_a_folder_with_a_percent_sign_migrates(tmp_path: Path, filled: Path) -> None:
    make_older(filled)
    elsewhere = Path(shutil.copytree(MIGRATIONS, tmp_path / "50%off"))
    engine = create_engine(url_in(tmp_path))

    with engine.begin() as connection:
        present = set(inspect(connection).get_table_names())
        bring_up_to_date(connection, "memory", present, elsewhere)

    assert schema_of(filled) == (t.SCHEMA_VERSION, t.SCHEMA_VERSION)
    assert differences(engine) == []
    engine.dispose()


NEWER = (
    f"newer than {t.SCHEMA_VERSION}, the newest that this program knows: install the version that wrote it, "
    "or restore the backup made before that upgrade"
)
OTHER = f"this program knows {t.SCHEMA_VERSION}: run the version that wrote it, or move it away to start again"
OLDER = "too old for this program: start commit 78f9e24c on it once, which brings it to schema 14"
BETWEEN = "too old for this program: start commit 25b828a1 on it once, which brings it to schema 19"


@pytest.mark.parametrize(
    ("version", "way"),
    [
        *((version, OTHER) for version in ("0", "3", "abc", "07")),
        *((version, OLDER) for version in ("4", "7", "13")),
        *((version, BETWEEN) for version in ("15", "18")),
        *((version, NEWER) for version in (str(int(t.SCHEMA_VERSION) + 1), "99")),
    ],
)
@pytest.mark.parametrize("is_stamped", [True, False])
def test_another_schema_is_refused_untouched(
    tmp_path: Path, filled: Path, version: str, way: str, is_stamped: bool
) -> None:
    run_sql(filled, f"UPDATE meta SET value = '{version}' WHERE key = 'schema_version'")
    stamp = f"UPDATE memory_version SET version_num = '{version}'"
    run_sql(filled, stamp if is_stamped else "DROP TABLE memory_version")
    before = dump(filled)

    with pytest.raises(MemoryUnreadable) as caught:
        Memory.open(url_in(tmp_path))

    assert str(caught.value) == f"memory {filled} has schema version {version}, {way}; nothing was changed"
    assert dump(filled) == before


def test_a_memory_of_the_oldest_schema_continues_its_record(tmp_path: Path, filled: Path) -> None:
    make_older(filled)
    before = rows_of(filled)

    memory = Memory.open(url_in(tmp_path))

    assert rows_of(filled) == before
    resolved = memory.view(NOON).hourly_record.resolved
    assert resolved > 0
    play_tick(memory, inputs_at(NOON + 10 * HOUR + 55 * MINUTE))
    play_tick(memory, inputs_at(NOON + 11 * HOUR))
    assert play_tick(memory, inputs_at(NOON + 12 * HOUR)).hourly_record.resolved > resolved
    memory.close()


def test_a_process_that_dies_while_it_migrates_leaves_a_memory_that_opens(tmp_path: Path, filled: Path) -> None:
    make_older(filled)
    before = dump(filled)

    left = what_deaths_leave(tmp_path)

    assert len(left) > 10
    changed = [folder for folder in left if dump(folder / filled.name) != before]
    for folder in (left[len(left) // 2], *changed):
        Memory.open(url_in(folder)).close()
        assert schema_of(folder / filled.name) == (t.SCHEMA_VERSION, t.SCHEMA_VERSION)


def what_deaths_leave(folder: Path) -> list[Path]:
    """Open a memory; return what a process that ended before each of its statements would have left: its files."""
    left: list[Path] = []

    def copy(*_: object) -> None:
        copied = folder / f"before-{len(left)}"
        copied.mkdir()
        for path in folder.glob("memory.sqlite3*"):
            shutil.copy(path, copied)
        left.append(copied)

    event.listen(Engine, "before_cursor_execute", copy)
    try:
        Memory.open(url_in(folder)).close()
    finally:
        event.remove(Engine, "before_cursor_execute", copy)
    return left


def test_what_a_memory_says_of_itself_keeps_its_names() -> None:
    """Under other names a memory that exists would be taken for a new one."""
    assert (t.SCHEMA_KEY, t.FENCE_KEY, t.GENERATION_KEY) == ("schema_version", "fence", "generation")
    assert t.BEHIND_KEY == "log_may_be_behind"
