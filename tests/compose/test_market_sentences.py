"""Sentences on the market and on an asset: functions of the facts, true of them, and complete."""

import re
from dataclasses import replace
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.text.asset import PublishedAsset, asset_summary
from generator.catalog.text.forecast import PublishedForecast, calls_sentence, forecast_sentence
from generator.catalog.text.market import (
    LONGEST_HEADLINE,
    PublishedMarket,
    headline,
    summary,
    undated,
)
from generator.catalog.words import Call, MarketSide, MarketState, MarketStructure, RegimeLabel, Trend, VolatilityWord
from tests.contradictions import rows
from tests.contradictions.rows import AssetText, AssetTruth, FuturesText, MarketText, MarketTruth, contradictions

CHANCES = {
    RegimeLabel.RISK_ON: 2.0,
    RegimeLabel.RISK_OFF: 25.0,
    RegimeLabel.RANGE: 1.0,
    RegimeLabel.HIGH_VOLATILITY: 72.0,
}


def hours(*changes: float) -> dict[str, float]:
    return dict(zip(ASSETS, changes, strict=False))


def facts(*changes: float, **more: Any) -> PublishedMarket:
    up, down = sum(one > 0.1 for one in changes), sum(one < -0.1 for one in changes)
    return PublishedMarket(changes=hours(*changes), up=up, down=down, flat=len(changes) - up - down, **more)


CRASH = facts(
    -4.4, -7.1, -6.0, -10.6, -9.0, -11.8,
    label=RegimeLabel.HIGH_VOLATILITY, confidence=72.0, chances=CHANCES, trend=Trend.DOWN,
    volatility=VolatilityWord.EXTREME, side=MarketSide.FALLING,
    usual_day=2.1, usual_days_kept=18, most_since="12 Jun 20:00", since_share=0.67, risk_score=99.5,
    hours=hours(-1.9, -3.1, -2.5, -5.0, -4.0, -5.1), move_rank=99.9, largest_of="week",
    hour_rank=99.4, volume_ratio=1.6, correlation=0.9, hour_range=(-0.84, 0.85),
)  # fmt: skip
QUIET = facts(
    0.5, -0.4, 0.05, 0.3, -0.8, 1.2, -0.3,
    label=RegimeLabel.RANGE, confidence=64.0,
    chances={RegimeLabel.RISK_ON: 20.0, RegimeLabel.RISK_OFF: 10.0, RegimeLabel.RANGE: 64.0,
             RegimeLabel.HIGH_VOLATILITY: 6.0},
    trend=Trend.SIDEWAYS, volatility=VolatilityWord.NORMAL, side=MarketSide.FLAT,
    usual_day=2.0, usual_days_kept=30, risk_score=41.0,
)  # fmt: skip
# 2022-11-14 07:00: the greatest rise of an hour in five weeks, on a day that had fallen.
REBOUND = facts(
    -1.2, -3.4, -4.8, 0.8, -2.5, -1.6, -2.2,
    label=RegimeLabel.HIGH_VOLATILITY, confidence=46.0,
    chances={RegimeLabel.RISK_ON: 4.0, RegimeLabel.RISK_OFF: 46.0, RegimeLabel.RANGE: 8.0,
             RegimeLabel.HIGH_VOLATILITY: 42.0},
    trend=Trend.SIDEWAYS, volatility=VolatilityWord.ELEVATED, side=MarketSide.BOTH_WAYS,
    usual_day=3.1, usual_days_kept=30, risk_score=93.0,
    hours=hours(5.1, 6.2, 5.9, 8.0, 6.6, 7.1, 6.6), move_rank=99.8, largest_of="week", hour_rank=99.7,
)  # fmt: skip


def test_the_headline_says_the_state_now_then_the_day() -> None:
    assert headline(replace(QUIET, changes=hours(-0.3, -0.4, -0.9, -1.8, -0.8, 0.2, -0.3), up=1, down=6, flat=0)) == (
        "A flat day, of normal volatility. On the day six of seven assets are lower, Solana most (-1.8%)."
    )


