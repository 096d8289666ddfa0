"""Chapters of Learn: their exercises are counted from the hours that they name."""

import re
from dataclasses import replace
from math import comb
from statistics import NormalDist, median

from generator.arena.values import Move, PredictionMade
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.chapters import TEXTS
from generator.catalog.words import Call
from generator.site.pages.chapters import (
    base_rates,
    chapters,
    correlation,
    fat_tails,
    order_books,
    silence,
    times_and_moves,
)
from tests.support.page_view import predictions, rendered


def made(asset: str, hour: int, **moves: float) -> PredictionMade:
    """Return an hour of an asset with its moves by horizon, whose name has an h in front."""
    first = next(one for one in predictions() if one.ranges)
    assert first.ranges is not None
    ranges = {"1h": replace(first.ranges["1h"], last_day=0.2)}
    known = {name.removeprefix("h"): Move(100.0, value) for name, value in moves.items()}
    return replace(first, asset=asset, start_ms=hour * HOUR_MS, ranges=ranges, moves=known)


def test_a_base_rate_counts_the_hours_that_ended_near_their_start() -> None:
    due = [made("BTC", hour, h1h=move) for hour, move in enumerate((0.1, -0.25, 0.26, -3.0))]
    due.append(made("ETH", 0, h1h=0.0))

    chapter = base_rates(due)

    assert chapter is not None
    assert "last 4 hours" in chapter.ask
    assert chapter.tell.startswith("2 of 4.")
    assert chapter.picture is not None
    assert [row[1] for row in chapter.picture.caption.rows] == ["2 of 4", "1 of 4", "0 of 4", "1 of 4"]


def test_an_hour_that_did_not_move_is_counted_once() -> None:
    chapter = base_rates([made("BTC", 0, h1h=0.0)])

    assert chapter is not None
    assert chapter.picture is not None
    assert [row[1] for row in chapter.picture.caption.rows] == ["1 of 1", "0 of 1", "0 of 1", "0 of 1"]


def test_a_far_hour_lies_beyond_three_spreads_of_the_day_before() -> None:
    chapter = fat_tails([made("BTC", hour, h1h=move) for hour, move in enumerate((0.6, -0.61, 0.61, 0.1))])

    assert chapter is not None
    assert chapter.tell.startswith("2 of 4.")
    assert abs(2 * NormalDist().cdf(-3) - 0.0027) < 1e-5
    assert "about 0.0." in chapter.tell


def test_hours_count_as_together_when_all_but_one_asset_went_one_way() -> None:
    def an_hour(hour: int, falling: int) -> list[PredictionMade]:
        return [made(asset, hour, h1h=-0.1 if place < falling else 0.1) for place, asset in enumerate(ASSETS)]

    hours = [an_hour(0, 0), an_hour(1, 1), an_hour(2, 2), an_hour(3, len(ASSETS) - 1), an_hour(4, 3)[1:]]
    chapter = correlation([one for hour in hours for one in hour])

    assert chapter is not None
    assert chapter.tell.startswith("3 of 4.")
    assert 12 < 100 * 2 * (comb(len(ASSETS), 1) + 1) / 2 ** len(ASSETS) < 13


def test_saying_nothing_counts_forecasts_without_a_call() -> None:
    one = made("BTC", 0, h1h=0.1)
    due = [replace(one, call=call) for call in (Call.NONE, Call.UP, Call.NONE, None)]

    chapter = silence(due)

    assert chapter is not None
    assert "last 3 hourly forecasts" in chapter.tell
    assert "2 made no call" in chapter.tell


def test_moves_over_time_stand_next_to_the_rule_of_the_square_root() -> None:
    due = [
        made("BTC", hour, h15m=0.1, h1h=move, h4h=2 * move, h24h=-4 * move) for hour, move in enumerate((0.2, 0.3, 0.5))
    ]

    text = times_and_moves(due)

    assert text is not None
    hour = median((0.2, 0.3, 0.5))
    assert f"1 hour {hour:.2f}%" in text
    assert f"4 hours {2 * hour:.2f}% (the rule says {hour * 4**0.5:.2f}%)" in text
    assert f"24 hours {4 * hour:.2f}% (the rule says {hour * 24**0.5:.2f}%)" in text
    assert times_and_moves([made("BTC", 0, h1h=0.1)]) is None


def test_before_the_first_hour_only_what_needs_no_record_is_asked() -> None:
    assert chapters(()) == (order_books(),)


def test_the_best_of_twenty_coins_is_right_in_about_twenty_of_thirty() -> None:
    chances = [comb(30, right) / 2**30 for right in range(31)]
    at_most = [sum(chances[: right + 1]) for right in range(31)]
    best = sum(1 - at_most[right] ** 20 for right in range(30))

    assert round(best) == 20
    assert "About 20 times in 30" in rendered()["/learn/index.html"].decode()


def test_every_chapter_is_on_the_page_with_its_question() -> None:
    html = rendered()["/learn/index.html"].decode()
    shown = [text for text in TEXTS.values() if f'<h2 id="{text.anchor}"' in html]

    assert len(shown) >= 3
    for text in shown:
        assert f'href="#{text.anchor}"' in html
        assert re.search(rf'<h2 id="{text.anchor}".*?<summary>[^<]+\?</summary>', html, re.DOTALL)
