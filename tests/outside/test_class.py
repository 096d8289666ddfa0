"""A class: thirty browsers behind one address of a local network, without https, each with a clock of its own."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from generator.record.audit.recount import path_of
from tests.outside.site_pages import BROWSED, Browser, Page, a_browser, expect
from tests.outside.test_vote_browser import Market, consensus, wait_for
from tests.support.ports import free_port
from tests.support.process_clock import ProcessClock
from tests.support.processes import get, running

NAME: Final = "class.test"
PUPILS: Final = 30
OFF_MS: Final = (-600_000, 0, 600_000)
"""How far the pupils' clocks are ahead: ten minutes behind, right, ten minutes ahead."""
ANSWERS: Final = ("vote-up", "vote-even", "vote-down")
ROUTER: Final = {"X-Forwarded-For": "192.0.2.7"}
"""Loopback is not counted; the address of the class's router is."""
SOON_MS: Final = 90_000
PRESS: Final = """([id, at]) => {
  setTimeout(() => document.getElementById(id).click(), at - window.real());
}"""
COUNTED: Final = """() => [
  document.querySelector('#vote-part [data-countdown]').textContent,
  Date.parse(document.querySelector('#vote-part [data-countdown]').dataset.countdown) - window.real(),
]"""
pytestmark = BROWSED


@pytest.fixture
def market(tmp_path: Path) -> Iterator[Market]:
    """A service on a plain name of the network, well inside an hour, behind a proxy that says who asks."""
    clock = ProcessClock(tmp_path)
    clock.go_to(20 * 60)
    port = free_port(and_next=1)
    settings = {
        "EMI_STATE_DIR": str(tmp_path / "state"),
        "EMI_BASE_URL": f"http://{NAME}:{port}",
        "EMI_SOURCE": "simulated",
        "EMI_NETWORK": "devnet",
        "EMI_PLAY": "true",
        "EMI_TRUSTED_PROXIES": "127.0.0.1",
    }
    loopback = f"http://127.0.0.1:{port}"
    with running(tmp_path, ["up", "--port", str(port)], loopback, **settings, **clock.environment) as up:
        up.wait_answer("/track-record/", within_s=200)
        up.wait_text("is up:", within_s=200)
        yield Market(up, clock)


@pytest.fixture
def browser() -> Iterator[Browser]:
    """A chromium that finds the name; a few processes share all pupils."""
    with a_browser(f"--host-resolver-rules=MAP {NAME} 127.0.0.1", "--renderer-process-limit=4") as made:
        yield made


def pupil(browser: Browser, market: Market, off_ms: int) -> Page:
    page = browser.new_context(extra_http_headers=ROUTER).new_page()
    page.set_default_timeout(SOON_MS)
    ahead = market.clock.seconds * 1000 + off_ms
    page.add_init_script(f"{{ window.real ??= Date.now; Date.now = () => window.real() + {ahead}; }}")
    page.goto(market.origin.replace("127.0.0.1", NAME) + "/arena/")
    return page


def press_together(pages: list[Page], turn: int) -> None:
    """Let every pupil press an answer in the same second, and wait until each reads what was said."""
    at = pages[0].evaluate("() => window.real() + 4000")
    for number, page in enumerate(pages):
        page.evaluate(PRESS, [ANSWERS[(number + turn) % 3], at])
    for number, page in enumerate(pages):
        chosen = page.locator(f"#{ANSWERS[(number + turn) % 3]}")
        expect(chosen).to_have_attribute("aria-pressed", "true", timeout=SOON_MS)
        expect(page.locator("#vote-state")).to_contain_text("It is counted when votes close", timeout=SOON_MS)


def said_by(page: Page) -> dict[str, Any]:
    (vote,) = page.evaluate("() => JSON.parse(localStorage.getItem('emi-votes'))")
    return dict(vote)


def test_thirty_pupils_vote_change_their_mind_and_are_all_counted(market: Market, browser: Browser) -> None:
    refused: Counter[int] = Counter()
    pages = [pupil(browser, market, OFF_MS[number % 3]) for number in range(PUPILS)]
    for page in pages:
        page.on("response", lambda answer: refused.update([answer.status] if "/ballot" in answer.url else []))
    assert pages[0].evaluate("() => [window.isSecureContext, typeof crypto.subtle]") == [False, "undefined"]
    target = consensus(market)["open_round"]["round_id"]

    for turn in range(3):
        press_together(pages, turn)

    for page in pages:
        page.wait_for_function("() => document.body.dataset.behind !== undefined")
        expect(page.locator("#stale")).to_be_hidden()
        page.wait_for_timeout(1_000)  # the next second is counted by the server's clock
        text, left_ms = page.evaluate(COUNTED)
        minutes, seconds = map(int, re.fullmatch(r"(\d+):(\d\d)", text).groups())  # type: ignore[union-attr]
        assert 60 * minutes + seconds == pytest.approx(left_ms / 1000 - market.clock.seconds, abs=4)

    market.clock.go_to(59 * 60 + 50)  # just before the lock
    wait_for(market, "/api/human-consensus.php", lambda found: (found["round"] or {}).get("round_id") == target)
    ballots = json.loads(get(market.origin + path_of(target))[2])["ballots"]
    assert {row["txid"] for row in ballots} >= {said_by(page)["txid"] for page in pages}
    assert sum(refused.values()) >= 6 * PUPILS

    teacher = pages[0]
    teacher.goto(f"{market.origin.replace('127.0.0.1', NAME)}/learn/practice/#class")
    teacher.locator("#class-round").click()
    expect(teacher.locator("#class-state")).to_contain_text(f"{len(ballots)} votes of {target}")
    expect(teacher.locator("#class-answers tbody tr")).to_have_count(len(ballots))
    print("answers to ballots by status:", dict(refused))
