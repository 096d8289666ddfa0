"""Unknown is null with its reason, sealed stays sealed, and no score is shown without its count."""

import json
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from generator.arena.published import digest_of, forecast_of
from generator.arena.scores import track_record
from generator.arena.teacher import RunningTotals
from generator.brain.derivatives import Pressure
from generator.brain.evidence import FAMILIES
from generator.brain.reading import Axes
from generator.catalog.assets import ASSETS
from generator.catalog.text.answers import NO_ROUND_ENDED
from generator.catalog.text.readings import SOME_MISSING
from generator.catalog.words import DerivativesState, MarketSide, MarketState, RoundPhase, Side, VolatilityWord
from generator.compose.all import compose
from generator.compose.regime import market_state
from generator.compose.scores import score_limits, statement
from tests.support.bodies import bodies, composed, free, paid, published
from tests.support.builders import CONTEXTS, SEALED_PROBABILITIES, SEALED_SALT, full_context, record
from tests.support.walk import leaves

SCORES = {"brier", "log_score", "hit_rate_percent", "percent", "skill_percent", "void_rate_percent"}
COUNTS = {"n", "resolved", "rounds_ended"}
NEEDS = "needs 5-minute bars"
REASONS = {
    "hourly": NEEDS,
    "everything_missing": "too little 5-minute history for a reading",
    "ended": "the recording has ended",
}


def assets_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    layer = body.get("intelligence_layer", body)
    return list((layer.get("assets") or layer.get("coins") or {}).values())


@pytest.mark.parametrize("name", CONTEXTS)
def test_an_asset_with_an_unknown_figure_says_why(name: str) -> None:
    for key, body in published(name).items():
        for asset in assets_of(body):
            unknown = [field for field, value in asset.items() if value is None]
            assert not unknown or asset["limitations"] or body["limitations"], f"{key} {asset['asset']} {unknown}"


@pytest.mark.parametrize("name", CONTEXTS)
def test_what_no_asset_has_is_said_once_and_not_of_each(name: str) -> None:
    for key, body in bodies(name).items():
        stated = Counter(text for asset in assets_of(body.as_json()) for text in asset["limitations"])
        assert [
            text for text, times in stated.items() if times == len(ASSETS) and text in body.as_json()["limitations"]
        ] == [], key


@pytest.mark.parametrize("name", REASONS)
def test_without_a_reading_every_body_names_what_is_missing(name: str) -> None:
    for key, body in bodies(name).items():
        if key != "/status.json":
            assert REASONS[name] in body.as_json()["limitations"], key


def test_on_hourly_bars_the_regime_is_unknown_and_the_rest_is_read() -> None:
    body = free("hourly", "market-regime")

    assert body["regime"]["label"] == "unknown"
    assert body["regime"]["volatility"] == "unknown"
    assert (body["market_mode"], body["market_state"]) == ("RISK_ON", "UNKNOWN")
    assert body["regime"]["confidence"] is None
    assert "confidence" not in body
    assert body["regime"]["trend"] == "up"
    assert free("hourly", "main-brain")["coins"]["BTC"]["price"] == 97_412.4
    assert free("hourly", "main-brain")["brain"]["direction"] is None
    asset = free("hourly", "derivatives")["assets"]["BTC"]
    assert asset["funding"]["rate_8h_percent"] == 0.0103
    assert asset["open_interest"]["usd"] == 8_123_460_000.0
    assert asset["open_interest"]["contracts_change_24h_percent"] == 0.57
    assert asset["state"] == "unavailable"


def test_candles_alone_give_directions_and_name_what_is_missing() -> None:
    assert free("candles_only", "derivatives")["status"] == "unavailable"
    assert free("candles_only", "liquidity-lite")["status"] == "degraded"
    assert free("candles_only", "market-regime")["status"] == "degraded"
    once = "no order book, funding, open interest or liquidations"
    assert once in free("candles_only", "derivatives")["limitations"]
    asset = free("candles_only", "liquidity-lite")["assets"]["BTC"]
    assert asset["bias"] == "UP"
    assert asset["spread_bps"] is None
    assert asset["limitations"] == []


def test_past_the_end_of_a_recording_everything_is_marked_stale() -> None:
    body = free("ended", "market-regime")

    assert body["status"] == "unavailable"
    assert body["source"]["assets_verified"] == 0
    assert {row["status"] for row in body["freshness"]["sources"]} == {"stale"}
    assert body["regime"]["label"] == "unknown"


