"""The inbox in an object store: read side by side, cleared when counted; a store that fails loses nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from generator.arena.ballots import Refusal
from generator.arena.bucket_inbox import BucketInbox
from generator.publish.bucket.shelf import BucketShelf
from generator.publish.bucket.store import ObjectBucket
from generator.settings import ArenaSettings, GeneratorSettings
from tests.arena.worlds import NOON, Vote
from tests.publish.buckets import memory, put

NEXT = "BTC-20261120-130000"


class FakeShelf:
    """A shelf that fails, hangs or loses what it is told to."""

    def __init__(self, objects: dict[str, bytes], sick: Sequence[str] = (), hangs: Sequence[str] = ()) -> None:
        self.objects, self.sick, self.hangs = objects, sick, hangs
        self.down = False
        self.released = threading.Event()

    def _check(self, name: str = "") -> None:
        if self.down or name in self.sick:
            raise OSError("store down")

    def list(self, limit: int) -> list[tuple[str, int, int]]:
        self._check()
        return [(name, len(data), NOON) for name, data in sorted(self.objects.items())][:limit]

    def get(self, name: str) -> bytes | None:
        self._check(name)
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
    inbox = BucketInbox(FakeShelf(dict.fromkeys("abc", b"x"), sick=["b"]))

    assert [file.name for file in inbox.read()] == ["a", "c"]


def test_an_object_that_hangs_is_left_for_the_next_tick() -> None:
    shelf = FakeShelf(dict.fromkeys("abc", b"x"), hangs=["b"])
    first = BucketInbox(shelf, read_s=0.2).read()
    shelf.released.set()

    assert [file.name for file in first] == ["a", "c"]
    assert [file.name for file in BucketInbox(shelf).read()] == ["a", "b", "c"]


def test_an_object_that_is_gone_meanwhile_is_none() -> None:
    class Racing(FakeShelf):
        def list(self, limit: int) -> list[tuple[str, int, int]]:
            return [*super().list(limit), ("gone", 3, NOON)]

    assert [file.name for file in BucketInbox(Racing({"a": b"x"})).read()] == ["a"]


# The shelf over an object store in memory


def test_the_store_s_own_time_decides_and_the_oldest_come_first() -> None:
    bucket = memory()
    shelf = BucketShelf(bucket)
    for name in ("b", "a"):
        shelf.put(name, Vote(NEXT).file().data)
        time.sleep(0.01)  # the store's clock counts milliseconds
    listed = shelf.list(10)

    assert [name for name, _, _ in listed] == ["b", "a"]
    assert listed[0][2] <= listed[1][2]
    assert [file.data for file in BucketInbox(shelf).read()] == [Vote(NEXT).file().data] * 2


def test_what_was_dealt_with_is_removed_and_what_is_gone_already_is_no_fault() -> None:
    bucket = memory()
    inbox = BucketInbox(BucketShelf(bucket))
    put(bucket, "a", b"x")
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
        lambda: shelf.list(1),
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
