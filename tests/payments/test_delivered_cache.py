from dataclasses import replace
from pathlib import Path

from gateway.payments.decide import Delivered
from tests.support.gateway_app import gateway_app, in_loop
from tests.support.intents import INTENT


@in_loop
async def test_a_replay_touches_neither_the_ledger_nor_the_facilitator(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        first = await home.send(payment)
        await home.state.ledger.flush()
        home.upstream.calls.clear()
        await home.state.ledger.close()

        replay = await home.send(payment)

        home.state.ledger._deliveries.clear()
    assert replay.status_code == 200
    assert (replay.content, replay.headers["PAYMENT-RESPONSE"]) == (first.content, first.headers["PAYMENT-RESPONSE"])
    assert home.upstream.calls == [] or all(path == "/supported" for path, _ in home.upstream.calls)


@in_loop
async def test_32_mib_of_bodies_are_kept_and_the_least_used_goes_first(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        known = home.state.purchases._deliveries
        for txid in "abcd":
            known.remember(Delivered(replace(INTENT, txid=txid), bytes(8 * 1024 * 1024)))
        known._delivered.move_to_end("a")

        known.remember(Delivered(replace(INTENT, txid="e"), b"{}"))

        assert list(known._delivered) == ["c", "d", "a", "e"]


@in_loop
async def test_2048_deliveries_are_kept_however_small_their_bodies_are(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        known = home.state.purchases._deliveries
        for number in range(2_050):
            known.remember(Delivered(replace(INTENT, txid=str(number)), b"{}"))

        assert list(known._delivered) == [str(number) for number in range(2, 2_050)]
        assert known._bytes == 2_048 * len(b"{}")
