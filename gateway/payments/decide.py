"""What becomes of a payment: decided and named here, and nowhere else; no I/O.

An outcome is settled, refused or unknown. Only proof moves unknown to refused; settled is terminal. No one who may have
paid is shown a challenge again: a mistake here is a second charge or a lost one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from hmac import compare_digest
from typing import Final

from gateway.ledger.record import Change, NoteRefusal, Record, Refuse, Review, Settle, Watch
from gateway.upstream.chain import Finding, Presence, extend_watch
from gateway.upstream.facilitator import SettleAnswer, SettleKind, Verdict
from gateway.values import Payment, Transfer

ALREADY_ON_CHAIN: Final = "payment_already_on_chain"
HEADER_REPEATED: Final = "payment_header_repeated"
IDENTIFIER_REQUIRED: Final = "payment_identifier_required"
PAYS_TWICE: Final = "group_pays_twice"
EXPIRED: Final = "payment_expired"
CHAIN: Final = "chain"
FACILITATOR: Final = "facilitator"
BEFORE_BROADCAST: Final = "before_broadcast"
ABSENT: Final = "absent"
REPEAT_ROUNDS: Final = 1_300
"""For how long, about an hour, a delivered payment that came without an identifier is repeated."""
NEVER_LANDED: Final = "never_landed"


class Action(Enum):
    """What is to be done about a payment; the first five end a request, with the outcome of that name."""

    DELIVER = "delivered"
    REFUSE = "refused"
    PENDING = "pending"
    GONE = "gone"
    WITHHOLD = "withheld"
    CHOOSE_BODY = "choose the body of an adopted payment"
    ASK_CHAIN = "ask the chain"
    KEEP_ASKING = "ask the chain until a refusal is certain"
    SETTLE = "ask the facilitator to settle, once the intent is this process's"


@dataclass(frozen=True, slots=True)
class Decision:
    """One step of a payment."""

    action: Action  # to be done after `change` is durable
    change: Change | None = None  # of the payment's row
    reason: str = ""  # why it is refused, a code


def decide(record: Record | None, finding: Finding | None, answer: Verdict | SettleAnswer | None) -> Decision:
    """Decide the next step of a payment from all that is known of it.

    *Absent* is an absence that proves that the payment can never land; *not yet* is any other 404 of a node; *held* is
    one that a node which follows the chain gave for as long as a buyer waits, or two rounds after the refusal. A
    refusal counts if it is the answer to the first settle, with a reason that is given only before a broadcast;
    every other failure, a timeout among them, is in doubt.

    ```
    the ledger says         the chain says   the facilitator says   decision              written before
    ----------------------  ---------------  ---------------------  --------------------  ------------------------
    nothing (new)           found, pooled    any verdict            WITHHOLD on chain     -
                            otherwise        invalid                ASK_CHAIN, `judge`    -
                            otherwise        valid                  SETTLE                (the intent)
    intent (in flight)      not asked        anything               ASK_CHAIN             -
                            found            anything               DELIVER               settled, chain
                            absent           refusal                REFUSE its reason     refused, absent
                            absent           anything else          REFUSE expired        refused, absent
                            pooled, unknown  success                DELIVER               settled, facilitator
                            not yet          success                PENDING               -
                            not yet          refusal                KEEP_ASKING           the refusal and its round
                            unknown          refusal                PENDING               -
                            not yet          in doubt               PENDING               -
                            not yet          nothing                SETTLE (again)        watch
                            unknown          in doubt, nothing      PENDING               -
    intent, refusal noted   absent           nothing                REFUSE its reason     refused, absent
                            held             nothing                REFUSE its reason     refused, before_broadcast
                            otherwise        nothing                PENDING               watch
    settled, facilitator    found            -                      DELIVER               settled, chain
     (confirmed, unseen)    absent           -                      DELIVER               settled, never_landed
                            otherwise        -                      DELIVER               watch
    settled, else           anything         -                      DELIVER               -
      adopted, no body yet  anything         -                      CHOOSE_BODY           -
      its body was dropped  anything         -                      GONE                  as with the body
    refused,                not asked        -                      ASK_CHAIN             -
      before_broadcast      found            -                      DELIVER               settled, chain
                            absent           -                      REFUSE its reason     refused, absent
                            not yet          -                      REFUSE its reason     watch
                            unknown          -                      PENDING               -
    refused, absent         anything         -                      REFUSE its reason     -
    ```

    Who only looks after a row, and has no buyer waiting, writes the change and leaves the action.

    Args:
        record: the payment's row, None when the ledger does not know it.
        finding: what the chain showed after the answer came, None when it was not asked.
        answer: the facilitator's to verify (new) or to settle; None when it was not asked.
    """
    if record is None:
        return _decide_new(finding, answer)
    if record.state == "settled":
        return _decide_settled(record, finding)
    if record.state == "refused":
        return _decide_refused(record, finding)
    return _decide_intent(record, finding, answer)


def _decide_new(finding: Finding | None, answer: Verdict | SettleAnswer | None) -> Decision:
    if not isinstance(answer, Verdict):
        return Decision(Action.PENDING)
    if _is_sent(finding):
        # No one can tell whose it is: a transfer that bought nothing here can be presented by anyone, and a payer's row
        # can have been lost. A challenge would charge that payer twice.
        return Decision(Action.WITHHOLD, reason=ALREADY_ON_CHAIN)
    if answer.valid:
        return Decision(Action.SETTLE, reason=answer.reason)
    return Decision(Action.ASK_CHAIN, reason=answer.reason)


def _decide_settled(record: Record, finding: Finding | None) -> Decision:
    if finding is None or record.evidence != FACILITATOR:
        return _deliver(record)
    if finding.presence is Presence.FOUND:
        return _deliver(record, Review(FACILITATOR, CHAIN))
    if _proves_absence(record, finding):
        return _deliver(record, Review(FACILITATOR, NEVER_LANDED))
    return _deliver(record, _watch(record, finding))


def _decide_refused(record: Record, finding: Finding | None) -> Decision:
    if record.evidence == ABSENT:
        return _refuse(record)
    if finding is None:
        return Decision(Action.ASK_CHAIN)

    if finding.presence is Presence.FOUND:
        return _deliver(record, Settle(CHAIN))
    if _proves_absence(record, finding):
        return _refuse(record, Review(BEFORE_BROADCAST, ABSENT))
    if finding.presence is Presence.ABSENT:
        return _refuse(record, _watch(record, finding))
    return Decision(Action.PENDING)


def _decide_intent(record: Record, finding: Finding | None, answer: Verdict | SettleAnswer | None) -> Decision:
    if finding is None:
        return Decision(Action.ASK_CHAIN)

    # What the chain proves counts before what anyone says.
    if finding.presence is Presence.FOUND:
        return _deliver(record, Settle(CHAIN))
    if _proves_absence(record, finding):
        reason = _refusal(record, answer) or EXPIRED
        return Decision(Action.REFUSE, Refuse(reason, ABSENT), reason)

    if answer is not None:
        return _decide_answered(record, finding, answer)
    return _decide_unanswered(record, finding)


def _decide_answered(record: Record, finding: Finding, answer: Verdict | SettleAnswer) -> Decision:
    """Decide about an intent that the chain neither has nor can never have, after the facilitator's answer."""
    success = isinstance(answer, SettleAnswer) and answer.kind is SettleKind.SUCCESS
    if success and finding.presence in {Presence.POOLED, Presence.UNKNOWN}:
        return _deliver(record, Settle(FACILITATOR))

    refusal = _refusal(record, answer)
    if refusal is not None and finding.presence is Presence.ABSENT and finding.round is not None:
        return Decision(Action.KEEP_ASKING, NoteRefusal(refusal, finding.round))
    return Decision(Action.PENDING)


