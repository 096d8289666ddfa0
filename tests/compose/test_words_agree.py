"""One fact, one word: what two bodies say of the same thing cannot differ."""

from dataclasses import replace
from typing import Any

import pytest

from generator.compose.context import TickContext
from generator.compose.liquidity_lite import notes
from generator.compose.paid_human_report import futures, report_asset, track_record
from generator.compose.scenarios import scenarios
from tests.support.builders import full_context


def context(**regime: Any) -> TickContext:
    ctx = full_context()
    assert ctx.reading is not None
    return replace(ctx, reading=replace(ctx.reading, regime=replace(ctx.reading.regime, **regime)))


def seen(ctx: TickContext, asset: str, **changed: Any) -> TickContext:
    assets = ctx.observation.assets
    return replace(
        ctx,
        observation=replace(ctx.observation, assets={**assets, asset: replace(assets[asset], **changed)}),
    )


@pytest.mark.parametrize(("lean", "said"), [(1, "more bids"), (0, "about even"), (-1, "more asks"), (None, None)])
def test_the_order_book_has_the_word_that_the_evidence_has(lean: int | None, said: str | None) -> None:
    ctx = full_context()
    assert ctx.reading is not None
    read = replace(ctx.reading.assets["BTC"], book_lean=lean)
    ctx = replace(ctx, reading=replace(ctx.reading, assets={**ctx.reading.assets, "BTC": read}))

    found = [note for note in notes(ctx, "BTC") if "bids" in note or "asks" in note]

    assert len(found) == (said is not None)
    assert said is None or said in found[0]


@pytest.mark.parametrize(
    ("price", "written"),
    [(70_344.8, "70,345"), (2_549.66, "2,549.66"), (12.345, "12.35"), (1.855_55, "1.8556"), (0.061_234, "0.061234")],
)
def test_a_report_writes_prices_as_people_do(price: float, written: str) -> None:
    assert f"trades at ${written}." in report_asset(seen(full_context(), "BTC", price=price), "BTC").text


@pytest.mark.parametrize(
    ("rate", "written"), [(0.0001, "0.0100 %"), (-0.000_009_846, "-0.0010 %"), (2e-7, "less than 0.0001 %")]
)
def test_a_report_writes_fees_with_four_decimals(rate: float, written: str) -> None:
    ctx = full_context()
    funding = ctx.observation.assets["BTC"].funding
    assert funding is not None

    points = futures(seen(ctx, "BTC", funding=replace(funding, rate_8h=rate))).points

    assert f"The fee is {written} for eight hours." in points[0]


@pytest.mark.parametrize(("minutes", "written"), [(475, "7 hours and 55 minutes"), (60, "1 hour"), (1, "1 minute")])
def test_a_scenario_writes_time_as_people_do(minutes: int, written: str) -> None:
    lines = " ".join(line for one in scenarios(context(dwell_minutes=minutes)) for line in one.supported_by)

    assert f"for {written}" in lines


def test_a_miss_that_was_played_before_the_start_is_marked() -> None:
    ctx = full_context()
    early, late = (
        replace(lesson, brain_correct=0, warm_up=early)
        for lesson, early in zip(ctx.arena.lessons, (True, False), strict=False)
    )
    lines = track_record(replace(ctx, arena=replace(ctx.arena, lessons=(early, late))), ctx.arena.hourly_record)

    assert ["not counted" in line for line in lines.latest_arena_losses] == [True, False]
