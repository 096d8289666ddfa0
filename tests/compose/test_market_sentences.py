"""Sentences on the market and on an asset: functions of the facts, true of them, and complete."""

from dataclasses import replace
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.text.market import PublishedAsset, PublishedMarket, asset_summary, headline, summary
from generator.catalog.words import Bias, MarketState, MarketStructure, RegimeLabel, Trend, VolatilityWord
from tests.contradictions import rows
from tests.contradictions.rows import AssetText, MarketText, contradictions

CHANCES = {
    RegimeLabel.RISK_ON: 2.0,
    RegimeLabel.RISK_OFF: 25.0,
    RegimeLabel.RANGE: 1.0,
    RegimeLabel.HIGH_VOLATILITY: 72.0,
}


def facts(*changes: float, **more: Any) -> PublishedMarket:
    up, down = sum(one > 0.1 for one in changes), sum(one < -0.1 for one in changes)
    known = dict(zip(ASSETS, changes, strict=False))
    return PublishedMarket(changes=known, up=up, down=down, flat=len(changes) - up - down, **more)


CRASH = facts(
    -4.4, -7.1, -6.0, -10.6, -9.0, -11.8,
    label=RegimeLabel.HIGH_VOLATILITY, confidence=72.0, chances=CHANCES, since="20:30 UTC", trend=Trend.DOWN,
    volatility=VolatilityWord.EXTREME, usual_day=2.0, since_hour=20, since_share=0.67, risk_score=99.5,
    hour_rank=99.4, volume_ratio=1.6, correlation=0.9, hour_range=(-0.84, 0.85),
)  # fmt: skip
QUIET = facts(
    0.5, -0.4, 0.05, 0.3,
    label=RegimeLabel.RANGE, confidence=64.0,
    chances={RegimeLabel.RISK_ON: 20.0, RegimeLabel.RISK_OFF: 10.0, RegimeLabel.RANGE: 64.0,
             RegimeLabel.HIGH_VOLATILITY: 6.0},
    trend=Trend.SIDEWAYS, volatility=VolatilityWord.CALM, usual_day=2.0, risk_score=12.0,
)  # fmt: skip


def test_a_crash_is_called_a_broad_fast_fall_with_its_size_and_time() -> None:
    said = summary(CRASH)

    assert said.startswith("A broad, fast fall: all six assets are down on the day, Bitcoin least (-4.4%)")
    assert "Two thirds of it has come since 20:00 UTC." in said
    assert "prices moved more than in 99 of 100 hours of the past week" in said
    assert said.endswith("Whether it will continue is not known.")


def test_a_quiet_market_names_its_regime_and_counts_who_is_up() -> None:
    said = headline(QUIET)

    assert said == "Range-bound: two assets are up, one down and one flat on the day, +0.1% on average."


def test_no_regime_is_stated_below_an_even_chance() -> None:
    mixed = replace(QUIET, label=RegimeLabel.RANGE, confidence=45.0, chances={**QUIET.chances, RegimeLabel.RANGE: 45.0})

    assert headline(mixed).startswith("Mixed (range 45%, risk-on 20%): two assets are up")
    assert "Regime:" not in summary(mixed)


def test_a_regime_that_the_facts_forbid_is_not_asserted() -> None:
    forbidden = replace(CRASH, label=RegimeLabel.TRANSITION)

    assert headline(forbidden).startswith("A broad, fast fall, though the model favours high volatility (72%):")


def test_a_held_label_below_an_even_chance_is_mixed_with_the_one_that_leads() -> None:
    chances = {**QUIET.chances, RegimeLabel.RISK_ON: 52.0, RegimeLabel.RANGE: 45.0}
    held = replace(QUIET, label=RegimeLabel.RANGE, confidence=45.0, chances=chances)

    assert headline(held).startswith("Mixed (risk-on 52%, range 45%)")
    assert "favours" not in summary(held)


@pytest.mark.parametrize("names", [6, 7])
@pytest.mark.parametrize("label", [*CHANCES, RegimeLabel.TRANSITION, RegimeLabel.UNKNOWN])
def test_no_headline_is_longer_than_140_characters(names: int, label: RegimeLabel) -> None:
    chances = {} if label is RegimeLabel.UNKNOWN else CHANCES
    long = facts(*[-11.8] * names, label=label, confidence=72.0, chances=chances, usual_day=2.0, since_share=0.7,
                 volatility=VolatilityWord.EXTREME, since_hour=1)  # fmt: skip

    assert len(headline(long)) <= 140


def test_a_summary_of_unknown_facts_says_what_is_missing() -> None:
    said = summary(PublishedMarket(missing="needs 5-minute bars"))

    assert said == "The regime is unknown: needs 5-minute bars. Which way prices will move next is not known."


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"risk_score": 13.0}, False),
        ({"correlation": 0.3}, False),
        ({"volume_ratio": 1.2}, False),
        ({"volume_ratio": 1.7}, True),
        ({"volatility": VolatilityWord.NORMAL}, True),
        ({"hour_range": (-0.2, 0.2)}, True),
        ({"confidence": 66.0}, True),
    ],
)
def test_a_summary_changes_when_a_worded_fact_does_and_only_then(changed: dict[str, Any], differs: bool) -> None:
    assert (summary(replace(QUIET, **changed)) != summary(QUIET)) is differs


