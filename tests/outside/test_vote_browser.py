"""The Arena page in a browser: a wallet signs a ballot, which is submitted or taken as a file, and counts."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from algosdk import encoding
from algosdk.account import address_from_private_key
from algosdk.atomic_transaction_composer import AccountTransactionSigner

from gateway.wire.algorand import DEMO_ARENA
from generator.arena.ballots import BallotFile, Poll, judge
from generator.arena.life import schedule_round
from generator.arena.timetable import Slot
from generator.catalog.words import Prediction, RoundPhase
from generator.record.audit.recount import path_of
from tests.outside.buyer_shop import ARC0001, ARC0027, LUTE_PAGE, provider
from tests.outside.site_pages import BROWSED, Browser, BrowserContext, Page, Route, expect
from tests.support.arena_inputs import GENESIS, HOUR, voter
from tests.support.process_clock import ProcessClock
from tests.support.processes import Running, emi_up, get

pytestmark = BROWSED
SOON_MS = 30_000
CONSENSUS = "/api/human-consensus.php"
RELAY = "**/x402-buyer/ballot*"
VOTER = address_from_private_key(voter(0))
SIGNS = provider(ARC0001, VOTER)
POSTS = provider(ARC0001, VOTER, posts=True)
METHODS = ["enable", "sign_transactions"]
SIGNS_0027 = provider(ARC0027, VOTER, methods=METHODS)
POSTS_0027 = provider(ARC0027, VOTER, methods=[*METHODS, "post_transactions"])
LUTE = LUTE_PAGE.replace("ADDRESS", json.dumps(VOTER)).replace("PLAN", '"sign"')


@dataclass
class Market:
    """A service whose clock is well inside an hour."""

    up: Running
    clock: ProcessClock

    @property
    def origin(self) -> str:
        return self.up.origin

    def fund(self, address: str) -> None:
        host, port = self.origin.rsplit(":", 1)
        assert get(f"{host}:{int(port) + 1}/wallet/fund?address={address}")[0] == 200


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    folder = tmp_path_factory.mktemp("vote")
    clock = ProcessClock(folder)
    clock.go_to(20 * 60)
    with emi_up(folder, EMI_STATE_DIR=str(folder / "state"), **clock.environment) as up:
        up.wait_answer("/track-record/", within_s=200)
        up.wait_text("is up:", within_s=200)
        yield Market(up, clock)


def sign(unsigned: str) -> str:
    """Sign as a wallet does: what it was given, read by the official SDK."""
    return signed(encoding.msgpack_decode(unsigned))


def signed(transaction: Any, by: int = 0) -> str:
    (made,) = AccountTransactionSigner(voter(by)).sign_transactions([transaction], [0])
    return str(encoding.msgpack_encode(made))


@dataclass
class Arena:
    """The Arena page before a wallet, and what it asked of others."""

    context: BrowserContext
    page: Page
    elsewhere: list[str]
    posted: list[str]

    def state(self, wanted: str) -> str:
        """Wait for a state by its name and return what a visitor reads."""
        expect(self.page.locator("#wallet-vote")).to_have_attribute("data-state", wanted, timeout=SOON_MS)
        return self.page.locator("#wallet-vote [role=status]").inner_text()

    def press(self, button: str) -> None:
        self.page.get_by_role("button", name=button, exact=True).click()

    def submit(self, wanted: str = "submitted") -> str:
        """Sign BULLISH, press Submit, and return what is said then."""
        self.press("BULLISH")
        self.state("signed")
        self.press("Submit")
        return self.state(wanted)

    def relay(self, answer: Callable[[Route], None] | None, terms: Callable[[Route], None] | None = None) -> None:
        """Answer for this site's gateway: None lets the real one answer."""

        def route(asked: Route) -> None:
            instead = answer if "x-ballot" in asked.request.headers else terms
            (instead or Route.continue_)(asked)

        self.context.route(RELAY, route)


