"""The object store's edge: URLs, conditions, answers that got lost, and texts without credentials."""

from pathlib import Path
from typing import Any

import pytest
from obstore.store import LocalStore

from generator.release.bucket.site import coding_of
from generator.release.bucket.store import (
    Bucket,
    Conflict,
    Stored,
    StoreFault,
    open_bucket,
    swap,
)
from tests.support.buckets import NOT_ANSWERED, NOT_STORED, FaultyBucket, memory

PLAIN: dict[str, str] = {}


def test_create_needs_nothing_there_and_update_exactly_the_version_named() -> None:
    bucket = memory()
    first = bucket.create("a", b"1", PLAIN)
    second = bucket.update("a", b"2", first, PLAIN)

    with pytest.raises(Conflict):
        bucket.create("a", b"3", PLAIN)
    with pytest.raises(Conflict):
        bucket.update("a", b"3", first, PLAIN)
    with pytest.raises(Conflict):
        bucket.update("nothing here", b"3", second, PLAIN)
    assert bucket.get("a") == Stored(b"2", second)
    assert bucket.get("nothing here") is None


def test_an_object_larger_than_asked_for_is_refused() -> None:
    bucket = memory()
    bucket.create("a", b"12345", PLAIN)

    with pytest.raises(StoreFault, match="larger than 4 bytes"):
        bucket.get("a", 4)


@pytest.mark.parametrize("known", [None, b"before"])
def test_a_swap_whose_answer_was_lost_counts_as_stored(known: bytes | None) -> None:
    bucket = memory()
    version = None if known is None else Stored(known, bucket.create("p", known, PLAIN))

    swapped = swap(FaultyBucket(bucket, NOT_ANSWERED), "p", b"ours", version, PLAIN)

    assert swapped == bucket.get("p")
    assert swapped.data == b"ours"


def test_a_swap_that_was_not_stored_says_so_and_changes_nothing() -> None:
    bucket = memory()
    known = Stored(b"before", bucket.create("p", b"before", PLAIN))

    with pytest.raises(StoreFault, match="timed out"):
        swap(FaultyBucket(bucket, NOT_STORED), "p", b"ours", known, PLAIN)

    assert bucket.get("p") == known


def test_a_swap_that_another_one_won_is_a_conflict() -> None:
    bucket = memory()
    known = Stored(b"before", bucket.create("p", b"before", PLAIN))
    swap(bucket, "p", b"theirs", known, PLAIN)

    with pytest.raises(Conflict):
        swap(bucket, "p", b"ours", known, PLAIN)
    with pytest.raises(Conflict):
        swap(bucket, "p", b"ours", None, PLAIN)


def test_a_store_that_is_not_there_is_one_line_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in _aws(endpoint="http://127.0.0.1:9").items():
        monkeypatch.setenv(name, value)

    with pytest.raises(StoreFault) as caught:
        open_bucket("s3://market/site").get("current.json")

    text = str(caught.value)
    assert text.startswith("get s3://market/site/current.json: GenericError")
    assert "\n" not in text
    assert "hunter2" not in text
    assert "AKIDTEST" not in text
    assert not caught.value.refused


def test_plain_http_is_for_loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in _aws(endpoint="http://store.example.invalid", AWS_ALLOW_HTTP="true").items():
        monkeypatch.setenv(name, value)

    with pytest.raises(StoreFault, match="plain HTTP is allowed to this machine only"):
        open_bucket("s3://market/site").get("current.json")


def test_missing_keys_are_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    # The machine's own role would be asked for at this address; a test must not look beyond itself.
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://169.254.0.1.invalid")

    with pytest.raises(StoreFault, match="no usable credentials"):
        open_bucket("s3://market/site", request_s=0.2).get("current.json")


def _aws(endpoint: str, **more: str) -> dict[str, str]:
    keys = {"AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "hunter2-secret", "AWS_REGION": "us-east-1"}
    return keys | {"AWS_ENDPOINT_URL": endpoint} | more


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/reasoning.php", ("/api/reasoning.php", "identity")),
        ("/api/reasoning.php.gz", ("/api/reasoning.php", "gzip")),
        ("/index.html.br", ("/index.html", "br")),
        ("/files/2026-11.csv.gz", ("/files/2026-11.csv.gz", "identity")),
    ],
)
def test_the_coding_of_a_file_follows_from_its_name_and_a_sibling(path: str, expected: tuple[str, str]) -> None:
    siblings = {"/api/reasoning.php", "/index.html", path}

    assert coding_of(path, siblings) == expected


def test_a_bucket_is_listed_page_by_page_in_the_order_of_its_paths() -> None:
    bucket = memory()
    for name in ("o/b", "o/a", "p/x", "o/d", "o/c"):
        bucket.create(name, b"12", PLAIN)

    pages = [list(bucket.page("o", after, 3)) for after in ("", "o/c", "o/d")]

    assert pages == [["o/a", "o/b", "o/c"], ["o/d"], []]
    assert bucket.page("o", "", 1)["o/a"].size == 2
    assert bucket.modified("o/a") == bucket.page("o", "", 1)["o/a"].modified


def test_errors_of_any_other_kind_are_faults_too(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    bucket = Bucket(LocalStore(str(tmp_path)), "local")

    calls: list[Any] = [lambda: bucket.create("file/x", b"1", PLAIN), lambda: bucket.get("../x")]
    for call in calls:
        with pytest.raises(StoreFault):
            call()
