"""No step of a wall clock, ours or another machine's, hides an unknown payment or keeps it from being closed."""

from pathlib import Path

import pytest

from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import Signed

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
async def test_without_an_unknown_payment_the_oldest_has_waited_for_0_seconds(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        await home.state.reconciler.step()

        assert metric(home, "emi_payments_unknown_oldest_seconds") == 0


@in_loop
async def test_the_age_of_an_unknown_payment_survives_a_restart_by_the_chains_rounds(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        await unknown_payment(home)
        home.upstream.round += 100
        await home.restart()

        await home.state.reconciler.step()

        assert metric(home, "emi_payments_unknown_oldest_seconds") == pytest.approx(280)