def test_the_headline_of_a_mixed_day_counts_who_is_higher_and_names_both_ends() -> None:
    assert headline(QUIET) == (
        "A flat day, of normal volatility. "
        "On the day three of seven assets are higher, three lower and one flat, "
        "from -0.8% (Algorand) to +1.2% (Stellar Lumens)."
    )


def test_an_hour_that_rose_on_a_falling_day_is_said_with_its_place_in_the_week() -> None:
    assert headline(REBOUND) == (
        "A day of ups and downs, rough. "
        "On the day six of seven assets are lower, XRP most (-4.8%). "
        "But in the last hour prices jumped 6.5% on average, the largest rise of the week."
    )


def test_a_crash_is_called_a_broad_fast_fall_with_its_size_and_time() -> None:
    said = summary(CRASH)

    assert said.startswith("A falling day, wild. ")
    assert "all six known assets are lower, Bitcoin least (-4.4%), Stellar Lumens most (-11.8%)." in said
    assert "In the last hour prices dropped 3.6% on average, the largest fall of the week." in said
    assert "The average fall of 8.2% is 3.9 times a usual day's 2.1% (median of 18 days)." in said
    assert "Two thirds of it has come since 12 Jun 20:00 UTC." in said
    assert "Label: high volatility, which still stands in four hours with a chance of 72.0%." in said
    assert said.endswith("Whether the fall will continue is not known.")


def test_a_large_move_is_named_where_the_hour_leaves_room_for_it() -> None:
    later = replace(CRASH, hours={}, move_rank=None, largest_of=None)

    assert (
        "On the day a broad, fast fall: all six known assets are lower, Bitcoin least (-4.4%), "
        "Stellar Lumens most (-11.8%)."
    ) in headline(later)


@pytest.mark.parametrize(
    ("volatility", "side", "state"),
    [
        (VolatilityWord.CALM, MarketSide.FLAT, "A flat day, calm."),
        (VolatilityWord.NORMAL, MarketSide.RISING, "A rising day, of normal volatility."),
        (VolatilityWord.ELEVATED, MarketSide.BOTH_WAYS, "A day of ups and downs, rough."),
        (VolatilityWord.EXTREME, MarketSide.FALLING, "A falling day, wild."),
        (VolatilityWord.CALM, MarketSide.UNKNOWN, "Side unknown, calm."),
    ],
)
def test_the_state_is_side_and_volatility_in_words(volatility: VolatilityWord, side: MarketSide, state: str) -> None:
    assert headline(replace(QUIET, volatility=volatility, side=side)).startswith(f"{state} On the day")


def test_a_label_without_a_chance_is_not_named() -> None:
    assert "Label" not in summary(replace(QUIET, confidence=None))
    assert "Label: range, which still stands in four hours with a chance of 64.0%." in summary(QUIET)


def test_a_mean_that_two_coins_make_is_given_with_the_median() -> None:
    # 2023-07-13: XRP and another made two thirds of the average.
    day = facts(3.9, 6.4, 74.9, 20.4, 9.6, 9.3, 69.4, usual_day=2.0, usual_days_kept=30, most_since="15:00",
                since_share=0.9)  # fmt: skip

    assert (
        "The median change is +9.6%; XRP (+74.9%) and Hedera (+69.4%) lift the average to +27.7%, "
        "against a usual day's 2.0% (median of 30 days)."
    ) in summary(day)


def test_a_share_above_the_whole_is_all_of_it_and_more() -> None:
    assert "All of it, and more, has come since 12 Jun 20:00 UTC." in summary(replace(CRASH, since_share=1.3))


