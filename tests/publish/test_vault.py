"""The vault: bodies first, manifest last, and the schema that its reader owns."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from generator.catalog.products import PRODUCTS
from generator.errors import PublishError
from generator.publish.disk import LocalDisk
from generator.publish.vault import Offer, Vault
from tests.publish.disks import FailingDisk

SCHEMA = json.loads((Path(__file__).parents[2] / "gateway" / "manifest.schema.json").read_text())


def offer(number: int, minute: int = 0) -> Offer:
    at = f"2026-11-20T10:{minute:02d}:00Z"
    challenge = {
        "project": "P",
        "ecosystem": "Algorand",
        "endpoint": "x402",
        "type": "t",
        "message": "m",
        "what_this_is": "w",
        "what_this_is_not": "n",
        "related_pages": {},
        "disclaimer": "d",
        "quote": {"snapshotId": f"{number:012d}"},
    }
    return Offer(
        generation=f"{number:012d}",
        head={
            "tick_id": "20261120T100000Z",
            "generated_at": at,
            "valid_until": at,
            "source_mode": "simulated",
            "project": "P",
            "disclaimer": "d",
        },
        as_of=at,
        bodies={product.id: json.dumps({"product": product.id, "n": number}).encode() for product in PRODUCTS},
        challenges={product.id: challenge for product in PRODUCTS},
        bazaar={product.id: {} for product in PRODUCTS},
    )


def opened(folder: Path, disk: LocalDisk | None = None) -> Vault:
    vault = Vault(folder, disk)
    vault.open()
    return vault


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())


def test_the_manifest_keeps_the_readers_schema(tmp_path: Path) -> None:
    vault = opened(tmp_path)
    vault.publish(offer(1))

    vault.publish(offer(2, minute=1))

    jsonschema.validate(manifest(tmp_path), SCHEMA)


def test_every_named_body_is_on_disk_with_its_digest(tmp_path: Path) -> None:
    vault = opened(tmp_path)
    vault.publish(offer(1))
    vault.publish(offer(2))

    rows = [body for snapshot in manifest(tmp_path)["snapshots"] for body in snapshot["bodies"].values()]

    assert len(rows) == 2 * len(PRODUCTS)
    for row in rows:
        data = (tmp_path / row["path"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (row["sha256"], row["bytes"])


def test_a_replaced_snapshot_says_when_and_keeps_that_time(tmp_path: Path) -> None:
    vault = opened(tmp_path)
    for number in (1, 2, 3):
        vault.publish(offer(number, minute=number))

    replaced = [snapshot["replaced_at"] for snapshot in manifest(tmp_path)["snapshots"]]

    assert replaced == [None, "2026-11-20T10:03:00Z", "2026-11-20T10:02:00Z"]


def test_twenty_snapshots_are_kept_also_after_a_restart(tmp_path: Path) -> None:
    for number in range(1, 24):
        opened(tmp_path).publish(offer(number))

    names = {folder.name for folder in (tmp_path / "snapshots").iterdir()}

    assert names == {f"{number:012d}" for number in range(4, 24)}
    assert len(manifest(tmp_path)["snapshots"]) == 20


@pytest.mark.parametrize("done", [False, True], ids=["before", "done but raised"])
@pytest.mark.parametrize(("step", "n"), [("write", 0), ("write", 3), ("sync", 0), ("replace", 0)])
def test_a_failure_at_any_step_leaves_a_whole_vault_and_nothing_sold_is_lost(
    tmp_path: Path, step: str, n: int, done: bool
) -> None:
    disk = FailingDisk(step, n, done=done)
    disk.heal()
    vault = opened(tmp_path, disk)
    vault.publish(offer(1))
    disk.armed = True

    with pytest.raises(PublishError, match="No space left"):
        vault.publish(offer(2))

    swapped = (step, done) == ("replace", True)
    assert shown(tmp_path) == (["000000000002", "000000000001"] if swapped else ["000000000001"])
    disk.heal()
    vault.publish(offer(3))
    assert shown(tmp_path) == ["000000000003", *(["000000000002"] if swapped else []), "000000000001"]


def shown(folder: Path) -> list[str]:
    """Return the snapshots that the manifest names, whose bodies are all there."""
    snapshots = manifest(folder)["snapshots"]
    for row in (body for snapshot in snapshots for body in snapshot["bodies"].values()):
        assert hashlib.sha256((folder / row["path"]).read_bytes()).hexdigest() == row["sha256"]
    return [snapshot["snapshot_id"] for snapshot in snapshots]


def test_a_new_leader_keeps_what_the_last_one_sold(tmp_path: Path) -> None:
    standby = opened(tmp_path)
    leader = opened(tmp_path)
    leader.publish(offer(1))
    leader.publish(offer(2))

    standby.publish(offer(3))

    assert shown(tmp_path) == ["000000000003", "000000000002", "000000000001"]
    with pytest.raises(PublishError, match="000000000003 is there already"):
        leader.publish(offer(3))


def test_a_manifest_that_is_none_is_named_and_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("not json")

    with pytest.raises(PublishError, match=r"manifest\.json is not a vault manifest"):
        opened(tmp_path)

    assert (tmp_path / "manifest.json").read_text() == "not json"
