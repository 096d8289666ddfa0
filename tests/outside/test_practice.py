"""Practice in a browser, by keyboard and on a phone; its scores and verdicts are those of the program."""

import csv
import http.server
import json
import random
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from generator.arena.practice.curve import blocks
from generator.arena.practice.verdicts import BETS_50, BETS_90, Chances, judge_chances, judge_ranges
from generator.arena.scoring import brier, log_score, squared_error
from generator.catalog.downloads import PRACTICE_ITEMS, PRACTICE_TRUTHS, RecordFile
from generator.catalog.text.chapters import CHAPTERS
from generator.cli import application
from generator.site.pages.render import Pages
from generator.site.resources import Assets, Resources, ShippedMonth
from generator.values.ranges import MoveRange
from tests.outside.site_pages import BROWSED, MODULES, Browser, BrowserContext, Page, expect
from tests.site.test_chapters import MONTH
from tests.support.builders import CONTEXTS
from tests.support.page_view import predictions, view_of

_MISSING = "missing: recurring-ical-events (pip install recurring-ical-events)"
icalendar = pytest.importorskip("icalendar", reason=_MISSING)
recurring_ical_events = pytest.importorskip("recurring_ical_events", reason=_MISSING)

SCORER = Path(__file__).parents[1] / "peers" / "site" / "practice.mjs"
SCORES = Resources.locate().site / "assets" / "practice-scores.js"
PATH = "/learn/practice/"
MOST_KEPT = 120
KEPT_PATHS = """(async () => {
  const paths = [];
  for (const name of await caches.keys()) {
    for (const request of await (await caches.open(name)).keys()) paths.push(new URL(request.url).pathname);
  }
  return paths;
})()"""
SHIFTED = """new Promise((resolve) => {
  let shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shifted += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(shifted), 500);
})"""
NODE = shutil.which("node")
pytestmark = BROWSED


def drawn_cases(chance: random.Random, number: int) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    for _ in range(number):
        move = round(chance.gauss(0, 0.6), 4)
        low_90, low_50, high_50, high_90 = sorted(round(chance.gauss(0, 1), 2) for _ in range(4))
        ranges = {"low_90": low_90, "low_50": low_50, "high_50": high_50, "high_90": high_90}
        up = chance.randrange(101)
        down = chance.randrange(101 - up)
        chances = [up / 100, (100 - up - down) / 100, down / 100]
        cases += [
            {"what": "how_far", "ranges": ranges, "move": move},
            {"what": "brier", "chances": chances, "came": chance.randrange(3)},
            {"what": "moved", "chance": up / 100, "moved": chance.random() < 0.5},
            {"what": "log", "chance": up / 100},
        ]
    return cases


def drawn_records(chance: random.Random, number: int) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    for _ in range(number):
        level = chance.choice((50, 90))
        holds = chance.choice((0.3, 0.5, 0.7, 0.9, 0.97))
        inside = [chance.random() < holds for _ in range(chance.randrange(1, 350))]
        answers = []
        is_base = chance.random() < 0.2
        for _ in range(chance.randrange(1, 250)):
            up = 30 if is_base else chance.randrange(101)
            down = 30 if is_base else chance.randrange(101 - up)
            said = [up / 100, (100 - up - down) / 100, down / 100]
            answers.append({"said": said, "baseRate": [0.3, 0.4, 0.3], "came": chance.randrange(3)})
        cases += [
            {"what": "ranges", "level": level, "inside": inside, "widths": [chance.uniform(0.8, 1.15) for _ in inside]},
            {"what": "chances", "answers": answers},
            {"what": "blocks", "values": [chance.gauss(0, 0.2) for _ in range(chance.randrange(70))]},
        ]
    return cases


