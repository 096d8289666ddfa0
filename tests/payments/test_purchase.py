import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.settings import GatewaySettings
from gateway.upstream.http_client import RemoteError
from gateway.wire.networks import DEVNET
from tests.ledger.test_owner import dead_owner
from tests.support.clock import ManualClock
from tests.support.fake_upstream import OTHER_SIGNER, FakeUpstream
from tests.support.gateway_app import BRAIN, REGIME, gateway_app, in_loop, second_gateway, until
from tests.support.gateway_wallet import PRICE, decode_header
from tests.support.vaults import GENERATION, START, body_of, write_vault


@in_loop
async def test_the_intent_is_durable_before_settle_is_asked(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.05
        payment = home.buyer.pay()
        task = asyncio.create_task(home.send(payment))
        await home.upstream.settling.wait()

        record = home.state.ledger.ledger.find(payment.txid)
        answer = await task

    assert record is not None
    assert (record.state, record.content) == ("intent", answer.content)


@in_loop
async def test_nothing_reaches_the_ledger_before_verify_succeeded(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.verify = {"isValid": False, "invalidReason": "insufficient_funds"}
        payment = home.buyer.pay()

        answer = await home.send(payment)

        assert home.state.ledger.ledger.find(payment.txid) is None
    assert answer.status_code == 402
    assert "insufficient_funds" in answer.json()["error"]
    assert home.upstream.asked("/settle") == []


@in_loop
async def test_as_many_payments_are_in_progress_as_the_setting_says_and_the_next_is_503(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, payments_at_once=2) as home:
        home.upstream.hold = asyncio.Event()
        buying = [asyncio.create_task(home.send(home.buyer.pay())) for _ in range(2)]
        await until(lambda: len(home.upstream.asked("/settle")) == 2)

        refused = await home.send(home.buyer.pay())
        unread = await home.get(PAYMENT_SIGNATURE=home.buyer.pay(amount=1).header)
        home.upstream.hold.set()
        paid = await asyncio.gather(*buying)
        later = await home.send(home.buyer.pay())

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
    assert refused.json()["detail"] == "Too many payments in progress."
    assert unread.status_code == 503
    assert [answer.status_code for answer in (*paid, later)] == [200] * 3
    assert len(home.upstream.asked("/settle")) == 3


def test_1024_payments_may_be_in_progress_unless_the_operator_says_otherwise() -> None:
    assert GatewaySettings().payments_at_once == 1_024


@pytest.mark.parametrize(
    ("failure", "status"), [(RemoteError("no answer"), 503), (ZeroDivisionError(), 500), (OSError("odd"), 500)]
)
@in_loop
async def test_no_question_to_the_node_outlives_the_request_whose_verify_failed(
    failure: Exception, status: int, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path) as home:
        asked: asyncio.Future[asyncio.Task[Any] | None] = asyncio.Future()

        async def hangs(*_: object) -> None:
            asked.set_result(asyncio.current_task())
            await asyncio.Event().wait()

        async def fails(*_: object) -> None:
            await asked
            raise failure

        home.state.chain.pending_status = hangs  # type: ignore[method-assign, assignment]
        home.state.facilitator.verify = fails  # type: ignore[method-assign, assignment]
        answer = await home.send(home.buyer.pay())
        question = await asked

        assert question is not None
        assert question.done()
    assert answer.status_code == status
    assert "PAYMENT-REQUIRED" not in answer.headers


@in_loop
async def test_a_failure_while_the_node_is_asked_ends_verify_too(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        ended = asyncio.Event()

        async def fails(*_: object) -> None:
            raise ZeroDivisionError

        async def hangs(*_: object) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        home.state.chain.pending_status = fails  # type: ignore[method-assign, assignment]
        home.state.facilitator.verify = hangs  # type: ignore[method-assign, assignment]
        answer = await home.send(home.buyer.pay())

        assert ended.is_set()
    assert (answer.status_code, home.upstream.asked("/settle")) == (500, [])


@pytest.mark.parametrize("sent", DEVNET.forms)
@pytest.mark.parametrize("advertised", DEVNET.forms)
@in_loop
async def test_the_facilitator_hears_its_own_form_and_our_table(advertised: str, sent: str, tmp_path: Path) -> None:
    extensions = {"bazaar": {"anything": [1, None]}}
    async with gateway_app(tmp_path, upstream=FakeUpstream(advertised)) as home:
        payment = home.buyer.pay(network=sent).changed(lambda value: value.update(extensions=extensions))
        payment = payment.changed(lambda value: value["accepted"].update(amount="1", payTo=OTHER_SIGNER))

        answer = await home.send(payment)

    for body in (*home.upstream.asked("/verify"), *home.upstream.asked("/settle")):
        terms = body["paymentRequirements"]
        assert terms == body["paymentPayload"]["accepted"]
        assert (terms["network"], terms["amount"], terms["asset"]) == (advertised, str(PRICE), "31566704")
        assert body["paymentPayload"]["extensions"] == extensions
    assert decode_header(answer.headers["PAYMENT-RESPONSE"])["network"] == sent


@in_loop
async def test_settled_delivers_the_quoted_bytes_and_the_computed_txid(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()

        answer = await home.send(payment)

    assert answer.status_code == 200
    assert answer.content == body_of("x402-market-regime", GENERATION)
    assert answer.headers["Cache-Control"] == "private, max-age=60"
    assert decode_header(answer.headers["PAYMENT-RESPONSE"]) == {
        "success": True,
        "transaction": payment.txid,
        "network": DEVNET.full,
        "payer": payment.payer,
        "extra": {"money": "play money, worth nothing"},
    }


@in_loop
async def test_a_payment_that_is_sent_again_meanwhile_is_verified_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.verify = {"isValid": False, "invalidReason": "insufficient_funds"}
        payment = home.buyer.pay()

        answers = await asyncio.gather(*(home.send(payment) for _ in range(3)))

    assert [answer.status_code for answer in answers] == [402] * 3
    assert len(home.upstream.asked("/verify")) == 1


@in_loop
async def test_another_product_is_402_also_concurrently(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.05
        payment = home.buyer.pay()

        answers = await asyncio.gather(*(home.send(payment, path) for path in (REGIME, BRAIN, REGIME, BRAIN)))

    assert [answer.status_code for answer in answers] == [200, 402, 200, 402]
    assert len(home.upstream.asked("/settle")) == 1


@in_loop
async def test_another_product_asked_at_once_after_a_restart_does_not_hide_the_bought_one(
    tmp_path: Path,
) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await home.send(payment)
        await home.restart()

        answers = await asyncio.gather(*(home.send(payment, path) for path in (BRAIN, REGIME, BRAIN)))

    assert [answer.status_code for answer in answers] == [402, 200, 402]


@in_loop
async def test_a_known_payment_is_finished_on_its_own_snapshot_however_late(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        later = START + timedelta(hours=2)
        write_vault(tmp_path / "vault", generation="000000000008", at=later)
        home.clock.step(2 * 3600)
        await home.state.refresh()
        home.upstream.settle = "ok"

        answer = await home.send(payment)

    assert answer.content == body_of("x402-market-regime", GENERATION)


@in_loop
async def test_a_stop_waits_for_payments_on_their_way(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.05
        payment = home.buyer.pay()
        task = asyncio.create_task(home.send(payment))
        await home.upstream.settling.wait()

        await home.restart()

        record = home.state.ledger.ledger.find(payment.txid)
        answer = await task
    assert record is not None
    assert (record.state, answer.status_code) == ("settled", 200)


@in_loop
async def test_another_envelope_round_the_same_transaction_is_the_same_payment(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        first = await home.send(payment)

        other = await home.send(payment.changed(lambda value: value["accepted"].update(network=DEVNET.caip2)))

    assert (other.status_code, other.content) == (200, first.content)
    assert len(home.upstream.asked("/settle")) == 1


@pytest.mark.parametrize("peer_dies", [False, True])
@in_loop
async def test_a_peers_unfinished_settle_is_waited_for_until_its_lease_ends_or_it_dies(
    *, peer_dies: bool, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path) as home, second_gateway(home) as other:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        home.upstream.settle = "ok"
        header = {"PAYMENT-SIGNATURE": payment.header}
        peers = other._transport.app.state.gateway.purchases.leases._seen  # type: ignore[attr-defined]
        waiting = asyncio.create_task(other.get(REGIME, headers=header))
        await until(lambda: payment.txid in peers)
        settles = len(home.upstream.asked("/settle"))
        if peer_dies:
            run_on_file(tmp_path, "update payments set owner = ?", dead_owner())
        else:
            home.clock.step(20)

        answers = [await waiting, await other.get(REGIME, headers=header)]

    assert settles == 1
    assert [answer.status_code for answer in answers] == [200, 200]
    assert home.upstream.transfers[payment.txid] == 1


@in_loop
async def test_what_a_peer_found_out_is_delivered_before_its_lease_ends(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home, second_gateway(home) as other:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        peers = other._transport.app.state.gateway.purchases.leases._seen  # type: ignore[attr-defined]
        waiting = asyncio.create_task(other.get(REGIME, headers={"PAYMENT-SIGNATURE": payment.header}))
        await until(lambda: payment.txid in peers)
        looks = home.upstream.looks[payment.txid]
        run_on_file(tmp_path, "update payments set state = 'settled', evidence = 'chain', closed_at = created_at")

        answer = await asyncio.wait_for(waiting, 20)

    assert answer.status_code == 200
    assert len(home.upstream.asked("/settle")) == 1
    assert home.upstream.looks[payment.txid] == looks


def run_on_file(folder: Path, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(folder / "payments.sqlite3")) as raw, raw:
        raw.execute(statement, values)


@in_loop
async def test_a_settled_payment_whose_row_cannot_be_closed_is_delivered_all_the_same(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.05
        payment = home.buyer.pay()
        task = asyncio.create_task(home.send(payment))
        await home.upstream.settling.wait()
        run_on_file(tmp_path, "create trigger t before update on payments begin select raise(abort, 'disk full'); end")

        answer = await task

    assert (answer.status_code, home.upstream.transfers[payment.txid]) == (200, 1)


@in_loop
async def test_an_identifier_belongs_to_one_payment(tmp_path: Path) -> None:
    def identify(value: Any) -> None:
        value["extensions"] = {"payment-identifier": {"info": {"required": False, "id": "order-0123456789abcdef"}}}

    async with gateway_app(tmp_path) as home:
        first = home.buyer.pay().changed(identify)
        answers = [await home.send(first), await home.send(first)]

        other = await home.send(home.buyer.pay().changed(identify))

    assert [answer.status_code for answer in answers] == [200, 200]
    assert other.status_code == 402
    assert "payment_identifier_reused" in other.json()["error"]


@in_loop
async def test_without_a_snapshot_the_newest_is_bought_and_an_unknown_one_is_402(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        newest = await home.send(home.buyer.pay(snapshot=None))
        unknown = await home.send(home.buyer.pay(snapshot="000000000099"))

    assert newest.content == body_of("x402-market-regime", GENERATION)
    assert (unknown.status_code, json.loads(unknown.content)["x402Version"]) == (402, 2)


@in_loop
async def test_any_signer_of_the_facilitator_may_be_echoed_and_no_other(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        ours = home.buyer.pay().changed(lambda value: value["accepted"]["extra"].update(feePayer=OTHER_SIGNER))
        foreign = home.buyer.pay().changed(lambda value: value["accepted"]["extra"].update(feePayer=home.buyer.address))

        answers = [await home.send(ours), await home.send(foreign)]

    assert [answer.status_code for answer in answers] == [200, 402]
    assert home.upstream.asked("/settle")[0]["paymentRequirements"]["extra"]["feePayer"] == OTHER_SIGNER
    reason = "unknown_fee_payer: the fee payer is not one of the facilitator's"
    assert (answers[1].json()["error"], len(home.upstream.asked("/verify"))) == (reason, 1)


@in_loop
async def test_the_facilitator_is_asked_about_the_terms_that_were_quoted(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        quoted = (await home.get()).json()["accepts"][0]
        await home.send(home.buyer.pay())

        asked = [*home.upstream.asked("/verify"), *home.upstream.asked("/settle")]

    assert [question["paymentRequirements"] for question in asked] == [quoted, quoted]
    assert [question["paymentPayload"]["accepted"] for question in asked] == [quoted, quoted]


@in_loop
async def test_the_facilitators_token_is_sent_and_never_shown(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, facilitator_token="s3cret-token") as home:
        await home.send(home.buyer.pay())

    assert {headers["Authorization"] for headers in home.upstream.headers} == {"Bearer s3cret-token"}
    assert "s3cret-token" not in repr(home.state.settings)


@in_loop
async def test_every_step_is_reported_so_that_a_process_can_be_killed_there(tmp_path: Path) -> None:
    steps: list[str] = []
    async with gateway_app(tmp_path, step=steps.append) as home:
        payment = home.buyer.pay()
        await home.send(payment)
        first = list(steps)

        await home.send(payment)

    assert first == [
        "decoded", "verified", "intent_written", "settle_answered", "settled_written", "delivered",
    ]  # fmt: skip
    assert steps[len(first) :] == ["decoded", "delivered"]


@in_loop
async def test_the_time_that_a_purchase_took_is_measured(tmp_path: Path) -> None:
    clock = ManualClock()

    def take_a_while(step: str) -> None:
        if step == "verified":
            clock.step(1.5)

    async with gateway_app(tmp_path, clock=clock, step=take_a_while) as home:
        await home.send(home.buyer.pay())
        took_s = home.state.metrics.registry.get_sample_value("emi_purchase_seconds_sum")

    assert took_s == 1.5


@in_loop
async def test_as_many_payments_are_in_flight_as_the_setting_says(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, payments_at_once=3) as home:
        home.upstream.settle_delay_s = 0.2

        answers = await asyncio.gather(*(home.send(home.buyer.pay()) for _ in range(5)))

    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 503, 503]