@pytest.mark.parametrize(
    ("word", "rank", "sentence"),
    [
        (VolatilityWord.NORMAL, 78.8, "The next four hours look rougher than 78 in 100 hours on record."),
        (VolatilityWord.CALM, 18.0, "The next four hours look rougher than 18 in 100 hours on record."),
        (VolatilityWord.ELEVATED, 60.0, "still count as rough: they look rougher than 60 in 100 hours on record."),
        (VolatilityWord.ELEVATED, 90.0, "The next four hours look rougher than 90 in 100 hours on record."),
        (VolatilityWord.EXTREME, 100.0, "The next four hours look rougher than 99 in 100 hours on record."),
    ],
)
def test_a_word_of_volatility_that_is_kept_for_a_while_is_qualified_by_its_rank(
    word: VolatilityWord, rank: float, sentence: str
) -> None:
    assert sentence in summary(replace(QUIET, volatility=word, risk_score=rank))


def test_one_hour_that_only_swung_says_what_came_of_it() -> None:
    swung = replace(QUIET, hour_rank=97.3, hours=hours(0.2, 0.1, 0.3, 0.2, 0.2, 0.1, 0.3), move_rank=70.0)

    assert (
        "In the last hour prices swung more than in 97 of 100 hours of the past week, for a change of +0.2% on average."
    ) in summary(swung)


@pytest.mark.parametrize("names", [6, 7])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("label", [*CHANCES, RegimeLabel.TRANSITION, RegimeLabel.UNKNOWN])
def test_no_headline_is_longer_than_its_limit(names: int, sign: int, label: RegimeLabel) -> None:
    chances = {} if label is RegimeLabel.UNKNOWN else CHANCES
    mixed = [-11.8, 12.4, -10.2, 0.0, 11.1, -12.5, -10.5][:names]
    for changes in ([sign * 11.8] * names, mixed):
        long = facts(*changes, label=label, confidence=72.0, chances=chances, usual_day=2.0, since_share=0.7,
                     volatility=VolatilityWord.EXTREME, side=MarketSide.FALLING,
                     hours=hours(-1.0, *[12.4] * (names - 1)), move_rank=99.9)  # fmt: skip

        assert len(headline(long)) <= LONGEST_HEADLINE
        assert headline(long).endswith(".")
        assert "n the last hour prices jumped" in headline(long)


def test_a_summary_of_unknown_facts_says_what_is_missing() -> None:
    said = summary(PublishedMarket(missing="a reading needs 5-minute bars"))

    assert said == (
        "Volatility and side of the market are unknown: a reading needs 5-minute bars. "
        "Which way prices will move next is not known."
    )


def test_a_market_without_a_reading_still_has_its_day() -> None:
    said = headline(facts(-1.0, -0.4, -0.6, missing="a reading needs 5-minute bars"))

    assert said == (
        "Volatility and side of the market are unknown: a reading needs 5-minute bars. "
        "On the day all three known assets are lower, Ether least (-0.4%), Bitcoin most (-1.0%)."
    )


def test_hourly_bars_have_a_trend_and_an_hour_though_no_regime() -> None:
    said = summary(
        facts(-3.0, -2.4, -2.6, missing="a reading needs 5-minute bars", trend=Trend.DOWN, side=MarketSide.FALLING,
              hours=hours(-1.4, -1.2, -1.6))
    )  # fmt: skip

    assert said.startswith(
        "A falling day; how rough the next hours look is unknown: a reading needs 5-minute bars. "
        "On the day all three known assets are lower, Ether least (-2.4%), Bitcoin most (-3.0%). "
        "In the last hour prices fell 1.4% on average."
    )
    assert said.count("5-minute") == 1


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"risk_score": 41.4}, False),
        ({"correlation": 0.3}, False),
        ({"volume_ratio": 1.2}, False),
        ({"volume_ratio": 1.7}, True),
        ({"volatility": VolatilityWord.CALM}, True),
        ({"side": MarketSide.RISING}, True),
        ({"hour_range": (-0.2, 0.2)}, True),
        ({"confidence": 66.0}, True),
        ({"hours": hours(0.9, 0.9, 0.9, 0.9)}, False),
        ({"hours": hours(1.1, 1.1, 1.1, 1.1)}, True),
    ],
)
def test_a_summary_changes_when_a_worded_fact_does_and_only_then(changed: dict[str, Any], differs: bool) -> None:
    assert (summary(replace(QUIET, **changed)) != summary(QUIET)) is differs


