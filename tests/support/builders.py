"""Realistic contexts of one tick, made without market or brain. Import these wherever bodies are needed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np

from generator.arena.holds import KIND, HoldTotals
from generator.arena.rates import shared
from generator.arena.teacher import ALL
from generator.brain.columns import Columns
from generator.brain.derivatives import NO_PRESSURE, Pressure
from generator.brain.evidence import Evidence
from generator.brain.facts import BASELINES, AssetWeek, MarketWeek
from generator.brain.forecast import Forecast
from generator.brain.joint import FEWEST_ROWS, TOGETHER, Joint
from generator.brain.label import REGIMES
from generator.brain.ladder import Ladder, Partition, ladders
from generator.brain.ranges import RangeModel
from generator.brain.reading import (
    NO_AXES,
    AssetReading,
    Axes,
    BrainReading,
    LearningReading,
    RegimeReading,
    VolatilityOutlook,
)
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import iso, moment
from generator.catalog.horizons import HORIZONS
from generator.catalog.text.happened import Coin, LargestHour, MarketFacts, Moment, Situation
from generator.catalog.text.labels import NO_FUTURES
from generator.catalog.words import (
    BIAS_OF_CALL,
    Bias,
    Call,
    Consensus,
    DerivativesState,
    DerivativesVote,
    LiquidityContext,
    MarketSide,
    MarketStructure,
    PatternType,
    Points,
    Prediction,
    RegimeLabel,
    RoundPhase,
    Side,
    SourceMode,
    SourceStatus,
    Trend,
    VolatilityWord,
)
from generator.compose.context import DayBefore, Site, TickTimes
from generator.compose.tick import Tick
from generator.market.bars import BAR_MS, BarFrame
from generator.market.history import CAPACITY_BARS
from generator.market.observation import (
    AssetObservation,
    FundingRate,
    Observation,
    OrderBook,
)
from generator.site.files.inputs import FilesOfTick
from generator.site.resources import ShippedMonth
from generator.values.chances import Probabilities
from generator.values.hours import Hour, RangeDay
from generator.values.joint import JointScores
from generator.values.ladders import LadderScore, LadderScores, MeanInterval, PartitionScore, ReliabilityBin
from generator.values.market import BreadthCounts, Liquidations, OpenInterest, SourceRow
from generator.values.ranges import MoveRange, RangesOfWeek
from generator.values.rounds import Event, Lesson, Round
from generator.values.scores import (
    NO_ROUNDS,
    CalibrationBin,
    Estimate,
    ForecastScores,
    HoldRecord,
    Rate,
    TeacherMetrics,
    TeacherPattern,
)
from generator.values.ticks import TicksBlock
from generator.values.view import ArenaView
from generator.values.votes import NO_VOTERS, Burst, LeaderboardPlace, LockedCrowd, RecordCrowd, ScorePlace, Tally
from tests.support.known import rate_of
from tests.support.markets import market
from tests.support.ranges import how_far

NOW_MS: Final = 1_795_168_380_000  # 2026-11-20T09:53:00Z
HOUR_MS: Final = 3_600_000
_KNOWN: Final = {
    "BTC": 97_412.384_61,
    "ETH": 3_121.774_3,
    "XRP": 1.121_943_7,
    "SOL": 241.118_27,
    "ALGO": 0.251_384_62,
    "XLM": 0.241_733_91,
    "HBAR": 0.124_119_83,
}
PRICES: Final = {asset: _KNOWN.get(asset, 1.2345) for asset in ASSETS}
INTEREST_VENUES: Final = ("okx", "gate")
LIQUIDATED_USD: Final = (1_234_567.8, 987_654.3)
SEALED_PROBABILITIES: Final = (0.2711, 0.4013, 0.3276)
SEALED_SALT: Final = "5e" * 32
_CALLS = (Call.UP, Call.SMALL_MOVE, Call.DOWN, Call.UP, Call.NONE, Call.NONE, Call.UP)


def site(base_url: str = "https://api.example.org") -> Site:
    return Site("Educational Market Intelligence", base_url, "ops@example.org", "mainnet", 31_566_704)


def files_of_tick(mode: SourceMode = SourceMode.SIMULATED, **other: Any) -> FilesOfTick:
    """What the files of a tick are made from, of an Arena in which nothing was played."""
    given = {"at": moment(NOW_MS), "arena": empty_arena(), **other}
    return FilesOfTick(ctx=full_context(mode), site=site(), mode=mode, shipped=ShippedMonth.load(), **given)


def freshness(offset_ms: int | None = None) -> TickTimes:
    return TickTimes("20261120T095300Z", "000000004711", NOW_MS, NOW_MS + 60_000, NOW_MS + 180_000, offset_ms)


def interest_figures(place: int) -> tuple[float, float, float, float]:
    """Contracts and US dollars of the asset at some place, each with its change over 24 hours, not rounded yet."""
    return (90_123.456 * (place + 1), 0.567_8, 8_123_456_789.0 / (place + 1), -1.234_5)


def asset_observation(asset: str, at_ms: int = NOW_MS) -> AssetObservation:
    place = ASSETS.index(asset)
    venues = ("coinbase", "kraken", "okx")
    return AssetObservation(
        asset=asset,
        price=PRICES[asset],
        price_as_of_ms=at_ms - 2_000,
        venues=venues,
        change_24h_percent=1.234_56 - 0.7 * place,
        book=OrderBook(1.234_5, 12_345_678.9 / (place + 1), 23.456 - 9 * place, venues),
        funding=FundingRate(0.000_103_4 - 0.000_04 * place, ("okx", "gate"), at_ms - 60_000),
        open_interest=OpenInterest.of(*interest_figures(place), INTEREST_VENUES, as_of_ms=at_ms - 60_000),
        liquidations=Liquidations.of(*LIQUIDATED_USD, ("okx",)) if place < 5 else None,
        limitations=() if place < 5 else ("no venue publishes liquidations",),
    )


def observation(mode: SourceMode = SourceMode.LIVE) -> Observation:
    return Observation(
        mode=mode,
        market_ms=NOW_MS,
        assets={asset: asset_observation(asset) for asset in ASSETS},
        sources=tuple(
            SourceRow.at(NOW_MS, name, kind, SourceStatus.OK, NOW_MS - 2_000)
            for name, kind in (("kraken", "spot"), ("coinbase", "spot"), ("okx", "spot"), ("okx", "perpetual"))
        ),
        new_bars=BarFrame.empty(ASSETS),
        venues_needed=2,
    )


def forecast(asset: str, call: Call) -> Forecast:
    chances = {
        Call.UP: Probabilities(0.281_234_5, 0.331_111, 0.387_654_5),
        Call.DOWN: Probabilities(0.391_234_5, 0.321_111, 0.287_654_5),
        Call.SMALL_MOVE: Probabilities(0.221_234_5, 0.541_111, 0.237_654_5),
        Call.NONE: Probabilities(0.321_234_5, 0.341_111, 0.337_654_5),
    }[call]
    return Forecast(asset, 60, chances, Probabilities(0.33, 0.34, 0.33), call, 21.437_8)


def evidence(call: Call = Call.UP) -> tuple[Evidence, ...]:
    """Return the evidence of an asset; without a call none is for or against it."""
    return tuple(replace(row, side=Side.NEUTRAL) if call is Call.NONE else row for row in _evidence())


def _evidence() -> tuple[Evidence, ...]:
    return (
        Evidence("hours", Side.AGAINST, Points.DOWN, "Over the last three hours the price fell 0.4%."),
        Evidence("day", Side.FOR, Points.UP, "Over the last 24 hours the price rose 1.2%."),
        Evidence("week", Side.FOR, Points.UP, "Over the last seven days the price rose 4.1%."),
        Evidence("breadth", Side.FOR, Points.UP, "most coins rise with it"),
        Evidence("volume", Side.NEUTRAL, Points.FLAT, "Trading volume was 1.2 times the week's daily average."),
        Evidence("funding", Side.AGAINST, Points.DOWN, "longs pay shorts well above the usual rate"),
        Evidence("interest", Side.NEUTRAL, Points.FLAT, "open contracts are not what stands out"),
        Evidence("liquidity", Side.NEUTRAL, Points.FLAT, "a normal amount rests near the price"),
    )


@cache
def ladders_of_sigma() -> Columns[Ladder]:
    """Return the ladder of one asset, by the law as fitted."""
    ranges = RangeModel(1, Weights.load().outlook)
    sigma = np.array([[0.002_123], [0.004_234], [0.008_345], [0.019_876]])
    return ladders(sigma, [ranges.move_law(horizon) for horizon in range(len(HORIZONS))])


@cache
def month() -> BarFrame:
    """Return a month of 5-minute bars that ends now."""
    frame = market(CAPACITY_BARS, assets=ASSETS)
    last_ms = NOW_MS // BAR_MS * BAR_MS - BAR_MS
    return replace(frame, t=last_ms - BAR_MS * np.arange(CAPACITY_BARS, dtype=np.int64)[::-1])


def asset_reading(asset: str) -> AssetReading:
    place = ASSETS.index(asset)
    call = _CALLS[place % len(_CALLS)]
    return AssetReading(
        asset=asset,
        bias=BIAS_OF_CALL[call],
        forecast=forecast(asset, call),
        regime=RegimeLabel.RISK_ON if place % 2 == 0 else RegimeLabel.RANGE,
        regime_confidence=0.712_345,
        trend=Trend.UP if place % 3 else Trend.SIDEWAYS,
        structure=MarketStructure.UPTREND if place % 2 else MarketStructure.BREAKOUT,
        liquidity=(LiquidityContext.DEEP, LiquidityContext.NORMAL, LiquidityContext.THIN)[place % 3],
        derivatives=DerivativesState.CROWDED_LONGS if place < 4 else DerivativesState.BALANCED,
        vote=DerivativesVote.BEARISH if place < 4 else DerivativesVote.NEUTRAL,
        pressure=Pressure(
            DerivativesState.CROWDED_LONGS if place < 4 else DerivativesState.BALANCED, 0.654_321, 0.912_345
        ),
        volatility=VolatilityWord.NORMAL,
        side=MarketSide.RISING,
        outlook=VolatilityOutlook(0.002_123, 0.004_234, 0.008_345, 0.019_876),
        ranges={name: MoveRange(-1.234_5, -0.345_6, 0.356_7, 1.267_8) for name in HORIZONS},
        baselines=dict.fromkeys(BASELINES, 0.001234),
        ladder=ladders_of_sigma()[0],
        partition=Partition(
            0.004_321,
            Probabilities(0.291 - 0.01 * place, 0.418, 0.291 + 0.01 * place),
            Probabilities(0.31, 0.38, 0.31),
        ),
        change=0.012_345,
        facts=AssetWeek(
            usual_day=0.023_456,
            usual_days=29,
            place_in_week=0.654_321,
            volume_ratio=1.234_567,
            hour=0.001_234,
            hour_rank=0.543_21,
            last_3h=0.002_345,
            broke_high_ms=NOW_MS - 780_000,
            below_high=0.001_234,
        ),
        agreement=None if call is Call.NONE else 0.666_667,
        coverage=1.0,
        evidence=evidence(call),
    )


def happened() -> MarketFacts:
    """Return a rising day of twice the usual size on a record of 40 days, by closed bars."""
    closed_ms = NOW_MS - 180_000
    coin = Coin(
        100.0, 3.0, hour=0.123_4, high=101.5, low=97.25, high_ms=closed_ms - HOUR_MS, low_ms=closed_ms - 20 * HOUR_MS
    )
    return MarketFacts(
        now_ms=closed_ms,
        situation=Situation.MOVE,
        coins=dict.fromkeys(ASSETS, coin),
        hour=0.234_5,
        three_hours=0.345_6,
        week=4.123_4,
        usual_hour=0.271_2,
        usual_day=0.741_2,
        usual_week=4.412_3,
        record_days=40.5,
        line_high=Moment(2.212_3, closed_ms - HOUR_MS),
        line_low=Moment(-0.412_3, closed_ms - 20 * HOUR_MS),
        largest=LargestHour(0.812_3, closed_ms - 5 * HOUR_MS, since=0.4, with_since=1.21),
        day_rank=71.2,
        outlook_rank=41.234,
        side=MarketSide.RISING,
        volatility=VolatilityWord.NORMAL,
        width=1.05,
    )


def reading() -> BrainReading:
    return BrainReading(
        t_ms=NOW_MS - 480_000,
        bars_seen=8_640,
        regime=RegimeReading(
            axes=Axes(VolatilityWord.NORMAL, MarketSide.RISING),
            label=RegimeLabel.RISK_ON,
            holding={
                RegimeLabel.RISK_ON: 0.713_456,
                RegimeLabel.RISK_OFF: 0.08,
                RegimeLabel.RANGE: 0.15,
                RegimeLabel.HIGH_VOLATILITY: 0.056_544,
            },
            confidence=0.713_456,
            since_ms=NOW_MS - 7 * HOUR_MS,
            dwell_minutes=420,
            previous=RegimeLabel.RANGE,
            previous_side=MarketSide.FLAT,
            trend=Trend.UP,
            volatility=VolatilityWord.NORMAL,
            counts=BreadthCounts(5, 2, 0),
            facts=MarketWeek(
                usual_day=0.021_234,
                usual_days=29,
                since_ms=NOW_MS // HOUR_MS * HOUR_MS - 4 * HOUR_MS,
                since_share=0.654_321,
                volume_ratio=1.234_567,
                correlation=0.765_432,
                hour_rank=0.654_321,
                move_rank=0.543_21,
            ),
            risk_score=41.234,
            drivers=("longs pay shorts well above the usual rate", "two coins are thinly traded"),
        ),
        outlook=VolatilityOutlook(0.002_123, 0.004_234, 0.008_345, 0.019_876),
        direction=Bias.UP,
        confidence=0.361_234,
        agreement=0.666_667,
        coverage=1.0,
        assets={asset: asset_reading(asset) for asset in ASSETS},
        learning=LearningReading(resolved=321, status="learning"),
        market=happened(),
        joint=together(),
    )


def together() -> Joint:
    """Return scenarios of coins that move alike, of half a month."""
    rng = np.random.default_rng(11)
    shape = (FEWEST_ROWS, len(ASSETS))
    rows = 0.8 * rng.standard_normal((FEWEST_ROWS, 1)) + 0.6 * rng.standard_normal(shape)
    sigma = np.outer((0.004, 0.009, 0.021), 1.0 + 0.1 * np.arange(len(ASSETS)))
    return Joint(ASSETS, dict.fromkeys(TOGETHER, rows), sigma, np.zeros(len(ASSETS)), NOW_MS // HOUR_MS)


def rate(n: int, percent: float) -> Rate:
    if not n:
        return rate_of(0, 0)
    return rate_of(round(n * percent / 100), n, *(round(end, 1) for end in (percent, percent - 7.123, percent + 7.234)))


def record(kind: str, n: int = 321) -> ForecastScores:
    return ForecastScores(
        kind=kind,
        predictions=n + 7,
        resolved=n,
        void=2 if n else 0,
        warm_up=n * 2 // 3,
        hit=rate(n, 37.712),
        brier=0.661_234 if n else None,
        log_score=1.091_234 if n else None,
        chance=rate(n, 36.2),
        baselines={
            "uniform": 0.666_667 if n else None,
            "base_rate": 0.662_3 if n else None,
            "persistence": 1.21 if n else None,
        },
        skill_percent={
            "uniform": 0.81 if n else None,
            "base_rate": 0.16 if n else None,
            "persistence": 45.3 if n else None,
        },
        bins=(CalibrationBin.of(30.0, 40.0, 290, rate(290, 36.9)), CalibrationBin.of(40.0, 50.0, 12, None))
        if n
        else (),
    )


def round_of(start_ms: int, phase: RoundPhase) -> Round:
    return Round(
        round_id="BTC-20261120-090000" if phase is not RoundPhase.OPEN else "BTC-20261120-100000",
        asset="BTC",
        opens_ms=start_ms - HOUR_MS,
        start_ms=start_ms,
        end_ms=start_ms + HOUR_MS,
        phase=phase,
        band_bps=21.437_8,
        sealed_digest=("ab" if phase is RoundPhase.OPEN else "cd") * 32,
        salt=SEALED_SALT if phase is RoundPhase.OPEN else "0f" * 32,
        prediction=Prediction.BEARISH if phase is RoundPhase.OPEN else Prediction.BULLISH,
        probabilities=SEALED_PROBABILITIES if phase is RoundPhase.OPEN else (0.2912, 0.3411, 0.3677),
        confidence_percent=27.1 if phase is RoundPhase.OPEN else 36.8,
        regime_mode="RISK_ON",
        start_price=97_301.2 if phase is not RoundPhase.OPEN else None,
        base_rate=(0.33, 0.34, 0.33),
        call=Call.DOWN if phase is RoundPhase.OPEN else Call.UP,
    )


def lesson(number: int) -> Lesson:
    right = number % 3 == 0
    stamp = f"20261121-{number:02d}0000"
    return Lesson(
        lesson_id=f"lesson-BTC-{stamp}",
        round_id=f"BTC-{stamp}",
        asset="BTC",
        brain_prediction=Prediction.BULLISH,
        human_consensus=Consensus.BEARISH,
        actual_outcome=Prediction.BULLISH if right else Prediction.NEUTRAL,
        brain_correct=int(right),
        crowd_correct=0,
        agreement=0,
        shared_intelligence_score=51.234,
        learning_score=62.345,
        pattern_type=PatternType.BRAIN_ONLY if right else PatternType.BOTH_WRONG,
        summary="The brain said up and the crowd down; the move stayed within the band.",
        created_ms=NOW_MS - number * HOUR_MS,
        created_at=iso(NOW_MS - number * HOUR_MS),
        warm_up=number > 10,
        brain_called=1,
        concept=None,
        chapter=None,
        point=None,
        question=None,
        answer=None,
    )


@cache
def holds() -> HoldRecord:
    """Return what forty days of hours show of the regime's chances, ten of a backtest and one of an earlier kind."""
    lengths = (("range", 11), ("risk_on", 7), ("range", 5), ("risk_off", 13), ("high_volatility", 9))
    labels = [label for label, length in lengths for _ in range(length)]
    hours = []
    for number in range(51 * 24):
        label = labels[number % len(labels)]
        stays, goes = ((0.61, 0.13), (0.7, 0.1), (0.85, 0.05))[number % 3]
        chances = tuple(stays if regime.value == label else goes for regime in REGIMES)
        at_ms = NOW_MS - NOW_MS % DAY_MS + (number - 50 * 24) * HOUR_MS + 5_000
        kind = None if number < 24 else KIND
        hours.append(Hour(at_ms, at_ms, label, chances, "", {}, 24 <= number < 11 * 24, kind))
    return HoldTotals().plus(hours, hours[-1].at_ms).record()


