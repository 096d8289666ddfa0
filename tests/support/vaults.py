"""The one writer of vaults, as a generator writes them: bodies first, the manifest last."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from generator.catalog.products import PRODUCTS, Product
from generator.catalog.text.answers import DEFAULT_PROJECT, DISCLAIMER
from generator.compose.challenge import BAZAAR_SCHEMA
from tests.support.clock import NOON

PRICES: Final = {product.id: product.price_atomic for product in PRODUCTS}
SHOWN: Final = {product.id: product.price_display for product in PRODUCTS}
PATHS: Final = {product.id: product.path for product in PRODUCTS}
START: Final = NOON
GENERATION: Final = "000000000007"
BodyOf = Callable[[str, str], bytes]


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def body_of(product: str, generation: str) -> bytes:
    """Return a body as small as can be."""
    return json.dumps({"endpoint": product, "payment_status": "settled", "snapshotId": generation}).encode()


def write_vault(
    folder: Path,
    *,
    generation: str = GENERATION,
    at: datetime = START,
    source_mode: str = "simulated",
    older: Mapping[str, datetime] | None = None,
    body: BodyOf = body_of,
    prices: Mapping[str, int] = PRICES,
    checkpoint: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write a vault with one newest generation and `older` ones (generation -> replaced_at)."""
    products = [replace(product, price_atomic=prices[product.id]) for product in PRODUCTS]
    replaced: dict[str, datetime | None] = {generation: None, **(older or {})}
    snapshots = [
        _snapshot(folder, name, at, replaced_at=when, body=body, products=products) for name, when in replaced.items()
    ]
    manifest = {
        "schema_version": 1,
        "generation": generation,
        "tick_id": at.strftime("%Y%m%dT%H%M%SZ"),
        "generated_at": stamp(at),
        "valid_until": stamp(at + timedelta(minutes=3)),
        "source_mode": source_mode,
        "project": DEFAULT_PROJECT,
        "disclaimer": DISCLAIMER,
        "products": [_product(product, snapshots[0]) for product in products],
        "snapshots": snapshots,
    }
    if checkpoint is not None:
        manifest["checkpoint"] = dict(checkpoint)
    write_manifest(folder, manifest)
    return manifest


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    draft = folder / "manifest.tmp"
    draft.write_text(json.dumps(manifest))
    draft.replace(folder / "manifest.json")


def write_sample_vault(
    folder: Path, *, now: datetime | None = None, source_mode: str = "simulated"
) -> dict[str, bytes]:
    """Write a vault of now whose bodies have something to show; return them by product id."""
    now = now or datetime.now(UTC)
    generation = "000000000042"
    folder.mkdir(parents=True, exist_ok=True)
    bodies = {product.id: json.dumps(_sample(product, generation, now)).encode() for product in PRODUCTS}
    write_vault(folder, generation=generation, at=now, source_mode=source_mode, body=lambda name, _: bodies[name])
    return bodies


def _snapshot(
    folder: Path,
    generation: str,
    at: datetime,
    *,
    replaced_at: datetime | None,
    body: BodyOf,
    products: Sequence[Product],
) -> dict[str, Any]:
    bodies = {}
    for product in products:
        name = product.id
        path = folder / "snapshots" / generation / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = body(name, generation)
        path.write_bytes(content)
        bodies[name] = {
            "path": f"snapshots/{generation}/{name}.json",
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "price_atomic": product.price_atomic,
        }
    return {
        "snapshot_id": generation,
        "as_of": stamp(at),
        "replaced_at": stamp(replaced_at) if replaced_at else None,
        "bodies": bodies,
    }


