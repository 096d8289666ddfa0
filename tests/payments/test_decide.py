"""The decision about a payment, over every combination of what can be known of it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from gateway.ledger.record import NoteRefusal, Record, Refuse, Review, Settle, Watch
from gateway.payments.decide import (
    Action,
    Decision,
    Delivered,
    Fate,
    Gone,
    Outcome,
    Pending,
    Refused,
    Sighting,
    Withheld,
    decide,
    fate_of,
    judge,
    other_product,
    outcome_elsewhere,
    outcome_of,
    repeat,
)
from gateway.payments.parse import read_payment
from gateway.settings import DEMO_PAYEE
from gateway.upstream.chain import Finding, Presence
from gateway.upstream.facilitator import SettleAnswer, SettleKind, Verdict
from gateway.values import Transfer
from gateway.wire.networks import DEVNET
from tests.support.gateway_wallet import Buyer
from tests.support.intents import INTENT

SECRET = "order_0123456789abcdef"
RECORDS: dict[str, Record | None] = {
    "new": None,
    "in flight": INTENT,
    "settled again": replace(INTENT, settles=2),
    "refusal noted": replace(INTENT, reason="insufficient_funds", refusal_round=1_001),
    "refusal noted, settled again": replace(INTENT, reason="insufficient_funds", refusal_round=1_001, settles=2),
    "confirmed, unseen": replace(INTENT, state="settled", evidence="facilitator"),
    "settled": replace(INTENT, state="settled", evidence="chain"),
    "never landed": replace(INTENT, state="settled", evidence="never_landed"),
    "refused": replace(INTENT, state="refused", evidence="before_broadcast", reason="insufficient_funds"),
    "expired": replace(INTENT, state="refused", evidence="absent", reason="payment_expired"),
    "adopted": replace(INTENT, state="settled", evidence="adopted", sha256="", content=None),
    "body gone": replace(INTENT, state="settled", evidence="chain", content=None),
    "confirmed, body gone": replace(INTENT, state="settled", evidence="facilitator", content=None),
}
NOT_YET = Finding(Presence.ABSENT, 1_002, indexed=False)
FINDINGS: dict[str, Finding | None] = {
    "not asked": None,
    "found": Finding(Presence.FOUND, 1_002, indexed=True),
    "absent": Finding(Presence.ABSENT, 1_111, indexed=True),
    "absent, watched": Finding(Presence.ABSENT, 1_111, indexed=False),
    "not yet": NOT_YET,
    "not yet, two rounds later": replace(NOT_YET, round=1_003),
    "not yet, by a node behind": replace(NOT_YET, round=1_003, following=False),
    "not yet, held": replace(NOT_YET, held=True),
    "not yet, held, by a node behind": replace(NOT_YET, held=True, following=False),
    "not yet, no round": replace(NOT_YET, round=None),
    "pooled": Finding(Presence.POOLED, None, indexed=False),
    "dropped": Finding(Presence.DROPPED, None, indexed=False),
    "unknown": Finding(Presence.UNKNOWN, 1_111, indexed=False),
}
ABSENT = {"absent", "absent, watched"}
ANSWERS: dict[str, Verdict | SettleAnswer | None] = {
    "none": None,
    "valid": Verdict(valid=True, reason=""),
    "invalid": Verdict(valid=False, reason="insufficient_funds"),
    "success": SettleAnswer(SettleKind.SUCCESS, ""),
    "refusal": SettleAnswer(SettleKind.FAILURE, "insufficient_funds"),
    "refusal that names a transaction": SettleAnswer(SettleKind.FAILURE, "insufficient_funds", names_transaction=True),
    "late failure": SettleAnswer(SettleKind.FAILURE, "invalid_exact_avm_settlement_failed"),
    "unreadable": SettleAnswer(SettleKind.UNREADABLE, "HTTP 500"),
}
DELIVER, PENDING = Action.DELIVER, Decision(Action.PENDING)
REFUSE_ABSENT = Decision(Action.REFUSE, Refuse("payment_expired", "absent"), "payment_expired")
REFUSE_KNOWN = Decision(Action.REFUSE, Refuse("insufficient_funds", "absent"), "insufficient_funds")
REFUSE_BEFORE = Decision(Action.REFUSE, Refuse("insufficient_funds", "before_broadcast"), "insufficient_funds")
REPEAT_REFUSAL = Decision(Action.REFUSE, None, "insufficient_funds")
NOTED = Decision(Action.KEEP_ASKING, NoteRefusal("insufficient_funds", 1_002))
TABLE = [
    ("new", "found", "valid", Decision(Action.WITHHOLD, None, "payment_already_on_chain")),
    ("new", "pooled", "invalid", Decision(Action.WITHHOLD, None, "payment_already_on_chain")),
    ("new", "unknown", "invalid", Decision(Action.ASK_CHAIN, None, "insufficient_funds")),
    ("new", "unknown", "valid", Decision(Action.SETTLE)),
    ("in flight", "not asked", "none", Decision(Action.ASK_CHAIN)),
    ("in flight", "not asked", "success", Decision(Action.ASK_CHAIN)),
    ("in flight", "found", "unreadable", Decision(DELIVER, Settle("chain"))),
    ("in flight", "absent", "none", REFUSE_ABSENT),
    ("in flight", "absent, watched", "unreadable", REFUSE_ABSENT),
    ("in flight", "absent", "refusal", REFUSE_KNOWN),
    ("in flight", "absent", "late failure", REFUSE_ABSENT),
    ("settled again", "absent", "refusal", REFUSE_ABSENT),
    ("in flight", "pooled", "success", Decision(DELIVER, Settle("facilitator"))),
    ("in flight", "unknown", "success", Decision(DELIVER, Settle("facilitator"))),
    ("in flight", "not yet", "success", PENDING),
    ("in flight", "dropped", "success", PENDING),
    ("in flight", "not yet", "refusal", NOTED),
    ("in flight", "not yet, no round", "refusal", PENDING),
    ("in flight", "unknown", "refusal", PENDING),
    ("in flight", "not yet", "late failure", PENDING),
    ("in flight", "not yet", "refusal that names a transaction", PENDING),
    ("in flight", "not yet", "unreadable", PENDING),
    ("in flight", "not yet", "none", Decision(Action.SETTLE, Watch(1_002))),
    ("in flight", "unknown", "none", PENDING),
    ("settled again", "not yet", "refusal", PENDING),
    ("settled again", "not yet", "none", Decision(Action.SETTLE, Watch(1_002))),
    ("refusal noted", "not asked", "none", Decision(Action.ASK_CHAIN)),
    ("refusal noted", "found", "none", Decision(DELIVER, Settle("chain"))),
    ("refusal noted", "absent", "none", REFUSE_KNOWN),
    ("refusal noted, settled again", "absent", "none", REFUSE_ABSENT),
    ("refusal noted", "not yet", "none", Decision(Action.PENDING, Watch(1_002))),
    ("refusal noted", "not yet, two rounds later", "none", REFUSE_BEFORE),
    ("refusal noted", "not yet, by a node behind", "none", Decision(Action.PENDING, Watch(1_003))),
    ("refusal noted", "not yet, held", "none", REFUSE_BEFORE),
    ("refusal noted", "not yet, held, by a node behind", "none", Decision(Action.PENDING, Watch(1_002))),
    ("refusal noted", "unknown", "none", PENDING),
    ("refusal noted, settled again", "not yet, held", "none", Decision(Action.SETTLE, Watch(1_002))),
    ("confirmed, unseen", "not asked", "none", Decision(DELIVER)),
    ("confirmed, unseen", "found", "none", Decision(DELIVER, Review("facilitator", "chain"))),
    ("confirmed, unseen", "absent", "none", Decision(DELIVER, Review("facilitator", "never_landed"))),
    ("confirmed, unseen", "not yet", "none", Decision(DELIVER, Watch(1_002))),
    ("confirmed, body gone", "absent", "none", Decision(Action.GONE, Review("facilitator", "never_landed"))),
    ("settled", "absent", "none", Decision(DELIVER)),
    ("never landed", "found", "none", Decision(DELIVER)),
    ("adopted", "not asked", "none", Decision(Action.CHOOSE_BODY)),
    ("body gone", "not asked", "none", Decision(Action.GONE)),
    ("refused", "not asked", "none", Decision(Action.ASK_CHAIN)),
    ("refused", "found", "none", Decision(DELIVER, Settle("chain"))),
    ("refused", "absent", "none", replace(REPEAT_REFUSAL, change=Review("before_broadcast", "absent"))),
    ("refused", "not yet", "none", replace(REPEAT_REFUSAL, change=Watch(1_002))),
    ("refused", "unknown", "none", PENDING),
    ("expired", "not asked", "none", Decision(Action.REFUSE, None, "payment_expired")),
    ("expired", "found", "success", Decision(Action.REFUSE, None, "payment_expired")),
]


def test_each_row_of_the_table() -> None:
    wrong = [
        (record, finding, answer)
        for record, finding, answer, expected in TABLE
        if decide(RECORDS[record], FINDINGS[finding], ANSWERS[answer]) != expected
    ]

    assert wrong == []


def every_case() -> Iterator[tuple[str, str, str, Decision]]:
    for record, finding, answer in product(RECORDS, FINDINGS, ANSWERS):
        yield record, finding, answer, decide(RECORDS[record], FINDINGS[finding], ANSWERS[answer])


def test_an_unknown_payment_is_refused_only_by_proof() -> None:
    for name, finding, answer, decision in every_case():
        record = RECORDS[name]
        if record is None or record.state != "intent" or decision.action is not Action.REFUSE:
            continue
        confirmed = finding in {"not yet, two rounds later", "not yet, held"} and answer == "none"
        assert finding in ABSENT or (name == "refusal noted" and confirmed), (name, finding, answer)
        assert isinstance(decision.change, Refuse)


def test_a_settled_payment_stays_settled_and_is_never_refused() -> None:
    for name, finding, answer, decision in every_case():
        record = RECORDS[name]
        if record is not None and record.state == "settled":
            assert decision.action in {Action.DELIVER, Action.GONE, Action.CHOOSE_BODY}, (name, finding, answer)
            assert decision.change is None or isinstance(decision.change, Review | Watch)


def test_what_the_chain_shows_is_delivered_unless_it_never_can_be() -> None:
    for name, finding, answer, decision in every_case():
        record = RECORDS[name]
        if record is not None and finding == "found" and record.evidence != "absent":
            assert decision.action in {Action.DELIVER, Action.GONE, Action.CHOOSE_BODY}, (name, answer)


def test_a_row_is_settled_only_by_the_chain_or_by_a_success_that_nothing_denies() -> None:
    for name, finding, answer, decision in every_case():
        if isinstance(decision.change, Settle):
            by_chain = decision.change == Settle("chain") and finding == "found"
            by_facilitator = answer == "success" and finding in {"pooled", "unknown"}
            assert by_chain or by_facilitator, (name, finding, answer)


def test_settle_is_asked_only_while_the_chain_says_not_yet_and_no_refusal_is_checked() -> None:
    for name, finding, answer, decision in every_case():
        if decision.action is Action.SETTLE and name != "new":
            assert name in {"in flight", "settled again", "refusal noted, settled again"}
            assert finding.startswith("not yet"), (name, finding)
            assert answer == "none"


def test_no_challenge_is_made_while_the_money_may_have_moved() -> None:
    payment = read_payment(Buyer().pay().header, DEVNET, DEMO_PAYEE)
    for name, finding, answer, decision in every_case():
        if isinstance(outcome_of(decision, RECORDS[name], payment), Refused):
            refusable = name in {"refused", "expired", "refusal noted"} or finding in ABSENT
            assert refusable, (name, finding, answer)


@pytest.mark.parametrize(
    ("record", "outcome"), [("settled", Delivered), ("body gone", Gone), ("expired", Refused), ("in flight", Pending)]
)
def test_an_action_is_named_as_an_outcome(record: str, outcome: type) -> None:
    payment = read_payment(Buyer().pay().header, DEVNET, DEMO_PAYEE)
    decision = decide(RECORDS[record], FINDINGS["not asked"], None)

    assert isinstance(outcome_of(decision, RECORDS[record], payment), outcome)


@pytest.mark.parametrize("record", ["settled", "body gone"])
def test_what_was_bought_with_an_identifier_is_withheld_without_it(record: str) -> None:
    known = RECORDS[record]
    assert known is not None
    bought = replace(known, identifier=SECRET)
    decision = decide(bought, None, None)
    stranger, payer = (
        read_payment(payment.header, DEVNET, DEMO_PAYEE)
        for payment in (Buyer().pay(), Buyer().pay().identified(SECRET))
    )

    assert isinstance(outcome_of(decision, bought, stranger), Withheld)
    assert not isinstance(outcome_of(decision, bought, payer), Withheld)


TRANSFER = Transfer("A" * 52, "P" * 58, first_valid=1_000, last_valid=1_100, network="algorand:x")
SIGHTINGS: dict[str, Finding | None] = {
    **FINDINGS,
    "not yet, in its last round": Finding(Presence.ABSENT, 1_100, indexed=False),
    "past, within the margin": Finding(Presence.ABSENT, 1_110, indexed=True),
    "too late for algod alone": Finding(Presence.ABSENT, 1_901, indexed=False),
    "too late for algod, indexed": Finding(Presence.ABSENT, 1_901, indexed=True),
}
SURE = {"found", "pooled"}
NOT_YET_PAID = {"not yet", "not yet, two rounds later", "not yet, held", "not yet, in its last round"}
NOT_PAID = {"absent", "absent, watched", "too late for algod, indexed", *NOT_YET_PAID}
ACCEPTED = {"in flight", "settled again", "refusal noted", "refusal noted, settled again"}
SETTLED = {"confirmed, unseen", "settled", "never landed", "adopted", "body gone", "confirmed, body gone"}


def expected_fate(record: str, finding: str) -> Fate:
    if record in SETTLED:
        return Fate.PAID
    if record in ACCEPTED:
        return Fate.OPEN
    if record == "expired" or finding in NOT_PAID:
        return Fate.UNPAID
    return Fate.PAID if finding in SURE else Fate.UNKNOWN


def test_each_row_of_the_table_of_transfers_that_are_not_taken() -> None:
    rows = list(product(RECORDS, SIGHTINGS))

    fates = {row: fate_of(Sighting(TRANSFER, RECORDS[row[0]], SIGHTINGS[row[1]])) for row in rows}

    assert fates == {row: expected_fate(*row) for row in rows}


FATES = {
    Fate.PAID: Sighting(TRANSFER, RECORDS["settled"]),
    Fate.OPEN: Sighting(TRANSFER, RECORDS["in flight"]),
    Fate.UNKNOWN: Sighting(TRANSFER, None, FINDINGS["unknown"]),
    Fate.UNPAID: Sighting(TRANSFER, None, SIGHTINGS["not yet"]),
}
PENDING_503 = Pending("A" * 52, "algorand:x", "P" * 58)
SEVERAL = {"payment_header_repeated", "group_pays_twice"}


def expected_outcome(refusal: Refused, fates: set[Fate]) -> Outcome:
    code = refusal.code if refusal.code == "payment_header_repeated" else "payment_already_on_chain"
    if Fate.PAID in fates or (refusal.code in SEVERAL and Fate.OPEN in fates):
        return Withheld(code, "A" * 52)
    return refusal if fates == {Fate.UNPAID} else PENDING_503


def test_a_challenge_follows_only_where_no_transfer_was_or_may_have_been_paid() -> None:
    cases = list(product(Fate, Fate, ["quote_expired", *sorted(SEVERAL)]))

    judged = {case: judge(Refused(case[2], ""), [FATES[case[0]], FATES[case[1]]]) for case in cases}

    assert judged == {case: expected_outcome(Refused(case[2], ""), {*case[:2]}) for case in cases}


@pytest.mark.parametrize(
    ("delivered_round", "reached", "outcome"),
    [
        (None, 9_000, Delivered),
        (1_050, 2_400, Delivered),
        (1_050, 2_401, Withheld),
        (3_000, 4_300, Delivered),
        (3_000, 4_301, Withheld),
        (3_000, None, Delivered),
    ],
)
def test_one_without_identifier_is_repeated_for_an_hour(
    delivered_round: int | None, reached: int | None, outcome: type
) -> None:
    settled = replace(INTENT, state="settled", evidence="chain", delivered_round=delivered_round)
    payment = read_payment(Buyer().pay().header, DEVNET, DEMO_PAYEE)

    assert isinstance(repeat(Delivered(settled, b"{}"), settled.path, payment, reached), outcome)
    assert isinstance(outcome_of(decide(settled, None, None), settled, payment, reached), outcome)


PAYMENT = read_payment(Buyer().pay().header, DEVNET, DEMO_PAYEE)


@pytest.mark.parametrize(
    ("record", "finding", "outcome"),
    [
        ("settled", "not asked", Refused),
        ("body gone", "not asked", Refused),
        ("in flight", "unknown", Pending),
        ("refused", "found", Refused),
        ("refused", "not yet", Refused),
        ("refused", "unknown", Pending),
        ("expired", "not asked", Refused),
    ],
)
def test_what_another_product_is_answered(record: str, finding: str, outcome: type) -> None:
    known = RECORDS[record]
    assert known is not None

    decision = decide(known, FINDINGS[finding], None)
    assert isinstance(outcome_elsewhere(decision, known, PAYMENT), outcome)


def test_a_refusal_on_another_product_names_no_more_than_the_reason_and_the_payer() -> None:
    refused = Decision(Action.REFUSE, reason="insufficient_funds")

    said = outcome_elsewhere(refused, INTENT, PAYMENT)
    assert said == Refused("insufficient_funds", "", INTENT.network, INTENT.payer)
    assert other_product(INTENT) == Refused(
        "payment_used_for_another_product", "one payment buys one product; this one bought /api/x402-atlas.php"
    )
