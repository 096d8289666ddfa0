"""The inbox in an object store: read side by side, cleared when counted; a store that fails loses nothing."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gateway.wire.algorand import DEMO_ARENA
from generator.arena.ballots import BallotFile, Poll, Refusal, judge
from generator.inbox.bucket import BucketInbox
from generator.settings import ArenaSettings, GeneratorSettings
from generator.wings.bucket.shelf import BucketShelf
from generator.wings.bucket.store import ObjectBucket
from tests.arena.test_ballots import OPEN
from tests.support.arena_inputs import GENESIS, NOON, Vote
from tests.support.buckets import memory, put

NEXT = "BTC-20261120-130000"
GARBAGE = b"x" * 300


class FakeShelf:
    """A shelf that fails, hangs or loses what it is told to."""

    def __init__(self, objects: dict[str, bytes], sick: Sequence[str] = (), hangs: Sequence[str] = ()) -> None:
        self.objects, self.sick, self.hangs = objects, sick, hangs
        self.down = False
        self.released = threading.Event()
        self.times: dict[str, int] = {}
        self.asked: list[str] = []
        self.fetched: list[str] = []

    def _check(self, name: str = "") -> None:
        if self.down or name in self.sick:
            raise OSError("store down")

    def list(self, after: str) -> Iterator[list[tuple[str, int, int]]]:
        self._check()
        rows = [(name, len(data), self.times.get(name, NOON)) for name, data in sorted(self.objects.items())]
        rows = [row for row in rows if row[0] > after]
        self.asked.append(after)
        yield from (rows[at : at + 1_000] for at in range(0, len(rows), 1_000))

    def get(self, name: str) -> bytes | None:
        self._check(name)
        self.fetched.append(name)
        if name in self.hangs:
            self.released.wait(30)
        return self.objects.get(name)

    def delete(self, names: Sequence[str]) -> None:
        self._check()
        for name in names:
            self.objects.pop(name, None)


def test_ballots_are_read_and_cleared_and_a_large_one_is_not_even_fetched() -> None:
    shelf = FakeShelf({"a": Vote(NEXT).file().data, "b": b"x" * 5_000}, sick=["b"])
    inbox = BucketInbox(shelf)
    files = inbox.read()
    inbox.clear(files)

    assert [(file.name, file.refusal) for file in files] == [("a", None), ("b", Refusal.TOO_LARGE)]
    assert shelf.objects == {}


def test_a_store_that_is_down_gives_nothing_and_loses_nothing() -> None:
    shelf = FakeShelf({"a": Vote(NEXT).file().data})
    inbox = BucketInbox(shelf)
    files = inbox.read()
    shelf.down = True

    assert inbox.read() == ()
    inbox.clear(files)
    shelf.down = False
    assert [file.name for file in inbox.read()] == ["a"]


def test_one_object_that_cannot_be_had_does_not_keep_the_others() -> None:
    inbox = BucketInbox(FakeShelf(dict.fromkeys("abc", GARBAGE), sick=["b"]))

    assert [file.name for file in inbox.read()] == ["a", "c"]


def test_an_object_that_hangs_is_left_for_the_next_tick() -> None:
    shelf = FakeShelf(dict.fromkeys("abc", GARBAGE), hangs=["b"])
    first = BucketInbox(shelf, read_s=2).read()
    shelf.released.set()

    assert [file.name for file in first] == ["a", "c"]
    assert [file.name for file in BucketInbox(shelf).read()] == ["a", "b", "c"]


def test_an_object_that_is_gone_meanwhile_is_none() -> None:
    class Racing(FakeShelf):
        def list(self, after: str) -> Iterator[list[tuple[str, int, int]]]:
            yield from super().list(after)
            yield [("gone", 300, NOON)]

    assert [file.name for file in BucketInbox(Racing({"a": GARBAGE})).read()] == ["a"]


# A flood

HONEST = 5


def flooded(count: int, names: str = "{:06}", honest: str = "z{}") -> FakeShelf:
    """Return a shelf with garbage of a ballot's size, and a few ballots that came last."""
    shelf = FakeShelf({names.format(number): GARBAGE for number in range(count)})
    for by in range(HONEST):
        shelf.objects[honest.format(by)] = Vote(NEXT, by=by).file().data
        shelf.times[honest.format(by)] = NOON + 1_000
    return shelf


