"""Find the payments that the chain shows and the payments ledger lacks, as after the restore of a backup.

The indexer is asked for every transfer to the payee since a round. What it answers is judged row by row: it may repeat
pages, cap them, list transfers of others, or read behind the chain.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from gateway.clock import Clock
from gateway.errors import GatewayError
from gateway.http.metrics import Metrics
from gateway.ledger.view import known_of
from gateway.payments.adoption import TIMEOUT_S, TXID, ConfirmedTransfer, products_on_sale, read_confirmed
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain
from gateway.upstream.http_client import Http

# A row is about 1 kB, some with a long note or logic signature much more; an answer may have 64 KiB.
PAGE: Final = 25
MAX_TRANSFERS: Final = 100_000


@dataclass(frozen=True, slots=True)
class LostPayment:
    """A transfer to the payee that the ledger does not know; the amount in atomic units."""

    txid: str
    payer: str
    amount_atomic: int
    round: int
    products: tuple[str, ...]  # ids of those that cost just this; none when nothing does


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found, oldest first."""

    lost: tuple[LostPayment, ...]
    known: int  # transfers that the ledger has
    read_to: int  # the round up to which the indexer had read


async def find_lost(settings: GatewaySettings, http: Http, since: int, clock: Clock | None = None) -> Search:
    """Ask the indexer for every transfer to the payee since a round, and return those that the ledger lacks.

    Raises:
        GatewayError: there is no indexer, it does not answer or not sensibly, or the vault sells nothing.
        LedgerUnreadable: the payments ledger cannot be read.
    """
    clock = clock or Clock()
    if settings.indexer_url is None:
        raise GatewayError("set EMI_INDEXER_URL: only an indexer lists the transfers to an address")
    prices: dict[int, list[str]] = {}
    for product in await products_on_sale(settings, clock):
        prices.setdefault(product.price_atomic, []).append(product.id)
    if not prices:
        raise GatewayError("the vault sells nothing; adopt needs a vault with the products and their prices")

    search = _Search(settings, http, since, clock)
    transfers = {txid: transfer async for txid, transfer in search.transfers()}
    known = known_of(settings.ledger_where, transfers)
    lost = [
        LostPayment(
            txid=txid,
            payer=transfer.sender,
            amount_atomic=transfer.amount,
            round=transfer.confirmed,
            products=tuple(prices.get(transfer.amount, ())),
        )
        for txid, transfer in transfers.items()
        if txid not in known
    ]
    lost.sort(key=lambda payment: (payment.round, payment.txid))
    return Search(tuple(lost), len(known), search.read_to)


class _Search:
    """One search, page after page."""

    def __init__(self, settings: GatewaySettings, http: Http, since: int, clock: Clock) -> None:
        self._settings = settings
        self._chain = Chain(settings, http, clock, Metrics())
        self._since = since
        self._limit = PAGE
        self.read_to = 0

    async def transfers(self) -> AsyncIterator[tuple[str, ConfirmedTransfer]]:
        """Yield every confirmed transfer to the payee by its txid, each as often as the indexer lists it."""
        token = ""
        tokens = {""}
        listed = 0
        while True:
            page = await self._page(token, listed)
            rows = page.get("transactions")
            if not isinstance(rows, list) or type(page.get("current-round")) is not int:
                raise GatewayError(f"the indexer answers without a list of transactions, after {listed} transfers")

            self.read_to = page["current-round"]
            if self.read_to < self._since:
                raise GatewayError(
                    f"the indexer has read up to round {self.read_to}, before {self._since}; try again later"
                )

            for row in rows:
                transfer = self._ours(row)
                if transfer is not None:
                    yield row["id"], transfer

            listed += len(rows)
            token = page.get("next-token") or ""
            # A page may be short, or empty, and another still follow.
            if not token:
                return
            if not isinstance(token, str) or token in tokens:
                raise GatewayError(f"the indexer repeats its pages, after {listed} transfers")
            if listed > MAX_TRANSFERS:
                raise GatewayError(f"over {MAX_TRANSFERS:,} transfers since round {self._since}: name a later one")
            tokens.add(token)

    async def _page(self, token: str, listed: int) -> Mapping[str, Any]:
        """Ask for one page, and for ever smaller ones while it is too large, too slow or refused."""
        network = self._settings.chain_network
        while True:
            query = (
                f"address={self._settings.payee}&address-role=receiver&tx-type=axfer&asset-id={network.asset_id}"
                f"&min-round={self._since}&limit={self._limit}"
            )
            if token:
                query += f"&next={quote(token, safe='')}"

            answer = await self._chain.indexer(f"/v2/transactions?{query}", TIMEOUT_S)
            if answer is not None and answer.status == HTTPStatus.OK:
                return answer.fields

            if self._limit == 1:
                shown = "does not answer" if answer is None else f"answers with status {answer.status}"
                raise GatewayError(f"the indexer {shown}, after {listed} transfers; nothing was taken in")
            self._limit = max(self._limit // 5, 1)

    def _ours(self, row: Any) -> ConfirmedTransfer | None:
        """Return a row's transfer if it pays us, whatever the indexer was asked for; None if not."""
        txid = row.get("id") if isinstance(row, dict) else None
        transfer = read_confirmed({"transaction": row})
        if transfer is None or not isinstance(txid, str) or not TXID.fullmatch(txid):
            return None

        network = self._settings.chain_network
        ours = (network.genesis_hash, network.asset_id, self._settings.payee)
        if (transfer.network, transfer.asset, transfer.receiver) != ours:
            return None
        if transfer.amount <= 0 or transfer.confirmed < self._since:
            return None
        return transfer
