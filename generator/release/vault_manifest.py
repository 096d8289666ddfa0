"""What the vault's manifest says; where it is kept, on a disk or in an object store, is its writers' business."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from generator.catalog.products import (
    PRODUCTS,
    QUOTE_GRACE_S,
    VAULT_MARGIN_S,
    VAULT_MOST_BYTES,
    VAULT_MOST_SNAPSHOTS,
    VAULT_SNAPSHOTS,
    Product,
)

MANIFEST: Final = "manifest.json"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """What one tick puts up for sale: per product id the finished body, the 402 body's text and the declaration."""

    generation: str
    head: Mapping[str, Any]  # tick_id, generated_at, valid_until, source_mode, project, disclaimer, assets_version
    as_of: str
    bodies: Mapping[str, bytes]
    challenges: Mapping[str, Mapping[str, Any]]
    bazaar: Mapping[str, Mapping[str, Any]]


def has_room(offer: Offer, before: Sequence[Row]) -> bool:
    """Return whether one more snapshot can be put up for sale without dropping one that was promised.

    A generator that publishes far more often than once a minute, crashing and starting again, fills the vault with
    snapshots that can still be paid. Then what is for sale stays as it is until the oldest promises have run out.

    Args:
        offer: the snapshot to come.
        before: rows of the snapshots of the last manifest, newest first.
    """
    kept = [_snapshot(offer), *_kept(offer, before)]
    size = sum(body["bytes"] for row in kept for body in row["bodies"].values())
    return len(kept) <= VAULT_SNAPSHOTS or (len(kept) <= VAULT_MOST_SNAPSHOTS and size <= VAULT_MOST_BYTES)


def manifest_of(offer: Offer, before: Sequence[Row]) -> dict[str, Any]:
    """Return the manifest that puts `offer` up for sale.

    Args:
        offer: the newest snapshot.
        before: rows of the snapshots of the last manifest, newest first; those are kept that can still be paid, and
            the newest of the others.
    """
    newest = _snapshot(offer)
    return {
        "schema_version": 1,
        "generation": offer.generation,
        **offer.head,
        "products": [_product(product, offer, newest["bodies"][product.id]) for product in PRODUCTS],
        "snapshots": [newest, *_kept(offer, before)],
    }


def _kept(offer: Offer, before: Sequence[Row]) -> list[Row]:
    now = _time(offer.head["generated_at"])
    replaced = [{**old, "replaced_at": old["replaced_at"] or offer.head["generated_at"]} for old in before]
    return [
        row for number, row in enumerate(replaced, start=1) if number < VAULT_SNAPSHOTS or now <= _needed_until(row)
    ]


def _needed_until(row: Row) -> datetime:
    """Return when nobody can ask for a snapshot any more; what was bought by then is in the payments ledger."""
    promised = _time(row["replaced_at"]) + timedelta(seconds=QUOTE_GRACE_S)
    # A row of an older program names no such time.
    quoted = _time(row["valid_until"]) if "valid_until" in row else promised
    return max(promised, quoted) + timedelta(seconds=VAULT_MARGIN_S)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


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
    return {
        "snapshot_id": offer.generation,
        "as_of": offer.as_of,
        # The last word of any of its quotes, which holds however soon it is replaced.
        "valid_until": max(challenge["quote"]["valid_until"] for challenge in offer.challenges.values()),
        "replaced_at": None,
        "bodies": bodies,
    }


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
