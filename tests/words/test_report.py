"""The report's sentences: each place is filled, nothing unknown is said, and a full report has 350 to 650 words."""

import string
from dataclasses import fields, replace

import numpy as np
import pytest

from generator.brain.like_days import began_calm, days_by_size, large_hours, like_days
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.text.happened import Coin, MarketFacts, Situation
from generator.catalog.text.report.facts import (
    LikeDays,
    ReportFacts,
    Share,
    Span,
    SpellSoFar,
    Trading,
    Yesterday,
)
from generator.catalog.text.report.sentences import REPORT, REPORT_GROUPS, Part, report
from generator.catalog.words import VolatilityWord
from tests.words.markets import eventful, read_every

EVERY = 97
HELD = Share(648, 720, 87.2, 92.1)
LIKE = LikeDays(41, 1.0, 2.2, Share(24, 41, 43.0, 72.0), 52.0, Share(26, 41, 48.0, 76.0), 41.0)


@pytest.fixture(scope="module")
def facts() -> list[ReportFacts]:
    """Facts of many bars, with everything that a report adds."""
    return [full(market) for _, market in read_every(eventful(11), EVERY) if market.situation < Situation.UNKNOWN]


def full(market: MarketFacts) -> ReportFacts:
    known = {field.name: getattr(market, field.name) for field in fields(MarketFacts)}
    price = market.coins["BTC"].price
    spans = {
        horizon: Span(price * (1 - wide), price * (1 - wide / 3), price * (1 + wide / 3), price * (1 + wide))
        for horizon, wide in (("1h", 0.006), ("4h", 0.012), ("24h", 0.03))
    }
    added = ReportFacts(
        **{**known, "names": ASSET_NAMES},
        correlation=0.71,
        trading=Trading(2.3e9, 93.0, 40.0),
        spans=spans,
        widths={"BTC": 0.6, "XRP": 1.1, "HBAR": 1.4},
        held=HELD,
        like_days=LIKE,
        spell=SpellSoFar(7, 44, 31, Share(12, 31, 22.0, 56.0)),
        yesterday=Yesterday(market.now_ms, price * 0.97, price * 1.03, price, hours=24, held=22),
        large_hours=Share(61, 88, 58.0, 79.0),
        large_hours_days=30,
        travelled=9.2,
        largest_from_calm=(7, 10),
        last_days=(8, 12, 10),
        average_swing=81.0,
    )
    return replace(added, record_days=max(added.record_days, 40.0))


def words_of(parts: dict[Part, str]) -> int:
    return sum(len(text.split()) for text in parts.values())


def test_every_place_of_the_report_is_filled() -> None:
    places = {
        name
        for rows in REPORT_GROUPS.values()
        for row in rows
        for _, name, _, _ in string.Formatter().parse(row.text)
        if name
    }

    assert {name for name in places if name not in REPORT.slots and name not in REPORT.groups} == set()


def test_a_full_report_has_350_to_650_words_and_every_part(facts: list[ReportFacts]) -> None:
    reports = [report(of_bar) for of_bar in facts]

    assert all(set(parts) >= set(Part) - {Part.ROUGH, Part.LONG} for parts in reports)
    assert {words_of(parts) for parts in reports} <= set(range(350, 651))


def test_a_report_of_the_market_alone_leaves_out_what_it_does_not_know() -> None:
    market = next(market for _, market in read_every(eventful(11), EVERY) if market.situation < Situation.UNKNOWN)
    known = {field.name: getattr(market, field.name) for field in fields(MarketFacts)}

    parts = report(ReportFacts(**{**known, "names": ASSET_NAMES}))

    assert Part.HAPPENED in parts
    assert Part.FAR not in parts
    assert Part.YESTERDAY not in parts


def test_a_report_of_nothing_asks_its_question_alone() -> None:
    parts = report(ReportFacts(now_ms=0))

    assert set(parts) == {Part.QUESTION}


def test_no_share_of_fewer_than_thirty_cases_is_given(facts: list[ReportFacts]) -> None:
    few = replace(
        facts[0],
        held=Share(10, 12, 50.0, 95.0),
        like_days=LIKE._replace(n=12, rose=None, moved_more=None),
        spell=SpellSoFar(7, 12, 9, None),
        situation=Situation.GREAT_DAY,
        large_hours=Share(4, 9, 10.0, 80.0),
    )

    text = " ".join(report(few).values())

    assert "allowing for luck" not in text
    assert "too few to say what usually follows" in text
    assert "we need 30 such spells on record, and there are twelve" in text


def test_no_mean_of_coins_is_an_idea_while_fewer_than_three_have_a_day(facts: list[ReportFacts]) -> None:
    coins = {asset: Coin(100.0, 0.1) for asset in ASSET_NAMES}
    plain = replace(facts[0], situation=Situation.PLAIN, correlation=0.9, coins=coins)
    halted = replace(plain, coins={"BTC": coins["BTC"], "ETH": coins["ETH"]})

    assert "coins are not" in report(plain)[Part.IDEA]
    assert "coins are not" not in report(halted)[Part.IDEA]


def test_a_word_of_volatility_and_its_rank_never_part_ways(facts: list[ReportFacts]) -> None:
    calm = replace(facts[0], volatility=VolatilityWord.CALM, outlook_rank=8.0)

    assert "calm: the next four hours look quieter than 92 in 100 hours" in report(calm)[Part.ROUGH]


def test_like_days_are_a_day_apart_and_of_the_same_side() -> None:
    rng = np.random.default_rng(3)
    days = 0.01 * rng.standard_normal(1000)
    days[500] = np.nan

    counts = like_days(days, day=-0.012, usual_day=0.007)

    known = [
        hour
        for hour in range(len(days) - 24)
        if 0.67 * 0.012 <= -days[hour] <= 1.5 * 0.012 and np.isfinite(days[hour + 24])
    ]
    chosen: list[int] = []
    for hour in known:
        if not chosen or hour - chosen[-1] >= 24:
            chosen.append(hour)
    assert counts.n == len(chosen)
    assert counts.rose == sum(days[hour + 24] > 0 for hour in chosen)
    assert counts.moved_more == sum(abs(days[hour + 24]) > 0.007 for hour in chosen)


def test_large_hours_are_counted_with_the_next_hour_alone() -> None:
    hours = np.array([0.001, -0.03, 0.02, np.nan, 0.03, np.nan, 0.03, 0.001])

    assert large_hours(hours, usual_hour=0.005) == (2, 1, ((1, 2),))


def test_too_few_hours_say_nothing_of_where_the_largest_began() -> None:
    assert began_calm(np.full(48, 0.01), np.zeros(48)) is None


def test_the_largest_hours_each_lie_on_another_day() -> None:
    rng = np.random.default_rng(5)
    hours = 0.003 * rng.standard_normal(24 * 30)
    words = np.where(np.arange(len(hours)) % 2 == 0, 0.0, 3.0)

    calm = began_calm(hours, words)

    assert calm is not None
    assert calm[1] == 10


def test_days_by_size_are_unknown_where_one_of_them_is() -> None:
    days = np.full(24 * 30, 0.01)
    days[-25] = np.nan

    assert days_by_size(days, usual_day=0.01, count=30, within=0.25) is None
