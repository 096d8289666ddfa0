"""Transfers to our payee that are not taken: no challenge before the chain was asked, whatever is wrong with them."""

import asyncio
import base64
import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from aiohttp import web

from gateway.ledger.store import Ledger
from gateway.payments.parse import read_payment
from gateway.payments.transfers import find_transfers
from gateway.settings import DEMO_PAYEE
from gateway.wire.algorand import key_of, pack
from gateway.wire.networks import DEVNET
from tests.support.fake_upstream import FakeUpstream
from tests.support.gateway_app import BRAIN, REGIME, GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import PRICE, Buyer, Signed, decode_header, encode_header
from tests.support.intents import INTENT
from tests.support.vaults import START, write_vault

CONTACT = "payments@example.org"
TAKEN = "order_0123456789abcdef"
PAST_LAST_VALID = 5_511
REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")


def setting(*path: str, to: Any) -> Callable[[Signed], Signed]:
    def change(value: Any) -> None:
        for name in path[:-1]:
            value = value[name]
        value[path[-1]] = to

    return lambda payment: payment.changed(change)


def unsigned(payment: Signed) -> Signed:
    def change(value: Any) -> None:
        group = value["payload"]["paymentGroup"]
        item = bytearray(base64.b64decode(group[1]))
        item[10] ^= 1  # within the signature
        group[1] = base64.b64encode(bytes(item)).decode()

    return payment.changed(change)


def is_in_the_reference(error: str) -> bool:
    """Return whether the reference names the code and a sentence says what it means; others are the facilitator's."""
    code, _, sentence = error.partition(": ")
    return error == "insufficient_funds: the facilitator refused it" or (f"`{code}`" in REFERENCE and bool(sentence))


WRONG: dict[str, Callable[[Buyer], Signed]] = {
    "unknown_snapshot": lambda buyer: buyer.pay(snapshot="000000000099"),
    "amount_mismatch": lambda buyer: buyer.pay(PRICE - 1),
    "unknown_fee_payer": lambda buyer: setting("accepted", "extra", "feePayer", to=buyer.address)(buyer.pay()),
    "payment_identifier_reused": lambda buyer: buyer.pay().identified(TAKEN),
    "invalid_payment_identifier": lambda buyer: buyer.pay().identified("short"),
    "invalid_payment_index": lambda buyer: setting("payload", "paymentIndex", to="1")(buyer.pay()),
    "transaction_malformed": lambda buyer: setting("payload", "paymentIndex", to=0)(buyer.pay()),
    "payment_malformed": lambda buyer: setting("accepted", to=None)(buyer.pay()),
    "unsupported_x402_version": lambda buyer: setting("x402Version", to=1)(buyer.pay()),
    "invalid_network": lambda buyer: setting("accepted", "network", to="algorand:other")(buyer.pay()),
    "signature_invalid": lambda buyer: unsigned(buyer.pay()),
    "asset_mismatch": lambda buyer: buyer.pay(xaid=5),
    "rekey_refused": lambda buyer: buyer.pay(rekey=b"r" * 32),
    "validity_window_invalid": lambda buyer: buyer.pay(fv=4_000),
    "group_pays_twice": lambda buyer: buyer.pair()[0],
    # Last, in one gateway after the others: what they need does not go away again.
    "insufficient_funds": lambda buyer: buyer.pay(),
    "quote_expired": lambda buyer: buyer.pay(snapshot="000000000006"),
}


async def refusable(home: GatewayHarness, code: str) -> Signed:
    """Return a payment with one thing wrong."""
    if code == "quote_expired":
        home.clock.step(3_600)
        write_vault(
            home.folder / "vault", generation="000000000008", at=home.clock.now(), older={"000000000006": START}
        )
        await home.refresh()
    if code == "payment_identifier_reused":
        await home.send(home.buyer.pay().identified(TAKEN))
    if code == "insufficient_funds":
        home.upstream.verify = {"isValid": False, "invalidReason": code}
    return WRONG[code](home.buyer)


def a_vault(folder: Path) -> None:
    write_vault(folder, older={"000000000006": START})


