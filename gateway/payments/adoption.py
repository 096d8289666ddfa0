"""Take in a payment that the chain shows and the payments ledger does not know, as after the loss of a ledger.

The gateway refuses such a payment on its own, since anyone could present a stranger's transfer. The operator, who
knows that the ledger was lost, vouches for it; the amount says which products it can have bought.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError

from gateway.app.metrics import Metrics
from gateway.clock import Clock, SystemClock
from gateway.errors import IdentityTaken, NotAdopted, database_reason
from gateway.ledger.owner import make_owner
from gateway.ledger.record import KEEP_ROUNDS, Record
from gateway.ledger.store import Ledger
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain
from gateway.upstream.http_client import Http
from gateway.vault.bucket import vault_files
from gateway.vault.folder import Vault, VaultProduct

TIMEOUT_S: Final = 10.0
TXID: Final = re.compile(r"[A-Z2-7]{52}")
OK: Final = 200


@dataclass(frozen=True, slots=True)
class Transfer:
    """A confirmed asset transfer as the chain shows it; amounts in atomic units."""

    sender: str
    receiver: str
    asset_id: int
    amount_atomic: int
    last_valid: int
    genesis_hash: str


async def adopt(settings: GatewaySettings, http: Http, txid: str, product_id: str, clock: Clock | None = None) -> str:
    """Write a payment that is on the chain into the payments ledger, as settled.

    Args:
        settings: of the gateway whose ledger, vault and payee are meant.
        http: connections to the node and the indexer.
        txid: of the transfer.
        product_id: what it bought.
        clock: for tests; the machine's by default.

    Raises:
        NotAdopted: the chain does not show it, it does not pay for this product, or the ledger knows it.
        LedgerUnreadable: the payments ledger cannot be used.

    Returns:
        The payer's address.
    """
    if not TXID.fullmatch(txid):
        message = f"{txid[:60]!r} is not a transaction id: 52 of A-Z and 2-7"
        raise NotAdopted(message)
    clock = clock or SystemClock()
    product = await _product(settings, clock, product_id)
    transfer = await find_transfer(Chain(settings, http, clock, Metrics()), txid)
    if transfer is None:
        message = f"the chain shows no confirmed asset transfer {txid}"
        if settings.indexer_url is None:
            message += "; algod forgets after about 1,000 rounds: set EMI_INDEXER_URL"
        raise NotAdopted(message)
    _check(settings, product, transfer)
    at_s = clock.now().timestamp()
    record = Record(
        txid=txid,
        state="settled",
        product=product.id,
        path=product.path,
        cache_control=product.cache_control,
        # Chosen when it is presented.
        snapshot_id="",
        sha256="",
        price_atomic=transfer.amount_atomic,
        payer=transfer.sender,
        network=settings.chain_network.full,
        identifier=None,
        last_valid=transfer.last_valid,
        intent_round=None,
        watched_round=None,
        owner=make_owner(),
        settles=0,
        evidence="adopted",
        created_at=at_s,
        closed_at=at_s,
        keep_round=transfer.last_valid + KEEP_ROUNDS,
    )
    ledger = Ledger(settings.ledger_where)
    try:
        ledger.adopt(record)
    except IdentityTaken as error:
        message = f"the payments ledger knows {txid} already: see `emi payments show {txid}`"
        raise NotAdopted(message) from error
    except SQLAlchemyError as error:
        message = f"the payments ledger does not take it: {database_reason(error)}"
        raise NotAdopted(message) from error
    finally:
        ledger.close()
    return transfer.sender


async def find_transfer(chain: Chain, txid: str) -> Transfer | None:
    """Return a confirmed asset transfer, from the indexer or, for about 1,000 rounds, from algod; None without one.

    Raises:
        NotAdopted: neither of them answers.
    """
    indexed = await chain.indexer(f"/v2/transactions/{txid}", TIMEOUT_S)
    if indexed is not None and indexed.status == OK and (found := _read_indexed(indexed.content)):
        return found
    pending = await chain.algod(f"/v2/transactions/pending/{txid}", TIMEOUT_S)
    if indexed is None and pending is None:
        message = "neither the indexer nor algod answers; try again later"
        raise NotAdopted(message)
    return _read_pending(pending.content) if pending is not None and pending.status == OK else None


async def _product(settings: GatewaySettings, clock: Clock, product_id: str) -> VaultProduct:
    vault = Vault(vault_files(settings.vault_dir, settings.vault_bucket), clock, settings.vault_max_age_seconds)
    await vault.refresh()
    loaded = vault.current()
    for product in loaded.products.values() if loaded else ():
        if product.id == product_id:
            return product
    message = f"the vault does not sell {product_id!r}; adopt needs a vault with the product and its price"
    raise NotAdopted(message)


def _check(settings: GatewaySettings, product: VaultProduct, transfer: Transfer) -> None:
    network = settings.chain_network
    expected = {
        "network": (transfer.genesis_hash, network.genesis_hash),
        "asset": (transfer.asset_id, network.asset_id),
        "receiver": (transfer.receiver, settings.payee),
        "amount": (transfer.amount_atomic, product.price_atomic),
    }
    for name, (found, wanted) in expected.items():
        if found != wanted:
            message = f"this does not pay for {product.id}: its {name} is {found}, not {wanted}"
            raise NotAdopted(message)


def _read_indexed(content: Any) -> Transfer | None:
    row = _object(_object(content).get("transaction"))
    moved = _object(row.get("asset-transfer-transaction"))
    texts = (row.get("sender"), moved.get("receiver"), row.get("genesis-hash"))
    numbers = (moved.get("asset-id"), moved.get("amount"), row.get("last-valid"))
    return _transfer(texts, numbers) if _confirmed(row) else None


def _read_pending(content: Any) -> Transfer | None:
    row = _object(content)
    txn = _object(_object(row.get("txn")).get("txn"))
    texts, numbers = (tuple(map(txn.get, names)) for names in (("snd", "arcv", "gh"), ("xaid", "aamt", "lv")))
    return _transfer(texts, numbers) if _confirmed(row) else None


def _transfer(texts: tuple[Any, ...], numbers: tuple[Any, ...]) -> Transfer | None:
    """Put a transfer together if every field is of its type."""
    if not all(type(text) is str for text in texts) or not all(type(number) is int for number in numbers):
        return None
    sender, receiver, genesis_hash = texts
    asset_id, amount_atomic, last_valid = numbers
    return Transfer(sender, receiver, asset_id, amount_atomic, last_valid, genesis_hash)


def _confirmed(row: Mapping[str, Any]) -> bool:
    reached = row.get("confirmed-round")
    return type(reached) is int and reached > 0


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
