"""The page of the daily question: what it asks and when, prices to judge from, and what came of earlier questions."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest

from generator.arena.daily import named, score
from generator.catalog.text.figures import MINUS
from generator.catalog.words import RoundPhase
from generator.compose.tick import Tick
from generator.market.bars import BAR_FIELDS, BarFrame
from generator.site.charts.day import MINE, yesterday
from generator.site.pages.daily import NO_RANKS, DailyRank, begin_ends, daily_view, hourly_prices, reach, title
from generator.site.pages.render import Pages
from generator.values.questions import DailyQuestion
from generator.values.rows import DailyPlace, DailyRanking
from tests.support.arena_inputs import HOUR, MINUTE, ms
from tests.support.page_view import context, view

NOW = ms("2026-11-25T09:00")
OPEN = DailyQuestion(
    "BTC-DAILY-20261124",
    ms("2026-11-24T13:00"),
    ms("2026-11-25T12:00"),
    ms("2026-11-26T13:00"),
    brain=(-300, -120, 130, 310),
    usual=(-350, -143, 143, 350),
    salt="5a17",
    commitment="c0" * 32,
    base_price=100.0,
)
OVER = replace(
    OPEN,
    question_id="BTC-DAILY-20261122",
    phase=RoundPhase.RESOLVED,
    start_price=101.0,
    closing_brain=(-200, 20, 180, 400),
    closing_usual=(-250, -43, 243, 450),
    end_price=101.5,
    move=1.5,
    answers=3,
    people=4.25,
)
LIVE = replace(OPEN, question_id="BTC-DAILY-20261123", phase=RoundPhase.LIVE, start_price=101.0, answers=1)
VOID = replace(OPEN, question_id="BTC-DAILY-20261121", phase=RoundPhase.VOID, void_reason="no start price")


def near_the_price() -> DailyQuestion:
    """Return the open question with a base one percent below the price of the pages."""
    price = seen().seen["BTC"].price
    assert price is not None
    return replace(OPEN, base_price=round(0.99 * price, -1))


def seen(*questions: DailyQuestion, now_ms: int = NOW) -> Tick:
    ctx = context()
    arena = replace(ctx.arena, daily=questions)
    return replace(ctx, arena=arena, freshness=replace(ctx.freshness, generated_ms=now_ms))


def test_the_title_says_tomorrow_only_where_it_is() -> None:
    assert title(OPEN, NOW) == "Where will Bitcoin be at 13:00 UTC tomorrow, Thursday, 26 November?"
    assert title(OPEN, NOW - 18 * HOUR) == "Where will Bitcoin be at 13:00 UTC on Thursday, 26 November?"


def test_nothing_of_what_is_sealed_is_in_the_page_while_it_is_open() -> None:
    ctx = seen(OPEN, LIVE, OVER, VOID)
    shown = replace(view(), ctx=ctx)
    page = next(make() for page, make in Pages().each(shown) if page.path == "/arena/daily/")["/arena/daily/index.html"]

    text = html.unescape(page.decode())
    assert 'data-question="BTC-DAILY-20261124"' in text
    assert OPEN.commitment in text
    assert OPEN.salt not in text
    assert "takes answers until 12:00 UTC today" in text


def test_each_question_that_is_over_has_its_scores_or_why_it_has_none() -> None:
    live, over, void = daily_view(seen(OPEN, LIVE, OVER, VOID)).rows

    assert (live.id, live.why) == (LIVE.question_id, "1 answer; measured at 13:00 UTC on 26 November")
    assert (over.move, over.brain, over.usual) == (
        "+1.50%",
        f"{score(OVER.compared[0], 1.5):.2f}",
        f"{score(OVER.compared[1], 1.5):.2f}",
    )
    assert (over.answers, over.people) == ("3", "4.25")
    assert void.why == "void: no start price"
    assert named(OVER.brain)["low_90"] == -300
    assert OVER.compared == (OVER.closing_brain, OVER.closing_usual)


def test_between_two_questions_and_without_one_the_page_says_when_it_asks() -> None:
    between = daily_view(seen(now_ms=ms("2026-11-25T12:30")))
    never = daily_view(seen())

    assert between.now == "The next question is asked at 13:00 UTC today."
    assert between.next == "2026-11-25T13:05:00Z"
    assert never.now.startswith("No question takes answers now")
    assert never.rows == ()


def test_prices_are_those_of_48_full_hours_and_sliders_reach_beyond_them() -> None:
    begin = NOW - 72 * HOUR
    times = np.arange(begin, NOW, 5 * MINUTE)
    close = 100 + np.sin(times / HOUR)
    bars = BarFrame(("BTC",), times, dict.fromkeys(BAR_FIELDS, close[:, None]))

    prices = hourly_prices(replace(seen(OPEN), bars=bars))

    assert (len(prices), prices[-1]) == (48, 100)
    hourly = close[11::12][-48:]
    assert prices == [round(100 * price / hourly[-1], 2) for price in hourly]
    assert reach(prices) == max(400, round(16 * float(np.std(np.diff(prices)))) * 100)
    assert reach([]) == 800
    assert reach([], off=-730.0) == 1500
    assert reach([], off=1e6) == 9999


def test_bands_begin_round_the_price_now_as_wide_as_the_last_hours_spread() -> None:
    hourly = [100 + 0.5 * (number % 2) for number in range(48)]  # moves of 0.5 up and down: a spread of 0.5
    beginning = begin_ends(hourly, 25 * HOUR, 100.0, 900)

    low_90, low_50, high_50, high_90 = map(int, beginning.split())

    assert (low_50 + high_50, low_90 + high_90) == (200, 200)
    assert high_50 - low_50 == pytest.approx(2 * 0.6745 * 50 * 5, abs=5)
    assert high_90 - low_90 == pytest.approx(2 * 1.6449 * 50 * 5, abs=5)
    assert begin_ends(hourly, 25 * HOUR, 2000.0, 900) == "900 900 900 900"
    assert begin_ends([], 25 * HOUR, 0.0, 800) == "-400 -165 165 400"


@pytest.mark.parametrize("question", [OPEN, replace(OPEN, base_price=None)])
def test_what_counts_is_said_by_the_rule_that_the_question_has(question: DailyQuestion) -> None:
    said = daily_view(seen(question)).now

    assert ("from $100.00, the price when it was asked, to that of" in said) is (question is OPEN)
    assert ("from the price then to that of" in said) is (question is not OPEN)


@pytest.mark.parametrize("page", ["/index.html", "/arena/daily/index.html"])
def test_the_script_gets_the_scale_of_the_picture_and_the_reach_of_the_bands(page: str) -> None:
    question = near_the_price()
    html = Pages().render(replace(view(), ctx=seen(question)))[page].decode()
    part = re.search(r'<div class="daily-picture"[^>]*>', html)
    assert part is not None

    about = dict(re.findall(r'data-(\w+)="([^"]*)"', part[0]))

    low, base, high, most = (float(about[name]) for name in ("low", "base", "high", "most"))
    assert base == question.base_price
    begin = [int(end) for end in about["begin"].split()]
    assert begin[1] + begin[2] == pytest.approx(2 * 10_000 * (1 / 0.99 - 1), abs=6)
    assert -most <= begin[0] < begin[3] <= most
    assert about["question"] == OPEN.question_id
    assert low - 1e-6 <= base * (1 - most / 10_000) < base * (1 + most / 10_000) <= high + 1e-6
    top, bottom, left, right = map(float, about["column"].split())
    assert 0 < top < bottom < 100
    assert 0 < left < right <= 100


def test_the_last_question_is_drawn_in_dollars_with_room_for_ones_own_answer() -> None:
    last = yesterday(OVER)
    html = str(last.chart)

    assert "Bitcoin ended at $101.50" in html
    assert f"{100 - 2:.2f} to ${100 + 4:.2f}" in html  # the brain's 90% range of the close, -200 to 400 of the base
    assert f'<g id="{MINE}">' in html
    assert last.low < min(OVER.compared[1]) < max(OVER.compared[1]) < last.high
    with pytest.raises(ValueError, match="is not measured"):
        yesterday(LIVE)


@pytest.mark.parametrize("page", ["/index.html", "/arena/daily/index.html"])
def test_both_pages_ask_the_one_question_and_hide_what_is_sealed(page: str) -> None:
    html = Pages().render(replace(view(), ctx=seen(OPEN, LIVE, OVER, VOID)))[page].decode()

    assert html.count(title(OPEN, NOW)) == 1
    assert html.count('id="daily-answer"') == 1
    assert OPEN.salt not in html
    assert f'data-question="{OVER.question_id}"' in html


PLACE: DailyPlace = {
    "place": 1,
    "voter": "ABCDEF\u2026WXYZ",
    "answers": 40,
    "questions": 45,
    "saved": 0.314,
    "low": -0.1,
    "high": 0.528,
    "luck": 0.4,
    "beyond_luck": False,
}


def test_the_page_ranks_who_answers_and_says_what_luck_alone_would_do() -> None:
    ranking: DailyRanking = {"places": [PLACE], "voters": 7, "too_early": 6, "note": "Places go so."}
    ctx = seen(OPEN, OVER)
    ranked = replace(ctx, arena=replace(ctx.arena, daily_ranking=ranking))
    page = Pages().render(replace(view(), ctx=ranked))["/arena/daily/index.html"].decode()

    shown = daily_view(ranked)
    assert shown.ranks == (DailyRank(PLACE["voter"], "1", "40 of 45", "+0.31", f"{MINUS}0.10 to +0.53", "0.40"),)
    assert shown.ranking == (
        "Places go so. 7 voters so far, 6 with too few. By luck alone, with no skill at all, the best of so many would "
        "save up to 0.40."
    )
    assert f"{MINUS}0.10 to +0.53" in page
    assert daily_view(seen(OPEN)).ranking == NO_RANKS
    assert NO_RANKS in Pages().render(replace(view(), ctx=seen(OPEN)))["/arena/daily/index.html"].decode()
