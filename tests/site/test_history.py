"""The market over time: what the charts and the file of hours show, and what they leave out."""

import re
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from generator.brain.reading import NO_AXES, Axes
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.words import MarketSide
from generator.market.bars import BarFrame
from generator.site.charts.history import WINDOWS, Lately, history
from generator.site.files.history import FILES, histories, hours_csv
from generator.site.words.days import DAYS_IN_FULL, days
from generator.values.hours import Hour
from generator.values.ranges import MoveRange
from tests.blocks import blocks, prints
from tests.support.builders import NOW_MS, full_context
from tests.support.page_view import Rendered, view


def side(of: MarketSide) -> Axes:
    return replace(NO_AXES, side=of)


HOURS = tuple(
    Hour(
        NOW_MS - back * HOUR_MS,
        NOW_MS - back * HOUR_MS,
        "range",
        (0.1, 0.2, 0.6, 0.1),
        "",
        {"BTC": 97_000.0 + back},
        back > 20,
    )
    for back in reversed(range(48))
)
CLOSES = [(hour.market_ms, hour.prices["BTC"]) for hour in HOURS]


def drawn(hours: tuple[Hour, ...] = HOURS, closes: list[tuple[int, float]] = CLOSES) -> str:
    return str(history("btc-7d", WINDOWS["7d"], Lately("BTC", NOW_MS, closes, hours, None), ""))


def test_a_chart_says_what_the_hours_it_shows_were() -> None:
    assert "Bitcoin is where it was on 18 Nov, 10:53 UTC<" in drawn()
    assert "20 Nov, 04:53 UTC: $97,005; range 60.0%, risk-off 20.0%" in drawn()


def test_strip_and_legend_of_a_regime_have_one_fill_and_labels_lie_outside() -> None:
    ahead = {"24h": MoveRange(-3.0, -1.0, 1.0, 3.0)}
    chart = history("btc-7d", WINDOWS["7d"], Lately("BTC", NOW_MS, CLOSES, HOURS, ahead), "")
    assert chart is not None

    picture = ET.fromstring(str(chart.svg(alone=True)).replace(' xmlns="http://www.w3.org/2000/svg"', ""))
    fills = Counter(str(part.get("fill")) for part in picture.iter() if part.get("fill"))
    texts = {str(part.text): float(part.get("x") or 0) for part in picture.iter("text")}
    stripes = [float(part.get("x") or 0) for part in picture.iter("rect") if part.get("class") == "tint"]

    assert fills["url(#btc-7d-range)"] == 2
    assert fills["url(#btc-7d-transition)"] == 1  # mixed is in the legend alone
    assert all(x < min(stripes) for words, x in texts.items() if words.startswith("$") and "at" not in words)
    assert {"50%", "90%", "range", "mixed"} < set(texts)
    assert min(texts["50%"], texts["90%"]) > 590


def test_the_first_lines_of_the_first_page_hold_the_reading_of_the_tutorial() -> None:
    (quoted,) = [block.quoted for block in blocks("docs/tutorial.md") if "index.md | head -60" in block.text]

    twin = Rendered(view())["/index.md"].decode()

    assert prints(quoted, "\n".join(twin.splitlines()[:60]))


def test_the_strip_lies_below_the_line_and_every_day_of_a_week_has_its_tick() -> None:
    times = range(NOW_MS - 7 * DAY_MS, NOW_MS + 1, HOUR_MS)
    week = [(at, 97_000.0 + 10 * place) for place, at in enumerate(times)]
    picture = ET.fromstring(f"{drawn(closes=week).split('</figcaption>')[1].split('</svg>')[0]}</svg>")

    parts = {kind: [part for part in picture.iter() if part.get("class") == kind] for kind in ("line", "tint", "tick")}
    lowest = max(float(point.split(",")[1]) for point in (parts["line"][0].get("points") or "").split())
    days = [str(part.text).split()[0] for part in parts["tick"] if str(part.text).split()[0].isdigit()]

    assert all(float(part.get("y") or 0) > lowest for part in parts["tint"])
    assert days == ["14", "15", "16", "17", "18", "19", "20"]


