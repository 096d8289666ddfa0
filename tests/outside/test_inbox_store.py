"""Ballots dropped into a real S3 server process, by the program's own command, and counted by a whole generator."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from generator.arena.signing import sign_ballot
from generator.catalog.words import Prediction
from generator.cli._ballot import arena_address, drop_into_store, find_open_round
from generator.inbox.bucket import BucketInbox
from generator.runtime.app import App
from generator.runtime.tick import tick
from generator.settings import ArenaSettings, GeneratorSettings
from generator.wings.bucket.shelf import BucketShelf
from tests.outside.object_stores import MISSING, Store, Trouble, object_store
from tests.support.arena_inputs import GENESIS, voter
from tests.support.clock import ManualClock
from tests.support.gateway_app import in_loop
from tests.support.services import opened

pytestmark = [pytest.mark.outside, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
INBOX = "s3://market/ballots"


@pytest.fixture(scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with object_store(tmp_path_factory.mktemp("moto")) as running:
        yield running


@pytest.fixture
def store(_server: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name, value in _server.environment.items():
        monkeypatch.setenv(name, value)
    yield _server
    _server.well()


@in_loop
async def test_a_ballot_in_a_bucket_is_counted_and_taken_away_and_a_store_that_fails_loses_none(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock(datetime.now(UTC).replace(second=5, microsecond=0))
    settings = GeneratorSettings(state_dir=tmp_path, arena=ArenaSettings(inbox_url=INBOX))
    inbox = store.bucket("ballots", monkeypatch)
    async with opened(tmp_path, clock, settings) as app:
        await tick(app, clock.now())
        found = find_open_round(None, settings.site_path, None, clock.now())
        for by, word in ((0, Prediction.BULLISH), (0, Prediction.BEARISH), (1, Prediction.NEUTRAL)):
            ballot = sign_ballot(voter(by), found.round_id, word, arena_address(settings), GENESIS)
            drop_into_store(INBOX, *ballot)
            drop_into_store(INBOX, *ballot)  # the same once more is the same object
        assert len(inbox.dated(10)) == 3

        store.trouble = Trouble("503", "GET")
        before = await _counted(app, clock)
        store.well()
        after = await _counted(app, clock)
        left = inbox.dated(10)

    assert (before, after, left) == (0, 2, [])


async def _counted(app: App, clock: ManualClock) -> int:
    at = clock.step(timedelta(minutes=1))
    await tick(app, at)
    return app.record.memory.view(round(at.timestamp() * 1000)).ballots_counted


def test_hundreds_of_ballots_are_read_side_by_side_and_removed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = store.bucket("many", monkeypatch)
    shelf = BucketShelf(bucket)
    for number in range(300):
        shelf.put(f"{number}.ballot", b"x" * 400)
    inbox = BucketInbox(shelf, read_s=30)
    files = inbox.read()
    inbox.clear(files)

    assert len(files) == 300
    assert bucket.dated(1_000) == []
    assert [file.arrived_ms for file in files] == sorted(file.arrived_ms for file in files)