def joint_record() -> tuple[JointScores, ...]:
    """Return a record of 27 days over an hour and four, and of too few over a day."""
    skill = Estimate(4.1, 3.2, 5.0)
    return (
        JointScores("1h", 27, rate(640, 50.3), rate(640, 89.8), rate(640, 57.5), 9.2, rate(640, 9.4), skill, skill),
        JointScores("4h", 27, rate(637, 49.6), rate(637, 90.4), rate(637, 60.8), 9.6, rate(637, 9.9), skill, skill),
        JointScores(
            "24h",
            1,
            shared(rate(9, 44.4)),
            shared(rate(9, 88.9)),
            shared(rate(9, 55.6)),
            8.1,
            shared(rate(9, 0)),
            None,
            None,
        ),
    )


def arena() -> ArenaView:
    live_start = NOW_MS - 53 * 60_000
    return ArenaView(
        live=round_of(live_start, RoundPhase.LIVE),
        live_tally=Tally(bullish=12, bearish=7, neutral=4),
        open=round_of(live_start + HOUR_MS, RoundPhase.OPEN),
        lessons=tuple(lesson(number) for number in range(1, 21)),
        events=tuple(Event(NOW_MS - i * 60_000, "round_live", "A round went live.") for i in range(10)),
        teacher=teacher(46, 40, (rate(46, 39.1), rate(46, 34.8), rate(46, 41.3)), {PatternType.BRAIN_ONLY: 18}),
        arena_record=record("arena", 46),
        how_far=how_far(),
        joint=joint_record(),
        holds=holds(),
        week_of_ranges={
            (asset, horizon): RangesOfWeek(
                moves=160,
                held_50=81,
                held_90=145,
                mean_width_90_percent=round(160 * 1.2345 * (place + 1) / 160, 3),
                largest_move_percent=3.211,
                of_backtest=7,
            )
            for asset in ASSETS
            for place, horizon in enumerate(HORIZONS)
        },
        day_of_ranges=RangeDay(NOW_MS - 53 * 60_000, 81_234.0, 86_789.0, 84_012.5, hours=24, held=22, warm_up=False),
        rare_levels=frozenset({("1h", 2.0), ("24h", 10.0)}),
        ladder_record=ladder_record(),
        hourly_record=record("hourly"),
        rounds={RoundPhase.RESOLVED: 46, RoundPhase.VOID: 2, RoundPhase.LIVE: 1, RoundPhase.OPEN: 1},
        rounds_warm_up=40,
        ballots_counted=812,
        ballots_rejected=3,
        void=rate(48, 4.166_67),
        log_size=6,
        checkpoint_digest="ef" * 32,
        crowd=LockedCrowd(
            RecordCrowd(4, 0.512_34, 0.300_01, 0.187_65, Tally(2, 1, 1)), (Burst(live_start - 600_000, 9, 8, 7),)
        ),
        patterns=(
            pattern(ALL, 46, (39.1, 34.8, 30.4), "Neither was right more often."),
            pattern("asset BTC", 12, (41.7, 33.3, 25.0), "12 rounds: too few to tell."),
        ),
        leaderboard=replace(
            NO_VOTERS,
            places=(
                LeaderboardPlace(
                    place=1,
                    voter="AAAAAA\u2026BBBB",
                    hit=rate(41, 58.5),
                    rounds=312,
                    above_likeliest=Estimate(0.0192, -0.0056, 0.044),
                    luck=0.0341,
                    beyond_luck=False,
                    provisional=True,
                ),
            ),
            by_score=(
                ScorePlace(
                    place=1,
                    voter="CCCCCC\u2026DDDD",
                    n=204,
                    brier=0.6012,
                    brier_base_rate=0.6541,
                    log_score=1.0231,
                    log_score_base_rate=1.0902,
                    rounds=312,
                    brier_saved=Estimate(0.0346, 0.0121, 0.0571),
                    luck=0.0287,
                    beyond_luck=True,
                    provisional=False,
                ),
            ),
            voters=17,
            below_30=16,
            gave_chances=5,
            gave_chances_below_30=4,
        ),
    )


