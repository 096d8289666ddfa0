"""Make the shipped month of practice again: `python -m tests.make_practice` plays a simulated month and logs it.

The month is played by the generator itself, two ticks an hour, without releases. Of its log the start prices, forecasts
over an hour and outcomes of two assets are kept, in a log of their own, signed once with a key that is thrown away: a
finished log, of which nothing can be changed any more. It holds no seals, since all of it was written at once.
"""

import asyncio
import json
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from generator.arena.practice.hours import JUDGED, STARTED, logged_hours
from generator.arena.practice.items import month_of_practice
from generator.arena.published import canonical_json
from generator.catalog.formats import iso
from generator.catalog.log_kinds import step_of
from generator.record.log.note import Checkpoint, Signer
from generator.record.log.tiles import Edge, bundle, leaf_hash, tiles_between
from generator.record.memory import log
from generator.runtime.app import App, build
from generator.runtime.market import to_ms
from generator.runtime.startup import open_market
from generator.runtime.tick import play_arena
from generator.settings import GeneratorSettings
from generator.site.resources import Resources
from tests.support.clock import ManualClock
from tests.support.services import without_background

MONTH: Final = "2026-10"
BEGIN: Final = datetime(2026, 9, 28, 23, 55, tzinfo=UTC)  # two days before the month: an item shows 48 hours
END: Final = datetime(2026, 11, 1, 1, 0, tzinfo=UTC)
SEED: Final = 20261001
ASSETS_KEPT: Final = ("BTC", "SOL")
ORIGIN: Final = "emi-practice-demo"
TARGET: Final = Resources.locate().practice
FORECAST_KEPT: Final = ("asset", "start", "probabilities", "base_rate", "move", "band_bps")
RANGES_KEPT: Final = ("low_90", "low_50", "high_50", "high_90", "last_day")
MINUTES: Final = (0, 55)  # an hour starts and ends at its turn; its forecast is made before


async def play(state: Path) -> list[bytes]:
    """Play the month and return the entries of its log."""
    clock = ManualClock(BEGIN)
    app = build(GeneratorSettings(state_dir=state, seed=SEED), clock, None)
    without_background(app)
    await open_market(app, clock.now(), lambda *_: None, 0)
    while clock.now() < END:
        if clock.now().minute in MINUTES:
            await play_one(app, clock.now())
        if clock.now().hour == clock.now().minute == 0:
            print(f"{clock.now():%Y-%m-%d}", flush=True)
        clock.step(timedelta(minutes=5))

    with app.record.memory.reading() as connection:
        size = log.load_edge(connection).size
        entries = log._entries(connection, 0, size)
    await app.aclose()
    return entries


async def play_one(app: App, at: datetime) -> None:
    """Play one tick and note it as published, as a release would."""
    observation = await app.market.observe(at)
    reading = app.market.read(observation)
    _, number = play_arena(app, observation, reading, at)
    app.record.memory.tick_done(f"{at:%Y%m%dT%H%M%SZ}", f"{number:012d}", to_ms(at), ok=True, reason=None)


def kept(entries: list[bytes], key: str) -> list[bytes]:
    """Return what practice needs of a log, for two assets, after an entry that opens it."""
    opened = {"kind": "log.opened", "at": iso(to_ms(BEGIN)), "origin": ORIGIN, "source_mode": "simulated", "key": key}
    found = [canonical_json(opened)]
    for data in entries:
        entry = json.loads(data)
        if step_of(entry) in {STARTED, JUDGED}:
            assets = {asset: slim(shown) for asset, shown in entry["assets"].items() if asset in ASSETS_KEPT}
            if assets:
                found.append(canonical_json({**entry, "assets": assets}))
    return found


def slim(shown: dict[str, Any]) -> dict[str, Any]:
    """Keep of a forecast what practice asks for: chances, base rates, the move, and the ranges over an hour."""
    if "forecast" not in shown:
        return shown
    forecast = {name: shown["forecast"][name] for name in FORECAST_KEPT}
    ranges = {name: shown["forecast"]["ranges"]["1h"][name] for name in RANGES_KEPT}
    return {**shown, "forecast": {**forecast, "ranges": {"1h": ranges}}}


def write_log(entries: list[bytes], signer: Signer, put: Callable[[str, bytes], None]) -> None:
    """Write a log whole: checkpoint, key, tiles of entries and of hashes."""
    hashes: dict[int, list[bytes]] = {0: [leaf_hash(entry) for entry in entries]}
    edge, nodes = Edge().append(hashes[0])
    put("checkpoint", Checkpoint(ORIGIN, edge.size, edge.root()).signed((signer,)))
    put("keys.txt", f"{signer.verifier.text}\n".encode())

    for node in nodes:
        hashes.setdefault(node.level + 1, []).append(node.value)

    for tile in tiles_between(0, edge.size):
        first = tile.index * 256
        if tile.level is None:
            put(tile.path, bundle(entries[first : first + tile.width]))
        else:
            put(tile.path, b"".join(hashes[tile.level][first : first + tile.width]))


def main() -> None:
    """Play the month and write it."""
    with tempfile.TemporaryDirectory() as folder:
        entries = asyncio.run(play(Path(folder) / "state"))
    write(entries)


def write(played: list[bytes]) -> None:
    """Write the log and the month's files from what was played."""
    signer = Signer.generate(ORIGIN)
    entries = kept(played, signer.verifier.text)
    month = month_of_practice(logged_hours(entries), MONTH, ORIGIN, "simulated")
    assert month is not None

    shutil.rmtree(TARGET, ignore_errors=True)

    def put(name: str, content: bytes) -> None:
        path = TARGET / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{name}: {len(content):,} bytes")

    write_log(entries, signer, lambda name, content: put(f"log/{name}", content))
    for path, content in month.files.items():
        put(path.rsplit("/", 1)[-1], content)


if __name__ == "__main__":
    main()
