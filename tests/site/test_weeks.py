"""The most surprising hours of a week: ranked, counted and explained by the record."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from statistics import NormalDist
from typing import Any

from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS, WEEK_MS
from generator.catalog.words import Prediction, SourceMode
from generator.site.files.feeds import ENTRIES, feeds
from generator.site.words.weeks import Week, week, week_begins
from generator.values.hours import Move, PredictionMade
from tests.support.page_view import SITE, Rendered, predictions, rendered, rounds, view

BEGIN = round(datetime(2026, 11, 16, tzinfo=UTC).timestamp() * 1000)
AFTER = BEGIN + WEEK_MS + HOUR_MS


def made(asset: str, hour: int, move: float, *, sigma: float = 0.3, **more: Any) -> PredictionMade:
    """Return an hour that moved so many percent, with a 90% range of half a percent either way."""
    first = next(one for one in predictions() if one.ranges)
    assert first.ranges is not None
    within = replace(first.ranges["1h"], sigma=sigma, low_90=-0.5, low_50=-0.2, high_50=0.2, high_90=0.5)
    known = {"ranges": {"1h": within}, "moves": {"1h": Move(100.0, move)}, "start_ms": BEGIN + hour * HOUR_MS}
    return replace(first, asset=asset, **{**known, "warm_up": False, **more})


def quiet(hours: int = 20, **more: Any) -> list[PredictionMade]:
    """Return hours in which the assets went this way and that."""
    sides = count()
    return [made(asset, hour, 0.1 - 0.2 * (next(sides) % 2), **more) for hour in range(hours) for asset in ASSETS]


def explained(*hours: PredictionMade) -> Week:
    others = [one for one in quiet() if all((one.asset, one.start_ms) != (new.asset, new.start_ms) for new in hours)]
    found = week(BEGIN, [*others, *hours], AFTER)
    assert found is not None
    return found


def test_hours_rank_by_their_move_over_what_was_expected_one_asset_of_each() -> None:
    found = explained(
        made("BTC", 3, 1.2),
        made("ETH", 3, 1.5),
        made("ETH", 7, -0.9),
        made("SOL", 9, 0.8, sigma=0.1),
        made("XRP", 9, 3.0),
    )

    sizes = [one.title for one in found.surprises]
    assert [title.split(" standard")[0].split(": ")[1] for title in sizes] == ["10.0", "5.0", "3.0"]
    assert sizes[0].startswith("XRP rose 3.00%")
    assert sizes[1].startswith("Ether rose 1.50%")
    assert sizes[2].startswith("Ether fell 0.90%")
    assert [one.start_ms for one in found.surprises] == [BEGIN + hour * HOUR_MS for hour in (9, 3, 7)]


def test_a_surprise_says_where_its_range_ended_and_what_its_outcome_had_been_given() -> None:
    hour = made("BTC", 3, -1.2, outcome=Prediction.BEARISH, probabilities=(0.24, 0.5, 0.26))

    first = explained(hour).surprises[0]

    assert "ended at \N{MINUS SIGN}0.50%; it fell 1.20%" in first.said
    assert "given down 24 in 100" in first.said


def test_each_hour_teaches_another_idea_that_fits_it() -> None:
    all_up = [made(asset, 5, 1.0 if asset == "BTC" else 0.1) for asset in ASSETS]
    again = [made("ETH", 8, 0.6, sigma=0.2), made("ETH", 9, 2.0, sigma=0.4)]
    alone = made("SOL", 12, 1.6)

    found = explained(*all_up, *again, alone)

    by_chapter = {one.chapter.name: one for one in found.surprises}
    assert by_chapter["volatility"].title.startswith("Ether rose 2.00%")
    assert "Solana" in by_chapter["fat-tails"].title or "Solana" in by_chapter["correlation"].title
    assert len(by_chapter) == 3
    together = explained(*all_up).surprises[0]
    assert together.point.startswith("All of the other 6 assets")
    far = [made("SOL", 12, 0.95), made("XRP", 14, -0.91), made("XLM", 16, 0.92)]
    calm = [made("BTC", hour, 0.1 * side) for hour, side in ((12, -1), (14, 1), (16, -1))]
    calm += [made("ETH", hour, 0.1 * side) for hour, side in ((12, -1), (14, 1), (16, -1))]
    rare = explained(*far, *calm).surprises[0]
    expected = 140 * 2 * NormalDist().cdf(-3)
    assert rare.point.startswith(f"By a bell curve {expected:.1f} of the week's 140 hours of assets")
    assert rare.point.endswith("; 3 did.")


def test_a_quiet_week_counts_instead_of_making_much_of_it() -> None:
    found = week(BEGIN, quiet(), AFTER)

    assert found is not None
    assert (found.hours, found.held) == (20 * len(ASSETS), 20 * len(ASSETS))
    assert {one.chapter.name for one in found.surprises} == {"calibration", "luck", "base-rates"}
    assert "140 hours of assets 0 ended outside" in found.surprises[0].point


def test_a_week_is_over_an_hour_after_its_end_and_a_backtest_is_left_out_of_it() -> None:
    tested = quiet(warm_up=True)

    running, ended = (week(BEGIN, quiet(), now) for now in (AFTER - 1, AFTER))

    assert running is not None
    assert ended is not None
    assert (running.over, ended.over) == (False, True)
    assert week(BEGIN, tested, AFTER) is None
    before = week(BEGIN, tested, AFTER - 1)
    assert before is not None
    assert before.tested
    assert week(BEGIN, [], AFTER - 1) is None


def test_weeks_begin_on_mondays_and_are_named_by_iso_8601() -> None:
    now = datetime(2026, 11, 26, 4, tzinfo=UTC)
    begins = [datetime.fromtimestamp(begin / 1000, UTC) for begin in week_begins(round(now.timestamp() * 1000))]

    assert begins == [datetime(2026, 11, 23, tzinfo=UTC) - timedelta(weeks=back) for back in range(5)]
    ended = week(BEGIN, quiet(), AFTER)
    assert ended is not None
    assert (ended.name, ended.days) == ("2026-W47", "16 Nov to 22 Nov 2026")


def test_the_page_has_each_week_and_says_what_a_backtest_is() -> None:
    ended = explained(made("BTC", 3, 1.2))
    shown = Rendered(replace(view(), weeks=(replace(ended, begin_ms=BEGIN + WEEK_MS, over=False, tested=True), ended)))

    page = shown["/learn/index.html"].decode()

    text = re.sub(r"<[^>]+>", "", page)
    assert page.index('id="2026-w48"') < page.index('id="2026-w47"')
    assert page.count('<article class="lesson" aria-labelledby="2026-w4') == 6
    assert text.count("In a backtest before the start:") == 1
    assert 'href="/learn/' in page
    assert "Too few hours" in rendered()["/learn/index.html"].decode()


def test_a_week_that_is_over_is_one_entry_that_stays_through_a_flood_of_rounds() -> None:
    ended = explained(made("BTC", 3, 1.2))
    running = replace(ended, begin_ms=BEGIN + WEEK_MS, over=False)
    at = datetime.fromtimestamp(AFTER / 1000, UTC)

    def listed(later: timedelta) -> list[dict[str, Any]]:
        when = at + later
        files = feeds(
            SITE,
            SourceMode.LIVE,
            rounds(200),
            (),
            when,
            weeks=(running, ended),
            practice_days=(when, when - timedelta(days=1)),
        )
        found: list[dict[str, Any]] = json.loads(files["/feed.json"])["items"]
        return found

    first, later = ({item["id"]: item for item in listed(timedelta(days=days))} for days in (0, 6))
    (name,) = (name for name in first if ":week:" in name)
    assert name.endswith(":week:2026-W47")
    assert first[name] == later[name]
    assert {item["_emi"]["kind"] for item in first.values()} == {"round", "week", "practice"}
    assert first[name]["url"].endswith("/learn/#2026-w47")
    assert ended.surprises[0].title in first[name]["content_html"]
    assert len(first) == len(later) == ENTRIES
    days = [item for name, item in later.items() if ":practice:" in name]
    assert [item["date_published"] for item in days] == ["2026-11-29T00:00:00Z", "2026-11-28T00:00:00Z"]
    assert all(item["url"].endswith("/learn/practice/#daily") for item in days)