COIN = PublishedAsset(
    "SOL", 1.2, 3.0, MarketStructure.RANGE, 0.5, (-0.5, 0.5), Bias.FLAT, (31.0, 38.0, 31.0), (33.0, 34.0, 33.0)
)


def test_an_asset_says_what_it_did_how_far_it_may_move_and_which_way() -> None:
    assert asset_summary(COIN) == (
        "Solana is up 1.2% on the day and without a clear trend. "
        "Nine times in ten, it should end the next hour between "
        "-0.50% and +0.50%. No direction stands out: up 31.0%, flat 38.0%, down 31.0%."
    )


def test_a_direction_comes_with_its_base_rate_and_what_backs_it() -> None:
    up = replace(COIN, forecast=Bias.UP, chances=(29.0, 33.0, 38.0), points=(("the trend", "market breadth"), ()))

    assert asset_summary(up).endswith(
        "A move up is the likeliest of three outcomes: 38.0%, usually 33.0%; "
        "the trend and market breadth point that way."
    )


def test_a_side_that_is_ahead_without_backing_is_said_to_be_and_is_not_named() -> None:
    down = replace(COIN, chances=(57.6, 15.9, 26.5), points=(("the trend", "market breadth"), ()))

    assert asset_summary(down).endswith(
        "Down has the largest chance, but too little backs it: up 26.5%, flat 15.9%, down 57.6%."
    )


def market(
    base: PublishedMarket, said: str | None = None, state: MarketState = MarketState.UNKNOWN, **changed: Any
) -> MarketText:
    now = replace(base, **changed)
    text = summary(now) if said is None else said
    return MarketText(now, headline(now) if said is None else said, text, state)


PLANTED = {
    "no direction said of a broad or large move": market(
        CRASH, "A broad fall of -8.2%: prices swing both ways; more volatile than"
    ),
    "calm said of a volatile market": market(CRASH, "A broad fall of -8.2%, calmer than most; more volatile than"),
    "volatile said of a calm market": market(QUIET, "High volatility: large swings"),
    "risk-on without risers or an uptrend": market(QUIET, label=RegimeLabel.RISK_ON, up=1, down=3, flat=0),
    "risk-off without fallers or a downtrend": market(QUIET, label=RegimeLabel.RISK_OFF),
    "high volatility shown in a calm market": market(QUIET, label=RegimeLabel.HIGH_VOLATILITY),
    "range shown in a volatile market": market(CRASH, label=RegimeLabel.RANGE),
    "a regime stated below an even chance": market(QUIET, "Regime: range", confidence=40.0),
    "a regime shown that another leads": market(QUIET, label=RegimeLabel.RISK_ON),
    "a fall of rising assets, or a rise of falling ones": market(
        CRASH, "A broad rise of 8.2% and no fall; more volatile than"
    ),
    "a broad move without its name and size": market(replace(QUIET, up=4, down=0, flat=0), "Range"),
    "a volatility word that its rank contradicts": market(CRASH, risk_score=46.0),
    "extreme volatility not named": market(CRASH, "A broad fall of -8.2%."),
    "a state that volatility contradicts": market(QUIET, state=MarketState.CAUTION),
    "a headline too long": market(QUIET, "x" * 141),
}
PLANTED_ASSETS = {
    "up said of a fall, or down of a rise": AssetText(COIN, "Solana is down 1.2% on the day."),
    "going nowhere said of a move": AssetText(replace(COIN, change=1.6), "Solana is without a clear trend."),
    "above a high that was not passed": AssetText(COIN, "above its high", price=9.0, high=9.5),
    "below a low that was not passed": AssetText(COIN, "below its low", price=9.0, low=8.5),
    "evidence claimed that does not back the direction": AssetText(
        replace(COIN, forecast=Bias.UP, points=(("the trend",), ("momentum",))), "the trend points that way"
    ),
    "no direction said to stand out where one does": AssetText(
        replace(COIN, chances=(57.6, 15.9, 26.5)), "No direction stands out"
    ),
    "likeliest said of a class that is not": AssetText(replace(COIN, forecast=Bias.UP), "the likeliest"),
}  # fmt: skip


@pytest.mark.parametrize("row", rows.MARKET)
def test_a_planted_contradiction_on_the_market_is_found(row: str) -> None:
    assert row in contradictions(PLANTED[row])


@pytest.mark.parametrize("row", rows.ASSET)
def test_a_planted_contradiction_on_an_asset_is_found(row: str) -> None:
    assert row in contradictions(PLANTED_ASSETS[row])


@pytest.mark.parametrize(("base", "state"), [(CRASH, MarketState.CAUTION), (QUIET, MarketState.WAIT)])
def test_the_sentences_of_these_facts_contradict_nothing(base: PublishedMarket, state: MarketState) -> None:
    assert list(contradictions(market(base, state=state))) == []
    assert list(contradictions(AssetText(COIN, asset_summary(COIN)))) == []
