import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from generator.arena.rates import rate
from generator.catalog.durations import DAY_MS
from generator.catalog.horizons import HORIZONS
from generator.site.charts.history import line_chart
from generator.site.charts.now import live_round
from generator.site.charts.plot import ROW_LABEL, ROW_VALUE, WIDTH, Chart, tick_text
from generator.site.charts.ranges import how_far as ranges_of
from generator.site.charts.record import coverage, rates, saved, skills
from generator.values.ranges import MoveRange
from generator.values.scores import ForecastScores
from tests.support.builders import NOW_MS
from tests.support.page_view import START_MS, arena
from tests.support.ranges import how_far

SOURCE = "Source: a test."

HOUR = {"1h": MoveRange(low_90=-0.56, low_50=-0.22, high_50=0.23, high_90=0.57)}
DAY = {**HOUR, "24h": MoveRange(low_90=-2.9, low_50=-1.1, high_50=1.1, high_90=3.0)}


def _record() -> ForecastScores:
    return arena().hourly_record


def _live(now_price: float | None = 96_432.1) -> Chart | None:
    live = arena().live
    assert live is not None
    path = [(START_MS + minute * 60_000, 96_210.4 + 3 * minute) for minute in range(-10, 80, 5)]
    return live_round(live, path, NOW_MS, now_price, SOURCE)


CHARTS: dict[str, Callable[[], Chart | None]] = {
    "live": _live,
    "coverage": lambda: coverage("c", how_far(), SOURCE),
    "saved": lambda: saved("s", how_far(), SOURCE),
    "saved, worse": lambda: saved("s", how_far(wider=1.9), SOURCE),
    "rates": lambda: rates("h", "The brain", (("Brain", rate(40, 90)), ("People", rate(0, 0))), SOURCE),
    "skill": lambda: skills("b", _record(), SOURCE),
    "an hour": lambda: ranges_of("r", "BTC", 61_135.0, HOUR, SOURCE),
    "a day": lambda: ranges_of("r", "XLM", None, DAY, SOURCE),
}
WITH_AXES = CHARTS.keys() - {"an hour", "a day"}  # these write each value at its mark


def _drawn(name: str) -> ET.Element:
    return ET.fromstring(str(CHARTS[name]()))


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_has_title_description_source_and_a_table_with_the_same_finding(name: str) -> None:
    figure = _drawn(name)
    svg = figure.find("svg")
    assert svg is not None
    finding = figure.findtext("figcaption")

    assert finding
    assert svg.findtext("title") == finding == figure.findtext("details/table/caption")
    assert svg.get("role") == "img"
    assert (svg.get("aria-labelledby") or "").split() == [node.get("id") for node in (svg[0], svg[1])]
    assert svg.findtext("desc")
    assert figure.findtext("p[@class='source']") == SOURCE


@pytest.mark.parametrize("name", CHARTS)
def test_every_mark_lies_inside_the_picture(name: str) -> None:
    svg = _drawn(name).find("svg")
    assert svg is not None
    _, _, width, height = map(float, (svg.get("viewBox") or "").split())
    places = [(float(dot.get("cx") or 0), float(dot.get("cy") or 0)) for dot in svg.iter("circle")]
    for line in (*svg.iter("polyline"), *svg.iter("polygon")):
        places += [(float(x), float(y)) for x, y in (pair.split(",") for pair in (line.get("points") or "").split())]

    assert all(0 <= x <= width and 0 <= y <= height for x, y in places)


@pytest.mark.parametrize("name", sorted(WITH_AXES))
def test_axes_carry_a_quantity_with_its_unit(name: str) -> None:
    svg = _drawn(name).find("svg")
    assert svg is not None
    labels = " ".join(text.text or "" for text in svg.iter("text") if text.get("class") == "axis")

    assert any(unit in labels for unit in ("%", "UTC", "score"))


@pytest.mark.parametrize(
    ("name", "marks", "written"),
    [
        (
            "an hour",
            [-0.22, 0.23, -0.56, 0.57],
            "$61,001 \N{MINUS SIGN}0.22% $61,276 +0.23% 90% $60,793 \N{MINUS SIGN}0.56% $61,483 +0.57%",
        ),
        (
            "a day",
            [-0.56, 0.57, -0.22, 0.23, -2.9, 3.0, -1.1, 1.1],
            "+0.57% 24 hours \N{MINUS SIGN}2.90% +3.00% 90% 50%",
        ),
    ],
)
def test_ranges_are_bars_on_one_scale_around_now_with_their_ends_in_words(
    name: str, marks: list[float], written: str
) -> None:
    figure = _drawn(name)
    (here,) = [float(line.get("x1") or 0) for line in figure.iter("line")]

    bars = [(float(bar.get("x") or 0), float(bar.get("width") or 0)) for bar in figure.iter("rect")]
    drawn = [edge - here for x, width in bars for edge in (x, x + width)]

    scale = (max(drawn) - min(drawn)) / (max(marks) - min(marks))
    assert drawn == pytest.approx([scale * move for move in marks], abs=0.15)
    assert written in " ".join(text.text or "" for text in figure.iter("text"))


