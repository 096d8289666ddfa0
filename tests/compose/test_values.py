"""Figures of the bodies, each computed a second time from what the tick observed and read."""

import math
from dataclasses import replace
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.words import LiquidityContext, SourceMode
from generator.compose.all import compose, compose_free
from generator.compose.facts import last_bars_hour
from generator.compose.tick import Tick
from generator.market.bars import BAR_FIELDS, BarFrame
from tests.support.bodies import free, paid
from tests.support.builders import CONTEXTS, NOW_MS, full_context


def observed(name: str = "full") -> Tick:
    return CONTEXTS[name]()


def digits(value: float | None, number: int = 6) -> float | None:
    """Round to so many significant digits."""
    return None if value is None else round(value, number - 1 - math.floor(math.log10(abs(value))))


def layer(name: str = "full") -> dict[str, Any]:
    part: dict[str, Any] = paid(name, "x402-atlas")["intelligence_layer"]
    return part


def test_the_atlas_names_the_deepest_asset_first() -> None:
    ctx = full_context()
    order = ("SOL", "HBAR", "BTC", "XLM", "ETH", "ALGO", "XRP")
    seen = {}
    for place, asset in enumerate(order):
        book = ctx.observation.assets[asset].book
        assert book is not None
        seen[asset] = replace(ctx.observation.assets[asset], book=replace(book, depth_1pct_usd=9e6 - 1e6 * place))
    seen["ETH"] = replace(seen["ETH"], book=None)

    done = compose(replace(ctx, observation=replace(ctx.observation, assets=seen)))

    shown = done.paid["x402-atlas"].as_json()["intelligence_layer"]["liquidity"]
    assert shown["deepest_first"] == ["SOL", "HBAR", "BTC", "XLM", "ALGO", "XRP"]
    assert (shown["depth_1pct_usd"], shown["depth_assets"]) == (9e6 + 8e6 + 7e6 + 6e6 + 4e6 + 3e6, 6)


def test_the_atlas_sums_and_averages_what_its_assets_say() -> None:
    shown, ctx = layer(), full_context()
    derivatives, liquidity = shown["derivatives"], shown["liquidity"]
    usd = [row["open_interest"]["usd"] for row in derivatives["assets"].values()]
    rates = [row["funding"]["rate_8h_percent"] for row in derivatives["assets"].values()]
    assert ctx.reading is not None

    assert (derivatives["open_interest_usd"], derivatives["open_interest_assets"]) == (digits(sum(usd)), len(ASSETS))
    assert (derivatives["mean_rate_8h_percent"], derivatives["funding_assets"]) == (round(fmean(rates), 4), len(ASSETS))
    assert derivatives["crowded"] == dict.fromkeys(ASSETS[:4], "crowded_longs")
    assert liquidity["thin"] == [
        asset for asset in ASSETS if ctx.reading.assets[asset].liquidity is LiquidityContext.THIN
    ]


def test_cross_asset_figures_are_those_of_the_changes_as_published() -> None:
    moved = {asset: row["change_24h"] for asset, row in layer()["assets"].items()}

    shown = layer()["cross_asset"]

    rose = sum(change > 0 for change in moved.values())
    assert shown["breadth_percent"] == round(100 * rose / len(ASSETS), 1)
    assert (shown["mean_change_24h"], shown["assets_compared"]) == (round(fmean(moved.values()), 2), len(ASSETS))
    assert shown["dispersion_24h"] == round(pstdev(moved.values()), 2)
    assert (shown["strongest"], shown["weakest"]) == (
        max(moved, key=moved.__getitem__),
        min(moved, key=moved.__getitem__),
    )
    assert shown["note"] == f"{rose} of {len(ASSETS)} assets rose over 24 hours."


