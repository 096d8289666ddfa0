"""A state folder with years of record in it, as a generator leaves it: memory, log, tiles, closed months."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from generator.catalog.words import SourceMode
from generator.record.keys import name_of, read_keys
from generator.record.log.note import Checkpoint
from generator.record.log.tiles import WIDTH, tiles_between
from generator.record.memory import log
from generator.record.memory.exports import Exports
from generator.record.memory.store import Memory
from generator.record.published import CHECKPOINT, KEYS, PREFIX, PublishedRecord
from generator.release.release import Releases
from generator.runtime.app import build
from generator.runtime.market import no_progress, to_ms
from generator.runtime.startup import open_market
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from generator.site.files.downloads import _close, _months_until, month_of
from tests.decade.record import Progress, Years, rows_in
from tests.support.clock import NOON, ManualClock

END: Final = NOON  # of the record; what is measured begins a minute later
TILES_AT_ONCE: Final = 64


def make(folder: Path, hours: int, progress: Progress) -> dict[str, int]:
    """Make the state of a record of so many hours up to `END`, published; return the rows of its largest tables."""
    settings = GeneratorSettings(state_dir=folder)
    begin_ms, end_ms = to_ms(END - timedelta(hours=hours)), to_ms(END)
    memory = Memory.open(settings.memory)
    try:
        origin = name_of(settings.origin)
        PublishedRecord(memory, settings.log_key_path, origin, "simulated", made_if_missing=True).begin(begin_ms)
        Years(memory, begin_ms, end_ms, settings.site_path / "once").write(progress)
        _publish_log(settings, memory)
        for _ in memory.count_again():
            pass
        memory.note_months(dict(_close_months(settings, memory.exports())))
        rows = rows_in(memory)
    finally:
        memory.close()
    asyncio.run(_publish(settings))
    return rows


def _publish_log(settings: GeneratorSettings, memory: Memory) -> None:
    """Write every full tile and the last partial ones, and a release with the head."""
    signers = read_keys(settings.log_key_path)
    with memory.reading() as connection:
        edge = log.load_edge(connection)
        for old in range(0, edge.size, TILES_AT_ONCE * WIDTH):
            for tile in tiles_between(old, min(edge.size, old + TILES_AT_ONCE * WIDTH)):
                _write(settings, PREFIX + tile.path, log.content(connection, tile))

    head = Checkpoint(signers[0].verifier.name, edge.size, edge.root()).signed(signers)
    keys = "".join(signer.verifier.text + "\n" for signer in signers).encode()
    releases = Releases(settings.site_path)
    releases.open()
    releases.publish("000000000001", {CHECKPOINT: head, KEYS: keys}, END.timestamp())


def _close_months(settings: GeneratorSettings, exports: Exports) -> Iterator[tuple[str, str]]:
    """Write the files of each month that is over, as ticks do one by one, and give its note."""
    for month in _months_until(exports.first_ms(), month_of(END)):
        closed = _close(exports, month, SourceMode.SIMULATED)
        assert closed is not None
        files, notes = closed
        for path, data in files.items():
            _write(settings, path, data)
        yield from notes.items()


def _write(settings: GeneratorSettings, path: str, data: bytes) -> None:
    """Write an immutable file."""
    target = settings.site_path / "once" / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


async def _publish(settings: GeneratorSettings) -> None:
    """Let a generator continue the record and publish its first release."""
    app = build(settings, ManualClock(END))
    try:
        await open_market(app, END, no_progress)
        await tick(app, END)
    finally:
        await app.aclose()


def size_of(folder: Path, keep: Callable[[Path], bool] = lambda _path: True) -> int:
    """Return the bytes of the files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and keep(path))
