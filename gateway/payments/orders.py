"""What a payment that was never seen would buy, or why it is not taken."""

from dataclasses import dataclass
from typing import Any, Final

from algosdk.encoding import is_valid_address

from gateway.ledger.thread import LedgerThread
from gateway.payments.challenge import requirement
from gateway.payments.decide import Outcome, Refused, Unavailable
from gateway.settings import GatewaySettings
from gateway.upstream.facilitator import Facilitator, FacilitatorOffer, encode_request
from gateway.values import Payment
from gateway.vault.folder import Snapshot, VaultBody, VaultProduct, VaultReader

LEDGER_UNUSABLE: Final = "the payments ledger cannot be used right now; the same payment works later"


@dataclass(frozen=True, slots=True)
class PricedSnapshot:
    """What is for sale at a path, in the snapshot that a payment names."""

    product: VaultProduct
    snapshot: Snapshot
    body: VaultBody


@dataclass(frozen=True, slots=True)
class Order:
    """What an unseen payment would buy, and what the facilitator is asked about it, to verify and to settle."""

    priced: PricedSnapshot
    request: bytes


class Orders:
    """Match payments with what is for sale."""

    def __init__(
        self, *, settings: GatewaySettings, vault: VaultReader, facilitator: Facilitator, ledger: LedgerThread
    ) -> None:
        self._settings = settings
        self._vault = vault
        self._facilitator = facilitator
        self._ledger = ledger

    def order_of(self, path: str, payment: Payment, holder: str | None) -> Order | Outcome:
        """Return what a new payment for the product of a path would buy, or why it is not taken.

        The holder is the payment that has its identifier already, None without one.
        """
        if payment.others:
            return Refused(
                "group_pays_twice", "the group holds another transfer to the payee: sign one payment at a time"
            )
        priced = self._quote(path, payment)
        if not isinstance(priced, PricedSnapshot):
            return priced

        offer = self._facilitator.offer()
        if offer is None:
            return Unavailable("the facilitator gave no good answer lately; the same payment works later")
        if not _fee_payer_known(payment, offer):
            return Refused("unknown_fee_payer", "the fee payer is not one of the facilitator's")

        if holder not in {None, payment.txid}:
            return identifier_reused()
        terms = terms_for(self._settings, payment, offer, priced.body.price_atomic, priced.snapshot.snapshot_id)
        return Order(priced, encode_request(payment, terms))

    def _quote(self, path: str, payment: Payment) -> PricedSnapshot | Outcome:
        if self._ledger.fault() is not None:
            return Unavailable(LEDGER_UNUSABLE)
        vault = self._vault.current()
        if vault is None:
            return Unavailable("no data has been published yet")

        named = payment.snapshot_id
        snapshot = vault.snapshots.get(named or vault.generation)
        # What was quoted is sold until the time that the quote named, also when nothing new may be quoted any more.
        promised = named is not None and snapshot is not None and self._vault.promised(snapshot)
        fault = self._vault.fault()
        if fault is not None and not promised:
            return Unavailable(fault)

        blocked = self._settings.quote_refusal(vault.source_mode)
        if blocked is not None:
            return Unavailable(blocked, retry_after_s=60)

        product = vault.products.get(path)
        if product is None:
            return Unavailable("nothing is for sale at this path", retry_after_s=60)
        return self._priced(payment, product, snapshot)

    def _priced(self, payment: Payment, product: VaultProduct, snapshot: Snapshot | None) -> PricedSnapshot | Outcome:
        body = snapshot.bodies.get(product.id) if snapshot is not None else None
        if snapshot is None or body is None:
            return Refused("unknown_snapshot", "the payment names a snapshot that is not for sale")
        if not self._vault.payable(snapshot):
            return Refused("quote_expired", "the time for which this quote was good is over")

        if body.unavailable is not None:
            return Unavailable(body.unavailable, self._vault.wait_s(body))
        if payment.amount_atomic != body.price_atomic:
            return Refused("amount_mismatch", f"the price is exactly {body.price_atomic} atomic units")
        return PricedSnapshot(product, snapshot, body)


def terms_for(
    settings: GatewaySettings, payment: Payment, offer: FacilitatorOffer, price_atomic: int, snapshot_id: str
) -> dict[str, Any]:
    """Return what the facilitator is asked about: from our table, the network in its own form."""
    fee_payer = payment.fee_payer or offer.fee_payer
    return requirement(
        settings,
        network=offer.network,
        price_atomic=price_atomic,
        fee_payer=fee_payer,
        snapshot_id=snapshot_id,
    )


def identifier_reused() -> Refused:
    """Refuse a payment whose identifier belongs to another."""
    return Refused("payment_identifier_reused", "the payment identifier belongs to another payment")


def _fee_payer_known(payment: Payment, offer: FacilitatorOffer) -> bool:
    echoed = payment.fee_payer
    if echoed is None or echoed in offer.signers:
        return True
    # It draws one at random per call; one that lists no signers must judge the echo itself.
    return not offer.lists_signers and is_valid_address(echoed)
