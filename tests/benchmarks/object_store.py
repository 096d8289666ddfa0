"""Measure publishing to an object store. Run: python -m tests.benchmarks.object_store.

The store is moto, a Python process on this machine: its milliseconds say little about a cloud's. What counts are the
requests of a tick, which are what a cloud bills, and whether a server-side copy is any quicker than putting again.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Final

import obstore

from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from generator.wings.bucket.store import UPLOADS_AT_ONCE, Bucket, open_bucket
from tests.outside.object_stores import MISSING, Store, object_store
from tests.support.clock import ManualClock
from tests.support.services import opened

OBJECTS: Final = 160
BYTES: Final = 4_000
TURNS: Final = 5
TICKS: Final = 23  # the last ones prune releases replaced ten minutes before, and the 21st snapshot


def main() -> None:
    """Print both measurements."""
    if MISSING:
        sys.exit(MISSING)
    with tempfile.TemporaryDirectory() as folder, object_store(Path(folder)) as store:
        os.environ.update(store.environment)
        asyncio.run(_ticks(store, Path(folder) / "state"))
        os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{store.upstream}"  # without the proxy
        opened_bucket = open_bucket("s3://market/copies")
        assert isinstance(opened_bucket, Bucket)
        _put_or_copy(opened_bucket)


async def _ticks(store: Store, state: Path) -> None:
    """Count the requests of each tick of a whole generator, and time it."""
    settings = GeneratorSettings(state_dir=state, site_url="s3://market/site", vault_url="s3://market/vault")
    clock = ManualClock()
    async with opened(state, clock, settings, background=True, days=3) as app:
        for number in range(TICKS):
            before, began = Counter(store.requests), time.perf_counter()
            report = await tick(app, clock.now())
            took_ms = 1_000 * (time.perf_counter() - began)
            asked = ", ".join(f"{name} {n}" for name, n in sorted((store.requests - before).items()))
            print(f"tick {number + 1}: {report.files} files, {asked}, {took_ms:.0f} ms in all", flush=True)
            clock.step(timedelta(minutes=1))


def _put_or_copy(bucket: Bucket) -> None:
    """Compare putting every object of a release again with copying it from the last release, turn about."""
    data = os.urandom(BYTES)
    took: dict[str, list[float]] = {"put": [], "copy": []}
    _all(lambda n: bucket.create(f"from/{n}", data, {}))
    for turn in range(TURNS):
        took["put"].append(_all(lambda n, turn=turn: bucket.create(f"put-{turn}/{n}", data, {})))  # type: ignore[misc]
        took["copy"].append(
            _all(lambda n, turn=turn: obstore.copy(bucket._store, f"from/{n}", f"copy-{turn}/{n}"))  # type: ignore[misc]
        )
    for name, times in took.items():
        print(
            f"{name}: {OBJECTS} objects of {BYTES} bytes, {UPLOADS_AT_ONCE} at once: median {statistics.median(times):.0f} ms"
        )


def _all(work: Callable[[int], object]) -> float:
    began = time.perf_counter()
    with ThreadPoolExecutor(UPLOADS_AT_ONCE) as pool:
        list(pool.map(work, range(OBJECTS)))
    return 1_000 * (time.perf_counter() - began)


if __name__ == "__main__":
    main()
