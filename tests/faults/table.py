"""Play every mode and count: transfers on the devnet's ledger, deliveries, answers, and what must never be."""

import asyncio
import contextlib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from aiohttp import web

from gateway.devnet.wallet import SignedPayment
from gateway.payments.adoption import adopt
from tests.faults.harness import MONEY, FaultHarness, harness
from tests.faults.modes import Mode
from tests.faults.proxy import Asked
from tests.support.gateway_wallet import decode_header

DUPLICATES = 3
AT_ONCE = 8
RETRY_S = 6.0


@dataclass
class Row:
    """What one mode did.

    Args:
        transfers: prices that the payee got.
        deliveries: payments that were answered 200 at least once.
        answers: statuses in the order of `Mode.answers`.
        settles: POST /settle that the facilitator saw.
        unpaid: deliveries of payments that the devnet's ledger never got.
        undelivered: payments on the devnet's ledger whose last presentation was not 200.
        challenges: answers of 402 to payments that the devnet's ledger has in the end.
        wrong: bodies or receipts that are not those of the payment.
    """

    mode: Mode
    transfers: int = 0
    deliveries: int = 0
    answers: str = ""
    settles: int = 0
    unpaid: int = 0
    undelivered: int = 0
    challenges: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """What must never be: see `summary`."""
        return self.doubles, self.unpaid, self.undelivered, self.challenges

    @property
    def doubles(self) -> int:
        """Transfers beyond the one that the buyer wanted."""
        return max(self.transfers - 1, 0)


class Play:
    """One mode from its first presentation to the count."""

    def __init__(self, on: FaultHarness, mode: Mode) -> None:
        self._on = on
        self._row = Row(mode)
        self._seen: list[str] = []
        self._answers: dict[str, list[httpx2.Response]] = {}
        self._digest = ""

    async def run(self) -> Row:
        """Present the payment while the fault lasts and after, sign another when it was refused, and count."""
        mode, on = self._row.mode, self._on
        payment = await on.sign()
        payments = [payment]
        on.be_hasty()
        on.proxy.fault({**mode.faults, **({"settle": self._drained} if mode.drained else {})})
        await self._duplicates(payment)
        for _ in range(mode.under - 1):
            await self._present(payment)
        if mode.late:
            await on.proxy.broadcast()
            await self._present(payment)
        if mode.expires:
            await on.pass_last_round_of(payment)
            await self._present(payment)
        on.proxy.fault({})
        on.be_patient()
        if mode.drained:
            on.ledger.fund(on.buyer.address, 0, MONEY)
        self._seen.append("|")
        await on.pass_time(200)
        status = [await self._present(payment) for _ in range(2)][-1]
        if status == 402:
            payments.append(await on.sign())
            self._seen.append("|")
            for _ in range(2):
                await self._present(payments[-1])
        if mode.adopted:
            await self._adopt(payment)
        # The last thing that a facilitator can do with what it was handed, and the last word of the buyer.
        if mode.hoards:
            await on.proxy.broadcast()
        for one in payments:
            await self._present(one, show=False)
        self._count(payments)
        return self._row

    async def _adopt(self, payment: SignedPayment) -> None:
        """Let the operator take in what the payer wrote about."""
        http = self._on.state.facilitator._http
        await adopt(self._on.state.settings, http, payment.txid, "x402-market-regime", self._on.clock)
        self._seen.append("|")
        for _ in range(2):
            await self._present(payment)

    async def _drained(self, asked: Asked) -> web.StreamResponse:
        self._on.drain()
        return await asked.pass_on()

    async def _duplicates(self, payment: SignedPayment) -> None:
        """Present it several times at once: one answer for all, shown once."""
        answers = await asyncio.gather(*(self._on.present(payment) for _ in range(DUPLICATES)))
        if len({(answer.status_code, answer.content) for answer in answers}) != 1:
            self._row.wrong.append("duplicates were answered differently")
        self._take(payment, answers[0], show=True)

    async def _present(self, payment: SignedPayment, *, show: bool = True) -> int:
        self._on.clock.step(RETRY_S)
        asked = self._on.proxy.settles[payment.txid]
        answer = await self._on.present(payment)
        if self._on.proxy.settles[payment.txid] > asked + 1:
            self._row.wrong.append("one presentation settled twice")
        return self._take(payment, answer, show=show)

    def _take(self, payment: SignedPayment, answer: httpx2.Response, *, show: bool) -> int:
        self._answers.setdefault(payment.txid, []).append(answer)
        if show:
            self._seen.append(str(answer.status_code))
        self._row.wrong += self._misfits(payment, answer)
        return answer.status_code

    def _misfits(self, payment: SignedPayment, answer: httpx2.Response) -> list[str]:
        """Compare an answer with its payment."""
        receipt = decode_header(answer.headers.get("PAYMENT-RESPONSE", "bnVsbA==")) or {}
        challenged = "PAYMENT-REQUIRED" in answer.headers
        if answer.status_code == 200:
            digest = hashlib.sha256(answer.content).hexdigest()
            self._digest = self._digest or digest
            good = (receipt.get("success"), receipt.get("transaction")) == (True, payment.txid) and not challenged
            same = digest == self._digest or len(self._answers) > 1
            return [] if good and same else [f"200 with receipt {receipt}"]
        if answer.status_code == 503:
            return [] if "Retry-After" in answer.headers and not challenged else ["503 without a retry"]
        if answer.status_code == 409:
            return [] if answer.json()["txid"] == payment.txid and not challenged else ["409 without the payment"]
        return [] if answer.status_code == 402 and challenged else [f"{answer.status_code} is not foreseen"]

    def _count(self, payments: Sequence[SignedPayment]) -> None:
        row = self._row
        row.transfers = self._on.transfers()
        row.answers = " ".join(self._seen)
        row.settles = sum(self._on.proxy.settles.values())
        for payment in payments:
            statuses = [answer.status_code for answer in self._answers[payment.txid]]
            landed, delivered = self._on.landed(payment), 200 in statuses
            row.deliveries += delivered
            row.unpaid += delivered and not landed
            row.undelivered += landed and statuses[-1] != 200
            row.challenges += statuses.count(402) if landed else 0


