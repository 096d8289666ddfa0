"""The pages of practice: what they hold without scripts, and the sheet with its key."""

import gzip
import html
import json
import re
from collections.abc import Mapping
from dataclasses import replace

from generator.catalog.downloads import RecordFile
from generator.site.pages.practice import EXAMPLES, FIRST_ITEMS, own_months, practice_view, sheet_for_class
from generator.site.resources import Assets, ShippedMonth
from tests.support.page_view import Rendered, rendered, view


def shipped() -> tuple[list[dict[str, object]], dict[str, dict[str, object]]]:
    month = ShippedMonth.load()
    truths = {truth["item"]: truth for truth in json.loads(month.truths)["truths"]}
    return json.loads(month.items)["items"], truths


def file(series: str, month: str | None, path: str) -> RecordFile:
    return RecordFile(path=path, series=series, ending="json", rows=300, bytes=1, sha256="0" * 64, month=month)


def test_the_page_holds_its_first_items_and_none_of_their_truths() -> None:
    page = rendered()["/learn/practice/index.html"].decode()
    first = json.loads(html.unescape(re.findall(r'data-first="([^"]*)"', page)[0]))
    items, truths = shipped()

    assert first == items[:FIRST_ITEMS]
    assert not any(str(truths[str(item["truth_sha256"])[:12]]["end_price"]) in page for item in first)


def loaded(page: bytes, files: Mapping[str, bytes]) -> set[str]:
    """Return the assets that a page names, and those that its scripts import."""
    found = {path for path in files if f'"{path}?'.encode() in page}
    while True:
        scripts = b"".join(files[path] for path in found)
        imported = {path for path in files if f'from ".{path.removeprefix("/assets")}?'.encode() in scripts}
        if imported <= found:
            return found
        found |= imported


def test_page_scripts_and_first_items_are_at_most_60_kb_compressed() -> None:
    page = rendered()["/learn/practice/index.html"]
    files = Assets.load().files

    wanted = loaded(page, files)

    assert {"/assets/practice.js", "/assets/practice-scores.js", "/assets/site.css"} <= wanted
    assert sum(len(gzip.compress(content)) for content in (page, *(files[path] for path in wanted))) <= 60_000


def test_months_of_the_own_record_come_after_the_shipped_one_newest_first() -> None:
    files = [
        file("practice", "2026-11", "/files/practice/2026-11-a.json"),
        file("practice-truths", "2026-11", "/files/practice/2026-11-a-truths.json"),
        file("hourly", "2026-12", "/files/track-record/2026-12/hourly.csv"),
        file("practice", "2026-12", "/files/practice/2026-12-b.json"),
        file("practice-truths", "2026-12", "/files/practice/2026-12-b-truths.json"),
    ]
    months = json.loads(practice_view(ShippedMonth.load(), own_months(files), "live").months)

    assert [month["items"] for month in months[1:]] == [files[3].path, files[0].path]
    assert [month["truths"] for month in months[1:]] == [files[4].path, files[1].path]
    assert [month["simulated"] for month in months] == [True, False, False]


def test_each_month_of_the_own_record_has_a_sheet_for_a_class() -> None:
    files = [
        file("practice", "2026-11", "/files/practice/2026-11-a.json"),
        file("practice-truths", "2026-11", "/files/practice/2026-11-a-truths.json"),
    ]

    with_own = Rendered(replace(view(), months=files))["/learn/practice/index.html"].decode()

    listed = json.loads(html.unescape(re.findall(r'id="class" data-months="([^"]*)"', with_own)[0]))
    assert [(month["month"], month["items"], month["truths"]) for month in listed] == [
        ("2026-11", files[0].path, files[1].path)
    ]
    assert 'href="/learn/practice/?month=2026-11#class"' in with_own
    assert "practice-class.js" in with_own
    assert "practice-class.js" not in rendered()["/learn/practice/index.html"].decode()


def test_an_hour_to_read_says_what_came_and_whether_the_range_held_it() -> None:
    items, truths = shipped()
    examples = practice_view(ShippedMonth.load(), (), "simulated").examples

    for example, item in zip(examples, items[-EXAMPLES:], strict=True):
        truth = truths[str(item["truth_sha256"])[:12]]
        move, brain = truth["move"], truth["brain"]
        assert isinstance(move, float)
        assert isinstance(brain, dict)
        held = brain["ranges"]["low_90"] <= move <= brain["ranges"]["high_90"]
        assert f"{abs(move):.2f}%" in example.tell
        assert ("inside that range" in example.tell) == held


def test_the_key_of_the_sheet_is_of_its_hours_and_of_no_example() -> None:
    items, truths = shipped()
    sheet = sheet_for_class(ShippedMonth.load(), (), "simulated").hours
    of_sheet = items[-EXAMPLES - len(sheet) : -EXAMPLES]

    assert len(sheet) == 10
    for hour, item in zip(sheet, of_sheet, strict=True):
        truth = truths[str(item["truth_sha256"])[:12]]
        move = truth["move"]
        assert isinstance(move, float)
        assert hour.move.lstrip("+\N{MINUS SIGN}") == f"{abs(move):.2f}%"
        assert hour.name.startswith(f"{truth['asset']}, ")
        prices = item["prices"]
        assert isinstance(prices, list)
        first = hour.picture.caption.rows[0][1]
        assert first.lstrip("+\N{MINUS SIGN}") == f"{abs(prices[0] - 100):.2f}%"
