"""Real processes: kill -9 anywhere, two gateways on one ledger, clients that hang up."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGKILL

import pytest

from gateway.devnet.wallet import SignedPayment
from tests.faults.deaths import die_in_turn, lines_of_a_purchase
from tests.faults.market import Gateway, Market, gateway, market

STEPS = ("decoded", "verified", "intent_written", "settle_answered", "settled_written", "delivered")
SAMPLES = 4
COUNT = 25


@pytest.fixture
def on(tmp_path: Path) -> Iterator[Market]:
    with market(tmp_path) as running:
        yield running


def test_killed_at_every_step_nothing_is_paid_twice_and_what_is_paid_is_delivered(on: Market) -> None:
    deaths = die_in_turn(on, [("--at", step) for step in STEPS])

    assert [death.option[1] for death in deaths] == list(STEPS)
    for death in deaths:
        assert (death.option, death.code, death.answers) == (death.option, -SIGKILL, [200, 200])
        assert (death.option, death.transfers) == (death.option, 1)
        assert death.settles <= 2
    assert [death.moved for death in deaths[:3]] == [0, 0, 0]
    assert [death.moved for death in deaths[3:]] == [1, 1, 1]


def test_killed_at_any_line_of_the_gateways_code_the_same_holds(on: Market) -> None:
    lines = random.Random(18).sample(range(1, lines_of_a_purchase(on)), SAMPLES)

    deaths = die_in_turn(on, [("--line", str(line)) for line in lines])

    assert [(death.code, death.answers, death.transfers) for death in deaths] == [(-SIGKILL, [200, 200], 1)] * SAMPLES


def at_once(gateways: list[Gateway], payment: SignedPayment, count: int) -> list[tuple[int, dict[str, str], bytes]]:
    with ThreadPoolExecutor(count) as pool:
        sent = [pool.submit(gateways[number % len(gateways)].present, payment) for number in range(count)]
        return [one.result() for one in sent]


def test_25_duplicates_at_two_gateway_processes_are_one_settle_and_one_answer(on: Market) -> None:
    with gateway(on) as first, gateway(on) as second:
        on.settle_delay_s = 0.3
        payment = on.sign(first.origin)

        answers = at_once([first, second], payment, COUNT)

    assert {status for status, _, _ in answers} == {200}
    assert len({(headers["payment-response"], body) for _, headers, body in answers}) == 1
    assert (on.settles, on.transfers()) == (1, 1)


def test_a_client_that_hangs_up_cancels_nothing(on: Market) -> None:
    with gateway(on) as only:
        on.settle_delay_s = 0.3
        payment = on.sign(only.origin)
        only.hang_up(payment)
        until = time.monotonic() + 60
        while on.transfers() == 0 and time.monotonic() < until:
            time.sleep(0.02)

        status = only.present(payment)[0]

    assert status == 200
    assert (on.settles, on.transfers()) == (1, 1)