@pytest.mark.parametrize("name", ["full", "missing_asset", "candles_only", "hourly"])
def test_each_asset_is_published_as_it_was_observed(name: str) -> None:
    ctx = observed(name)
    coins, books = free(name, "main-brain")["coins"], free(name, "liquidity-lite")["assets"]

    for asset, seen in ctx.observation.assets.items():
        change = seen.change_24h_percent
        for row in (coins[asset], books[asset]):
            assert row["price"] == digits(seen.price)
            assert row["change_24h"] == (None if change is None else round(change, 2))
        book = books[asset]
        if seen.book is None:
            assert [book[key] for key in ("spread_bps", "depth_1pct_usd", "imbalance_percent")] == [None] * 3
            continue
        assert book["spread_bps"] == round(seen.book.spread_bps, 2)
        assert book["depth_1pct_usd"] == digits(seen.book.depth_1pct_usd)
        assert book["imbalance_percent"] == round(seen.book.imbalance_percent, 1)


@pytest.mark.parametrize("name", ["full", "missing_asset", "candles_only", "hourly"])
def test_futures_are_published_as_they_were_observed(name: str) -> None:
    shown = free(name, "derivatives")["assets"]

    for asset, seen in observed(name).observation.assets.items():
        row, funding, interest, liquidated = shown[asset], seen.funding, seen.open_interest, seen.liquidations
        if funding is None:
            assert row["funding"] is None
        else:
            assert row["funding"]["rate_8h_percent"] == round(100 * funding.rate_8h, 4)
            assert row["funding"]["annualised_percent"] == round(100 * funding.rate_8h * 3 * 365, 2)
            assert row["funding"]["cost_per_1000_usd_day"] == round(1000 * funding.rate_8h * 3, 2)
            assert row["funding"]["venues"] == list(funding.venues)
        if interest is None:
            assert row["open_interest"] is None
        else:
            assert row["open_interest"]["contracts"] == digits(interest.contracts)
            assert row["open_interest"]["usd"] == digits(interest.usd)
            assert row["open_interest"]["venues"] == list(interest.venues)
        if liquidated is None:
            assert row["liquidations"] is None
        else:
            assert row["liquidations"]["long_usd_24h"] == digits(liquidated.long_usd_24h)
            assert row["liquidations"]["short_usd_24h"] == digits(liquidated.short_usd_24h)


def test_each_asset_is_published_as_the_brain_reads_it() -> None:
    ctx = full_context()
    coins, books, futures = (
        free("full", "main-brain")["coins"],
        free("full", "liquidity-lite")["assets"],
        free("full", "derivatives")["assets"],
    )
    assert ctx.reading is not None

    for asset, read in ctx.reading.assets.items():
        assert read.forecast is not None
        assert read.ranges is not None
        chances = read.forecast.probabilities
        shown = (chances.down, chances.neutral, chances.up)
        called = dict(zip(("down", "small_move", "up"), shown, strict=True)).get(read.forecast.call.value)
        assert coins[asset]["confidence"] == (None if called is None else round(100 * round(called, 4), 1))
        assert {coins[asset]["call"], books[asset]["call"]} == {read.forecast.call}
        assert list(coins[asset]["probabilities"].items()) == [
            ("down", round(shown[0], 4)),
            ("neutral", round(shown[1], 4)),
            ("up", round(shown[2], 4)),
        ]
        assert coins[asset]["move"] == {
            "chance": round(round(shown[0], 4) + round(shown[2], 4), 4),
            "base_rate": 0.66,
            "band_percent": 0.2144,
        }
        assert coins[asset]["base_rates"] == {"down": 0.33, "neutral": 0.34, "up": 0.33}
        for horizon, span in read.ranges.items():
            ends = {end: round(getattr(span, end), 2) for end in ("low_90", "low_50", "high_50", "high_90")}
            assert coins[asset]["ranges"][horizon] == ends
        assert {coins[asset]["bias"], books[asset]["bias"]} == {read.bias}
        assert books[asset]["liquidity_context"] == read.liquidity
        assert books[asset]["market_structure"] == read.structure
        assert (futures[asset]["state"], futures[asset]["vote"]) == (read.derivatives, read.vote)


