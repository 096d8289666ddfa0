"""The vote in a browser: one tap with a key of the browser, or a wallet; kept, counted and scored."""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from algosdk import encoding
from algosdk.account import address_from_private_key
from algosdk.atomic_transaction_composer import AccountTransactionSigner

from generator.record.audit.recount import path_of
from tests.outside.buyer_shop import ARC0001, ARC0027, LUTE_PAGE, provider
from tests.outside.site_pages import BROWSED, WITHOUT_DATE, Browser, BrowserContext, Page, Route, expect
from tests.support.arena_inputs import voter
from tests.support.process_clock import ProcessClock
from tests.support.processes import Running, emi_up, get

pytestmark = BROWSED
SOON_MS = 30_000
CONSENSUS = "/api/human-consensus.php"
RELAY = "**/x402-buyer/ballot*"
VOTER = address_from_private_key(voter(0))
SIGNS = provider(ARC0001, VOTER)
METHODS = ["enable", "sign_transactions"]
SIGNS_0027 = provider(ARC0027, VOTER, methods=METHODS)
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
    """A page with the vote, and what it asked of others."""

    context: BrowserContext
    page: Page
    elsewhere: list[str]
    errors: list[str]

    def tap(self, answer: str) -> None:
        self.page.locator("#votes").get_by_role("button", name=answer).click()

    def said(self, words: str | re.Pattern[str]) -> str:
        """Wait for what a voter reads under the buttons."""
        place = self.page.locator("#vote-state")
        expect(place).to_contain_text(words, timeout=SOON_MS)
        return place.inner_text()

    def with_wallet(self, answer: str, wallet: str, way: str = "free") -> None:
        self.page.get_by_text("Vote with a wallet").click()
        self.page.select_option("#vote-wallet", wallet)
        self.page.select_option("#vote-way", way)
        self.page.locator("#wallet-vote").get_by_role("button", name=answer).click()

    def state(self, wanted: str) -> str:
        expect(self.page.locator("#wallet-vote")).to_have_attribute("data-state", wanted, timeout=SOON_MS)
        return self.page.locator("#wallet-vote [role=status]").inner_text()

    def later(self, market: Market) -> None:
        """Come back at the time of the service, in a new page: the order of two scripts of one page is undefined."""
        path = self.page.url
        self.page.close()
        self.page = opened(self.context, shifted(market), self.errors)
        self.page.goto(path)


def shifted(market: Market) -> str:
    return f"{{ window.real ??= Date.now; Date.now = () => window.real() + {market.clock.seconds * 1000}; }}"


def arena(browser: Browser, market: Market, script: str = "", *, scripts: bool = True) -> Arena:
    context = browser.new_context(java_script_enabled=scripts)
    elsewhere: list[str] = []
    errors: list[str] = []
    own = (market.origin, "https://lute.app/")
    context.on("request", lambda asked: None if asked.url.startswith(own) else elsewhere.append(asked.url))
    context.expose_function("signWith", sign)
    context.route("https://lute.app/**", lambda route: route.fulfill(body=LUTE, content_type="text/html"))
    page = opened(context, shifted(market) + script, errors)
    page.goto(f"{market.origin}/arena/")
    return Arena(context, page, elsewhere, errors)


def opened(context: BrowserContext, script: str, errors: list[str]) -> Page:
    """Return a new page that runs `script` before its own, and adds what its console reports to `errors`."""
    page = context.new_page()
    page.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)
    page.set_default_timeout(SOON_MS)
    page.add_init_script(script)
    return page


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


def test_a_wallet_votes_free_or_on_chain_and_asks_its_own_origin_alone(market: Market, browser: Browser) -> None:
    market.fund(VOTER)
    for script, wallet, way in ((SIGNS, "arc0001", "free"), (SIGNS_0027, "arc0027", "chain"), ("", "devnet", "chain")):
        at = arena(browser, market, script)
        at.with_wallet("Small move", wallet, way)

        assert "Sent: transaction" in at.state("sent")
        at.said("You said “a small move a little more likely” for BTC")
        assert at.elsewhere == []


def test_lute_asks_in_a_window_each_time(market: Market, browser: Browser) -> None:
    at = arena(browser, market)
    at.with_wallet("Up", "lute")
    at.state("press")
    at.page.get_by_role("button", name="Sign", exact=True).click()

    at.state("sent")


