"""Which faults a look shows: a pure function of what was seen now and of what the look before kept.

Every fault is found within three minutes of its start, or of crossing its limit, when it is looked for once a minute.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeAlias

from generator.watch.seen import Folder, Gateway, Seen

MINUTE_S: Final = 60.0
DAY_S: Final = 86_400.0
TICK_AGE_S: Final = 120.0
"""A tick a minute, published within its deadline of 50 s: what is older was followed by none."""
VAULT_AGE_S: Final = 300.0
AHEAD_S: Final = 60.0
SILENT_S: Final = 60.0
FEWEST_VENUES: Final = 2
CLOCK_STEP_S: Final = 2.0
CERTIFICATE_DAYS: Final = 14
BACKUP_AGE_S: Final = 26 * 3_600.0
FULL_PERCENT: Final = 5.0
FULL_BYTES: Final = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a look keeps for the next one, to see what changed."""

    boot: str = ""
    apart_s: float = 0.0  # wall time minus the time since the machine's start
    restarts: Mapping[str, int] = field(default_factory=dict)


Found: TypeAlias = Mapping[str, str]
"""What is wrong, by its subject: a venue, a folder, a unit; empty for a fault that has no subject. None: not known."""
Look: TypeAlias = Callable[[Seen, Anchors], "Found | None"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault."""

    name: str
    meaning: str  # for people, in a few words
    look: Look
    lasting_s: float = 0.0  # how long it must be seen before it is one


def anchors_of(seen: Seen, before: Anchors) -> Anchors:
    """Return what the next look compares with."""
    restarts = dict(before.restarts)
    restarts.update({unit.name: unit.restarts for unit in seen.units or ()})
    return Anchors(seen.boot, seen.at - seen.up_s, restarts)


def judge(seen: Seen, before: Anchors) -> dict[str, Found | None]:
    """Return what each kind of fault finds; None where this look cannot tell."""
    return {fault.name: fault.look(seen, before) for fault in FAULTS}


def _tick(seen: Seen, _before: Anchors) -> Found | None:
    if seen.release is None:
        return {"": f"no release can be read: {seen.no_release}"} if seen.no_release else None
    age_s = seen.at - seen.release.generated_at
    if age_s <= TICK_AGE_S:
        return {}
    return {"": f"the last release is of {_clock(seen.release.generated_at)}, {age_s:.0f} s ago; one a minute is due"}


def _gateway(seen: Seen, _before: Anchors) -> Found | None:
    if seen.no_gateway:
        return {"": f"the gateway does not answer: {seen.no_gateway}"}
    return None if seen.gateway is None else {}


def _venues(seen: Seen, _before: Anchors) -> Found | None:
    release = seen.release
    if release is None:
        return None
    if not release.live or release.priced >= FEWEST_VENUES:
        return {}
    return {"": f"{release.priced} of {release.asked} venues give prices"}


def _venue(seen: Seen, _before: Anchors) -> Found | None:
    if seen.release is None:
        return None
    return {name: f"{name} has answered nothing for half an hour" for name in seen.release.gone}


def _disk_hung(seen: Seen, _before: Anchors) -> Found | None:
    return {
        folder.path: f"{folder.path} does not answer: its disk hangs" for folder in seen.folders if folder.hung
    } or _known(seen.folders)


def _disk_full(seen: Seen, _before: Anchors) -> Found | None:
    if any(folder.hung for folder in seen.folders):
        return None
    found = {folder.path: said for folder in seen.folders if (said := _too_full(folder))}
    return found or _known(seen.folders)


def _too_full(folder: Folder) -> str | None:
    if folder.fault:
        return f"nothing can be written to {folder.path}: {folder.fault}"
    if folder.free_files_percent < FULL_PERCENT:
        return f"{folder.path} has room for {folder.free_files_percent:.1f}% of its files"
    if folder.free_bytes is None:
        return None
    if folder.free_percent < FULL_PERCENT or folder.free_bytes < FULL_BYTES:
        return f"{folder.path} has {folder.free_percent:.1f}% free, {folder.free_bytes / 1e6:.0f} MB"
    return None


def _known(looked_at: tuple[object, ...]) -> Found | None:
    return {} if looked_at else None


def _of_the_gateway(said: Callable[[Gateway], str | None]) -> Look:
    """Return a look at one thing that the gateway says of itself."""

    def look(seen: Seen, _before: Anchors) -> Found | None:
        if seen.gateway is None:
            return None
        text = said(seen.gateway)
        return {"": text} if text else {}

    return look


def _facilitator(gateway: Gateway) -> str | None:
    if gateway.facilitator_age_s > SILENT_S:
        return f"the facilitator has given no good answer to /supported for {gateway.facilitator_age_s:.0f} s"
    if gateway.facilitator_failing_s > SILENT_S:
        return f"the facilitator's verify or settle has failed for {gateway.facilitator_failing_s:.0f} s"
    return None


def _ledger(gateway: Gateway) -> str | None:
    if gateway.ledger_fault:
        return gateway.ledger_fault
    if gateway.ledger_write_age_s > SILENT_S:
        return f"the payments ledger has taken no write for {gateway.ledger_write_age_s:.0f} s"
    return None


def _vault(gateway: Gateway) -> str | None:
    age_s = gateway.vault_age_s
    if age_s is None:
        return "there is no vault to sell from"
    if age_s < -AHEAD_S:
        return f"the vault is {-age_s:.0f} s ahead of this clock"
    return f"the vault is {age_s:.0f} s old" if age_s > VAULT_AGE_S else None


def _node(seen: Seen, _before: Anchors) -> Found | None:
    if seen.no_node:
        return {"": seen.no_node}
    if seen.gateway is not None and seen.gateway.chain_failing_s > SILENT_S:
        return {"": f"algod or the indexer has failed for {seen.gateway.chain_failing_s:.0f} s"}
    return {} if seen.node_asked else None


def _clock_stepped(seen: Seen, before: Anchors) -> Found | None:
    if before.boot != seen.boot:
        return {}
    step_s = seen.at - seen.up_s - before.apart_s
    if abs(step_s) < CLOCK_STEP_S:
        return {}
    return {"": f"the clock was set {'ahead' if step_s > 0 else 'back'} by {abs(step_s):.1f} s"}


def _certificate(seen: Seen, _before: Anchors) -> Found | None:
    certificate = seen.certificate
    if certificate is None:
        return None
    if certificate.fault:
        return {"": f"readers do not accept the certificate: {certificate.fault}"}
    if certificate.ends_at is None:
        return None
    days = (certificate.ends_at - seen.at) / DAY_S
    return {"": f"the certificate ends in {days:.1f} days"} if days < CERTIFICATE_DAYS else {}


def _backup(seen: Seen, _before: Anchors) -> Found | None:
    if seen.backup is None:
        return None
    if seen.backup.fault:
        return {"": f"the last backup failed: {seen.backup.fault}"}
    age_s = seen.at - seen.backup.good_at
    return {"": f"the last backup is {age_s / 3_600:.1f} hours old"} if age_s > BACKUP_AGE_S else {}


def _drill(seen: Seen, _before: Anchors) -> Found | None:
    if seen.drill is None:
        return None
    return {"": f"the restore that was tried failed: {seen.drill.fault}"} if seen.drill.fault else {}


def _unit(seen: Seen, _before: Anchors) -> Found | None:
    if seen.units is None:
        return None
    return {unit.name: f"{unit.name} has failed" for unit in seen.units if unit.failed}


def _restarted(seen: Seen, before: Anchors) -> Found | None:
    if seen.units is None:
        return None
    more = [unit for unit in seen.units if unit.restarts > before.restarts.get(unit.name, unit.restarts)]
    return {unit.name: f"{unit.name} hung or ended, and was started again" for unit in more}


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


FAULTS: Final = (
    Fault("tick", "no tick is published", _tick),
    Fault("gateway", "the gateway hangs or is down", _gateway, lasting_s=MINUTE_S),
    Fault("venues", "fewer than two venues give prices", _venues),
    Fault("venue", "a venue is gone", _venue, lasting_s=30 * MINUTE_S),
    Fault("disk-hung", "a disk hangs", _disk_hung, lasting_s=MINUTE_S),
    Fault("disk-full", "a disk is full", _disk_full),
    Fault("facilitator", "the facilitator is dead", _of_the_gateway(_facilitator)),
    Fault("node", "the node is dead", _node, lasting_s=MINUTE_S),
    Fault("ledger", "the payments ledger is lost, damaged or takes no write", _of_the_gateway(_ledger)),
    Fault("clock", "the clock was stepped", _clock_stepped),
    Fault("vault", "what is for sale is too old", _of_the_gateway(_vault), lasting_s=MINUTE_S),
    Fault("certificate", "the certificate ends soon", _certificate),
    Fault("backup", "the last backup is too old", _backup),
    Fault("drill", "a restore that was tried failed", _drill),
    Fault("unit", "a unit failed", _unit),
    Fault("restarted", "a program hung or ended, and was started again", _restarted),
)