def test_a_kind_of_data_that_some_assets_lack_is_named_with_them() -> None:
    assert f"no liquidations for {', '.join(ASSETS[5:])}" in free("full", "derivatives")["limitations"]


def test_an_asset_without_any_data_is_named_once() -> None:
    ctx = CONTEXTS["missing_asset"]()
    assert ctx.reading is not None
    read = replace(ctx.reading.assets["HBAR"], regime_confidence=None)
    assets = {**ctx.reading.assets, "HBAR": read}
    reading = replace(ctx.reading, assets=assets, limitations=(SOME_MISSING,))

    limits = replace(ctx, reading=reading).limitations

    assert [text for text in limits if "HBAR" in text or text == SOME_MISSING] == ["no data for HBAR"]
    other = {**assets, "SOL": replace(assets["SOL"], regime_confidence=None)}
    assert SOME_MISSING in replace(ctx, reading=replace(reading, assets=other)).limitations


def test_without_a_forecast_the_reasoning_claims_nothing() -> None:
    body = free("hourly", "reasoning")

    assert body["reasoning"]["prediction"] == "NEUTRAL"
    assert body["reasoning"]["confidence"] is None
    day, _, rest = body["reasoning"]["summary"].partition(". ")
    assert re.fullmatch(r"Bitcoin \$[\d,]+, (unchanged|(up|down) [\d.]+%) in a day.*", day)
    assert "nothing is claimed" in rest
    assert f"no forecast: {NEEDS}" in body["limitations"]


def test_a_missing_asset_is_null_and_the_others_are_not() -> None:
    coins = free("missing_asset", "main-brain")["coins"]

    assert [coins["HBAR"][key] for key in ("price", "change_24h", "bias", "confidence")] == [None] * 4
    assert "no venue lists it now" in coins["HBAR"]["limitations"]
    assert all(coins[asset]["price"] for asset in ASSETS if asset != "HBAR")


def test_nothing_is_invented_when_everything_is_missing() -> None:
    for key in ("main-brain", "liquidity-lite", "derivatives"):
        for asset in assets_of(free("everything_missing", key)):
            numbers = [value for value in asset.values() if isinstance(value, int | float)]
            assert numbers == []


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_sealed_forecast_is_in_no_body(name: str) -> None:
    text = json.dumps(published(name))

    assert SEALED_SALT not in text
    assert [chance for chance in SEALED_PROBABILITIES if str(chance) in text] == []


def test_the_open_round_shows_its_commitment_and_neither_forecast_nor_votes() -> None:
    body = free("open_only", "shared-intelligence")

    assert body["open_round"]["commitment"] == body["brain_snapshot"]["sealed_digest"] == "ab" * 32
    assert [body["brain_snapshot"][key] for key in ("prediction", "confidence", "salt", "regime_mode")] == [None] * 4
    assert body["human_layer"]["total"] == 0


def test_a_live_phase_before_its_start_stays_sealed() -> None:
    ctx = full_context()
    live = ctx.arena.live
    assert live is not None
    early = replace(live, start_ms=ctx.freshness.generated_ms + 1)

    body = compose(replace(ctx, arena=replace(ctx.arena, live=early)))

    shown = body.free["/arena/get_shared_intelligence.php"].as_json()
    assert shown["brain_snapshot"]["prediction"] is None


def test_a_reader_can_check_the_seal_from_the_published_body_alone() -> None:
    ctx = full_context()
    live = ctx.arena.live
    assert live is not None
    assert live.salt is not None
    played = replace(live, band_bps=21.44, sealed_digest=None)
    played = replace(played, sealed_digest=digest_of(forecast_of(played), live.salt))

    body = (
        compose(replace(ctx, arena=replace(ctx.arena, live=played)))
        .free["/arena/get_shared_intelligence.php"]
        .as_json()
    )

    current, shown = body["round"], body["brain_snapshot"]
    forecast = {
        **{key: current[key] for key in ("round_id", "asset", "start", "end", "band_bps")},
        **{key: shown[key] for key in ("prediction", "probabilities", "confidence", "regime_mode")},
        "base_rate": shown["base_rates"],
        "call": shown["call"],
        "move": {key: shown["move"][key] for key in ("chance", "base_rate")},
    }
    assert digest_of(forecast, shown["salt"]) == shown["sealed_digest"]


