"""The vault: what is for sale, written before the site, read by the gateway through `manifest.json` alone."""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import structlog

from gateway.wire.foreign import read_json
from gateway.wire.space import reason_of
from generator.catalog.products import (
    PRODUCTS,
    QUOTE_GRACE_S,
    VAULT_MARGIN_S,
    VAULT_MOST_BYTES,
    VAULT_MOST_SNAPSHOTS,
    VAULT_SNAPSHOTS,
    Product,
)
from generator.errors import PublishError
from generator.release.disk import SHARED, LocalDisk
from generator.runtime.lease import Fence, no_fence

log = structlog.get_logger("emi.publish")
MANIFEST: Final = "manifest.json"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """What one tick puts up for sale: per product id the finished body, the 402 body's text and the declaration.

    A body that is not for sale lies there all the same: a gateway of an earlier version asks for every one.
    """

    generation: str
    # tick_id, generated_at, valid_until, source_mode, project, disclaimer, assets_version, menu, checkpoint
    head: Mapping[str, Any]
    as_of: str
    bodies: Mapping[str, bytes]
    challenges: Mapping[str, Mapping[str, Any]]
    bazaar: Mapping[str, Mapping[str, Any]]
    unavailable: Mapping[str, str] = field(default_factory=dict)  # product id -> why it is not for sale
    available_at: Mapping[str, str] = field(default_factory=dict)  # of these: when it may be, where that can be said


def has_room(offer: Offer, before: Sequence[Row]) -> bool:
    """Return whether one more snapshot can be put up for sale without dropping one that was promised.

    A generator that publishes far more often than once a minute, crashing and starting again, fills the vault with
    snapshots that can still be paid. Then what is for sale stays as it is until the oldest promises have run out.
    """
    kept = [_snapshot(offer, body_path), *_kept(offer, before)]
    if len(kept) <= VAULT_SNAPSHOTS:
        return True

    size = sum(body["bytes"] for row in kept for body in row["bodies"].values())
    return len(kept) <= VAULT_MOST_SNAPSHOTS and size <= VAULT_MOST_BYTES


def body_path(offer: Offer, product: Product) -> str:
    """Return where a body lies below the vault's folder."""
    return f"snapshots/{offer.generation}/{product.id}.json"


def manifest_of(
    offer: Offer, before: Sequence[Row], path: Callable[[Offer, Product], str] = body_path
) -> dict[str, Any]:
    """Return the manifest that puts `offer` up for sale, each body at its `path`.

    Of `before`, the last manifest's snapshots, newest first, those stay that can still be paid, and the newest others.
    """
    newest = _snapshot(offer, path)
    return {
        "schema_version": 1,
        "generation": offer.generation,
        **offer.head,
        "products": [_product(product, offer, newest["bodies"][product.id]) for product in PRODUCTS],
        "snapshots": [newest, *_kept(offer, before)],
    }


def _kept(offer: Offer, before: Sequence[Row]) -> list[Row]:
    now = datetime.fromisoformat(offer.head["generated_at"])
    replaced = [{**old, "replaced_at": old["replaced_at"] or offer.head["generated_at"]} for old in before]
    return [
        row for number, row in enumerate(replaced, start=1) if number < VAULT_SNAPSHOTS or now <= _needed_until(row)
    ]


def _needed_until(row: Row) -> datetime:
    """Return when a snapshot can no longer be asked for; what was bought by then is in the payments ledger."""
    promised = datetime.fromisoformat(row["replaced_at"]) + timedelta(seconds=QUOTE_GRACE_S)
    return max(promised, datetime.fromisoformat(row["valid_until"])) + timedelta(seconds=VAULT_MARGIN_S)


