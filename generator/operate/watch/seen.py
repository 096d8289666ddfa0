"""What one look saw; None where it was not looked at, or could not be."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from generator.operate.watch.health import Health


@dataclass(frozen=True, slots=True)
class Release:
    """The release that readers get; times are Unix seconds."""

    generated_at: float
    live: bool  # whether venues were asked
    asked: int = 0  # venues
    priced: int = 0  # of which there are fresh prices
    gone: tuple[str, ...] = ()  # those that answered nothing


@dataclass(frozen=True, slots=True)
class Gateway:
    """What the gateway says of itself at /readyz."""

    vault_age_s: float | None = None
    ledger_fault: str | None = None
    ledger_write_age_s: float = 0.0
    facilitator_age_s: float = 0.0  # since a good answer to /supported
    facilitator_failing_s: float = 0.0  # since verify or settle began to fail
    chain_failing_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder that is written to, or read from."""

    path: str
    fault: str | None = None  # why nothing can be written there
    hung: bool = False  # it did not answer at all
    free_bytes: int | None = None
    free_percent: float = 100.0
    free_files_percent: float = 100.0


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit as systemd shows it."""

    name: str
    failed: bool
    restarts: int  # by systemd itself, since somebody started it


@dataclass(frozen=True, slots=True)
class Certificate:
    """The certificate that readers get."""

    ends_at: float | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Backup:
    """The last backups."""

    good_at: float  # when one was made, 0 for never
    fault: str | None = None  # why the last one was not
    tried: bool = True  # whether any was


@dataclass(frozen=True, slots=True)
class Drill:
    """The last restore that was tried."""

    at: float
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """The last reading of a whole database."""

    at: float
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything that one look saw."""

    at: float  # wall time, Unix seconds
    up_s: float  # monotonic, counts on while the machine sleeps
    boot: str  # names the start of the machine, since which `up_s` counts

    watched_since: float | None = None  # wall time from which on this machine has been looked at
    release: Release | None = None
    no_release: str | None = None  # why there is none
    edge: bool = False  # whether readers got an answer
    no_edge: str | None = None  # why they got none, or not this service's
    generator: Health | None = None
    gateway: Gateway | None = None
    no_gateway: str | None = None
    no_node: str | None = None
    node_asked: bool = False
    folders: tuple[Folder, ...] = ()
    units: tuple[Unit, ...] | None = None
    certificate: Certificate | None = None
    backup: Backup | None = None  # None where none is to be made from here
    drill: Drill | None = None
    readings: Mapping[str, Reading] = field(default_factory=dict)  # by what was read
    deeper: Mapping[str, str] | None = None  # what the doctor's look found wrong, by what it looked at
    unsent: str | None = None  # why the last message did not go out by every way
