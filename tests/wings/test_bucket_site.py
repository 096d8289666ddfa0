"""The site in an object store: what readers see through the pointer, whatever fails and whoever else writes."""

import json
import threading
from typing import Any

import pytest

from generator.errors import LeadershipLost, PublishError
from generator.release.values import FIRST_GENERATION
from generator.wings.bucket.site import BucketSite
from generator.wings.bucket.store import Bucket, StoreFault
from tests.support.buckets import NOT_ANSWERED, NOT_STORED, FaultyBucket, attributes, memory, put

FRESH = {"tick_id": "20261120T100000Z", "generated_at": "2026-11-20T10:00:00Z", "valid_until": "2026-11-20T10:03:00Z"}


def files(n: int) -> dict[str, bytes]:
    return {
        "/status.json": json.dumps(FRESH | {"n": n}).encode(),
        "/api/reasoning.php": f'{{"n":{n}}}'.encode(),
        "/api/reasoning.php.br": f"br{n}".encode(),
        "/assets/site.css": b"body{}",
    }


def site(bucket: Bucket, writer: str = "a", epoch: int = 0) -> BucketSite:
    opened = BucketSite(bucket, writer, lambda: epoch)
    opened.open()
    return opened


def publish(to: BucketSite, now_s: float = 0, **more: Any) -> int:
    number = to.generation() + 1
    to.publish(f"{number:012d}", files(number), now_s, **more)
    return number


def pointer(bucket: Bucket) -> dict[str, Any]:
    found = bucket.get("current.json")
    return {} if found is None else dict(json.loads(found.data))


def seen(bucket: Bucket) -> dict[str, bytes]:
    """Return what a reader gets who follows the pointer."""
    prefix = f"g/{pointer(bucket)['generation']}"
    found = {path.removeprefix(prefix): bucket.get(path) for path in bucket.files(prefix)}
    return {path: stored.data for path, stored in found.items() if stored is not None}


def whole(bucket: Bucket) -> bool:
    return seen(bucket) == files(int(pointer(bucket)["generation"]))


def test_a_release_is_what_the_pointer_shows() -> None:
    bucket = memory()

    publish(site(bucket))

    assert seen(bucket) == files(1)
    body = pointer(bucket)
    assert {name: body[name] for name in FRESH} == FRESH
    assert (body["generation"], body["epoch"]) == ("000000000001", 0)


def test_every_object_states_how_it_is_to_be_served() -> None:
    bucket = memory()

    publish(site(bucket), once={"/log/tile/0/000": b"tile"})

    pinned = {"Content-Type": "application/json", "Cache-Control": "public, max-age=600, immutable"}
    assert attributes(bucket, "g/000000000001/api/reasoning.php") == pinned
    assert attributes(bucket, "g/000000000001/api/reasoning.php.br") == pinned | {"Content-Encoding": "br"}
    assert attributes(bucket, "once/log/tile/0/000")["Cache-Control"] == "public, max-age=31536000, immutable"
    assert attributes(bucket, "current.json")["Cache-Control"] == "no-store"


WRITES = [*((f"g/{3:012d}", n) for n in range(len(files(2)))), ("once/", 0), ("current.json", 0)]


@pytest.mark.parametrize(("where", "n"), WRITES)
@pytest.mark.parametrize("how", [NOT_STORED, NOT_ANSWERED, "refused"])
def test_whatever_write_fails_for_good_readers_see_a_whole_release(how: str, where: str, n: int) -> None:
    bucket = memory()
    publish(site(bucket))
    faulty = FaultyBucket(bucket)
    broken = site(faulty, "b")
    number = broken.generation() + 1  # claims the pointer before anything fails
    assert number == 3
    faulty.how, faulty.where, faulty.n = how, where, n

    try:
        publish(broken, once={"/log/tile/0/000": b"tile"})
    except PublishError:
        assert pointer(bucket)["generation"] == "000000000001"
    else:  # the write was stored, only its answer was lost, and that was found out
        assert how == NOT_ANSWERED

    assert whole(bucket)
    faulty.how = ""
    publish(broken)
    assert whole(bucket)
    assert int(pointer(bucket)["generation"]) in {number, number + 1}


# Asking again is obstore's: what a fault of a bucket leaves open is only whether it was stored.
@pytest.mark.parametrize(("where", "n"), WRITES)
def test_one_lost_answer_at_any_file_does_not_fail_the_tick(where: str, n: int) -> None:
    bucket = memory()
    publish(site(bucket))
    faulty = FaultyBucket(bucket)
    shaken = site(faulty, "b")
    shaken.generation()
    faulty.how, faulty.where, faulty.n, faulty.times = NOT_ANSWERED, where, n, 1

    publish(shaken, once={"/log/tile/0/000": b"tile"})

    assert pointer(bucket)["generation"] == "000000000003"
    assert whole(bucket)


