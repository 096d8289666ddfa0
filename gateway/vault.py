"""Read the vault: the manifest and the finished bodies, as one reference that is swapped whole."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import structlog
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from gateway.clock import Clock
from gateway.errors import VaultUnreadable

QUOTE_GRACE: Final = timedelta(minutes=15)
POLL_S: Final = 1.0
MAX_MANIFEST_BYTES: Final = 8 * 1024 * 1024
log = structlog.get_logger("gateway.vault")


@dataclass(frozen=True, slots=True)
class Body:
    """A finished 200 body, byte for byte as quoted."""

    content: bytes
    sha256: str
    price_atomic: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What can be paid for as one generation.

    Args:
        snapshot_id: the generation.
        as_of: market time of the data, as published.
        replaced_at: when a newer one replaced it, None for the newest.
        bodies: product id to body.
    """

    snapshot_id: str
    as_of: str
    replaced_at: datetime | None
    bodies: Mapping[str, Body]

    def payable(self, now: datetime) -> bool:
        """Tell whether a payment that nobody has seen before may still buy it."""
        return self.replaced_at is None or now <= self.replaced_at + QUOTE_GRACE


@dataclass(frozen=True, slots=True)
class VaultProduct:
    """One product's newest terms and words."""

    id: str
    path: str
    title: str
    product_id: str | None
    price_atomic: int
    price_display: str
    cache_control: str
    description: str
    challenge: Mapping[str, Any]
    bazaar: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LoadedVault:
    """Everything of one manifest, checked."""

    generation: str
    tick_id: str
    generated_at: datetime
    valid_until: datetime
    source_mode: str
    project: str
    disclaimer: str
    products: Mapping[str, VaultProduct]
    snapshots: Mapping[str, Snapshot]

    @property
    def newest(self) -> Snapshot:
        """The snapshot that new quotes name."""
        return self.snapshots[self.generation]

    def age_s(self, now: datetime) -> float:
        """Return seconds since the vault was written."""
        return (now - self.generated_at).total_seconds()


@cache
def manifest_validator() -> Draft202012Validator:
    """Return the validator of `manifest.schema.json`, the reader's own schema."""
    text = resources.files("gateway").joinpath("manifest.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def load_vault(folder: Path, known: LoadedVault | None = None) -> LoadedVault:
    """Read and check a whole vault.

    Args:
        folder: where manifest.json lies.
        known: an earlier vault whose bodies, which never change under one digest, need no second reading.

    Raises:
        VaultUnreadable: a file is missing, unreadable, or not what the manifest says.
    """
    manifest = _read_manifest(folder / "manifest.json")
    held = (
        {body.sha256: body.content for shot in known.snapshots.values() for body in shot.bodies.values()}
        if known
        else {}
    )
    snapshots = {row["snapshot_id"]: _snapshot(folder, row, held) for row in manifest["snapshots"]}
    newest = manifest["snapshots"][0]
    if newest["snapshot_id"] != manifest["generation"] or newest["replaced_at"] is not None:
        message = "the first snapshot is not the newest generation"
        raise VaultUnreadable(message)
    products = {row["path"]: _product(row, snapshots[manifest["generation"]]) for row in manifest["products"]}
    return LoadedVault(
        generation=manifest["generation"],
        tick_id=manifest["tick_id"],
        generated_at=_time(manifest["generated_at"]),
        valid_until=_time(manifest["valid_until"]),
        source_mode=manifest["source_mode"],
        project=manifest["project"],
        disclaimer=manifest["disclaimer"],
        products=products,
        snapshots=snapshots,
    )


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            message = f"the manifest is larger than {MAX_MANIFEST_BYTES} bytes"
            raise VaultUnreadable(message)
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        message = f"the manifest cannot be read: {error}"
        raise VaultUnreadable(message) from error
    fault = best_match(manifest_validator().iter_errors(manifest))
    if fault is not None:
        message = f"the manifest is not valid at {fault.json_path}: {fault.message[:200]}"
        raise VaultUnreadable(message)
    result: dict[str, Any] = manifest
    return result


def _snapshot(folder: Path, row: dict[str, Any], held: Mapping[str, bytes]) -> Snapshot:
    bodies = {name: _body(folder, body, held) for name, body in row["bodies"].items()}
    replaced = row["replaced_at"]
    return Snapshot(row["snapshot_id"], row["as_of"], _time(replaced) if replaced else None, bodies)


def _body(folder: Path, row: dict[str, Any], held: Mapping[str, bytes]) -> Body:
    content = held.get(row["sha256"])
    if content is None:
        try:
            content = (folder / row["path"]).read_bytes()
        except OSError as error:
            message = f"the body {row['path']} cannot be read: {error.strerror}"
            raise VaultUnreadable(message) from error
    if len(content) != row["bytes"] or hashlib.sha256(content).hexdigest() != row["sha256"]:
        message = f"the body {row['path']} is not the one the manifest names"
        raise VaultUnreadable(message)
    return Body(content, row["sha256"], row["price_atomic"])


def _product(row: dict[str, Any], newest: Snapshot) -> VaultProduct:
    body = newest.bodies.get(row["id"])
    if body is None or body.sha256 != row["body"]["sha256"] or body.price_atomic != row["price_atomic"]:
        message = f"the product {row['id']} and its newest snapshot disagree"
        raise VaultUnreadable(message)
    names = ("id", "path", "title", "product_id", "price_atomic", "price_display", "cache_control", "description")
    return VaultProduct(**{name: row[name] for name in names}, challenge=row["challenge"], bazaar=row["bazaar"])


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


class Vault:
    """Hold the newest good vault of a folder.

    Args:
        folder: where manifest.json lies.
        clock: the process's clock.
        max_age_s: seconds after which no new quote is made of it.
    """

    def __init__(self, folder: Path, clock: Clock, max_age_s: float) -> None:
        self._folder = folder
        self._clock = clock
        self._max_age_s = max_age_s
        self._seen: tuple[int, int, int] | None = None
        self._loaded: LoadedVault | None = None
        self._complained = ""

    def current(self) -> LoadedVault | None:
        """Return the newest good vault, None when there never was one."""
        return self._loaded

    def too_old(self) -> bool:
        """Tell whether the vault is older than new quotes may be."""
        return self._loaded is None or self._loaded.age_s(self._clock.now()) > self._max_age_s

    async def refresh(self) -> bool:
        """Load the vault in a thread if its manifest was replaced.

        Returns:
            True when another vault stands now.
        """
        mark = self._mark()
        if mark is None or mark == self._seen:
            return False
        try:
            loaded = await asyncio.to_thread(load_vault, self._folder, self._loaded)
        except VaultUnreadable as error:
            # Marked as seen only once it loaded: a reader that came between two renames looks again.
            self._complain(str(error))
            return False
        self._seen, self._loaded, self._complained = mark, loaded, ""
        return True

    def _mark(self) -> tuple[int, int, int] | None:
        try:
            stat = (self._folder / "manifest.json").stat()
        except OSError as error:
            self._complain(f"no manifest: {error.strerror}")
            return None
        return (stat.st_mtime_ns, stat.st_ino, stat.st_size)

    def _complain(self, text: str) -> None:
        if text != self._complained:
            self._complained = text
            log.warning("vault not usable, the last good one stands", reason=text)
