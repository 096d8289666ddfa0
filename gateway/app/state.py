"""Everything one gateway process holds, built whole once its outside can be asked."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from gateway.app.readiness import Readiness
from gateway.clock import Clock
from gateway.errors import GatewayError
from gateway.http.answers import Problems
from gateway.http.limits import Clients, RateLimit
from gateway.http.metrics import Metrics
from gateway.ledger.store import Ledger
from gateway.ledger.thread import MAX_WAITING, LedgerThread
from gateway.payments.purchase import Purchases, Step
from gateway.payments.quotes import Quotes
from gateway.payments.receipts import Receipts
from gateway.payments.reconcile import Reconciler
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain
from gateway.upstream.facilitator import Facilitator
from gateway.upstream.http_client import Http
from gateway.vault.bucket import VaultFiles
from gateway.vault.folder import VaultReader
from gateway.wire.receipts import ReceiptError, ReceiptKey, read_key
from gateway.wire.restoring import unfinished_restore

START_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class GatewayState:
    """The parts of a gateway; each was given the others that it uses."""

    settings: GatewaySettings
    clock: Clock
    metrics: Metrics
    http: Http
    vault: VaultReader
    facilitator: Facilitator
    chain: Chain
    ledger: LedgerThread
    purchases: Purchases
    reconciler: Reconciler
    quotes: Quotes
    readiness: Readiness
    clients: Clients
    rate: RateLimit
    problems: Problems

    async def refresh(self) -> None:
        """Take a new vault and a new offer if there are any, each with its challenges."""
        await asyncio.gather(self.take_vault(), self.take_offer())

    async def take_vault(self) -> None:
        """Take a new vault if there is one, with its challenges; they are encoded again where the offer changed."""
        await self.vault.refresh(self.quotes.encode)
        await self.quotes.encode()

    async def take_offer(self) -> None:
        """Take a new offer of the facilitator if there is one, and encode the challenges with it."""
        await self.facilitator.refresh()
        await self.quotes.encode()


@contextlib.asynccontextmanager
async def open_state(
    settings: GatewaySettings, *, clock: Clock, http: Http, metrics: Metrics, files: VaultFiles, step: Step
) -> AsyncIterator[GatewayState]:
    """Build a gateway's parts, read the vault and ask the facilitator once; at the end finish what is in flight.

    Args:
        settings: checked settings.
        clock: of the process.
        http: the client of every outgoing call, open.
        metrics: of the process.
        files: of the vault.
        step: called at each step of a purchase, see `gateway.payments.purchase`.

    Raises:
        LedgerUnreadable: the payments ledger cannot be opened.
        GatewayError: the receipt key cannot be used, or a restore did not come to its end.
    """
    if complaint := unfinished_restore(settings.state_dir):
        raise GatewayError(complaint)
    key = _receipt_key(settings)
    opened = await asyncio.to_thread(Ledger, settings.ledger_where)
    vault = VaultReader(files, clock, settings.vault_max_age_seconds)
    facilitator = Facilitator(settings, http, clock, metrics)
    chain = Chain(settings, http, clock, metrics)
    problems = Problems(settings.project, vault.disclaimer)

    # Each payment in flight waits for one read or write; replays read too.
    most = max(MAX_WAITING, 2 * settings.payments_at_once)
    ledger = LedgerThread(opened, clock, metrics, most, round_now=chain.round_now, exports=settings.state_dir)

    receipts = Receipts(settings, vault, key)
    purchases = Purchases(
        settings=settings,
        clock=clock,
        vault=vault,
        facilitator=facilitator,
        chain=chain,
        ledger=ledger,
        receipts=receipts,
        metrics=metrics,
        step=step,
    )
    reconciler = Reconciler(
        clock=clock, chain=chain, ledger=ledger, purchases=purchases, receipts=receipts, metrics=metrics
    )
    quotes = Quotes(settings=settings, vault=vault, facilitator=facilitator, ledger=ledger)
    readiness = Readiness(
        vault=vault,
        facilitator=facilitator,
        chain=chain,
        ledger=ledger,
        quotes=quotes,
        metrics=metrics,
        problems=problems,
    )
    state = GatewayState(
        settings=settings,
        clock=clock,
        metrics=metrics,
        http=http,
        vault=vault,
        facilitator=facilitator,
        chain=chain,
        ledger=ledger,
        purchases=purchases,
        reconciler=reconciler,
        quotes=quotes,
        readiness=readiness,
        clients=Clients(settings.trusted_proxies),
        rate=RateLimit(settings.rate_limit_per_minute, clock),
        problems=problems,
    )
    try:
        with contextlib.suppress(TimeoutError):  # an object store that hangs does not keep the gateway from starting
            await asyncio.wait_for(state.refresh(), START_S)
        yield state
    finally:
        await purchases.drain()
        await ledger.close()


def _receipt_key(settings: GatewaySettings) -> ReceiptKey | None:
    """Return the key that signs receipts, None where there is none."""
    try:
        return read_key(settings.receipt_key_path)
    except ReceiptError as error:
        raise GatewayError(str(error)) from error