async def play_all(modes: Sequence[Mode], folder: Path) -> list[Row]:
    """Play modes side by side, each on a ledger of its own."""
    gate, opening = asyncio.Semaphore(AT_ONCE), asyncio.Lock()

    async def one(number: int, mode: Mode) -> Row:
        async with gate, contextlib.AsyncExitStack() as stack:
            # One after the other: making a ledger is work, and it must not eat into another's time limits.
            async with opening:
                on = await stack.enter_async_context(
                    harness(folder / str(number), dead_address=mode.dead_address, limits=mode.limits)
                )
            return await Play(on, mode).run()

    return list(await asyncio.gather(*(one(number, mode) for number, mode in enumerate(modes))))


def show(rows: Sequence[Row]) -> str:
    """Return the table."""
    width = max(len(row.mode.name) for row in rows)
    seen = max(len(row.answers) for row in rows)
    lines = [f"{'mode':<{width}}  transfers  deliveries  {'answers seen':<{seen}}  settles  rule"]
    lines += [
        f"{row.mode.name:<{width}}  {row.transfers:>9}  {row.deliveries:>10}  {row.answers:<{seen}}"
        f"  {row.settles:>7}  {row.mode.rule}"
        for row in rows
    ]
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """Return what must never be, counted over all rows."""
    doubles, unpaid, undelivered, challenges = (sum(row.counts[place] for row in rows) for place in range(4))
    return (
        f"{doubles} double transfers, {unpaid} unpaid deliveries, {undelivered} paid and never delivered, "
        f"{challenges} challenges after money may have moved"
    )