def assert_no_challenge(answer: httpx2.Response, status: int) -> None:
    assert answer.status_code == status, answer.text
    assert "PAYMENT-REQUIRED" not in answer.headers
    assert "accepts" not in answer.json()


@pytest.mark.parametrize("pooled", [False, True])
@in_loop
async def test_what_the_chain_or_its_pool_has_is_409_whatever_is_wrong(*, pooled: bool, tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=a_vault, contact=CONTACT) as home:
        for code in WRONG:
            payment = await refusable(home, code)
            home.upstream.pooled |= {payment.txid} if pooled else set()
            home.upstream.confirmed |= {} if pooled else {payment.txid: 5_000}

            answer = await home.send(payment)

            assert_no_challenge(answer, 409)
            said = answer.json()
            assert (code, said["reason"], said["txid"]) == (code, "payment_already_on_chain", payment.txid)
            asks = f"If its answer never reached you, write to {CONTACT} and name the transaction {payment.txid}."
            assert said["detail"].endswith(f" Do not pay again. {asks}")
            assert said["contact"] == CONTACT


@in_loop
async def test_what_neither_node_nor_pool_has_yet_is_402_with_its_reason(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=a_vault) as home:
        for code in WRONG:
            answer = await home.send(await refusable(home, code))

            assert (code, answer.status_code) == (code, 402)
            assert answer.json()["error"].startswith(f"{code}: ")
            assert "PAYMENT-REQUIRED" in answer.headers
            assert is_in_the_reference(answer.json()["error"])


@in_loop
async def test_while_no_node_answers_nothing_is_challenged(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=a_vault) as home:
        for code in WRONG:
            home.upstream.lookup_down = False
            payment = await refusable(home, code)
            home.upstream.lookup_down = True

            answer = await home.send(payment)

            assert_no_challenge(answer, 503)
            receipt = decode_header(answer.headers["PAYMENT-RESPONSE"])
            assert (code, receipt["transaction"]) == (code, payment.txid)
            assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize(
    ("reached", "indexer", "landed", "status"),
    [
        (PAST_LAST_VALID, "up", True, 409),
        (PAST_LAST_VALID, "up", False, 402),
        (PAST_LAST_VALID - 1, "up", False, 503),
        (PAST_LAST_VALID, "none", False, 402),
        (5_901, "none", False, 503),
        (9_000, "up", False, 402),
    ],
)
@in_loop
async def test_past_its_last_round_an_absence_counts_only_as_a_proof(
    *, reached: int, indexer: str, landed: bool, status: int, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path, vault=a_vault, indexer=indexer == "up") as home:
        payment = await refusable(home, "unknown_snapshot")
        home.upstream.round, home.upstream.algod_forgets = reached, True
        home.upstream.confirmed |= {payment.txid: 5_000} if landed else {}

        answer = await home.send(payment)

    assert answer.status_code == status
    assert ("PAYMENT-REQUIRED" in answer.headers) is (status == 402)


