import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.http.limits import Clients, Guard, RateLimit
from tests.support.clock import ManualClock
from tests.support.gateway_app import REGIME, gateway_app, in_loop, until
from tests.support.vaults import write_vault


@in_loop
async def test_a_payment_in_a_request_with_a_body_is_413_and_stays_good(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        headers = {"PAYMENT-SIGNATURE": payment.header}

        refused = await home.client.request("GET", REGIME, content=b"{}", headers=headers)
        asked = len(home.upstream.asked("/verify"))
        bought = await home.send(payment)

    assert (refused.status_code, refused.headers["content-type"]) == (413, "application/problem+json")
    assert "PAYMENT-REQUIRED" not in refused.headers
    assert asked == 0
    assert bought.status_code == 200


@in_loop
async def test_payment_attempts_are_limited_and_challenges_are_not(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, rate_limit_per_minute=2) as home:
        attempts = [await home.get(payment_signature="garbage") for _ in range(3)]
        challenge = await home.get()
        home.clock.step(30)

        later = await home.send(home.buyer.pay())

    assert [answer.status_code for answer in attempts] == [402, 402, 429]
    assert attempts[2].headers["Retry-After"] == "30"
    assert (challenge.status_code, later.status_code) == (402, 200)


@in_loop
async def test_repeats_of_a_known_payment_are_not_counted(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, rate_limit_per_minute=1) as home:
        payment = home.buyer.pay()

        answers = [await home.send(payment) for _ in range(5)]
        limited = await home.send(home.buyer.pay())

    assert [answer.status_code for answer in answers] == [200] * 5
    assert limited.status_code == 429


@in_loop
async def test_loopback_is_not_counted(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, rate_limit_per_minute=1, client=("127.0.0.1", 5)) as home:
        answers = [await home.get(payment_signature="garbage") for _ in range(4)]

    assert {answer.status_code for answer in answers} == {402}


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip"])
@in_loop
async def test_all_behind_an_untrusted_proxy_on_loopback_count_as_one_address(header: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path, rate_limit_per_minute=2, client=("127.0.0.1", 5)) as home:
        with capture_logs() as logs:
            answers = [await home.get(**{"payment_signature": "x", header: f"203.0.113.{n}"}) for n in range(4)]
        local = await home.get(payment_signature="x")

    assert [answer.status_code for answer in answers] == [402, 402, 429, 429]
    assert [line["log_level"] for line in logs] == ["warning"]
    assert local.status_code == 402


@in_loop
async def test_a_trusted_proxy_on_loopback_is_counted_by_its_clients(tmp_path: Path) -> None:
    loopback = {"client": ("127.0.0.1", 5), "trusted_proxies": ("127.0.0.1",)}
    async with gateway_app(tmp_path, rate_limit_per_minute=1, **loopback) as home:  # type: ignore[arg-type]
        answers = [await home.get(payment_signature="x", x_forwarded_for=f"203.0.113.{n}") for n in (1, 2, 2)]

    assert [answer.status_code for answer in answers] == [402, 402, 429]


@pytest.mark.parametrize(
    ("peer", "forwarded", "trusted", "address"),
    [
        ("198.51.100.1", "203.0.113.5", [], "198.51.100.1"),
        ("198.51.100.1", "203.0.113.5", ["198.51.100.0/24"], "203.0.113.5"),
        ("198.51.100.1", "6.6.6.6, 203.0.113.5", ["198.51.100.1"], "203.0.113.5"),
        ("198.51.100.1", "203.0.113.5, 198.51.100.2", ["198.51.100.0/24"], "203.0.113.5"),
        ("198.51.100.1", "", ["198.51.100.1"], "198.51.100.1"),
    ],
)
def test_only_trusted_proxies_are_believed(peer: str, forwarded: str, trusted: list[str], address: str) -> None:
    scope: dict[str, Any] = {"client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode())]}

    assert Clients(trusted).address(scope) == address


def test_one_ipv6_subscriber_is_one_address() -> None:
    limit = RateLimit(1, ManualClock())

    assert limit.take("2001:db8::1") is None
    assert limit.take("2001:db8::ffff") is not None
    assert limit.take("2001:db8:0:1::1") is None
    assert limit.take("::ffff:127.0.0.1") is None


def test_many_addresses_do_not_grow_the_table() -> None:
    limit = RateLimit(1, ManualClock())

    for number in range(10_050):
        limit.take(f"10.{number // 65_536}.{number // 256 % 256}.{number % 256}")

    assert len(limit._buckets) == 10_000


@in_loop
async def test_more_payments_than_slots_are_503_with_retry_after_and_cost_nothing(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, payments_at_once=2) as home:
        home.upstream.settle_delay_s = 0.2
        payments = [home.buyer.pay() for _ in range(3)]

        answers = await asyncio.gather(*(home.send(payment) for payment in payments))
        refused = next(answer for answer in answers if answer.status_code == 503)
        later = await home.send(payments[answers.index(refused)])

    assert sorted(answer.status_code for answer in answers) == [200, 200, 503]
    assert "PAYMENT-REQUIRED" not in refused.headers
    assert int(refused.headers["Retry-After"]) > 0
    assert later.status_code == 200
    assert [home.upstream.transfers[payment.txid] for payment in payments] == [1, 1, 1]


class HeldClock(ManualClock):
    """A clock whose sleepers wait until they are let go; `asleep` says how many there are."""

    def __init__(self) -> None:
        super().__init__()
        self.asleep = 0
        self.wake = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.asleep += 1
        await self.wake.wait()
        await super().sleep(seconds)


@in_loop
async def test_refused_payments_that_wait_for_their_look_up_hold_no_slot(tmp_path: Path) -> None:
    clock = HeldClock()
    async with gateway_app(tmp_path, clock=clock, payments_at_once=2) as home:
        home.upstream.verify = {"isValid": False, "invalidReason": "insufficient_funds"}
        refused = [asyncio.create_task(home.send(home.buyer.pay())) for _ in range(2)]
        await until(lambda: clock.asleep == 2)
        home.upstream.verify = {"isValid": True}

        bought = await home.send(home.buyer.pay())
        clock.wake.set()
        answers = await asyncio.gather(*refused)

    assert bought.status_code == 200
    assert [answer.status_code for answer in answers] == [402, 402]


@in_loop
async def test_200_buyers_are_with_the_facilitator_at_the_same_time(tmp_path: Path) -> None:
    # As long as a busy machine takes: what is tested is that no one waits for another, as of the 100 connections of a
    # client by default a hundred would.
    async with gateway_app(tmp_path, rate_limit_per_minute=600, settle_timeout_seconds=120) as home:
        home.state.ledger.set_timeout(60)
        home.upstream.hold = asyncio.Event()
        buying = [asyncio.create_task(home.send(home.buyer.pay())) for _ in range(200)]

        await until(lambda: len(home.upstream.asked("/settle")) == 200 or any(task.done() for task in buying))
        home.upstream.hold.set()
        answers = await asyncio.gather(*buying)

    assert Counter(answer.status_code for answer in answers) == {200: 200}
    assert sum(home.upstream.transfers.values()) == 200


@in_loop
async def test_a_replay_needs_no_turn(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await home.send(payment)
        await home.restart()
        home.state.purchases._slots = asyncio.Semaphore(0)

        answers = [await home.send(payment), await home.send(home.buyer.pay())]

    assert [answer.status_code for answer in answers] == [200, 503]


@in_loop
async def test_a_facilitator_that_hangs_on_supported_delays_no_new_vault(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.clock.step(61)
        home.upstream.supported_delay_s = 60
        write_vault(tmp_path / "vault", generation="000000000008", at=home.clock.now())

        shown = ""
        while shown != "000000000008":  # until this test's own end
            await asyncio.sleep(0.05)
            answer = await home.get()
            assert answer.status_code == 402, answer.text
            shown = answer.json()["accepts"][0]["extra"]["snapshotId"]


@in_loop
async def test_a_short_body_on_its_way_is_read_before_it_is_refused() -> None:
    assert await refused_after([{"body": b"hel", "more_body": True}, {"body": b"lo"}]) == (2, 413)


@in_loop
async def test_a_long_or_endless_body_is_refused_without_reading_it_all() -> None:
    long = await refused_after([{"body": b"x" * 9_000, "more_body": True}] * 50)
    silent = await refused_after([])

    assert long == (2, 413)
    assert silent == (1, 413)


async def refused_after(messages: list[dict[str, Any]]) -> tuple[int, int]:
    """Return how often the body was asked for, and the status; past the messages nothing comes."""
    asked, sent = 0, []

    async def receive() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked > len(messages):
            await asyncio.Event().wait()
        return {"type": "http.request", **messages[asked - 1]}

    async def send(message: Any) -> None:
        sent.append(message)

    async def nothing(*_: Any) -> None:
        raise AssertionError("the application was asked")

    headers = [(b"transfer-encoding", b"chunked")]
    scope = {"type": "http", "method": "GET", "path": REGIME, "headers": headers, "query_string": b""}
    await Guard(nothing, "project")(scope, receive, send)
    return asked, sent[0]["status"]