def test_the_table_of_ranges_has_them_as_prices_and_in_percent() -> None:
    cells = [cell.text for cell in _drawn("an hour").iter("td")]

    assert cells == [
        "$60,793 to $61,483 (\N{MINUS SIGN}0.56% to +0.57%)",
        "$61,001 to $61,276 (\N{MINUS SIGN}0.22% to +0.23%)",
    ]
    assert _drawn("an hour").findtext("figcaption") == (
        "Bitcoin in 1 hour: nine times in ten between $60,793 and $61,483"
    )


def test_without_a_range_nothing_is_drawn() -> None:
    assert ranges_of("r", "BTC", 61_135.0, {}, SOURCE) is None


def test_the_live_round_is_drawn_from_its_start_to_now_and_no_further() -> None:
    rows = [row.findtext("th") for row in _drawn("live").iter("tr")][1:]

    assert rows[0] == "09:00"
    assert rows[-1] == "09:53"
    assert rows == sorted(str(row) for row in rows)


@pytest.mark.parametrize(
    ("now", "words"),
    [(97_432.1, "up so far"), (97_190.4, "a small move so far"), (95_000.0, "down so far")],
)
def test_the_live_round_says_where_it_is(now: float, words: str) -> None:
    assert words in (ET.fromstring(str(_live(now))).findtext("figcaption") or "")


@pytest.mark.parametrize(
    "chart",
    [
        coverage("c", how_far(36), SOURCE),
        saved("s", how_far(36), SOURCE),
        rates("h", "The brain", (("Brain", rate(0, 0)),), SOURCE),
        skills("b", replace(_record(), brier=None), SOURCE),
    ],
)
def test_nothing_is_drawn_of_nothing_or_of_too_little(chart: Chart | None) -> None:
    assert chart is None


def test_the_axis_of_the_scores_holds_every_mark_and_its_interval() -> None:
    for name in ("saved", "saved, worse", "skill"):
        chart = CHARTS[name]()
        assert chart is not None
        marks = [float(x) for x in re.findall(r'<circle class="dot" cx="([0-9.]+)"', str(chart.svg()))]

        assert len(set(marks)) > 1
        assert ROW_LABEL < min(marks) < max(marks) < WIDTH - ROW_VALUE, name  # none is cut off at an end


def test_the_coverage_has_a_row_and_an_interval_for_each_range() -> None:
    rows = [[cell.text for cell in row] for row in _drawn("coverage").iter("tr")][1:]

    assert [row[0] for row in rows] == [f"{horizon}, {level}%" for level in (90, 50) for horizon in HORIZONS]
    assert all(row[2] and " to " in row[2] for row in rows)


def test_words_from_outside_are_escaped_in_picture_and_table() -> None:
    chart = str(rates("h", "<b>", (("<i>", rate(40, 90)),), SOURCE))

    assert "<b>" not in chart
    assert "<i>" not in chart


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-8.308e-05, "\N{MINUS SIGN}0.00008308"),
        (1e-07, "0.0000001"),
        (1_234_567.0, "1234570"),
        (0.0, "0"),
        (2.50, "2.5"),
    ],
)
def test_no_number_of_a_chart_has_an_exponent(value: float, written: str) -> None:
    assert tick_text(value) == written


def test_a_title_names_a_value_as_finely_as_its_chart_shows_it() -> None:
    values = (-0.0207, 0.04701, -8.308e-05)
    points = [(NOW_MS + day * DAY_MS, value) for day, value in enumerate(values)]

    chart = line_chart("f", "BTC funding, % per 8 hours", "% per 8 hours", points, SOURCE)

    assert chart is not None
    minus = "\N{MINUS SIGN}"
    at = f"{datetime.fromtimestamp(NOW_MS / 1000, UTC):%H:%M}"
    assert chart.caption.finding.startswith(
        f"BTC funding, % per 8 hours: {minus}0.0001 at {at}, between {minus}0.0207 and 0.047 since"
    )
