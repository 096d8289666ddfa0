"""What becomes of a payment: decided and named here, and nowhere else; no I/O.

An outcome is settled, refused or unknown. Unknown never becomes refused but by proof, settled never ends, and no one
who may have paid is shown a challenge again: a mistake here is a second charge or a lost one.
"""

from dataclasses import dataclass
from enum import Enum
from hmac import compare_digest
from typing import Final

from gateway.ledger.record import Change, NoteRefusal, Record, Refuse, Review, Settle, Watch
from gateway.payments.parse import Payment
from gateway.upstream.chain import Finding, Presence, extend_watch
from gateway.upstream.facilitator import SettleAnswer, SettleKind, Verdict

ALREADY_ON_CHAIN: Final = "payment_already_on_chain"
EXPIRED: Final = "payment_expired"
CHAIN: Final = "chain"
FACILITATOR: Final = "facilitator"
BEFORE_BROADCAST: Final = "before_broadcast"
ABSENT: Final = "absent"
NEVER_LANDED: Final = "never_landed"


class Action(Enum):
    """What is to be done about a payment; the first four end a request, with the outcome of that name."""

    DELIVER = "delivered"
    REFUSE = "refused"
    PENDING = "pending"
    GONE = "gone"
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
    nothing (new)           found            any verdict            REFUSE already there  -
                            otherwise        invalid                REFUSE its reason     -
                            otherwise        valid                  SETTLE                (the intent)
    intent (in flight)      not asked        anything               ASK_CHAIN             -
                            found            anything               DELIVER               settled, chain
                            absent           refusal                REFUSE its reason     refused, absent
                            absent           anything else          REFUSE expired        refused, absent
                            pooled, unclear  success                DELIVER               settled, facilitator
                            not yet          success                PENDING               -
                            not yet          refusal                KEEP_ASKING           the refusal and its round
                            unclear          refusal                PENDING               -
                            not yet          in doubt               PENDING               -
                            not yet          nothing                SETTLE (again)        watch
                            unclear          in doubt, nothing      PENDING               -
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
                            unclear          -                      PENDING               -
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
    if finding is not None and finding.presence is Presence.FOUND:
        # No one can tell who sent it: a transfer that bought nothing here can be presented by anyone.
        return Decision(Action.REFUSE, reason=ALREADY_ON_CHAIN)
    return Decision(Action.SETTLE) if answer.valid else Decision(Action.REFUSE, reason=answer.reason)


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
    if success and finding.presence in {Presence.POOLED, Presence.UNCLEAR}:
        return _deliver(record, Settle(FACILITATOR))
    refusal = _refusal(record, answer)
    if refusal is not None and finding.presence is Presence.ABSENT and finding.round is not None:
        return Decision(Action.KEEP_ASKING, NoteRefusal(refusal, finding.round))
    return Decision(Action.PENDING)


def _decide_unanswered(record: Record, finding: Finding) -> Decision:
    """Decide about such an intent while there is no answer: settle again, unless the first answer was a refusal."""
    if record.refused_since is None:
        not_yet = finding.presence is Presence.ABSENT
        return Decision(Action.SETTLE if not_yet else Action.PENDING, _watch(record, finding))
    # Not asked again: that would take from the first answer what it proves.
    if finding.confirms_refusal(record.refused_since):
        reason = record.reason or "refused"
        return Decision(Action.REFUSE, Refuse(reason, BEFORE_BROADCAST), reason)
    return Decision(Action.PENDING, _watch(record, finding))


def _refusal(record: Record, answer: Verdict | SettleAnswer | None) -> str | None:
    """Return why the first settle, and no other was begun, was refused before any broadcast; None if it was not."""
    if isinstance(answer, SettleAnswer):
        return answer.reason if answer.before_broadcast and record.settles == 1 else None
    return (record.reason or "refused") if record.refused_since is not None else None


def _deliver(record: Record, change: Change | None = None) -> Decision:
    if record.content is not None:
        return Decision(Action.DELIVER, change)
    return Decision(Action.CHOOSE_BODY if record.awaits_body else Action.GONE, change)


def _refuse(record: Record, change: Change | None = None) -> Decision:
    return Decision(Action.REFUSE, change, record.reason or "refused")


def _proves_absence(record: Record, finding: Finding) -> bool:
    return finding.proves_absence(record.last_valid, extend_watch(record.watched_round, finding))


def _watch(record: Record, finding: Finding) -> Watch | None:
    watched = extend_watch(record.watched_round, finding)
    return None if watched == record.watched_round else Watch(watched)


@dataclass(frozen=True, slots=True)
class Delivered:
    """Settled: 200 with the quoted bytes and the receipt."""

    record: Record
    content: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """Certainly not paid by this payment: 402 with a fresh challenge."""

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
    """Settled, but presented without the identifier it came with: 409, never a challenge, since it is paid."""


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


def outcome_of(decision: Decision, record: Record | None, payment: Payment) -> Outcome:
    """Name the outcome of a request that a decision ends; any other decision means that it is pending."""
    if decision.action is Action.REFUSE:
        return _refused(decision.reason, record, payment)
    if record is not None and record.content is not None and decision.action is Action.DELIVER:
        return _withheld(Delivered(record, record.content), payment)
    if record is not None and decision.action is Action.GONE:
        return _withheld(Gone(record), payment)
    return Pending(payment.txid, payment.network, payment.payer)


def repeat(delivered: Delivered, path: str, payment: Payment) -> Outcome:
    """Name the outcome of a request for a path's product with a payment that was delivered before."""
    return _withheld(delivered, payment) if delivered.record.path == path else other_product()


def other_product() -> Refused:
    """Refuse a payment that bought another product."""
    return Refused("payment_used_for_another_product", "one payment buys one product")


def _refused(reason: str, record: Record | None, payment: Payment) -> Refused:
    if record is not None:
        return Refused(reason, "", record.network, record.payer)
    if reason == ALREADY_ON_CHAIN:
        return Refused(reason, "it landed before this gateway accepted it")
    return Refused(reason, "the facilitator refused it", payment.network, payment.payer)


def _withheld(outcome: Delivered | Gone, payment: Payment) -> Outcome:
    """Keep what a payment bought from whoever cannot name the identifier that it came with.

    The signed group is public once it is on the chain, so that anyone can present it; the identifier is not.
    """
    secret, named = outcome.record.identifier, payment.identifier
    if secret is None or (named is not None and compare_digest(named, secret)):
        return outcome
    return Withheld()