def test_a_number_is_not_used_again_after_a_failure_nor_by_the_next_process() -> None:
    bucket = memory()
    faulty = FaultyBucket(bucket)
    first = site(faulty)
    publish(first)
    faulty.how, faulty.where = NOT_STORED, "current.json"
    with pytest.raises(PublishError, match="not moved"):
        publish(first)
    faulty.how = ""

    assert first.generation() == 2
    assert publish(site(bucket, "b")) == 3
    assert whole(bucket)


def test_a_store_that_is_away_at_the_start_is_waited_for_but_one_that_refuses_is_not() -> None:
    class Refusing(FaultyBucket):
        def get(self, path: str, max_bytes: int = 0) -> Any:
            raise StoreFault("get current.json: PermissionDeniedError, status 403", refused=True)

    away = FaultyBucket(memory())
    away.reads_fail = True

    late = site(away)
    away.reads_fail = False

    assert publish(late) == 1
    with pytest.raises(PublishError, match="403"):
        site(Refusing(memory()))


def test_of_two_writers_the_one_that_started_last_publishes_and_the_other_knows() -> None:
    bucket = memory()
    first = site(bucket, "a")
    publish(first)
    second = site(bucket, "b")
    publish(second)

    for _ in range(2):
        with pytest.raises(LeadershipLost):
            publish(first)

    assert publish(second) == 4
    assert whole(bucket)


def test_a_stopped_leader_cannot_publish_after_the_next_one_claimed_the_pointer() -> None:
    bucket = memory()
    stopped, following = site(bucket, "a", epoch=1), site(bucket, "b", epoch=2)
    publish(stopped)
    following.generation()  # the first thing that a new leader's tick asks

    with pytest.raises(LeadershipLost):
        stopped.publish("000000000002", files(2), 0)

    assert pointer(bucket)["epoch"] == 2
    assert publish(following) == 3  # 2 was left to the other one, which may have begun it
    assert whole(bucket)


def test_a_lower_epoch_cannot_claim_and_a_higher_one_can_again() -> None:
    bucket = memory()
    epoch = 1
    back = BucketSite(bucket, "a", lambda: epoch)
    publish(back)
    publish(site(bucket, "b", epoch=2))
    with pytest.raises(LeadershipLost) as lost:
        publish(back)
    assert lost.value.epoch == 2  # what the next lease has to be above

    epoch = 3

    assert publish(back) == 5
    assert whole(bucket)


def test_a_fence_that_falls_in_the_middle_of_a_publish_stops_the_pointer() -> None:
    bucket = memory()
    asked: list[int] = []

    def fence() -> int:
        asked.append(1)
        if len(asked) > 3:
            raise LeadershipLost("the lease ran out")
        return 1

    falling = BucketSite(bucket, "a", fence)
    publish(falling)

    with pytest.raises(LeadershipLost, match="ran out"):
        publish(falling)

    assert pointer(bucket)["generation"] == "000000000001"


def test_a_last_swap_of_the_old_leader_between_reading_and_claiming_is_taken_over() -> None:
    bucket = memory()
    old = site(bucket, "a", epoch=1)
    publish(old)

    class Late(FaultyBucket):
        def update(self, path: str, data: bytes, version: Any, attributes: Any) -> Any:
            if len(self.writes) == 0:
                publish(old)
            return super().update(path, data, version, attributes)

    new = site(Late(bucket), "b", epoch=2)

    assert publish(new) == 4
    assert [row["generation"] for row in pointer(bucket)["previous"]] == ["000000000002", "000000000001"]
    assert whole(bucket)


def test_a_swap_that_arrives_after_its_timeout_is_recognised_as_ours() -> None:
    bucket = memory()

    class Delaying(FaultyBucket):
        """Hold one swap back until the next one comes."""

        held: Any = None
        delay = False

        def update(self, path: str, data: bytes, version: Any, attributes: Any) -> Any:
            if self.delay:
                self.delay, self.held = False, lambda: self.inner.update(path, data, version, attributes)
                raise StoreFault("put current.json: timed out")
            if self.held:
                self.held, late = None, self.held
                late()
            return super().update(path, data, version, attributes)

    delaying = Delaying(bucket)
    ours = site(delaying)
    publish(ours)
    delaying.delay = True
    with pytest.raises(PublishError, match="not moved"):
        publish(ours)

    assert publish(ours) == 3
    assert whole(bucket)


