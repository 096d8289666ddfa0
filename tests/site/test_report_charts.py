"""The charts of the human report: drawn of what the tick knows, shown as tables, and only shapes and words."""

import json
import xml.etree.ElementTree as ET

import pytest

from generator.compose.paid_human_report import ReportChart, X402HumanReportPaidResponse, paid_human_report
from generator.site.charts.report import illustrated, report_charts
from generator.site.files.sample import bundled
from generator.site.words.format import signed
from tests.support.builders import CONTEXTS, full_context

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {"svg", "title", "desc", "line", "text", "rect", "circle", "polyline", "polygon", "path"}
TRAITS = {
    *("class", "id", "role", "viewBox", "aria-labelledby", "data-tip", "text-anchor", "d", "points"),
    *("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "width", "height"),
}
PARTS = {
    *("report-regimes", "report-moves", "report-swings", "report-funding", "report-outlook"),
    "report-rates",
}


def charts(name: str = "full") -> dict[str, ReportChart]:
    return {chart.name: chart for chart in report_charts(CONTEXTS[name]())}


def test_the_report_of_a_whole_tick_has_every_chart() -> None:
    assert set(charts()) == PARTS


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("hourly", PARTS - {"report-moves", "report-funding"}),
        ("empty_memory", {"report-rates"}),
        ("candles_only", {"report-funding"}),
        ("everything_missing", PARTS),
    ],
)
def test_what_is_unknown_is_not_drawn(name: str, left_out: set[str]) -> None:
    assert PARTS - set(charts(name)) == left_out


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_picture_is_made_of_shapes_words_and_class_names_alone(name: str) -> None:
    for chart in charts(name).values():
        nodes = list(ET.fromstring(chart.svg).iter())

        assert {node.tag.removeprefix(SVG) for node in nodes} <= SHAPES
        assert {key for node in nodes for key in node.attrib} <= TRAITS
        assert all(node.tag.startswith(SVG) for node in nodes)


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_chart_gives_its_finding_how_to_read_it_its_source_and_its_numbers(name: str) -> None:
    for chart in charts(name).values():
        drawn = ET.fromstring(chart.svg)

        assert drawn.findtext(f"{SVG}title") == chart.title
        assert drawn.findtext(f"{SVG}desc") == chart.description
        assert {len(row) for row in chart.rows} == {len(chart.columns)}
        assert chart.source.startswith("Source: ")


def test_the_outlook_is_a_band_that_says_nothing_of_the_way() -> None:
    outlook = charts()["report-outlook"]
    places = ET.fromstring(outlook.svg).find(f"{SVG}polygon")

    assert places is not None
    heights = [float(pair.split(",")[1]) for pair in places.attrib["points"].split()]
    middle = heights[0]
    assert heights == pytest.approx([2 * middle - height for height in reversed(heights)])
    assert [row[0] for row in outlook.rows] == ["15 minutes", "1 hour", "4 hours"]


def test_funding_and_moves_are_those_of_the_words() -> None:
    body = paid_human_report(full_context()).as_json()["report"]

    moves = {row[0]: row[1] for row in charts()["report-moves"].rows}

    assert moves == {coin["asset"]: signed(coin["change_24h"]) for coin in body["assets"]}


@pytest.mark.parametrize("name", ["report-regimes", "report-moves"])
def test_the_rows_of_a_chart_are_in_the_order_that_its_title_ranks(name: str) -> None:
    sizes = [float(row[1].strip("%+\N{MINUS SIGN}")) for row in charts()[name].rows]

    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 2


def test_a_body_with_charts_is_still_the_body_of_the_contract() -> None:
    plain = paid_human_report(full_context())

    whole = illustrated(plain, report_charts(full_context())).as_json()

    X402HumanReportPaidResponse.model_validate_json(json.dumps(whole))
    report = plain.as_json()["report"]
    assert {key for key, value in whole["report"].items() if value != report[key]} == {"charts"}
    assert report["charts"] == []


def test_the_bundled_sample_has_every_chart() -> None:
    assert {chart["name"] for chart in bundled()["report"]["charts"]} == PARTS
