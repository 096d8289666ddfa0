"""A service on a virtual clock that one fault befalls, and what is reported of it when one looks each minute.

What a look reads is computed here from when the fault began: by what the programs themselves promise (a tick a minute,
`/supported` asked every 20 s, a probe of the ledger every 10 s), not by the judge's own limits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from generator.cli._notifying import Notifier
from generator.cli.alert import advance
from generator.watch.alerts import AlertState, Message
from generator.watch.seen import Backup, Certificate, Drill, Folder, Gateway, Release, Seen, Unit

NOON: Final = 1_764_072_000.0  # a full minute
MINUTE: Final = 60.0
HOUR: Final = 3_600.0
DAY: Final = 86_400.0
VENUES: Final = ("binance", "bybit", "coinbase", "kraken", "okx")
UNITS: Final = ("emi-schedule.service", "emi-gateway.service")


class Listener(Notifier):
    """An operator who remembers what came and when; nothing arrives for as long as `deaf` is set."""

    def __init__(self) -> None:
        super().__init__("listen", "http://127.0.0.1:9")
        self.now = 0.0
        self.deaf = False
        self.heard: list[tuple[float, Message]] = []
        self.pings: list[float] = []

    def send(self, message: Message) -> list[str]:
        if self.deaf:
            return ["one", "two"]
        self.heard.append((self.now, message))
        return []

    def ping(self) -> str | None:
        self.pings.append(self.now)
        return None


@dataclass(frozen=True)
class Trouble:
    """One fault, from when to when; times are Unix seconds."""

    kind: str = ""
    begins: float = float("inf")
    ends: float = float("inf")

    def reigns(self, at: float) -> bool:
        return self.begins <= at < self.ends

    def is_on(self, kind: str, at: float) -> bool:
        return self.kind == kind and self.reigns(at)

    def lasted(self, kind: str, at: float, every_s: float) -> float:
        """Return for how long something that is asked at full multiples of `every_s` has not worked."""
        if not self.is_on(kind, at):
            return at % every_s
        return at - self.begins // every_s * every_s


def seen(at: float, trouble: Trouble, booted: float = NOON - DAY) -> Seen:
    """Return what a look at `at` sees."""
    on = trouble.is_on
    up_s = at - booted
    if trouble.kind == "clock" and at >= trouble.begins:
        up_s -= 5.0  # set ahead by five seconds

    last_tick = at // MINUTE * MINUTE
    if on("tick", at) or on("disk-full", at) or on("disk-hung", at):
        last_tick = min(last_tick, (trouble.begins - 0.5) // MINUTE * MINUTE)
    release = _release(last_tick, trouble)
    hung = on("disk-hung", at)

    return Seen(
        at=at,
        up_s=up_s,
        boot="one",
        release=None if hung else release,
        gateway=None if on("gateway", at) else _gateway(at, last_tick, trouble),
        no_gateway="timed out" if on("gateway", at) else None,
        node_asked=True,
        no_node="algod does not answer: connection refused" if on("node", at) else None,
        folders=(_folder(at, trouble),),
        units=tuple(Unit(name, name == UNITS[0] and on("unit", at), _restarts(name, at, trouble)) for name in UNITS),
        certificate=Certificate(ends_at=_crossing("certificate", trouble) + 14 * DAY),
        backup=Backup(_backup(at, trouble)),
        drill=Drill(NOON, "the copy does not open" if on("drill", at) else None),
    )


def _release(made_at: float, trouble: Trouble) -> Release:
    if trouble.is_on("venues", made_at):
        return Release(made_at, True, len(VENUES), 1, VENUES[1:])
    if trouble.is_on("venue", made_at):
        return Release(made_at, True, len(VENUES), len(VENUES) - 1, ("kraken",))
    return Release(made_at, True, len(VENUES), len(VENUES))


def _gateway(at: float, last_tick: float, trouble: Trouble) -> Gateway:
    sold = min(last_tick, trouble.begins // MINUTE * MINUTE) if trouble.is_on("vault", at) else last_tick
    lost = trouble.is_on("ledger", at) and at - trouble.begins > 10
    return Gateway(
        vault_age_s=at - sold,
        ledger_fault="the payments ledger file was removed or replaced" if lost else None,
        ledger_write_age_s=trouble.lasted("disk-hung", at, 10),
        facilitator_age_s=trouble.lasted("facilitator", at, 20),
    )


def _folder(at: float, trouble: Trouble) -> Folder:
    if trouble.is_on("disk-hung", at):
        return Folder("/var/lib/emi", hung=True)
    full = trouble.is_on("disk-full", at)
    return Folder("/var/lib/emi", free_bytes=0 if full else 10**10, free_percent=0.0 if full else 40.0)


def _restarts(name: str, at: float, trouble: Trouble) -> int:
    return int(name == UNITS[0] and trouble.kind == "restarted" and at >= trouble.begins)


def _crossing(kind: str, trouble: Trouble) -> float:
    """Return when a limit is crossed: at the beginning of the trouble of this kind, else never."""
    return trouble.begins if trouble.kind == kind else NOON + 10_000 * DAY


def _backup(at: float, trouble: Trouble) -> float:
    """Return the last backup: one an hour, but none any more in the 26 hours before that trouble begins."""
    hourly = at // HOUR * HOUR
    return trouble.begins - 26 * HOUR if trouble.is_on("backup", at) else hourly


def looks(begin: float, end: float, offset: float) -> Iterator[float]:
    """Yield when one looks: once a minute, `offset` seconds past it."""
    at = begin + offset
    while at < end:
        yield at
        at += MINUTE


def played(troubles: Sequence[Trouble], begin: float, end: float, *, by_file: bool = False) -> Listener:
    """Look each minute from `begin` to `end` while troubles come one after the other; return the operator.

    With `by_file` each look reads the state that the one before wrote, as the command does.
    """
    state, listener = AlertState(), Listener()
    for at in looks(begin, end, 20.0):
        listener.now = at
        current = next((trouble for trouble in troubles if at < trouble.ends), Trouble())
        before = AlertState.of(state.dumped()) if by_file else state
        state, _ = advance(before, seen(at, current), listener)
    return listener


KINDS: Final[dict[str, float]] = {
    "tick": 0,
    "gateway": 0,
    "venues": 0,
    "venue": 30 * MINUTE,
    "disk-hung": 0,
    "disk-full": 0,
    "facilitator": 0,
    "node": 0,
    "ledger": 0,
    "clock": 0,
    "vault": 240,  # it is up to a minute old when it begins to age, and may be 300 s old
    "certificate": 0,
    "backup": 0,
    "drill": 0,
    "unit": 0,
    "restarted": 0,
}
"""Every fault, and the seconds after its beginning at which its limit is crossed."""


def worst(kind: str, lasting_s: float = 10 * MINUTE) -> tuple[float, float, int, set[str]]:
    """Return the least and the most seconds until a fault is reported, how many messages of it came, and of what kinds.

    It begins at every fifth second of a minute.
    """
    waits, counts, names = [], [], set()
    for second in range(0, 60, 5):
        begins = NOON + 10 * MINUTE + second
        lasts = begins + lasting_s + KINDS[kind]
        listener = played([Trouble(kind, begins, lasts)], NOON, lasts + HOUR + 3 * MINUTE)
        of_it = [(at, message) for at, message in listener.heard if message.fault == kind]
        waits.append(of_it[0][0] - begins - KINDS[kind])
        counts.append(len(of_it))
        names |= {message.fault for _, message in listener.heard}
    return min(waits), max(waits), max(counts), names