@in_loop
async def test_a_node_that_follows_no_more_gives_no_challenge(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.status = {"time-since-last-round": 3_600 * 10**9}

        answer = await home.send(home.buyer.pay(PRICE - 1))

    assert_no_challenge(answer, 503)


@pytest.mark.parametrize("valid", [True, False])
@in_loop
async def test_what_a_facilitator_broadcasts_in_verify_is_never_challenged(*, valid: bool, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.verify = {"isValid": valid, "invalidReason": "simulation_failed"}
        home.upstream.broadcasts_in_verify = True
        home.upstream.settle = "simulation"
        payment = home.buyer.pay()

        answers = [await home.send(payment) for _ in range(2)]

    assert not any("PAYMENT-REQUIRED" in answer.headers for answer in answers)
    assert home.upstream.transfers[payment.txid] == 1


class LandsAfterTheVerdict(FakeUpstream):
    """Shows a payment only from its next look-up on."""

    def _hides(self, txid: str) -> bool:
        if self.looks[txid] == 2:
            self.land(txid)
        return super()._hides(txid)


@in_loop
async def test_after_an_invalid_verdict_the_chain_is_asked_again_two_seconds_later(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, upstream=LandsAfterTheVerdict(DEVNET.full)) as home:
        home.upstream.verify = {"isValid": False, "invalidReason": "insufficient_funds"}
        payment, began = home.buyer.pay(), home.clock.monotonic()

        answer = await home.send(payment)

    assert_no_challenge(answer, 409)
    assert home.clock.monotonic() - began >= 2


class TakenMeanwhile(FakeUpstream):
    """Another gateway takes the payment after the ledger was read and before the node answers."""

    ledger: Ledger

    def _pending(self, txid: str) -> web.Response:
        if self.ledger.find(txid) is None:
            self.ledger.write_intent(replace(INTENT, txid=txid, created_at=START.timestamp()))
        return super()._pending(txid)


@pytest.mark.parametrize("code", ["unsupported_x402_version", "amount_mismatch"])
@in_loop
async def test_what_another_gateway_takes_while_the_chain_is_asked_is_not_challenged(code: str, tmp_path: Path) -> None:
    upstream = TakenMeanwhile(DEVNET.full)
    async with gateway_app(tmp_path, upstream=upstream) as home:
        upstream.ledger = home.state.ledger.ledger

        answer = await home.send(WRONG[code](home.buyer))

    assert_no_challenge(answer, 503)


@in_loop
async def test_the_same_value_sent_twice_counts_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        header = home.buyer.pay().header

        twice = await home.client.get(REGIME, headers=[("PAYMENT-SIGNATURE", header)] * 2)
        joined = await home.client.get(REGIME, headers={"PAYMENT-SIGNATURE": f"{header}, {header}"})

    assert [twice.status_code, joined.status_code] == [200, 200]
    assert len(home.upstream.asked("/settle")) == 1


@pytest.mark.parametrize(
    ("known", "status"), [("settled", 409), ("intent", 409), ("on the chain", 409), ("nowhere", 402), ("unclear", 503)]
)
@in_loop
async def test_different_values_are_409_if_one_is_known(known: str, status: int, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        new, paid = home.buyer.pay(), home.buyer.pay()
        home.upstream.settle = "500" if known == "intent" else "ok"
        if known in {"settled", "intent"}:
            await home.send(paid)
        home.upstream.confirmed |= {paid.txid: 5_000} if known == "on the chain" else {}
        home.upstream.lookup_down = known == "unclear"

        answer = await home.client.get(REGIME, headers=[("PAYMENT-SIGNATURE", one.header) for one in (new, paid)])

    assert answer.status_code == status
    assert ("PAYMENT-REQUIRED" in answer.headers) is (status == 402)
    if status == 409:
        assert (answer.json()["reason"], answer.json()["txid"]) == ("payment_header_repeated", paid.txid)


@pytest.mark.parametrize("path", [REGIME, BRAIN])
@in_loop
async def test_a_group_that_pays_twice_is_refused_before_verify(path: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answers = await asyncio.gather(*(home.send(one, path) for one in home.buyer.pair()))

    assert [answer.status_code for answer in answers] == [402, 402]
    assert home.upstream.asked("/verify") == []


@in_loop
async def test_the_sibling_of_an_accepted_payment_is_409_and_the_accepted_one_is_finished(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        accepted, sibling = home.buyer.pair()
        alone = accepted.changed(
            lambda value: value["payload"].update(paymentGroup=value["payload"]["paymentGroup"][:1])
        )
        home.upstream.settle = "500"
        assert (await home.send(alone)).status_code == 503
        home.upstream.settle = "ok"

        refused, finished = await home.send(sibling), await home.send(accepted)

    assert_no_challenge(refused, 409)
    assert finished.status_code == 200


@in_loop
async def test_another_product_is_503_while_unknown_and_then_402_that_names_the_bought_one(
    tmp_path: Path,
) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)

        unknown = await home.send(payment, BRAIN)
        home.upstream.settle = "ok"
        bought = await home.send(payment)
        settled = await home.send(payment, BRAIN)

    assert_no_challenge(unknown, 503)
    assert decode_header(unknown.headers["PAYMENT-RESPONSE"])["transaction"] == payment.txid
    assert (bought.status_code, settled.status_code) == (200, 402)
    assert settled.json()["error"].endswith(f"this one bought {REGIME}")


@in_loop
async def test_a_refused_payment_is_503_on_another_product_while_no_node_answers(
    tmp_path: Path,
) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle, home.upstream.rounds_a_look = "simulation", 1
        payment = home.buyer.pay()
        assert (await home.send(payment)).status_code == 402
        home.upstream.lookup_down = True

        answer = await home.send(payment, BRAIN)

    assert_no_challenge(answer, 503)


@in_loop
async def test_a_refused_payment_is_refused_for_its_own_reason_on_another_product_too(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle, home.upstream.rounds_a_look = "simulation", 1
        payment = home.buyer.pay()
        first = await home.send(payment)

        answer = await home.send(payment, BRAIN)

    assert (first.status_code, answer.status_code) == (402, 402)
    assert answer.json()["error"] == first.json()["error"]


@in_loop
async def test_a_payment_in_the_header_of_version_1_is_looked_up_before_the_challenge(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        new = await home.client.get(REGIME, headers={"X-PAYMENT": payment.header})
        home.upstream.land(payment.txid)
        landed = await home.client.get(REGIME, headers={"X-PAYMENT": payment.header})

    assert new.status_code == 402
    assert_no_challenge(landed, 409)


def raw(payment: Signed) -> str:
    """Return the payment's JSON as it is, without the base64 around it."""
    return base64.b64decode(payment.header).decode()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


UNREADABLE: dict[str, Callable[[Signed], dict[str, str]]] = {
    "the JSON itself": lambda payment: {"PAYMENT-SIGNATURE": raw(payment)},
    "JSON cut at its end": lambda payment: {"PAYMENT-SIGNATURE": encoded(raw(payment)[:-1])},
    "JSON after a byte order mark": lambda payment: {"PAYMENT-SIGNATURE": encoded("\ufeff" + raw(payment))},
    "JSON nested too deep": lambda payment: {"PAYMENT-SIGNATURE": encoded("[" * 5_000 + raw(payment) + "]" * 5_000)},
    "a member twice": lambda payment: {"PAYMENT-SIGNATURE": encoded(raw(payment)[:-1] + ',"payload":{}}')},
    "base64 of base64": lambda payment: {"PAYMENT-SIGNATURE": encoded(payment.header)},
    "JSON in a text of JSON": lambda payment: {"PAYMENT-SIGNATURE": encoded(json.dumps(raw(payment)))},
    "one transaction alone": lambda payment: {"PAYMENT-SIGNATURE": payment.value["payload"]["paymentGroup"][1]},
    "the older header, the newer one empty": lambda payment: {"PAYMENT-SIGNATURE": "", "X-PAYMENT": payment.header},
}


@pytest.mark.parametrize("form", UNREADABLE)
@in_loop
async def test_what_landed_is_found_in_a_header_that_cannot_be_read(form: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        home.upstream.land(payment.txid)

        answer = await home.client.get(REGIME, headers=UNREADABLE[form](payment))

    assert_no_challenge(answer, 409)
    assert answer.json()["txid"] == payment.txid


@in_loop
async def test_reading_the_header_of_version_1_counts_against_the_rate_limit(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, rate_limit_per_minute=2) as home:
        answers = [await home.client.get(REGIME, headers={"X-PAYMENT": "junk"}) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [402, 402, 429]


@in_loop
async def test_look_ups_count_against_the_rate_limit(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, rate_limit_per_minute=3) as home:
        payments = [home.buyer.pay() for _ in range(5)]

        several = await home.client.get(REGIME, headers=[("PAYMENT-SIGNATURE", one.header) for one in payments])
        one_more = await home.send(home.buyer.pay(PRICE - 1))

    assert_no_challenge(several, 429)
    assert_no_challenge(one_more, 429)
    assert sum(home.upstream.looks.values()) == 3


@in_loop
async def test_look_ups_of_a_new_payment_s_group_count_against_the_rate_limit_too(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, rate_limit_per_minute=1) as home:
        answer = await home.send(home.buyer.pair()[0])

    assert_no_challenge(answer, 429)
    assert sum(home.upstream.looks.values()) == 1


@in_loop
async def test_a_malformed_copy_waits_for_the_payment_that_is_in_flight(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.05
        payment = home.buyer.pay()
        paying = asyncio.create_task(home.send(payment))
        await home.upstream.settling.wait()

        copy = await home.send(setting("x402Version", to=1)(payment))

        assert (await paying).status_code == 200
    assert_no_challenge(copy, 409)


def unpadded(payment: Signed) -> str:
    return payment.header.rstrip("=").replace("+", "-").replace("/", "_")


def with_float_asset(payment: Signed) -> str:
    """Encode the asset's number as a float, which the SDK makes whole again."""
    raw = base64.b64decode(payment.value["payload"]["paymentGroup"][1])
    number = b"\xce" + DEVNET.asset_id.to_bytes(4, "big")
    as_float = b"\xcb" + struct.pack(">d", float(DEVNET.asset_id))
    item = base64.b64encode(raw.replace(number, as_float)).decode()
    return payment.changed(lambda value: value["payload"].update(paymentGroup=[item])).header


@pytest.mark.parametrize(
    "written",
    [
        lambda payment: payment.header,
        unpadded,
        with_float_asset,
        lambda payment: encode_header({"elsewhere": [payment.value]}),
        lambda payment: encode_header({"payload": {"paymentGroup": payment.value["payload"]["paymentGroup"][1]}}),
    ],
)
def test_a_transfer_is_found_however_it_is_wrapped(written: Callable[[Signed], str]) -> None:
    payment = Buyer().pay()

    [found] = find_transfers(written(payment), DEVNET, DEMO_PAYEE)

    assert (found.txid, found.payer, found.first_valid, found.last_valid) == (payment.txid, payment.payer, 5_000, 5_500)


def test_a_transfer_is_found_in_one_more_encoding_and_not_in_two() -> None:
    payment = Buyer().pay()
    once_more = encode_header({"relayed": payment.header})
    twice_more = encode_header({"relayed": once_more})

    assert [found.txid for found in find_transfers(once_more, DEVNET, DEMO_PAYEE)] == [payment.txid]
    assert find_transfers(twice_more, DEVNET, DEMO_PAYEE) == ()


@pytest.mark.parametrize("header", ["", "junk", "A" * 15_000, encode_header([1, None, {"a": "AAAA"}]), "[" * 9_000])
def test_what_holds_no_transfer_to_our_payee_is_none(header: str) -> None:
    assert find_transfers(header, DEVNET, DEMO_PAYEE) == ()


@pytest.mark.parametrize("changes", [{"arcv": b"o" * 32}, {"gh": b"g" * 32}, {"type": "pay"}])
def test_a_transfer_to_someone_else_or_on_another_network_is_none(changes: dict[str, Any]) -> None:
    assert find_transfers(Buyer().pay(**changes).header, DEVNET, DEMO_PAYEE) == ()


def test_a_payment_names_the_other_transfers_of_its_group() -> None:
    first, second = Buyer().pair()

    read = read_payment(first.header, DEVNET, DEMO_PAYEE)

    assert (read.txid, [other.txid for other in read.others]) == (first.txid, [second.txid])


@pytest.mark.parametrize("changes", [{"fee": 1_000}, {"note": b"thanks"}, {"lx": b"l" * 32}])
def test_a_transfer_is_found_under_the_id_that_it_would_have_on_the_chain(changes: dict[str, Any]) -> None:
    payment = Buyer().pay(**changes)

    assert [found.txid for found in find_transfers(payment.header, DEVNET, DEMO_PAYEE)] == [payment.txid]


def test_the_least_that_says_that_it_is_a_transfer_to_us_is_found() -> None:
    least = {"type": "axfer", "gh": DEVNET.genesis_hash_bytes, "arcv": key_of(DEMO_PAYEE)}
    header = base64.b64encode(json.dumps({"x": base64.b64encode(pack(least)).decode()}).encode()).decode()

    [found] = find_transfers(header, DEVNET, DEMO_PAYEE)

    assert (found.payer, found.first_valid, found.last_valid) == ("", 0, 0)
