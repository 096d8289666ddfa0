"""What each outcome of a payment is on the wire: status, headers and every word of its body."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from x402.http.utils import encode_payment_response_header
from x402.schemas import SettleResponse

from gateway.payments.decide import (
    ALREADY_ON_CHAIN,
    HEADER_REPEATED,
    IDENTIFIER_REQUIRED,
    Delivered,
    Gone,
    Limited,
    Outcome,
    Pending,
    Refused,
    Unavailable,
    Withheld,
)
from gateway.payments.endpoint import PaidEndpoint, _receipt
from gateway.payments.purchase import Admit, Purchases, no_step
from gateway.payments.receipts import extension_of
from gateway.values import Payment, Transfer
from gateway.wire.networks import DEVNET, MAINNET
from tests.support.fake_upstream import FakeUpstream
from tests.support.gateway_app import REGIME, GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import decode_header
from tests.support.intents import INTENT
from tests.support.vaults import write_vault

SETTLED = replace(INTENT, state="settled", network=DEVNET.full)
PLAY_MONEY = {"money": "play money, worth nothing"}
PAID = {"success": True, "payer": SETTLED.payer, "transaction": SETTLED.txid, "network": DEVNET.full}


class Dictated(Purchases):
    """Every payment has one outcome."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    async def buy(self, _path: str, _payment: Payment, _admit: Admit) -> Outcome:
        return self.outcome

    async def refuse(self, _refusal: Refused, _transfers: Sequence[Transfer], _admit: Admit) -> Outcome:
        return self.outcome


async def answer_to(home: GatewayHarness, outcome: Outcome) -> httpx2.Response:
    """Send a payment that has this outcome."""
    state = home.state
    endpoint = PaidEndpoint(
        settings=state.settings,
        vault=state.vault,
        quotes=state.quotes,
        purchases=Dictated(outcome),
        ledger=state.ledger,
        clients=state.clients,
        rate=state.rate,
        metrics=state.metrics,
        problems=state.problems,
        step=no_step,
    )
    transport = httpx2.ASGITransport(app=endpoint)
    async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as client:
        return await client.get(REGIME, headers={"PAYMENT-SIGNATURE": home.buyer.pay().header})


def receipt(answer: httpx2.Response) -> dict[str, Any]:
    said: dict[str, Any] = decode_header(answer.headers["PAYMENT-RESPONSE"])
    return said


@in_loop
async def test_an_attempt_may_take_as_long_as_settle_and_two_seconds(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        assert home.state.purchases.leases.seconds == home.state.settings.settle_timeout_seconds + 2


@in_loop
async def test_a_delivery_is_the_body_with_its_receipt_and_its_time_to_live(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answer = await answer_to(home, Delivered(SETTLED, b'{"bought": 1}'))
        real = await answer_to(home, Delivered(replace(SETTLED, network=MAINNET.full), b"{}"))

    assert (answer.status_code, answer.content) == (200, b'{"bought": 1}')
    assert answer.headers["Cache-Control"] == SETTLED.cache_control
    assert receipt(answer) == {**PAID, "extra": PLAY_MONEY}
    assert receipt(real) == {**PAID, "network": MAINNET.full}


@pytest.mark.parametrize(
    ("outcome", "status", "detail", "headers"),
    [
        (
            Gone(SETTLED),
            410,
            "This payment was settled and its answer delivered; it is kept no longer. Do not pay again for it.",
            {},
        ),
        (
            Pending(SETTLED.txid, SETTLED.network, SETTLED.payer),
            503,
            "The outcome of this payment is not known yet. Send the same payment again; do not sign another.",
            {"retry-after": "5"},
        ),
        (Limited(17), 429, "Too many payment attempts from this address.", {"retry-after": "17"}),
        (Unavailable("the ledger sleeps", 9), 503, "The ledger sleeps.", {"retry-after": "9"}),
    ],
)
@in_loop
async def test_an_outcome_without_a_challenge_says_what_to_do(
    outcome: Outcome, status: int, detail: str, headers: dict[str, str], tmp_path: Path
) -> None:
    async with gateway_app(tmp_path) as home:
        answer = await answer_to(home, outcome)

    assert (answer.status_code, answer.json()["detail"], answer.json()["instance"]) == (status, detail, REGIME)
    assert "PAYMENT-REQUIRED" not in answer.headers
    assert answer.headers["Vary"] == "PAYMENT-SIGNATURE, X-PAYMENT"
    assert {name: answer.headers.get(name) for name in ("retry-after",)} == {"retry-after": headers.get("retry-after")}


@in_loop
async def test_a_refusal_while_nothing_can_be_quoted_says_why_in_place_of_a_challenge(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.state.ledger.ledger.fault = "the ledger is gone"
        answer = await answer_to(home, Refused("insufficient_funds", "", DEVNET.full, SETTLED.payer))

    assert (answer.status_code, answer.json()["detail"], answer.headers["retry-after"]) == (
        503,
        "The payments ledger cannot be used right now.",
        "5",
    )
    assert not {"PAYMENT-REQUIRED", "PAYMENT-RESPONSE"} & {name.upper() for name in answer.headers}


@in_loop
async def test_what_is_gone_or_pending_has_a_receipt_that_says_so(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        gone = await answer_to(home, Gone(SETTLED))
        pending = await answer_to(home, Pending(SETTLED.txid, SETTLED.network, SETTLED.payer))

    assert receipt(gone) == {**PAID, "extra": PLAY_MONEY}
    assert gone.json()["reason"] == "payment_consumed"
    assert receipt(pending) == {**PAID, "success": False, "errorReason": "settlement_pending", "extra": PLAY_MONEY}


ON_CHAIN = "A transfer in this request is on the chain or on its way there, or was settled here in another form."
TWICE = (
    "PAYMENT-SIGNATURE came more than once, with different values, and one of them holds a payment that was made "
    "before. Do not pay again: send that one alone."
)
NAMELESS = (
    "This payment is already settled; do not pay again. Its answer is repeated to whoever sends the payment "
    "identifier that it came with; one that came without is repeated for about an hour."
)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (ALREADY_ON_CHAIN, f"{ON_CHAIN} Do not pay again."),
        (HEADER_REPEATED, TWICE),
        (IDENTIFIER_REQUIRED, NAMELESS),
    ],
)
@pytest.mark.parametrize("contact", ["help@example.org", None])
@in_loop
async def test_what_is_withheld_names_whom_to_ask(reason: str, text: str, contact: str | None, tmp_path: Path) -> None:
    async with gateway_app(tmp_path, contact=contact) as home:
        answer = await answer_to(home, Withheld(reason, SETTLED.txid))

    asked = contact or "the operator of this service"
    ask = f" If its answer never reached you, write to {asked} and name the transaction {SETTLED.txid}."
    body = answer.json()
    assert (answer.status_code, body["detail"]) == (409, text + ask)
    assert (body["reason"], body["txid"], body.get("contact")) == (reason, SETTLED.txid, contact)
    assert "PAYMENT-RESPONSE" not in answer.headers


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        (Refused("insufficient_funds", ""), "insufficient_funds"),
        (Refused("payment_malformed", "it is not one"), "payment_malformed: it is not one"),
        (Refused("payment_malformed", "x" * 300), f"payment_malformed: {'x' * 141}"),
    ],
)
@in_loop
async def test_a_refusal_is_a_challenge_with_its_reason_cut_to_160_characters(
    refused: Refused, error: str, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path) as home:
        answer = await answer_to(home, refused)
        named = await answer_to(home, replace(refused, network=DEVNET.full, payer="P" * 58))

    assert (answer.status_code, answer.json()["error"]) == (402, error)
    assert decode_header(answer.headers["PAYMENT-REQUIRED"])["error"] == error
    assert "PAYMENT-RESPONSE" not in answer.headers
    assert receipt(named) == {
        "success": False,
        "errorReason": refused.code,
        "payer": "P" * 58,
        "transaction": "",
        "network": DEVNET.full,
        "extra": PLAY_MONEY,
    }


