"""The series of ATLAS: what was published, at its time, and null where it is not known."""

import hashlib
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import iso
from generator.catalog.words import MarketSide, VolatilityWord
from generator.compose.body import encode
from generator.compose.series import series_block
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.values.series import KeptRange, KeptSeries, KeptSpans, KeptWords
from tests.support.builders import NOW_MS, full_context

LAST_HOUR = NOW_MS // HOUR_MS * HOUR_MS
SEEN: dict[str, Any] = {
    "funding": {"okx": 0.000123, "gate": None},
    "interest_usd": 12_345.6,
    "depth_usd": 0.0,
    "spread_bps": None,
    "disagreement_bps": 1.26,
}


def bars_of(count: int, *, missing: int | None = None) -> BarFrame:
    """Return bars of which the newest closes at the last full hour, without one that many bars before it."""
    opens = LAST_HOUR - BAR_MS * np.arange(count, 0, -1)
    close = np.repeat(100.0 * 1.001 ** (np.arange(count) % 3)[:, None], len(ASSETS), axis=1)
    frame = BarFrame(ASSETS, opens, dict.fromkeys(BAR_FIELDS, close))
    if missing is None:
        return frame
    return BarFrame.joined([frame.rows(0, count - 1 - missing), frame.rows(count - missing)])


def body(bars: BarFrame | None, /, **kept: Any) -> dict[str, Any]:
    return series_block(replace(full_context(), bars=bars, kept=KeptSeries(**kept))).as_json()


def kept_hours(*ago: int) -> KeptSpans:
    times = [LAST_HOUR - hours * HOUR_MS for hours in ago]
    words = KeptWords(MarketSide.RISING, None)
    return KeptSpans(HOUR_MS, {at_ms: {"BTC": SEEN} for at_ms in times}, dict.fromkeys(times, words))


def test_a_quantity_begins_at_its_since_and_ends_at_until() -> None:
    hourly = body(bars_of(40), hours=kept_hours(4, 1))["by_hour"]

    assert hourly["until"] == iso(LAST_HOUR)
    assert hourly["since"]["price"] == iso(LAST_HOUR - 3 * HOUR_MS)
    assert len(hourly["assets"]["BTC"]["price"]) == 4
    assert hourly["since"]["open_interest_usd"] == iso(LAST_HOUR - 4 * HOUR_MS)
    assert hourly["assets"]["BTC"]["open_interest_usd"] == [12_300.0, None, None, 12_300.0, None]
    assert hourly["assets"]["BTC"]["funding_rate_8h_percent"] == {"okx": [0.0123, None, None, 0.0123, None]}
    assert hourly["market"]["trend"] == ["rising", None, None, "rising", None]


def test_unknown_is_null_and_zero_is_zero() -> None:
    hourly = body(bars_of(40), hours=kept_hours(1))["by_hour"]

    assert hourly["assets"]["BTC"]["depth_1pct_usd"] == [0.0, None]
    assert hourly["assets"]["ETH"]["depth_1pct_usd"] == [None, None]
    assert hourly["assets"]["BTC"]["spread_bps"] == []
    assert hourly["since"]["spread_bps"] is None
    assert hourly["since"]["volatility"] is None
    assert hourly["since"]["ranges"] is None


def test_the_price_and_volatility_are_those_of_the_bars_that_ended() -> None:
    bars = bars_of(40)
    closes = bars.fields["close"][:, 0].tolist()
    returns = [math.log(after / before) for before, after in zip(closes[-13:-1], closes[-12:], strict=True)]

    bitcoin = body(bars)["by_hour"]["assets"]["BTC"]

    assert bitcoin["price"][-1] == float(f"{closes[-1]:.5g}")
    assert bitcoin["price"][-2] == float(f"{closes[-13]:.5g}")
    assert bitcoin["realised_percent"][-1] == float(f"{100 * math.sqrt(sum(r * r for r in returns)):.2g}")


@pytest.mark.parametrize(("missing", "price", "realised"), [(0, None, None), (5, 100.0, None), (12, 100.0, None)])
def test_a_missing_bar_makes_what_needs_it_unknown(missing: int, price: float | None, realised: float | None) -> None:
    bars = bars_of(40, missing=missing)

    bitcoin = body(bars)["by_hour"]["assets"]["BTC"]

    assert (bitcoin["price"][-1], bitcoin["realised_percent"][-1]) == (price, realised)


def test_without_bars_and_without_a_record_nothing_is_claimed() -> None:
    block = body(None)

    for part in (block["by_hour"], block["by_five_minutes"]):
        assert set(part["since"].values()) == {None}
        assert all(not column for columns in part["assets"].values() for column in columns.values())


def test_a_range_is_at_the_hour_that_it_is_for() -> None:
    ranges = {"BTC": {LAST_HOUR - HOUR_MS: KeptRange(-1.234, 1.5, held=False), LAST_HOUR: KeptRange(-1.0, 1.0, None)}}

    bitcoin = body(None, ranges=ranges)["by_hour"]["assets"]["BTC"]

    assert bitcoin["low_90"] == [-1.2, -1.0]
    assert bitcoin["high_90"] == [1.5, 1.0]
    assert bitcoin["held_90"] == [False, None]


def test_bars_of_a_recording_stand_at_the_time_of_their_replay() -> None:
    bars = bars_of(40)
    moved = replace(bars, t=bars.t - 7 * HOUR_MS)
    full = full_context()
    ctx = replace(full, bars=moved, freshness=replace(full.freshness, offset_ms=7 * HOUR_MS), kept=KeptSeries())

    assert series_block(ctx).as_json()["by_hour"]["assets"] == body(bars)["by_hour"]["assets"]


def test_the_digest_is_of_the_series_as_they_are_published() -> None:
    block = body(bars_of(40), hours=kept_hours(1))
    parts = {name: block[name] for name in ("by_hour", "by_five_minutes")}

    assert block["sha256"] == hashlib.sha256(encode(parts)).hexdigest()
    assert block["log_size"] == full_context().arena.log_size
    assert block["checkpoint_digest"] == full_context().arena.checkpoint_digest


def test_words_are_those_of_the_dictionary() -> None:
    words = KeptWords(None, VolatilityWord.CALM)
    spans = KeptSpans(BAR_MS, {}, {NOW_MS // BAR_MS * BAR_MS: words})

    assert body(None, bars=spans)["by_five_minutes"]["market"] == {"trend": [], "volatility": ["calm"]}


def test_a_minute_without_a_new_bar_has_the_series_of_the_one_before() -> None:
    ctx = replace(full_context(), bars=bars_of(40), kept=KeptSeries(hours=kept_hours(4, 1)))
    begun_ms = ctx.freshness.generated_ms // BAR_MS * BAR_MS
    first, last, after = (
        series_block(replace(ctx, freshness=replace(ctx.freshness, generated_ms=begun_ms + after_ms)))
        for after_ms in (0, BAR_MS - 1, BAR_MS)
    )
    other = series_block(replace(ctx, kept=KeptSeries()))

    assert first.by_hour is last.by_hour
    assert after.by_five_minutes.until != first.by_five_minutes.until
    assert other.by_hour.since.trend is None
    assert first.by_hour.since.trend is not None
