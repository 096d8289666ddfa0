"""/readyz says no within a minute of anything that makes a sale impossible, and why."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.wire.networks import DEVNET
from tests.support.fake_upstream import FakeUpstream
from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop
from tests.support.vaults import START, write_vault

GONE = "the payments ledger's file was removed or replaced"


async def reasons(home: GatewayHarness) -> list[str]:
    """Return why /readyz says no, after checking the form of its answer."""
    answer = await home.get("/readyz")
    assert answer.headers["cache-control"] == "no-store"
    if answer.status_code == 200:
        assert answer.json()["status"] == "ready"
        return []
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    found: list[str] = answer.json()["reasons"]
    assert found
    return found


def lose_ledger(home: GatewayHarness) -> None:
    home.state.ledger.fault = lambda: GONE  # type: ignore[method-assign]


@in_loop
async def test_a_gateway_whose_facilitator_answers_is_ready_each_second(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        seen = []
        for _ in range(150):
            home.clock.step(1.01)
            home.state.ledger.written.ok()
            seen += await reasons(home)  # right before it is asked again
            await home.state.facilitator.refresh()

    assert seen == []


@in_loop
async def test_a_facilitator_that_never_answered_makes_unready_at_once(tmp_path: Path) -> None:
    upstream = FakeUpstream(DEVNET.full)
    upstream.supported = 500
    async with gateway_app(tmp_path, upstream=upstream) as home:
        assert await reasons(home) == ["the facilitator has not offered this network yet"]


@pytest.mark.parametrize(
    ("vault", "settings", "said"),
    [
        (None, {}, "no data has been published yet"),
        (lambda folder: write_vault(folder, at=START - timedelta(seconds=901)), {}, "the data is too old to sell"),
        (
            lambda folder: write_vault(folder, at=START + timedelta(seconds=61)),
            {},
            "the data is from the future: check the clocks",
        ),
        (
            write_vault,
            {"network": "mainnet", "base_url": "https://api.example.org"},
            "the payee is the demo address; real money is not taken for it",
        ),
    ],
)
@in_loop
async def test_what_forbids_a_quote_makes_unready_at_once(
    vault: Any, settings: dict[str, Any], said: str, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path, vault=vault, **settings) as home:
        assert said in await reasons(home)


@in_loop
async def test_liveness_asks_nothing_of_the_outside(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.clock.step(3_600)
        lose_ledger(home)

        assert (await home.get("/healthz")).status_code == 200


@in_loop
async def test_a_change_is_logged_once_and_a_start_is_none(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=None) as home:
        with capture_logs() as logs:
            home.state.readiness.measure()
            write_vault(tmp_path / "vault")
            await home.state.refresh()
            for step_s in (0, 61, 1):
                home.clock.step(step_s)
                home.state.readiness.measure()
            home.state.ledger.written.ok()
            home.state.facilitator.supported.ok()
            home.state.readiness.measure()

    assert [(line["log_level"], line["event"]) for line in logs if "ready" in line["event"]] == [
        ("error", "not ready"),
        ("info", "ready again"),
    ]