def test_the_regime_is_published_as_the_brain_reads_it() -> None:
    ctx, shown = full_context(), free("full", "market-regime")["regime"]
    assert ctx.reading is not None
    read = ctx.reading.regime

    assert (shown["label"], shown["trend"], shown["volatility"]) == (read.label, read.trend, read.volatility)
    assert shown["probabilities"] == {label.value: round(chance, 4) for label, chance in read.holding.items()}
    assert (shown["confidence"], shown["risk_score"]) == (71.3, 41.2)
    assert (shown["dwell_minutes"], shown["previous_label"]) == (420, "range")
    assert (shown["since"], shown["as_of"]) == ("2026-11-20T02:53:00Z", "2026-11-20T09:50:00Z")


# How old a price may be


def with_price_of(age_ms: int, mode: SourceMode = SourceMode.LIVE, step_ms: int = 300_000) -> dict[str, Any]:
    """Return the liquidity of a market whose prices are all so old."""
    ctx = full_context(mode)
    seen = {asset: replace(row, price_as_of_ms=NOW_MS - age_ms) for asset, row in ctx.observation.assets.items()}
    old = replace(ctx, observation=replace(ctx.observation, assets=seen, bar_interval_ms=step_ms))
    body: dict[str, Any] = compose_free(old)["/api/liquidity-lite.php"].as_json()
    return body


@pytest.mark.parametrize(("age_s", "verified"), [(0, len(ASSETS)), (180, len(ASSETS)), (181, 0), (360, 0)])
def test_a_price_is_fresh_for_three_minutes(age_s: int, verified: int) -> None:
    body = with_price_of(1000 * age_s)

    assert (body["assets_verified"], body["assets_failed"]) == (verified, len(ASSETS) - verified)
    assert {row["status"] for row in body["assets"].values()} == {"available" if verified else "degraded"}


@pytest.mark.parametrize(("age_s", "verified"), [(480, len(ASSETS)), (481, 0)])
def test_a_recorded_price_may_be_older_by_the_step_of_its_bars(age_s: int, verified: int) -> None:
    assert with_price_of(1000 * age_s, SourceMode.RECORDED)["assets_verified"] == verified


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (55.5, "The risk score fell from 55.5 to 41.2."),
        (40.04, "The risk score rose from 40 to 41.2."),
        (41.21, "The risk score stayed at 41.2."),
        (None, "How the risk score changed in 24 hours is not known."),
    ],
)
def test_what_changed_in_a_day_is_said_as_the_figures_moved(before: float | None, text: str) -> None:
    ctx = full_context()
    day = replace(ctx, day_before=ctx.day_before._replace(risk_score=before))

    rows = compose(day).paid["x402-market-regime"].as_json()["what_changed"]

    assert [row["text"] for row in rows if row["what"] == "risk score"] == [text]


def hourly_bars(times: list[int], closes: list[float]) -> BarFrame:
    fields = {name: np.full((len(times), 1), np.nan) for name in BAR_FIELDS}
    fields["close"] = np.array(closes, dtype=np.float64)[:, None]
    return BarFrame(("BTC",), np.array(times, dtype=np.int64), fields, 3_600_000)


HOURS = [3_600_000 * number for number in range(4)]


@pytest.mark.parametrize(
    ("bars", "changes"),
    [
        (hourly_bars(HOURS[:2], [50.0, 51.0]), {"BTC": 2.0}),
        (hourly_bars(HOURS, [70.0, 60.0, 50.0, 49.0]), {"BTC": -2.0}),
        (hourly_bars(HOURS[:1], [50.0]), {}),
        (hourly_bars([HOURS[0], HOURS[1], HOURS[3]], [50.0, 50.0, 51.0]), {}),  # an hour is missing
        (hourly_bars(HOURS[:2], [0.0, 51.0]), {}),
        (hourly_bars(HOURS[:2], [math.nan, 51.0]), {}),
        (replace(hourly_bars(HOURS[:2], [50.0, 51.0]), interval_ms=300_000), {}),
        (None, {}),
    ],
)
def test_the_last_hour_of_hourly_bars_is_the_change_between_its_two_closes(
    bars: BarFrame | None, changes: dict[str, float]
) -> None:
    assert last_bars_hour(bars) == changes