def teacher(
    live: int, warm_up: int, rates: tuple[Rate, Rate, Rate], patterns: Mapping[PatternType, int] = {}
) -> TeacherMetrics:
    """Return what so many lessons come to; `rates` are of the brain, of the crowd and of both having one answer."""
    brain, crowd, same_answer = map(shared, rates)
    return TeacherMetrics(
        lessons_total=live + warm_up,
        warm_up=warm_up,
        brain=brain,
        before_calls=NO_ROUNDS,
        crowd=crowd,
        same_answer=same_answer,
        patterns={pattern.value: patterns.get(pattern, 0) for pattern in PatternType},
    )


def pattern(when: str, rounds: int, percents: tuple[float, float, float], finding: str) -> TeacherPattern:
    brain, crowd, both_wrong = (shared(rate(rounds, percent)) for percent in percents)
    return TeacherPattern(when=when, rounds=rounds, brain=brain, crowd=crowd, both_wrong=both_wrong, finding=finding)


def ladder_record() -> LadderScores:
    """Return the scores of two levels, one of them rare, and of the partition."""
    skill = MeanInterval(10.1, 8.2, 12.0)
    often = LadderScore(
        "1h", 0.5, "end", 4_321, 7, 1_234, 41, 27.43, 28.56, 0.1834, 0.2041, 0.5512, 0.5987, skill, rare=False
    )
    rare = replace(often, level=2.0, events=93, days=21, came_percent=2.15, skill_percent=MeanInterval(7.9), rare=True)
    part = PartitionScore(4_123, 5, 0.6512, 0.6634, 1.0871, 1.1012, MeanInterval(1.8, 1.4, 2.2))
    bins = (ReliabilityBin(2_100, 4.5, 4.7), ReliabilityBin(900, 25.1, 26.0))
    return LadderScores((often, rare), {"1h end": bins}, part)


