"""The vault: what is for sale, written before the site, read by the gateway through `manifest.json` alone."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from generator.catalog.products import PRODUCTS, VAULT_SNAPSHOTS, Product
from generator.errors import PublishError
from generator.lease.fence import Fence, one_writer
from generator.publish.disk import Disk, LocalDisk

MANIFEST: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class Offer:
    """What one tick puts up for sale: per product id the finished body, the 402 body's text and the declaration."""

    generation: str
    head: Mapping[str, Any]  # tick_id, generated_at, valid_until, source_mode, project, disclaimer
    as_of: str
    bodies: Mapping[str, bytes]
    challenges: Mapping[str, Mapping[str, Any]]
    bazaar: Mapping[str, Mapping[str, Any]]


class Vault:
    """Snapshots below one folder; the manifest is the pointer and moves last."""

    def __init__(self, folder: Path, disk: Disk | None = None, fence: Fence = one_writer) -> None:
        self._folder = folder
        self._disk: Disk = disk or LocalDisk()
        self._fence = fence
        self._snapshots: list[dict[str, Any]] = []

    def open(self) -> None:
        """Create the folder and read the snapshots that can still be paid.

        Raises:
            PublishError: the folder cannot be written, or its manifest is not one.
        """
        try:
            (self._folder / "snapshots").mkdir(parents=True, exist_ok=True)
            text = (self._folder / MANIFEST).read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise PublishError(f"vault folder {self._folder}: cannot use: {error.strerror or error}") from error
        try:
            self._snapshots = list(json.loads(text)["snapshots"])
        except (ValueError, KeyError, TypeError) as error:
            where = self._folder / MANIFEST
            raise PublishError(f"{where} is not a vault manifest; move it away to start a new vault") from error

    def generation(self) -> int:
        """Return the generation of the newest snapshot; 0 before the first."""
        return int(self._snapshots[0]["snapshot_id"]) if self._snapshots else 0

    def publish(self, offer: Offer) -> None:
        """Write the bodies, then swap the manifest.

        Raises:
            PublishError: the last manifest stands.
        """
        snapshots = [self._snapshot(offer), *self._replaced(offer)][:VAULT_SNAPSHOTS]
        products = [self._product(product, offer, snapshots[0]["bodies"][product.id]) for product in PRODUCTS]
        manifest = {
            "schema_version": 1,
            "generation": offer.generation,
            **offer.head,
            "products": products,
            "snapshots": snapshots,
        }
        data = json.dumps(manifest, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        try:
            for product in PRODUCTS:
                path = self._folder / snapshots[0]["bodies"][product.id]["path"]
                self._disk.write(path, offer.bodies[product.id])
            self._disk.sync(self._folder)
            self._fence()
            self._disk.replace_text(self._folder / MANIFEST, data)
        except OSError as error:
            raise PublishError(f"vault {offer.generation} not published: {error.strerror or error}") from error
        self._snapshots = snapshots
        self._prune()

    def _snapshot(self, offer: Offer) -> dict[str, Any]:
        bodies = {
            product.id: {
                "path": f"snapshots/{offer.generation}/{product.id}.json",
                "sha256": hashlib.sha256(offer.bodies[product.id]).hexdigest(),
                "bytes": len(offer.bodies[product.id]),
                "price_atomic": product.price_atomic,
            }
            for product in PRODUCTS
        }
        return {"snapshot_id": offer.generation, "as_of": offer.as_of, "replaced_at": None, "bodies": bodies}

    def _replaced(self, offer: Offer) -> list[dict[str, Any]]:
        return [{**old, "replaced_at": old["replaced_at"] or offer.head["generated_at"]} for old in self._snapshots]

    def _product(self, product: Product, offer: Offer, body: Mapping[str, Any]) -> dict[str, Any]:
        challenge = dict(offer.challenges[product.id])
        challenge["quote"] = {**challenge["quote"], "sha256": body["sha256"]}
        cache = f"private, max-age={product.cache_seconds}" if product.cache_seconds else "no-store"
        return {
            "id": product.id,
            "path": product.path,
            "title": product.title,
            "product_id": product.product_id,
            "price_atomic": product.price_atomic,
            "price_display": product.price_display,
            "cache_control": cache,
            "description": product.what_this_is,
            "challenge": challenge,
            "body": dict(body),
            "bazaar": dict(offer.bazaar[product.id]),
        }

    def _prune(self) -> None:
        """Drop snapshots that the manifest no longer names; a gateway that still reads one has it in memory."""
        kept = {snapshot["snapshot_id"] for snapshot in self._snapshots}
        for folder in (self._folder / "snapshots").iterdir():
            if folder.name not in kept:
                shutil.rmtree(folder, ignore_errors=True)
