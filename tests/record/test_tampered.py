"""`emi verify` against an operator who signs what was altered: each kind of entry, value by value, then left out.

The log is written again with every altered entry, so that no hash and no signature gives it away: only what the entries
say together can.
"""

import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from generator.arena.games import SEALED
from generator.catalog.assets import ASSETS
from generator.catalog.horizons import HORIZONS
from generator.catalog.log_kinds import EARLIER, STEPS, WRITTEN, step_of
from generator.record.audit.audit import Audit
from generator.record.audit.entries import HOURLY_STEPS
from generator.record.audit.game import AuditError
from generator.runtime import tick
from tests.record.test_log import entries as log_entries
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at
from tests.support.ladders import reached_at, said_at
from tests.support.log_records import CROWDED, Record

Entry = dict[str, Any]
Path = tuple[str | int, ...]

DAY: Final = 24 * HOUR
# Hours that are played tick by tick, from noon of the first day: a question of the first is measured in the last, and
# the ladders of the first are revealed on the way.
PLAYED: Final = ((7 * HOUR, 13 * HOUR), (DAY - HOUR, DAY + 2 * HOUR), (DAY + 11 * HOUR, DAY + 12 * HOUR))
MOVED: Final = NOON + 2 * DAY + HOUR + 15 * MINUTE  # what is under way then is void: a round, hours, a question, claims
LAST_HOURS: Final = (2 * DAY - HOUR, 2 * DAY + 4 * HOUR)
MINUTES: Final = (0, 15, 55)


EVERY_STEP: Final = {
    *("log.opened", "scores", "clock.stepped"),
    *(f"{game}.{step}" for game in ("round", "daily", *(game.kind for game in SEALED)) for step in STEPS),
    "round.resealed",
    *HOURLY_STEPS,
    *("ladder.sealed", "ladder.judged"),
}
"""But `log.key`, which changes no figure: what it names is held by the signatures."""


