"""One gateway, one buyer and the devnet's ledger in one event loop, on one clock that only moves when stepped."""

import atexit
import base64
import functools
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
from algosdk import encoding, transaction

from gateway.app.application import build_app
from gateway.app.state import GatewayState
from gateway.devnet.app import build_devnet
from gateway.devnet.keys import Key, new_key
from gateway.devnet.ledger import FIRST_ROUND_AT, DevnetLedger
from gateway.devnet.settings import DevnetSettings
from gateway.devnet.transactions import parse_item, signed
from gateway.devnet.wallet import SignedPayment, pay
from gateway.ledger.store import Ledger as PaymentsLedger
from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.upstream.facilitator import SUPPORTED_RETRY_S
from gateway.upstream.http_client import Http
from gateway.wire.algorand import ROUND_S
from gateway.wire.networks import DEVNET
from tests.faults.proxy import FaultProxy
from tests.support.clock import ManualClock
from tests.support.gateway_wallet import encode_header
from tests.support.lifespans import RunningApp
from tests.support.resolvers import NAME, Names, black_hole, loopback_addresses
from tests.support.vaults import GENERATION, PATHS, PRICES, write_vault

PRODUCT = PATHS["x402-market-regime"]
PRICE = PRICES["x402-market-regime"]
MONEY = 5_000_000
PAYEE_MARGIN_ROUNDS = 20
# A node of this process is slow when the machine is busy: only its faults shall make it look down.
PATIENT_TIMEOUT_S = 10.0
BEGINS = FIRST_ROUND_AT + (20_000_000 + 4 / 7) * ROUND_S  # in the middle of a round


@dataclass
class FaultHarness:
    """The parts that a scenario touches."""

    running: RunningApp
    proxy: FaultProxy
    ledger: DevnetLedger
    clock: ManualClock
    client: httpx2.AsyncClient
    folder: Path
    limits: Mapping[str, float] = field(default_factory=dict)  # for the facilitator's answers, by setting
    buyer: Key = field(default_factory=new_key)
    _replaced: dict[str, datetime] = field(default_factory=dict)
    _newest: str = GENERATION

    @property
    def state(self) -> GatewayState:
        """The gateway's parts, others after a restart."""
        return self.running.state

    async def sign(self) -> SignedPayment:
        """Ask for the price and sign a payment of it, as a wallet would."""
        self.ledger.fund(self.buyer.address, 1_000_000, MONEY)
        quote = await self.client.get(PRODUCT)
        header = quote.headers["PAYMENT-REQUIRED"]
        return pay(header, self.buyer, DEVNET, self.ledger.rounds.current(), PRICE)

    def sign_pair(self) -> tuple[dict[str, str], bytes]:
        """Sign one atomic group that pays the price twice; return a header for each txid, and what a node takes."""
        now = self.ledger.rounds.current()
        terms = (now, now + 1_000, DEVNET.genesis_hash, DEVNET.genesis_id)
        params = transaction.SuggestedParams(1_000, *terms, flat_fee=True)
        payments = [
            transaction.AssetTransferTxn(self.buyer.address, params, DEMO_PAYEE, PRICE, DEVNET.asset_id, note=note)
            for note in (b"one", b"two")
        ]
        transaction.assign_group_id(payments)
        parts = [parse_item(base64.b64decode(encoding.msgpack_encode(payment))) for payment in payments]
        wires = [signed(part, self.buyer.secret).wire for part in parts]
        items = [base64.b64encode(wire).decode() for wire in wires]
        accepted: dict[str, Any] = {
            "scheme": "exact",
            "network": DEVNET.full,
            "asset": str(DEVNET.asset_id),
            "amount": str(PRICE),
        }
        accepted |= {"payTo": DEMO_PAYEE, "maxTimeoutSeconds": 60, "extra": {}}
        headers = {
            payment.get_txid(): encode_header(
                {"x402Version": 2, "accepted": accepted, "payload": {"paymentGroup": items, "paymentIndex": place}}
            )
            for place, payment in enumerate(payments)
        }
        return headers, b"".join(wires)

    async def present(self, payment: SignedPayment, path: str = PRODUCT) -> httpx2.Response:
        """Send a payment."""
        return await self.client.get(path, headers={"PAYMENT-SIGNATURE": payment.header})

    async def pass_time(self, seconds: float) -> None:
        """Move the clock, publish as a generator would have done meanwhile, and let the reconciler look."""
        self.clock.step(seconds)
        await self.publish()
        await self.state.reconciler.step()

    async def publish(self) -> None:
        """Write a new release to the vault at the time of the wall clock, and let the gateway take it."""
        now = self.clock.now()
        self._replaced[self._newest] = now
        self._newest = f"{int(self._newest) + 1:012}"
        write_vault(self.folder / "vault", generation=self._newest, at=now, older=self._replaced)
        await self.state.refresh()
        await self.state.ledger.run_maintenance()

    async def restart(self) -> None:
        """Stop the gateway and start it again on the same disk."""
        await self.running.restart()
        self.state.chain.quick_timeout_s = PATIENT_TIMEOUT_S

    async def pass_last_round_of(self, payment: SignedPayment) -> None:
        """Pass time until a payment can land no more."""
        rounds = payment.last_valid - self.ledger.rounds.current() + PAYEE_MARGIN_ROUNDS
        await self.pass_time(rounds * ROUND_S)

    def be_hasty(self) -> None:
        """Wait for the facilitator no longer than the limits given, which are for a fault: a start may take longer."""
        self.state.facilitator._settings = self.state.settings.model_copy(update=self.limits)

    def be_patient(self) -> None:
        """Wait for the facilitator as long as in production, as from the start."""
        self.state.facilitator._settings = self.state.settings

    def drain(self) -> None:
        """Take the buyer's money away, as another payment of theirs would."""
        self.ledger._database.execute("UPDATE holdings SET amount = 0 WHERE address = ?", (self.buyer.address,))

    def transfers(self) -> int:
        """Count the prices that the payee got, on the devnet's ledger."""
        got = self.ledger.holding(DEMO_PAYEE)
        assert got is not None
        assert got % PRICE == 0
        return got // PRICE

    def landed(self, payment: SignedPayment) -> bool:
        """Return whether the devnet's ledger has a payment."""
        return self.ledger.transaction(payment.txid) is not None


