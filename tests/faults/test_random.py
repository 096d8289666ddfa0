"""Any order of faults, time, restarts and presentations that hypothesis can think of."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.devnet.wallet import SignedPayment
from tests.faults.behaviours import GARBAGE, SERVER_ERROR, after, answering_json, half, reset
from tests.faults.harness import FaultHarness, harness
from tests.faults.modes import CHAIN_ERROR, EMPTY, LATE_REASON, NAMED, PENDING, SIMULATION
from tests.faults.proxy import Behaviour, honest
from tests.support.vaults import PATHS

PRODUCTS = (PATHS["x402-market-regime"], PATHS["x402-main-brain"])
UNREADABLE = (SERVER_ERROR, EMPTY, GARBAGE, PENDING, LATE_REASON, NAMED, reset, half)
# An early reason without having settled is left out: it is believed, and a later broadcast is a lie.
SETTLES: tuple[Behaviour, ...] = (honest, honest, *map(after, (*UNREADABLE, SIMULATION)), *UNREADABLE)
CHAINS: tuple[Mapping[str, Behaviour], ...] = ({}, {}, CHAIN_ERROR, {"algod": reset}, {"indexer": SERVER_ERROR})
VERIFIES: tuple[Behaviour, ...] = (honest, honest, honest, SERVER_ERROR, reset, answering_json({"isValid": False}))
PAYMENTS = 2
ACTIONS = st.one_of(
    st.tuples(st.just("present"), st.integers(0, PAYMENTS - 1), st.integers(0, 1)),
    st.tuples(st.just("duplicates"), st.integers(0, PAYMENTS - 1), st.just(0)),
    st.tuples(st.just("fault"), st.sampled_from(range(len(SETTLES))), st.sampled_from(range(len(CHAINS)))),
    st.tuples(st.just("verify"), st.sampled_from(range(len(VERIFIES))), st.just(0)),
    st.tuples(st.just("time"), st.sampled_from([1, 6, 120, 3_000]), st.just(0)),
    st.tuples(st.just("broadcast"), st.just(0), st.just(0)),
    st.tuples(st.just("restart"), st.just(0), st.just(0)),
)


@dataclass
class Story:
    """What happened to the payments of one example."""

    on: FaultHarness
    payments: list[SignedPayment]
    faults: dict[str, Behaviour] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    bought: dict[str, str] = field(default_factory=dict)

    async def act(self, action: tuple[str, int, int]) -> None:
        name, first, second = action
        await self._doings()[name](first, second)
        self.on.clock.step(1)

    def _doings(self) -> dict[str, Callable[[int, int], Coroutine[Any, Any, None]]]:
        return {
            "present": self._present,
            "duplicates": self._duplicates,
            "fault": self._fault,
            "verify": self._verify,
            "time": self._time,
            "broadcast": self._broadcast,
            "restart": self._restart,
        }

    async def _present(self, number: int, product: int) -> None:
        payment, path = self.payments[number], PRODUCTS[product]
        self._judge(payment, path, await self.on.present(payment, path))

    async def _duplicates(self, number: int, _unused: int) -> None:
        payment = self.payments[number]
        sent = [self.on.present(payment, path) for path in (PRODUCTS[0], PRODUCTS[1], PRODUCTS[0])]
        for path, answer in zip((PRODUCTS[0], PRODUCTS[1], PRODUCTS[0]), await asyncio.gather(*sent), strict=True):
            self._judge(payment, path, answer)

    async def _fault(self, settle: int, chain: int) -> None:
        kept = {name: behaviour for name, behaviour in self.faults.items() if name == "verify"}
        self.faults = {**kept, "settle": SETTLES[settle], **CHAINS[chain]}
        self.on.proxy.fault(self.faults)

    async def _verify(self, number: int, _unused: int) -> None:
        self.faults["verify"] = VERIFIES[number]
        self.on.proxy.fault(self.faults)

    async def _time(self, seconds: int, _unused: int) -> None:
        await self.on.pass_time(seconds)

    async def _broadcast(self, _first: int, _second: int) -> None:
        await self.on.proxy.broadcast()

    async def _restart(self, _first: int, _second: int) -> None:
        await self.on.restart()
        # The one before lives on in this very process: its leases are over once they were watched for long enough.
        await self.on.state.reconciler.step()
        self.on.clock.step(60)

    def _judge(self, payment: SignedPayment, path: str, answer: httpx2.Response) -> None:
        """Check what must hold of every single answer."""
        challenged = "PAYMENT-REQUIRED" in answer.headers
        assert answer.status_code in {200, 402, 503}
        assert challenged is (answer.status_code == 402)
        if answer.status_code == 200:
            assert self.on.landed(payment), "delivered unpaid"
            assert self.bought.setdefault(payment.txid, path) == path, "one payment bought two products"
        elif answer.status_code == 402 and self.on.proxy.settles[payment.txid]:
            record = self.on.state.ledger.ledger.find(payment.txid)
            if record is not None and record.path == path:
                self.refused.add(payment.txid)

    async def end(self) -> None:
        """Let everything work again, broadcast what was handed over, and let the buyer ask once more."""
        self.on.proxy.fault({})
        await self.on.proxy.broadcast()
        await self.on.pass_time(200)
        for payment in self.payments:
            landed = self.on.landed(payment)
            assert not (landed and payment.txid in self.refused), "a challenge after money may have moved"
            record = self.on.state.ledger.ledger.find(payment.txid)
            if landed:
                assert record is not None
                answer = await self.on.present(payment, record.path)
                assert answer.status_code == 200, "paid and never delivered"
        assert self.on.transfers() == sum(self.on.landed(payment) for payment in self.payments)


async def play(actions: list[tuple[str, int, int]], folder: Path) -> None:
    async with harness(folder) as on:
        story = Story(on, [await on.sign() for _ in range(PAYMENTS)])
        for action in actions:
            await story.act(action)
        await story.end()


@settings(max_examples=25)
@given(st.lists(ACTIONS, min_size=3, max_size=20))
def test_in_any_order_nothing_is_paid_twice_delivered_unpaid_or_lost(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, int, int]]
) -> None:
    asyncio.run(asyncio.wait_for(play(actions, tmp_path_factory.mktemp("story") / "harness"), 100))
