"""No step of a wall clock, ours or another machine's, hides an unknown payment or keeps it from being closed."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.ledger.owner import Leases
from tests.ledger.test_ledger import ledger_with
from tests.support.clock import ManualClock
from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import Signed
from tests.support.intents import INTENT

SIX_HOURS_S = 6 * 3_600
LEASE_S = 17.0


async def unknown_payment(home: GatewayHarness) -> Signed:
    """Lose the answer to a settle."""
    home.upstream.settle = "500"
    payment = home.buyer.pay()
    assert (await home.send(payment)).status_code == 503
    return payment


def metric(home: GatewayHarness, name: str) -> float:
    value = home.state.metrics.registry.get_sample_value(name)
    assert value is not None
    return value


@pytest.mark.parametrize("step_s", [-SIX_HOURS_S, 0, SIX_HOURS_S])
@in_loop
async def test_the_age_of_an_unknown_payment_is_the_time_that_passed(step_s: float, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        await unknown_payment(home)
        await home.state.reconciler.step()
        home.upstream.lookup_down = True
        home.clock.set_wall(step_s)
        home.clock.step(120)

        await home.state.reconciler.step()

        assert metric(home, "emi_payments_unknown_oldest_seconds") == 120


@in_loop
async def test_the_age_of_an_unknown_payment_survives_a_restart_by_the_chains_rounds(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        await unknown_payment(home)
        home.upstream.round += 100
        await home.restart()

        await home.state.reconciler.step()

        assert metric(home, "emi_payments_unknown_oldest_seconds") == pytest.approx(280)


def leases_of(clock: ManualClock, owner: str = "another") -> Leases:
    return Leases(clock, owner, LEASE_S)


def test_anothers_attempt_is_over_once_watched_for_as_long_as_it_may_take(tmp_path: Path) -> None:
    clock = ManualClock()
    leases = leases_of(clock)
    record = ledger_with(tmp_path, INTENT).find(INTENT.txid)
    assert record is not None
    seen = [leases.is_over(record)]

    for wall_s, passed_s in ((SIX_HOURS_S, 16.9), (-SIX_HOURS_S, 0.1)):
        clock.set_wall(wall_s)
        clock.step(passed_s)
        seen.append(leases.is_over(record))

    assert seen == [False, False, True]


def test_a_new_attempt_begins_a_new_lease(tmp_path: Path) -> None:
    clock = ManualClock()
    leases = leases_of(clock)
    record = ledger_with(tmp_path, INTENT).find(INTENT.txid)
    assert record is not None
    leases.is_over(record)
    clock.step(LEASE_S)

    seen = [leases.is_over(one) for one in (replace(record, settles=2), record, replace(record, owner="third"))]

    assert seen == [False, False, False]


def test_our_own_row_and_that_of_a_process_that_is_gone_are_free_at_once(tmp_path: Path) -> None:
    record = ledger_with(tmp_path, INTENT).find(INTENT.txid)
    assert record is not None

    assert leases_of(ManualClock(), owner=record.owner).is_over(record)


def test_payments_that_were_closed_are_forgotten(tmp_path: Path) -> None:
    clock = ManualClock()
    leases = leases_of(clock)
    record = ledger_with(tmp_path, INTENT).find(INTENT.txid)
    assert record is not None
    leases.is_over(record)
    clock.step(LEASE_S)

    leases.keep_only(set())

    assert not leases.is_over(record)
