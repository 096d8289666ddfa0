"""What the vault's manifest says; where it is kept, on a disk or in an object store, is its writers' business."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from generator.catalog.products import PRODUCTS, VAULT_SNAPSHOTS, Product

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


def manifest_of(offer: Offer, before: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the manifest that puts `offer` up for sale.

    Args:
        offer: the newest snapshot.
        before: rows of the snapshots of the last manifest, newest first.
    """
    newest = _snapshot(offer)
    replaced = [{**old, "replaced_at": old["replaced_at"] or offer.head["generated_at"]} for old in before]
    return {
        "schema_version": 1,
        "generation": offer.generation,
        **offer.head,
        "products": [_product(product, offer, newest["bodies"][product.id]) for product in PRODUCTS],
        "snapshots": [newest, *replaced][:VAULT_SNAPSHOTS],
    }


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """Encode a manifest."""
    return json.dumps(manifest, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def body_path(offer: Offer, product: Product) -> str:
    """Return where a body lies below the vault."""
    return f"snapshots/{offer.generation}/{product.id}.json"


def _snapshot(offer: Offer) -> dict[str, Any]:
    bodies = {
        product.id: {
            "path": body_path(offer, product),
            "sha256": hashlib.sha256(offer.bodies[product.id]).hexdigest(),
            "bytes": len(offer.bodies[product.id]),
            "price_atomic": product.price_atomic,
        }
        for product in PRODUCTS
    }
    return {"snapshot_id": offer.generation, "as_of": offer.as_of, "replaced_at": None, "bodies": bodies}


def _product(product: Product, offer: Offer, body: Mapping[str, Any]) -> dict[str, Any]:
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