def test_a_wallet_that_does_not_answer_is_waited_for_no_longer_than_wanted(market: Market, browser: Browser) -> None:
    at = arena(browser, market, SIGNS)
    at.page.evaluate("() => { algorand.signTxns = () => new Promise(() => {}); }")
    at.with_wallet("Up", "arc0001")
    at.state("signing")
    at.page.get_by_role("button", name="Stop waiting").click()

    expect(at.page.locator("#wallet-vote [role=status]")).to_contain_text("stopped waiting")
    assert at.page.locator("#wallet-vote").get_by_role("button", name="Down").is_enabled()


@pytest.mark.parametrize(
    ("script", "wallet", "state"),
    [
        (provider(ARC0027, VOTER, hash="anotherHash=", methods=METHODS), "arc0027", "wrong-network"),
        ("", "arc0001", "missing"),
    ],
)
def test_a_wallet_of_another_network_and_none_at_all_are_said(
    market: Market, browser: Browser, script: str, wallet: str, state: str
) -> None:
    at = arena(browser, market, script)
    at.with_wallet("Up", wallet)

    at.state(state)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((503, "off"), "The free vote is off on this site."),
        ((404, ""), "The free vote is off on this site."),
        ((400, "locked"), "Too late"),
        ((429, "too_many"), "20 free ballots"),
        (None, "does not answer"),
    ],
)
def test_why_a_vote_is_not_taken_is_said(market: Market, browser: Browser, answer: Any, words: str) -> None:
    def refuse(route: Route) -> None:
        body = {"reason": answer[1], "detail": "20 free ballots came from here."} if answer else {}
        route.fulfill(status=answer[0], json=body) if answer else route.abort()

    at = arena(browser, market)
    at.context.route(RELAY, refuse)
    at.tap("Up")

    at.said(words)
    expect(at.page.locator("#vote-up")).to_have_attribute("aria-pressed", "false")


def test_where_the_free_vote_is_off_the_page_says_so_before_a_press(market: Market, browser: Browser) -> None:
    at = arena(browser, market)
    at.context.route(RELAY, lambda route: route.fulfill(json={"free_vote": "off"}))
    at.page.locator("#vote-up").hover()

    at.said("The free vote is off on this site.")


def test_a_full_round_is_said_before_a_press_with_when_to_come_again(market: Market, browser: Browser) -> None:
    full = {"free_vote": "full", "reason": "full", "detail": "The places that are left are kept until 12:55 UTC."}
    at = arena(browser, market)
    at.context.route(RELAY, lambda route: route.fulfill(json=full))
    at.page.locator("#vote-up").hover()

    at.said("kept until 12:55 UTC")
    assert at.page.locator("#vote-up").is_enabled()  # a voter of earlier rounds has a place


@pytest.mark.parametrize("reason", ["off", "stale"])
def test_a_service_that_stopped_is_not_called_off_and_counts_nothing_down(
    market: Market, browser: Browser, reason: str
) -> None:
    stopped = {"free_vote": "off", "reason": reason, "detail": "The service has stopped: since 12:03 UTC."}
    late = f"Date.now = () => window.real() + {(market.clock.seconds + 900) * 1000};"
    at = arena(browser, market, late + WITHOUT_DATE)
    at.page.wait_for_function("() => document.body.classList.contains('is-stale')")
    at.context.route(RELAY, lambda route: route.fulfill(json=stopped))
    at.page.locator("#vote-up").hover()

    assert "off on this site" not in at.said("service has stopped")
    expect(at.page.locator("#vote-part [data-countdown]")).to_have_text("stopped")
    expect(at.page.locator("#live-part [data-countdown]")).to_have_text("stopped")


def test_up_down_up_are_three_ballots_and_up_again_is_none(market: Market, browser: Browser) -> None:
    at = arena(browser, market)
    changes: list[str] = []
    at.page.on("request", lambda asked: changes.extend(re.findall("change=([0-9]+)", asked.url)))
    for answer in ("Up", "Down", "Up", "Up"):
        at.tap(answer)
        at.said(f"You said “a little more likely {answer.lower()}”")
        expect(at.page.locator("#votes button[aria-disabled]")).to_have_count(0)

    txids = at.page.evaluate("() => JSON.parse(localStorage.getItem('emi-votes')).map((one) => one.txid)")
    assert (changes, len(txids)) == (["0", "1", "2", "2"], 1)
    assert at.errors == []


