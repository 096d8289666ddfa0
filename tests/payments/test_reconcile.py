import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.app.loops import repeat
from gateway.errors import LedgerUnavailable
from gateway.ledger.record import Settle
from gateway.ledger.store import PAGE, PURGE_LIMIT
from gateway.payments.reconcile import LIFE_MARGIN_ROUNDS, Reconciler
from gateway.upstream.chain import Chain, Finding, Presence
from tests.ledger.test_ledger import ledger_with
from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import Signed
from tests.support.intents import INTENT
from tests.support.vaults import START


async def unknown(home: GatewayHarness) -> Signed:
    home.upstream.settle = "500"
    payment = home.buyer.pay()
    assert (await home.send(payment)).status_code == 503
    home.clock.step(60)
    return payment


def state_of(home: GatewayHarness, payment: Signed) -> tuple[str, str | None]:
    record = home.state.ledger.ledger.find(payment.txid)
    assert record is not None
    return record.state, record.evidence


@in_loop
async def test_a_payment_found_later_is_settled_without_its_payer(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = await unknown(home)
        home.upstream.land(payment.txid)

        closed = await home.state.reconciler.step()

        assert (closed, state_of(home, payment)) == (1, ("settled", "chain"))
        assert len(home.upstream.asked("/settle")) == 1


@in_loop
async def test_without_an_indexer_an_unbroken_chain_of_404s_is_proof(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, indexer=False) as home:
        payment = await unknown(home)
        for home.upstream.round in (5_400, 5_511):
            home.clock.step(300)
            await home.state.reconciler.step()

        assert state_of(home, payment) == ("refused", "absent")


@in_loop
async def test_without_an_indexer_a_gap_over_900_rounds_proves_nothing(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, indexer=False) as home:
        payment = await unknown(home)
        for home.upstream.round in (5_901, 5_950, 7_000):
            home.clock.step(300)
            await home.state.reconciler.step()

        assert state_of(home, payment)[0] == "intent"
        assert home.state.metrics.registry.get_sample_value("emi_payments_unclosable") == 1


@in_loop
async def test_a_payment_is_closed_by_no_evidence_only_past_its_life(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, indexer=False) as home:
        payment = await unknown(home)
        record = home.state.ledger.ledger.find(payment.txid)
        assert record is not None
        life = record.last_valid + LIFE_MARGIN_ROUNDS
        for home.upstream.round in (5_901, life, life + 1):
            home.clock.step(300)
            await home.state.reconciler.step()
            is_past = home.upstream.round > life
            assert home.state.metrics.registry.get_sample_value("emi_payments_unclosable") == is_past


@in_loop
async def test_lookups_come_later_each_time(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        await unknown(home)
        waits = []
        for _ in range(4):
            await home.state.reconciler.step()
            at, _wait = next(iter(home.state.reconciler.open.due.values()))
            waits.append(at - home.clock.monotonic())
            home.clock.step(waits[-1])

        assert waits == [2, 4, 8, 16]


@in_loop
async def test_payments_that_nothing_can_close_keep_no_other_from_its_turn(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, indexer=False) as home:
        ledger = home.state.ledger.ledger
        names = [f"{number:052d}" for number in range(2 * PAGE + 1)]
        stuck = [
            replace(INTENT, txid=name, created_at=home.clock.now().timestamp(), intent_round=None) for name in names
        ]
        ledger.write_all([partial(ledger.write_intent, intent) for intent in stuck])
        home.clock.step(1)
        payment = await unknown(home)
        home.upstream.land(payment.txid)
        for name in stuck:
            home.state.reconciler.open.due[name.txid] = (1e12, 1.0)

        for _ in range(3):
            await home.state.reconciler.step()

        assert state_of(home, payment) == ("settled", "chain")
        for _ in range(3):
            await home.state.reconciler.step()
        assert len(home.state.reconciler.open.due) == len(stuck)
        value = home.state.metrics.registry.get_sample_value("emi_payments_unknown")
        assert value == len(stuck)


class Rounds(Reconciler):
    """Rounds that end as listed, then for good."""

    def __init__(self, *ends: Exception | None) -> None:
        self._ends = list(ends)

    async def step(self) -> int:
        if not self._ends:
            raise asyncio.CancelledError
        end = self._ends.pop(0)
        if end is not None:
            raise end
        return 0


@in_loop
async def test_an_outage_of_the_ledger_is_one_line_and_not_one_each_second() -> None:
    outage = LedgerUnavailable("the payments ledger does not answer")

    with capture_logs() as logs, pytest.raises(asyncio.CancelledError):
        await repeat(Rounds(outage, outage, outage, None, outage).step, "unknown payments cannot be looked up", 0)

    assert [line["event"] for line in logs] == ["unknown payments cannot be looked up"] * 2


@pytest.mark.parametrize(("is_down", "wait_s"), [(True, 60), (False, 3_600)])
@in_loop
async def test_bodies_are_looked_for_each_hour_and_without_a_round_each_minute(
    *, is_down: bool, wait_s: int, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path) as home:
        rounds = Asked(home.state.chain)
        home.state.reconciler._chain = rounds
        rounds.reached = None if is_down else 5_000
        await home.state.reconciler.step()
        asked = [rounds.asked]

        for seconds in (wait_s - 1, 1):
            home.clock.step(seconds)
            await home.state.reconciler.step()
            asked.append(rounds.asked)

    assert asked == [1, 1, 2]


def test_bodies_are_dropped_in_small_transactions(tmp_path: Path) -> None:
    intents = [replace(INTENT, txid=f"{number:052d}", sha256=f"{number:064d}") for number in range(PURGE_LIMIT + 1)]
    ledger = ledger_with(tmp_path)
    ledger.write_all([partial(ledger.write_intent, intent) for intent in intents])
    ledger.write_all([partial(ledger.apply, intent.txid, Settle("chain"), START) for intent in intents])

    assert [ledger.purge(100_000) for _ in range(3)] == [PURGE_LIMIT, 1, 0]


class Asked(Chain):
    """A chain whose round is dictated, and that counts how often it is asked for it."""

    def __init__(self, chain: Chain) -> None:
        self.__dict__ = dict(chain.__dict__)
        self.asked = 0
        self.reached: int | None = None

    async def current_round(self, _timeout_s: float = 0.0) -> int | None:
        self.asked += 1
        return self.reached


class CountedChain(Chain):
    """A chain that says nothing, and counts how many ask it at once."""

    def __init__(self) -> None:
        self.asking = 0
        self.most = 0

    async def lookup(self, txid: str, timeout_s: float = 0.0) -> Finding:
        self.asking += 1
        self.most = max(self.most, self.asking)
        await asyncio.sleep(0)
        self.asking -= 1
        return Finding(Presence.UNKNOWN, None, indexed=False)


@in_loop
async def test_eight_payments_are_looked_up_at_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        reconciler, chain = home.state.reconciler, CountedChain()
        reconciler._chain = chain
        due = [replace(INTENT, txid=f"{number:052d}", watched_round=None) for number in range(20)]

        closed = await reconciler._look_up(due)

    assert (closed, chain.asking, chain.most) == (0, 0, 8)