@in_loop
async def test_a_path_without_product_and_another_method_are_said_in_a_sentence(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        nothing = await home.get("/api/x402-nothing.php")
        unpaid = await home.send(home.buyer.pay(), "/api/x402-nothing.php")
        posted = await home.client.post(REGIME)
        asked = await home.client.options(REGIME)

    assert nothing.json()["detail"] == unpaid.json()["detail"] == "No product is sold at this path."
    assert (nothing.status_code, unpaid.status_code) == (404, 404)
    assert (posted.status_code, posted.json()["detail"]) == (405, "Use GET to buy, HEAD to look.")
    assert posted.headers["Allow"] == asked.headers["Allow"] == "GET, HEAD, OPTIONS"
    assert (asked.status_code, asked.headers["Vary"]) == (204, "PAYMENT-SIGNATURE, X-PAYMENT")


@in_loop
async def test_a_payment_in_another_version_s_header_is_refused_by_name(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answer = await home.get(x_payment="of version 1")
        repeated = await home.client.get(REGIME, headers=[("PAYMENT-SIGNATURE", "a"), ("PAYMENT-SIGNATURE", "b")])

    assert answer.json()["error"] == (
        "unsupported_x402_version: send the payment in PAYMENT-SIGNATURE, as x402 version 2 does"
    )
    assert repeated.json()["error"] == "payment_header_repeated: send PAYMENT-SIGNATURE once"


@in_loop
async def test_without_a_quote_the_reason_is_a_sentence_and_a_time(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=None) as home:
        empty = await home.get()
        fault = home.state.vault.fault()
    upstream = FakeUpstream(DEVNET.full)
    upstream.supported = 500
    async with gateway_app(tmp_path, upstream=upstream) as home:
        offline = await home.get()

    assert (empty.status_code, empty.headers["Retry-After"]) == (503, "5")
    assert (offline.status_code, offline.headers["Retry-After"]) == (503, "5")
    assert fault is not None
    assert empty.json()["detail"] == f"{fault[0].upper()}{fault[1:]}."
    assert offline.json()["detail"] == ("The facilitator gave no good answer lately, or does not offer this network.")


@in_loop
async def test_a_vault_whose_challenges_are_not_made_yet_is_503_at_every_door(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=None) as home:
        write_vault(tmp_path / "vault")
        await home.state.vault.refresh()

        answer, ready = await home.get(), await home.get("/readyz")

    said = (answer.status_code, answer.json()["detail"], answer.headers["retry-after"])
    assert said == (503, "The quotes of the newest data are being made.", "5")
    assert (ready.status_code, ready.json()["reasons"]) == (503, ["the quotes of the newest data are being made"])


@pytest.mark.parametrize(
    ("reason", "payer", "signed", "network"),
    [(None, "P" * 58, None, DEVNET.full), (None, "P" * 58, "a.b.c", MAINNET.caip2), ("refused", None, None, "é")],
)
def test_the_header_is_the_one_that_the_official_library_writes(
    reason: str | None, payer: str | None, signed: str | None, network: str
) -> None:
    official = SettleResponse(
        success=reason is None,
        error_reason=reason,
        payer=payer,
        transaction=SETTLED.txid,
        network=network,
        extensions=None if signed is None else extension_of(signed),
        extra=None if network in MAINNET.forms else PLAY_MONEY,
    )

    written = _receipt(network, SETTLED.txid, payer, reason, signed)

    assert written == {"payment-response": encode_payment_response_header(official)}
