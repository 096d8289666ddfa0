"""How many rows a look reads, from where on, and what each change writes: value by value."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.errors import IdentityTaken
from gateway.ledger.record import Change, NoteRefusal, Record, Refuse, Review, Settle, Watch
from gateway.ledger.store import Ledger
from tests.support.intents import INTENT
from tests.support.vaults import START

LATER = START + timedelta(minutes=1)


def ledger_of(folder: Path, *intents: Record) -> Ledger:
    ledger = Ledger(folder / "payments.sqlite3")
    ledger.write_all([lambda intent=intent: ledger.write_intent(intent) for intent in intents])  # type: ignore[misc]
    return ledger


def numbered(number: int, **other: object) -> Record:
    return replace(INTENT, txid=f"{number:052d}", created_at=float(number // 2), **other)  # type: ignore[arg-type]


def test_two_hundred_open_payments_are_read_at_once_the_oldest_first(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, *(numbered(number) for number in range(403)))

    first = ledger.open_payments()
    second = ledger.open_payments((first[-1].created_at, first[-1].txid))
    third = ledger.open_payments((second[-1].created_at, second[-1].txid))

    assert [len(rows) for rows in (first, second, third)] == [200, 200, 3]
    assert [int(row.txid) for row in (*first, *second, *third)] == list(range(403))


def test_what_the_facilitator_alone_closed_is_listed_from_a_round_on(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, *(numbered(number, last_valid=number) for number in (0, 99, 100)))
    for number in (0, 99, 100):
        assert ledger.apply(f"{number:052d}", Settle("facilitator"), START)

    listed = {since: [row.last_valid for row in ledger.unproven(since_round=since)] for since in (0, 99, 100, 101)}

    assert listed == {0: [0, 99, 100], 99: [99, 100], 100: [100], 101: []}
    assert ledger.unproven() == ledger.unproven(since_round=0)


def test_open_payments_are_counted_with_the_earliest_round_of_an_intent(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    nothing = ledger.count_open()
    for number, at in ((1, 700), (2, 650), (3, None)):
        ledger.write_intent(numbered(number, intent_round=at))

    some = ledger.count_open()
    ledger.apply(f"{2:052d}", Settle("chain"), START)

    assert (nothing, some, ledger.count_open()) == ((0, None), (3, 650), (2, 700))


def test_two_hundred_bodies_are_dropped_at_once(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, *(numbered(number, sha256=f"{number:064d}", keep_round=10) for number in range(203)))
    for number in range(203):
        ledger.apply(f"{number:052d}", Settle("chain"), START)

    assert [ledger.purge(round_) for round_ in (9, 10, 11, 11, 11)] == [0, 0, 200, 3, 0]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Settle("chain"), {"state": "settled", "evidence": "chain", "reason": None, "closed_at": LATER.timestamp()}),
        (
            Refuse("expired", "absent"),
            {"state": "refused", "evidence": "absent", "reason": "expired", "closed_at": LATER.timestamp()},
        ),
        (NoteRefusal("insufficient_funds", 77), {"reason": "insufficient_funds", "refusal_round": 77}),
        (Watch(88), {"watched_round": 88}),
        (Watch(None), {"watched_round": None}),
    ],
)
def test_a_change_writes_what_it_says_and_nothing_else(
    change: Change, expected: dict[str, object], tmp_path: Path
) -> None:
    ledger = ledger_of(tmp_path, INTENT, numbered(2))

    assert ledger.apply(INTENT.txid, change, LATER)

    assert ledger.find(INTENT.txid) == replace(INTENT, **expected)  # type: ignore[arg-type]
    assert ledger.find(f"{2:052d}") == numbered(2)


def test_what_was_refused_and_landed_all_the_same_keeps_that_reason(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, INTENT)
    ledger.apply(INTENT.txid, Refuse("insufficient_funds", "before_broadcast"), START)

    assert ledger.apply(INTENT.txid, Settle("chain"), LATER)

    landed = ledger.find(INTENT.txid)
    assert landed is not None
    assert (landed.state, landed.reason, landed.evidence) == ("settled", "landed_after_refusal", "chain")
    assert landed.closed_at == LATER.timestamp()
    assert not ledger.apply(INTENT.txid, Settle("facilitator"), LATER)
    assert ledger.find(INTENT.txid) == landed


def test_evidence_is_replaced_where_it_is_the_one_that_was_reviewed(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, INTENT)
    ledger.apply(INTENT.txid, Settle("facilitator"), START)

    wrong = ledger.apply(INTENT.txid, Review("before_broadcast", "absent"), LATER)
    right = ledger.apply(INTENT.txid, Review("facilitator", "chain"), LATER)

    found = ledger.find(INTENT.txid)
    assert found is not None
    assert (wrong, right, found.evidence, found.state) == (False, True, "chain", "settled")


@pytest.mark.parametrize(
    ("settles", "owner", "taken"), [(1, INTENT.owner, True), (2, INTENT.owner, False), (1, "x", False)]
)
def test_a_settle_is_begun_again_from_the_attempt_that_was_read(
    settles: int, owner: str, taken: bool, tmp_path: Path
) -> None:
    ledger = ledger_of(tmp_path, INTENT)

    begun = ledger.begin_settle(INTENT.txid, owner, settles, "new")

    assert begun is taken
    found = ledger.find(INTENT.txid)
    assert found == (replace(INTENT, owner="new", settles=2) if taken else INTENT)


def test_deliveries_are_added_and_the_first_round_stays(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, INTENT)
    rows = []
    for count, reached in ((2, None), (1, 500), (3, 600)):
        ledger.count_deliveries({INTENT.txid: count}, reached)
        rows.append(ledger.find(INTENT.txid))

    assert [(row.deliveries, row.delivered_round) for row in rows if row] == [(2, None), (3, 500), (6, 500)]


def test_a_probe_leaves_no_payment(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, INTENT)

    ledger.probe()
    ledger.probe()

    assert (ledger.count_open()[0], ledger.find("PROBE")) == (1, None)
    with pytest.raises(IdentityTaken):
        ledger.write_intent(INTENT)
