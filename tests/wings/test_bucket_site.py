"""The site in an object store: what readers see through the pointer, whatever fails and whoever else writes."""

import hashlib
import json
import threading
from datetime import timedelta
from typing import Any

import pytest

from generator.errors import LeadershipLost, PublishError
from generator.release.bucket.site import BucketSite
from generator.release.bucket.store import Bucket, StoreFault
from generator.release.values import FIRST_GENERATION
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


def read(bucket: Bucket, digest: str) -> bytes:
    found = bucket.get(f"o/{digest}")
    assert found is not None
    assert hashlib.sha256(found.data).hexdigest() == digest
    return found.data


def manifest(bucket: Bucket, row: dict[str, Any] | None = None) -> dict[str, Any]:
    return dict(json.loads(read(bucket, (row or pointer(bucket))["manifest"])))


def seen(bucket: Bucket, row: dict[str, Any] | None = None) -> dict[str, bytes]:
    """Return what a reader gets who follows the pointer, or one of its rows."""
    found = {}
    for path, row_ in manifest(bucket, row)["files"].items():
        for coding, digest in row_["forms"].items():
            found[path + {"identity": "", "br": ".br", "gzip": ".gz"}[coding]] = read(bucket, digest)
    return found


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

    forms = manifest(bucket)["files"]["/api/reasoning.php"]["forms"]
    lasting = {"Content-Type": "application/json", "Cache-Control": "public, max-age=31536000, immutable"}
    assert attributes(bucket, f"o/{forms['identity']}") == lasting
    assert attributes(bucket, f"o/{forms['br']}") == lasting | {"Content-Encoding": "br"}
    assert attributes(bucket, "once/log/tile/0/000")["Cache-Control"] == "public, max-age=31536000, immutable"
    assert attributes(bucket, "current.json")["Cache-Control"] == "no-store"


def test_a_tick_puts_what_changed_and_nothing_else() -> None:
    bucket = FaultyBucket(memory())
    ours = site(bucket)
    publish(ours, once={"/log/tile/0/000": b"tile"})
    first, bucket.writes = bucket.writes, []

    publish(ours, once={"/log/tile/0/000": b"tile", "/log/tile/0/001": b"next"})

    kinds = sorted(path.partition("/")[0] for path in bucket.writes)
    assert len(first) == len(files(1)) + 3  # a tile, the manifest, the pointer
    assert kinds == ["current.json", "o", "o", "o", "o", "once"]  # three contents that changed, and the manifest
    assert bucket.writes[-1] == "current.json"


def test_after_a_restart_nothing_unchanged_is_put_again() -> None:
    bucket = FaultyBucket(memory())
    publish(site(bucket))
    bucket.writes = []

    again = site(bucket, "b")
    again.publish("000000000003", files(1), 60)

    assert len([path for path in bucket.writes if path.startswith("o/")]) == 1  # the manifest


def test_a_file_keeps_its_date_while_it_holds_the_same_bytes() -> None:
    bucket = memory()
    ours = site(bucket)
    publish(ours, now_s=1_000)
    publish(ours, now_s=1_060)

    dates = {path: row["modified_s"] for path, row in manifest(bucket)["files"].items()}

    assert dates == {"/assets/site.css": 1_000, "/status.json": 1_060, "/api/reasoning.php": 1_060}


def test_equal_bytes_at_two_paths_are_one_object_with_the_type_of_each() -> None:
    bucket = memory()
    ours = site(bucket)

    ours.publish("000000000001", {"/a.json": b"{}", "/b.txt": b"{}"}, 0)

    rows = manifest(bucket)["files"]
    assert rows["/a.json"]["forms"] == rows["/b.txt"]["forms"]
    assert (rows["/a.json"]["type"], rows["/b.txt"]["type"]) == ("application/json", "text/plain; charset=utf-8")


WRITES = [*(("o/", n) for n in range(4)), ("once/", 0), ("current.json", 0)]


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


def stored(bucket: Bucket) -> set[str]:
    return set(bucket.files("o"))


def test_what_nothing_names_goes_after_a_day_by_the_stores_clock() -> None:
    bucket = FaultyBucket(memory())
    ours = site(bucket)
    publish(ours, now_s=0)
    first = stored(bucket)
    for now_s in (60, 120):
        publish(ours, now_s=now_s)
    bucket.now += timedelta(hours=24) - timedelta(seconds=1)
    publish(ours, now_s=10 * 86_400)  # the generator's own clock does not count
    before = stored(bucket)

    bucket.now += timedelta(seconds=1)
    for _ in range(2):  # the sweep begins somewhere in the middle
        publish(ours, now_s=10 * 86_400 + 3_600)

    assert before >= first
    gone = first - stored(bucket)
    assert len(gone) == 4  # two bodies, a variant, the manifest; the style sheet is still named
    assert whole(bucket)


