"""A tick to render: typed context, and the bodies in the contract's shape."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from generator.arena.published import published_round
from generator.arena.rates import rate
from generator.brain.reading import Axes, BrainReading
from generator.catalog.assets import ASSETS
from generator.catalog.formats import iso
from generator.catalog.words import (
    PREDICTION_OF_CALL,
    Call,
    Consensus,
    MarketSide,
    PatternType,
    Prediction,
    RegimeLabel,
    RoundPhase,
    SourceMode,
    SourceStatus,
    Trend,
    VolatilityWord,
)
from generator.compose.all import MODELS, compose_free
from generator.compose.body import Body
from generator.compose.free import FreeBodies
from generator.compose.tick import Tick
from generator.site.files.sample import bundled_as_sold
from generator.site.pages.recipes import PageView
from generator.site.pages.render import Pages
from generator.site.words.reference import Reference
from generator.values.hours import PredictionMade
from generator.values.market import SourceRow
from generator.values.rounds import Lesson, Round
from generator.values.rows import PublishedRound
from generator.values.scores import CalibrationBin, ForecastScores
from generator.values.view import ArenaView
from generator.values.votes import Tally
from tests.support import builders
from tests.support.builders import HOUR_MS, NOW_MS, PRICES
from tests.support.filled_memory import prediction

START_MS = NOW_MS - NOW_MS % HOUR_MS
SITE = replace(builders.site("http://127.0.0.1:8402"), network="devnet")
SOURCES = (
    SourceRow.at(NOW_MS, "simulated-a", "spot", SourceStatus.OK, NOW_MS),
    SourceRow.at(NOW_MS, "simulated-b", "open_interest", SourceStatus.FAILED, None, reason="no answer within 5 s"),
)


def view(mode: SourceMode = SourceMode.SIMULATED, *, known: bool = True, empty: bool = False) -> PageView:
    ctx = context(mode, known=known, empty=empty)
    if empty:
        return view_of(ctx)
    return view_of(ctx, rounds(), predictions())


class Rendered(Mapping[str, bytes]):
    """The pages of a view and their twins by path, each made when it is first read; `pages` may have kept some."""

    def __init__(self, of: PageView, pages: Pages | None = None) -> None:
        self._make = {path: make for page, make in (pages or Pages()).each(of) for path in (page.file, page.twin)}
        self._made: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> bytes:
        if path not in self._made:
            self._made |= self._make[path]()
        return self._made[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._make)

    def __len__(self) -> int:
        return len(self._make)


@cache
def rendered(mode: SourceMode = SourceMode.SIMULATED, *, known: bool = True, empty: bool = False) -> Rendered:
    """Return the pages of `view`, each made once a process."""
    return Rendered(view(mode, known=known, empty=empty))


def view_of(ctx: Tick, rounds: Sequence[PublishedRound] = (), predictions: Sequence[PredictionMade] = ()) -> PageView:
    """The pages of a tick and what was played before it."""
    bodies = FreeBodies(compose_free(ctx))
    return PageView(
        ctx=ctx, bodies=bodies, reference=reference(), sold=bundled_as_sold(), rounds=rounds, predictions=predictions
    )


def with_body(base: PageView, path: str, body: Body) -> PageView:
    """The same with one body instead."""
    return replace(base, bodies=FreeBodies({**base.bodies.by_path, path: body}))


def context(mode: SourceMode = SourceMode.SIMULATED, *, known: bool = True, empty: bool = False) -> Tick:
    """Return a tick's context: all is known, as on hourly bars (`known` False), or before the first price (`empty`)."""
    made = builders.everything_missing_context() if empty else builders.full_context(mode)
    observation, seen = made.observation, arena()
    if not known:
        observation = replace(observation, bar_interval_ms=HOUR_MS, limitations=("needs 5-minute bars",))
    return replace(
        made,
        site=SITE,
        observation=replace(observation, mode=mode, sources=SOURCES),
        reading=sideways(made.reading) if known and made.reading else None,
        arena=builders.empty_arena() if empty else seen,
        closes={} if empty else {asset: _closes(asset) for asset in ASSETS},
    )


def sideways(reading: BrainReading) -> BrainReading:
    holding = {**reading.regime.holding, RegimeLabel.RANGE: 0.782, RegimeLabel.RISK_ON: 0.082}
    regime = replace(reading.regime, label=RegimeLabel.RANGE, holding=holding, confidence=0.782)
    axes = Axes(VolatilityWord.NORMAL, MarketSide.FLAT)
    return replace(reading, regime=replace(regime, axes=axes, trend=Trend.SIDEWAYS, previous=RegimeLabel.RISK_OFF))


