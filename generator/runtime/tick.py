"""The pipeline of one tick: observe, read, play, compose, publish."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import structlog

from gateway.wire.inbox import MOST_VOTERS, AnnouncedRound
from generator.arena import daily
from generator.arena.ballots import BallotFile, judge_all
from generator.arena.holds import KIND
from generator.arena.inputs import PlayInputs
from generator.arena.ladders.hour import sealed_chances
from generator.arena.outcome import PricePoint
from generator.arena.play import play
from generator.arena.ranges import ranges_of
from generator.arena.state import RegimeRow
from generator.brain.forecast import EARNED
from generator.brain.hourly import futures, state_of
from generator.brain.reading import BrainReading
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.formats import probabilities
from generator.catalog.text.lessons import HoursOnRecord
from generator.catalog.words import MODE_OF_SIDE, MarketSide, RegimeLabel, RoundPhase, SourceMode
from generator.compose.all import compose
from generator.compose.context import DayBefore, TickTimes
from generator.compose.tick import Tick
from generator.market.observation import Observation
from generator.record.memory.store import TickTransaction
from generator.record.memory.venues import VenueFacts
from generator.runtime.app import MOVED_KEY, OFFSET_KEY, App
from generator.runtime.market import SOURCES_DEADLINE_S, to_ms
from generator.runtime.publication import Report, publish
from generator.values.ranges import RangeForecast
from generator.values.view import ArenaView

VALID_S: Final = 180
SPARK_POINTS: Final = 288
MOVED: Final = "the replay was moved to another market time"

log = structlog.get_logger("emi.tick")


async def tick(app: App, at: datetime, sources_s: float = SOURCES_DEADLINE_S) -> Report:
    """Make one release; GeneratorError: the tick failed, and what was published and recorded before is kept."""
    app.record.memory.check_file()
    try:
        observation, ballots = await asyncio.gather(
            app.market.observe(at, sources_s), app.record.box.collect(_lock_ms(app, at))
        )
        if app.market.mode == SourceMode.LIVE:
            app.market.sides = EARNED if app.record.memory.earned(to_ms(at)).is_open else None
        reading = app.market.read(observation)

        await yield_to_event_loop()
        arena, number = play_without_bad_ballots(app, observation, reading, at, ballots)
    except BaseException:
        app.record.box.requeue()
        raise

    await yield_to_event_loop()
    record = app.record.published.prepare()
    context = describe(app, observation, reading, replace(arena, checkpoint_digest=record.digest), at, number)
    composed = compose(context)

    await yield_to_event_loop()
    report = publish(app, context, composed, record, at)
    app.publisher.previous_facts = context.tracked
    return report


async def yield_to_event_loop() -> None:
    """Let a deadline that passed while a step blocked the thread end the tick here, between two steps.

    Twice: in the first turn of the loop the deadline's timer comes after this task's own next step.
    """
    await asyncio.sleep(0)
    await asyncio.sleep(0)


def _lock_ms(app: App, at: datetime) -> int | None:
    """Return the moment at which votes close if this tick is the one that closes them."""
    now_ms = to_ms(at)
    since_start_ms = now_ms % (app.record.arena.round_minutes * MINUTE_MS)
    return now_ms - since_start_ms if since_start_ms < MINUTE_MS else None


def play_without_bad_ballots(
    app: App, observation: Observation, reading: BrainReading | None, at: datetime, ballots: Sequence[BallotFile]
) -> tuple[ArenaView, int]:
    """Play a live tick, without its ballots where it fails with them: no ballot costs a release.

    A fault in a single one is a refusal by then. This is for what no one foresaw: a ballot with which two ticks failed
    is quarantined. A failure that was not the ballots' is raised by the second attempt.
    """
    try:
        return play_arena(app, observation, reading, at, ballots)
    except Exception as error:
        if not ballots:
            raise
        app.record.box.requeue()
        played = play_arena(app, observation, reading, at)
        log.exception("the tick failed with the ballots, and not without them", ballots=len(ballots), exc_info=error)

    app.record.box.suspect(ballots)
    return played


def play_arena(
    app: App,
    observation: Observation,
    reading: BrainReading | None,
    at: datetime,
    ballots: Sequence[BallotFile] = (),
) -> tuple[ArenaView, int]:
    """Play a live tick in one transaction, with the brain's state; return the Arena and the release's number."""
    app.record.published.begin(to_ms(at))
    inputs = play_inputs(app, observation, reading, at, ballots)
    brain_state = app.market.state_to_store() if reading is not None else None
    published_ms = app.record.memory.last_published_ms()
    newest = max(app.publisher.releases.generation(), app.publisher.vault.generation())

    with app.record.memory.tick() as transaction:
        arena = play_tick(transaction, inputs, brain_state, published_ms)
        _note_replay(transaction, observation, inputs)
        of_venues = {asset: seen.of_venues for asset, seen in observation.assets.items()}
        transaction.keep_venues(VenueFacts(inputs.now_ms, observation.market_ms, of_venues))
        if observation.mode is not SourceMode.RECORDED:
            transaction.keep_bars(observation.new_bars)
        number = transaction.reserve_generation(newest)

    if brain_state is not None:
        app.market.stored()
    app.record.box.acknowledge(arena.refused)  # only now: what is counted is on disk
    _announce(app, arena, at)
    return arena, number


def backtest_arena(
    app: App, observation: Observation, reading: BrainReading | None, at: datetime, *, keeps_brain: bool
) -> None:
    """Play one step of the backtest: no ballots, no log, no release, and what is made is marked `warm_up`.

    Args:
        keeps_brain: whether to store the brain's state too; a backtest is one transaction, so its last step is enough.
    """
    inputs = play_inputs(app, observation, reading, at, warm_up=True)
    brain_state = app.market.engine.dump() if keeps_brain and reading is not None else None

    with app.record.memory.tick() as transaction:
        store_tick(transaction, inputs, brain_state)
        _note_replay(transaction, observation, inputs)


def play_tick(
    transaction: TickTransaction,
    inputs: PlayInputs,
    brain_state: bytes | None = None,
    published_ms: int | None = None,
) -> ArenaView:
    """Count ballots, then load, play and store: the same tick again changes nothing.

    Args:
        brain_state: the engine's, None where it read nothing; the one stored before stays then.
        published_ms: wall time of the last published tick; None where nothing is published, as in a backtest.
    """
    refused = store_tick(transaction, inputs, brain_state, published_ms)
    return replace(transaction.view(inputs.now_ms), refused=refused)


def store_tick(
    transaction: TickTransaction,
    inputs: PlayInputs,
    brain_state: bytes | None = None,
    published_ms: int | None = None,
) -> dict[str, int]:
    """Do what `play_tick` does without looking at the result; return how many ballots were refused, by reason."""
    refused = _count_ballots(transaction, inputs)

    state = transaction.load(inputs, published_ms)
    result = play(state, inputs)
    transaction.store(result, inputs, brain_state)
    return refused


def _count_ballots(transaction: TickTransaction, inputs: PlayInputs) -> dict[str, int]:
    """Judge the ballots and store the valid ones; return how many were newly refused, by reason."""
    if not inputs.ballots:
        return {}
    judged = judge_all(inputs.ballots, transaction.poll(inputs), transaction.known_txids)
    return transaction.store_ballots(inputs.ballots, judged)


def play_inputs(
    app: App,
    observation: Observation,
    reading: BrainReading | None,
    at: datetime,
    ballots: Sequence[BallotFile] = (),
    *,
    warm_up: bool = False,
) -> PlayInputs:
    """Put together what the rules of the Arena need of this tick."""
    prices = {
        asset: PricePoint(seen.price, len(seen.venues))
        for asset, seen in observation.assets.items()
        if seen.price is not None
    }
    # Without 5-minute bars, and past a recording's end, the brain says nothing that could be scored.
    forecast = app.market.engine.forecast if reading is not None else _nothing

    return PlayInputs(
        now_ms=to_ms(at),
        prices=prices,
        venues_needed=observation.venues_needed,
        price_basis=observation.price_basis,
        forecast=forecast,
        forecast_at_band=forecast,
        config=app.record.arena,
        ballots=ballots,
        salt=app.record.salt,
        ranges=_ranges(reading),
        usual_day=None if reading is None else reading.assets[daily.ASSET].facts.usual_day,
        joint=None if reading is None else reading.joint,
        ladders=None if reading is None else sealed_chances(reading.assets),
        reached=partial(_reached, app, observation),
        hours_before=partial(_hours_before, app, observation),
        regime=_regime_row(reading),
        warm_up=warm_up,
        interrupted=MOVED if _is_moved(app, observation) else None,
        next_close_ms=None if warm_up else _next_close_ms(observation),
    )


def _nothing(_asset: str, _minutes: int, _band_bps: float | None = None) -> None:
    """Stand for a brain without a forecast."""


def _is_moved(app: App, observation: Observation) -> bool:
    """Return whether a recording is now replayed from elsewhere: what is under way would mix two markets."""
    if observation.mode != SourceMode.RECORDED:
        return False
    kept = app.record.memory.meta(OFFSET_KEY)
    return kept is not None and kept != str(observation.offset_ms)


def _note_replay(transaction: TickTransaction, observation: Observation, inputs: PlayInputs) -> None:
    """Note where a recording is replayed, and when it was moved last."""
    if observation.mode != SourceMode.RECORDED:
        return
    transaction.note(OFFSET_KEY, str(observation.offset_ms))
    if inputs.interrupted is not None:
        transaction.note(MOVED_KEY, str(inputs.now_ms))


def _announce(app: App, arena: ArenaView, at: datetime) -> None:
    """Say which round takes votes now and which daily question answers, and who voted in an earlier round."""
    open_round = None
    if arena.open is not None and arena.open.phase is RoundPhase.OPEN:
        form = app.record.memory.ballot_form(arena.open.round_id)
        open_round = AnnouncedRound(arena.open.round_id, arena.open.start_ms, to_ms(at), form)

    question = next((one for one in arena.daily if one.phase is RoundPhase.OPEN), None)
    daily_question = None
    if question is not None:
        daily_question = AnnouncedRound(question.question_id, question.closes_ms, to_ms(at))
    app.record.box.announce(open_round, app.record.memory.earlier_voters(MOST_VOTERS, to_ms(at)), daily_question)


def _next_close_ms(observation: Observation) -> int:
    """Return the wall time at which the bar closes that is open now."""
    step_ms = observation.bar_interval_ms
    return (observation.market_ms // step_ms + 1) * step_ms + observation.offset_ms


def _reached(
    app: App, observation: Observation, asset: str, since_ms: int, until_ms: int
) -> tuple[float, float] | None:
    """Return the highest and lowest price of an asset in bars between two wall times; None where a bar is not known."""
    # Bars of a recording carry the time at which they were recorded.
    offset_ms = observation.offset_ms if observation.mode == SourceMode.RECORDED else 0
    return app.market.history.reached(asset, since_ms - offset_ms, until_ms - offset_ms)


def _hours_before(app: App, observation: Observation, asset: str, until_ms: int, move: float) -> HoursOnRecord | None:
    """Return the hours on record of an asset up to a wall time, against a move."""
    offset_ms = observation.offset_ms if observation.mode == SourceMode.RECORDED else 0
    return app.market.engine.hours_before(asset, until_ms - offset_ms, move)


def _ranges(reading: BrainReading | None) -> dict[str, dict[str, RangeForecast]]:
    if reading is None:
        return {}
    by_asset = {asset: ranges_of(asset_reading) for asset, asset_reading in reading.assets.items()}
    return {asset: ranges for asset, ranges in by_asset.items() if ranges is not None}


def _regime_row(reading: BrainReading | None) -> RegimeRow | None:
    if reading is None:
        return None
    regime = reading.regime
    chances = None
    if regime.label is not RegimeLabel.UNKNOWN:
        chances = tuple(probabilities(tuple(regime.holding.values())))
    return RegimeRow(
        label=regime.label,
        mode=MODE_OF_SIDE[regime.axes.side],
        confidence=regime.confidence,
        risk_score=regime.risk_score,
        volatility=regime.axes.swings,
        side=regime.axes.side,
        confidence_kind=None if regime.confidence is None else KIND,
        chances=chances,
    )


def describe(  # noqa: PLR0917
    app: App,
    observation: Observation,
    reading: BrainReading | None,
    arena: ArenaView,
    at: datetime,
    number: int,
) -> Tick:
    """Put together what the composers need."""
    now_ms = to_ms(at)
    bars = app.market.history.frame()
    hourly = observation.bar_interval_ms == HOUR_MS and not observation.ended
    is_replayed = observation.mode == SourceMode.RECORDED
    offset_ms = observation.offset_ms if is_replayed else None
    moved_ms = _moved_ms(app) if is_replayed else None
    hours = state_of(bars, observation.market_ms) if reading is None else None

    return Tick(
        site=app.publisher.site,
        freshness=freshness(at, number, offset_ms, moved_ms),
        observation=observation,
        reading=reading,
        arena=arena,
        day_before=_day_before(app, now_ms),
        ticks=app.record.memory.ticks(now_ms),
        last_tick_id=app.record.memory.last_tick(),
        closes={asset: app.market.history.closes(asset, SPARK_POINTS) for asset in ASSETS},
        bars=bars,
        month=app.market.month() if reading is not None else None,
        trends=hours.trends if hours else {},
        side=hours.side if hours else MarketSide.UNKNOWN,
        market=hours.market if hours else None,
        futures=futures(bars) if hourly else {},
        tracked_before=app.publisher.previous_facts,
    )


def _day_before(app: App, now_ms: int) -> DayBefore:
    """Return what was said a day ago, unless a replay was moved since: that was another market."""
    moved_ms = _moved_ms(app)
    if moved_ms is not None and moved_ms > now_ms - DAY_MS:
        return DayBefore()
    label, confidence, risk_score = app.record.memory.day_before(now_ms)
    return DayBefore(None if label is None else RegimeLabel(label), confidence, risk_score)


def _moved_ms(app: App) -> int | None:
    kept = app.record.memory.meta(MOVED_KEY)
    return None if kept is None else int(kept)


def freshness(at: datetime, number: int, offset_ms: int | None, moved_ms: int | None = None) -> TickTimes:
    """Return when and under which number a release is made; `offset_ms` and `moved_ms` are those of a recording."""
    return TickTimes(
        tick_id=at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ"),
        generation=f"{number:012d}",
        generated_ms=to_ms(at),
        next_update_ms=to_ms(at.replace(second=0, microsecond=0) + timedelta(minutes=1)),
        valid_until_ms=to_ms(at) + VALID_S * 1000,
        offset_ms=offset_ms,
        moved_ms=moved_ms,
    )
