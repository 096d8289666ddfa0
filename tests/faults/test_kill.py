"""Rules 17 and 18 in real processes: kill -9 anywhere, two gateways on one ledger, clients that hang up."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGKILL

import pytest

from gateway.devnet.wallet import SignedPayment
from tests.faults.market import Gateway, Market, gateway, market

STEPS = ("decoded", "verified", "intent_written", "settle_sent", "settle_answered", "settled_written", "delivered")
SAMPLES = 6
COUNT = 25


@pytest.fixture
def on(tmp_path: Path) -> Iterator[Market]:
    with market(tmp_path) as running:
        yield running


def check_finished(on: Market, payment: SignedPayment) -> None:
    """After a restart the same payment is delivered, once paid, the same bytes each time."""
    with gateway(on) as second:
        answers = [second.present(payment) for _ in range(2)]

    assert [status for status, _, _ in answers] == [200, 200]
    assert answers[0][2] == answers[1][2]
    assert answers[0][1]["payment-response"] == answers[1][1]["payment-response"]
    assert on.transfers() == 1
    assert on.ledger.transaction(payment.txid) is not None


@pytest.mark.parametrize("step", STEPS)
def test_rule_18_killed_at_a_step_nothing_is_paid_twice_and_what_is_paid_is_delivered(on: Market, step: str) -> None:
    with gateway(on, "--at", step) as first:
        payment = first_payment = on.sign(first.origin)
        code = first.present_to_death(payment)
    moved = on.transfers()

    assert code == -SIGKILL
    assert moved == 0 if step in STEPS[:3] else moved <= 1
    check_finished(on, first_payment)
    assert on.settles <= 2


def test_rule_18_killed_at_any_line_of_the_gateways_code(on: Market, tmp_path: Path) -> None:
    counted = tmp_path / "lines"
    with gateway(on, "--count", str(counted)) as whole:
        assert whole.present(on.sign(whole.origin))[0] == 200
    lines = random.Random(18).sample(range(1, int(counted.read_text())), SAMPLES)

    for paid, line in enumerate(lines, start=1):
        with gateway(on, "--line", str(line)) as victim:
            payment = on.sign(victim.origin)
            code = victim.present_to_death(payment)
        with gateway(on) as second:
            status = second.present(payment)[0]
        assert (line, code, status, on.transfers()) == (line, -SIGKILL, 200, paid + 1)


def at_once(gateways: list[Gateway], payment: SignedPayment, count: int) -> list[tuple[int, dict[str, str], bytes]]:
    with ThreadPoolExecutor(count) as pool:
        sent = [pool.submit(gateways[number % len(gateways)].present, payment) for number in range(count)]
        return [one.result() for one in sent]


def test_rule_17_25_duplicates_at_two_gateway_processes_are_one_settle_and_one_answer(on: Market) -> None:
    with gateway(on) as first, gateway(on) as second:
        on.settle_delay_s = 0.3
        payment = on.sign(first.origin)

        answers = at_once([first, second], payment, COUNT)

    assert {status for status, _, _ in answers} == {200}
    assert len({(headers["payment-response"], body) for _, headers, body in answers}) == 1
    assert (on.settles, on.transfers()) == (1, 1)


def test_rule_18_a_gateway_that_dies_in_the_middle_is_finished_by_the_other_at_once(on: Market) -> None:
    with gateway(on, "--at", "settle_answered") as first, gateway(on) as second:
        payment = on.sign(first.origin)

        code = first.present_to_death(payment)
        status = second.present(payment)[0]

    assert (code, status) == (-SIGKILL, 200)
    assert on.transfers() == 1


def test_rule_17_a_client_that_hangs_up_cancels_nothing(on: Market) -> None:
    with gateway(on) as only:
        on.settle_delay_s = 0.3
        payment = on.sign(only.origin)
        only.hang_up(payment)
        until = time.monotonic() + 10
        while on.transfers() == 0 and time.monotonic() < until:
            time.sleep(0.02)

        status = only.present(payment)[0]

    assert status == 200
    assert (on.settles, on.transfers()) == (1, 1)
