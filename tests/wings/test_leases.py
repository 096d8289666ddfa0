"""The leases that need nothing but this machine: the lock file, and the object store's rules over one in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from generator.errors import LeadershipLost, LeaseUnreachable
from generator.runtime.lease.flock import FileLease
from generator.runtime.lease.opening import open_lease
from generator.settings import GeneratorSettings
from generator.wings.bucket.store import ObjectBucket, Stored, StoreFault, Version
from generator.wings.bucket_lease import OBJECT, BucketLease
from tests.support.clock import ManualClock
from tests.support.leases import epochs_only_rise, one_at_a_time, one_of_many_wins


class Lossy(ObjectBucket):
    """A store in memory whose next answers get lost: the write is done, or not, and nobody says so."""

    def __init__(self) -> None:
        super().__init__(MemoryStore(), "memory")
        self.lost_after = 0
        self.down = False

    def get(self, path: str, max_bytes: int = 4096) -> Stored | None:
        self._answer()
        return super().get(path, max_bytes)

    def create(self, path: str, data: bytes, attributes: Mapping[str, str]) -> Version:
        self._answer()
        return super().create(path, data, {})

    def update(self, path: str, data: bytes, version: Version, attributes: Mapping[str, str]) -> Version:
        self._answer()
        done = super().update(path, data, version, {})
        if self.lost_after:
            self.lost_after -= 1
            self.down = True  # so that it cannot be read back either
        self._answer()
        return done

    def _answer(self) -> None:
        if self.down:
            raise StoreFault("get s3://bucket/lease.json: timed out")


def test_the_lock_file_is_one_processes_at_a_time(tmp_path: Path) -> None:
    one_at_a_time(lambda: FileLease(tmp_path))


def test_epochs_of_the_lock_file_only_rise(tmp_path: Path) -> None:
    epochs_only_rise(lambda: FileLease(tmp_path))


def test_one_of_many_gets_the_lock_file(tmp_path: Path) -> None:
    one_of_many_wins(lambda: FileLease(tmp_path))


def test_who_has_the_lock_file_is_named_by_its_process_id(tmp_path: Path) -> None:
    one, two = FileLease(tmp_path), FileLease(tmp_path)
    one.acquire(0)

    assert two.acquire(0) is None
    assert two.holder() == f"process {os.getpid()} on this machine"
    one.release()


@pytest.mark.parametrize("content", ["", "twelve", "1\x00\x00", "-5"])
def test_a_torn_epoch_file_is_made_good_by_the_floor(tmp_path: Path, content: str) -> None:
    (tmp_path / "generator.epoch").write_text(content)

    grant = FileLease(tmp_path).acquire(9)

    assert grant is not None
    assert grant.epoch == 10


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")

    with pytest.raises(LeaseUnreachable, match="state"):
        FileLease(tmp_path / "state").acquire(0)


def test_the_object_is_one_processes_at_a_time() -> None:
    store = Lossy()
    one_at_a_time(lambda: BucketLease(store))


def test_epochs_of_the_object_only_rise() -> None:
    store = Lossy()
    epochs_only_rise(lambda: BucketLease(store))


def test_one_of_many_gets_the_object() -> None:
    store = Lossy()
    one_of_many_wins(lambda: BucketLease(store))


def test_an_object_that_does_not_change_for_its_time_is_taken_and_the_stopped_leader_learns_it() -> None:
    store, clock = Lossy(), ManualClock()
    leader, standby = BucketLease(store, 3.0, elapsed=clock.monotonic), BucketLease(store, 3.0, elapsed=clock.monotonic)
    leader.acquire(0)
    assert standby.acquire(0) is None

    clock.step(3.0)
    still = standby.acquire(0)
    clock.step(0.1)
    taken = standby.acquire(0)

    assert still is None
    assert taken is not None
    assert taken.epoch == 2
    with pytest.raises(LeadershipLost):
        leader.renew()
    with pytest.raises(LeadershipLost):
        leader.renew()


def test_an_object_that_is_renewed_is_never_taken() -> None:
    store, clock = Lossy(), ManualClock()
    leader, standby = BucketLease(store, 3.0, elapsed=clock.monotonic), BucketLease(store, 3.0, elapsed=clock.monotonic)
    leader.acquire(0)

    for _ in range(20):
        clock.step(1.0)
        leader.renew()
        assert standby.acquire(0) is None


def test_clocks_that_disagree_by_years_do_no_harm() -> None:
    store, ahead, behind = Lossy(), ManualClock(), ManualClock()
    ahead.step(1e9)
    leader, standby = (
        BucketLease(store, 3.0, elapsed=behind.monotonic),
        BucketLease(store, 3.0, elapsed=ahead.monotonic),
    )
    leader.acquire(0)
    assert standby.acquire(0) is None

    ahead.step(2.9)

    assert standby.acquire(0) is None


def test_the_time_that_counts_is_the_holders_not_the_waiters() -> None:
    store, clock = Lossy(), ManualClock()
    leader, standby = (
        BucketLease(store, 60.0, elapsed=clock.monotonic),
        BucketLease(store, 1.0, elapsed=clock.monotonic),
    )
    leader.acquire(0)
    standby.acquire(0)

    clock.step(30)

    assert standby.acquire(0) is None


def test_a_renewal_whose_answer_was_lost_is_still_ours() -> None:
    store = Lossy()
    leader = BucketLease(store)
    leader.acquire(0)
    store.lost_after = 1
    with pytest.raises(LeaseUnreachable):
        leader.renew()
    store.down = False

    leader.renew()

    assert json.loads(bytes(store.get(OBJECT).data))["epoch"] == 1  # type: ignore[union-attr]


def test_a_store_that_is_down_is_told_and_nothing_is_assumed() -> None:
    store = Lossy()
    leader = BucketLease(store)
    leader.acquire(0)
    store.down = True

    with pytest.raises(LeaseUnreachable, match="timed out"):
        leader.renew()
    with pytest.raises(LeaseUnreachable):
        BucketLease(store).acquire(0)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"epoch": 1e999}', b"\xff\xfe", b"x" * 5000])
def test_an_object_that_is_no_lease_is_never_overwritten(content: bytes) -> None:
    store = Lossy()
    store.create(OBJECT, content, {})

    with pytest.raises(LeaseUnreachable):
        BucketLease(store).acquire(0)

    assert store.get(OBJECT, 10_000).data == content  # type: ignore[union-attr]


def test_an_object_that_vanished_is_lost_by_who_held_it() -> None:
    store = Lossy()
    leader = BucketLease(store)
    leader.acquire(0)
    store.delete([OBJECT])

    with pytest.raises(LeadershipLost):
        leader.renew()


def test_without_a_setting_the_lease_is_a_lock_file(tmp_path: Path) -> None:
    assert isinstance(open_lease(GeneratorSettings(state_dir=tmp_path)), FileLease)


def test_a_lease_for_several_machines_needs_a_memory_that_they_share(tmp_path: Path) -> None:
    settings = GeneratorSettings(state_dir=tmp_path, lease_url="s3://bucket/lease")

    assert "MEMORY_URL" in (settings.complaint() or "")


@pytest.mark.parametrize("url", ["redis://here", "s3://user:secret@bucket/a", "postgres://x", "file:///tmp/x", ""])
def test_another_kind_of_lease_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match="lease_url"):
        GeneratorSettings(state_dir=tmp_path, lease_url=url)
