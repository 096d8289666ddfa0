"""A service on a virtual clock that one fault befalls, and what is reported of it when one looks each minute.

What a look reads is computed here from when the fault began: by what the programs themselves promise (a tick a minute,
`/supported` asked every 20 s, a probe of the ledger every 10 s), not by the judge's own limits. A kind of fault with
several causes is one trouble each: `ledger` is a removed file, `ledger/write` one that takes no write.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from generator.cli._notifying import Notifier
from generator.cli.watch import advance
from generator.operate.watch.alerts import AlertState, Message
from generator.operate.watch.health import Health
from generator.operate.watch.seen import Backup, Certificate, Drill, Folder, Gateway, Reading, Release, Seen, Unit

NOON: Final = 1_764_072_000.0  # a full minute
MINUTE: Final = 60.0
HOUR: Final = 3_600.0
DAY: Final = 86_400.0
VENUES: Final = ("binance", "bybit", "coinbase", "kraken", "okx")
UNITS: Final = ("emi-schedule.service", "emi-gateway.service")


class Listener(Notifier):
    """An operator who remembers what came and when; nothing arrives for as long as `unreachable` is set."""

    def __init__(self) -> None:
        super().__init__("listen", "http://127.0.0.1:9")
        self.now = 0.0
        self.unreachable = False
        self.heard: list[tuple[float, Message]] = []
        self.pings: list[float] = []

    def send(self, message: Message) -> list[str]:
        if self.unreachable:
            return ["one", "two"]
        self.heard.append((self.now, message))
        return []

    def ping(self) -> str | None:
        self.pings.append(self.now)
        return None


On = Callable[[str], bool]
"""Whether a trouble of a kind is on."""
NO_TICK: Final = frozenset({"tick", "disk-full", "disk-hung", "memory", "store"})
"""What keeps ticks from being published."""
ASKED: Final = (
    ("disk-hung", "write", 10.0),
    ("ledger/write", "write", 10.0),
    ("facilitator", "supported", 20.0),
    ("facilitator/calls", "calls", 20.0),
    ("node/failing", "chain", 20.0),
)
"""What the gateway asks of others, under which name it says since when that failed, and how often it asks."""


@dataclass(frozen=True)
class Trouble:
    """One fault, from when to when; times are Unix seconds."""

    kind: str = ""
    begins: float = float("inf")
    ends: float = float("inf")

    @property
    def fault(self) -> str:
        """Under which name it is reported."""
        return self.kind.partition("/")[0]

    def reigns(self, at: float) -> bool:
        return self.begins <= at < self.ends

    def is_on(self, kind: str, at: float) -> bool:
        return self.kind == kind and self.reigns(at)

    def lasted(self, kind: str, at: float, every_s: float) -> float:
        """Return for how long something that is asked at full multiples of `every_s` has not worked."""
        if not self.is_on(kind, at):
            return at % every_s
        return at - self.begins // every_s * every_s


def seen(at: float, *troubles: Trouble, booted: float = NOON - DAY) -> Seen:
    """Return what a look at `at` sees while none, one or several troubles last."""

    def on(kind: str) -> bool:
        return any(trouble.is_on(kind, at) for trouble in troubles)

    def began(*kinds: str) -> float:
        return min((trouble.begins for trouble in troubles if trouble.kind in kinds), default=float("inf"))

    up_s = at - booted
    up_s -= 5.0 * (at >= began("clock"))  # set ahead by five seconds
    up_s += 90.0 * (at >= began("clock/back"))

    last_tick = at // MINUTE * MINUTE
    hindered = [trouble for trouble in troubles if trouble.kind in NO_TICK and trouble.reigns(at)]
    for trouble in hindered:
        last_tick = min(last_tick, (trouble.begins - 0.5) // MINUTE * MINUTE)
    hung = on("disk-hung")
    down = on("gateway") or on("gateway/refused")

    return Seen(
        at=at,
        up_s=up_s,
        boot="one",
        watched_since=began("backup/never") - 26 * HOUR,
        release=None if hung or on("tick/unread") else _release(last_tick, troubles),
        no_release="status.json cannot be read" if on("tick/unread") else None,
        edge=not (on("edge") or on("edge/502") or on("certificate/refused")),
        no_edge=_edge(on),
        generator=None if hung else _health(at, troubles),
        gateway=None if down else _gateway(at, last_tick, troubles),
        no_gateway=_no_gateway(on),
        node_asked=True,
        no_node=_no_node(on),
        folders=(_folder(on),),
        units=tuple(_units(at, troubles)),
        certificate=_certificate(on, began("certificate")),
        backup=_backup(at, on, began("backup")),
        drill=Drill(began("drill/old") - 45 * DAY if on("drill/old") else NOON, _drill(on)),
        readings=_readings(at, on, began("database/old")),
        deeper={"/openapi.json": "404"} if on("doctor") else {},
        unsent="EMI_ALERT_CMD ended with code 3" if on("alarm") else None,
    )


def _edge(on: On) -> str | None:
    if on("edge"):
        return "[Errno 111] Connection refused"
    return "/status.json is answered 502" if on("edge/502") else None


def _no_gateway(on: On) -> str | None:
    if on("gateway"):
        return "timed out"
    return "[Errno 111] Connection refused" if on("gateway/refused") else None


def _no_node(on: On) -> str | None:
    if on("node"):
        return "algod does not answer: connection refused"
    return "indexer answers 401" if on("node/token") else None


def _health(at: float, troubles: Sequence[Trouble]) -> Health:
    """Return what the generator said last: after a tick, of which it makes one a minute."""
    said_at = at // MINUTE * MINUTE

    def then(kind: str) -> bool:
        return any(trouble.is_on(kind, said_at) for trouble in troubles)

    begins = min((trouble.begins for trouble in troubles if trouble.kind == "store"), default=said_at)
    return Health(
        at=said_at,
        memory="the memory was removed or replaced" if then("memory") else None,
        record="the memory is behind the published log" if then("record") else None,
        log_key="the log's key is gone" if then("log-key") else None,
        store="4 of 4 objects were not stored" if then("store") else None,
        store_refusals=int((said_at - begins) // MINUTE) + 1 if then("store") else 0,
        witnesses={"one.example": _begin_of("witness", troubles) - HOUR} if then("witness") else {},
        ahead={"one.example": "it saw 900 entries of this log, which has 800"} if then("witness/ahead") else {},
    )


def _begin_of(kind: str, troubles: Sequence[Trouble]) -> float:
    return next(trouble.begins for trouble in troubles if trouble.kind == kind)


def _certificate(on: On, begins: float) -> Certificate:
    if on("certificate/refused"):
        return Certificate(fault="certificate has expired")
    return Certificate(ends_at=(begins if on("certificate") else NOON + 10_000 * DAY) + 14 * DAY)


def _backup(at: float, on: On, begins: float) -> Backup:
    """Return the last backups: one an hour, but none any more in the 26 hours before that trouble begins."""
    if on("backup/never"):
        return Backup(0.0, tried=False)
    if on("backup/failed"):
        return Backup(at, "the target is full")
    return Backup(begins - 26 * HOUR if on("backup") else at // HOUR * HOUR)


def _drill(on: On) -> str | None:
    return "the copy does not open" if on("drill") else None


def _readings(at: float, on: On, old_since: float) -> dict[str, Reading]:
    ledger = Reading(at, "page 7 is damaged" if on("database") else None)
    return {"payments ledger": ledger, "memory": Reading(old_since - 50 * HOUR if on("database/old") else at)}


def _units(at: float, troubles: Sequence[Trouble]) -> Iterator[Unit]:
    for name in UNITS:
        failed = any(trouble.is_on(kind, at) for trouble in troubles for kind in _kinds_of("unit", name))
        again = [trouble for trouble in troubles if trouble.kind in _kinds_of("restarted", name)]
        yield Unit(name, failed, sum(at >= trouble.begins for trouble in again))


def _kinds_of(kind: str, unit: str) -> set[str]:
    """Return the troubles of a unit: of the first under the plain name of the kind."""
    return {kind} if unit == UNITS[0] else {f"{kind}/gateway"}


def _release(made_at: float, troubles: Sequence[Trouble]) -> Release:
    on = {trouble.kind for trouble in troubles if trouble.reigns(made_at)}
    if "venues" in on:
        return Release(made_at, True, len(VENUES), 1, VENUES[1:])
    gone = tuple(name for kind, name in (("venue", "kraken"), ("venue/okx", "okx")) if kind in on)
    return Release(made_at, True, len(VENUES), len(VENUES) - len(gone), gone)


def _gateway(at: float, last_tick: float, troubles: Sequence[Trouble]) -> Gateway:
    sold = last_tick
    lost = False
    ages = {"write": 0.0, "supported": 0.0, "calls": 0.0, "chain": 0.0}
    for trouble in troubles:
        if trouble.is_on("vault", at):
            sold = min(last_tick, trouble.begins // MINUTE * MINUTE)
        lost = lost or (trouble.is_on("ledger", at) and at - trouble.begins > 10)
        for kind, what, every_s in ASKED:
            if trouble.is_on(kind, at):
                ages[what] = max(ages[what], trouble.lasted(kind, at, every_s))
    on = {trouble.kind for trouble in troubles if trouble.reigns(at)}
    vault_age_s = None if "vault/none" in on else at - sold
    return Gateway(
        vault_age_s=-300.0 if "vault/ahead" in on else vault_age_s,
        ledger_fault="the payments ledger file was removed or replaced" if lost else None,
        ledger_write_age_s=ages["write"],
        facilitator_age_s=ages["supported"],
        facilitator_failing_s=ages["calls"],
        chain_failing_s=ages["chain"],
    )


def _folder(on: On) -> Folder:
    if on("disk-hung"):
        return Folder("/var/lib/emi", hung=True)
    if on("disk-full/error"):
        return Folder("/var/lib/emi", fault="Input/output error")
    full = on("disk-full")
    return Folder(
        "/var/lib/emi",
        free_bytes=0 if full else 10**10,
        free_percent=0.0 if full else 40.0,
        free_files_percent=1.0 if on("disk-full/files") else 90.0,
    )


def looks(begin: float, end: float, offset: float) -> Iterator[float]:
    """Yield when one looks: once a minute, `offset` seconds past it."""
    at = begin + offset
    while at < end:
        yield at
        at += MINUTE


def played(troubles: Sequence[Trouble], begin: float, end: float, *, by_file: bool = False) -> Listener:
    """Look each minute from `begin` to `end` while troubles come and go; return the operator.

    With `by_file` each look reads the state that the one before wrote, as the command does.
    """
    state, listener = AlertState(), Listener()
    for at in looks(begin, end, 20.0):
        listener.now = at
        before = AlertState.of(state.dumped()) if by_file else state
        state, _ = advance(before, seen(at, *troubles), listener)
    return listener


KINDS: Final[dict[str, float]] = {
    "tick": 0,
    "tick/unread": 0,
    "gateway": 0,
    "gateway/refused": 0,
    "edge": 0,
    "edge/502": 0,
    "venues": 0,
    "venue": 30 * MINUTE,
    "venue/okx": 30 * MINUTE,
    "disk-hung": 0,
    "disk-full": 0,
    "disk-full/files": 0,
    "disk-full/error": 0,
    "memory": 0,
    "record": 0,
    "log-key": 0,
    "store": MINUTE,  # the second tick in a row
    "witness": 0,
    "witness/ahead": 0,
    "facilitator": 0,
    "facilitator/calls": 0,
    "node": 0,
    "node/token": 0,
    "node/failing": 0,
    "ledger": 0,
    "ledger/write": 0,
    "clock": 0,
    "clock/back": 0,
    "vault": 240,  # it is up to a minute old when it begins to age, and may be 300 s old
    "vault/none": 0,
    "vault/ahead": 0,
    "certificate": 0,
    "certificate/refused": 0,
    "backup": 0,
    "backup/failed": 0,
    "backup/never": 0,
    "drill": 0,
    "drill/old": 0,
    "database": 0,
    "database/old": 0,
    "doctor": 0,
    "unit": 0,
    "unit/gateway": 0,
    "restarted": 0,
    "restarted/gateway": 0,
    "alarm": 0,
}
"""Every fault by each of its causes, and the seconds after its beginning at which its limit is crossed."""
OF_A_RELEASE: Final = frozenset({"venues", "venue", "venue/okx"})
OF_THE_GATEWAY: Final = frozenset(
    {"facilitator", "facilitator/calls", "node/failing", "ledger", "ledger/write", "vault", "vault/none", "vault/ahead"}
)
OF_THE_GENERATOR: Final = frozenset({"memory", "record", "log-key", "store", "witness", "witness/ahead"})
HIDDEN_BY: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(NO_TICK, OF_A_RELEASE),
    "disk-hung": OF_A_RELEASE
    | OF_THE_GENERATOR
    | {"tick", "tick/unread", "disk-full", "disk-full/files", "disk-full/error"},
    "tick/unread": OF_A_RELEASE | {"tick"},
    "gateway": OF_THE_GATEWAY,
    "gateway/refused": OF_THE_GATEWAY,
}
"""What cannot be seen while another fault lasts; it is reported once that is over."""


def worst(kind: str, lasting_s: float = 10 * MINUTE) -> tuple[float, float, int, set[str]]:
    """Return the least and the most seconds until a fault is reported, how many messages of it came, and of what kinds.

    It begins at every fifth second of a minute.
    """
    waits, counts, names = [], [], set()
    for second in range(0, 60, 5):
        begins = NOON + 10 * MINUTE + second
        lasts = begins + lasting_s + KINDS[kind]
        listener = played([Trouble(kind, begins, lasts)], NOON, lasts + HOUR + 3 * MINUTE)
        of_it = [(at, message) for at, message in listener.heard if message.fault == kind.partition("/")[0]]
        waits.append(of_it[0][0] - begins - KINDS[kind])
        counts.append(len(of_it))
        names |= {message.fault for _, message in listener.heard}
    return min(waits), max(waits), max(counts), names
