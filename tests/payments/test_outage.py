"""A facilitator or a node that is down: what is quoted, sold and finished meanwhile, counted and logged."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.clock import STOP_QUOTING_S
from tests.support.fake_upstream import FakeUpstream
from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop

GARBAGE = "<html>\r\n<h1>Just a moment</h1>"


async def down_for(home: GatewayHarness, seconds: float) -> None:
    """Let time pass with a facilitator that answers nothing good."""
    home.upstream.supported = 500
    home.clock.step(seconds)
    await home.refresh()


async def back(home: GatewayHarness) -> None:
    home.upstream.supported = FakeUpstream(home.state.settings.chain_network.full).supported
    home.clock.step(3)
    await home.refresh()


def value(home: GatewayHarness, name: str, **labels: str) -> float:
    found = home.state.metrics.registry.get_sample_value(name, labels)
    return found or 0.0


@in_loop
async def test_quotes_end_five_minutes_into_an_outage_and_are_back_with_the_facilitator(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        seen = []

        for seconds in (STOP_QUOTING_S - 1, 2):
            await down_for(home, seconds)
            seen.append((await home.get()).status_code)
        stopped = await home.get()
        await back(home)
        seen.append((await home.get()).status_code)

    assert seen == [402, 503, 402]
    assert "facilitator" in stopped.json()["detail"]
    assert "retry-after" in stopped.headers


@in_loop
async def test_a_payment_accepted_before_a_long_outage_is_finished_in_it(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        settled, open_ = home.buyer.pay(), home.buyer.pay()
        before = await home.send(settled)
        home.upstream.settle = "500"
        unknown = await home.send(open_)
        await down_for(home, STOP_QUOTING_S + 1)
        home.upstream.settle = "ok"

        answers = [await home.send(payment) for payment in (settled, open_)]

    assert (before.status_code, unknown.status_code) == (200, 503)
    assert [answer.status_code for answer in answers] == [200, 200]
    assert home.upstream.transfers[open_.txid] == 1


@pytest.mark.parametrize("answer", [500, GARBAGE, {"isValid": "yes"}], ids=["500", "garbage", "no verdict"])
@in_loop
async def test_a_failed_verify_is_counted_timed_and_logged_with_what_came(tmp_path: Path, answer: object) -> None:
    async with gateway_app(tmp_path, facilitator_token="hush-1") as home:
        home.upstream.verify = answer
        with capture_logs() as logs:
            refused = await home.send(home.buyer.pay())

        assert value(home, "emi_facilitator_failures_total", call="verify") == 1
        assert value(home, "emi_verify_seconds_count") == 1

    assert refused.json()["detail"] == "The facilitator cannot verify right now; the same payment works later."
    reason = next(line["reason"] for line in logs if line["event"] == "verify failed")
    assert reason.startswith(f"POST {home.upstream.url}/f/verify: status {answer if answer == 500 else 200}, ")
    assert any(words in reason for words in ("Just a moment", '"isValid": "yes"', '"error": "server"'))
    assert "hush" not in reason
    assert reason.isprintable()


@in_loop
async def test_a_failed_settle_is_counted_timed_and_logged_with_what_came(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "garbage"
        with capture_logs() as logs:
            await home.send(home.buyer.pay())

        assert value(home, "emi_facilitator_failures_total", call="settle") == 1
        assert value(home, "emi_settle_seconds_count") == 1

    reason = next(line["reason"] for line in logs if line["event"] == "outcome unknown")
    assert reason == f"POST {home.upstream.url}/f/settle: status 200, unexpected answer '<html>hello</html>'"


@in_loop
async def test_a_failed_look_at_what_is_supported_is_counted_each_time_and_logged_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        with capture_logs() as logs:
            for _ in range(3):
                await down_for(home, 61)

        assert value(home, "emi_facilitator_failures_total", call="supported") == 3

    (line,) = [line for line in logs if line["event"] == "no new offer from the facilitator"]
    assert line["reason"].startswith(f"GET {home.upstream.url}/f/supported: status 500, ")


@in_loop
async def test_nodes_that_fail_are_counted_each_time_and_logged_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.lookup_down = True
        with capture_logs() as logs:
            for _ in range(2):
                await home.state.chain.lookup("T" * 52)

        algod, indexer = (value(home, "emi_chain_failures_total", node=node) for node in ("algod", "indexer"))

    # Loops of the gateway may ask algod for its round meanwhile.
    assert algod >= 4
    assert indexer == 2
    reasons = [line["reason"] for line in logs if line["event"] == "a call to the chain failed"]
    assert len(reasons) == 2
    assert "status 502, unexpected answer '<html>bad gateway</html>'" in reasons[0]
