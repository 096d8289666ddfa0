"""Which faults a look shows: a pure function of what was seen now and of what the look before kept.

Every fault is found within three minutes of its start, or of crossing its limit, when it is looked for once a minute.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gateway.wire.limits import (
    AHEAD_S,
    BACKUP_AGE_S,
    CERTIFICATE_DAYS,
    CLOCK_STEP_S,
    DRILL_AGE_S,
    FEWEST_VENUES,
    FULL_BYTES,
    FULL_PERCENT,
    READING_AGE_S,
    STORE_REFUSALS,
    TICK_AGE_S,
    UNANSWERED_S,
    VAULT_AGE_S,
    WITNESS_S,
)
from generator.catalog.durations import DAY_S, HOUR_S, MINUTE_S
from generator.catalog.formats import iso_of_s
from generator.operate.watch.health import Health
from generator.operate.watch.seen import Folder, Gateway, Seen

_CHANGING: Final = re.compile(r"[\d.]+")


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a look keeps for the next one, to see what changed."""

    boot: str = ""
    apart_s: float = 0.0  # wall time minus the time since the machine's start
    restarts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one subject.

    Args:
        cause: stays the same for as long as it is the same thing that is wrong, whatever figures its text has; another
            cause is another fault, which is reported although the first one was.
        text: for the operator.
    """

    cause: str
    text: str


Found: TypeAlias = Mapping[str, Finding]
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


def faults_of(health: Health) -> dict[str, bool]:
    """Return whether each fault is there of which the generator itself is the witness, as a look at its file finds."""
    seen = Seen(at=health.at, up_s=0.0, boot="", generator=health)
    faults = judge(seen, Anchors())
    return {name: bool(faults[name]) for name in OF_THE_GENERATOR}


def judge(seen: Seen, before: Anchors) -> dict[str, Found | None]:
    """Return what each kind of fault finds; None where this look cannot tell."""
    return {fault.name: fault.look(seen, before) for fault in FAULTS}


def as_written(text: str) -> Finding:
    """Return a finding whose cause is its text without the figures in it.

    >>> as_written("no write for 77 s").cause
    'no write for # s'
    """
    return Finding(_CHANGING.sub("#", text), text)


def _only(cause: str, text: str) -> Found:
    return {"": Finding(cause, text)}


def _said(text: str | None) -> Found:
    """Return what a program says is wrong, in its own words."""
    return {"": as_written(text)} if text else {}


def _tick(seen: Seen, _before: Anchors) -> Found | None:
    if seen.release is None:
        return _only("unread", f"no release can be read: {seen.no_release}") if seen.no_release else None
    age_s = seen.at - seen.release.generated_at
    if age_s <= TICK_AGE_S:
        return {}
    text = f"the last release is of {iso_of_s(seen.release.generated_at)}, {age_s:.0f} s ago; one a minute is due"
    return _only("late", text)


def _gateway(seen: Seen, _before: Anchors) -> Found | None:
    if seen.no_gateway:
        return _said(f"the gateway does not answer: {seen.no_gateway}")
    return None if seen.gateway is None else {}


def _edge(seen: Seen, _before: Anchors) -> Found | None:
    if seen.no_edge:
        return _said(f"readers get no answer: {seen.no_edge}")
    return {} if seen.edge else None


def _venues(seen: Seen, _before: Anchors) -> Found | None:
    release = seen.release
    if release is None:
        return None
    if not release.live or release.priced >= FEWEST_VENUES:
        return {}
    return _only("few", f"{release.priced} of {release.asked} venues give prices")


def _venue(seen: Seen, _before: Anchors) -> Found | None:
    if seen.release is None:
        return None
    return {name: as_written(f"{name} has answered nothing for half an hour") for name in seen.release.gone}


def _disk_hung(seen: Seen, _before: Anchors) -> Found | None:
    hung = [folder.path for folder in seen.folders if folder.hung]
    return {path: Finding("hung", f"{path} does not answer: its disk hangs") for path in hung} or _known(seen.folders)


def _disk_full(seen: Seen, _before: Anchors) -> Found | None:
    if any(folder.hung for folder in seen.folders):
        return None
    findings = {folder.path: finding for folder in seen.folders if (finding := _too_full(folder))}
    return findings or _known(seen.folders)


def _too_full(folder: Folder) -> Finding | None:
    if folder.fault:
        return as_written(f"nothing can be written to {folder.path}: {folder.fault}")

    if folder.free_files_percent < FULL_PERCENT:
        return Finding("files", f"{folder.path} has room for {folder.free_files_percent:.1f}% of its files")
    if folder.free_bytes is None:
        return None

    if folder.free_percent < FULL_PERCENT or folder.free_bytes < FULL_BYTES:
        text = f"{folder.path} has {folder.free_percent:.1f}% free, {folder.free_bytes / 1e6:.0f} MB"
        return Finding("bytes", text)
    return None


def _known(looked_at: tuple[object, ...]) -> Found | None:
    return {} if looked_at else None


def _of_the_gateway(fault_in: Callable[[Gateway], Finding | None]) -> Look:
    """Return a look at one thing that the gateway says of itself."""

    def look(seen: Seen, _before: Anchors) -> Found | None:
        if seen.gateway is None:
            return None
        finding = fault_in(seen.gateway)
        return {"": finding} if finding else {}

    return look


def _of_the_generator(faults_in: Callable[[Health], Found]) -> Look:
    """Return a look at one thing that the generator says of itself."""

    def look(seen: Seen, _before: Anchors) -> Found | None:
        return None if seen.generator is None else faults_in(seen.generator)

    return look


def _facilitator(gateway: Gateway) -> Finding | None:
    if gateway.facilitator_age_s > UNANSWERED_S:
        text = f"the facilitator has given no good answer to /supported for {gateway.facilitator_age_s:.0f} s"
        return Finding("supported", text)
    if gateway.facilitator_failing_s > UNANSWERED_S:
        text = f"the facilitator's verify or settle has failed for {gateway.facilitator_failing_s:.0f} s"
        return Finding("calls", text)
    return None


def _ledger(gateway: Gateway) -> Finding | None:
    if gateway.ledger_fault:
        return as_written(gateway.ledger_fault)
    if gateway.ledger_write_age_s > UNANSWERED_S:
        return Finding("write", f"the payments ledger has taken no write for {gateway.ledger_write_age_s:.0f} s")
    return None


def _vault(gateway: Gateway) -> Finding | None:
    age_s = gateway.vault_age_s
    if age_s is None:
        return Finding("none", "there is no vault to sell from")
    if age_s < -AHEAD_S:
        return Finding("ahead", f"the vault is {-age_s:.0f} s ahead of this clock")
    return Finding("old", f"the vault is {age_s:.0f} s old") if age_s > VAULT_AGE_S else None


def _node(seen: Seen, _before: Anchors) -> Found | None:
    if seen.no_node:
        return _said(seen.no_node)
    if seen.gateway is not None and seen.gateway.chain_failing_s > UNANSWERED_S:
        return _only("failing", f"algod or the indexer has failed for {seen.gateway.chain_failing_s:.0f} s")
    return {} if seen.node_asked else None


def _store(health: Health) -> Found:
    if health.store_refusals < STORE_REFUSALS:
        return {}
    return _only("refused", f"the object store did not take {health.store_refusals} ticks: {health.store}")


def _witness(seen: Seen, _before: Anchors) -> Found | None:
    if seen.generator is None:
        return None
    silent = {
        name: Finding("silent", f"{name} has signed no head of the log since {iso_of_s(since)}")
        for name, since in seen.generator.witnesses.items()
        if seen.at - since > WITNESS_S
    }
    ahead = {name: Finding("ahead", f"{name}: {text}") for name, text in seen.generator.ahead.items()}
    return silent | ahead


def _clock_stepped(seen: Seen, before: Anchors) -> Found | None:
    if before.boot != seen.boot:
        return {}
    step_s = seen.at - seen.up_s - before.apart_s
    if abs(step_s) < CLOCK_STEP_S:
        return {}
    direction = "ahead" if step_s > 0 else "back"
    return _only(direction, f"the clock was set {direction} by {abs(step_s):.1f} s")


def _certificate(seen: Seen, _before: Anchors) -> Found | None:
    certificate = seen.certificate
    if certificate is None:
        return None
    if certificate.fault:
        return _said(f"readers do not accept the certificate: {certificate.fault}")
    if certificate.ends_at is None:
        return None
    days = (certificate.ends_at - seen.at) / DAY_S
    return _only("ends", f"the certificate ends in {days:.1f} days") if days < CERTIFICATE_DAYS else {}


def _backup(seen: Seen, _before: Anchors) -> Found | None:
    if seen.backup is None:
        return None
    if seen.backup.fault:
        return _said(f"the last backup failed: {seen.backup.fault}")

    if not seen.backup.tried:
        if seen.watched_since is None or seen.at - seen.watched_since <= BACKUP_AGE_S:
            return {}
        return _only("never", f"no backup was ever made here, {(seen.at - seen.watched_since) / HOUR_S:.1f} hours on")

    age_s = seen.at - seen.backup.good_at
    return _only("old", f"the last backup is {age_s / HOUR_S:.1f} hours old") if age_s > BACKUP_AGE_S else {}


def _drill(seen: Seen, _before: Anchors) -> Found | None:
    if seen.drill is None:
        return None
    if seen.drill.fault:
        return _said(f"the restore that was tried failed: {seen.drill.fault}")
    age_s = seen.at - seen.drill.at
    return _only("old", f"the last restore was tried {age_s / DAY_S:.0f} days ago") if age_s > DRILL_AGE_S else {}


def _database(seen: Seen, _before: Anchors) -> Found | None:
    findings = {}
    for name, reading in seen.readings.items():
        age_s = seen.at - reading.at
        if reading.fault:
            findings[name] = as_written(f"the {name} was read to its end: {reading.fault}")
        elif age_s > READING_AGE_S:
            findings[name] = Finding("old", f"the {name} was last read to its end {age_s / HOUR_S:.0f} hours ago")
    return findings or ({} if seen.readings else None)


def _deeper(seen: Seen, _before: Anchors) -> Found | None:
    if seen.deeper is None:
        return None
    return {what: as_written(f"{what}: {text}") for what, text in seen.deeper.items()}


def _unit(seen: Seen, _before: Anchors) -> Found | None:
    if seen.units is None:
        return None
    return {unit.name: Finding("failed", f"{unit.name} has failed") for unit in seen.units if unit.failed}


def _restarted(seen: Seen, before: Anchors) -> Found | None:
    if seen.units is None:
        return None
    more = [unit for unit in seen.units if unit.restarts > before.restarts.get(unit.name, unit.restarts)]
    return {unit.name: Finding("again", f"{unit.name} hung or ended, and was started again") for unit in more}


def _unsent(seen: Seen, _before: Anchors) -> Found | None:
    return _said(seen.unsent)


FAULTS: Final = (
    Fault("tick", "no tick is published", _tick),
    Fault("gateway", "the gateway hangs or is down", _gateway, lasting_s=MINUTE_S),
    Fault("edge", "readers get no answer", _edge, lasting_s=MINUTE_S),
    Fault("venues", "fewer than two venues give prices", _venues),
    Fault("venue", "a venue is gone", _venue, lasting_s=30 * MINUTE_S),
    Fault("disk-hung", "a disk hangs", _disk_hung, lasting_s=MINUTE_S),
    Fault("disk-full", "a disk is full", _disk_full),
    Fault("memory", "the memory was removed or replaced", _of_the_generator(lambda health: _said(health.memory))),
    Fault("record", "the published record is not continued", _of_the_generator(lambda health: _said(health.record))),
    Fault("log-key", "the log's key is gone", _of_the_generator(lambda health: _said(health.log_key))),
    Fault("store", "the object store takes no release", _of_the_generator(_store)),
    Fault("witness", "a witness does not sign", _witness),
    Fault("facilitator", "the facilitator is dead", _of_the_gateway(_facilitator)),
    Fault("node", "the node is dead", _node, lasting_s=MINUTE_S),
    Fault("ledger", "the payments ledger is lost, damaged or takes no write", _of_the_gateway(_ledger)),
    Fault("clock", "the clock was stepped", _clock_stepped),
    Fault("vault", "what is for sale is too old", _of_the_gateway(_vault), lasting_s=MINUTE_S),
    Fault("certificate", "the certificate ends soon", _certificate),
    Fault("backup", "the last backup is too old", _backup),
    Fault("drill", "a restore that was tried failed", _drill),
    Fault("database", "a database is damaged, or was not read for two days", _database),
    Fault("doctor", "the doctor found something", _deeper),
    Fault("unit", "a unit failed", _unit),
    Fault("restarted", "a program hung or ended, and was started again", _restarted),
    Fault("alarm", "an alarm did not go out", _unsent),
)
OF_THE_GENERATOR: Final = ("memory", "record", "log-key", "store", "witness")
"""Faults that the generator says of itself."""