@functools.cache
def _first_start() -> Path:
    """Make what every harness begins with, once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="first-start-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "vault").mkdir()
    write_vault(folder / "vault")
    build_devnet(DevnetSettings(folder / "devnet.sqlite3"), now=lambda: BEGINS).state.ledger.close()
    PaymentsLedger(folder / "payments.sqlite3").close()
    return folder


@asynccontextmanager
async def harness(
    folder: Path, *, dead_address: bool = False, limits: Mapping[str, float] | None = None
) -> AsyncIterator[FaultHarness]:
    """Open a harness in an empty folder.

    Args:
        folder: for vault and databases.
        dead_address: the outside is known by a name whose first address is dead.
        limits: for the facilitator's answers, by setting, once the harness is hasty.
    """
    clock = ManualClock()
    began = clock.monotonic()
    # Databases and keys as a first start leaves them: to make them again each time is a second of syncs.
    shutil.copytree(_first_start(), folder)
    devnet = build_devnet(DevnetSettings(folder / "devnet.sqlite3"), now=lambda: BEGINS + clock.monotonic() - began)
    proxy = FaultProxy(devnet)
    async with devnet.router.lifespan_context(devnet), proxy.running(), AsyncExitStack() as stack:
        url, http = proxy.url, None
        if dead_address:
            dead, port = loopback_addresses()[0], int(proxy.url.rpartition(":")[2])
            stack.enter_context(black_hole(dead, port))
            http = await stack.enter_async_context(Http(Names(dead, "127.0.0.1")))
            url = f"http://{NAME}:{port}"
        app = build_app(outside(folder, url), clock=clock, http=http)
        transport = httpx2.ASGITransport(app=app, client=("203.0.113.9", 40_000), raise_app_exceptions=False)
        async with (
            RunningApp(app) as running,
            httpx2.AsyncClient(transport=transport, base_url="http://gateway") as client,
        ):
            running.state.chain.quick_timeout_s = PATIENT_TIMEOUT_S
            await _until_it_sells(running.state, clock)
            yield FaultHarness(running, proxy, devnet.state.ledger, clock, client, folder, limits or {})


async def _until_it_sells(state: GatewayState, clock: ManualClock) -> None:
    """Refresh again where a busy machine did not end that of the start in time: this clock never comes to the next."""
    while state.quotes.absence() is not None:
        clock.step(SUPPORTED_RETRY_S)
        await state.refresh()


def outside(folder: Path, url: str, **settings: Any) -> GatewaySettings:
    """Return the settings of a gateway whose outside answers at this proxy."""
    return GatewaySettings(
        **{
            "state_dir": folder,
            "facilitator_url": f"{url}/f",
            "algod_url": f"{url}/a",
            "indexer_url": f"{url}/i",
            "rate_limit_per_minute": 100_000,
            **settings,
        }
    )
