"""The daily question and a voter's page in a browser: by keyboard alone, with the result, and the key as a file."""

import http.server
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import combinations
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from algosdk.encoding import encode_address

from gateway.wire.algorand import KEY_BYTES
from generator.arena.daily import ASSET, published_question, score
from generator.catalog.words import Prediction
from generator.record.memory.exports import VoterRow
from generator.site.files.voters import running_voters
from generator.site.pages.render import Pages
from generator.site.resources import Assets
from tests.outside.site_pages import BROWSED, Browser, BrowserContext, Page, expect
from tests.site.test_daily_page import LIVE, OPEN, OVER, VOID, seen
from tests.support.page_view import view

_MISSING = "missing: recurring-ical-events (pip install recurring-ical-events)"
icalendar = pytest.importorskip("icalendar", reason=_MISSING)
recurring_ical_events = pytest.importorskip("recurring_ical_events", reason=_MISSING)

VOTER = encode_address(bytes(range(KEY_BYTES)))
ENDS = (-120, -40, 35, 110)
KEPT = [
    {"question": OVER.question_id, "ends": {"low_90": -120, "low_50": -40, "high_50": 35, "high_90": 110}}
    | {"change": 0, "txid": "A", "counted": True}
]
pytestmark = BROWSED


def rows() -> list[VoterRow]:
    votes = [
        VoterRow(VOTER, f"BTC-20261101-{number:06d}", (60, 25, 15), str(came), brier, 0.66, 0.7)
        for number, (came, brier) in enumerate([(Prediction.BULLISH, 0.245), (Prediction.BEARISH, 1.145)] * 20)
    ]
    return [*votes, VoterRow(VOTER, OVER.question_id, ENDS, 1.5, score(ENDS, 1.5), 5.07, 4.7)]


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The pages of one release, and the files that their scripts read, as plain files."""
    folder = tmp_path_factory.mktemp("daily")
    price = view().ctx.seen[ASSET].price
    assert price is not None
    asked = (replace(OPEN, base_price=round(price, -1)), LIVE, OVER, VOID)
    questions = [published_question(question) for question in asked]
    files = {
        **Assets.load().files,
        **Pages().render(replace(view(), ctx=seen(*asked))),
        **running_voters(rows(), "2026-11", "live", ()),
        "/arena/daily.json": json.dumps({"questions": questions}).encode(),
        "/api/teacher-lessons.php": json.dumps({"leaderboard": {"places": []}}).encode(),
    }
    for path, content in files.items():
        file = folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def opened(context: BrowserContext, origin: str, path: str) -> Page:
    page = context.new_page()
    page.goto(origin + path)
    return page


@pytest.mark.parametrize("path", ["/", "/arena/daily/"])
def test_by_keys_alone_the_four_ends_are_set_and_stay_in_order(browser: Browser, origin: str, path: str) -> None:
    page = opened(browser.new_context(viewport={"width": 390, "height": 844}), origin, path)
    ends = page.get_by_role("slider")
    expect(ends).to_have_count(4)

    ends.nth(1).focus()
    page.keyboard.press("End")  # the inner band's low end, above both high ends

    values = [int(end.get_attribute("aria-valuenow") or 0) for end in ends.all()]
    most = int(ends.first.get_attribute("aria-valuemax") or 0)
    assert values[1:] == [most, most, most]
    assert values[0] < 0
    assert "$" in (ends.first.get_attribute("aria-valuetext") or "")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("path", ["/", "/arena/daily/"])
def test_a_band_is_dragged_to_a_price(browser: Browser, origin: str, path: str) -> None:
    page = opened(browser.new_context(viewport={"width": 390, "height": 844}), origin, path)
    column, end = page.locator(".daily-column"), page.locator("[data-end=high_90]")
    page.locator(".daily-column").scroll_into_view_if_needed()
    box, begin = column.bounding_box(), end.bounding_box()
    assert box is not None
    assert begin is not None
    before = int(end.get_attribute("aria-valuenow") or 0)

    page.mouse.move(begin["x"] + begin["width"] / 2, begin["y"] + begin["height"] / 2)
    page.mouse.down()
    page.mouse.move(begin["x"] + begin["width"] / 2, box["y"] + 0.1 * box["height"], steps=4)
    page.mouse.up()

    about = page.locator("#day-part").evaluate("part => ({...part.dataset})")
    low, high, base = (float(about[name]) for name in ("low", "high", "base"))
    asked = 10_000 * ((high - 0.1 * (high - low)) / base - 1)
    after = int(end.get_attribute("aria-valuenow") or 0)
    assert after > before
    assert after == pytest.approx(min(asked, int(about["most"])), abs=10)
    expect(page.locator("#daily-said")).to_contain_text(f"${base * (1 + after / 10_000):,.0f}")


@pytest.mark.parametrize("shut", [False, True])
def test_a_finger_has_room_on_every_end_of_the_bands(browser: Browser, origin: str, shut: bool) -> None:
    page = opened(browser.new_context(viewport={"width": 390, "height": 844}), origin, "/arena/daily/")
    ends = page.get_by_role("slider")
    if shut:
        ends.first.focus()
        page.keyboard.press("End")

    boxes = [box for end in ends.all() if (box := end.bounding_box())]

    assert len(boxes) == 4
    assert min(min(box["width"], box["height"]) for box in boxes) >= 24
    for one, other in combinations(boxes, 2):
        apart = min(one["x"] + one["width"], other["x"] + other["width"]) <= max(one["x"], other["x"]) + 0.5
        below = min(one["y"] + one["height"], other["y"] + other["height"]) <= max(one["y"], other["y"]) + 0.5
        assert apart or below


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Tokyo"])
def test_the_question_is_open_when_its_reminder_rings_all_year(
    browser: Browser, origin: str, tmp_path: Path, zone: str
) -> None:
    page = opened(browser.new_context(accept_downloads=True, timezone_id=zone), origin, "/arena/daily/")
    with page.expect_download() as saved:
        page.locator("#daily-remind").click()
    saved.value.save_as(tmp_path / "daily.ics")

    calendar = icalendar.Calendar.from_ical((tmp_path / "daily.ics").read_bytes())
    year = recurring_ical_events.of(calendar).between((2027, 1, 1), (2028, 1, 1))
    hours = {event.start.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).hour for event in year}

    assert len(year) == 365
    assert hours <= {13, 14}  # asked at 13:00, closed at 12:00 the next day


def test_an_answer_of_before_is_drawn_over_the_brains_and_the_truth(browser: Browser, origin: str) -> None:
    context = browser.new_context()
    context.add_init_script(f"localStorage.setItem('emi-daily', JSON.stringify({json.dumps(KEPT)}))")
    page = opened(context, origin, "/")

    bars = page.locator("#daily-mine-row rect")
    expect(bars).to_have_count(2)
    widths = [float(bar.get_attribute("width") or 0) for bar in bars.all()]
    assert widths[0] / widths[1] == pytest.approx(230 / 75, rel=0.01)


def test_an_answer_of_before_has_its_result_by_three_scores(browser: Browser, origin: str) -> None:
    context = browser.new_context()
    context.add_init_script(f"localStorage.setItem('emi-daily', JSON.stringify({json.dumps(KEPT)}))")
    page = opened(context, origin, "/arena/daily/")

    mine, brain, usual = (f"{score(ends, 1.5):.3f}" for ends in (ENDS, *OVER.compared))
    expect(page.locator("#daily-mine")).to_contain_text(f"Your score {mine}, the brain {brain}, a usual day {usual}")
    expect(page.locator("#daily-mine")).to_contain_text("outside your 50% range, outside your 90% range")


def test_a_voter_sees_scores_intervals_luck_and_no_place(browser: Browser, origin: str) -> None:
    page = opened(browser.new_context(), origin, f"/arena/you/#{VOTER}")
    record = page.locator("#you-figures")

    expect(record).to_contain_text("0.6950")  # the mean of 0.245 and 1.145
    expect(record).to_contain_text("20 of 40, 50.0%")
    expect(record).to_contain_text("By your own chances 0.5550 was to be expected")  # 1 - 0.36 - 0.0625 - 0.0225
    expect(record).to_contain_text("No place yet; 1 address")
    expect(page.locator("#you-figures tbody tr")).to_have_count(10)


def test_what_this_browser_said_is_there_before_the_network_answers_pending_first(
    browser: Browser, origin: str
) -> None:
    today = datetime.now(UTC)
    begin = (today + timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)
    vote = {
        "round": f"BTC-{begin:%Y%m%d-%H0000}",
        "asset": "BTC",
        "start": f"{begin:%Y-%m-%dT%H:%M:%SZ}",
        "end": f"{begin + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}",
        "choice": "BULLISH",
        "chances": [55, 30, 15],
        "txid": "T",
    }
    context = browser.new_context(timezone_id="Europe/Berlin")
    context.add_init_script(f"localStorage.setItem('emi-votes', JSON.stringify({json.dumps([vote])}))")
    context.add_init_script(f"localStorage.setItem('emi-daily', JSON.stringify({json.dumps(KEPT)}))")
    context.route(re.compile(r"/(api|files|arena/(voters|rounds|daily))[./]"), lambda _route: None)  # never answered
    page = opened(context, origin, "/arena/you/")

    here = page.locator("#you-here")
    expect(here.locator("h3").first).to_have_text("Waiting for a result")
    result = (begin + timedelta(hours=1)).astimezone(ZoneInfo("Europe/Berlin"))
    expect(here.locator("li").first).to_contain_text("You gave BTC up 55%, small move 30%, down 15%")
    expect(here.locator("li").first).to_contain_text(f"({result:%H:%M} your time)")
    expect(here.locator("li").last).to_contain_text("The daily question of")
    expect(page.locator("#you-form")).to_be_hidden()


def test_a_key_kept_as_a_file_votes_from_another_browser(browser: Browser, origin: str, tmp_path: Path) -> None:
    first = opened(browser.new_context(), origin, "/arena/you/")
    first.evaluate("import('/assets/vote-key.js').then((keys) => keys.keyOfThisBrowser()).then(() => null)")
    with first.expect_download() as download:
        first.locator("#you-keep").click()
    download.value.save_as(tmp_path / "key.json")
    first.reload()
    expect(first.locator("#you-state")).to_contain_text("Nothing of")
    said = first.locator("#you-state").inner_text()

    other = opened(browser.new_context(), origin, "/arena/you/")
    other.set_input_files("#you-file", tmp_path / "key.json")

    expect(other.locator("#you-key")).to_have_text("This browser votes with that key now.")
    expect(other.locator("#you-state")).to_have_text(said)
    (tmp_path / "broken.json").write_text('{"format": "emi-voter-key/1", "x": "AA", "d": "AA"}')
    other.set_input_files("#you-file", tmp_path / "broken.json")
    expect(other.locator("#you-key")).to_have_text("This file holds no such key. Nothing was changed.")
