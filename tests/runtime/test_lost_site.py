"""A site that was lost under a running record: every tick publishes, and the log follows in steps."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.catalog.endpoints import ENDPOINTS
from generator.record.keys import name_of
from generator.record.published import CHECKPOINT, PublishedRecord, head_of
from generator.record.verify import entries
from generator.release.bucket.site import BucketSite
from generator.release.release import Releases
from generator.runtime.app import App
from generator.runtime.startup import _resume
from generator.runtime.tick import tick
from tests.support.buckets import FaultyBucket, memory
from tests.support.clock import ManualClock
from tests.support.services import MINUTE, opened, run

FREE = [endpoint.path for endpoint in ENDPOINTS]


class Folder:
    """A site folder."""

    def __init__(self, state: Path) -> None:
        self._site = state / "site"

    def store(self) -> Releases:
        releases = Releases(self._site)
        releases.open()
        return releases

    def lose(self) -> None:
        self._site.rename(self._site.with_name("lost"))

    def tile(self, path: str) -> bytes | None:
        file = self._site / "once" / path.lstrip("/")
        return file.read_bytes() if file.exists() else None


class ObjectStore:
    """The prefix of an object store."""

    def __init__(self, _state: Path) -> None:
        self.lose()

    def store(self) -> BucketSite:
        return BucketSite(self.bucket, "a")

    def lose(self) -> None:
        self.bucket = FaultyBucket(memory())

    def tile(self, path: str) -> bytes | None:
        found = self.bucket.get(f"once{path}")
        return None if found is None else found.data


def again(app: App, place: Folder | ObjectStore) -> PublishedRecord:
    """Start again on what is published at a place, one entry of the log a release."""
    settings, memory = app.settings, app.record.memory
    app.publisher.releases = place.store()
    app.record.published = PublishedRecord(
        memory, settings.log_key_path, name_of(settings.origin), "simulated", made_if_missing=True, step=1
    )
    _resume(app)
    return app.record.published


@pytest.mark.parametrize("kind", [Folder, ObjectStore])
def test_every_tick_publishes_and_the_head_never_precedes_its_tiles(
    tmp_path: Path, kind: Callable[[Path], Folder | ObjectStore]
) -> None:
    sizes: list[int | None] = []

    async def work() -> None:
        clock, place = ManualClock(), kind(tmp_path)
        async with opened(tmp_path, clock, hours=2) as app:
            app.publisher.releases = place.store()
            for _ in range(3):
                await tick(app, clock.step(MINUTE * 20))
            place.lose()
            again(app, place)
            while not sizes or sizes[-1] is None:
                if len(sizes) == 1:
                    again(app, place)  # a death on the way
                await tick(app, clock.step(MINUTE))
                shown = app.publisher.releases.shown([*FREE, CHECKPOINT])
                head = shown.pop(CHECKPOINT, None)
                assert len([json.loads(body) for body in shown.values()]) == len(FREE)
                sizes.append(None if head is None else len(list(entries(place.tile, head_of(head)))))

    run(work)

    *before, last = sizes
    assert len(before) > 3
    assert last == len(before)  # the first step was made twice


def test_a_store_that_does_not_answer_at_the_start_was_not_lost(tmp_path: Path) -> None:
    async def work() -> None:
        clock, place = ManualClock(), ObjectStore(tmp_path)
        async with opened(tmp_path, clock) as app:
            app.record.memory.note_months({"2026-10": "[]"})
            place.bucket.reads_fail = True
            again(app, place)
            kept = app.record.memory.exports().notes()
            place.bucket.reads_fail = False
            again(app, place)

            assert list(kept) == ["2026-10"]
            assert app.record.memory.exports().notes() == {}

    run(work)