def votes(files: Sequence[BallotFile]) -> int:
    return sum(file.data != GARBAGE and file.refusal is None for file in files)


def looks_until_all_are_read(shelf: FakeShelf, inbox: BucketInbox, refill: Sequence[str] = ()) -> int:
    """Return how many looks it takes to read every ballot, while as much garbage comes in again."""
    found, looks = 0, 0
    while found < HONEST and looks < 200:
        files = inbox.read()
        inbox.clear(files)
        found += votes(files)
        looks += 1
        shelf.objects.update(dict.fromkeys(refill, GARBAGE))
    return looks


def test_five_ballots_behind_ten_thousand_files_of_garbage_are_read_and_counted_in_the_same_look() -> None:
    files = BucketInbox(flooded(10_000), read_s=300).read()
    verdicts, ballots = judge(files, Poll(DEMO_ARENA, GENESIS, {NEXT: OPEN}, NOON + 2_000), lambda _: frozenset())

    assert len(files) == 10_000 + HONEST
    assert len(ballots) == HONEST
    assert Counter(verdict.reason for verdict in verdicts) == {None: HONEST, Refusal.NOT_A_TRANSACTION.value: 10_000}


def test_what_cannot_be_a_ballot_by_its_size_is_refused_without_being_fetched() -> None:
    shelf = FakeShelf({f"{number:05}": b"x" * (20 if number % 2 else 5_000) for number in range(2_000)})
    files = BucketInbox(shelf, read_s=300).read()

    assert shelf.fetched == []
    assert Counter(file.refusal for file in files) == {Refusal.TOO_LARGE: 1_000, Refusal.NOT_A_TRANSACTION: 1_000}


def test_of_more_than_one_look_lists_the_next_look_goes_on_where_it_stopped() -> None:
    shelf = flooded(1_000)
    inbox = BucketInbox(shelf, read_s=300, listed=300, at_once=300, lots=Random(1))
    looks = looks_until_all_are_read(shelf, inbox)

    assert looks == 4
    assert [after for after in shelf.asked if after] == ["000299", "000599", "000899"]


def test_names_before_and_behind_the_place_are_all_reached_however_often_garbage_comes_again() -> None:
    names = [f"{number:06}" for number in range(2_000)]
    shelf = flooded(2_000)
    inbox = BucketInbox(shelf, read_s=300, listed=500, at_once=500, lots=Random(1))

    assert looks_until_all_are_read(shelf, inbox, names) <= 5


def test_a_flood_that_is_older_than_every_ballot_and_never_ends_cannot_starve_them() -> None:
    names = [f"{number:06}" for number in range(1_000)]
    shelf = flooded(1_000)
    inbox = BucketInbox(shelf, read_s=300, at_once=200, lots=Random(1))  # a fifth of what comes in at every look

    assert looks_until_all_are_read(shelf, inbox, names) < 60


def test_a_sender_s_own_folder_is_read_beside_any_flood() -> None:
    names = [f"flood/{number:06}" for number in range(5_000)]
    shelf = flooded(5_000, "flood/{:06}", "voter-{0}/ballot")
    inbox = BucketInbox(shelf, read_s=300, at_once=20, lots=Random(1))

    assert looks_until_all_are_read(shelf, inbox, names) == 1


def test_the_look_of_a_lock_waits_longer() -> None:
    shelf = FakeShelf(dict.fromkeys("ab", GARBAGE), hangs=["b"])
    inbox = BucketInbox(shelf, read_s=2, last_read_s=60)

    assert [file.name for file in inbox.read()] == ["a"]
    threading.Timer(0.3, shelf.released.set).start()
    assert [file.name for file in inbox.read(last=True)] == ["a", "b"]


def test_a_store_that_lists_slowly_does_not_use_up_the_time_for_reading() -> None:
    class Slow(FakeShelf):
        def list(self, after: str) -> Iterator[list[tuple[str, int, int]]]:
            for page in super().list(after):
                time.sleep(0.05)
                yield page

    shelf = Slow({f"{number:05}": GARBAGE for number in range(5_000)})
    inbox = BucketInbox(shelf, read_s=0.2)
    seen: set[str] = set()
    while len(seen) < 5 and len(shelf.asked) < 1_000:
        seen |= {file.name[:2] for file in inbox.read()}

    assert seen == {"00", "01", "02", "03", "04"}  # each of the pages, whatever the time was enough for


