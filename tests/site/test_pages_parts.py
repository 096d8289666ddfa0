import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.arena.rates import rate
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.text import figures
from generator.errors import PublishError
from generator.site.charts.now import shares, sparkline
from generator.site.charts.plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Chart
from generator.site.charts.record import reliability
from generator.site.pages.record import RecordView, record_view
from generator.site.pages.rounds import who_was_right
from generator.site.resources import Resources
from generator.site.words import format as page_format
from generator.site.words.reference import Reference, type_name
from generator.values.scores import BacktestScores, CalibrationBin, MoveScores, Rate
from tests.support.builders import NOW_MS, empty_arena, teacher
from tests.support.page_view import Rendered, arena, predictions, view
from tests.support.ranges import how_far


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (96_432.1, "$96,432"),
        (1.48213, "$1.4821"),
        (86.75, "$86.75"),
        (0.0872, "$0.0872"),
        (3_120.0, "$3,120"),
        (0.0000081234, "$0.00000812"),
        (1_234_567.0, "$1,234,567"),
        (None, "unknown"),
    ],
)
def test_prices_are_rounded_as_in_sentences_and_have_no_noise(value: float | None, text: str) -> None:
    assert figures.price(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "+1.23%"), (-0.5, "\N{MINUS SIGN}0.50%"), (-0.001, "0.00%"), (None, "unknown")]
)
def test_changes_carry_their_sign_unless_they_are_nothing(value: float | None, text: str) -> None:
    assert figures.signed(value).replace("\xa0", " ") == text


def test_a_move_and_its_band_keep_every_digit_that_is_published() -> None:
    assert (figures.signed_bps(6.1), figures.band(6.0)) == ("+0.061%", "0.060%")
    assert (figures.signed_bps(None), figures.band(None)) == ("unknown", "unknown")


@pytest.mark.parametrize(("minutes", "text"), [(7, "7 min"), (443, "7 h 23 min"), (3000, "2 d 2 h"), (None, "unknown")])
def test_spans_use_their_largest_units(minutes: int | None, text: str) -> None:
    assert figures.duration(minutes) == text


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

    assert view.backtest is not None
    assert (view.figure.number, view.figure.tested) == ("86.1%", True)
    assert view.figure.how.startswith("A backtest before the start, scored apart from the record. ")
    assert view.figure.how.endswith(": 11:00 UTC.")
    assert [row[:2] for row in view.backtest.rows] == [
        ("Which way, each hour", "1,204"),
        ("Arena forecasts", "60"),
    ]
    assert [(row.horizon, row.half[-11:]) for row in view.backtest.far] == [
        (words, "of 36 moves") for words in ("15 minutes", "1 hour", "4 hours", "24 hours")
    ]
    assert [row.from_backtest for row in view.grid] == [place >= 10 for place in range(20)]


def backtested() -> BacktestScores:
    """Return a backtest whose every rate says so, with 480 hours of ranges and four levels of the chance of a move."""

    def tested(hits: int, n: int) -> Rate:
        return rate(hits, n, backtest=True)

    levels = tuple(
        CalibrationBin.of(said, said + 10.0, 60, tested(came, 60), said + 5.0)
        for said, came in ((30.0, 21), (40.0, 27), (50.0, 33), (60.0, 39))
    )
    move = MoveScores(n=240, said_percent=50.0, base_percent=61.0, moved=tested(120, 240), bins=levels)
    hourly = replace(arena().hourly_record, hit=tested(120, 200), chance=tested(130, 200), move=move)
    far = tuple(
        replace(
            one, scores=tuple(replace(score, inside_90=replace(score.inside_90, backtest=True)) for score in one.scores)
        )
        for one in how_far(480)
    )
    return BacktestScores(hourly, replace(hourly, kind="arena", hit=tested(20, 40)), far)


def drawn_in(record: RecordView) -> list[Chart]:
    """Return the charts of a record."""
    charts = [*record.far_charts.charts, *(chart for section in record.sections for chart in section.charts)]
    if record.move.chart is not None:
        charts.insert(len(record.far_charts.charts), record.move.chart)
    return charts


def test_until_thirty_calls_are_due_each_chart_is_the_backtests_hollow_and_named() -> None:
    held = replace(empty_arena(), backtest=backtested())
    shown = record_view(held, (), "Source: a test.", NOW_MS)
    charts = drawn_in(shown)

    drawn = [str(chart) for chart in charts]

    names = ("coverage", "saved", "reliability", "hourly-rates", "hourly-skill", "arena-rates", "arena-skill")
    assert [chart.caption.name for chart in charts] == list(names)
    for name, chart in zip(names, drawn, strict=True):
        assert "<figcaption>Backtest before the start: " in chart, name
        assert "url(" not in chart, name  # no hatch: it would be louder than what is drawn
        assert 'class="dot tested"' in chart, name
        assert 'class="dot"' not in chart, name


def test_from_thirty_calls_on_no_chart_of_the_record_is_the_backtests() -> None:
    held = replace(arena(), how_far=how_far(480), backtest=backtested())
    held = replace(held, hourly_record=replace(held.hourly_record, move=live_moves()))
    shown = record_view(held, predictions(), "Source: a test.", NOW_MS)
    charts = drawn_in(shown)

    drawn = "".join(map(str, charts))

    assert len(charts) == 7
    assert "acktest" not in drawn
    assert "tested" not in drawn


def live_moves() -> MoveScores:
    came = rate(40, 60)
    return MoveScores(
        n=60, said_percent=65.0, base_percent=61.0, moved=came, bins=(CalibrationBin.of(60.0, 70.0, 60, came, 65.0),)
    )


def test_a_chart_of_reliability_places_each_level_by_what_was_said_and_what_came() -> None:
    chart = reliability("reliability", backtested().hourly.move, "Source: a test.")
    assert chart is not None

    dots = re.findall(r'<circle class="dot tested" cx="([\d.]+)" cy="([\d.]+)"', str(chart))
    width = WIDTH - RIGHT - LEFT
    height = HEIGHT - BOTTOM - TOP

    for (x, y), said, came in zip(dots, (35, 45, 55, 65), (35, 45, 55, 65), strict=True):
        assert float(x) == pytest.approx(LEFT + width * said / 100, abs=0.06)
        assert float(y) == pytest.approx(HEIGHT - BOTTOM - height * came / 100, abs=0.06)
    assert [row[:3] for row in chart.caption.rows] == [
        (f"{percent}, backtest", "60", percent) for percent in ("35.0%", "45.0%", "55.0%", "65.0%")
    ]
    assert chart.caption.finding.endswith("at 4 of 4 levels")


def test_of_too_few_calls_of_the_brain_the_arena_draws_no_rate_in_its_name() -> None:
    metrics = teacher(40, 0, (rate(9, 18), rate(20, 40), rate(14, 40)))
    held = replace(arena(), teacher=metrics)

    without = who_was_right(held, (), "Source: a test.")
    shown = who_was_right(replace(held, backtest=backtested()), (), "Source: a test.")

    assert (without.chart, without.tested) == (None, False)
    assert shown.tested
    assert "Backtest before the start: the brain: 50.0% of 40 right" in str(shown.chart)


def test_the_small_lines_of_the_landing_page_say_the_published_change() -> None:
    of = view()
    html = Rendered(of)["/index.html"].decode()

    for asset, coin in of.bodies.main_brain.coins.items():
        change = figures.signed(coin.change_24h)
        assert f"{asset}: {change} over 24 hours" in html