def test_releases_of_ten_minutes_and_one_an_hour_of_the_last_day_stay_whole() -> None:
    bucket = FaultyBucket(memory())
    ours = site(bucket)
    began = bucket.now
    for minute in (*range(0, 29 * 60, 20), *range(29 * 60, 30 * 60, 5)):
        bucket.now = began + timedelta(minutes=minute + 5)
        publish(ours, now_s=minute * 60)

    rows = pointer(bucket)["previous"]
    ages = [(30 * 60 - 5) * 60 - row["replaced_s"] for row in rows]
    assert ages[:3] == [0, 300, 600]
    hours = [row["replaced_s"] // 3_600 for row in rows[3:]]
    assert hours == list(range(hours[0], hours[-1] - 1, -1))
    assert 24 * 3_600 < max(ages) <= 25 * 3_600
    for row in rows:
        assert seen(bucket, row) == files(int(row["generation"]))


def test_a_clock_that_jumps_leaves_a_bounded_pointer() -> None:
    bucket = memory()
    ours = site(bucket)
    publish(ours, now_s=10**7)

    for minute in range(100):
        publish(ours, now_s=minute * 60)

    assert len(pointer(bucket)["previous"]) <= 60
    assert whole(bucket)


def test_an_object_that_was_deleted_by_mistake_is_put_again() -> None:
    bucket = FaultyBucket(memory())
    ours = site(bucket)
    publish(ours)
    lost = f"o/{manifest(bucket)['files']['/assets/site.css']['forms']['identity']}"
    bucket.delete([lost])

    for _ in range(3):  # the sweep misses it, the tick after that puts it
        publish(ours)

    assert whole(bucket)


def test_a_former_layout_is_read_followed_by_the_new_one_and_emptied_after_a_day() -> None:
    bucket = FaultyBucket(memory())
    for path, data in files(7).items():
        bucket.create(f"g/000000000007{path}", data, {})
    before = {
        "generation": "000000000007",
        "epoch": 0,
        "writer": "x",
        "previous": [{"generation": "6", "replaced_s": 0}],
    }
    bucket.create("current.json", json.dumps(before).encode(), {})
    ours = site(bucket)

    resumed = ours.shown(("/status.json", "/nothing"))
    publish(ours, now_s=60)

    assert resumed == {"/status.json": files(7)["/status.json"]}
    assert (pointer(bucket)["generation"], whole(bucket)) == ("000000000009", True)
    assert len(bucket.files("g")) == 4
    bucket.now += timedelta(days=1)
    for now_s in (120, 180):
        publish(ours, now_s=now_s)
    assert bucket.files("g") == {}
    assert whole(bucket)


def test_what_cannot_be_dropped_fails_no_tick() -> None:
    class NoDelete(FaultyBucket):
        def delete(self, paths: Any) -> None:
            raise StoreFault("delete: 403")

    bucket = NoDelete(memory())
    ours = site(bucket)
    publish(ours)
    bucket.now += timedelta(days=2)
    publish(ours, now_s=10_000_000)
    publish(ours, now_s=10_000_060)

    assert whole(bucket)


def test_partial_tiles_go_a_day_after_their_full_tile_was_stored() -> None:
    bucket = FaultyBucket(memory())
    ours = site(bucket)
    publish(ours, once={"/log/tile/0/000.p/1": b"1", "/log/tile/0/001.p/1": b"x", "/files/a": b"a"})
    publish(ours, once={"/log/tile/0/000": b"12"})
    bucket.now += timedelta(hours=23)
    publish(ours)
    before = set(bucket.files("once"))

    bucket.now += timedelta(hours=1)
    publish(site(bucket, "b"))

    assert len(before) == 4
    assert set(bucket.files("once")) == {"once/log/tile/0/000", "once/log/tile/0/001.p/1", "once/files/a"}


@pytest.mark.parametrize("there", [b"ti", b""])
def test_a_file_that_was_cut_is_put_again(there: bytes) -> None:
    bucket = memory()
    publish(site(bucket))
    put(bucket, "once/log/tile/0/000", there)

    publish(site(bucket, "b"), once={"/log/tile/0/000": b"tile"})

    assert bucket.get("once/log/tile/0/000").data == b"tile"  # type: ignore[union-attr]


def test_a_damaged_tile_under_a_signed_head_is_put_again() -> None:
    bucket = memory()
    put(bucket, "once/log/tile/0/000", b"damage")

    publish(site(bucket), again={"/log/tile/0/000": b"tile"})

    assert bucket.get("once/log/tile/0/000").data == b"tile"  # type: ignore[union-attr]


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


def test_other_bytes_under_a_digest_stop_the_tick_and_are_not_served() -> None:
    bucket = memory()
    ours = site(bucket)
    publish(ours)
    put(bucket, f"o/{hashlib.sha256(files(2)['/api/reasoning.php']).hexdigest()}", b"theirs")

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
            if path.startswith("o/"):
                release.wait(10)
            return super().create(path, data, attributes)

    slow = BucketSite(Slow(bucket), "a", deadline_s=0.05)

    with pytest.raises(PublishError, match=r"5 of 5 objects were not stored within 0\.05 s"):
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
    assert [row["generation"] for row in pointer(bucket)["previous"]] == [FIRST_GENERATION]
    assert not site(bucket, "b").is_empty()


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


def test_a_leader_that_returns_trusts_nothing_that_it_knew_before() -> None:
    bucket = FaultyBucket(memory())
    epoch = 1
    ours = BucketSite(bucket, "a", lambda: epoch)
    publish(ours)
    publish(site(bucket, "b", epoch=2))
    lost = f"o/{manifest(bucket)['files']['/assets/site.css']['forms']['identity']}"
    epoch, bucket.unreadable = 3, "o/"
    with pytest.raises(PublishError):
        publish(ours)
    bucket.delete([lost])

    bucket.unreadable = ""
    publish(ours)

    assert whole(bucket)