def _decide_unanswered(record: Record, finding: Finding) -> Decision:
    """Decide about such an intent while there is no answer: settle again, unless the first answer was a refusal."""
    if record.refused_since is None:
        if finding.presence is Presence.ABSENT:
            return Decision(Action.SETTLE, _watch(record, finding))
        return Decision(Action.PENDING, _watch(record, finding))

    # Not asked again: that would take from the first answer what it proves.
    if finding.confirms_refusal(record.refused_since):
        reason = record.reason or "refused"
        return Decision(Action.REFUSE, Refuse(reason, BEFORE_BROADCAST), reason)
    return Decision(Action.PENDING, _watch(record, finding))


def _refusal(record: Record, answer: Verdict | SettleAnswer | None) -> str | None:
    """Return why the first settle, and no other was begun, was refused before any broadcast; None if it was not."""
    if isinstance(answer, SettleAnswer):
        if answer.before_broadcast and record.settles == 1:
            return answer.reason
        return None

    if record.refused_since is None:
        return None
    return record.reason or "refused"


def _deliver(record: Record, change: Change | None = None) -> Decision:
    if record.content is not None:
        return Decision(Action.DELIVER, change)
    if record.awaits_body:
        return Decision(Action.CHOOSE_BODY, change)
    return Decision(Action.GONE, change)


