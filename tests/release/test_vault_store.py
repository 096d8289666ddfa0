"""The vault: bodies first, manifest last, and the schema that its reader owns."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from generator.catalog.products import (
    PRODUCTS,
    QUOTE_GRACE_S,
    VAULT_MARGIN_S,
    VAULT_MOST_BYTES,
    VAULT_MOST_SNAPSHOTS,
)
from generator.errors import PublishError
from generator.release.disk import LocalDisk, StrPath
from generator.release.vault import Offer, VaultFolder, has_room, manifest_of

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
SCHEMA = json.loads((Path(__file__).parents[2] / "gateway" / "vault" / "manifest.schema.json").read_text())


def stamp(second: int) -> str:
    """Return a time so many seconds after ten o'clock."""
    return (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def offer(number: int, minute: int = 0, second: int = 0, size: int = 0) -> Offer:
    now = 60 * minute + second
    at = stamp(now)
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
        "quote": {"snapshotId": f"{number:012d}", "valid_until": stamp(now - now % 60 + 60 + QUOTE_GRACE_S)},
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
        bodies={product.id: json.dumps([product.id, number, "x" * size]).encode() for product in PRODUCTS},
        challenges={product.id: challenge for product in PRODUCTS},
        bazaar={product.id: {} for product in PRODUCTS},
    )


class Unsynced(LocalDisk):
    """A disk for hundreds of publishes in a row, which waits for no platter."""

    def sync(self, folder: StrPath) -> None:
        """Trust the page cache."""

    def replace_text(self, path: Path, data: bytes) -> None:
        fresh = path.with_name("fresh")
        fresh.write_bytes(data)
        fresh.replace(path)


def opened(folder: Path, disk: LocalDisk | None = None) -> VaultFolder:
    vault = VaultFolder(folder, disk)
    vault.open()
    return vault


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())


def test_a_new_vault_holds_the_folder_of_its_snapshots_alone(tmp_path: Path) -> None:
    vault = opened(tmp_path / "vault")

    assert (vault.generation(), [path.name for path in (tmp_path / "vault").iterdir()]) == (0, ["snapshots"])


def test_a_replaced_snapshot_says_when_and_keeps_that_time(tmp_path: Path) -> None:
    vault = opened(tmp_path)
    for number in (1, 2, 3):
        vault.publish(offer(number, minute=number))

    replaced = [snapshot["replaced_at"] for snapshot in manifest(tmp_path)["snapshots"]]

    assert replaced == [None, "2026-11-20T10:03:00Z", "2026-11-20T10:02:00Z"]


def test_twenty_snapshots_are_kept_however_old_also_after_a_restart(tmp_path: Path) -> None:
    for number in range(1, 24):
        opened(tmp_path, Unsynced()).publish(offer(number, minute=60 * number))

    names = {folder.name for folder in (tmp_path / "snapshots").iterdir()}

    assert names == {f"{number:012d}" for number in range(4, 24)}
    assert len(manifest(tmp_path)["snapshots"]) == 20