def test_chances_of_one_s_own_are_set_by_keyboard_and_always_add_up(market: Market, browser: Browser) -> None:
    at = arena(browser, market)
    sent: list[str] = []
    at.page.on("request", lambda asked: sent.extend(re.findall("chances=([0-9%C,]+)", asked.url)))
    at.page.locator("#own-chances summary").focus()
    at.page.keyboard.press("Enter")
    at.page.keyboard.press("Tab")
    for _ in range(15):
        at.page.keyboard.press("ArrowRight")

    shown = [at.page.locator(f"#own-{side}-said").inner_text() for side in ("up", "even", "down")]
    assert shown[0] == "55%"
    assert sum(int(chance.rstrip("%")) for chance in shown) == 100
    at.page.locator("#own-send").press("Enter")
    at.said(f"You gave BTC up {shown[0]}, small move {shown[1]}, down {shown[2]}")
    assert sent == ["%2C".join(chance.rstrip("%") for chance in shown)]
    expect(at.page.locator("#vote-up")).to_have_attribute("aria-pressed", "false")


def test_a_round_from_before_chances_is_voted_in_by_the_word_of_the_button(market: Market, browser: Browser) -> None:
    def words_alone(route: Route) -> None:
        if "chances=" in route.request.url:
            route.fulfill(status=400, json={"reason": "words_alone", "detail": "It takes a word alone."})
        else:
            route.continue_()

    at = arena(browser, market)
    at.context.route(RELAY, words_alone)
    at.tap("Down")

    at.said("You said down for BTC,")


NO_ED25519 = "crypto.subtle.generateKey = async () => { throw new Error('no'); };"
NO_KEY = NO_ED25519 + "crypto.getRandomValues = () => { throw new Error('no'); };"


def test_a_browser_without_ed25519_votes_by_a_script_of_the_page(market: Market, browser: Browser) -> None:
    at = arena(browser, market, NO_ED25519)
    at.tap("Down")

    at.said("You said “a little more likely down” for BTC")


def test_a_browser_that_cannot_make_a_key_names_the_other_ways(market: Market, browser: Browser) -> None:
    at = arena(browser, market, NO_KEY)
    at.tap("Down")

    assert "wallet or from the command line" in at.said("cannot make the key")


def test_the_answer_to_a_press_stays_when_the_site_answers_late(market: Market, browser: Browser) -> None:
    at = arena(browser, market, NO_KEY)
    waiting: list[Route] = []
    at.context.route(RELAY, lambda route: waiting.append(route))  # noqa: PLW0108 (Playwright marks its handlers)
    at.tap("Down")
    at.said("cannot make the key")

    with at.page.expect_response(RELAY):
        waiting[0].fulfill(json={"free_vote": "on"})
    at.page.wait_for_timeout(200)

    assert "cannot make the key" in at.said("key")


def test_where_scripts_are_off_the_page_says_how_else_to_vote(market: Market, browser: Browser) -> None:
    at = arena(browser, market, scripts=False)

    assert at.page.locator("#votes button:disabled").count() == 3
    assert at.page.get_by_text("emi vote up").count() > 0


def test_one_tap_is_kept_over_a_reload_counted_and_scored(market: Market, browser: Browser) -> None:
    at = arena(browser, market)
    target = consensus(market)["open_round"]["round_id"]
    at.tap("Down")
    at.said("You said “a little more likely down” for BTC")
    at.page.reload()
    at.tap("Up")
    at.said("You said “a little more likely up” for BTC")
    at.later(market)
    assert "It is counted when votes close" in at.said("You said “a little more likely up” for BTC")
    expect(at.page.locator("#vote-up")).to_have_attribute("aria-pressed", "true")

    market.clock.go_to(59 * 60 + 50)  # just before the lock
    wait_for(market, CONSENSUS, lambda found: (found["round"] or {}).get("round_id") == target)
    ballots = json.loads(get(market.origin + path_of(target))[2])["ballots"]
    assert "BULLISH" in [row["choice"] for row in ballots]
    at.later(market)
    expect(at.page.locator("#my-votes")).to_contain_text("You said “a little more likely up” for BTC", timeout=SOON_MS)
    expect(at.page.locator("#my-votes")).to_contain_text("Counted. The result follows at", timeout=SOON_MS)

    market.clock.go_to(59 * 60 + 50)
    wait_for(market, "/arena/rounds.json", lambda found: found["rounds"][0]["round_id"] == target)
    at.later(market)
    result = at.page.locator("#my-votes .result")
    verdict = re.compile("(Better|Worse) than the base rate|As good as the base rate|Void round")
    expect(result).to_contain_text(verdict, timeout=SOON_MS)
    expect(result).to_contain_text(re.compile(r"You \d\.\d{3}The brain \d\.\d{3}The base rate \d\.\d{3}|Void"))
    expect(result).to_contain_text(re.compile(r"The brain (made no call|called .*: (right|wrong))|void"))
    assert result.bounding_box() is not None
    assert at.errors == []
