"""The Arena page in a browser: a wallet signs a ballot, and the file that is offered counts."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="missing: playwright (pip install playwright)")

from algosdk import encoding
from algosdk.account import address_from_private_key
from algosdk.atomic_transaction_composer import AccountTransactionSigner
from playwright.sync_api import Browser, Page

from generator.arena.address import default_address
from generator.arena.ballots import BallotFile, Poll, judge
from generator.arena.life import schedule_round
from generator.arena.schedule import Slot
from generator.catalog.words import Prediction, RoundPhase
from tests.arena.worlds import GENESIS, HOUR, voter
from tests.outside.site_pages import CHROMIUM, a_browser, a_market

pytestmark = [
    pytest.mark.outside,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not CHROMIUM.exists(), reason="missing: chromium (apt install chromium)"),
]
PROVIDER = """
globalThis.algorand = {
  enable: async (asked) => ({ genesisHash: asked.genesisHash, accounts: ["%s"] }),
  signTxns: async (list) => [await signWith(list[0].txn)],
};
"""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with a_market(tmp_path_factory.mktemp("vote")) as at:
        yield at


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as running:
        yield running


def sign(unsigned: str) -> str:
    """Sign as a wallet does: what it was given, read by the official SDK."""
    return signed(encoding.msgpack_decode(unsigned))


def signed(transaction: Any) -> str:
    (made,) = AccountTransactionSigner(voter(0)).sign_transactions([transaction], [0])
    return str(encoding.msgpack_encode(made))


def arena(browser: Browser, origin: str, signer: Any = sign) -> tuple[Page, list[str]]:
    page = browser.new_context(accept_downloads=True).new_page()
    elsewhere: list[str] = []
    page.on("request", lambda asked: None if asked.url.startswith((origin, "blob:")) else elsewhere.append(asked.url))
    page.expose_function("signWith", signer)
    page.add_init_script(PROVIDER % address_from_private_key(voter(0)))
    page.goto(f"{origin}/arena/")
    return page, elsewhere


def test_a_wallet_signs_a_ballot_that_holds_with_the_verifier_and_nobody_else_is_asked(
    origin: str, browser: Browser
) -> None:
    page, elsewhere = arena(browser, origin)
    page.get_by_role("button", name="BEARISH").click()
    link = page.get_by_role("link", name="Download the ballot")
    link.wait_for()
    with page.expect_download() as coming:
        link.click()

    name = coming.value.suggested_filename
    round_id = name.removesuffix("-BEARISH.ballot")
    data = Path(coming.value.path()).read_bytes()
    start = 2_000_000_000_000 // HOUR * HOUR  # some hour to come
    taking = schedule_round(Slot(start, start + HOUR), (round_id.partition("-")[0],), opens_ms=0, warm_up=False)
    poll = Poll(
        default_address(), GENESIS, {round_id: replace(taking, round_id=round_id, phase=RoundPhase.OPEN)}, start - 1
    )
    verdicts, ballots = judge([BallotFile(name, data, 1)], poll, lambda _: frozenset())
    assert [verdict.reason for verdict in verdicts] == [None]
    assert (ballots[0].voter, ballots[0].choice) == (address_from_private_key(voter(0)), Prediction.BEARISH)
    assert elsewhere == []


def test_a_wallet_that_declines_or_changes_the_ballot_is_said_and_no_file_is_offered(
    origin: str, browser: Browser
) -> None:
    def other(unsigned: str) -> str:
        transaction = encoding.msgpack_decode(unsigned)
        transaction.fee = 1_000
        return signed(transaction)

    page, _ = arena(browser, origin, other)
    page.get_by_role("button", name="BULLISH").click()
    page.get_by_text("The wallet changed the ballot").wait_for()
    page.evaluate(
        "() => { algorand.signTxns = async () => { throw Object.assign(new Error('no'), { code: 4001 }); }; }"
    )
    page.get_by_role("button", name="BULLISH").click()
    page.get_by_text("You declined in the wallet").wait_for()

    assert page.get_by_role("link", name="Download the ballot").count() == 0


def test_without_a_wallet_it_is_said(origin: str, browser: Browser) -> None:
    page, _ = arena(browser, origin)
    page.evaluate("() => { delete globalThis.algorand; }")
    page.get_by_role("button", name="NEUTRAL").click()

    page.get_by_text("No wallet of this kind is in this browser").wait_for()


def test_where_scripts_are_off_the_page_is_whole_without_it(origin: str, browser: Browser) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{origin}/arena/")

    assert page.get_by_role("button").count() == 0
    assert page.get_by_text("From the command line").count() == 1


def test_the_ballot_is_canonical_msgpack(origin: str, browser: Browser) -> None:
    seen: list[str] = []

    def noted(unsigned: str) -> str:
        seen.append(unsigned)
        return sign(unsigned)

    page, _ = arena(browser, origin, noted)
    page.get_by_role("button", name="NEUTRAL").click()
    page.get_by_role("link", name="Download the ballot").wait_for()

    again = encoding.msgpack_encode(encoding.msgpack_decode(seen[0]))
    assert base64.b64decode(seen[0]) == base64.b64decode(again)
