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
    block = layer()["ladder"]

    assert {name: tuple(levels) for name, levels in block["levels_percent"].items()} == {
        name: horizon.levels for name, horizon in HORIZONS.items()
    }
    for asset in ASSETS:
        for name, columns in block["assets"][asset].items():
            for side in SIDES:
                end = columns[f"end_{side}"]
                touch = columns[f"touch_{side}"]
                assert len(end) == len(touch) == len(HORIZONS[name].levels)
                pairs = zip(end, touch, strict=True)
                assert all(LEAST <= at_end <= on_the_way <= 1 - LEAST for at_end, on_the_way in pairs)


def test_chances_fall_with_the_level_and_rise_with_the_horizon() -> None:
    block = layer()["ladder"]

    for asset in ASSETS:
        of_level: dict[tuple[str, float], float] = {}
        for name, columns in block["assets"][asset].items():
            for kind, chances in columns.items():
                assert list(chances) == sorted(chances, reverse=True)
                for level, chance in zip(block["levels_percent"][name], chances, strict=True):
                    assert chance >= of_level.get((kind, level), 0.0)
                    of_level[kind, level] = chance


def test_rare_levels_are_named_and_no_other() -> None:
    rare = layer()["ladder"]["rare_percent"]

    assert rare == {"15m": [], "1h": [2.0], "4h": [], "24h": [10.0]}


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