def _product(product: Product, snapshot: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": product.id,
        "path": product.path,
        "title": product.title,
        "product_id": product.product_id,
        "price_atomic": product.price_atomic,
        "price_display": product.price_display,
        "cache_control": f"private, max-age={product.cache_seconds}" if product.cache_seconds else "no-store",
        "description": product.what_this_is,
        "challenge": _challenge(product, snapshot),
        "body": snapshot["bodies"][product.id],
        "bazaar": {
            "info": {
                "input": {"type": "http", "method": "GET", "queryParams": {}},
                "output": {"type": "json", "example": {"payment_status": "settled", "summary": "x" * 340}},
            },
            "schema": BAZAAR_SCHEMA,
        },
    }


def _challenge(product: Product, snapshot: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "project": DEFAULT_PROJECT,
        "ecosystem": "Educational market data.",
        "endpoint": product.id,
        "type": product.type,
        "message": "Payment is needed first.",
        "what_this_is": product.what_this_is,
        "what_this_is_not": "It is not advice of any kind.",
        "related_pages": {"buyer": "/x402-buyer/"},
        "disclaimer": DISCLAIMER,
        "quote": {
            "snapshotId": snapshot["snapshot_id"],
            "as_of": snapshot["as_of"],
            "valid_until": stamp(datetime.fromisoformat(snapshot["as_of"]) + timedelta(minutes=15)),
            "sha256": snapshot["bodies"][product.id]["sha256"],
            "preview": {
                "status": "available",
                "source_mode": "simulated",
                "assets_total": 7,
                "assets_verified": 6,
                "limitations": 1,
                "sections": ["verdict", "what_changed", "partition"],
                "redacted": ["verdict", "partition"],
            },
            "price_in_words": f"{product.price_display.split()[0]} USD Coin",
        },
    }


def _sample(product: Product, generation: str, now: datetime) -> dict[str, Any]:
    body = {
        "success": True,
        "project": DEFAULT_PROJECT,
        "endpoint": product.id,
        "type": product.type,
        "payment_status": "settled",
        "product": product.title,
        "price_atomic": product.price_atomic,
        "snapshotId": generation,
        "as_of": stamp(now),
        "disclaimer": DISCLAIMER,
    }
    if product.id == "x402-atlas-human-report":
        return body | {"report": _report(product, generation, now)}
    regime = {"label": "range", "confidence": 61.2, "since": None}
    assets = {
        name: {"asset": name, "price": price, "bias": "FLAT"}
        for name, price in (("BTC", 64120.5), ("ETH", 3120.1), ("XLM", None))
    }
    return body | {
        "summary": "A quiet market.",
        "intelligence_layer": {"regime": regime, "assets": assets},
        "limitations": ["No books."],
    }


def _report(product: Product, generation: str, now: datetime) -> dict[str, Any]:
    asset = {"asset": "BTC", "name": "Bitcoin", "price": 64120.5, "change_24h": -0.42, "text": "Moves sideways."}
    return {
        "title": "The market now: sideways & calm",
        "verdict": "Prices have moved <little> since yesterday.",
        "as_of": stamp(now),
        "what_changed": ["Volatility fell from elevated to normal."],
        "assets": [
            asset,
            {**asset, "asset": "XLM", "name": "Stellar", "price": None, "change_24h": None, "text": "Not known."},
        ],
        "derivatives": {"text": "Futures are balanced.", "points": ["Funding is small."]},
        "liquidity": {"text": "Enough can change hands.", "points": []},
        "partition": {"text": "Four hours in three parts.", "points": ["Prices stay within their usual move: 38%."]},
        "arena": {"text": "A round is live.", "points": []},
        "track_record": {
            "text": "12 of 30 were right.",
            "n": 30,
            "right": 12,
            "losses": 18,
            "warm_up": 30,
            "latest_arena_losses": [],
        },
        "evidence": {"used": ["prices"], "missing": ["liquidations"], "disagreeing": []},
        "limits": ["It predicts no gain."],
        "receipt": {
            "snapshotId": generation,
            "product": product.id,
            "price_atomic": product.price_atomic,
            "as_of": stamp(now),
        },
    }
