"""Where a generator publishes to: the object store first, then the copy on this machine."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from generator.errors import PublishError
from generator.release.release import Releases
from generator.release.vault import Vault
from generator.wings.bucket.places import Mirrored, site_store, vault_store
from generator.wings.bucket.site import BucketSite
from generator.wings.bucket.vault import BucketVault
from tests.support.buckets import NOT_STORED, FaultyBucket, memory
from tests.support.disks import FailingDisk

FILES = {"/a.json": b'{"n":1}', "/api/b.php": b'{"n":1}'}


def both(folder: Path, bucket: FaultyBucket) -> Mirrored:
    made = Mirrored(BucketSite(bucket, "a"), Releases(folder))
    made.open()
    return made


def copied(folder: Path) -> dict[str, bytes]:
    current = folder / "current"
    return {f"/{path.relative_to(current)}": path.read_bytes() for path in current.rglob("*") if path.is_file()}


def test_the_copy_holds_the_release_of_the_object_store_under_the_same_number(tmp_path: Path) -> None:
    bucket = FaultyBucket(memory())
    site = both(tmp_path, bucket)

    site.publish(f"{site.generation() + 1:012d}", FILES, 1_000, {"/log/tile/0/000": b"tile"})

    assert copied(tmp_path) == FILES
    assert (tmp_path / "current").resolve().name == "000000000001" == bucket.folders("g")[0]
    assert (tmp_path / "once" / "log" / "tile" / "0" / "000").read_bytes() == b"tile"
    assert site.generation() == 1


def test_the_copy_never_shows_what_readers_cannot_have(tmp_path: Path) -> None:
    bucket = FaultyBucket(memory())
    site = both(tmp_path, bucket)
    site.publish(f"{site.generation() + 1:012d}", FILES, 1_000)
    bucket.how, bucket.where = NOT_STORED, "current.json"

    with pytest.raises(PublishError):
        site.publish(f"{site.generation() + 1:012d}", {"/a.json": b"2"}, 1_060)

    assert copied(tmp_path) == FILES


def test_numbers_continue_from_the_higher_of_both(tmp_path: Path) -> None:
    alone = Releases(tmp_path)
    alone.open()
    alone.publish("000000000041", FILES, 1_000)

    assert both(tmp_path, FaultyBucket(memory())).generation() == 41


def test_urls_decide_where_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)

    assert isinstance(site_store(tmp_path, None), Releases)
    assert isinstance(site_store(tmp_path, "s3://market/site"), Mirrored)
    assert isinstance(vault_store(tmp_path, None), Vault)
    assert isinstance(vault_store(tmp_path, "s3://market/vault"), BucketVault)
    with pytest.raises(PublishError, match="AZURE_STORAGE_ACCOUNT_NAME is not set"):
        site_store(tmp_path, "az://market/site")


def test_a_copy_that_fails_is_counted_while_the_release_is_published(tmp_path: Path) -> None:
    bucket = FaultyBucket(memory())
    disk = FailingDisk("sync")
    site = Mirrored(BucketSite(bucket, "a"), Releases(tmp_path, disk))
    site.open()

    with capture_logs() as logged:
        written = [site.publish(f"{site.generation() + 1:012d}", FILES, 1_000 + 60 * n) for n in range(2)]
    disk.heal()
    site.publish(f"{site.generation() + 1:012d}", FILES, 1_200)

    assert (written, site.copy_failures) == ([2, 2], 2)
    assert [row["event"] for row in logged] == ["published, but the copy on this machine was not written"] * 2
    assert "No space left" in logged[0]["reason"]
    assert (tmp_path / "current").resolve().name == "000000000003"


def test_what_readers_see_is_asked_of_the_object_store_not_of_the_copy(tmp_path: Path) -> None:
    bucket = FaultyBucket(memory())
    both(tmp_path / "one", bucket).publish("000000000001", FILES, 1_000)
    other = both(tmp_path / "two", bucket)

    assert other.shown(("/a.json", "/c.json")) == {"/a.json": FILES["/a.json"]}
    bucket.reads_fail = True
    assert other.shown(("/a.json",)) == {}
