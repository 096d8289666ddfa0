"""The ladder and the partition as they are sold: what the brain said, marked where it must be."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from generator.brain.ladder import LEAST
from generator.catalog.assets import ASSETS
from generator.catalog.horizons import HORIZONS
from generator.compose.ladder import ladder, pair_rows, partition, ranges_of_week
from generator.values.ladders import NO_LADDER_SCORES
from tests.support.bodies import paid
from tests.support.builders import full_context

SIDES = ("above", "below", "either")


@cache
def layer() -> dict[str, Any]:
    whole: dict[str, Any] = paid("full", "x402-atlas")["intelligence_layer"]
    return whole


def test_every_level_of_every_horizon_has_its_chances_at_the_end_and_on_the_way() -> None:
    for asset in ASSETS:
        levels = layer()["ladder"]["assets"][asset]
        assert {name: tuple(row["level_percent"] for row in rows) for name, rows in levels.items()} == {
            name: horizon.levels for name, horizon in HORIZONS.items()
        }
        for row in (row for rows in levels.values() for row in rows):
            assert all(row["end"][side] <= row["touch"][side] for side in SIDES)
            assert all(LEAST <= row[kind][side] <= 1 - LEAST for kind in ("end", "touch") for side in SIDES)


def test_a_chance_below_a_thousandth_and_a_rare_level_are_marked_and_no_other() -> None:
    rows = [(name, row) for name, levels in layer()["ladder"]["assets"]["BTC"].items() for row in levels]

    rare = {(name, row["level_percent"]) for name, row in rows if row.get("rare")}
    marked = [side for _, row in rows for side in (row["end"], row["touch"]) if side.get("at_most")]

    assert rare == {("1h", 2.0), ("24h", 10.0)}
    assert marked
    assert all(LEAST in side.values() for side in marked)
    assert not any("at_most" in side and not side["at_most"] for _, row in rows for side in (row["end"], row["touch"]))


def test_three_parts_sum_to_a_hundred_and_the_furthest_from_its_base_is_named() -> None:
    block = layer()["partition"]

    gaps = {}
    for asset, part in block["assets"].items():
        assert sum(part["chances"].values()) == pytest.approx(100.0, abs=1e-9)
        assert sum(part["base_rates"].values()) == pytest.approx(100.0, abs=1e-9)
        gaps[asset] = sum(abs(part["chances"][side] - part["base_rates"][side]) for side in part["chances"])
    assert block["furthest"] == max(gaps, key=gaps.__getitem__)


def test_structured_atlas_has_all_that_main_brain_has_of_the_ladder() -> None:
    brain = paid("full", "x402-main-brain")

    for part in ("ladder", "day_ahead", "pairs", "ranges_last_week"):
        assert brain[part] == layer()[part]
    assert len(brain["pairs"]) == len(ASSETS) * (len(ASSETS) - 1) // 2
    assert len(brain["day_ahead"]["starts"]) == 24


def test_the_ranges_of_the_week_are_those_that_came_due() -> None:
    ctx = full_context()
    week = {key: row for key, row in ctx.arena.week_of_ranges.items() if key[0] != "XRP"}

    found = ranges_of_week(replace(ctx, arena=replace(ctx.arena, week_of_ranges=week)))

    assert "XRP" not in found
    assert found["BTC"]["15m"].mean_width_90_percent == pytest.approx(1.234)
    assert (found["BTC"]["15m"].held_50, found["BTC"]["15m"].moves, found["BTC"]["15m"].of_backtest) == (81, 160, 7)


def test_without_a_month_nothing_is_said_of_hours_and_pairs() -> None:
    ctx = full_context()
    assert ctx.bars is not None
    short = replace(ctx, bars=ctx.bars.rows(2_000))

    assert pair_rows(short) == ()
    assert paid("hourly", "x402-main-brain")["day_ahead"] is None
    assert ladder(short).assets["BTC"] is not None
    assert partition(short).assets["BTC"] is not None


def test_a_fresh_service_says_that_its_record_is_a_backtest_apart() -> None:
    ctx = full_context()
    record = ctx.arena.ladder_record
    fresh = replace(ctx, arena=replace(ctx.arena, ladder_record=NO_LADDER_SCORES, ladder_backtest=record))
    first = replace(ctx, arena=replace(ctx.arena, ladder_record=NO_LADDER_SCORES))

    assert ladder(ctx).record.startswith("Of the chances over one hour 8,642 have been judged since the start")
    assert ladder(fresh).record.endswith("its record is a backtest of 8,642 over one hour, kept apart.")
    assert partition(fresh).record.startswith(
        "None has been judged since the start; in a backtest of 4,123, kept apart,"
    )
    assert ladder(first).record == partition(first).record == "No chance has been judged yet."
