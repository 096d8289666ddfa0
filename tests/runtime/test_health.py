"""What the generator says of itself to the watch, and when it makes no tick or does not start at all."""

import shutil
from pathlib import Path

import pytest

from generator.errors import MemoryUnreadable, RecordBehind
from generator.operate.keep.databases import Database, raise_generation
from generator.operate.watch.health import FILE, Health
from generator.record.memory.store import Memory
from generator.runtime.health import HealthFile
from generator.runtime.tick import tick
from tests.support.clock import NOON, ManualClock
from tests.support.services import MINUTE, opened, run


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with one tick in it."""
    folder = tmp_path_factory.mktemp("record") / "state"

    async def work() -> None:
        async with opened(folder, ManualClock(NOON - MINUTE)) as app:
            app.record.published.begin(0)
            await tick(app, NOON - MINUTE)

    run(work)
    return folder


@pytest.fixture
def state(record: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    shutil.copytree(record, tmp_path / "state", symlinks=True)
    return tmp_path / "state"


def lose_memory(state: Path) -> None:
    for path in state.glob("memory.sqlite3*"):
        path.unlink()


@pytest.mark.parametrize("replaced", [False, True])
def test_no_tick_is_made_into_a_memory_that_a_restart_would_not_find(state: Path, replaced: bool) -> None:
    async def work() -> None:
        async with opened(state, ManualClock()) as app:
            copy = (state / "memory.sqlite3").read_bytes()
            lose_memory(state)
            if replaced:
                (state / "memory.sqlite3").write_bytes(copy)
            before = (state / "site/current").readlink()

            with pytest.raises(MemoryUnreadable, match="removed or replaced") as raised:
                await tick(app, NOON)
            health = HealthFile(state / FILE)
            health.note_tick(app, raised.value)

        said = Health.of((state / FILE).read_bytes())
        assert said is not None
        assert "removed or replaced" in str(said.memory)
        assert (state / "site/current").readlink() == before

    run(work)


def test_the_file_says_that_all_is_well_after_a_tick_and_that_the_key_is_gone(state: Path) -> None:
    async def work() -> None:
        async with opened(state, ManualClock()) as app:
            app.record.published.begin(0)
            health = HealthFile(state / FILE)
            health.note_tick(app, None)
            assert Health.of((state / FILE).read_bytes()) == Health(at=NOON.timestamp())

            app.settings.log_key_path.unlink()
            health.note_tick(app, None)
        assert "put it back" in str(health.health.log_key)

    run(work)


def test_a_start_whose_memory_is_behind_the_published_log_is_refused(state: Path) -> None:
    lose_memory(state)

    async def work() -> None:
        with pytest.raises(RecordBehind, match=r"has 0 entries, readers have \d+.*emi restore.*--new-record"):
            async with opened(state, ManualClock(), hours=None):
                pass

    run(work)
    memory = Memory.open(f"sqlite:///{state / 'memory.sqlite3'}")
    assert memory.is_empty()
    memory.close()


def test_a_memory_of_another_record_is_refused_too(state: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path / "other", ManualClock()) as app:
            app.record.published.begin(0)
            for minute in range(3):
                await tick(app, NOON + minute * MINUTE)
        lose_memory(state)
        shutil.copy(tmp_path / "other/memory.sqlite3", state)
        async with opened(state, ManualClock()):
            pass

    with pytest.raises(RecordBehind):
        run(work)


@pytest.mark.parametrize("meant", ["restore", "--new-record"])
def test_a_restore_and_a_new_record_that_is_meant_start_and_leave_the_log(
    state: Path, tmp_path: Path, meant: str
) -> None:
    lose_memory(state)
    before = (state / "site/current/log/checkpoint").read_bytes()

    async def work() -> None:
        async with opened(tmp_path / "copy", ManualClock()) as app:
            app.record.published.begin(0)
        shutil.copy(tmp_path / "copy/memory.sqlite3", state)
        shutil.rmtree(state / "keys")
        shutil.copytree(tmp_path / "copy/keys", state / "keys")
        if meant == "restore":
            raise_generation(Database.at(state / "memory.sqlite3"), 100)

        async with opened(state, ManualClock(NOON + MINUTE), new_record=meant == "--new-record") as app:
            app.record.published.begin(0)
            await tick(app, NOON + MINUTE)
            health = HealthFile()
            health.note_tick(app, None)
        assert "nothing is added" in str(health.health.record)

    run(work)
    assert (state / "site/current/log/checkpoint").read_bytes() == before