def test_after_the_first_bars_nothing_is_claimed() -> None:
    body = free("young", "main-brain")

    assert [body["brain"][key] for key in ("direction", "confidence", "agreement_percent")] == [None] * 3
    assert {coin["bias"] for coin in body["coins"].values()} == {None}
    assert free("young", "market-regime")["regime"]["confidence"] is None
    assert free("young", "market-regime")["market_state"] == "UNKNOWN"
    assert "too little history" in body["limitations"]


def test_without_any_round_the_hour_is_shown_as_void_with_its_reason() -> None:
    body = free("empty_memory", "human-consensus")

    assert body["round"]["phase"] == RoundPhase.VOID
    assert body["human_consensus"]["consensus"] == "NONE"
    assert any("no Arena round is live" in text for text in body["limitations"])


def test_the_round_clock_is_as_of_the_update() -> None:
    shown = free("full", "human-consensus")["round"]

    assert (shown["start"], shown["end"]) == ("2026-11-20T09:00:00Z", "2026-11-20T10:00:00Z")
    assert (shown["seconds_left"], shown["timer"]) == (420, "07:00")


@pytest.mark.parametrize(
    ("side", "volatility", "state"),
    [
        (MarketSide.UNKNOWN, VolatilityWord.CALM, MarketState.UNKNOWN),
        (MarketSide.RISING, VolatilityWord.UNKNOWN, MarketState.UNKNOWN),
        (MarketSide.FALLING, VolatilityWord.CALM, MarketState.WAIT),
        (MarketSide.FLAT, VolatilityWord.NORMAL, MarketState.WAIT),
        (MarketSide.BOTH_WAYS, VolatilityWord.CALM, MarketState.WAIT),
        (MarketSide.RISING, VolatilityWord.CALM, MarketState.OPPORTUNITY),
        (MarketSide.RISING, VolatilityWord.NORMAL, MarketState.OPPORTUNITY),
        (MarketSide.RISING, VolatilityWord.ELEVATED, MarketState.CAUTION),
        (MarketSide.FLAT, VolatilityWord.EXTREME, MarketState.CAUTION),
    ],
)
def test_the_market_state_follows_the_rule(side: MarketSide, volatility: VolatilityWord, state: MarketState) -> None:
    assert market_state(Axes(volatility, side)) is state


@pytest.mark.parametrize("name", CONTEXTS)
def test_no_score_is_shown_without_its_count(name: str) -> None:
    for key, body in published(name).items():
        for path, value in [((), body), *leaves(body)]:
            if isinstance(value, dict) and SCORES & set(value):
                assert COUNTS & set(value), f"{key} {path}"


@pytest.mark.parametrize(
    ("resolved", "skill", "low"),
    [(0, None, None), (12, 9.0, 60.0), (321, -0.4, 60.0), (321, 0.9, 30.1), (321, 0.9, None)],
)
def test_a_record_without_skill_says_so(resolved: int, skill: float | None, low: float | None) -> None:
    plain = record("hourly", resolved)
    plain = replace(plain, skill_percent={"base_rate": skill}, hit=replace(plain.hit, low_percent=low))

    text = statement(plain).lower()

    assert "no forecast has been scored yet" in text or "no skill is shown" in text


def test_a_record_better_than_guessing_is_stated_without_a_promise() -> None:
    good = record("hourly")
    good = replace(good, skill_percent={"base_rate": 2.5}, hit=replace(good.hit, low_percent=38.0))

    text = statement(good)

    assert "of 321 calls 37.7% (95% interval 38.0 to 44.9%) were right" in text
    assert "promises nothing" in text


def test_a_reading_of_an_old_bar_degrades_the_answers_and_is_named() -> None:
    ctx = full_context()
    assert ctx.reading is not None
    old = replace(ctx, reading=replace(ctx.reading, t_ms=ctx.reading.t_ms - 1_200_000))

    body = compose(old).free["/api/market-regime.php"].as_json()

    assert body["status"] == "degraded"
    assert "the last closed bar is 23 minutes old" in body["limitations"]
    assert body["regime"]["as_of"] == "2026-11-20T09:30:00Z"