def _snapshot(offer: Offer, path: Callable[[Offer, Product], str]) -> dict[str, Any]:
    bodies = {}
    for product in PRODUCTS:
        content = offer.bodies[product.id]
        bodies[product.id] = {
            "path": path(offer, product),
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "price_atomic": product.price_atomic,
        }
        if product.id in offer.unavailable:
            bodies[product.id]["unavailable"] = offer.unavailable[product.id]
        if product.id in offer.available_at:
            bodies[product.id]["available_at"] = offer.available_at[product.id]

    # The last word of any of its quotes, which holds however soon it is replaced.
    valid_until = max(challenge["quote"]["valid_until"] for challenge in offer.challenges.values())
    return {
        "snapshot_id": offer.generation,
        "as_of": offer.as_of,
        "valid_until": valid_until,
        "replaced_at": None,
        "bodies": bodies,
    }


def _product(product: Product, offer: Offer, body: Mapping[str, Any]) -> dict[str, Any]:
    challenge = dict(offer.challenges[product.id])
    challenge["quote"] = {**challenge["quote"], "sha256": body["sha256"]}
    cache_control = f"private, max-age={product.cache_seconds}" if product.cache_seconds else "no-store"

    return {
        "id": product.id,
        "path": product.path,
        "title": product.title,
        "product_id": product.product_id,
        "price_atomic": product.price_atomic,
        "price_display": product.price_display,
        "cache_control": cache_control,
        "description": product.what_this_is,
        "challenge": challenge,
        "body": dict(body),
        "bazaar": dict(offer.bazaar[product.id]),
    }


class VaultFolder:
    """Snapshots below one folder; the manifest is the pointer and moves last."""

    def __init__(self, folder: Path, disk: LocalDisk | None = None, fence: Fence = no_fence) -> None:
        self._folder = folder
        self._disk = disk or LocalDisk(SHARED)
        self._fence = fence
        self._snapshots: list[dict[str, Any]] = []

    def open(self) -> None:
        """Create the folder and read the snapshots that can still be paid."""
        try:
            self._disk.folder(self._folder / "snapshots")
            self._look()
        except OSError as error:
            raise PublishError(f"vault folder {self._folder}: cannot use: {reason_of(error, self._folder)}") from error

    def generation(self) -> int:
        """Return the generation of the newest snapshot; 0 before the first."""
        return int(self._snapshots[0]["snapshot_id"]) if self._snapshots else 0

    def publish(self, offer: Offer) -> None:
        """Write the bodies, then swap the manifest; a vault full of what can still be paid stays as it is."""
        try:
            self._look()
            if self.generation() >= int(offer.generation):
                raise PublishError(f"vault {offer.generation} not published: {self.generation():012d} is there already")
            if not has_room(offer, self._snapshots):
                log.warning("too many quotes can still be paid: nothing newer is for sale", generation=offer.generation)
                return

            manifest = manifest_of(offer, self._snapshots)
            for product in PRODUCTS:
                self._disk.write(self._folder / body_path(offer, product), offer.bodies[product.id])
            self._disk.sync(self._folder)

            self._fence()
            data = json.dumps(manifest, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
            self._disk.replace_text(self._folder / MANIFEST, data)
        except OSError as error:
            raise PublishError(f"vault {offer.generation} not published: {reason_of(error, self._folder)}") from error

        self._snapshots = manifest["snapshots"]
        self._prune()

    def _look(self) -> None:
        """Read the manifest that readers have.

        A swap may have happened although it raised, and another leader may have written meanwhile: what they sold can
        still be paid, so it stays.
        """
        where = self._folder / MANIFEST
        try:
            self._snapshots = list(read_json(where.read_bytes())["snapshots"])
        except FileNotFoundError:
            self._snapshots = []
        except (ValueError, KeyError, TypeError) as error:
            raise PublishError(f"{where} is not a vault manifest; move it away to start a new vault") from error

    def _prune(self) -> None:
        """Drop snapshots that the manifest no longer names; a gateway that still reads one has it in memory."""
        kept = {snapshot["snapshot_id"] for snapshot in self._snapshots}
        with contextlib.suppress(OSError):  # published it is; the next tick prunes again
            for folder in list((self._folder / "snapshots").iterdir()):
                if folder.name not in kept:
                    shutil.rmtree(folder, ignore_errors=True)
