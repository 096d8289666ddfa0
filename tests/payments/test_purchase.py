from __future__ import annotations

import asyncio
import json
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.wire.networks import DEVNET
from tests.ledger.test_owner import dead_owner
from tests.support.fake_upstream import OTHER_SIGNER, FakeUpstream
from tests.support.gateway_app import BRAIN, REGIME, GatewayHarness, gateway_app, in_loop, second_gateway
from tests.support.gateway_wallet import decode_header
from tests.support.vaults import GENERATION, START, body_of, write_vault

PENDING_MODES = ["500", "reset", "empty", "text_true", "garbage", "large", "named", "late", "failed"]
SETTLED_MODES = ["settle_then_500", "settle_then_reset", "settle_then_fail"]


@in_loop
async def test_the_intent_is_durable_before_settle_is_asked(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.2
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
        assert (terms["network"], terms["amount"], terms["asset"]) == (advertised, "10000", "31566704")
        assert body["paymentPayload"]["extensions"] == extensions
    assert decode_header(answer.headers["PAYMENT-RESPONSE"])["network"] == sent


@in_loop
async def test_a_broken_connection_causes_no_second_post_of_settle(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "reset"

        await home.send(home.buyer.pay())

    assert len(home.upstream.asked("/settle")) == 1


@pytest.mark.parametrize("verdict", [500, "<html>", {}, {"isValid": "true"}, {"isValid": None}])
@in_loop
async def test_verify_without_a_verdict_is_503_and_works_later(verdict: Any, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        home.upstream.verify = verdict
        down = await home.send(payment)
        home.upstream.verify = {"isValid": True}

        up = await home.send(payment)

    assert (down.status_code, up.status_code) == (503, 200)
    assert int(down.headers["Retry-After"]) > 0
    assert "PAYMENT-REQUIRED" not in down.headers


@in_loop
async def test_verify_is_not_asked_again_for_a_moment_after_five_failures(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.verify = 500
        for _ in range(7):
            await home.send(home.buyer.pay())
        asked = len(home.upstream.asked("/verify"))
        home.clock.step(6)
        home.upstream.verify = {"isValid": True}

        later = await home.send(home.buyer.pay())

    assert asked == 5
    assert later.status_code == 200


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
    }


@pytest.mark.parametrize("mode", ["simulation", "insufficient"])
@in_loop
async def test_a_refusal_before_broadcast_is_402_with_the_reason(mode: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle, home.upstream.rounds_a_look = mode, 1

        answer = await home.send(home.buyer.pay())

    receipt = decode_header(answer.headers["PAYMENT-RESPONSE"])
    assert answer.status_code == 402
    assert (receipt["success"], receipt["transaction"]) == (False, "")
    assert receipt["errorReason"] in answer.json()["error"]
    assert "PAYMENT-REQUIRED" in answer.headers


@in_loop
async def test_without_the_chains_404_a_refusal_is_not_definite(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "simulation"
        home.upstream.lookup_down = True

        answer = await home.send(home.buyer.pay())

    assert answer.status_code == 503


@in_loop
async def test_a_refused_payment_that_landed_after_all_is_delivered(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle, home.upstream.rounds_a_look = "simulation", 1
        payment = home.buyer.pay()
        refused = await home.send(payment)
        home.upstream.land(payment.txid)

        answer = await home.send(payment)

    assert (refused.status_code, answer.status_code) == (402, 200)


@pytest.mark.parametrize("mode", PENDING_MODES)
@in_loop
async def test_an_unknown_outcome_is_503_without_challenge_and_ends_paid_once(mode: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = mode
        payment = home.buyer.pay()
        unknown = await home.send(payment)
        home.upstream.settle = "ok"

        answer = await home.send(payment)

    receipt = decode_header(unknown.headers["PAYMENT-RESPONSE"])
    assert unknown.status_code == 503
    assert "PAYMENT-REQUIRED" not in unknown.headers
    assert int(unknown.headers["Retry-After"]) > 0
    assert (receipt["success"], receipt["errorReason"]) == (False, "settlement_pending")
    assert receipt["transaction"] == payment.txid
    assert (answer.status_code, home.upstream.transfers[payment.txid]) == (200, 1)


@pytest.mark.parametrize("mode", SETTLED_MODES)
@in_loop
async def test_what_the_chain_shows_is_delivered_whatever_the_facilitator_said(mode: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = mode
        payment = home.buyer.pay()

        answer = await home.send(payment)

    assert (answer.status_code, home.upstream.transfers[payment.txid]) == (200, 1)


@in_loop
async def test_a_settle_that_never_answers_is_looked_up_after_the_time_limit(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, settle_timeout_seconds=0.3) as home:
        home.upstream.settle = "settle_then_hang"
        payment = home.buyer.pay()

        answer = await home.send(payment)

    assert (answer.status_code, home.upstream.transfers[payment.txid]) == (200, 1)


@in_loop
async def test_a_second_settles_failure_is_never_a_refusal(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        home.upstream.settle = "simulation"

        answer = await home.send(payment)

    assert answer.status_code == 503
    assert len(home.upstream.asked("/settle")) == 2


@in_loop
async def test_absence_past_the_last_valid_round_is_a_refusal_for_good(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        home.upstream.round = 5_510
        early = await home.send(payment)
        home.upstream.round = 5_511

        late = await home.send(payment)

    assert (early.status_code, late.status_code) == (503, 402)
    assert len(home.upstream.asked("/settle")) == 2


@in_loop
async def test_nothing_is_settled_again_while_the_chain_cannot_be_asked(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        home.upstream.lookup_down = True

        answer = await home.send(payment)

    assert answer.status_code == 503
    assert len(home.upstream.asked("/settle")) == 1


@in_loop
async def test_a_replay_is_the_same_answer_without_the_facilitator(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        first = await home.send(payment)
        await home.restart()
        home.upstream.calls.clear()
        home.clock.step(86_400)

        replay = await home.send(payment)

    assert replay.status_code == 200
    assert replay.content == first.content
    assert replay.headers["PAYMENT-RESPONSE"] == first.headers["PAYMENT-RESPONSE"]
    assert (home.upstream.asked("/verify"), home.upstream.asked("/settle")) == ([], [])


@in_loop
async def test_another_product_is_402_also_after_a_restart(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await home.send(payment)
        before = await home.send(payment, BRAIN)
        await home.restart()

        after = await home.send(payment, BRAIN)

    assert (before.status_code, after.status_code) == (402, 402)
    assert home.upstream.transfers[payment.txid] == 1


@in_loop
async def test_another_product_is_402_also_concurrently(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.1
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
async def test_25_concurrent_duplicates_are_one_settle_and_identical_answers(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.1
        payment = home.buyer.pay()

        answers = await asyncio.gather(*(home.send(payment) for _ in range(25)))

    assert len({(answer.status_code, answer.content, answer.headers["PAYMENT-RESPONSE"]) for answer in answers}) == 1
    assert answers[0].status_code == 200
    assert len(home.upstream.asked("/settle")) == len(home.upstream.asked("/verify")) == 1


@in_loop
async def test_a_client_that_hangs_up_does_not_cancel_a_settle(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.2
        payment = home.buyer.pay()
        task = asyncio.create_task(home.send(payment))
        await home.upstream.settling.wait()
        task.cancel()
        await home.state.purchases.drain()

        answer = await home.send(payment)

    assert answer.status_code == 200
    assert len(home.upstream.asked("/settle")) == 1


@in_loop
async def test_a_stop_waits_for_payments_on_their_way(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.2
        payment = home.buyer.pay()
        task = asyncio.create_task(home.send(payment))
        await home.upstream.settling.wait()

        await home.restart()

        record = home.state.ledger.ledger.find(payment.txid)
        answer = await task
    assert record is not None
    assert (record.state, answer.status_code) == ("settled", 200)


@in_loop
async def test_two_gateways_on_one_ledger_settle_a_payment_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home, second_gateway(home) as other:
        home.upstream.settle_delay_s = 0.3
        payment = home.buyer.pay()

        answers = await asyncio.gather(
            home.send(payment), other.get(REGIME, headers={"PAYMENT-SIGNATURE": payment.header})
        )

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content
    assert answers[0].headers["PAYMENT-RESPONSE"] == answers[1].headers["PAYMENT-RESPONSE"]
    assert len(home.upstream.asked("/settle")) == home.upstream.transfers[payment.txid] == 1


@in_loop
async def test_another_product_is_402_also_at_another_gateway(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home, second_gateway(home) as other:
        payment = home.buyer.pay()
        first = await home.send(payment)

        answer = await other.get(BRAIN, headers={"PAYMENT-SIGNATURE": payment.header})

    assert (first.status_code, answer.status_code) == (200, 402)


@in_loop
async def test_another_envelope_round_the_same_transaction_is_the_same_payment(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        first = await home.send(payment)

        other = await home.send(payment.changed(lambda value: value["accepted"].update(network=DEVNET.caip2)))

    assert (other.status_code, other.content) == (200, first.content)
    assert len(home.upstream.asked("/settle")) == 1


@in_loop
async def test_a_payment_that_landed_before_it_was_accepted_is_refused(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        home.upstream.land(payment.txid)

        answer = await home.send(payment)

    assert answer.status_code == 402
    assert home.upstream.asked("/settle") == []


@in_loop
async def test_an_intent_left_by_a_dead_process_is_delivered_when_the_chain_has_it(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle, home.upstream.lookup_down = "settle_then_500", True
        payment = home.buyer.pay()
        lost = await home.send(payment)
        home.upstream.lookup_down = False
        await home.restart()

        answer = await home.send(payment)

    assert (lost.status_code, answer.status_code) == (503, 200)
    assert home.upstream.transfers[payment.txid] == 1


async def waiting_for_its_peer(home: GatewayHarness, txid: str) -> None:
    """Return when the other gateway has looked the payment up on the chain, which is what it does before it waits."""
    looks = home.upstream.looks[txid]
    while home.upstream.looks[txid] == looks:  # noqa: ASYNC110  a fake counts, it sets no event
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.5)  # all that is left is to ask the ledger whose turn it is


@in_loop
async def test_a_peers_unfinished_settle_is_waited_for_and_taken_over_when_its_lease_ends(
    tmp_path: Path,
) -> None:
    async with gateway_app(tmp_path) as home, second_gateway(home) as other:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        home.upstream.settle = "ok"
        waiting = asyncio.create_task(other.get(REGIME, headers={"PAYMENT-SIGNATURE": payment.header}))
        await waiting_for_its_peer(home, payment.txid)
        settles = len(home.upstream.asked("/settle"))
        home.clock.step(20)

        answers = [await waiting, await other.get(REGIME, headers={"PAYMENT-SIGNATURE": payment.header})]

    assert settles == 1
    assert [answer.status_code for answer in answers] == [200, 200]
    assert home.upstream.transfers[payment.txid] == 1


@in_loop
async def test_an_intent_of_a_dead_process_is_taken_over_at_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        with sqlite3.connect(tmp_path / "payments.sqlite3") as raw:
            raw.execute("update payments set owner = ?", [dead_owner()])
        raw.close()
        home.upstream.settle = "ok"

        answer = await home.send(payment)

    assert (answer.status_code, home.upstream.transfers[payment.txid]) == (200, 1)


@in_loop
async def test_a_peer_that_dies_while_it_is_waited_for_is_taken_over_at_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home, second_gateway(home) as other:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        home.upstream.settle = "ok"
        waiting = asyncio.create_task(other.get(REGIME, headers={"PAYMENT-SIGNATURE": payment.header}))
        await waiting_for_its_peer(home, payment.txid)
        settles = len(home.upstream.asked("/settle"))
        with sqlite3.connect(tmp_path / "payments.sqlite3") as raw:
            raw.execute("update payments set owner = ?", [dead_owner()])
        raw.close()

        answer = await waiting

    assert settles == 1
    assert (answer.status_code, home.upstream.transfers[payment.txid]) == (200, 1)


@in_loop
async def test_a_settled_payment_whose_row_cannot_be_closed_is_delivered_all_the_same(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.2
        payment = home.buyer.pay()
        task = asyncio.create_task(home.send(payment))
        await home.upstream.settling.wait()
        with sqlite3.connect(tmp_path / "payments.sqlite3") as raw:
            raw.execute("create trigger full before update on payments begin select raise(abort, 'disk full'); end")
        raw.close()

        answer = await task

    assert (answer.status_code, home.upstream.transfers[payment.txid]) == (200, 1)


@in_loop
async def test_an_intent_that_cannot_be_written_is_503_and_nothing_is_settled(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        with sqlite3.connect(tmp_path / "payments.sqlite3") as raw:
            raw.execute("create trigger full before insert on bodies begin select raise(fail, 'disk full'); end")
        raw.close()

        answer = await home.send(home.buyer.pay())

    assert answer.status_code == 503
    assert home.upstream.asked("/settle") == []


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


@pytest.mark.parametrize(("age_s", "status"), [(899, 200), (901, 402)])
@in_loop
async def test_a_replaced_snapshot_can_be_paid_for_15_minutes(age_s: int, status: int, tmp_path: Path) -> None:
    def vault(folder: Path) -> None:
        write_vault(folder, older={"000000000006": START - timedelta(seconds=age_s)})

    async with gateway_app(tmp_path, vault=vault) as home:
        answer = await home.send(home.buyer.pay(snapshot="000000000006"))

    assert answer.status_code == status


@in_loop
async def test_without_a_snapshot_the_newest_is_bought_and_an_unknown_one_is_402(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        newest = await home.send(home.buyer.pay(snapshot=None))
        unknown = await home.send(home.buyer.pay(snapshot="000000000099"))

    assert newest.content == body_of("x402-market-regime", GENERATION)
    assert (unknown.status_code, json.loads(unknown.content)["x402Version"]) == (402, 2)


@in_loop
async def test_a_known_payment_is_served_while_the_vault_is_too_old_for_quotes(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await home.send(payment)
        home.clock.step(3_600)

        known, new = await home.send(payment), await home.send(home.buyer.pay())

    assert (known.status_code, new.status_code) == (200, 503)


@in_loop
async def test_any_signer_of_the_facilitator_may_be_echoed_and_no_other(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        ours = home.buyer.pay().changed(lambda value: value["accepted"]["extra"].update(feePayer=OTHER_SIGNER))
        foreign = home.buyer.pay().changed(lambda value: value["accepted"]["extra"].update(feePayer=home.buyer.address))

        answers = [await home.send(ours), await home.send(foreign)]

    assert [answer.status_code for answer in answers] == [200, 402]
    assert home.upstream.asked("/settle")[0]["paymentRequirements"]["extra"]["feePayer"] == OTHER_SIGNER


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
        "decoded", "verified", "intent_written", "settle_sent", "settle_answered", "settled_written", "delivered",
    ]  # fmt: skip
    assert steps[len(first) :] == ["decoded", "delivered"]


@in_loop
async def test_settle_is_sent_when_its_bytes_have_left(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        arrived: list[bool] = []

        def step(name: str) -> None:
            if name == "settle_sent":
                arrived.append(bool(home.upstream.asked("/settle")))

        async with second_gateway(home, step=step) as client:
            await client.get(REGIME, headers={"PAYMENT-SIGNATURE": home.buyer.pay().header})

    assert arrived == [False]
    assert len(home.upstream.asked("/settle")) == 1
