"""The human report as sold: its words and its length, each figure again from what it is made of, its plots."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from generator.brain.like_days import LargeHours
from generator.catalog.assets import ASSETS
from generator.catalog.text.report.sentences import Part
from generator.compose.body import encode
from generator.compose.paid_human_report import report as report_of
from generator.compose.spells import spells
from generator.compose.tick import Tick
from generator.values.view import ArenaView
from tests.compose.test_plots import plot as plot_of
from tests.compose.test_plots import series as series_of
from tests.support.builders import full_context
from tests.support.ten_moments import names, ten_moments

REPORT = "x402-atlas-human-report"
HOUR_MS = 3_600_000
FEWEST_WORDS, MOST_WORDS = 350, 650
MOST_BYTES = 15_000


@cache
def report(name: str) -> dict[str, Any]:
    found: dict[str, Any] = ten_moments()[name].composed.paid[REPORT].as_json()["report"]
    return found


def texts_of(sold: dict[str, Any]) -> dict[str, str]:
    found = {part.name.lower(): sold[part.name.lower()] for part in Part}
    return {name: section["text"] for name, section in found.items() if section is not None}


def full_text(ctx: Tick) -> str:
    return " ".join(texts_of(report_of(ctx).as_json()).values())


@pytest.mark.parametrize("name", names())
def test_the_report_has_350_to_650_words_and_is_titled_by_the_headline(name: str) -> None:
    words = sum(len(text.split()) for text in texts_of(report(name)).values())

    assert FEWEST_WORDS <= words <= MOST_WORDS
    assert report(name)["title"] == ten_moments()[name].composed.free["/api/market-regime.php"].as_json()["headline"]


@pytest.mark.parametrize("name", names())
def test_the_report_is_small_and_its_plots_have_at_most_60_places(name: str) -> None:
    sold = report(name)

    assert len(encode({"report": sold})) <= MOST_BYTES
    assert {plot["name"] for plot in sold["plots"]} >= {"price", "ranges", "ladder"}
    for plot in sold["plots"]:
        assert 2 <= len(plot["x"]) <= 60
        assert all(len(series["values"]) == len(plot["x"]) for series in plot["series"])
        assert plot["part"] in texts_of(sold)


@pytest.mark.parametrize("name", names()[::3])
def test_the_days_figures_are_those_of_its_hourly_closes(name: str) -> None:
    ctx = ten_moments()[name].ctx
    assert ctx.month is not None
    closes = ctx.month.closes[-25:]
    moves = np.diff(np.log(closes), axis=0)
    simple = (closes[1:] / closes[:-1] - 1.0).mean(axis=1)

    facts = ctx.report

    pairs = np.corrcoef(moves.T)[np.triu_indices(len(ASSETS), 1)]
    assert facts.correlation == pytest.approx(pairs.mean(), abs=1e-9)
    assert facts.travelled == pytest.approx(100 * np.abs(simple).sum())
    assert facts.average_swing == pytest.approx(100 * moves.mean(axis=1).std() / moves.std(axis=0).mean())


@pytest.mark.parametrize("name", names()[::3])
def test_the_ranges_in_words_are_those_of_the_free_answer(name: str) -> None:
    moment = ten_moments()[name]
    coin = moment.composed.free["/api/main-brain.php"].as_json()["coins"]["BTC"]
    hour, day = coin["ranges"]["1h"], coin["ranges"]["24h"]

    text = texts_of(report(name))["far"]

    price = coin["price"]
    ends = [f"${price * (1 + end / 100):,.0f}" for end in (hour["low_90"], hour["high_90"])]
    assert f"the next hour between {ends[0]} and {ends[1]}," in text
    inner = [f"${price * (1 + end / 100):,.0f}" for end in (day["low_50"], day["high_50"])]
    assert f"between {inner[0]} and {inner[1]}." in text


def of_yesterday(**changed: Any) -> ArenaView:
    arena = full_context().arena
    assert arena.day_of_ranges is not None
    return replace(arena, day_of_ranges=arena.day_of_ranges._replace(**changed))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "at 09:00 UTC today, nine times in ten; it was at $84,012, inside that range"),
        ({"price": 81_000.0}, "it was at $81,000, below that range"),
        ({"price": 99_000.0}, "it was at $99,000, above that range"),
        ({"warm_up": True}, "A day ahead, our backtest expected Bitcoin between $81,234 and $86,789"),
        (
            {"held": 19},
            "Of the day's 24 one-hour ranges, 19 held; about 22 should have. Too few: a range knows how wild",
        ),
        ({"held": 24}, "All of them is hardly a triumph"),
        ({"hours": 11, "held": 0}, "Of the day's eleven one-hour ranges, none held; about 10 should have."),
    ],
)
def test_yesterdays_ranges_are_graded(changed: dict[str, Any], said: str) -> None:
    assert said in full_text(replace(full_context(), arena=of_yesterday(**changed)))


def test_an_old_range_is_not_graded_and_that_of_a_replay_has_the_time_of_its_prices() -> None:
    ctx = full_context()
    old = of_yesterday(due_ms=full_context().observation.market_ms - 2 * HOUR_MS)
    wall_ms = ctx.observation.market_ms - 53 * 60_000 + 48 * HOUR_MS
    replayed = replace(
        ctx, freshness=replace(ctx.freshness, offset_ms=48 * HOUR_MS), arena=of_yesterday(due_ms=wall_ms)
    )
    moved_since = replace(replayed, freshness=replace(replayed.freshness, moved_ms=wall_ms + 1))

    assert "A day ahead" not in full_text(replace(ctx, arena=old))
    assert "at 09:00 UTC today" in full_text(replayed)
    assert "A day ahead" not in full_text(moved_since)


def test_ranges_that_held_are_counted_live_or_else_in_the_backtest() -> None:
    ctx = full_context()
    live = full_text(ctx)
    nothing = replace(ctx.arena, how_far=(), backtest=None)

    assert re.search(r"Of the [\d,]+ one-hour ranges scored so far, for all coins together, [\d,]+ held", live)
    assert "one-hour ranges scored" not in full_text(replace(ctx, arena=nothing))


@pytest.mark.parametrize("name", names()[::4])
def test_the_price_plot_is_every_second_close_of_five_days(name: str) -> None:
    frame = ten_moments()[name].bars
    closes = {
        int(t) + 300_000: row[ASSETS.index("BTC")]
        for t, row in zip(frame.t.tolist(), frame.fields["close"].tolist(), strict=True)
    }
    drawn = plot_of(report(name), "price")

    assert drawn["x"] == [-2.0 * ago for ago in range(59, -1, -1)]
    at = [max(closes) + int(hours * HOUR_MS) for hours in drawn["x"]]
    assert series_of(drawn) == {"Bitcoin": [pytest.approx(closes[each], rel=1e-5) for each in at]}
    assert (drawn["kind"], drawn["unit"], drawn["part"]) == ("line", "US dollars", "happened")
    assert len(drawn["states"]) == 60
    assert set(drawn["states"]) <= {"rising", "falling", "flat", "both_ways", "unknown"}


@pytest.mark.parametrize("name", names()[::4])
def test_the_state_at_the_end_of_the_price_plot_is_the_side_that_is_published(name: str) -> None:
    moment = ten_moments()[name]
    made = spells(moment.ctx)
    assert made is not None
    assert made.side is not None
    assert made.side.hours is not None
    drawn = plot_of(report(name), "price")

    during = [state for hours, state in zip(drawn["x"], drawn["states"], strict=True) if -hours < made.side.hours]
    assert set(during) == {made.side.state}


@pytest.mark.parametrize("name", names())
def test_what_followed_days_like_this_is_counted_of_those_days_and_of_any(name: str) -> None:
    ctx = ten_moments()[name].ctx
    said = ctx.report.like_days
    assert ctx.month is not None
    assert ctx.month.counts is not None

    counted = ctx.month.counts.like_days
    assert counted is not None
    assert said is not None
    assert said.n == counted.n
    assert said.any_rose == pytest.approx(100 * counted.any_rose / counted.any_n)
    assert said.any_moved_more == pytest.approx(100 * counted.any_moved_more / counted.any_n)


@pytest.mark.parametrize(("hours", "is_said"), [(29, False), (30, True), (31, True)])
def test_a_share_of_large_hours_is_said_from_thirty_on(hours: int, is_said: bool) -> None:
    tick = ten_moments()[names()[0]].ctx
    assert tick.month is not None
    assert tick.month.counts is not None
    large = LargeHours(hours, hours // 2, tuple((day % 2, 1) for day in range(hours)))
    month = replace(tick.month, counts=tick.month.counts._replace(large_hours=large))

    assert (replace(tick, month=month).report.large_hours is not None) is is_said