def arena(
    browser: Browser,
    market: Market,
    script: str = SIGNS,
    *,
    signer: Any = sign,
    post: Any = None,
    wallet: str = "arc0001",
    scripts: bool = True,
) -> Arena:
    context = browser.new_context(accept_downloads=True, java_script_enabled=scripts)
    elsewhere: list[str] = []
    posted: list[str] = []
    own = (market.origin, "blob:", "https://lute.app/")
    context.on("request", lambda asked: None if asked.url.startswith(own) else elsewhere.append(asked.url))
    context.expose_function("signWith", signer)

    def keep(ballot: str) -> None:
        posted.append(ballot)

    context.expose_function("postWith", post or keep)
    context.route("https://lute.app/**", lambda route: route.fulfill(body=LUTE, content_type="text/html"))
    page = context.new_page()
    page.set_default_timeout(SOON_MS)
    shift = market.clock.seconds * 1000
    page.add_init_script(f"{{ const real = Date.now; Date.now = () => real() + {shift}; }}")
    page.add_init_script(script)
    page.goto(f"{market.origin}/arena/")
    if scripts:
        page.select_option("#vote-wallet", wallet)
    return Arena(context, page, elsewhere, posted)


def problem(status: int, **members: Any) -> Callable[[Route], None]:
    return lambda route: route.fulfill(
        status=status, body=json.dumps(members), headers={"content-type": "application/problem+json"}
    )


def cut(route: Route) -> None:
    route.abort()


def verdict(name: str, data: bytes) -> tuple[str | None, Any]:
    """Judge a ballot file as the generator does."""
    round_id = name.rpartition("-")[0]
    start = 2_000_000_000_000 // HOUR * HOUR  # some hour to come
    taking = schedule_round(Slot(start, start + HOUR), (round_id.partition("-")[0],), opens_ms=0, warm_up=False)
    rounds = {round_id: replace(taking, round_id=round_id, phase=RoundPhase.OPEN)}
    verdicts, ballots = judge(
        [BallotFile(name, data, 1)], Poll(DEMO_ARENA, GENESIS, rounds, start - 1), lambda _: frozenset()
    )
    return verdicts[0].reason, ballots[0] if ballots else None


def saved(at: Arena) -> tuple[str, bytes]:
    link = at.page.get_by_role("link", name="Download the ballot")
    with at.page.expect_download() as coming:
        link.click()
    return coming.value.suggested_filename, Path(coming.value.path()).read_bytes()


def consensus(market: Market) -> Any:
    return json.loads(get(market.origin + CONSENSUS)[2])


def wait_for(market: Market, path: str, wanted: Callable[[Any], bool]) -> Any:
    until = time.monotonic() + 240
    while time.monotonic() < until:
        status, _, data = get(market.origin + path)
        if status == 200 and wanted(found := json.loads(data)):
            return found
        time.sleep(0.5)
    raise AssertionError(f"{path} did not come to it:\n{market.up.text()}")


# With this site's gateway: the ballot is submitted


@pytest.mark.parametrize(
    ("script", "wallet"), [(SIGNS, "arc0001"), (SIGNS_0027, "arc0027")], ids=["arc0001", "arc0027"]
)
def test_a_wallet_signs_and_the_page_submits_to_its_own_origin_alone(
    market: Market, browser: Browser, script: str, wallet: str
) -> None:
    market.fund(VOTER)
    at = arena(browser, market, script, wallet=wallet)
    words = at.submit()

    assert f"BULLISH in {consensus(market)['open_round']['round_id']}" in words
    assert "Transaction " in words
    assert (at.elsewhere, at.posted) == ([], [])
    assert not at.page.get_by_role("button", name="Submit", exact=True).is_visible()


def test_lute_asks_in_a_window_each_time_and_the_ballot_is_submitted(market: Market, browser: Browser) -> None:
    market.fund(VOTER)
    at = arena(browser, market, "", wallet="lute")
    at.press("NEUTRAL")
    at.state("press")
    at.press("Sign")
    at.state("signed")
    at.press("Submit")

    assert "NEUTRAL" in at.state("submitted")
    assert at.elsewhere == []