def _refuse(record: Record, change: Change | None = None) -> Decision:
    return Decision(Action.REFUSE, change, record.reason or "refused")


def _is_sent(finding: Finding | None) -> bool:
    """Return whether a transaction is on the chain, or on its way there."""
    return finding is not None and finding.presence in {Presence.FOUND, Presence.POOLED}


def _proves_absence(record: Record, finding: Finding) -> bool:
    return finding.proves_absence(record.last_valid, extend_watch(record.watched_round, finding))


def _watch(record: Record, finding: Finding) -> Watch | None:
    watched = extend_watch(record.watched_round, finding)
    if watched == record.watched_round:
        return None
    return Watch(watched)


@dataclass(frozen=True, slots=True)
class Delivered:
    """Settled: 200 with the quoted bytes and the receipt."""

    record: Record
    content: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """Certainly not paid by this payment, or it bought something else: 402 with a fresh challenge."""

    code: str
    text: str  # one sentence, may be empty
    network: str | None = None  # as the client sent it; None when no receipt belongs to the answer
    payer: str | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """Settled and delivered long ago, the body kept no longer: 410, never a challenge, since it is paid."""

    record: Record


@dataclass(frozen=True, slots=True)
class Withheld:
    """Paid before, and not this request's to have: 409, never a challenge, since it is paid."""

    reason: str  # a code
    txid: str