@pytest.mark.parametrize(
    ("state", "status"), [(DerivativesState.BALANCED, "available"), (DerivativesState.UNAVAILABLE, "degraded")]
)
def test_a_young_derivatives_state_degrades_nothing_a_missing_one_does(state: DerivativesState, status: str) -> None:
    ctx = full_context()
    assert ctx.reading is not None
    btc = ctx.reading.assets["BTC"]
    evidence = tuple(
        replace(one, side=Side.MISSING) if one.family in {"funding", "interest"} else one for one in btc.evidence
    )
    young = replace(btc, evidence=evidence, coverage=6 / 8, pressure=Pressure(state, 0.2, 0.5))
    reading = replace(ctx.reading, coverage=54 / 56, assets={**ctx.reading.assets, "BTC": young})

    body = compose(replace(ctx, reading=reading)).free["/api/market-regime.php"].as_json()

    assert body["status"] == status


@pytest.mark.parametrize(
    ("rounds", "said"),
    [
        (
            {RoundPhase.RESOLVED: 46, RoundPhase.VOID: 1},
            "all 47 Arena rounds that ended are void or were played by backtest before the start",
        ),
        ({RoundPhase.LIVE: 1}, "no Arena round has ended yet"),
    ],
)
def test_null_rates_of_the_arena_agree_with_the_rounds_counted_with_them(
    rounds: dict[RoundPhase, int], said: str
) -> None:
    ctx = full_context()
    none = track_record("arena", RunningTotals().live.arena)

    body = compose(replace(ctx, arena=replace(ctx.arena, arena_record=none, rounds=rounds))).free["/api/statistics.php"]

    stated = [text for text in body.as_json()["limitations"] if "Arena round" in text and "ended" in text]
    assert [text.startswith(said) for text in stated] == [True]


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_timer_agrees_with_the_seconds_left_which_no_round_exceeds(name: str) -> None:
    shown = free(name, "human-consensus")["round"]

    minutes, seconds = map(int, shown["timer"].split(":"))
    assert shown["seconds_left"] == 60 * minutes + seconds <= 5_400


def test_a_round_that_takes_votes_counts_down_to_its_start() -> None:
    shown = free("open_only", "human-consensus")["round"]

    assert (shown["start"], shown["timer"]) == ("2026-11-20T10:00:00Z", "07:00")


NULLS = {
    "main-brain": "no forecast has resolved yet, so there are no scores",
    "statistics": "no Arena round has ended yet, so it has no scores",
    "human-consensus": "no Arena round takes votes now",
    "shared-intelligence": "the round has no start price",
    "teacher-lessons": "no Arena round has resolved yet",
}


@pytest.mark.parametrize("endpoint", NULLS)
def test_what_is_null_at_first_is_named_with_its_reason(endpoint: str) -> None:
    assert NULLS[endpoint] in free("empty_memory", endpoint)["limitations"]
    assert NULLS[endpoint] not in free("full", endpoint)["limitations"]


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_body_with_nulls_of_its_own_names_limitations(name: str) -> None:
    may_be_null = {"reason", "note", "hit", "my_prediction", "legacy_endpoint", "product_id", "price_display", "before"}
    for key, body in bodies(name).items():
        data = body.as_json()
        nulls = [path for path, value in leaves(data) if value is None and path[-1] not in may_be_null]
        assert not nulls or key == "/status.json" or data["limitations"], f"{key} {nulls}"


def test_a_thin_bin_has_no_rate_but_says_so() -> None:
    bins = free("full", "main-brain")["public_performance"]["calibration"]

    assert bins[0]["hit"]["n"] == 290
    assert bins[1]["hit"] is None
    assert bins[1]["note"] == "sparse"


def test_the_confidences_are_kept_apart_and_name_their_kind() -> None:
    body, coins = paid("full", "x402-atlas"), free("full", "main-brain")["coins"]
    coin = coins["BTC"]
    up = sum(row["call"] == "up" for row in coins.values())

    assert body["confidence"]["regime"] == body["intelligence_layer"]["regime"]["confidence"] == 71.3
    assert up >= 3
    assert body["confidence"]["prediction"] == round(100 * up / len(ASSETS), 1), "the share that calls up"
    assert [row["confidence"] is None for row in coins.values()] == [row["call"] == "none" for row in coins.values()]
    assert {row["confidence_kind"] for row in coins.values() if row["call"] == "none"} == {"no_call"}
    kinds = body["confidence"]["regime_kind"], body["confidence"]["prediction_kind"], coin["confidence_kind"]
    assert kinds == ("holds_four_hours", "share_of_assets", "class_probability")