def arena(resolved: int = 1204) -> ArenaView:
    record = ForecastScores(
        kind="hourly",
        predictions=resolved + 7,
        resolved=resolved,
        void=3,
        warm_up=336,
        hit=rate(round(0.341 * resolved), resolved),
        brier=0.6664,
        log_score=1.0981,
        chance=rate(round(0.359 * resolved), resolved),
        baselines={"uniform": 0.6667, "base_rate": 0.6641, "persistence": 0.98},
        skill_percent={"uniform": 0.0, "base_rate": -0.4, "persistence": 32.0},
        bins=(
            CalibrationBin.of(35.0, 40.0, 900, rate(325, 900), 36.9),
            CalibrationBin.of(40.0, 45.0, 290, rate(105, 290), 44.8),
            CalibrationBin.of(45.0, 50.0, 14, None),
        ),
    )
    live = _round(START_MS, RoundPhase.LIVE, Prediction.NEUTRAL)
    lessons = tuple(_lesson(number) for number in range(7))
    return replace(
        builders.arena(),
        live=live,
        live_tally=Tally(bullish=11, bearish=6, neutral=4),
        live_simulated_tally=Tally(bullish=11, bearish=6, neutral=4),
        open=_round(START_MS + HOUR_MS, RoundPhase.OPEN, None),
        lessons=lessons,
        hourly_record=record,
        arena_record=replace(record, kind="arena", resolved=60, hit=rate(21, 60)),
        teacher=builders.teacher(60, 12, (rate(21, 60), rate(20, 48), rate(14, 48))),
    )


def rounds(number: int = 60) -> list[Any]:
    """Finished rounds, newest first: right, wrong, void, with and without people."""
    return [_finished(back) for back in range(1, number + 1)]


def predictions(hours: int = 40) -> tuple[PredictionMade, ...]:
    """Hourly forecasts that came due, newest first; some void, most with a call, one in four without."""
    return tuple(_predicted(asset, back) for back in range(1, hours + 1) for asset in ASSETS)


_CALLS: Final = (Call.UP, Call.SMALL_MOVE, Call.DOWN, Call.NONE)


def _predicted(asset: str, back: int) -> PredictionMade:
    call = _CALLS[(back + ASSETS.index(asset)) % 4]
    return prediction(asset, START_MS - back * HOUR_MS, call=call)


@cache
def reference() -> Reference:
    """Return the fields of every answer, found once a process."""
    return Reference(schemas())


@cache
def schemas() -> dict[str, Any]:
    """Return the bodies' JSON schemas, made once a process; not to be changed."""
    out: dict[str, Any] = {}
    for name, model in MODELS.items():
        schema = model.model_json_schema()
        out |= schema.pop("$defs", {})
        out[name] = schema
    return out


def _closes(asset: str) -> tuple[tuple[int, float], ...]:
    base = PRICES[asset]
    return tuple(
        (NOW_MS - (288 - i) * 300_000, base * (1 + 0.02 * math.sin(i / 23 + base) + 0.004 * math.sin(i * 1.7)))
        for i in range(288)
    )


def _round(start_ms: int, phase: RoundPhase, prediction: Prediction | None) -> Round:
    known = prediction is not None
    return replace(
        builders.round_of(start_ms, phase),
        round_id="BTC-20261120-090000",
        band_bps=22.6,
        sealed_digest="9f2c" * 16,
        salt=None,
        prediction=prediction,
        probabilities=(0.31, 0.36, 0.33) if known else None,
        confidence_percent=36.0 if known else None,
        regime_mode="NEUTRAL",
        start_price=97_188.9 if known else None,
        base_rate=None,
        simulated_crowd=True,
    )


def _finished(back: int) -> dict[str, Any]:
    start_ms = START_MS - back * HOUR_MS
    call = _CALLS[back % 4]
    said = PREDICTION_OF_CALL[call]
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
        call=call,
    )
    if call is Call.NONE:
        played = replace(played, confidence_percent=None)
    tally = Tally() if back % 5 == 0 else Tally(bullish=7, bearish=3, neutral=2)
    lesson = replace(_lesson(1), human_consensus=Consensus.BULLISH if tally.total else Consensus.NONE)
    return dict(published_round(played, tally, lesson if came else None))


def _lesson(number: int) -> Lesson:
    return replace(
        builders.lesson(number),
        lesson_id=f"lesson-{number}",
        brain_prediction=Prediction.NEUTRAL,
        human_consensus=Consensus.BULLISH if number else Consensus.NONE,
        actual_outcome=Prediction.BULLISH if number % 2 else Prediction.NEUTRAL,
        brain_correct=1 - number % 2,
        crowd_correct=number % 2,
        pattern_type=PatternType.BRAIN_ONLY,
        summary=(
            "Bitcoin rose 0.04% in the hour, inside the band of ±0.23%. The brain was right: it expected a small move."
        ),
        created_ms=START_MS - number * HOUR_MS,
        created_at=iso(START_MS - number * HOUR_MS),
        warm_up=False,
    )