def empty_arena() -> ArenaView:
    nothing = rate(0, 0)
    return ArenaView(
        live=None,
        live_tally=Tally(),
        open=None,
        lessons=(),
        events=(),
        teacher=teacher(0, 0, (nothing, nothing, nothing)),
        arena_record=record("arena", 0),
        hourly_record=record("hourly", 0),
    )


def full_context(mode: SourceMode = SourceMode.LIVE) -> Tick:
    """Everything is known and fresh."""
    return Tick(
        site=site(),
        freshness=freshness(0 if mode is SourceMode.RECORDED else None),
        observation=observation(mode),
        reading=reading(),
        arena=arena(),
        day_before=DayBefore(RegimeLabel.RANGE, 0.612_345, 55.5),
        ticks=TicksBlock(1_438, 2, 0),
        last_tick_id="20261120T095200Z",
        closes={asset: tuple((NOW_MS - i * HOUR_MS, PRICES[asset]) for i in range(24, 0, -1)) for asset in ASSETS},
        trends=dict.fromkeys(ASSETS, "up"),
        side=MarketSide.RISING,
        bars=month(),
    )


def simulated_context() -> Tick:
    """A simulated market with a simulated crowd."""
    full = full_context(SourceMode.SIMULATED)
    live = full.arena.live
    assert live is not None
    crowd = replace(full.arena, live=replace(live, simulated_crowd=True), live_simulated_tally=Tally(5, 4, 3))
    return replace(full, arena=crowd)