@pytest.mark.parametrize("name", CONTEXTS)
def test_every_confidence_has_its_kind_next_to_it(name: str) -> None:
    for key, body in bodies(name).items():
        for path, value in [((), body.as_json()), *leaves(body.as_json())]:
            if isinstance(value, dict) and isinstance(value.get("confidence"), int | float):
                assert "confidence_kind" in value, f"{key} {path}"


def test_a_fact_of_the_whole_market_is_counted_once() -> None:
    ctx = full_context()
    assert ctx.reading is not None
    sides = Counter(
        side
        for read in ctx.reading.assets.values()
        for side in {row.side for row in read.evidence if row.family == "breadth"}
    )

    shown = free("full", "main-brain")["brain"]

    rows = [row.side for read in ctx.reading.assets.values() for row in read.evidence]
    assert shown["evidence_for"] == rows.count(Side.FOR) - sides[Side.FOR] + 1
    assert free("young", "main-brain")["brain"]["evidence_missing"] == len(FAMILIES)


@pytest.mark.parametrize("asset", ASSETS)
def test_the_confidence_of_a_call_is_its_published_chance_and_null_without_one(asset: str) -> None:
    direction = paid("full", "x402-main-brain")["assets"][asset]
    word = {"up": "up", "down": "down", "small_move": "neutral", "none": None}[direction["call"]]
    shown = {
        direction["confidence"],
        free("full", "main-brain")["coins"][asset]["confidence"],
        free("full", "liquidity-lite")["assets"][asset]["confidence"],
        composed("full").free[f"/api/reasoning/{asset}.json"].as_json()["reasoning"]["confidence"],
        None if word is None else round(100 * direction["probabilities"][word], 1),
    }

    assert len(shown) == 1


def test_only_a_recorded_market_carries_replay_with_its_offset() -> None:
    assert all("replay" not in body for body in published("full").values())

    for key, body in bodies("hourly").items():
        shown = body.as_json()["replay"]
        assert shown == {"offset_seconds": 86_400 * 700, "market_time": "2024-12-20T09:53:00Z"}, key


def test_ages_are_on_the_market_clock() -> None:
    source = free("hourly", "market-regime")["freshness"]["sources"][0]

    assert source["age_seconds"] == 3_000


def test_a_simulated_market_and_crowd_are_marked() -> None:
    for body in published("simulated").values():
        if "limitations" in body and isinstance(body["limitations"], list):
            assert "simulated market: no price here is real" in body["limitations"]
    votes = free("simulated", "human-consensus")
    assert votes["simulated_votes"] == 12
    assert "12 of the 23 counted votes are of a labelled simulated crowd" in votes["limitations"]


@pytest.mark.parametrize("name", CONTEXTS)
def test_percents_have_one_decimal_and_prices_six_digits(name: str) -> None:
    finer = {"rate_8h_percent", "mean_rate_8h_percent", "annualised_percent", "change_24h_percent"} | {
        "band_percent", "contracts_change_24h_percent", "usual_rate_8h_percent", "levels_percent",
        "middle_third_percent", "large_percent", "rare_percent",
        "usual_percent", "low_percent", "high_percent", "mean_width_90_percent", "largest_move_percent",
        "usual_day_percent", "expected_move_percent", "minutes_15_percent", "hour_1_percent", "hours_4_percent",
    }  # fmt: skip
    for key, body in published(name).items():
        for path, value in leaves(body):
            if not isinstance(value, float):
                continue
            if path[-1] in {"confidence", "risk_score"} or (path[-1].endswith("_percent") and path[-1] not in finer):
                assert value == round(value, 1), f"{key} {path}"
            if path[-1] in {"price", "now", "start"}:
                assert value == float(f"{value:.6g}"), f"{key} {path}"
            if path[-1] == "change_24h":
                assert value == round(value, 2), f"{key} {path}"


def test_without_a_round_that_ended_the_limits_say_so() -> None:
    assert score_limits(track_record("arena", RunningTotals().live.arena)) == (NO_ROUND_ENDED,)
