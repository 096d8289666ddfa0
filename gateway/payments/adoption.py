"""Take in a payment that the chain shows and the payments ledger does not know, as after the loss of a ledger.

The gateway refuses such a payment on its own, since anyone could present a stranger's transfer. The operator, who
knows that the ledger was lost, vouches for it; the amount says which products it can have bought.
"""

import re
from http import HTTPStatus
from typing import Any, Final

from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, PositiveInt, ValidationError
from sqlalchemy.exc import SQLAlchemyError

from gateway.clock import Clock
from gateway.errors import GatewayError, IdentityTaken, database_reason
from gateway.http.metrics import Metrics
from gateway.ledger.owner import make_owner
from gateway.ledger.record import KEEP_ROUNDS, Record
from gateway.ledger.store import Ledger
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain
from gateway.upstream.http_client import Http
from gateway.vault.bucket import vault_files
from gateway.vault.folder import VaultProduct, VaultReader

TIMEOUT_S: Final = 10.0
TXID: Final = re.compile(r"[A-Z2-7]{52}")


def _at(indexed: str, pending: str) -> Any:
    """Return where a field lies in an answer of the indexer, or of algod's pool."""
    paths = (AliasPath("transaction", *indexed.split("/")), AliasPath(*pending.split("/")))
    return Field(validation_alias=AliasChoices(*paths))


class ConfirmedTransfer(BaseModel):
    """A confirmed asset transfer as the chain shows it; the amount in atomic units."""

    model_config = ConfigDict(strict=True, frozen=True)

    confirmed: PositiveInt = _at("confirmed-round", "confirmed-round")
    network: str = _at("genesis-hash", "txn/txn/gh")
    sender: str = _at("sender", "txn/txn/snd")
    receiver: str = _at("asset-transfer-transaction/receiver", "txn/txn/arcv")
    asset: int = _at("asset-transfer-transaction/asset-id", "txn/txn/xaid")
    amount: int = _at("asset-transfer-transaction/amount", "txn/txn/aamt")
    last_valid: int = _at("last-valid", "txn/txn/lv")


async def adopt(settings: GatewaySettings, http: Http, txid: str, product_id: str, clock: Clock | None = None) -> str:
    """Write a payment that is on the chain into the payments ledger, as settled, and return its payer's address.

    Raises:
        GatewayError: the chain does not show it, it does not pay for this product, or the ledger knows it.
        LedgerUnreadable: the payments ledger cannot be used.
    """
    if not TXID.fullmatch(txid):
        raise GatewayError(f"{txid[:60]!r} is not a transaction id: 52 of A-Z and 2-7")

    clock = clock or Clock()
    for product in await products_on_sale(settings, clock):
        if product.id == product_id:
            break
    else:
        raise GatewayError(
            f"the vault does not sell {product_id!r}; adopt needs a vault with the product and its price"
        )

    transfer = await _find(Chain(settings, http, clock, Metrics()), txid)
    if transfer is None:
        message = f"the chain shows no confirmed asset transfer {txid}"
        if settings.indexer_url is None:
            message += "; algod forgets after about 1,000 rounds: set EMI_INDEXER_URL"
        raise GatewayError(message)

    _check(settings, product, transfer)
    _write(settings, txid, product, transfer, clock)
    return transfer.sender


def _write(
    settings: GatewaySettings, txid: str, product: VaultProduct, transfer: ConfirmedTransfer, clock: Clock
) -> None:
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
        price_atomic=transfer.amount,
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
        raise GatewayError(f"the payments ledger knows {txid} already: see `emi payments {txid}`") from error
    except SQLAlchemyError as error:
        raise GatewayError(f"the payments ledger does not take it: {database_reason(error)}") from error
    finally:
        ledger.close()


async def _find(chain: Chain, txid: str) -> ConfirmedTransfer | None:
    """Return a confirmed asset transfer, from the indexer or, for about 1,000 rounds, from algod; None without one."""
    indexed = await chain.indexer(f"/v2/transactions/{txid}", TIMEOUT_S)
    if indexed is not None and indexed.status == HTTPStatus.OK:
        transfer = read_confirmed(indexed.content)
        if transfer is not None:
            return transfer

    pending = await chain.algod(f"/v2/transactions/pending/{txid}", TIMEOUT_S)
    if indexed is None and pending is None:
        raise GatewayError("neither the indexer nor algod answers; try again later")
    if pending is None or pending.status != HTTPStatus.OK:
        return None
    return read_confirmed(pending.content)


async def products_on_sale(settings: GatewaySettings, clock: Clock) -> tuple[VaultProduct, ...]:
    """Return what the vault sells and at which price, none while it cannot be read."""
    vault = VaultReader(vault_files(settings.vault_dir, settings.vault_bucket), clock, settings.vault_max_age_seconds)
    await vault.refresh()
    loaded = vault.current()
    return tuple(loaded.products.values()) if loaded is not None else ()


def _check(settings: GatewaySettings, product: VaultProduct, transfer: ConfirmedTransfer) -> None:
    network = settings.chain_network
    expected = {
        "network": network.genesis_hash,
        "asset": network.asset_id,
        "receiver": settings.payee,
        "amount": product.price_atomic,
    }

    for name, value in expected.items():
        shown = getattr(transfer, name)
        if shown != value:
            raise GatewayError(f"this does not pay for {product.id}: its {name} is {shown}, not {value}")


def read_confirmed(content: Any) -> ConfirmedTransfer | None:
    """Read the answer of the indexer or of algod to a question about one transaction; None if it shows no transfer."""
    try:
        return ConfirmedTransfer.model_validate(content)
    except ValidationError:
        return None