def times() -> list[int]:
    """Return the ticks; at last the clock goes back by five minutes."""
    spans = (*PLAYED, LAST_HOURS)
    ticks = [NOON + at for begin, end in spans for at in range(begin - 5 * MINUTE, end + 16 * MINUTE, 5 * MINUTE)]
    last = ticks[-1]
    return [*(at for at in ticks if at // MINUTE % 60 in MINUTES), last + 40 * MINUTE, last + 35 * MINUTE]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    """Play a record in which everything happened that an entry can be about."""
    made = Record(tmp_path_factory.mktemp("record"))
    ticks = times()
    made.published.begin(ticks[0])
    with made.memory.batch():
        for now_ms in ticks:
            inputs = inputs_at(now_ms, config=CROWDED, usual_day=0.02, seals_labels=True)
            reason = "moved" if now_ms == MOVED else None
            inputs = replace(inputs, ladders=said_at(now_ms), reached=reached_at, interrupted=reason)
            with made.memory.tick() as transaction:
                tick.store_tick(transaction, inputs)
    made.publish()
    yield made
    made.memory.close()


@pytest.fixture(scope="module")
def log(record: Record) -> list[Entry]:
    return [json.loads(data) for data in log_entries(record)]


def test_the_honest_log_has_every_kind_of_entry_and_is_accepted(record: Record, log: list[Entry]) -> None:
    verify(Audit(), log, record)

    assert {step_of(entry) for entry in log} == EVERY_STEP
    assert set(Audit().readers) == {*EVERY_STEP, "log.key"}


def test_entries_have_at_most_twelve_kinds(log: list[Entry]) -> None:
    assert {entry["kind"] for entry in log} | {"log.key"} == {*WRITTEN}
    assert len(WRITTEN) <= 12


def as_before(entry: Entry) -> Entry:
    """Write an entry as programs before 0.2.0 did, with game and step in its kind."""
    names = {step: kind for kind, step in EARLIER.items()}
    step = step_of(entry)
    return {**{name: value for name, value in entry.items() if name != "game"}, "kind": names.get(step, step)}


def test_a_log_of_the_kinds_of_before_says_the_same(record: Record, log: list[Entry]) -> None:
    audit, audit_before = Audit(), Audit()

    verify(audit, log, record)
    verify(audit_before, [as_before(entry) for entry in log], record)

    assert {as_before(entry)["kind"] for entry in log} >= {*EARLIER, "round.sealed", "ranges.judged", "holds.void"}
    assert audit_before.games == audit.games


def verify(audit: Audit, entries: Sequence[Entry], record: Record) -> None:
    """Do with entries what `emi verify` does; of what is published, only what has files of its own is read."""
    for entry in entries:
        audit.take(json.dumps(entry).encode())
    audit.finish()
    for game in audit.games:
        for name in game.recounts:
            game.recount(name, record.site_read)


def is_refused(audit: Audit, entries: Sequence[Entry], record: Record) -> bool:
    try:
        verify(copy.deepcopy(audit), entries, record)
    except AuditError:
        return True
    return False


CHOSEN: Final = {"holds.started": 4}  # by then an earlier claim ends, which saw the same label


def before_one_of_each_kind(log: list[Entry]) -> Iterator[tuple[Audit, int]]:
    """Give the audit before an entry of each kind, and its place: the first of its kind, or that of CHOSEN."""
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(log):
        places.setdefault(step_of(entry), []).append(place)
    chosen = {of_kind[CHOSEN.get(kind, 0)] for kind, of_kind in places.items()}

    audit = Audit()
    for place, entry in enumerate(log):
        if place in chosen:
            yield audit, place
        audit.take(json.dumps(entry).encode())


ALIKE: Final = (
    {*ASSETS},
    {*HORIZONS},
    {f"{horizon} {kind}" for horizon in HORIZONS for kind in ("end", "touch")} | {"partition"},
)
"""Keys under which the same is said of different things."""


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Give the place of each value; of things alike only the first."""
    if isinstance(value, dict):
        is_alike = any(value.keys() <= keys for keys in ALIKE)
        for key in list(value)[:1] if is_alike else value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for number in range(len(value)):
            yield from leaves(value[number], (*path, number))
    else:
        yield path


def altered(entry: Entry, path: Path) -> Entry:
    """Return a copy of an entry with one value changed."""
    other = copy.deepcopy(entry)
    holder: Any = other
    for key in path[:-1]:
        holder = holder[key]
    value = holder[path[-1]]
    holder[path[-1]] = changed(value)
    return other


def changed(value: Any) -> Any:
    if value is None:
        return 0.5
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value[:-1] + ("1" if value[-1:] == "0" else "0")
    return value + 1


def name_of(kind: str, path: Path) -> str:
    """Name a leaf; the asset in it is any."""
    return f"{kind} {'.'.join('*' if key in ASSETS else str(key) for key in path)}"


UNHELD: Final = {
    "log.opened key",  # the signatures hold it
    "log.opened origin",  # the checkpoint holds it
    "log.opened source_mode",
    # Words of the operator: why something is void, how prices are made.
    *("round.void void_reason", "daily.void void_reason"),
    *(f"{game.kind}.void void_reason" for game in SEALED),
    *("round.started price_basis", "daily.started price_basis"),
    *(
        "round.sealed ballot_form",
        "daily.sealed ballot_form",
    ),  # read with ballots: tests/record/test_recount
    "round.sealed opened",  # published likewise, and no later than the entry
    "round.void previous_outcome",  # scores nothing
    "daily.started start_price",  # scores nothing since a question has a base
}
"""What no later entry says again."""


def test_each_value_of_each_kind_of_entry_is_held_but_those_named(record: Record, log: list[Entry]) -> None:
    unheld = set()
    for audit, place in before_one_of_each_kind(log):
        entry = log[place]
        later = log[place + 1 :]
        for path in leaves(entry):
            if path not in {("kind",), ("game",), ("at",)} and not is_refused(
                audit, [altered(entry, path), *later], record
            ):
                unheld.add(name_of(step_of(entry), path))

    assert unheld == UNHELD
