"""The human report as a story: its length and its wording; whether it is true, `tests/story` reads."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.text.story.day import hour
from generator.catalog.text.story.facts import StoryFacts
from generator.compose.body import encode
from generator.compose.context import TickContext
from generator.compose.paid_human_report import paid_human_report
from generator.compose.spells import spells
from tests.compose.test_plots import plot as plot_of
from tests.compose.test_plots import series as series_of
from tests.story.prose import (
    EASIEST,
    FEWEST_WORDS,
    HARDEST,
    MOST_BYTES,
    MOST_SHARED,
    MOST_WORDS,
    Prose,
    most_shared,
    prose_of,
    sentences_in,
)
from tests.support.builders import full_context
from tests.support.ten_moments import names, ten_moments

REPORT = "x402-atlas-human-report"
HOUR_MS = 3_600_000


@cache
def report(name: str) -> dict[str, Any]:
    found: dict[str, Any] = ten_moments()[name].composed.paid[REPORT].as_json()["report"]
    return found


def prose() -> list[Prose]:
    return [prose_of(report(name)) for name in names()]


def test_the_story_has_600_to_900_words_and_is_read_at_school() -> None:
    for one in prose():
        assert FEWEST_WORDS <= one.words <= MOST_WORDS
        assert EASIEST <= one.grade <= HARDEST


def test_two_moments_share_at_most_12_sentences() -> None:
    assert most_shared(prose()) <= MOST_SHARED


@pytest.mark.parametrize("name", names())
def test_no_sentence_is_one_of_a_free_body(name: str) -> None:
    free = ten_moments()[name].composed.free

    assert not prose_of(report(name)).sentences & sentences_in(body.as_json() for body in free.values())


@pytest.mark.parametrize("name", names())
def test_the_report_is_small_and_its_plots_have_at_most_60_places(name: str) -> None:
    story = report(name)

    assert len(encode({"report": story})) <= MOST_BYTES
    assert {plot["name"] for plot in story["plots"]} >= {"price", "ranges", "ladder", "funding"}
    for plot in story["plots"]:
        assert 2 <= len(plot["x"]) <= 60
        assert all(len(series["values"]) == len(plot["x"]) for series in plot["series"])


def miss_of(ctx: TickContext) -> str:
    sentences_of_ladder = paid_human_report(ctx).report.ladder.text.split(". ")
    return next((text for text in sentences_of_ladder if "-1.23%" in text or "-0.8149%" in text), "")


def test_the_last_miss_of_a_range_has_the_time_of_its_prices() -> None:
    ctx = full_context()
    missed = ctx.arena.last_miss
    assert missed is not None
    near = missed._replace(move=-0.8149, low=-0.8141)
    old = missed._replace(warm_up=True)
    replayed = replace(ctx.freshness, offset_ms=2 * HOUR_MS)
    moved_since = replace(replayed, moved_ms=missed.start_ms + 1)

    assert all(figure in miss_of(ctx) for figure in ("04:53 UTC", "-0.81% to +0.82%"))
    assert "02:53 UTC" in miss_of(replace(ctx, freshness=replayed))
    assert miss_of(replace(ctx, freshness=moved_since)) == ""
    assert "-0.8141% to +0.8234%" in miss_of(replace(ctx, arena=replace(ctx.arena, last_miss=near)))
    assert "of the backtest" in miss_of(replace(ctx, arena=replace(ctx.arena, last_miss=old)))
    assert miss_of(replace(ctx, arena=replace(ctx.arena, last_miss=None))) == ""


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
    assert (drawn["kind"], drawn["unit"], drawn["part"]) == ("line", "US dollars", "what_changed")
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


@pytest.mark.parametrize("name", names()[::4])
def test_the_funding_plot_is_the_mean_rate_each_twelve_hours(name: str) -> None:
    drawn = plot_of(report(name), "funding")
    month = ten_moments()[name].ctx.month
    assert month is not None

    rates = [month.funding[719 - 12 * ago] for ago in range(59, -1, -1)]
    assert series_of(drawn) == {
        "funding": [None if math.isnan(rate) else pytest.approx(100 * rate, abs=6e-5) for rate in rates]
    }
    assert drawn["x"] == [-12.0 * ago for ago in range(59, -1, -1)]
    assert (drawn["unit"], drawn["part"]) == ("percent per 8 hours", "derivatives")


def test_a_last_hour_without_a_rank_in_its_week_is_given_with_its_sign() -> None:
    said = hour(StoryFacts(turn=7, last_hour=-1.42))

    assert len(said) == 1
    assert "down 1.42%" in said[0]