EVEN = PublishedForecast(Call.NONE, (31.0, 38.0, 31.0), (33.0, 34.0, 33.0), 0.21)
COIN = PublishedAsset("SOL", 1.2, 3.0, MarketStructure.RANGE, 0.5, (-0.5, 0.5), EVEN)
MOVE = "In an hour, more than 0.21% up or down from here: 62.0%, usual 66.0%"


def test_an_asset_says_whether_it_will_move_then_what_it_did_then_how_far() -> None:
    assert asset_summary(COIN) == (
        f"{MOVE}; up and down are as likely as each other. "
        "Solana is up 1.2% on the day and without a clear trend. "
        "Nine times in ten, it should end the next hour between -0.50% and +0.50%."
    )


@pytest.mark.parametrize(
    ("down", "up", "said"),
    [
        (31.0, 32.99, "up and down are as likely as each other."),
        (31.0, 33.0, "up is ahead of down, 33.0% to 31.0%, and neither is called."),
        (57.6, 26.5, "down is ahead of up, 57.6% to 26.5%, and neither is called."),
    ],
)
def test_without_a_call_a_side_is_ahead_from_two_points_on(down: float, up: float, said: str) -> None:
    sentence = forecast_sentence(replace(EVEN, chances=(down, round(100 - down - up, 2), up)))

    assert sentence.endswith(said)
    assert not re.search("expect|wrong|call is", sentence)


def test_a_called_side_comes_with_its_base_rate_its_opposite_and_the_evidence() -> None:
    points = (("the trend", "market breadth"), ("momentum",))
    up = replace(EVEN, call=Call.UP, chances=(28.0, 30.0, 42.0), points=points)

    assert forecast_sentence(up) == (
        "In an hour, more than 0.21% up or down from here: 70.0%, usual 66.0%. "
        "The call is up: 42.0%, usual 33.0%, against 28.0% for down; "
        "the trend and market breadth point the same way, momentum points the other way."
    )
    down = replace(up, call=Call.DOWN, chances=(42.0, 30.0, 28.0))
    assert "The call is down: 42.0%, usual 33.0%, against 28.0% for up; momentum points the same way" in (
        forecast_sentence(down)
    )


def test_a_called_side_of_a_simulated_market_says_that_it_is_made_with_a_drift() -> None:
    up = replace(EVEN, call=Call.UP, chances=(28.0, 30.0, 42.0), simulated=True)

    drift = "In this simulated market, whose record says nothing of real ones, the call is up"
    assert drift in forecast_sentence(up)
    assert "drift" not in forecast_sentence(replace(up, simulated=False))
    assert "drift" not in forecast_sentence(replace(EVEN, simulated=True))


def test_a_small_move_is_called_with_its_chance_and_its_base_rate() -> None:
    small = replace(EVEN, call=Call.SMALL_MOVE, chances=(23.0, 54.0, 23.0))

    assert forecast_sentence(small) == (
        "In an hour, more than 0.21% up or down from here: 46.0%, usual 66.0%. "
        "The call is a small move: 54.0%, usual 34.0%."
    )


BREAKOUT = replace(COIN, structure=MarketStructure.BREAKOUT, change=3.2, broke_at="00:20", off_edge=1.02)


def test_a_broken_high_is_dated_and_the_price_is_compared_with_the_new_one() -> None:
    said = asset_summary(BREAKOUT).partition("other. ")[2]

    high = "it broke its high of the previous 24 hours at 00:20 UTC and is now 1.0% below the new one."
    assert said.startswith(f"Solana is up 3.2% on the day: {high}")
    assert "and is now at the new one." in asset_summary(replace(BREAKOUT, off_edge=0.0))


TREND = replace(COIN, structure=MarketStructure.UPTREND, last_3h=0.4)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "Solana is up 1.2% on the day and in an uptrend by its last 24 hours."),
        (
            {"last_3h": -2.6},
            "and in an uptrend by its last 24 hours, though down 2.6% in the last three hours.",
        ),
        ({"change": -0.6}, "Solana is down 0.6% on the day, but in an uptrend by its last 24 hours."),
    ],
)
def test_a_trend_is_joined_by_what_goes_against_it(changed: dict[str, Any], sentence: str) -> None:
    assert sentence in asset_summary(replace(TREND, **changed))


