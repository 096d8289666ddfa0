"""Read the vault: the manifest and the finished bodies, as one reference that is swapped whole."""

import asyncio
import hashlib
import math
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any, Final

import structlog
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from gateway.clock import Clock
from gateway.errors import VaultUnreadable
from gateway.vault.bucket import VaultFiles
from gateway.wire.foreign import read_json

QUOTE_GRACE: Final = timedelta(minutes=15)
# How far ahead of ours the generator's clock may be: beyond it one of the two is wrong.
FUTURE_S: Final = 60.0
# A vault that wants more of the memory is refused whole; a generator stays below half of it.
MAX_VAULT_BYTES: Final = 64 * 1024 * 1024
POLL_S: Final = 1.0
# Until what is not for sale is asked for again: at the earliest with the next release; once a day where it is unknown.
LEAST_WAIT_S: Final = 60
UNKNOWN_WAIT_S: Final = 86_400
FETCH_S: Final = 20.0
FETCHED_AT_ONCE: Final = 8
log = structlog.get_logger("gateway.vault")


@dataclass(frozen=True, slots=True)
class VaultBody:
    """A finished 200 body, byte for byte as quoted."""

    content: bytes
    sha256: str
    price_atomic: int
    unavailable: str | None = None  # why it is not for sale, None where it is
    available_at: datetime | None = None  # when it may be for sale at the earliest; None where that is not known


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What can be paid for as one generation."""

    snapshot_id: str  # the generation
    replaced_at: datetime | None  # by a newer one; None for the newest
    valid_until: datetime | None  # the latest time that any of its quotes named; None if the generator did not say
    bodies: Mapping[str, VaultBody]  # by product id

    def promised_until(self) -> datetime | None:
        """Return until when a quote of it holds, whatever happens to the generator; None if no time was named."""
        after = None if self.replaced_at is None else self.replaced_at + QUOTE_GRACE
        return max((time for time in (self.valid_until, after) if time is not None), default=None)


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
    generated_at: datetime
    valid_until: datetime
    source_mode: str
    disclaimer: str
    products: Mapping[str, VaultProduct]
    snapshots: Mapping[str, Snapshot]
    assets_version: str = ""  # of the scripts and style sheets that the same generator publishes; empty if not said
    menu: tuple[tuple[str, str], ...] = ()  # label and path of each page at the top of every page
    checkpoint: Mapping[str, Any] | None = None  # head of the published log; None where there is none

    @property
    def newest(self) -> Snapshot:
        """The snapshot that new quotes name."""
        return self.snapshots[self.generation]

    def unavailable(self, path: str) -> VaultBody | None:
        """Return the newest body of a path that is not for sale, None where it is or nothing ever is at that path."""
        product = self.products.get(path)
        body = None if product is None else self.newest.bodies[product.id]
        return None if body is None or body.unavailable is None else body

    def age_s(self, now: datetime) -> float:
        """Return seconds since the vault was written."""
        return (now - self.generated_at).total_seconds()


@cache
def manifest_validator() -> Draft202012Validator:
    """Return the validator of `manifest.schema.json`, the reader's own schema."""
    text = resources.files("gateway.vault").joinpath("manifest.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(read_json(text))


def read_manifest(data: bytes) -> dict[str, Any]:
    """Parse a manifest; raise VaultUnreadable when it is not JSON, or not what the schema says."""
    try:
        manifest: dict[str, Any] = read_json(data)
    except ValueError as error:
        raise VaultUnreadable(f"the manifest cannot be read: {error}") from error
    fault = best_match(manifest_validator().iter_errors(manifest))
    if fault is not None:
        raise VaultUnreadable(f"the manifest is not valid at {fault.json_path}: {fault.message[:200]}")
    return manifest


def assemble(manifest: Mapping[str, Any], contents: Mapping[str, bytes]) -> LoadedVault:
    """Put a vault together; raise VaultUnreadable when the manifest contradicts itself.

    Args:
        manifest: as `read_manifest` returned it.
        contents: every body that it names, by its SHA-256, which was checked.
    """
    snapshots = {row["snapshot_id"]: _snapshot(row, contents) for row in manifest["snapshots"]}
    newest = manifest["snapshots"][0]
    if newest["snapshot_id"] != manifest["generation"] or newest["replaced_at"] is not None:
        raise VaultUnreadable("the first snapshot is not the newest generation")

    products = {row["path"]: _product(row, snapshots[manifest["generation"]]) for row in manifest["products"]}
    return LoadedVault(
        generation=manifest["generation"],
        generated_at=_time(manifest["generated_at"]),
        valid_until=_time(manifest["valid_until"]),
        source_mode=manifest["source_mode"],
        disclaimer=manifest["disclaimer"],
        products=products,
        snapshots=snapshots,
        assets_version=manifest.get("assets_version", ""),
        menu=tuple((label, path) for label, path in manifest.get("menu", ())),
        checkpoint=manifest.get("checkpoint"),
    )


async def load_vault(files: VaultFiles, manifest: Mapping[str, Any], held: dict[str, bytes]) -> LoadedVault:
    """Fetch what is missing and put the vault together, in a thread.

    Args:
        files: where the bodies come from.
        manifest: as `read_manifest` returned it.
        held: bodies by SHA-256, which need no second reading; those that are fetched are added, also when another
            one then fails, so that the next try has less to do.

    Raises:
        VaultUnreadable: a body is missing, unreadable, not what the manifest says, or did not come in time.
    """
    rows = {row["sha256"]: row for shot in manifest["snapshots"] for row in shot["bodies"].values()}
    if sum(row["bytes"] for row in rows.values()) > MAX_VAULT_BYTES:
        raise VaultUnreadable(f"the bodies of the vault are larger than {MAX_VAULT_BYTES} bytes together")
    for digest in held.keys() - rows.keys():
        del held[digest]
    missing = [row for digest, row in rows.items() if digest not in held]

    turns = asyncio.Semaphore(FETCHED_AT_ONCE)

    async def fetch(row: Mapping[str, Any]) -> None:
        async with turns:
            content = await files.body(row["path"])
        if len(content) != row["bytes"] or hashlib.sha256(content).hexdigest() != row["sha256"]:
            raise VaultUnreadable(f"the body {row['path']} is not the one the manifest names")
        held[row["sha256"]] = content

    try:
        async with asyncio.timeout(FETCH_S):
            ends = await asyncio.gather(*(fetch(row) for row in missing), return_exceptions=True)
    except TimeoutError as error:
        message = f"{len(rows) - len(held)} bodies did not come within {FETCH_S:g} s; the next refresh continues"
        raise VaultUnreadable(message) from error
    for fault in ends:
        if fault is not None:
            raise fault
    return await asyncio.to_thread(assemble, manifest, held)


def _snapshot(row: Mapping[str, Any], contents: Mapping[str, bytes]) -> Snapshot:
    bodies = {
        name: VaultBody(
            contents[body["sha256"]],
            body["sha256"],
            body["price_atomic"],
            body.get("unavailable"),
            _time(body["available_at"]) if "available_at" in body else None,
        )
        for name, body in row["bodies"].items()
    }
    replaced, valid_until = (_time(row[name]) if row.get(name) else None for name in ("replaced_at", "valid_until"))
    return Snapshot(row["snapshot_id"], replaced, valid_until, bodies)


def _product(row: Mapping[str, Any], newest: Snapshot) -> VaultProduct:
    body = newest.bodies.get(row["id"])
    if body is None or body.sha256 != row["body"]["sha256"] or body.price_atomic != row["price_atomic"]:
        raise VaultUnreadable(f"the product {row['id']} and its newest snapshot disagree")
    return VaultProduct(**{field.name: row[field.name] for field in fields(VaultProduct)})


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


class VaultReader:
    """Hold the newest good vault, of which no new quote is made after `max_age_s` seconds."""

    def __init__(self, files: VaultFiles, clock: Clock, max_age_s: float) -> None:
        self._files = files
        self._clock = clock
        self._max_age_s = max_age_s

        # What is held: the mark of its manifest, its bodies by digest, when it was written and what it promised.
        self._mark: Hashable = None
        self._bodies: dict[str, bytes] = {}
        self._loaded: LoadedVault | None = None
        self._written_s = 0.0
        self._promises: dict[str, tuple[datetime, float]] = {}

        self._look_at_s = float("-inf")
        self._complained = ""

    def current(self) -> LoadedVault | None:
        """Return the newest good vault, None when there never was one."""
        return self._loaded

    def disclaimer(self) -> str | None:
        """Return the educational notice of what is held, None while nothing is."""
        return None if self._loaded is None else self._loaded.disclaimer

    def age_s(self) -> float | None:
        """Return seconds since the vault was written, None without one; below zero when its time is to come.

        Two clocks are asked and the later one counts: setting the wall clock back makes nothing younger.
        """
        if self._loaded is None:
            return None

        age_s = self._loaded.age_s(self._clock.now())
        if age_s < -FUTURE_S:
            return age_s
        return max(age_s, self._clock.monotonic() - self._written_s)

    def fault(self) -> str | None:
        """Say why no new quote may be made of what is held, None when one may."""
        age_s = self.age_s()
        if age_s is None:
            return "no data has been published yet"
        if age_s < -FUTURE_S:
            return "the data is from the future: check the clocks"
        if age_s > self._max_age_s:
            return "the data is too old to sell"
        return None

    def payable(self, snapshot: Snapshot) -> bool:
        """Return whether a new payment may still buy a snapshot."""
        return snapshot.replaced_at is None or self.promised(snapshot)

    def wait_s(self, body: VaultBody) -> int:
        """Return seconds until a body that is not for sale may be; a day where the generator could not say."""
        if body.available_at is None:
            return UNKNOWN_WAIT_S
        return max(LEAST_WAIT_S, math.ceil((body.available_at - self._clock.now()).total_seconds()))

    def promised(self, snapshot: Snapshot) -> bool:
        """Return whether a quote that was made of a snapshot holds, whatever happened since, also to the generator."""
        promise = self._promises.get(snapshot.snapshot_id)
        return promise is not None and self._clock.monotonic() <= promise[1]

    async def refresh(self, prepare: Callable[[LoadedVault], Awaitable[None]] | None = None) -> bool:
        """Load the vault if its manifest was replaced and it is time to look; return whether it changed.

        Args:
            prepare: what is to be done with a new vault before it is held; until then the one before it is.
        """
        now_s = self._clock.monotonic()
        if now_s < self._look_at_s:
            return False

        self._look_at_s = now_s + self._files.poll_s
        try:
            replaced = await self._files.manifest(self._mark)
            if replaced is None:
                self._complained = ""
                return False

            manifest = await asyncio.to_thread(read_manifest, replaced.data)
            loaded = await load_vault(self._files, manifest, self._bodies)
            self._refuse_older(loaded)
            if prepare is not None:
                await prepare(loaded)
        except VaultUnreadable as error:
            # Marked only once it loaded: a reader that came between two renames looks again.
            self._complain(error)
            return False

        self._date(loaded)
        self._mark = replaced.mark
        self._loaded = loaded
        self._complained = ""
        return True

    def _date(self, loaded: LoadedVault) -> None:
        """Put the times of a new vault on the monotonic clock; what was put there before keeps its place."""
        now = self._clock.now()
        now_s = self._clock.monotonic()

        held = self._loaded
        if held is None or (loaded.generation, loaded.generated_at) != (held.generation, held.generated_at):
            self._written_s = now_s - max(loaded.age_s(now), 0.0)

        promises: dict[str, tuple[datetime, float]] = {}
        for name, snapshot in loaded.snapshots.items():
            until = snapshot.promised_until()
            if until is None:
                continue

            before = self._promises.get(name)
            if before is not None and before[0] == until:
                promises[name] = before
                continue

            # By the generator's clock or by ours, whichever leaves less.
            left_s = min((until - now).total_seconds(), (until - loaded.generated_at).total_seconds())
            promises[name] = (until, now_s + left_s)
        self._promises = promises

    def _refuse_older(self, loaded: LoadedVault) -> None:
        """Refuse what an outdated copy of a store says; a vault that was begun again is younger."""
        held = self._loaded
        if held and loaded.generation < held.generation and loaded.generated_at < held.generated_at:
            raise VaultUnreadable(f"generation {loaded.generation} is older than {held.generation}, which is held")

    def _complain(self, error: VaultUnreadable) -> None:
        text = str(error)
        if text == self._complained:
            return

        self._complained = text
        if self._loaded is None and isinstance(error.__cause__, FileNotFoundError):
            log.info("no vault yet", reason=text)  # the generator was started just now as well
        else:
            log.warning("vault not usable, the last good one is kept", reason=text)
