"""The vault in an object store: bodies first, then the manifest, by compare-and-swap; the reader's schema is kept."""

import hashlib
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import jsonschema
import pytest

from generator.catalog.products import PRODUCTS
from generator.errors import PublishError
from generator.release.bucket.store import Bucket
from generator.release.bucket.vault import BucketVault
from generator.release.vault import body_path, manifest_of
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

    ids = [row["snapshot_id"] for row in manifest(bucket)["snapshots"]]
    assert ids == [f"{2 * n - 1:012d}" for n in range(23, 3, -1)]  # each leaves one out
    replaced = [row["replaced_at"] for row in manifest(bucket)["snapshots"]]
    assert replaced[:3] == [None, "2026-11-21T09:00:00Z", "2026-11-21T08:00:00Z"]
    assert holds(bucket)


@pytest.mark.parametrize("how", [NOT_STORED, NOT_ANSWERED, "refused"])
@pytest.mark.parametrize(("where", "n"), [*(("o/", n) for n in range(len(PRODUCTS))), ("manifest.json", 0)])
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


@pytest.mark.parametrize("text", [b"not json", b'{"generation":"1"}'])
def test_a_manifest_that_is_none_is_named_and_not_overwritten(text: bytes) -> None:
    bucket = memory()
    put(bucket, "manifest.json", text)

    with pytest.raises(PublishError, match=r"manifest\.json is not one of our pointers"):
        vault(bucket)

    assert bucket.get("manifest.json").data == text  # type: ignore[union-attr]


def test_bodies_that_did_not_change_are_not_put_again() -> None:
    bucket = FaultyBucket(memory())
    ours = vault(bucket)
    first = offer(1)
    ours.publish(first)
    bucket.writes = []

    changed = {**offer(2, minute=1).bodies, PRODUCTS[0].id: first.bodies[PRODUCTS[0].id]}
    ours.publish(replace(offer(2, minute=1), bodies=changed))

    assert len(bucket.writes) == len(PRODUCTS) - 1 + 1  # and the manifest
    assert holds(bucket)


def test_a_body_that_can_be_paid_stays_however_old_and_one_that_cannot_goes() -> None:
    bucket = FaultyBucket(memory())
    ours = vault(bucket)
    for number in range(1, 22):
        ours.publish(offer(number, minute=60 * number))
    named = {body["path"] for row in manifest(bucket)["snapshots"] for body in row["bodies"].values()}

    bucket.now += timedelta(days=2)
    for number in (22, 23):
        ours.publish(offer(number, minute=60 * number))

    there = set(bucket.files("o"))
    assert holds(bucket)
    assert len(there & named) == 18 * len(PRODUCTS)
    assert len(there - named) == 2 * len(PRODUCTS)


def test_bodies_of_the_former_layout_stay_while_the_manifest_names_them() -> None:
    bucket = FaultyBucket(memory())
    former = manifest_of(offer(1), [])
    for product in PRODUCTS:
        bucket.create(body_path(offer(1), product), offer(1).bodies[product.id], {})
    bucket.create("manifest.json", json.dumps(former).encode(), {})
    bucket.create("snapshots/000000000000/old.json", b"{}", {})
    ours = vault(bucket)
    bucket.now += timedelta(days=2)

    for number in (3, 4):
        ours.publish(offer(number, minute=number))

    jsonschema.validate(manifest(bucket), SCHEMA)
    assert holds(bucket)
    assert set(bucket.files("snapshots")) == {body_path(offer(1), product) for product in PRODUCTS}
