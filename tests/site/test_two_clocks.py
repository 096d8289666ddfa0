"""A replay has two clocks: rounds have that of the service, prices that of the market; its pages and bodies say so."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Final

import pytest

from generator.catalog.words import SourceMode
from generator.site.files.record import rounds_file
from generator.site.pages.recipes import PageView
from generator.site.words.days import days
from generator.values.hours import Hour
from tests.support import builders
from tests.support.builders import NOW_MS
from tests.support.page_view import START_MS, Rendered, context, predictions, rendered, rounds, view_of

HOUR_MS: Final = 3_600_000
OFFSET: Final = timedelta(days=530, hours=2, minutes=50)
OFFSET_MS: Final = round(OFFSET.total_seconds() * 1000)
TIME: Final = re.compile(r'<time datetime="([^"]+)">(\d[^<]*)</time>(?:, prices of <time datetime="([^"]+)">)?')


def replayed(moved_ms: int | None = None) -> PageView:
    """Return a view of a market whose prices are 530 days older than the clock."""
    made = context(SourceMode.RECORDED)
    ticked = replace(made.freshness, offset_ms=OFFSET_MS, moved_ms=moved_ms)
    seen = replace(made.observation, offset_ms=OFFSET_MS, market_ms=NOW_MS - OFFSET_MS)
    lessons = tuple(builders.lesson(number) for number in range(5))
    ctx = replace(made, freshness=ticked, observation=seen, arena=replace(made.arena, lessons=lessons))
    hours = [
        Hour(at_ms, at_ms - OFFSET_MS, "range", None, "A quiet day.", {"BTC": 97_000.0 + at_ms % 7}, warm_up=False)
        for at_ms in range(START_MS - 30 * HOUR_MS, START_MS, HOUR_MS)
    ]
    return replace(view_of(ctx, rounds(), predictions()), days=days(hours))


@cache
def pages() -> Rendered:
    return Rendered(replayed())


def dates(html: str) -> Iterator[tuple[datetime, datetime | None]]:
    """Give each date in the main part of a page, with the date of its prices that follows it."""
    main = html[html.index("<main") : html.index("</main>")]
    for wall, text, market in TIME.findall(main):
        if "," in text:  # a day and not a time of day alone
            yield datetime.fromisoformat(wall), datetime.fromisoformat(market) if market else None


@pytest.mark.parametrize("page", ["/arena/history/index.html", "/learn/index.html", "/track-record/index.html"])
def test_each_round_and_forecast_of_a_replay_has_both_its_dates(page: str) -> None:
    of_rounds = [(wall, market) for wall, market in dates(pages()[page].decode()) if wall.year == 2026]

    assert of_rounds
    assert all(market is not None and wall - market == OFFSET for wall, market in of_rounds)


def test_no_page_of_a_replay_has_a_round_whose_prices_have_no_date() -> None:
    htmls = {path: html.decode() for path, html in pages().items() if path.endswith(".html")}
    own_clock = {path for path in htmls if path.startswith("/docs/")}

    alone = [path for path, html in htmls.items() for wall, market in dates(html) if wall.year == 2026 and not market]

    assert set(alone) <= own_clock


def test_a_day_of_a_replay_names_the_days_of_its_prices() -> None:
    of_all = pages()["/arena/history/index.md"].decode()

    assert "prices of 7 Jun 2025, 21:10 to 8 Jun 2025, 05:10 UTC" in of_all


def test_every_page_of_a_replay_says_how_far_its_clock_is_ahead() -> None:
    said = "The clock of the replay is 530 days 2 h 50 min ahead of the prices."

    assert all(said in twin.decode() for path, twin in pages().items() if path.endswith(".md"))


def test_a_round_from_before_the_replay_was_moved_has_no_date_of_its_prices() -> None:
    moved_ms = START_MS - 5 * HOUR_MS

    html = Rendered(replayed(moved_ms))["/arena/history/index.html"].decode()

    found = {wall: market for wall, market in dates(html) if wall.year == 2026}
    assert {wall.timestamp() * 1000 < moved_ms for wall, market in found.items() if market is None} == {True}
    assert {wall.timestamp() * 1000 < moved_ms for wall, market in found.items() if market is not None} == {False}
    assert "ahead of the prices, since" in html


def test_a_market_without_a_replay_has_one_clock() -> None:
    arena = rendered(SourceMode.SIMULATED)["/arena/history/index.html"].decode()

    assert {market for _, market in dates(arena)} == {None}
    assert "clock of the replay" not in arena


def test_every_body_of_a_replay_says_by_which_clock_rounds_are_dated() -> None:
    # The one body without `limitations` is of the service alone and dates no round.
    by_path = {path: body.as_json() for path, body in replayed().bodies.by_path.items() if path != "/status.json"}
    bodies = list(by_path.values())

    assert all("dated by the clock of the replay" in " ".join(body["limitations"]) for body in bodies)
    tick = builders.files_of_tick(SourceMode.RECORDED, rounds=rounds(), offset_ms=OFFSET_MS)
    bodies.append(dict(rounds_file(tick)))
    assert {body["replay"]["offset_seconds"] for body in bodies} == {OFFSET_MS // 1000}