def hourly_context() -> Tick:
    """Recorded 60-minute bars: prices, changes, trends, funding and open interest, but no reading."""
    full = full_context(SourceMode.RECORDED)
    offset_ms = 86_400_000 * 700
    market_ms = NOW_MS - offset_ms
    bare = {
        asset: replace(
            asset_observation(asset, market_ms - 50 * 60_000), book=None, liquidations=None, venues=("binance",)
        )
        for asset in ASSETS
    }
    seen = replace(
        full.observation,
        market_ms=market_ms,
        assets=bare,
        sources=(SourceRow.at(market_ms, "recorded candles", "candles", SourceStatus.OK, market_ms - 50 * 60_000),),
        bar_interval_ms=HOUR_MS,
        price_basis="recorded_close",
        venues_needed=1,
        offset_ms=offset_ms,
    )
    return replace(
        full,
        freshness=freshness(offset_ms),
        observation=seen,
        reading=None,
        arena=empty_arena(),
        day_before=DayBefore(),
    )


def candles_only_context() -> Tick:
    """Recorded 5-minute candles: a reading, but neither books nor derivatives."""
    full = full_context(SourceMode.RECORDED)
    said = full.reading
    assert said is not None
    bare = {
        asset: replace(
            seen,
            book=None,
            funding=None,
            open_interest=None,
            liquidations=None,
            limitations=("no order book in a recording",),
        )
        for asset, seen in full.observation.assets.items()
    }
    gone = ("liquidity", "funding", "interest")
    blind = {
        asset: replace(
            read,
            liquidity=LiquidityContext.UNKNOWN,
            derivatives=DerivativesState.UNAVAILABLE,
            vote=DerivativesVote.NO_VOTE,
            pressure=NO_PRESSURE,
            coverage=0.666_667,
            evidence=tuple(
                replace(row, side=Side.MISSING, points=None) if row.family in gone else row for row in read.evidence
            ),
            limitations=(NO_FUTURES,),
        )
        for asset, read in said.assets.items()
    }
    return replace(
        full,
        observation=replace(full.observation, assets=bare, price_basis="recorded_close", venues_needed=1),
        reading=replace(said, assets=blind, coverage=0.666_667),
    )


