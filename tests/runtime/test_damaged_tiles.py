"""A log tile that was damaged in the published folder: the next tick writes it again from the record."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from generator.record.published import head_of
from generator.record.verify import VerifyError, entries
from generator.runtime.app import App
from generator.runtime.tick import tick
from tests.support.clock import ManualClock
from tests.support.services import MINUTE, opened, run


def cut(tile: Path) -> None:
    tile.write_bytes(tile.read_bytes()[: tile.stat().st_size // 2])


def rot(tile: Path) -> None:
    data = tile.read_bytes()
    tile.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def tiles(site: Path) -> list[Path]:
    """Return the tiles that the published checkpoint needs: entries and hashes."""
    size = head_of((site / "current/log/checkpoint").read_bytes()).size
    return [site / f"once/log/tile/{level}/000.p/{size}" for level in ("entries", "0")]


def audit(site: Path) -> int:
    head = head_of((site / "current/log/checkpoint").read_bytes())
    return len(list(entries(lambda path: _read(site / "once" / path.lstrip("/")), head)))


def _read(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


@dataclass
class Running:
    """A generator that ticks whenever a test says so; every test leaves its tiles whole."""

    app: App
    clock: ManualClock
    runner: asyncio.Runner
    site: Path

    def tick(self) -> None:
        self.runner.run(tick(self.app, self.clock.step(MINUTE)))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    state = tmp_path_factory.mktemp("state")
    clock = ManualClock()
    with asyncio.Runner() as runner:
        opening = opened(state, clock)
        app = runner.run(opening.__aenter__())
        yield Running(app, clock, runner, state / "site")
        runner.run(opening.__aexit__(None, None, None))


@pytest.mark.parametrize("damage", [cut, rot, Path.unlink])
@pytest.mark.parametrize("level", [0, 1], ids=["entries", "hashes"])
def test_a_tick_writes_a_damaged_tile_again(running: Running, damage: Callable[[Path], None], level: int) -> None:
    running.tick()
    before = audit(running.site)
    damage(tiles(running.site)[level])
    with pytest.raises(VerifyError):
        audit(running.site)

    running.tick()

    assert audit(running.site) >= before > 0


def test_a_cut_tile_and_an_emptied_checkpoint_do_not_stop_the_next_start(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            await tick(app, clock.now())
        for tile in tiles(tmp_path / "site"):
            cut(tile)
        (tmp_path / "site/current/log/checkpoint").write_bytes(b"")

        clock.step(MINUTE)
        async with opened(tmp_path, clock) as app:
            await tick(app, clock.now())

        assert audit(tmp_path / "site") > 0

    run(work)