def test_a_replay_names_the_year_of_its_days() -> None:
    of = Lately("BTC", NOW_MS, CLOSES, HOURS, None, year=True)
    html = str(history("btc-7d", WINDOWS["7d"], of, ""))

    assert "Bitcoin is where it was on 18 Nov 2026, 10:53 UTC<" in html
    assert ">14 Nov 2026<" in html
    assert "20 Nov 2026, 04:53" in html


def test_hours_that_were_not_published_are_gaps_in_line_and_strip() -> None:
    holed = HOURS[:20] + HOURS[30:]
    closes = [(hour.market_ms, hour.prices["BTC"]) for hour in holed]

    whole, cut = drawn(), drawn(holed, closes)

    assert [whole.count(f'class="{kind}"') for kind in ("line", "chance", "tint")] == [1, 5, 1]
    assert [cut.count(f'class="{kind}"') for kind in ("line", "chance", "tint")] == [2, 5, 2]


def test_nothing_later_than_now_is_drawn() -> None:
    later = replace(HOURS[-1], market_ms=NOW_MS + 1, prices={"BTC": 1.0})

    assert drawn((*HOURS, later), [*CLOSES, (NOW_MS + 1, 1.0)]) == drawn()


def test_the_file_of_hours_marks_those_of_a_backtest() -> None:
    rows = hours_csv((HOURS[0], replace(HOURS[-1], chances=None))).decode().splitlines()

    assert rows[0].startswith("at,market_time,warm_up,regime,chance_risk_on,")
    assert rows[1].split(",")[2:8] == ["true", "range", "0.1", "0.2", "0.6", "0.1"]
    assert rows[2].split(",")[2:9] == ["false", "range", "", "", "", "", "97000.0"]


def test_without_bars_there_is_no_chart_and_the_file_is_still_there() -> None:
    found = histories(replace(full_context(), bars=BarFrame.empty(ASSETS)), (), ())

    assert not found.figures
    assert set(found.files) == set(FILES) - {f"/asset/{asset.lower()}/feed.xml" for asset in ASSETS}


def test_an_hour_names_the_kind_of_its_chances_and_one_from_before_kinds_none() -> None:
    header, old, new = hours_csv((HOURS[0], replace(HOURS[1], chances_kind="holds_four_hours"))).decode().splitlines()

    assert header.endswith(",price_HBAR,chances_kind")
    assert old.endswith(",")
    assert new.endswith(",holds_four_hours")


def test_a_day_has_what_bitcoin_did_over_it_and_its_last_headline() -> None:
    known = [replace(hour, headline=f"{place}.") for place, hour in enumerate(HOURS[-10:])]
    fallen = [*known[:-1], replace(known[-1], prices={"BTC": 95_000.0}, headline="")]

    day = days(fallen)[0]

    assert (day.date, day.name, day.change) == ("2026-11-20", "20 Nov 2026", "\N{MINUS SIGN}2.07%")
    assert (day.hours, day.headline) == (10, "8.")
    assert days(known[:1])[0].change == "unknown"


def test_a_new_day_lists_the_headline_of_each_situation_with_its_time() -> None:
    calm = [replace(hour, headline=f"Calm, {hour.at_ms}", situation="calm") for hour in HOURS[-10:-4]]
    fall = [replace(hour, headline=f"A fall, {hour.at_ms}", situation="move") for hour in HOURS[-4:]]
    before = range(DAYS_IN_FULL, 0, -1)
    of_old = [replace(hour, at_ms=hour.at_ms - back * DAY_MS) for back in before for hour in (*calm, *fall)]

    found = days([*of_old, *calm, *fall])

    assert found[0].headlines == (("00:53", calm[0].headline), ("06:53", fall[0].headline))
    assert found[0].headline == fall[-1].headline
    assert [bool(day.headlines) for day in found] == [True] * DAYS_IN_FULL + [False]


