"""The report's plots: each point again from the other parts of the answers; that of a month is in test_report.py."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from generator.brain.month import month_of
from generator.brain.spells import Spells
from generator.compose.free import FreeBodies
from generator.compose.plots import plots
from generator.compose.report import _trading
from generator.values.scores import CalibrationBin, MoveScores
from tests.support.bodies import composed, paid
from tests.support.builders import full_context
from tests.support.known import rate_of
from tests.support.markets import market

REPORT: Final = "x402-atlas-human-report"


def plot(report: Mapping[str, Any], name: str) -> dict[str, Any]:
    [found] = [each for each in report["plots"] if each["name"] == name]
    return dict(found)


def series(drawn: Mapping[str, Any]) -> dict[str, Any]:
    return {each["name"]: each["values"] for each in drawn["series"]}


def test_the_ranges_and_the_ladder_that_are_drawn_are_those_of_the_answers() -> None:
    report = paid("full", REPORT)["report"]
    ranges, ladder = plot(report, "ranges"), plot(report, "ladder")
    levels = report["levels"]["4h"]
    reading = full_context().reading
    assert reading is not None

    reach = reading.assets["BTC"].ranges
    assert reach is not None
    assert ranges["x"] == list(report["levels"]) == list(reach)
    assert list(series(ranges)) == ["low_90", "low_50", "high_50", "high_90"]
    for name, values in series(ranges).items():
        assert values == [pytest.approx(getattr(move, name), abs=0.006) for move in reach.values()]
    assert ladder["x"] == levels["levels_percent"]
    assert series(ladder) == {
        "at the end": [round(100 * chance, 1) for chance in levels["end_either"]],
        "on the way": [round(100 * chance, 1) for chance in levels["touch_either"]],
    }


def test_the_calibration_that_is_drawn_is_the_record_of_live_forecasts() -> None:
    full = full_context()
    bins = (
        CalibrationBin.of(
            30.0,
            40.0,
            900,
            rate_of(325, 900, 36.11, 33.0, 39.3),
            36.94,
        ),
        CalibrationBin.of(
            40.0,
            50.0,
            290,
            rate_of(105, 290, 36.21, 30.9, 41.9),
            44.86,
        ),
        CalibrationBin.of(50.0, 60.0, 12, None, 55.5),
        CalibrationBin.of(60.0, 70.0, 40, rate_of(20, 40, 50.0, 35.2, 64.8), None),
    )
    record = replace(full.arena.hourly_record, move=MoveScores(bins=bins))

    [drawn] = [
        each for each in plots(replace(full, arena=replace(full.arena, hourly_record=record))) if each.x == (36.9, 44.9)
    ]

    assert (drawn.name, drawn.part, drawn.kind, drawn.states) == ("calibration", "far", "line", ())
    assert series(drawn.model_dump()) == {"moved": (36.1, 36.2), "right would be": (36.9, 44.9)}
    assert (drawn.unit, drawn.x_name) == ("percent of cases that moved", "published, percent")


def test_without_a_month_or_a_reading_nothing_of_them_is_drawn() -> None:
    full = full_context()

    assert {each.name for each in plots(full)} == {"ranges", "ladder"}
    assert plots(replace(full, reading=None)) == ()


def test_every_free_answer_is_found_by_its_name() -> None:
    answers = FreeBodies(composed("full").free)
    names_of_it = [name for name, member in vars(FreeBodies).items() if isinstance(member, property)]
    found = {name: getattr(answers, name) for name in names_of_it}

    for name, body in found.items():
        assert body.as_json().get("endpoint", "status") == name.replace("_", "-"), name
    assert answers.reasoning("ETH").as_json()["asset"] == "ETH"
    assert len(found) == 8


def test_the_price_is_drawn_from_five_days_ago_to_now_by_two_hours() -> None:
    month = month_of(market(31 * 288, seed=3), Spells(), None)
    assert month is not None
    drawn = plot({"plots": [each.model_dump() for each in plots(replace(full_context(), month=month))]}, "price")
    closes = dict(zip(month.hours_ms.tolist(), month.closes[:, 0].tolist(), strict=True))

    assert drawn["x"] == tuple(-2.0 * ago for ago in range(59, -1, -1))
    at = [month.now_ms + int(3_600_000 * hours) for hours in drawn["x"]]
    assert series(drawn) == {"Bitcoin": tuple(pytest.approx(closes[each], rel=1e-5) for each in at)}


def test_what_is_traded_in_a_day_is_ranked_in_percent_of_the_month() -> None:
    month = month_of(market(31 * 288, seed=3), Spells(), None)
    assert month is not None
    volume = month.ranks["volume"]
    assert volume.now is not None
    assert volume.rank is not None

    assert _trading(month) == (volume.now, 100 * volume.rank, 31)
    assert _trading(None) is None