def own_result(case: dict[str, Any]) -> Any:
    match case["what"]:
        case "how_far":
            return MoveRange(**case["ranges"]).score(case["move"])
        case "brier":
            return brier(case["chances"], case["came"])
        case "moved":
            return squared_error(case["chance"], float(case["moved"]))
        case "log":
            return log_score(case["chance"])
        case "blocks":
            return [list(block) for block in blocks(case["values"])]
        case "ranges":
            verdict = judge_ranges(case["inside"], BETS_50 if case["level"] == 50 else BETS_90, case["widths"])
        case _:
            rows = [Chances(tuple(one["said"]), tuple(one["baseRate"]), one["came"]) for one in case["answers"]]
            verdict = judge_chances(rows)
    return {"finding": str(verdict.finding), "answers": verdict.answers, "more": verdict.more}


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_page_scores_and_judges_as_the_program_does() -> None:
    chance = random.Random(20261126)
    cases = [*drawn_cases(chance, 2_500), *drawn_records(chance, 300)]
    assert NODE is not None

    done = subprocess.run(
        [NODE, str(SCORER), str(SCORES)],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    for case, made in zip(cases, json.loads(done.stdout), strict=True):
        expected = own_result(case)
        if isinstance(expected, float):
            assert made == pytest.approx(expected, abs=1e-12), case
        elif case["what"] == "blocks":
            assert [value for block in made for value in block] == pytest.approx(
                [value for block in expected for value in block], abs=1e-12
            )
        else:
            assert made == expected, case


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The pages of one release, as plain files; the shipped month counts as one of the own record too."""
    folder = tmp_path_factory.mktemp("practice")
    month = ShippedMonth.load().month
    files = [
        RecordFile(path=path, series=series, ending="json", rows=300, bytes=1, sha256="0" * 64, month=month.month)
        for series, path in ((PRACTICE_ITEMS, month.items), (PRACTICE_TRUTHS, month.truths))
    ]
    pages = Pages().render(replace(view_of(CONTEXTS["full"](), (), predictions()), months=files, month=MONTH))
    for path, content in {**pages, **Assets.load().files, **ShippedMonth.load().files}.items():
        file = folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    handler = partial(SometimesSilent, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class SometimesSilent(http.server.SimpleHTTPRequestHandler):
    """Takes every connection, and says nothing while `speaks` is not set."""

    speaks = threading.Event()
    speaks.set()

    def do_GET(self) -> None:
        self.speaks.wait()
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name of the base class)
        """Print nothing."""


@pytest.fixture
def silence() -> Iterator[threading.Event]:
    """What a test clears so that the server is silent; it speaks again afterwards, or its threads never end."""
    yield SometimesSilent.speaks
    SometimesSilent.speaks.set()


def opened(context: BrowserContext, origin: str) -> Page:
    page = context.new_page()
    page.goto(f"{origin}{PATH}")
    page.locator("#practice-picture svg").wait_for()
    return page


def test_the_first_item_is_two_activations_from_the_landing_and_its_answer_one(browser: Browser, origin: str) -> None:
    page = browser.new_context().new_page()
    page.goto(f"{origin}/")
    page.locator(f'a[href="{PATH}"]').first.click()
    page.locator("#practice-picture svg").wait_for()

    page.locator("#practice-answer").click()
    expect(page.locator("#practice-result")).to_contain_text("Your score")
    expect(page.locator("#practice-record")).to_contain_text("1 of 1")


def test_a_record_of_each_question_is_kept_exported_and_proved(browser: Browser, origin: str, tmp_path: Path) -> None:
    page = opened(browser.new_context(accept_downloads=True), origin)
    for kind in ("how_far", "will_it_move", "which_way"):
        page.locator(f"button[value={kind}]").click()
        for _ in range(4):
            page.locator("#practice-sliders input").first.press("ArrowRight")
            page.locator("#practice-answer").click()
            expect(page.locator("#practice-result")).to_contain_text("Your score")
            page.locator("#practice-answer").click()
            expect(page.locator("#practice-result")).to_be_empty()

    with page.expect_download() as saved:
        page.locator("#practice-export").click()
    file = tmp_path / "record.json"
    saved.value.save_as(file)

    # As a reader of the record would: the program recomputes every score from the log.
    result = CliRunner().invoke(application(), ["verify", "--practice", str(file)])
    assert result.exit_code == 0, result.output
    assert len(json.loads(file.read_text())["answers"]) == 12
    assert "does not prove when the answers were given" in result.output

    other = opened(browser.new_context(), origin)
    other.locator("#practice-file").set_input_files(file)
    expect(other.locator("#practice-kept")).to_contain_text("12 answers were added")


def test_five_a_day_are_the_same_for_everyone_and_fill_the_day_s_dot(browser: Browser, origin: str) -> None:
    seen = []
    for _ in range(2):
        page = opened(browser.new_context(), origin)
        page.locator("#practice-daily").click()
        for _ in range(5):
            page.locator("#practice-answer").click()
            expect(page.locator("#practice-result")).to_contain_text("Your score")
            seen.append(page.locator("#practice-result .small:not(.practice-legend)").inner_text())
            page.locator("#practice-answer").click()
        expect(page.locator("#practice-result")).to_contain_text("You have judged today's five")
        expect(page.locator("#practice-week li").last).to_contain_text("5 of 5")
    assert seen[:5] == seen[5:]


def test_twenty_charts_give_a_count_with_its_interval(browser: Browser, origin: str) -> None:
    page = opened(browser.new_context(), origin)
    page.locator("#practice-start-random").click()
    for number in range(1, 21):
        expect(page.locator("#practice-random")).to_contain_text(f"Chart {number} of 20")
        page.locator("#practice-random button").first.click()

    expect(page.locator("#practice-random")).to_contain_text("of 20 (95% interval")


def test_a_reminder_keeps_its_hour_when_clocks_change_and_rings(browser: Browser, origin: str, tmp_path: Path) -> None:
    context = browser.new_context(accept_downloads=True, timezone_id="Europe/Berlin")
    page = context.new_page()
    page.clock.set_fixed_time("2027-03-20T06:30:00Z")
    page.goto(f"{origin}{PATH}")
    with page.expect_download() as saved:
        page.locator("#practice-remind").click()
    file = tmp_path / "practice.ics"
    saved.value.save_as(file)

    calendar = icalendar.Calendar.from_ical(file.read_bytes())
    week = recurring_ical_events.of(calendar).between((2027, 3, 26), (2027, 4, 2))  # clocks change on the 28th

    assert [event.start for event in week] == [datetime(2027, 3, 26, 7, 30) + timedelta(days) for days in range(7)]  # noqa: DTZ001 (a time without a zone is what is asserted)
    assert calendar.events[0].alarms.times[0].trigger == calendar.events[0].start


def test_all_of_it_works_by_keyboard(browser: Browser, origin: str) -> None:
    page = opened(browser.new_context(), origin)
    page.locator("button[value=which_way]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#question")).to_have_text("Up, small move or down?")

    page.locator("#practice-sliders input").first.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    said = [
        int(value) for value in page.locator("#practice-sliders input").evaluate_all("all => all.map(one => one.value)")
    ]
    assert said[0] == 43
    assert sum(said) == 100

    page.keyboard.press("Enter")
    expect(page.locator("#practice-result")).to_contain_text("The outcome")


def test_what_cannot_be_read_scores_nothing(browser: Browser, origin: str) -> None:
    context = browser.new_context()
    context.route("**/*-truths.json", lambda route: route.abort())
    page = opened(context, origin)
    page.locator("#practice-answer").click()

    expect(page.locator("#practice-result")).to_contain_text("Nothing was scored")
    expect(page.locator("#practice-record")).to_contain_text("first answer")


def test_learn_opens_again_without_a_network_and_keeps_nothing_else(browser: Browser, origin: str) -> None:
    context = browser.new_context()
    page = opened(context, origin)
    page.locator("html[data-offline=kept]").wait_for()
    page.goto(f"{origin}/learn/")
    page.locator("html[data-offline=kept]").wait_for()
    page.goto(f"{origin}/")
    kept = page.evaluate(KEPT_PATHS)
    assert {path.split("/")[1] for path in kept} == {"learn", "assets", "files"}

    context.set_offline(True)
    page.goto(f"{origin}{PATH}")
    page.locator("#practice-answer").click()
    expect(page.locator("#practice-result")).to_contain_text("Your score")
    page.goto(f"{origin}/learn/")
    expect(page.locator("h1")).to_contain_text("Learn")


def test_a_network_that_is_silent_counts_as_none(browser: Browser, origin: str, silence: threading.Event) -> None:
    page = opened(browser.new_context(), origin)
    page.locator("html[data-offline=kept]").wait_for()
    silence.clear()

    page.goto(f"{origin}{PATH}", wait_until="domcontentloaded")

    page.locator("#practice-picture svg").wait_for()
    assert not silence.is_set()


def test_what_is_kept_of_earlier_releases_is_bounded_in_number_and_age(browser: Browser, origin: str) -> None:
    page = opened(browser.new_context(), origin)
    page.locator("html[data-offline=kept]").wait_for()
    needed = set(page.evaluate(KEPT_PATHS))
    page.evaluate(
        """async () => {
          const kept = await caches.open("emi-learn-1");
          const of = (date) => new Response("old", { headers: { date } });
          await kept.put("/assets/ancient.js", of("Mon, 02 Mar 2026 12:00:00 GMT"));
          for (let release = 0; release < 20; release += 1) {
            for (let file = 0; file < 15; file += 1) {
              await kept.put(`/assets/${file}.js?v=${release}`, of(new Date().toUTCString()));
            }
          }
        }"""
    )

    page.reload()
    page.locator("html[data-offline=kept]").wait_for()
    page.reload()  # what the page before kept is counted too
    page.wait_for_function(f"async () => (await {KEPT_PATHS}).length <= {MOST_KEPT}")

    kept = page.evaluate(KEPT_PATHS)
    assert needed <= set(kept)
    assert "/assets/ancient.js" not in kept
    assert f"/assets/{14}.js" in kept


def test_all_chapters_open_without_a_network_after_the_first_load_of_learn(browser: Browser, origin: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{origin}/learn/")
    page.locator("html[data-offline=kept]").wait_for()
    kept = page.evaluate(KEPT_PATHS)
    assert {path.split("/")[1] for path in kept} == {"learn", "assets"}

    context.set_offline(True)
    for chapter in CHAPTERS:
        page.goto(f"{origin}/learn/{chapter.name}/")
        expect(page.locator("h1")).to_have_text(chapter.title)
        expect(page.locator(".guess output").first).not_to_be_empty()
    page.goto(f"{origin}{PATH}")
    page.locator("#practice-picture svg").wait_for()


def test_the_sheet_of_a_month_is_made_as_the_shipped_one_is(browser: Browser, origin: str) -> None:
    page = browser.new_context().new_page()
    page.goto(f"{origin}{PATH}#class")
    key = page.locator(".practice-key tbody tr")
    shipped = [row.split("\t")[:4] for row in key.all_inner_texts()]

    page.locator(f'a[href="{PATH}?month={ShippedMonth.load().month.month}#class"]').click()
    expect(page.locator("#class-month")).to_contain_text("The hours are of 2026-10")

    assert [row.split("\t")[:4] for row in key.all_inner_texts()] == shipped
    assert page.locator(".practice-sheet .practice-picture").count() == len(shipped) == 10
    page.goto(f"{origin}{PATH}?month=2020-01#class")
    expect(page.locator("#class-month")).to_contain_text("no sheet of that month")


def test_a_teacher_gets_a_table_and_a_file_of_what_the_class_answered(
    browser: Browser, origin: str, tmp_path: Path
) -> None:
    page = opened(browser.new_context(accept_downloads=True), origin)
    for _ in range(3):
        page.locator("#practice-answer").click()
        expect(page.locator("#practice-result")).to_contain_text("Your score")
        page.locator("#practice-answer").click()
        expect(page.locator("#practice-result")).to_be_empty()
    expect(page.locator("#practice-kept")).to_contain_text("Keep a copy")
    with page.expect_download() as saved:
        page.locator("#practice-export").click()
    pupils = [tmp_path / f"{name}.json" for name in ("Anna", "Ben")]
    for file in pupils:
        saved.value.save_as(file)
    (tmp_path / "homework.json").write_text("{}")

    page.locator("#class summary").first.click()
    page.locator("#class-files").set_input_files([*pupils, tmp_path / "homework.json"])
    expect(page.locator("#class-answers tbody tr")).to_have_count(2)
    expect(page.locator("#class-answers tbody tr").first).to_contain_text("Anna")
    expect(page.locator("#class-state")).to_have_text("2 records. 1 file is not a record.")
    with page.expect_download() as sheet:
        page.locator("#class-answers button").click()
    sheet.value.save_as(tmp_path / "class.csv")

    with (tmp_path / "class.csv").open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines))
    kept = json.loads(pupils[0].read_text())["answers"]
    assert [row["pupil"] for row in rows] == ["Anna"] * 3 + ["Ben"] * 3
    assert [float(row["score"]) for row in rows] == [answer["score"] for answer in kept] * 2


def test_a_chapter_leads_to_its_kind_of_question(browser: Browser, origin: str) -> None:
    page = browser.new_context().new_page()
    page.goto(f"{origin}/learn/calibration/")
    page.locator(f'a[href="{PATH}#will_it_move"]').click()

    expect(page.locator("#question")).to_have_text("Will it have moved when the hour ends?")
    expect(page.locator("button[value=will_it_move]")).to_have_attribute("aria-pressed", "true")


def test_a_guess_set_by_keys_is_judged_by_what_came(browser: Browser, origin: str) -> None:
    page = browser.new_context().new_page()
    page.goto(f"{origin}/learn/luck/")
    slider = page.locator(".guess input").first
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    said = page.locator(".guess output").first.inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    judged = re.compile(rf"^You said {said}(: just right|; it is .+: (close.*|(not far, )?\d+ too (low|high)))\.$")
    expect(page.locator(".said").first).to_have_text(judged)
    expect(slider).to_be_disabled()


def test_a_chapter_on_a_phone_is_marked_and_learn_leads_to_where_one_was(browser: Browser, origin: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{origin}/learn/")
    expect(page.locator("#chapters-begin")).to_have_text("Begin with 1 Base rates")

    page.goto(f"{origin}/learn/luck/")
    answers = page.locator(".asked > details > summary")
    number = answers.count()
    page.locator(".guess input").first.tap(position={"x": 60, "y": 20})
    answers.first.tap()
    marked = re.compile(rf"^1 of {number} answered; [01] of 1 guesses close")
    expect(page.locator("#chapter-marks")).to_have_text(marked)
    page.goto(f"{origin}/learn/")
    expect(page.locator("#chapters-begin")).to_have_text("Continue where you were: 8 Luck")

    page.locator("#chapters-begin a").tap()
    expect(answers).to_have_count(number)  # a tap does not wait for the next page, and `all` finds what is there
    expect(page.locator("#chapter-marks")).to_have_text(marked)
    for answer in answers.all():
        answer.tap()
        expect(answer.locator("xpath=..")).to_have_attribute("open", "")
    expect(page.locator("#chapter-marks")).to_have_text(re.compile("^Chapter done; [01] of 1 guesses close"))
    page.goto(f"{origin}/learn/")
    expect(page.locator("#chapters-begin")).to_have_text("Continue where you were: 1 Base rates")
    expect(page.locator('[data-mark="luck"]')).to_have_class("done")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("path", [PATH, "/learn/", "/learn/luck/"])
def test_nothing_moves_while_a_page_of_learn_begins(browser: Browser, origin: str, path: str, width: int) -> None:
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    page.goto(f"{origin}{path}")

    assert page.evaluate(SHIFTED) == 0


def axe_findings(page: Page) -> list[str]:
    page.add_script_tag(content=(MODULES / "axe-core" / "axe.min.js").read_text())
    violations = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations)")
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in violations]


@pytest.mark.skipif(not (MODULES / "axe-core").is_dir(), reason="missing: axe-core in OFFICIAL_SITE")
@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_is_sound_before_and_after_an_answer(browser: Browser, origin: str, width: int) -> None:
    page = opened(browser.new_context(viewport={"width": width, "height": 900}), origin)
    assert axe_findings(page) == []
    page.locator("#practice-answer").click()
    expect(page.locator("#practice-result")).to_contain_text("Your score")
    assert axe_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_practice_says_so_and_shows_what_can_be_read(browser: Browser, origin: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{origin}{PATH}")

    expect(page.locator("main noscript p")).to_be_visible()
    for dead in ("#practice", "#practice-week", "#practice-random", "#practice-export"):
        expect(page.locator(dead)).to_be_hidden()
    expect(page.locator(".practice-multiples .chart").first).to_be_visible()

    page.goto(f"{origin}/learn/luck/")
    expect(page.locator(".guess").first).to_be_hidden()
    expect(page.get_by_text("Show the answer").first).to_be_visible()


def test_each_answer_has_a_remark_and_five_have_a_trend(browser: Browser, origin: str) -> None:
    page = opened(browser.new_context(), origin)
    for number in range(1, 6):
        page.locator("#practice-answer").click()
        expect(page.locator(".practice-remark")).not_to_be_empty()
        wanted = re.compile(r"^Early, after 5 answers: your 50% ranges held \d of 5" if number == 5 else "^$")
        expect(page.locator("#practice-trend")).to_have_text(wanted)
        expect(page.locator("#practice-record")).to_contain_text(f"Too early for proof: {60 - number} more answers.")
        page.locator("#practice-answer").click()