# The shelf over an object store in memory


def test_the_store_s_own_time_decides_and_the_oldest_come_first() -> None:
    bucket = memory()
    shelf = BucketShelf(bucket)
    for name in ("b", "a"):
        shelf.put(name, Vote(NEXT).file().data)
        time.sleep(0.01)  # the store's clock counts milliseconds
    files = BucketInbox(shelf).read()

    assert [file.name for file in files] == ["b", "a"]
    assert files[0].arrived_ms <= files[1].arrived_ms
    assert [file.data for file in files] == [Vote(NEXT).file().data] * 2


def test_a_shelf_lists_page_by_page_from_behind_a_name() -> None:
    bucket = memory()
    for number in range(2_500):
        put(bucket, f"{number:05}", b"x")
    pages = list(BucketShelf(bucket).list("00499"))

    assert [name for page in pages for name, _, _ in page] == [f"{number:05}" for number in range(500, 2_500)]
    assert len(pages) >= 2


def test_a_flood_in_a_store_is_read_with_the_ballots_behind_it_and_all_of_it_is_removed() -> None:
    bucket = memory()
    for number in range(10_000):
        put(bucket, f"{number:05}", GARBAGE)
    for by in range(HONEST):
        put(bucket, f"z{by}", Vote(NEXT, by=by).file().data)
    inbox = BucketInbox(BucketShelf(bucket), read_s=300)
    files = inbox.read()
    inbox.clear(files)

    assert (len(files), votes(files)) == (10_000 + HONEST, HONEST)
    assert bucket.files("") == {}


def test_what_was_dealt_with_is_removed_and_what_is_gone_already_is_no_fault() -> None:
    bucket = memory()
    inbox = BucketInbox(BucketShelf(bucket))
    put(bucket, "a", GARBAGE)
    files = inbox.read()
    inbox.clear(files)
    inbox.clear(files)

    assert inbox.read() == ()


def test_a_fault_of_the_store_is_an_oserror_that_names_it() -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise OSError("boom")

    shelf = BucketShelf(ObjectBucket(Broken(), "s3://market/ballots"))

    for ask in (
        lambda: shelf.get("a"),
        lambda: shelf.delete(["a"]),
        lambda: list(shelf.list("")),
        lambda: shelf.put("a", b""),
    ):
        with pytest.raises(OSError, match="s3://market/ballots"):
            ask()


# Settings


@pytest.mark.parametrize(
    ("url", "bucket", "folder"),
    [
        ("s3://market/ballots/", "s3://market/ballots", "state/inbox"),
        ("file:///srv/in%20box", None, "/srv/in box"),
        ("/srv/inbox", None, "/srv/inbox"),
        (None, None, "state/inbox"),
    ],
)
def test_an_inbox_is_a_folder_or_an_object_store(url: str | None, bucket: str | None, folder: str) -> None:
    settings = GeneratorSettings(state_dir=Path("state"), arena=ArenaSettings(inbox_url=url))

    assert settings.inbox_bucket == bucket
    assert settings.inbox_path == Path(folder)
    assert settings.complaint() is None


@pytest.mark.parametrize("url", ["ftp://host/x", "s3://", "s3://key:secret@bucket/x", "http://host/inbox"])
def test_another_form_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"must be|credentials"):
        ArenaSettings(inbox_url=url)


@pytest.mark.parametrize(
    ("inbox", "others"),
    [
        ("s3://market/x", {"site_url": "s3://market/x"}),
        ("s3://market/x/ballots", {"site_url": "s3://market/x"}),
        ("s3://market", {"vault_url": "s3://market/vault"}),
        ("s3://market/l", {"lease_url": "s3://market/l/lease", "memory_url": "postgresql+psycopg://h/d"}),
        ("/srv/site/inbox", {"site_dir": "/srv/site"}),
        ("/srv/vault", {"vault_url": "file:///srv/vault"}),
        ("/srv/state", {"state_dir": "/srv/state"}),
        ("/srv", {"state_dir": "/srv/state"}),
    ],
)
def test_an_inbox_that_would_take_other_files_away_is_an_error_at_the_start(inbox: str, others: dict[str, str]) -> None:
    settings = GeneratorSettings(arena=ArenaSettings(inbox_url=inbox), **others)  # type: ignore[arg-type]

    assert "ARENA__INBOX_URL" in (settings.complaint() or "")
