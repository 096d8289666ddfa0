"""The vault in an object store: bodies first, then the manifest, by compare-and-swap; the reader's schema is kept."""

import hashlib
import json
from typing import Any

import jsonschema
import pytest

from generator.catalog.products import PRODUCTS, VAULT_MOST_BYTES
from generator.errors import LeadershipLost, PublishError
from generator.wings.bucket.store import Bucket
from generator.wings.bucket.vault import BucketVault
from tests.release.test_vault_store import SCHEMA, offer
from tests.support.buckets import NOT_ANSWERED, NOT_STORED, FaultyBucket, memory, put


def vault(bucket: Bucket, writer: str = "a", epoch: int = 0) -> BucketVault:
    opened = BucketVault(bucket, writer, lambda: epoch)
    opened.open()
    return opened


def manifest(bucket: Bucket) -> Any:
    found = bucket.get("manifest.json")
    assert found is not None
    return json.loads(found.data)


def holds(bucket: Bucket) -> bool:
    """Return whether every body that the manifest names is there with its digest."""
    rows = [body for snapshot in manifest(bucket)["snapshots"] for body in snapshot["bodies"].values()]
    stored = [bucket.get(row["path"]) for row in rows]
    return [hashlib.sha256(s.data).hexdigest() if s else "" for s in stored] == [row["sha256"] for row in rows]


def test_the_manifest_keeps_the_readers_schema_and_every_body_is_there() -> None:
    bucket = memory()
    ours = vault(bucket)

    ours.publish(offer(1))
    ours.publish(offer(2, minute=1))

    jsonschema.validate(manifest(bucket), SCHEMA)
    assert holds(bucket)
    assert ours.generation() == 2


def test_twenty_snapshots_are_kept_however_old_also_after_a_change_of_leaders() -> None:
    bucket = memory()

    for number in range(1, 24):
        leader = vault(bucket, f"w{number}", epoch=number)
        leader.publish(offer(leader.generation() + 1, minute=60 * number))

    assert sorted(bucket.folders("snapshots")) == [f"{2 * n - 1:012d}" for n in range(4, 24)]  # each leaves one out
    replaced = [row["replaced_at"] for row in manifest(bucket)["snapshots"]]
    assert replaced[:3] == [None, "2026-11-21T09:00:00Z", "2026-11-21T08:00:00Z"]
    assert holds(bucket)


def test_a_full_vault_sells_nothing_newer_until_the_oldest_quotes_have_run_out() -> None:
    bucket = memory()
    ours = vault(bucket)
    for number in range(1, 30):
        ours.publish(offer(number, second=1, size=VAULT_MOST_BYTES // 100))

    assert manifest(bucket)["generation"] == "000000000024"
    assert "000000000001" in bucket.folders("snapshots")
    ours.publish(offer(30, minute=22))
    assert manifest(bucket)["generation"] == "000000000030"
    assert len(bucket.folders("snapshots")) == 20


@pytest.mark.parametrize("how", [NOT_STORED, NOT_ANSWERED, "refused"])
@pytest.mark.parametrize(("where", "n"), [*(("snapshots/", n) for n in range(len(PRODUCTS))), ("manifest.json", 0)])
def test_whatever_write_fails_the_manifest_names_only_what_is_there(how: str, where: str, n: int) -> None:
    bucket = memory()
    vault(bucket).publish(offer(1))
    faulty = FaultyBucket(bucket)
    broken = vault(faulty, "b")
    broken.generation()
    faulty.how, faulty.where, faulty.n = how, where, n

    try:
        broken.publish(offer(2))
    except PublishError:
        assert manifest(bucket)["generation"] == "000000000001"
    else:
        assert how == NOT_ANSWERED

    assert holds(bucket)
    faulty.how = ""
    broken.publish(offer(3))
    assert manifest(bucket)["generation"] == "000000000003"
    assert holds(bucket)


def test_a_stopped_leader_cannot_sell_after_the_next_one_claimed_the_manifest() -> None:
    bucket = memory()
    stopped, following = vault(bucket, "a", epoch=1), vault(bucket, "b", epoch=2)
    stopped.publish(offer(1))
    following.generation()

    with pytest.raises(LeadershipLost):
        stopped.publish(offer(2))

    following.publish(offer(following.generation() + 1))
    jsonschema.validate(manifest(bucket), SCHEMA)
    assert holds(bucket)


@pytest.mark.parametrize("text", [b"not json", b'{"generation":"1"}', b'{"generation":"1","snapshots":[{}]}'])
def test_a_manifest_that_is_none_is_named_and_not_overwritten(text: bytes) -> None:
    bucket = memory()
    put(bucket, "manifest.json", text)

    with pytest.raises(PublishError, match=r"manifest\.json is not one of our pointers"):
        vault(bucket)

    assert bucket.get("manifest.json").data == text  # type: ignore[union-attr]