def test_a_day_of_a_backtest_says_what_prices_did() -> None:
    start_ms = NOW_MS // DAY_MS * DAY_MS - DAY_MS
    path = [100.0, 96.0, *(98.0 for _ in range(20)), 101.0, 103.0]
    tested = [
        replace(HOURS[0], at_ms=at, market_ms=at, prices={"BTC": price}, warm_up=True)
        for at, price in zip(range(start_ms, start_ms + DAY_MS, HOUR_MS), path, strict=True)
    ]

    whole = days(tested)[0]
    broken = days(tested[12:])[0]
    bare = days([replace(hour, prices={}) for hour in tested])[0]

    assert whole.headline == "Bitcoin is up 3.0% in a day, after being down 4.0% at 01:00 UTC"
    assert broken.headline == "Bitcoin is up 5.1% since 19 Nov 2026, 12:00 UTC"
    assert (bare.headline, bare.change) == ("", "unknown")


def test_every_headline_of_the_published_days_is_on_the_page() -> None:
    titled = [replace(hour, headline=f"Said {place}.", situation=str(place // 9)) for place, hour in enumerate(HOURS)]
    titled = [replace(hour, warm_up=False) for hour in titled]

    page = Rendered(replace(view(), days=days(titled)))["/arena/history/index.html"].decode()

    folded = page.split("<summary>Every headline of these days</summary>")[1].split("</details>")[0]
    assert re.findall(r"<h3>(.*?)</h3>", folded) == ["20 Nov 2026", "19 Nov 2026", "18 Nov 2026"]
    assert "<li>08:53 UTC: Said 46.</li>" not in folded  # of the situation before it
    assert re.search(r"<li>\d\d:53 UTC: Said 45\.</li>", folded)


@pytest.mark.parametrize(
    ("label", "chance", "shown"),
    [("range", 0.5, "range"), ("range", 0.4, "range"), ("transition", 0.95, "mixed"), ("unknown", None, "unknown")],
)
def test_an_hour_is_shown_by_its_label_whatever_its_chance(label: str, chance: float | None, shown: str) -> None:
    chances = None if chance is None else (0.0, round(1 - chance, 4), chance, 0.0)
    hours = [replace(hour, label=label, chances=chances) for hour in HOURS]

    chart = history("btc-24h", WINDOWS["24h"], Lately("BTC", NOW_MS, CLOSES, hours, None), "")

    assert chart is not None
    assert {row[2] for row in chart.caption.rows} == {shown}
    assert ('class="tint" fill="url(#btc-24h-transition)"' in chart.inner) is (shown == "mixed")
    assert ('class="tint" fill="url(#btc-24h-range)"' in chart.inner) is (shown == "range")


def test_the_first_full_hour_leaves_the_days_of_the_backtest_in_the_list() -> None:
    tested = [replace(hour, warm_up=True) for hour in HOURS]
    first = replace(HOURS[-1], at_ms=NOW_MS, headline="Calm.", warm_up=False)

    found = histories(full_context(), [*tested, first], [first]).days
    page = Rendered(replace(view(), days=found))["/arena/history/index.html"]

    assert [day.tested for day in found] == [False, True, True][: len(found)]
    assert len(found) > 1
    assert page.count(b"backtest, not published") == len(found) - 1


def test_before_the_first_full_hour_the_list_shows_the_backtest() -> None:
    held = [replace(hour, warm_up=True) for hour in HOURS]

    found = Rendered(replace(view(), days=days(held)))

    assert b"the first line follows at 10:00 UTC" in found["/arena/history/index.html"]
    assert b'<th scope="row">19 Nov 2026</th>' in found["/arena/history/index.html"]