def ended_context() -> Tick:
    """A recording of 5-minute candles has no more bars: sources are stale, the brain reads nothing."""
    bare = candles_only_context()
    stale = tuple(
        SourceRow.at(NOW_MS, row.name, row.kind, SourceStatus.STALE, NOW_MS - HOUR_MS)
        for row in bare.observation.sources
    )
    old = {asset: replace(seen, price_as_of_ms=NOW_MS - HOUR_MS) for asset, seen in bare.observation.assets.items()}
    return replace(bare, reading=None, observation=replace(bare.observation, sources=stale, assets=old, ended=True))


def missing_asset_context(asset: str = "HBAR") -> Tick:
    """One asset has neither price nor history."""
    full = full_context()
    seen, said = full.observation, full.reading
    assert said is not None
    gone = AssetObservation(asset, limitations=("no venue lists it now",))
    unread = replace(
        said.assets[asset],
        forecast=None,
        bias=Bias.FLAT,
        regime=RegimeLabel.UNKNOWN,
        regime_confidence=None,
        trend=Trend.UNKNOWN,
        structure=MarketStructure.UNKNOWN,
        liquidity=LiquidityContext.UNKNOWN,
        derivatives=DerivativesState.UNAVAILABLE,
        vote=DerivativesVote.NO_VOTE,
        pressure=NO_PRESSURE,
        volatility=VolatilityWord.UNKNOWN,
        outlook=None,
        ranges=None,
        ladder=None,
        partition=None,
        agreement=None,
        coverage=0.0,
        evidence=tuple(replace(row, side=Side.MISSING) for row in evidence()),
        limitations=("too little history",),
    )
    return replace(
        full,
        observation=replace(seen, assets={**seen.assets, asset: gone}),
        reading=replace(said, assets={**said.assets, asset: unread}),
    )