def test_from_the_page_by_the_devnet_s_wallet_to_the_published_ballots(market: Market, browser: Browser) -> None:
    at = arena(browser, market, "", wallet="devnet")
    target = consensus(market)["open_round"]["round_id"]
    words = at.submit()
    assert target in words
    market.clock.go_to(59 * 60 + 50)  # just before the lock
    body = wait_for(market, path_of(target), lambda found: bool(found["ballots"]))
    live = wait_for(market, CONSENSUS, lambda found: (found["round"] or {}).get("round_id") == target)

    assert live["human_consensus"]["total"] - live["simulated_votes"] == len(body["ballots"])
    mine = [row for row in body["ballots"] if row["txid"] in words]
    assert [row["choice"] for row in mine] == ["BULLISH"]


# What can go wrong after signing


def test_a_round_that_locked_meanwhile_is_too_late_and_nothing_is_sent(market: Market, browser: Browser) -> None:
    market.fund(VOTER)
    at = arena(browser, market)
    asked: list[str] = []
    at.context.on("request", lambda one: asked.append(one.url) if "x-ballot" in one.headers else None)
    at.press("BULLISH")
    at.state("signed")
    at.page.evaluate("() => { const now = Date.now; Date.now = () => now() + 7200000; }")
    at.press("Submit")

    assert "Too late" in at.state("too-late")
    assert (asked, at.posted) == ([], [])
    assert not at.page.get_by_role("link", name="Download the ballot").is_visible()


@pytest.mark.parametrize("reason", ["locked", "expired"])
def test_a_gateway_that_says_too_late_is_believed(market: Market, browser: Browser, reason: str) -> None:
    market.fund(VOTER)
    at = arena(browser, market)
    at.relay(problem(400, reason=reason, detail="Votes are closed."))

    assert "Too late" in at.submit("too-late")


@pytest.mark.parametrize("reason", ["refused", "too_little_algo", "rekeyed", "no_ballot"])
def test_what_the_network_refuses_is_said_and_the_file_is_left(market: Market, browser: Browser, reason: str) -> None:
    market.fund(VOTER)
    at = arena(browser, market, POSTS)
    at.relay(problem(400, reason=reason, detail="The network said no."))

    assert "Not submitted. The network said no." in at.submit("refused")
    assert at.posted == []
    assert verdict(*saved(at))[0] is None


@pytest.mark.parametrize(
    ("script", "wallet"), [(POSTS, "arc0001"), (POSTS_0027, "arc0027")], ids=["arc0001", "arc0027"]
)
@pytest.mark.parametrize("fault", ["down", "cut"])
def test_where_this_site_s_way_fails_a_wallet_that_can_submit_does(
    market: Market, browser: Browser, script: str, wallet: str, fault: str
) -> None:
    market.fund(VOTER)
    at = arena(browser, market, script, wallet=wallet)
    at.relay(problem(503, reason="no_node", detail="No answer.") if fault == "down" else cut)

    assert "The wallet submitted it to the network." in at.submit()
    assert verdict("BTC-X-BULLISH", at.posted[0].encode())[0] == "no such round takes votes"  # signed, and whole


def test_where_no_one_can_submit_it_is_said_and_a_second_try_goes_through(market: Market, browser: Browser) -> None:
    market.fund(VOTER)
    at = arena(browser, market)
    at.relay(cut)
    words = at.submit("offline")
    at.context.unroute(RELAY)
    at.press("Submit")

    assert "does not answer" in words
    assert "cannot count twice" in words
    at.state("submitted")


def test_a_wallet_that_fails_to_submit_is_named(market: Market, browser: Browser) -> None:
    def fails(_: str) -> None:
        raise ValueError("out of reach")

    market.fund(VOTER)
    at = arena(browser, market, POSTS, post=fails)
    at.relay(problem(503, reason="busy", detail="Too many."))

    assert "out of reach" in at.submit("unsure")


