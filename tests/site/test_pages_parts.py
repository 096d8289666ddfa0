import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.arena.values import BacktestScores
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.errors import PublishError
from generator.site.charts.now import shares, sparkline
from generator.site.pages.record import record_view
from generator.site.resources import Resources
from generator.site.words import format as page_format
from generator.site.words.reference import Reference, type_name
from tests.support.builders import NOW_MS, empty_arena
from tests.support.page_view import Rendered, arena, predictions, view
from tests.support.ranges import how_far


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (96_432.1, "$96,432"),
        (1.48213, "$1.48213"),
        (86.75, "$86.75"),
        (0.0872, "$0.0872"),
        (3_120.0, "$3,120.00"),
        (0.0000081234, "$0.00000812"),
        (1_234_567.0, "$1,234,567"),
        (None, "unknown"),
    ],
)
def test_prices_keep_six_digits_and_no_noise(value: float | None, text: str) -> None:
    assert page_format.price(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "+1.23%"), (-0.5, "\N{MINUS SIGN}0.50%"), (-0.001, "0.00%"), (None, "unknown")]
)
def test_changes_carry_their_sign_unless_they_are_nothing(value: float | None, text: str) -> None:
    assert page_format.signed(value).replace("\xa0", " ") == text


@pytest.mark.parametrize(("minutes", "text"), [(7, "7 min"), (443, "7 h 23 min"), (3000, "2 d 2 h"), (None, "unknown")])
def test_spans_use_their_largest_units(minutes: int | None, text: str) -> None:
    assert page_format.duration(minutes) == text


def test_back_ticks_become_code_and_the_rest_is_escaped() -> None:
    assert page_format.coded("use `a<b` & go") == "use <code>a&lt;b</code> &amp; go"


@pytest.mark.parametrize(("change", "title"), [(1.5, "BTC: +1.50% over 24 hours"), (None, "BTC: the last 24 hours")])
def test_a_sparkline_draws_a_day_and_says_its_change_where_known(change: float | None, title: str) -> None:
    closes = tuple((i * 3_600_000, 100.0 + i) for i in range(200))

    svg = ET.fromstring(str(sparkline("BTC", closes, change)))

    assert svg.findtext("title", "").replace("\xa0", " ") == title
    assert "From $275.00" in (svg.findtext("desc") or "")


def test_a_sparkline_ends_at_the_newest_close_inside_its_box() -> None:
    closes = tuple((i * 300_000, 100.0 + (i * 7) % 13) for i in range(333))

    svg = ET.fromstring(str(sparkline("BTC", closes, 1.5)))
    line = svg.find("polyline")
    assert line is not None
    points = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]

    assert len(points) <= 96
    assert all(0 <= x <= 132 and 0 <= y <= 36 for x, y in points)
    assert points[-1][0] == max(x for x, _ in points) == 129.0


def test_a_flat_market_is_drawn_in_the_middle() -> None:
    svg = str(sparkline("BTC", ((0, 5.0), (300_000, 5.0)), 0.0))

    assert 'points="3.0,18.0 129.0,18.0"' in svg


@pytest.mark.parametrize("closes", [(), ((0, 1.0),), ((0, float("nan")), (300_000, 2.0))])
def test_too_few_closes_draw_nothing(closes: tuple[tuple[int, float], ...]) -> None:
    assert sparkline("BTC", closes, None) is None


def test_nothing_is_drawn_of_an_empty_vote() -> None:
    assert shares("x", "Votes", (("for", "bullish", 0), ("against", "bearish", 0))) is None


def test_shares_name_every_part_with_its_count() -> None:
    svg = ET.fromstring(
        str(shares("x", "Votes", (("for", "bullish", 3), ("even", "neutral", 0), ("against", "bearish", 1))))
    )

    assert svg.findtext("desc") == "bullish 3, neutral 0, bearish 1"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string"}, "string"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "number or null"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/TeacherLesson"}}, "list of objects"),
        ({"type": "object", "additionalProperties": {"$ref": "#/$defs/CoinSnapshot"}}, "map of objects"),
        ({"type": "object", "additionalProperties": True}, "object"),
        ({"const": 2}, "“2”"),
    ],
)
def test_types_are_written_in_words(schema: dict[str, object], text: str) -> None:
    assert type_name(schema, {}) == text


def test_a_field_says_whether_it_may_be_absent_and_which_words_it_takes() -> None:
    inner: dict[str, Any] = {
        "properties": {"x": {"type": "string", "enum": ["up", "down"]}, "y": {}},
        "required": ["x"],
    }
    schemas: dict[str, Any] = {
        "ReasoningResponse": {"properties": {"it": {"$ref": "#/components/schemas/A"}}},
        "A": inner,
    }

    x, y = Reference(schemas).of(ENDPOINT_BY_ID["reasoning"])[1].fields

    assert (x.required, x.description) == (True, "One of: up, down.")
    assert (y.required, y.type) == (False, "any value")


def test_an_installation_without_templates_is_named_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="templates are missing"):
        Resources.locate(tmp_path / "generator")


def test_the_wheels_own_data_come_before_the_folders_around_it(tmp_path: Path) -> None:
    package = tmp_path / "generator"
    (package / "_data/templates/pages").mkdir(parents=True)
    (package / "_data/site/assets").mkdir(parents=True)

    assert Resources.locate(package) == Resources(package / "_data/templates", package / "_data/site")


def test_the_backtest_is_named_apart_and_in_no_figure_of_the_record() -> None:
    held = replace(empty_arena(), backtest=BacktestScores(arena().hourly_record, arena().arena_record, how_far(36)))
    due = tuple(replace(made, warm_up=place >= 10 * len(ASSETS)) for place, made in enumerate(predictions(20)))
    view = record_view(held, due, "Source: a test.", NOW_MS)

    assert view["figure"]["number"] == "11:00 UTC"
    assert view["figure"]["how"].startswith("In a backtest before the start 86.1% of 36 moves ")
    assert [row[:2] for row in view["backtest"]["rows"]] == [
        ("Which way, each hour", "1,204"),
        ("Arena forecasts", "60"),
    ]
    assert [(horizon, half[-11:]) for horizon, half, _ in view["backtest"]["far"]] == [
        (words, "of 36 moves") for words in ("15 minutes", "1 hour", "4 hours", "24 hours")
    ]
    assert not any(section["charts"] for section in view["sections"])
    assert [row["from_backtest"] for row in view["grid"]] == [place >= 10 for place in range(20)]


def test_the_landing_page_says_one_change_of_a_day_in_cell_and_picture() -> None:
    of = view()
    html = Rendered(of)["/index.html"].decode()

    for asset, coin in of.bodies.main_brain.coins.items():
        change = page_format.signed(coin.change_24h)
        assert f"{asset}: {change} over 24 hours" in html
        assert f">{change}<" in html