def everything_missing_context() -> Tick:
    """Every source failed, nothing is known, the memory is empty."""
    full = full_context()
    dead = tuple(
        SourceRow.at(NOW_MS, row.name, row.kind, SourceStatus.FAILED, None, reason="timed out")
        for row in full.observation.sources
    )
    nothing = {asset: AssetObservation(asset, limitations=("every venue failed",)) for asset in ASSETS}
    return Tick(
        site=full.site,
        freshness=full.freshness,
        observation=replace(full.observation, assets=nothing, sources=dead),
        reading=None,
        arena=empty_arena(),
        day_before=DayBefore(),
        ticks=TicksBlock(0, 0, 0),
    )


def young_context() -> Tick:
    """A reading after the first bars: no label, no forecast, no outlook yet."""
    full = full_context()
    said = full.reading
    assert said is not None
    unread = missing_asset_context("HBAR").reading
    assert unread is not None
    blank = {asset: replace(unread.assets["HBAR"], asset=asset) for asset in ASSETS}
    regime = replace(
        said.regime,
        axes=NO_AXES,
        label=RegimeLabel.UNKNOWN,
        previous=None,
        trend=Trend.UNKNOWN,
        volatility=VolatilityWord.UNKNOWN,
        counts=BreadthCounts(0, 0, 0),
        facts=MarketWeek(),
        risk_score=None,
        drivers=(),
    )
    return replace(
        full,
        arena=empty_arena(),
        day_before=DayBefore(),
        reading=replace(
            said,
            regime=regime,
            outlook=None,
            direction=Bias.FLAT,
            confidence=None,
            agreement=None,
            coverage=0.0,
            assets=blank,
            bars_seen=3,
            limitations=("too little history",),
            learning=LearningReading(0, "idle"),
        ),
    )