def test_an_hour_of_an_asset_that_stands_out_is_said_with_its_sign() -> None:
    # 2022-11-10 14:05: "down 0.7% on the day and without a clear trend", after +3.9% in an hour.
    said = asset_summary(replace(COIN, asset="BTC", change=-0.7, hour=3.9, hour_rank=99.4))

    assert said.partition("other. ")[2].startswith(
        "Bitcoin is down 0.7% on the day. But in the last hour it rose 3.9%, more than in 99 of 100 hours of its week."
    )


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ({}, ""),
        ({Call.NONE: 7}, "No call is made for the next hour."),
        (
            {Call.UP: 2, Call.DOWN: 1, Call.SMALL_MOVE: 3, Call.NONE: 1},
            "up for two, down for one and a small move for three",
        ),
        ({Call.SMALL_MOVE: 7}, "The call for the next hour is a small move for seven of seven assets."),
        ({Call.UP: 2, Call.NONE: 5}, "up for two of seven assets; there is none for the other five."),
    ],
)
def test_calls_and_their_absence_are_counted(calls: dict[Call, int], said: str) -> None:
    assert said in calls_sentence(calls, simulated=False)
    assert bool(calls_sentence(calls, simulated=False)) is bool(said)


def market(
    base: PublishedMarket,
    said: str | None = None,
    state: MarketState = MarketState.UNKNOWN,
    truth: MarketTruth | None = None,
    **changed: Any,
) -> MarketText:
    now = replace(base, **changed)
    first = headline(now) if said is None else said
    return MarketText(now, first, summary(now) if said is None else said, state, truth or MarketTruth())


def reworded(base: PublishedMarket, old: str, new: str, **changed: Any) -> MarketText:
    """Return the texts of some facts with a fault planted in them."""
    right = market(base, **changed)
    assert old in right.summary
    return right._replace(headline=right.headline.replace(old, new), summary=right.summary.replace(old, new))


