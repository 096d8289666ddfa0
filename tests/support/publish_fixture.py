"""A tick to render: typed context, and the bodies in the contract's shape."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from generator.arena.published import published_round
from generator.arena.values import (
    ArenaView,
    Bin,
    Lesson,
    PredictionMade,
    Rate,
    Round,
    Tally,
    TeacherMetrics,
    TrackRecord,
)
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import reasoning_path
from generator.catalog.words import Consensus, PatternType, Prediction, RoundPhase, SourceMode, SourceStatus
from generator.compose.all import MODELS
from generator.compose.context import DayBefore, Freshness, Site, TickContext, Ticks
from generator.market.bars import BarFrame
from generator.market.observation import AssetObservation, Observation, SourceHealth
from generator.site.pages.render import PageView

NOW_MS = 1_795_168_380_000  # 2026-11-20T09:53:00Z
HOUR_MS = 3_600_000
START_MS = NOW_MS - NOW_MS % HOUR_MS
_PRICES = (96_432.1, 3_312.45, 1.48213, 241.118, 0.312408, 0.287, 0.0000081234)
PRICES = {asset: _PRICES[place % len(_PRICES)] for place, asset in enumerate(ASSETS)}
SITE = Site("Educational Market Intelligence", "http://127.0.0.1:8402", "contact@example.test", "devnet", 31566704)


def view(mode: SourceMode = SourceMode.SIMULATED, *, known: bool = True, empty: bool = False) -> PageView:
    ctx = context(mode, known=known, empty=empty)
    free = bodies(known=known, empty=empty)
    return PageView(ctx, free, schemas()) if empty else PageView(ctx, free, schemas(), rounds(), predictions())


def context(mode: SourceMode = SourceMode.SIMULATED, *, known: bool = True, empty: bool = False) -> TickContext:
    closes = {} if empty else {asset: _closes(asset) for asset in ASSETS}
    return TickContext(
        site=SITE,
        freshness=Freshness("20261120T095300Z", "000000001204", NOW_MS, NOW_MS + 60_000, NOW_MS + 180_000),
        observation=_observation(mode, known=known, empty=empty),
        reading=None,
        arena=empty_arena() if empty else arena(),
        day_before=DayBefore(),
        ticks=Ticks(1438, 2, "20261120T095200Z"),
        closes=closes,
    )


def arena(hit: float = 34.1, skill: float = -0.4, resolved: int = 1204) -> ArenaView:
    record = TrackRecord(
        kind="hourly",
        predictions=resolved + 7,
        resolved=resolved,
        void=3,
        warm_up=336,
        hit=Rate(resolved, hit, 31.5, 36.8),
        brier=0.6664,
        log_score=1.0981,
        baselines={"uniform": 0.6667, "base_rate": 0.6641, "persistence": 0.98},
        skill_percent={"uniform": 0.0, "base_rate": skill, "persistence": 32.0},
        bins=(
            Bin(35.0, 40.0, 900, Rate(900, 36.1, 33.0, 39.3)),
            Bin(40.0, 45.0, 290, Rate(290, 44.8, 39.2, 50.6)),
            Bin(45.0, 50.0, 14, None),
        ),
    )
    live = _round(START_MS, RoundPhase.LIVE, Prediction.NEUTRAL)
    lessons = tuple(_lesson(number) for number in range(7))
    return replace(
        empty_arena(),
        live=live,
        live_tally=Tally(bullish=11, bearish=6, neutral=4),
        live_simulated_tally=Tally(bullish=11, bearish=6, neutral=4),
        open=_round(START_MS + HOUR_MS, RoundPhase.OPEN, None),
        lessons=lessons,
        hourly_record=record,
        arena_record=replace(record, kind="arena", resolved=60, hit=Rate(60, 35.0, 24.2, 47.6)),
        teacher=TeacherMetrics(
            60, 12, Rate(60, 35.0, 24.2, 47.6), Rate(48, 41.7, 28.8, 55.7), Rate(48, 30.0, 19.0, 44.0), {}
        ),
    )


def rounds(number: int = 60) -> list[dict[str, Any]]:
    """Finished rounds, newest first: right, wrong, void, with and without people."""
    return [_finished(back) for back in range(1, number + 1)]


def predictions(hours: int = 40) -> tuple[PredictionMade, ...]:
    """Hourly forecasts that came due, newest first; some void."""
    return tuple(_prediction(asset, back) for back in range(1, hours + 1) for asset in ASSETS)


def bodies(*, known: bool = True, empty: bool = False) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {row.path: {"success": True, "endpoint": row.id} for row in ENDPOINTS}
    out["/api/market-regime.php"] |= {"summary": _SUMMARY, "regime": _regime(known=known)}
    out["/api/main-brain.php"] |= {"coins": {asset: _coin(asset, known=known, empty=empty) for asset in ASSETS}}
    out["/api/liquidity-lite.php"] |= {"assets": {asset: _pool(known=known) for asset in ASSETS}}
    out |= {
        reasoning_path(asset): {"reasoning": {"band_bps": 14.0 + 3 * place if known else None}}
        for place, asset in enumerate(ASSETS)
    }
    rate = {"n": 40, "percent": 55.0, "low_percent": 39.8, "high_percent": 69.3}
    out["/api/human-consensus.php"] |= {
        "crowd_note": "Counts of signed votes, not a poll.",
        "by_record": {"voters": 0, "note": "No voter of this round has a record above chance yet."},
        "bursts": [
            {"at": "2026-11-20T08:58:00Z", "votes": 9, "same_choice_percent": 88.9, "new_voters_percent": 100.0}
        ],
    }
    out["/api/teacher-lessons.php"] |= {
        "patterns": [
            {
                "when": "all",
                "rounds": 60,
                "brain": rate,
                "crowd": rate,
                "both_wrong": rate,
                "finding": "Could be chance.",
            }
        ],
        "leaderboard": {
            "places": [{"place": 1, "voter": "AAAA…ZZZZ", "hit": rate, "provisional": True}],
            "voters": 3,
            "below_30": 2,
            "note": "A place takes 30 resolved rounds.",
        },
    }
    out["/arena/get_shared_intelligence.php"] |= {
        "price": {"now": None if empty else 96_432.1, "change_bps": None if empty else 23.04}
    }
    out["/api/derivatives.php"] |= {
        "summary": "Futures lean balanced: funding is near its usual level in most of the seven." if known else None,
        "assets": {asset: _futures(known=known) for asset in ASSETS},
    }
    return out


def schemas() -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, model in MODELS.items():
        schema = model.model_json_schema()
        out |= schema.pop("$defs", {})
        out[name] = schema
    return out


_SUMMARY = "Prices move sideways and the swings are ordinary. Four of seven assets rose over the last day."


def _regime(*, known: bool) -> dict[str, Any]:
    if not known:
        none = dict.fromkeys(("breadth_percent", "confidence", "risk_score", "since", "dwell_minutes", "previous_mode"))
        return {
            "label": "unknown",
            "mode": "UNKNOWN",
            "state": "UNKNOWN",
            "trend": "up",
            "volatility": "unknown",
        } | none
    return {
        "label": "range",
        "mode": "NEUTRAL",
        "state": "WAIT",
        "trend": "sideways",
        "volatility": "normal",
        "breadth_percent": 57.1,
        "confidence": 78.2,
        "risk_score": 41.3,
        "since": "2026-11-20T02:30:00Z",
        "dwell_minutes": 443,
        "previous_mode": "RISK_OFF",
    }


def _coin(asset: str, *, known: bool, empty: bool) -> dict[str, Any]:
    bias = ("FLAT", "UP", "DOWN")[len(asset) % 3] if known else None
    price = None if empty else PRICES[asset]
    change = None if empty else round(math.sin(len(asset) * PRICES[asset]) * 6, 2)
    return {"asset": asset, "bias": bias, "confidence": 36.4 if known else None, "price": price, "change_24h": change}


def _pool(*, known: bool) -> dict[str, Any]:
    if not known:
        reasons = ["no order book in this recording"]
        return {"liquidity_context": "unknown", "market_structure": "unknown", "limitations": reasons}
    return {"liquidity_context": "normal", "market_structure": "range", "spread_bps": 1.24}


def _futures(*, known: bool) -> dict[str, Any]:
    if not known:
        return {"state": "unavailable", "vote": "no_vote", "funding": None, "open_interest": None}
    return {
        "state": "crowded_longs",
        "vote": "bearish",
        "funding": {"rate_8h_percent": 0.0123, "annualised_percent": 13.47},
        "open_interest": {"usd": 14_523_000_000.0, "change_24h_percent": 2.1},
    }


def _observation(mode: SourceMode, *, known: bool, empty: bool) -> Observation:
    assets = {asset: AssetObservation(asset, price=None if empty else PRICES[asset]) for asset in ASSETS}
    return Observation(
        mode=mode,
        market_ms=NOW_MS,
        assets=assets,
        sources=(
            SourceHealth("simulated-a", "spot", SourceStatus.OK, NOW_MS),
            SourceHealth("simulated-b", "open_interest", SourceStatus.FAILED, None, "no answer within 5 s"),
        ),
        new_bars=BarFrame.empty(ASSETS),
        bar_interval_ms=300_000 if known else 3_600_000,
        limitations=() if known else ("needs 5-minute bars",),
    )


def _closes(asset: str) -> tuple[tuple[int, float], ...]:
    base = PRICES[asset]
    return tuple(
        (NOW_MS - (288 - i) * 300_000, base * (1 + 0.02 * math.sin(i / 23 + base) + 0.004 * math.sin(i * 1.7)))
        for i in range(288)
    )


def _round(start_ms: int, phase: RoundPhase, prediction: Prediction | None) -> Round:
    return Round(
        round_id="BTC-20261120-090000",
        asset="BTC",
        opens_ms=start_ms - HOUR_MS,
        start_ms=start_ms,
        end_ms=start_ms + HOUR_MS,
        phase=phase,
        band_bps=22.6,
        sealed_digest="9f2c" * 16,
        salt=None,
        prediction=prediction,
        probabilities=(0.31, 0.36, 0.33) if prediction else None,
        confidence_percent=36.0 if prediction else None,
        regime_mode="NEUTRAL",
        start_price=96_210.4 if prediction else None,
        simulated_crowd=True,
    )


def _finished(back: int) -> dict[str, Any]:
    start_ms = START_MS - back * HOUR_MS
    said = (Prediction.BULLISH, Prediction.NEUTRAL, Prediction.BEARISH)[back % 3]
    came = None if back % 10 == 0 else (Prediction.BULLISH, Prediction.BEARISH)[back % 2]
    played = replace(
        _round(start_ms, RoundPhase.RESOLVED if came else RoundPhase.VOID, said),
        round_id=f"BTC-{datetime.fromtimestamp(start_ms / 1000, UTC):%Y%m%d-%H%M%S}",
        outcome=came,
        change_bps=31.4 if came else None,
        void_reason=None if came else "too few venues",
        base_rate=(0.33, 0.34, 0.33),
        salt="ab" * 16,
        warm_up=back > 48,
    )
    tally = Tally() if back % 5 == 0 else Tally(bullish=7, bearish=3, neutral=2)
    lesson = replace(_lesson(1), human_consensus=Consensus.BULLISH if tally.total else Consensus.NONE)
    return published_round(played, tally, lesson if came else None)


def _prediction(asset: str, back: int) -> PredictionMade:
    place = ASSETS.index(asset) + back
    void = place % 19 == 0
    return PredictionMade(
        asset=asset,
        start_ms=START_MS - back * HOUR_MS,
        end_ms=START_MS - (back - 1) * HOUR_MS,
        probabilities=(0.31, 0.33, 0.36),
        base_rate=(0.33, 0.34, 0.33),
        prediction=(Prediction.BULLISH, Prediction.NEUTRAL)[place % 2],
        band_bps=21.0,
        outcome=None if void else (Prediction.BULLISH, Prediction.BEARISH, Prediction.NEUTRAL)[place % 3],
        void_reason="too few venues" if void else None,
    )


def _lesson(number: int) -> Lesson:
    return Lesson(
        lesson_id=f"lesson-{number}",
        round_id=f"BTC-20261120-0{number}0000",
        asset="BTC",
        brain_prediction=Prediction.NEUTRAL,
        human_consensus=Consensus.BULLISH if number else Consensus.NONE,
        actual_outcome=Prediction.BULLISH if number % 2 else Prediction.NEUTRAL,
        brain_correct=1 - number % 2,
        crowd_correct=number % 2,
        agreement=0,
        shared_intelligence_score=41.0,
        learning_score=35.2,
        pattern_type=PatternType.BRAIN_ONLY,
        summary="BTC moved +4.1 bps against a neutral band of 22.6 bps: NEUTRAL. The brain said so, the crowd did not.",
        created_ms=START_MS - number * HOUR_MS,
    )


def empty_arena() -> ArenaView:
    """A first start: nothing was forecast yet."""
    none = Rate(0, None, None, None)
    record = TrackRecord("hourly", 0, 0, 0, 0, none, None, None, {}, {}, ())
    teacher = TeacherMetrics(0, 0, none, none, none, {})
    return ArenaView(None, Tally(), None, (), (), teacher, record, record)