@dataclass(frozen=True, slots=True)
class Pending:
    """The outcome is not known: 503, never a challenge, since the money may have moved."""

    txid: str
    network: str
    payer: str


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Nothing was asked of the payment; the same one may work later: 503."""

    reason: str
    retry_after_s: int = 5


@dataclass(frozen=True, slots=True)
class Limited:
    """Too many attempts from this address: 429."""

    retry_after_s: int


Outcome = Delivered | Refused | Gone | Withheld | Pending | Unavailable | Limited


@dataclass(frozen=True, slots=True)
class Sighting:
    """What is known of a transfer to our payee in something that is about to be refused."""

    transfer: Transfer
    record: Record | None = None  # the payment's row, None when the ledger does not know it
    finding: Finding | None = None  # what the chain showed, None when it was not asked


class Fate(Enum):
    """What became of such a transfer."""

    PAID = "paid, or on its way to the chain"
    OPEN = "accepted here, and its outcome not known"
    UNKNOWN = "no one can say yet"
    UNPAID = "not paid"


def fate_of(sighting: Sighting) -> Fate:
    """Say what became of a transfer to our payee that is not taken as a payment.

    ```
    the ledger says            the chain says                                                     fate
    -------------------------  -----------------------------------------------------------------  --------
    settled                    -                                                                  PAID
    intent (in flight)         -                                                                  OPEN
    refused, absent            -                                                                  UNPAID
    nothing, or refused        found, pooled                                                      PAID
      before_broadcast         not yet: a node that follows has nothing, its last round to come   UNPAID
                               absent: ten rounds past its last, and the indexer has nothing      UNPAID
                               the same of algod alone, less than 900 rounds after its first      UNPAID
                               anything else: down, behind, dropped by a pool, too late to know   UNKNOWN
    ```

    *Not yet* proves nothing, since whoever holds the signed transfer can still send it. A payer is asked to sign
    another all the same: to wait until the last round passed would keep from buying whoever let a quote expire.
    """
    record = sighting.record
    if record is None or record.evidence == BEFORE_BROADCAST:
        return _fate_on_chain(sighting.transfer, sighting.finding)
    closed = {"settled": Fate.PAID, "refused": Fate.UNPAID}
    return closed.get(record.state, Fate.OPEN)


def _fate_on_chain(transfer: Transfer, finding: Finding | None) -> Fate:
    if _is_sent(finding):
        return Fate.PAID
    if finding is None or finding.presence is not Presence.ABSENT or finding.round is None:
        return Fate.UNKNOWN

    not_yet = finding.following and finding.round <= transfer.last_valid
    # Before its first round it cannot have landed: algod's 404s count from there on.
    watched = extend_watch(transfer.first_valid, finding)
    if not_yet or finding.proves_absence(transfer.last_valid, watched):
        return Fate.UNPAID
    return Fate.UNKNOWN


def judge(refusal: Refused, sightings: Sequence[Sighting]) -> Outcome:
    """Decide whether a refusal may be answered with a challenge, by all transfers to our payee in what was sent.

    ```
    one of them is  the refusal is for                       outcome
    --------------  ---------------------------------------  ----------------------------------------
    PAID            several headers                          Withheld, payment_header_repeated
    PAID            anything else                            Withheld, payment_already_on_chain
    OPEN            several headers, a group that pays twice Withheld, as above
    OPEN            anything else                            Pending
    UNKNOWN         anything                                 Pending
    (all UNPAID)    anything                                 the refusal
    ```
    """
    fates = [(fate_of(sighting), sighting.transfer) for sighting in sightings]

    withheld = {Fate.PAID}
    if refusal.code in {HEADER_REPEATED, PAYS_TWICE}:
        # Of several payments in one request none is singled out as the one to wait for.
        withheld.add(Fate.OPEN)
    reason = HEADER_REPEATED if refusal.code == HEADER_REPEATED else ALREADY_ON_CHAIN
    for fate, transfer in fates:
        if fate in withheld:
            return Withheld(reason, transfer.txid)

    for fate, transfer in fates:
        if fate is not Fate.UNPAID:
            return Pending(transfer.txid, transfer.network, transfer.payer)
    return refusal


def outcome_of(decision: Decision, record: Record | None, payment: Payment, reached: int | None = None) -> Outcome:
    """Name the outcome of a request that a decision ends; any other decision means that it is pending.

    `reached` is the chain's round, None when it is not known: see `repeat`.
    """
    if decision.action is Action.REFUSE and record is not None:
        return Refused(decision.reason, "", record.network, record.payer)
    if decision.action is Action.WITHHOLD:
        return Withheld(decision.reason, payment.txid)
    if record is not None and record.content is not None and decision.action is Action.DELIVER:
        return _withheld(Delivered(record, record.content), payment, reached)
    if record is not None and decision.action is Action.GONE:
        return _withheld(Gone(record), payment, reached)
    return Pending(payment.txid, payment.network, payment.payer)


def repeat(delivered: Delivered, path: str, payment: Payment, reached: int | None) -> Outcome:
    """Name the outcome of a request for a path's product with a payment that was delivered before.

    The signed group is public once it is on the chain, so that anyone can present it; the identifier is not.

    ```
    it came                 it was delivered first                        outcome
    ----------------------  --------------------------------------------  ---------------------------------------
    with an identifier      -                                             Delivered to whoever names it, else Withheld
    without                 never, as far as was noted                    Delivered, however late
    without                 and its last round or that delivery, the      Delivered
                              later, lies at most 1,300 rounds back
    without                 longer ago                                    Withheld
    without                 and no node says which round it is            Delivered
    ```

    Who presents what another paid for gains a copy of one answer: that is less than a payer loses who gets nothing
    because a node is down. It ends with the outage, and the first round that a node names is then noted.
    """
    if delivered.record.path != path:
        return other_product(delivered.record)
    return _withheld(delivered, payment, reached)


def outcome_elsewhere(decision: Decision, record: Record, payment: Payment) -> Outcome:
    """Name the outcome of a request for another product than the one that a payment was accepted for.

    Settled, it bought that one, and this one has a price of its own: 402. Refused for certain, it bought neither: 402.
    One that settled long ago names no path any more: its answer is gone, whatever it is presented for.
    """
    if record.is_retired:
        return Gone(replace(record, network=payment.network, payer=payment.payer))
    if decision.action is Action.REFUSE:
        return Refused(decision.reason, "", record.network, record.payer)
    if record.state == "settled" or isinstance(decision.change, Settle):
        return other_product(record)
    return Pending(record.txid, record.network, record.payer)


def other_product(record: Record) -> Refused:
    """Refuse a payment that bought another product, and say which."""
    return Refused("payment_used_for_another_product", f"one payment buys one product; this one bought {record.path}")


def _withheld(outcome: Delivered | Gone, payment: Payment, reached: int | None) -> Outcome:
    """Keep what a payment bought from whoever cannot show that they are its payer; the table is `repeat`'s."""
    secret = outcome.record.identifier
    named = payment.identifier
    if secret is not None:
        is_payers = named is not None and compare_digest(named, secret)
    else:
        # What is gone is given to no one.
        is_payers = isinstance(outcome, Gone) or _is_repeated(outcome.record, reached)

    if is_payers:
        return outcome
    return Withheld(IDENTIFIER_REQUIRED, outcome.record.txid)


def _is_repeated(record: Record, reached: int | None) -> bool:
    if record.delivered_round is None or reached is None:
        return True
    return reached <= max(record.last_valid, record.delivered_round) + REPEAT_ROUNDS