PLANTED = {
    "no direction said of a broad or large move": reworded(CRASH, "A falling day", "Prices swing both ways"),
    "calm said of a volatile market": reworded(CRASH, "The next four hours", "Calmer than most, the next four hours"),
    "volatile said of a calm market": reworded(QUIET, "of normal volatility", "rough"),
    "volatility in the headline that its word contradicts": reworded(CRASH, "wild", "calm"),
    "a side in the headline that its word contradicts": reworded(QUIET, "A flat day", "A rising day"),
    "a broad move as the state under another side": reworded(QUIET, "A flat day", "A broad rise"),
    "a count in the headline that the day contradicts": reworded(QUIET, "three of seven", "four of seven"),
    "a fall of rising assets, or a rise of falling ones": reworded(CRASH, "are lower", "are higher"),
    "a broad move without its direction and size": reworded(CRASH, "are lower", "have moved"),
    "an hour that stands out without its sign": reworded(REBOUND, "jumped", "moved"),
    "an hour in words that its facts contradict": reworded(REBOUND, "prices jumped", "prices dropped"),
    "a usual day that is not the median of the days": market(CRASH, truth=MarketTruth(usual_day=2.4)),
    "a mean that few assets make": reworded(
        QUIET, "Label:", "The average rise of 4.0%. Label:", changes=hours(0.1, 0.2, 28.0, 0.1, 0.1, -0.3, -0.2)
    ),
    "a part said of more than the whole": reworded(CRASH, "All of it, and more, has", "All of it has", since_share=1.3),
    "a side that the day's move denies": market(CRASH, side=MarketSide.RISING),
    "a volatility word that its rank contradicts": market(CRASH, risk_score=44.0),
    "a rank of the coming hours other than the risk score": reworded(CRASH, "than 99 in 100", "than 90 in 100"),
    "a label other than the one that side and volatility make": market(QUIET, label=RegimeLabel.RISK_ON),
    "a state that volatility contradicts": market(QUIET, state=MarketState.CAUTION),
    "a headline too long": reworded(QUIET, "normal", "x" * 140),
}  # fmt: skip
PLANTED_ASSETS = {
    "up said of a fall, or down of a rise": AssetText(COIN, "Solana is down 1.2% on the day."),
    "going nowhere said of a move": AssetText(replace(COIN, change=1.6), "Solana is without a clear trend."),
    "a high or its distance that the last 24 hours contradict": AssetText(
        BREAKOUT, asset_summary(BREAKOUT), AssetTruth(below_high=2.6, broke_high=True)
    ),
    "a low or its distance that the last 24 hours contradict": AssetText(
        COIN, "it broke its low of the previous 24 hours", AssetTruth(above_low=0.0, broke_low=False)
    ),
    "a trend without the three hours against it": AssetText(replace(TREND, last_3h=-2.6), "in an uptrend"),
    "an asset's hour beyond 1% without its sign": AssetText(replace(COIN, hour=-1.4), "In the last hour it rose 1.4%."),
    "evidence said to point a way that it does not": AssetText(
        replace(COIN, forecast=replace(EVEN, points=(("the trend",), ()))), "the trend points the same way"
    ),
    "two sides called alike where one is ahead": AssetText(
        replace(COIN, forecast=replace(EVEN, chances=(57.6, 15.9, 26.5))), "up and down are as likely as each other"
    ),
    "an outcome called that is not called, or is not the likeliest": AssetText(
        replace(COIN, forecast=replace(EVEN, call=Call.SMALL_MOVE, chances=(57.6, 15.9, 26.5))),
        "The call is a small move",
    ),
    "a chance of a move other than what a small move leaves": AssetText(COIN, "from here: 61.9%, usual 66.0%"),
    "a move at the end of the hour said of the way there": AssetText(COIN, "A move of 0.21% within the hour: 62.0%"),
}  # fmt: skip
PLANTED_FUTURES = {
    "a side in demand at a rate that is usual for its month": FuturesText("demand to be long exceeds supply", 47.2),
    "positions said to open or close within the noise": FuturesText(
        "Positions are being closed while the price falls", contracts_change=-0.6
    ),
}


@pytest.mark.parametrize("row", rows.MARKET)
def test_a_planted_contradiction_on_the_market_is_found(row: str) -> None:
    assert row in contradictions(PLANTED[row])


@pytest.mark.parametrize("row", rows.ASSET)
def test_a_planted_contradiction_on_an_asset_is_found(row: str) -> None:
    assert row in contradictions(PLANTED_ASSETS[row])


@pytest.mark.parametrize("row", rows.FUTURES)
def test_a_planted_contradiction_on_futures_is_found(row: str) -> None:
    assert row in contradictions(PLANTED_FUTURES[row])


@pytest.mark.parametrize(
    ("base", "state"), [(CRASH, MarketState.CAUTION), (QUIET, MarketState.WAIT), (REBOUND, MarketState.CAUTION)]
)
def test_the_sentences_of_these_facts_contradict_nothing(base: PublishedMarket, state: MarketState) -> None:
    assert list(contradictions(market(base, state=state))) == []
    assert [*contradictions(AssetText(COIN, asset_summary(COIN)))] == []


def test_a_headline_says_its_time_unless_it_then_becomes_too_long() -> None:
    moved = replace(QUIET, as_of="12:03")
    late = replace(moved, as_of="2 Nov 02:15" + "!" * 120)

    assert "of normal volatility (as of 12:03 UTC). On the day" in headline(moved)
    assert undated(headline(moved)) == headline(replace(moved, as_of=""))
    assert ("as of" in headline(late), len(headline(late)) <= LONGEST_HEADLINE) == (False, True)
    assert headline(PublishedMarket(missing="no bars", as_of="12:03")).endswith("unknown: no bars (as of 12:03 UTC).")
