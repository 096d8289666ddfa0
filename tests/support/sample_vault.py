"""A vault as the generator writes it, small, with a real digest for every body."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from generator.catalog.products import PRODUCTS, Product
from generator.catalog.text.answers import DEFAULT_PROJECT, DISCLAIMER

GENERATION = "000000000042"


def write_vault(folder: Path, *, now: datetime | None = None, source_mode: str = "simulated") -> Mapping[str, bytes]:
    """Write one snapshot of the four products and return their bytes by product id."""
    now = now or datetime.now(UTC)
    bodies = {product.id: json.dumps(body_of(product, now)).encode() for product in PRODUCTS}
    shots = folder / "snapshots" / GENERATION
    shots.mkdir(parents=True, exist_ok=True)
    rows = {}
    for product in PRODUCTS:
        (shots / f"{product.id}.json").write_bytes(bodies[product.id])
        rows[product.id] = {
            "path": f"snapshots/{GENERATION}/{product.id}.json",
            "sha256": hashlib.sha256(bodies[product.id]).hexdigest(),
            "bytes": len(bodies[product.id]),
            "price_atomic": product.price_atomic,
        }
    snapshot = {"snapshot_id": GENERATION, "as_of": iso(now), "replaced_at": None, "bodies": rows}
    head = {
        "schema_version": 1,
        "generation": GENERATION,
        "tick_id": now.strftime("%Y%m%dT%H%M%SZ"),
        "generated_at": iso(now),
        "valid_until": iso(now + timedelta(seconds=180)),
        "source_mode": source_mode,
        "project": DEFAULT_PROJECT,
        "disclaimer": DISCLAIMER,
    }
    products = [_product(product, rows[product.id], now) for product in PRODUCTS]
    draft = folder / "manifest.part"
    draft.write_text(json.dumps({**head, "products": products, "snapshots": [snapshot]}))
    draft.replace(folder / "manifest.json")
    return bodies


def body_of(product: Product, now: datetime) -> dict[str, Any]:
    body = {
        "success": True,
        "project": DEFAULT_PROJECT,
        "endpoint": product.id,
        "type": product.type,
        "payment_status": "settled",
        "product": product.title,
        "price_atomic": product.price_atomic,
        "snapshotId": GENERATION,
        "as_of": iso(now),
        "disclaimer": DISCLAIMER,
    }
    if product.id == "x402-atlas-human-report":
        return body | {"report": _report(now)}
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


def _report(now: datetime) -> dict[str, Any]:
    asset = {"asset": "BTC", "name": "Bitcoin", "price": 64120.5, "change_24h": -0.42, "text": "Moves sideways."}
    return {
        "title": "The market now: sideways & calm",
        "verdict": "Prices have moved <little> since yesterday.",
        "as_of": iso(now),
        "what_changed": ["Volatility fell from elevated to normal."],
        "assets": [
            asset,
            {**asset, "asset": "XLM", "name": "Stellar", "price": None, "change_24h": None, "text": "Not known."},
        ],
        "derivatives": {"text": "Futures are balanced.", "points": ["Funding is small."]},
        "liquidity": {"text": "Enough can change hands.", "points": []},
        "scenarios": [
            {"name": "It stays quiet", "text": "Prices stay in their range.", "wrong_if": "BTC leaves it for an hour."}
        ],
        "arena": {"text": "A round is live.", "points": []},
        "track_record": {
            "text": "12 of 30 were right.",
            "n": 30,
            "right": 12,
            "losses": 18,
            "warm_up": 30,
            "latest_arena_losses": ["BTC at 09:00"],
        },
        "evidence": {"used": ["prices"], "missing": ["liquidations"], "disagreeing": []},
        "glossary": [{"word": "Volatility", "meaning": "How much a price moves."}],
        "limits": ["It predicts no gain."],
        "receipt": {
            "snapshotId": GENERATION,
            "product": "x402-atlas-human-report",
            "price_atomic": 100_000,
            "as_of": iso(now),
        },
    }


def _product(product: Product, body: dict[str, Any], now: datetime) -> dict[str, Any]:
    preview = {
        "status": "available",
        "source_mode": "simulated",
        "assets_total": 7,
        "assets_verified": 6,
        "limitations": 1,
        "sections": ["verdict", "what_changed", "scenarios"],
        "redacted": ["verdict", "scenarios"],
    }
    quote = {
        "snapshotId": GENERATION,
        "as_of": iso(now),
        "valid_until": iso(now + timedelta(minutes=15)),
        "sha256": body["sha256"],
        "preview": preview,
        "price_in_words": f"{product.price_display.split()[0]} USD Coin",
    }
    challenge = {
        "project": DEFAULT_PROJECT,
        "ecosystem": "Educational market data.",
        "endpoint": product.id,
        "type": product.type,
        "message": "Payment is needed first.",
        "what_this_is": product.what_this_is,
        "what_this_is_not": "It is not advice of any kind.",
        "related_pages": {"buyer": "/x402-buyer/"},
        "disclaimer": DISCLAIMER,
        "quote": quote,
    }
    return {
        "id": product.id,
        "path": product.path,
        "title": product.title,
        "product_id": product.product_id,
        "price_atomic": product.price_atomic,
        "price_display": product.price_display,
        "cache_control": f"private, max-age={product.cache_seconds}" if product.cache_seconds else "no-store",
        "description": product.what_this_is,
        "challenge": challenge,
        "body": body,
        "bazaar": {"info": {"input": {"type": "http", "method": "GET"}, "output": {"type": "json"}}, "schema": {}},
    }


def iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