def test_a_snapshot_stays_for_as_long_as_its_quote_can_be_paid(tmp_path: Path) -> None:
    for number in range(1, 101):
        opened(tmp_path, Unsynced()).publish(offer(number, second=number // 2))

    assert shown(tmp_path) == [f"{number:012d}" for number in range(100, 0, -1)]
    jsonschema.validate(manifest(tmp_path), SCHEMA)
    opened(tmp_path, Unsynced()).publish(offer(101, second=60 + QUOTE_GRACE_S + VAULT_MARGIN_S))
    assert len(shown(tmp_path)) == 101
    opened(tmp_path, Unsynced()).publish(offer(102, second=60 + QUOTE_GRACE_S + VAULT_MARGIN_S + 1))
    assert shown(tmp_path) == [f"{number:012d}" for number in range(102, 82, -1)]
    assert len(list((tmp_path / "snapshots").iterdir())) == 20


def test_a_snapshot_says_until_when_its_quotes_are_good(tmp_path: Path) -> None:
    opened(tmp_path, Unsynced()).publish(offer(1, second=5))

    opened(tmp_path, Unsynced()).publish(offer(2, second=6))

    first = manifest(tmp_path)["snapshots"][1]
    assert (first["replaced_at"], first["valid_until"]) == ("2026-11-20T10:00:06Z", "2026-11-20T10:16:00Z")


def test_a_clock_that_jumps_back_takes_nothing_from_the_quotes(tmp_path: Path) -> None:
    for number in range(1, 31):
        opened(tmp_path, Unsynced()).publish(offer(number, minute=600, second=number))

    opened(tmp_path, Unsynced()).publish(offer(31))

    assert len(shown(tmp_path)) == 31


def test_a_full_vault_sells_nothing_newer_until_the_oldest_quotes_have_run_out(tmp_path: Path) -> None:
    vault = opened(tmp_path, Unsynced())
    for number in range(1, 30):
        vault.publish(offer(number, second=1, size=VAULT_MOST_BYTES // 100))

    assert shown(tmp_path) == [f"{number:012d}" for number in range(24, 0, -1)]
    assert vault.generation() == 24
    opened(tmp_path, Unsynced()).publish(offer(30, minute=22))
    assert len(shown(tmp_path)) == 20
    assert shown(tmp_path)[:2] == ["000000000030", "000000000024"]


def test_so_many_snapshots_are_for_sale_at_once_and_no_more() -> None:
    made = [manifest_of(offer(number), [])["snapshots"][0] for number in range(VAULT_MOST_SNAPSHOTS, 0, -1)]
    rows = [{**row, "replaced_at": stamp(1)} for row in made]

    assert has_room(offer(500, second=1), rows[1:])
    assert not has_room(offer(500, second=1), rows)
    assert has_room(offer(500, minute=22), rows)


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


def test_a_product_that_is_not_for_sale_says_why_and_the_others_do_not(tmp_path: Path) -> None:
    opened(tmp_path).publish(replace(offer(1), unavailable={PRODUCTS[0].id: "no order book"}))

    shown = manifest(tmp_path)["snapshots"][0]["bodies"]
    assert {name: row.get("unavailable") for name, row in shown.items()} == {
        product.id: "no order book" if product is PRODUCTS[0] else None for product in PRODUCTS
    }


def test_a_manifest_describes_each_product_as_the_catalog_does() -> None:
    sold = replace(offer(1), bazaar={product.id: {"of": product.id} for product in PRODUCTS})

    made = manifest_of(sold, [])

    assert (made["schema_version"], made["generation"]) == (1, "000000000001")
    assert {name: made[name] for name in sold.head} == sold.head
    assert [row["id"] for row in made["products"]] == [product.id for product in PRODUCTS]
    for product, row in zip(PRODUCTS, made["products"], strict=True):
        of_catalog = ("path", "title", "product_id", "price_atomic", "price_display")
        body = sold.bodies[product.id]
        digest = hashlib.sha256(body).hexdigest()
        assert {name: row[name] for name in of_catalog} == {name: getattr(product, name) for name in of_catalog}
        assert row["description"] == product.what_this_is
        lasts = product.cache_seconds
        assert row["cache_control"] == (f"private, max-age={lasts}" if lasts else "no-store")
        assert row["challenge"]["quote"]["sha256"] == digest
        assert row["bazaar"] == sold.bazaar[product.id]
        assert row["body"] == {
            "path": f"snapshots/000000000001/{product.id}.json",
            "sha256": digest,
            "bytes": len(body),
            "price_atomic": product.price_atomic,
        }


def test_a_manifest_is_written_as_short_as_it_can_be_and_as_it_reads(tmp_path: Path) -> None:
    sold = offer(1)
    opened(tmp_path).publish(replace(sold, head={**sold.head, "disclaimer": "\N{PLUS-MINUS SIGN}1%"}))

    text = (tmp_path / "manifest.json").read_text()

    assert text == json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    assert "\N{PLUS-MINUS SIGN}1%" in text


def test_a_manifest_that_is_none_is_named_and_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("not json")

    with pytest.raises(PublishError, match=r"manifest\.json is not a vault manifest"):
        opened(tmp_path)

    assert (tmp_path / "manifest.json").read_text() == "not json"