# Where it cannot be submitted: a ballot that no one ever can submit, as a file


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        (problem(404), "does not submit ballots"),
        (problem(503, reason="no_node", detail="Ballots cannot be handed on now: no node."), "no node"),
        (cut, "does not answer"),
        (lambda route: route.fulfill(body="<html>"), "different Arenas"),
        (lambda route: route.fulfill(json={"genesis_hash": "x", "arena": "y"}), "different Arenas"),
    ],
    ids=["static site", "no node", "cut", "html", "another arena"],
)
def test_without_a_way_to_submit_a_free_ballot_is_signed_and_offered_as_a_file(
    market: Market, browser: Browser, terms: Any, why: str
) -> None:
    at = arena(browser, market)
    at.relay(None, terms)
    at.press("BEARISH")

    assert why in at.state("signed")
    assert not at.page.get_by_role("button", name="Submit", exact=True).is_visible()
    name, data = saved(at)
    reason, ballot = verdict(name, data)
    assert (reason, ballot.voter, ballot.choice) == (None, VOTER, Prediction.BEARISH)
    transaction = encoding.msgpack_decode(data.decode().strip()).transaction
    assert (transaction.fee, transaction.last_valid_round) == (0, 1)


def test_an_account_that_cannot_pay_the_fee_gets_the_free_file(market: Market, browser: Browser) -> None:
    def poor(unsigned: str) -> str:
        return signed(encoding.msgpack_decode(unsigned), 7)

    at = arena(browser, market, provider(ARC0001, address_from_private_key(voter(7))), signer=poor)
    at.press("BULLISH")

    assert "cannot pay the fee" in at.state("signed")
    assert not at.page.get_by_role("button", name="Submit", exact=True).is_visible()
    assert verdict(*saved(at))[0] is None


# The wallet


@pytest.mark.parametrize(
    ("code", "words"),
    [(4001, "You declined in the wallet"), (4002, "did not answer in time"), (4100, "no such account")],
)
def test_a_wallet_s_fault_is_said_and_no_file_is_offered(
    market: Market, browser: Browser, code: int, words: str
) -> None:
    at = arena(browser, market)
    script = "(code) => { algorand.signTxns = async () => { throw Object.assign(new Error('no such account'), { code }); }; }"
    at.page.evaluate(script, code)
    at.press("BULLISH")

    at.page.get_by_text(words).wait_for()
    assert not at.page.get_by_role("link", name="Download the ballot").is_visible()


def test_a_wallet_that_changes_the_ballot_is_said(market: Market, browser: Browser) -> None:
    def other(unsigned: str) -> str:
        transaction = encoding.msgpack_decode(unsigned)
        transaction.fee += 1_000
        return signed(transaction)

    at = arena(browser, market, signer=other)
    at.press("BULLISH")

    at.page.get_by_text("The wallet changed the ballot").wait_for()
    assert not at.page.get_by_role("link", name="Download the ballot").is_visible()


@pytest.mark.parametrize(
    ("script", "wallet", "state"),
    [
        (provider(ARC0027, VOTER, hash="anotherHash=", methods=METHODS), "arc0027", "wrong-network"),
        ("", "arc0001", "missing"),
        ("", "arc0027", "missing"),
    ],
)
def test_a_wallet_of_another_network_and_none_at_all_are_said(
    market: Market, browser: Browser, script: str, wallet: str, state: str
) -> None:
    at = arena(browser, market, script, wallet=wallet)
    at.press("BULLISH")

    at.state(state)


def test_where_scripts_are_off_the_page_is_whole_without_it(market: Market, browser: Browser) -> None:
    at = arena(browser, market, scripts=False)

    assert at.page.get_by_role("button").count() == 0
    assert at.page.get_by_text("From the command line").count() == 1


@pytest.mark.parametrize("funded", [True, False], ids=["with terms", "without"])
def test_the_ballot_is_canonical_msgpack(market: Market, browser: Browser, funded: bool) -> None:
    seen: list[str] = []

    def noted(unsigned: str) -> str:
        seen.append(unsigned)
        return sign(unsigned)

    market.fund(VOTER)
    at = arena(browser, market, signer=noted)
    at.relay(None, None if funded else problem(404))
    at.press("NEUTRAL")
    at.state("signed")

    transaction = encoding.msgpack_decode(seen[0])
    assert base64.b64decode(seen[0]) == base64.b64decode(encoding.msgpack_encode(transaction))
    assert transaction.fee == (1_000 if funded else 0)
    assert transaction.last_valid_round - transaction.first_valid_round <= 1_000