def void_rounds_context() -> Tick:
    """The live round is void and every round before it was."""
    full = full_context()
    live = full.arena.live
    assert live is not None
    void = replace(
        live,
        phase=RoundPhase.VOID,
        void_reason="too few venues",
        start_price=None,
        prediction=None,
        probabilities=None,
        confidence_percent=None,
        base_rate=None,
        sealed_digest=None,
        salt=None,
        regime_mode=None,
    )
    view = replace(empty_arena(), live=void, open=full.arena.open, rounds={RoundPhase.VOID: 5}, void=rate(5, 100.0))
    return replace(full, arena=view)


def empty_memory_context() -> Tick:
    """The first tick ever: a full market, no past."""
    return replace(
        full_context(), arena=empty_arena(), day_before=DayBefore(), ticks=TicksBlock(0, 0, 0), last_tick_id=None
    )


def open_only_context() -> Tick:
    """The first round takes votes; none is live."""
    full = full_context()
    return replace(full, arena=replace(empty_arena(), open=full.arena.open, live_tally=Tally(3, 1, 0)))


CONTEXTS: Final[dict[str, Callable[[], Tick]]] = {
    "full": full_context,
    "simulated": simulated_context,
    "hourly": hourly_context,
    "candles_only": candles_only_context,
    "ended": ended_context,
    "missing_asset": missing_asset_context,
    "everything_missing": everything_missing_context,
    "young": young_context,
    "void_rounds": void_rounds_context,
    "empty_memory": empty_memory_context,
    "open_only": open_only_context,
}
