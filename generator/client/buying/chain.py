"""Ask the buyer's own node what became of a payment."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from gateway.wire.algorand import MARGIN_ROUNDS, ROUND_S
from gateway.wire.networks import IDENTITIES
from generator.client.buying.web import Unanswered, Web, WebAnswer
from generator.errors import GeneratorError

if TYPE_CHECKING:
    from gateway.wire.networks import Network
    from generator.client.buying.purchases import Purchase


@dataclass(frozen=True, slots=True)
class PaymentStatus:
    """What the chain says of one payment.

    Args:
        state: `landed`; `open`: it is not there and may still come; `never`: it is not there and cannot come any
            more; `unknown`: the node does not say.
        words: the same for people.
    """

    state: Literal["landed", "open", "never", "unknown"]
    words: str


async def identity(web: Web, node: str) -> tuple[Network, int]:
    """Return which network a node belongs to, and its last round; GeneratorError: not a devnet of this service."""
    try:
        answer = await web.get(f"{node}/algod/v2/transactions/params")
    except Unanswered as problem:
        raise GeneratorError(
            f"nothing was paid: the devnet at {node} does not answer ({problem}); name it with --devnet-url"
        ) from problem

    params = _object(answer)
    for network in IDENTITIES.values():
        if params.get("genesis-hash") == network.genesis_hash and type(params.get("last-round")) is int:
            return network, params["last-round"]
    raise GeneratorError(f"nothing was paid: {node} is not a devnet of this service (HTTP {answer.status})")


async def look_up(web: Web, node: str, purchase: Purchase) -> PaymentStatus:
    """Return what a node and its indexer know of a payment.

    Both rounds are read before either is asked for the payment: what lands in between is found, or is not yet due.
    """
    try:
        params = _object(await web.get(f"{node}/algod/v2/transactions/params"))
        health = _object(await web.get(f"{node}/indexer/health"))
        pending = await web.get(f"{node}/algod/v2/transactions/pending/{purchase.txid}")
        indexed = await web.get(f"{node}/indexer/v2/transactions/{purchase.txid}")
    except Unanswered as problem:
        return PaymentStatus("unknown", f"the node at {node} does not answer ({problem})")

    network = next((network for network in IDENTITIES.values() if purchase.network in network.forms), None)
    if network is None or params.get("genesis-hash") != network.genesis_hash:
        return PaymentStatus("unknown", f"the node at {node} belongs to another network than the payment")
    confirmed = _confirmed(pending, _object(pending)) or _confirmed(indexed, _object(indexed).get("transaction"))
    if confirmed:
        return PaymentStatus("landed", f"the chain has it, in round {confirmed}")

    absent = _misses(pending) and indexed.status == HTTPStatus.NOT_FOUND
    rounds = [last for last in (params.get("last-round"), health.get("round")) if type(last) is int]
    if not absent or len(rounds) != 2:
        return PaymentStatus("unknown", f"the node at {node} does not say whether the chain has it")

    left = purchase.last_valid + MARGIN_ROUNDS - min(rounds)
    if left < 0:
        return PaymentStatus("never", "the chain does not have it and cannot take it any more")
    minutes = max(1, round((left + 1) * ROUND_S / 60))
    return PaymentStatus("open", f"the chain does not have it yet and can take it for about {minutes} min more")


def _confirmed(answer: WebAnswer, transaction: Any) -> int:
    """Return the round in which an answer says that a transaction was confirmed, 0 when it does not."""
    if answer.status != HTTPStatus.OK or not isinstance(transaction, dict):
        return 0
    confirmed = transaction.get("confirmed-round")
    return confirmed if type(confirmed) is int and confirmed > 0 else 0


def _misses(pending: WebAnswer) -> bool:
    """Return whether a node neither has a transaction nor may still commit it from its pool."""
    if pending.status == HTTPStatus.NOT_FOUND:
        return True
    return pending.status == HTTPStatus.OK and bool(_object(pending).get("pool-error"))


def _object(answer: WebAnswer) -> dict[str, Any]:
    body = answer.json() if answer.status == HTTPStatus.OK else None
    return body if isinstance(body, dict) else {}
