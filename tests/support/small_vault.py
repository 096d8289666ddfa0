"""Write vaults as a generator would: bodies first, the manifest last."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from generator.compose.challenge import BAZAAR_SCHEMA
from tests.support.clock import NOON

PRICES = {
    "x402-market-regime": 10_000,
    "x402-main-brain": 10_000,
    "x402-atlas": 20_000,
    "x402-atlas-human-report": 100_000,
}
PATHS = {name: f"/api/{name}.php" for name in PRICES}
START = NOON
GENERATION = "000000000007"


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def body_of(product: str, generation: str) -> bytes:
    return json.dumps({"endpoint": product, "payment_status": "settled", "snapshotId": generation}).encode()


def write_vault(
    folder: Path,
    *,
    generation: str = GENERATION,
    at: datetime = START,
    source_mode: str = "simulated",
    older: Mapping[str, datetime] | None = None,
) -> dict[str, Any]:
    """Write a vault with one newest generation and `older` ones (generation -> replaced_at)."""
    replaced: dict[str, datetime | None] = {generation: None, **(older or {})}
    snapshots = [_snapshot(folder, name, at, when) for name, when in replaced.items()]
    manifest = {
        "schema_version": 1,
        "generation": generation,
        "tick_id": at.strftime("%Y%m%dT%H%M%SZ"),
        "generated_at": stamp(at),
        "valid_until": stamp(at),
        "source_mode": source_mode,
        "project": "Educational Market Intelligence",
        "disclaimer": "For educational use only.",
        "products": [_product(name, snapshots[0]) for name in PRICES],
        "snapshots": snapshots,
    }
    write_manifest(folder, manifest)
    return manifest


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    draft = folder / "manifest.tmp"
    draft.write_text(json.dumps(manifest))
    draft.replace(folder / "manifest.json")


def _snapshot(folder: Path, generation: str, at: datetime, replaced: datetime | None) -> dict[str, Any]:
    bodies = {}
    for name, price in PRICES.items():
        path = folder / "snapshots" / generation / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = body_of(name, generation)
        path.write_bytes(content)
        bodies[name] = {
            "path": f"snapshots/{generation}/{name}.json",
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "price_atomic": price,
        }
    return {
        "snapshot_id": generation,
        "as_of": stamp(at),
        "replaced_at": stamp(replaced) if replaced else None,
        "bodies": bodies,
    }


def _product(name: str, snapshot: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "path": PATHS[name],
        "title": name,
        "product_id": None,
        "price_atomic": PRICES[name],
        "price_display": "0.01 USDC",
        "cache_control": "private, max-age=60" if PRICES[name] == 10_000 else "no-store",
        "description": "Everything the brain reads in one structured document: regime, assets and track record.",
        "challenge": _words(name, snapshot),
        "body": snapshot["bodies"][name],
        "bazaar": _bazaar(),
    }


def _words(name: str, snapshot: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "project": "Educational Market Intelligence",
        "ecosystem": "educational",
        "endpoint": name,
        "type": "paid_educational",
        "message": "Payment is needed first.",
        "what_this_is": "Educational market context.",
        "what_this_is_not": "Not advice.",
        "related_pages": {"docs": "/docs/"},
        "disclaimer": "For educational use only.",
        "quote": {
            "snapshotId": snapshot["snapshot_id"],
            "as_of": snapshot["as_of"],
            "valid_until": snapshot["as_of"],
            "sha256": snapshot["bodies"][name]["sha256"],
            "preview": {"market_mode": "hidden"},
            "price_in_words": "one cent",
        },
    }


def _bazaar() -> dict[str, Any]:
    example = {"payment_status": "settled", "summary": "x" * 340}
    return {
        "info": {
            "input": {"type": "http", "method": "GET", "queryParams": {}},
            "output": {"type": "json", "example": example},
        },
        "schema": BAZAAR_SCHEMA,
    }
