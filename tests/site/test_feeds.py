"""The two feeds: their form, that entries never change, and that simulated data says so."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from generator.arena.holds import KIND
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import MarketSide, SourceMode, VolatilityWord
from generator.record.memory.history import RegimeChange
from generator.site.files.feeds import CHANGES_READ, ENTRIES, feeds
from generator.values.hours import Hour
from tests.site.test_daily_page import OPEN, OVER
from tests.support.builders import HOUR_MS
from tests.support.page_view import SITE, START_MS, rounds

AT = datetime(2026, 11, 20, 9, 53, tzinfo=UTC)
ATOM = "{http://www.w3.org/2005/Atom}"
LABELS = ("range", "risk_on", "high_volatility")


def changes(number: int = 4) -> list[RegimeChange]:
    return [
        RegimeChange(START_MS - back * 5 * HOUR_MS - 60_000, LABELS[back % 3], "NEUTRAL", 0.782, 41.3, back > 2)
        for back in range(number)
    ]


def state_changes(*states: tuple[VolatilityWord, MarketSide], label: str = "range") -> list[RegimeChange]:
    """Return changes an hour apart, of states given oldest first, newest first."""
    moments = range(START_MS, START_MS + len(states) * HOUR_MS, HOUR_MS)
    rows = [
        RegimeChange(at_ms, label, "NEUTRAL", 0.612, 41.3, False, volatility, side, confidence_kind=KIND)
        for at_ms, (volatility, side) in zip(moments, states, strict=True)
    ]
    return rows[::-1]


def made(mode: SourceMode = SourceMode.SIMULATED, number: int = 30, **site: Any) -> dict[str, bytes]:
    return feeds(replace(SITE, **site), mode, rounds(number), changes(), AT)


def items(files: dict[str, bytes]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(files["/feed.json"])["items"]
    return found


def entries(files: dict[str, bytes]) -> list[ET.Element]:
    return ET.fromstring(files["/feed.xml"]).findall(f"{ATOM}entry")


def test_the_json_feed_has_what_version_1_1_asks_for() -> None:
    feed = json.loads(made()["/feed.json"])

    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["feed_url"] == f"{SITE.base_url}/feed.json"
    assert feed["home_page_url"] == f"{SITE.base_url}/"
    assert all(isinstance(item["id"], str) and item["content_html"] for item in feed["items"])
    assert all(datetime.fromisoformat(item["date_published"]).tzinfo for item in feed["items"])
    assert [key for key in feed["items"][0] if key.startswith("_")] == ["_emi"]


def test_atom_has_what_rfc_4287_asks_for() -> None:
    feed = ET.fromstring(made()["/feed.xml"])

    links = {(link.get("rel"), link.get("type")): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links["self", "application/atom+xml"] == f"{SITE.base_url}/feed.xml"
    assert links["alternate", "text/html"] == f"{SITE.base_url}/"
    assert links["alternate", "application/feed+json"] == f"{SITE.base_url}/feed.json"
    for element in (feed, *feed.findall(f"{ATOM}entry")):
        assert all(len(element.findall(ATOM + name)) == 1 for name in ("id", "title", "updated"))
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    assert feed.findtext(f"{ATOM}updated") == entries(made())[0].findtext(f"{ATOM}updated")


def test_ids_are_those_of_the_log_wherever_the_site_moves() -> None:
    before = made(base_url="https://old.example", log_name="old.example:8443/log")
    after = made(base_url="https://new.example", log_name="old.example:8443/log")

    assert [item["id"] for item in items(before)] == [item["id"] for item in items(after)]
    assert items(after)[0]["id"].startswith("tag:old.example,2026:")
    assert items(after)[0]["url"].startswith("https://new.example/")
    assert items(made(base_url="https://new.example"))[0]["id"].startswith("tag:new.example,2026:")


def test_both_feeds_tell_the_same_news() -> None:
    files = made()

    listed = [(item["id"], item["title"], item["date_published"], item["content_html"]) for item in items(files)]
    names = ("id", "title", "published", "content")
    assert listed == [tuple(entry.findtext(ATOM + name) for name in names) for entry in entries(files)]
    assert len({row[0] for row in listed}) == len(listed) == 27 + 4


def test_the_newest_fifty_come_newest_first() -> None:
    listed = items(feeds(SITE, SourceMode.LIVE, rounds(200), changes(CHANGES_READ), AT))

    assert len(listed) == ENTRIES
    dates = [item["date_published"] for item in listed]
    assert dates == sorted(dates, reverse=True)


def test_what_was_published_stays_as_it_was_when_more_comes() -> None:
    before = {item["id"]: item for item in items(made())}
    newer = [replace(changes()[0], at_ms=START_MS + 60_000, label="risk_off"), *changes()]

    after = {item["id"]: item for item in items(feeds(SITE, SourceMode.SIMULATED, rounds(30), newer, AT))}

    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 1


def test_a_change_whose_beginning_is_out_of_sight_is_not_called_a_first_reading() -> None:
    listed, whole = (items(feeds(SITE, SourceMode.LIVE, (), changes(one), AT)) for one in (CHANGES_READ, 2))

    assert len(listed) == ENTRIES < CHANGES_READ
    assert not [entry for entry in listed if "First" in entry["title"]]
    assert whole[-1]["title"] == "First regime: risk-on"


def test_feeds_are_the_same_bytes_until_there_is_news() -> None:
    first, again = (feeds(SITE, SourceMode.LIVE, rounds(30), changes(), AT + timedelta(days=day)) for day in (0, 1))

    assert first == again


def test_void_rounds_are_no_news() -> None:
    shown = rounds(10)
    resolved = [row["round_id"] for row in shown if row["phase"] == "resolved"]

    listed = items(feeds(SITE, SourceMode.LIVE, shown, (), AT))

    assert [entry["_emi"]["round_id"] for entry in listed] == resolved
    assert len(resolved) < len(shown)


def test_a_round_without_its_lesson_is_left_out_and_fails_nothing() -> None:
    shown = [{**row, "lesson": None} for row in rounds(5)]

    assert items(feeds(SITE, SourceMode.LIVE, shown, (), AT)) == []


@pytest.mark.parametrize(("mode", "mark"), [(SourceMode.SIMULATED, "Simulated"), (SourceMode.RECORDED, "Replayed")])
def test_simulated_and_replayed_news_say_so_everywhere(mode: SourceMode, mark: str) -> None:
    files = made(mode)
    feed = json.loads(files["/feed.json"])

    assert f"({mark.lower()})" in feed["title"]
    assert mark not in made(SourceMode.LIVE)["/feed.xml"].decode()
    assert all(item["title"].startswith(f"{mark}: ") for item in items(files))
    assert all(mode in item["tags"] and item["_emi"]["source_mode"] == mode for item in items(files))
    assert all(entry.find(f'{ATOM}category[@term="{mode}"]') is not None for entry in entries(files))


@pytest.mark.parametrize("mode", [SourceMode.LIVE, SourceMode.RECORDED])
def test_hours_of_a_simulated_market_to_practise_on_are_never_called_replayed(mode: SourceMode) -> None:
    (practice,) = items(feeds(SITE, mode, (), (), AT, practice_days=[AT]))

    assert practice["title"] == "Simulated: Five hours to judge, 20 Nov 2026"
    assert practice["_emi"]["source_mode"] == "simulated"
    assert "Real prices" not in practice["content_html"]


def test_every_entry_bears_the_educational_notice() -> None:
    files = made()

    assert DISCLAIMER in json.loads(files["/feed.json"])["description"]
    assert all(DISCLAIMER in item["content_html"] for item in items(files))
    assert all(DISCLAIMER in (entry.findtext(f"{ATOM}content") or "") for entry in entries(files))


def test_what_was_played_before_the_start_is_marked() -> None:
    listed = {item["id"]: item for item in items(made(number=60))}

    marked = [item for item in listed.values() if item["_emi"]["warm_up"]]
    assert marked
    assert all("before the service first started" in item["content_html"] for item in marked)
    assert all("warm-up" in item["tags"] for item in marked)


def test_a_feed_without_news_is_still_one() -> None:
    files = feeds(SITE, SourceMode.LIVE, (), (), AT)

    assert items(files) == []
    assert ET.fromstring(files["/feed.xml"]).findtext(f"{ATOM}updated") == "2026-11-20T00:00:00Z"


def test_a_name_with_markup_cannot_break_the_feeds() -> None:
    files = made(project='</title><script>&"', base_url="https://x.test/a&b")

    feed = ET.fromstring(files["/feed.xml"])

    assert (feed.findtext(f"{ATOM}title") or "").startswith('</title><script>&"')
    assert not re.search("<script", files["/feed.xml"].decode())


def test_an_id_names_the_round_and_does_not_move_with_the_scheme_or_port() -> None:
    there = {item["id"] for item in items(made(base_url="https://api.example.org"))}
    moved = {item["id"] for item in items(made(base_url="http://api.example.org:8080"))}

    assert there == moved
    assert "tag:api.example.org,2026:round:BTC-20261119-050000" in there


@pytest.mark.parametrize(
    ("confidence", "said"),
    [
        (0.4, "The regime changed from risk-off to mixed, with range at 40.0%"),
        (0.5, "The regime changed from risk-off to range"),
        (0.612, "The regime changed from risk-off to range"),
    ],
)
def test_a_regime_of_before_the_axes_keeps_the_words_that_it_was_published_in(confidence: float, said: str) -> None:
    newer = [RegimeChange(START_MS, "range", "NEUTRAL", confidence, 41.3, False), *changes(2)]
    newer[1] = replace(newer[1], label="risk_off")

    first = items(feeds(SITE, SourceMode.LIVE, (), newer, AT))[0]

    assert first["title"] == said
    assert first["summary"].startswith(f"The regime is now {said.partition(' to ')[2]}.")


def test_a_label_of_today_is_named_whatever_its_chance() -> None:
    changed = state_changes((CALM, MarketSide.FLAT), (CALM, MarketSide.RISING), label="risk_on")
    newer = [replace(change, confidence=0.4) for change in changed]

    newest, _ = items(feeds(SITE, SourceMode.LIVE, (), newer, AT))

    assert "<p>The label is risk-on. Confidence 40.0 of 100" in newest["content_html"]
    assert "Confidence is how likely this label still stands in four hours.</p>" in newest["content_html"]
    assert "given the evidence" not in newest["content_html"]


def test_a_confidence_of_an_earlier_kind_keeps_its_words() -> None:
    changed = state_changes((CALM, MarketSide.FLAT), (CALM, MarketSide.RISING), label="risk_on")
    earlier = [replace(change, confidence_kind=None) for change in changed]

    newest, _ = items(feeds(SITE, SourceMode.LIVE, (), earlier, AT))

    assert "<p>The label is risk-on. Confidence 61.2 of 100" in newest["content_html"]
    assert "Confidence is the probability of this regime given the evidence" in newest["content_html"]
    assert "four hours" not in newest["content_html"]


CALM = VolatilityWord.CALM
NORMAL = VolatilityWord.NORMAL
EXTREME = VolatilityWord.EXTREME
UNKNOWN = (VolatilityWord.UNKNOWN, MarketSide.UNKNOWN)


def test_an_entry_leads_with_both_axes_and_then_names_the_state() -> None:
    changed = state_changes((CALM, MarketSide.FLAT), (EXTREME, MarketSide.FALLING), label="risk_off")

    newest, first = items(feeds(SITE, SourceMode.LIVE, (), changed, AT))

    assert (first["title"], newest["title"]) == (
        "A flat day, calm or normal volatility",
        "A falling day, rough or wild volatility (before: calm or normal volatility, a flat day)",
    )
    assert newest["summary"] == (
        "A falling day, rough or wild volatility. Before: calm or normal volatility, a flat day."
    )
    assert "<p>The label is risk-off. Confidence 61.2 of 100, risk score 41.3" in newest["content_html"]
    facts = ("kind", "volatility", "previous_volatility", "side", "previous_side", "label")
    assert [newest["_emi"][name] for name in facts] == ["state", "elevated", "normal", "falling", "flat", "risk_off"]


def test_a_change_of_the_label_or_within_a_step_or_an_unknown_while_gives_no_entry() -> None:
    same = ((NORMAL, MarketSide.FLAT), (CALM, MarketSide.FLAT), UNKNOWN, (NORMAL, MarketSide.UNKNOWN))
    changed = state_changes(*same, (NORMAL, MarketSide.FLAT), (NORMAL, MarketSide.RISING))
    changed[1] = replace(changed[1], label="high_volatility")

    listed = items(feeds(SITE, SourceMode.LIVE, (), changed, AT))

    titles = [item["title"] for item in listed]
    assert titles == [
        "A rising day, calm or normal volatility (before: a flat day)",
        "A flat day, calm or normal volatility",
    ]


def test_an_axis_that_was_not_known_before_is_not_compared() -> None:
    changed = state_changes(UNKNOWN, (NORMAL, MarketSide.UNKNOWN), (NORMAL, MarketSide.FLAT))

    newest, first = items(feeds(SITE, SourceMode.LIVE, (), changed, AT))

    assert (first["title"], newest["title"]) == (
        "Side unknown, calm or normal volatility",
        "A flat day, calm or normal volatility",
    )
    assert (newest["_emi"]["previous_volatility"], newest["_emi"]["previous_side"]) == ("normal", None)


def test_entries_from_before_the_axes_were_kept_stay_as_they_were() -> None:
    before = {item["id"]: item for item in items(feeds(SITE, SourceMode.LIVE, (), changes(3), AT))}
    newer = [*state_changes((NORMAL, MarketSide.FLAT), (EXTREME, MarketSide.FLAT)), *changes(3)]

    after = {item["id"]: item for item in items(feeds(SITE, SourceMode.LIVE, (), newer, AT))}

    assert {name: after[name] for name in before} == before
    assert [name.split(":")[2] for name in after if name not in before] == ["state", "state"]


def test_a_state_whose_beginning_is_out_of_sight_is_not_called_new() -> None:
    states = [(NORMAL, MarketSide.FLAT), (EXTREME, MarketSide.FLAT)] * (CHANGES_READ // 2)

    listed = items(feeds(SITE, SourceMode.LIVE, (), state_changes(*states), AT))

    assert len(listed) == ENTRIES
    assert all("(before: " in item["title"] for item in listed)


FLAT_DAY = "Crypto is up 0.2% in a day, an ordinary one; Bitcoin is up 0.1%"
SHOCK = "Crypto has fallen 8.2% in an hour (XRP 26%), its largest hourly fall in a year"


def hours(*headlines: tuple[str, str | None]) -> list[Hour]:
    """Return hours with their headlines and what these are about, oldest first."""
    return [
        Hour(START_MS + place * HOUR_MS, START_MS, "range", None, headline, {}, situation=situation)
        for place, (headline, situation) in enumerate(headlines)
    ]


def test_a_headline_about_another_situation_is_news_in_its_own_words() -> None:
    kept = hours(
        ("", None), (FLAT_DAY, "plain"), ("Crypto is up 0.3% in a day", "plain"), ("", None), (FLAT_DAY, "plain"),
        (SHOCK, "shock"), (SHOCK, "shock"),
    )  # fmt: skip

    newest, first = items(feeds(SITE, SourceMode.LIVE, (), (), AT, hours=kept))

    assert (first["title"], newest["title"]) == (FLAT_DAY, SHOCK)
    assert newest["summary"] == f"{SHOCK}."
    assert (newest["_emi"]["kind"], newest["_emi"]["situation"]) == ("news", "shock")
    assert datetime.fromisoformat(newest["date_published"]).timestamp() * 1000 == START_MS + 5 * HOUR_MS
    assert not re.search("label|risk|regime|confidence", newest["content_html"].replace(DISCLAIMER, "").lower())


def test_changes_of_the_state_are_news_of_the_time_before_situations_alone() -> None:
    changed = state_changes((CALM, MarketSide.FLAT), (EXTREME, MarketSide.FLAT), (EXTREME, MarketSide.RISING))
    before = {item["id"]: item for item in items(feeds(SITE, SourceMode.LIVE, (), changed, AT))}

    kept = hours(("", None), ("", None), (FLAT_DAY, "plain"))
    after = items(feeds(SITE, SourceMode.LIVE, (), changed, AT, hours=kept))

    assert [item["_emi"]["kind"] for item in after] == ["news", "state", "state"]
    assert {item["id"]: item for item in after[1:]} == {item["id"]: before[item["id"]] for item in after[1:]}


def test_a_daily_question_is_news_when_it_is_asked_and_when_it_is_measured() -> None:
    asked, measured = (entry for entry in items(feeds(SITE, SourceMode.LIVE, (), (), AT, questions=[OVER]))[::-1])

    assert (asked["title"], asked["date_published"]) == (
        "Where will Bitcoin be at 13:00 UTC on 26 November?",
        "2026-11-24T13:00:00Z",
    )
    assert measured["title"] == "BTC-DAILY-20261122: Bitcoin moved +1.50%"
    assert "a usual day" in measured["summary"]
    assert "the mean of 3 answers 4.25" in measured["summary"]
    assert measured["url"] == f"{SITE.base_url}/arena/daily/#BTC-DAILY-20261122"
    assert len(items(feeds(SITE, SourceMode.LIVE, (), (), AT, questions=[OPEN]))) == 1