def test_old_releases_are_dropped_ten_minutes_after_their_replacement() -> None:
    bucket = memory()
    ours = site(bucket)
    publish(ours, now_s=0)
    publish(ours, now_s=7_200)  # two hours nothing: readers may still be in the first
    publish(site(bucket, "b"), now_s=7_700)

    assert sorted(bucket.folders("g")) == [f"{n:012d}" for n in (1, 2, 4)]
    publish(site(bucket, "c"), now_s=7_860)
    assert sorted(bucket.folders("g")) == [f"{n:012d}" for n in (2, 4, 6)]


def test_what_a_failed_release_left_is_dropped_where_that_is_possible() -> None:
    bucket = memory()
    faulty = FaultyBucket(bucket)
    ours = site(faulty)
    publish(ours)
    faulty.how, faulty.where = NOT_STORED, "current.json"
    with pytest.raises(PublishError):
        publish(ours)
    faulty.how = ""
    publish(ours)

    assert sorted(bucket.folders("g")) == ["000000000001", "000000000003"]

    class NoDelete(FaultyBucket):
        def delete(self, paths: Any) -> None:
            raise StoreFault("delete: 403")

    publish(site(NoDelete(bucket), "b"), now_s=10_000)
    assert whole(bucket)


def test_immutable_files_are_stored_once_and_never_changed() -> None:
    bucket = memory()
    counted = FaultyBucket(bucket)
    ours = site(counted)
    tile = {"/log/tile/0/000": b"tile"}
    publish(ours, once=tile)
    publish(ours, once=tile)
    publish(site(counted, "b"), once=tile)

    assert counted.writes.count("once/log/tile/0/000") == 1
    with pytest.raises(PublishError, match="would change, first /log/tile/0/000"):
        publish(site(counted, "c"), once={"/log/tile/0/000": b"other tile"})
    assert pointer(bucket)["writer"] == "c"
    assert whole(bucket)


def test_files_of_another_writer_under_the_same_number_are_never_mixed_with_ours() -> None:
    bucket = memory()
    ours = site(bucket)
    publish(ours)
    put(bucket, "g/000000000002/api/reasoning.php", b"theirs")

    with pytest.raises(PublishError, match="other bytes"):
        publish(ours)

    assert whole(bucket)
    assert publish(ours) == 3


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"generation":"x"}', b"\xff"])
def test_a_pointer_that_is_none_is_named_and_left_alone(text: bytes) -> None:
    bucket: Bucket = memory()
    put(bucket, "current.json", text)

    with pytest.raises(PublishError, match=r"current\.json is not one of our pointers"):
        site(bucket)

    assert bucket.get("current.json").data == text  # type: ignore[union-attr]


def test_a_deleted_pointer_is_made_again_with_a_new_number() -> None:
    bucket = memory()
    ours = site(bucket)
    publish(ours)
    bucket.delete(["current.json"])

    assert publish(ours) == 2
    assert whole(bucket)


def test_a_slow_store_is_abandoned_at_the_deadline() -> None:
    bucket = memory()
    release = threading.Event()

    class Slow(FaultyBucket):
        def create(self, path: str, data: bytes, attributes: Any) -> Any:
            if path.startswith("g/"):
                release.wait(10)
            return super().create(path, data, attributes)

    slow = BucketSite(Slow(bucket), "a", deadline_s=0.05)

    with pytest.raises(PublishError, match=r"4 of 4 objects were not stored within 0\.05 s"):
        publish(slow)

    release.set()
    assert pointer(bucket) == {}


def test_a_bootstrap_release_comes_before_number_one_and_never_again() -> None:
    bucket = memory()
    first = site(bucket)

    assert first.is_empty()
    first.publish(FIRST_GENERATION, files(0), 0)
    assert not first.is_empty()
    assert whole(bucket)
    with pytest.raises(PublishError):
        first.publish(FIRST_GENERATION, files(0), 60)
    assert publish(first, 60) == 1
    assert pointer(bucket)["previous"] == [{"generation": FIRST_GENERATION, "replaced_s": 60}]
    again = site(bucket, "b")
    assert not again.is_empty()
    publish(again, 120)
    publish(again, 800)
    assert FIRST_GENERATION not in bucket.folders("g")


def test_of_two_bootstrap_releases_at_once_readers_have_one_whole() -> None:
    bucket = memory()
    one, two = site(bucket, "a", 1), site(bucket, "b", 2)
    assert (one.is_empty(), two.is_empty()) == (True, True)
    two.publish(FIRST_GENERATION, files(0), 0)

    with pytest.raises((PublishError, LeadershipLost)):
        one.publish(FIRST_GENERATION, {**files(0), "/status.json": b"{}"}, 0)

    assert whole(bucket)
    assert pointer(bucket)["epoch"] == 2


def test_a_site_that_lost_its_pointer_is_not_taken_for_a_new_one() -> None:
    bucket = memory()
    publish(site(bucket))
    bucket.delete(["current.json"])

    assert not site(bucket, "b").is_empty()
