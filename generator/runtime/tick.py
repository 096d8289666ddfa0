"""The pipeline of one tick: observe, read, play, compose, publish."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.wire.inbox import MOST_VOTERS, OpenRound
from generator.arena.ballots import BallotFile
from generator.arena.outcome import PricePoint
from generator.arena.play import PlayInputs, RegimeRow
from generator.arena.ranges import ranges_of
from generator.arena.values import ArenaView, RangeForecast
from generator.brain.hourly import futures, trends
from generator.brain.reading import BrainReading
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.words import MODE_OF_REGIME, RegimeLabel, RoundPhase, SourceMode
from generator.compose.all import compose
from generator.compose.context import DayBefore, Freshness, TickContext, Ticks
from generator.compose.regime import changes, worded
from generator.market.observation import Observation
from generator.runtime.app import MOVED_KEY, OFFSET_KEY, App
from generator.runtime.market import SOURCES_DEADLINE_S, to_ms
from generator.runtime.publication import Report, publish

VALID_S: Final = 180
SPARK_POINTS: Final = 288


async def tick(app: App, at: datetime, sources_s: float = SOURCES_DEADLINE_S) -> Report:
    """Make one release; GeneratorError: the tick failed, and what was published and recorded before is kept."""
    try:
        observation, ballots = await asyncio.gather(
            app.market.observe(at, sources_s), app.record.box.collect(_lock_ms(app, at))
        )
        reading = app.market.read(observation)
        await breathe()
        arena, number = play_arena(app, observation, reading, at, ballots)
    except BaseException:
        app.record.box.put_back()
        raise
    await breathe()
    record = app.record.published.prepare()
    context = describe(app, observation, reading, replace(arena, checkpoint_digest=record.digest), at, number)
    facts = worded(context)
    context = replace(context, changed=changes(app.publisher.worded, facts))
    composed = compose(context)
    await breathe()
    report = publish(app, context, composed, record, at)
    app.publisher.worded = facts
    return report


async def breathe() -> None:
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


def play_arena(
    app: App,
    observation: Observation,
    reading: BrainReading | None,
    at: datetime,
    ballots: Sequence[BallotFile] = (),
    *,
    warm_up: bool = False,
) -> tuple[ArenaView, int]:
    """Count ballots, move the rounds, resolve what is due: all in one transaction, with the brain's state.

    Return the Arena after it, and the number reserved for this tick's release; 0 in a backtest, which makes none.
    """
    moved = _moved(app, observation)
    if not warm_up:
        app.record.published.begin(to_ms(at))
    prices = {
        asset: PricePoint(seen.price, len(seen.venues))
        for asset, seen in observation.assets.items()
        if seen.price is not None
    }
    inputs = PlayInputs(
        now_ms=to_ms(at),
        prices=prices,
        venues_needed=observation.venues_needed,
        price_basis=observation.price_basis,
        # Without 5-minute bars, and past a recording's end, the brain says nothing that could be scored.
        forecast=app.market.engine.forecast if reading is not None else lambda _asset, _minutes: None,
        config=app.record.arena,
        ballots=ballots,
        salt=app.record.salt,
        ranges=_ranges(reading),
        regime=_regime_row(reading),
        warm_up=warm_up,
        interrupted="the replay was moved to another market time" if moved else None,
        next_close_ms=None if warm_up else _next_close_ms(observation),
    )
    published_ms = None if warm_up else app.record.memory.last_published_ms()
    newest = 0 if warm_up else max(app.publisher.releases.generation(), app.publisher.vault.generation())
    brain_state = app.market.engine.dump() if reading is not None else None
    with app.record.memory.tick() as record:
        view = record.play(inputs, brain_state, published_ms)
        if observation.mode == SourceMode.RECORDED:
            record.note(OFFSET_KEY, str(observation.offset_ms))
            if moved:
                record.note(MOVED_KEY, str(to_ms(at)))
        number = 0 if warm_up else record.reserve_generation(newest)
    app.record.box.put_away(view.refused)  # only now: what is counted is on disk
    if not warm_up:
        taking = view.open if view.open is not None and view.open.phase is RoundPhase.OPEN else None
        said = None if taking is None else OpenRound(taking.round_id, taking.start_ms, to_ms(at))
        app.record.box.announce(said, app.record.memory.earlier_voters(MOST_VOTERS))
    return view, number


def describe(  # noqa: PLR0917
    app: App,
    observation: Observation,
    reading: BrainReading | None,
    arena: ArenaView,
    at: datetime,
    number: int,
) -> TickContext:
    """Put together what the composers need."""
    now_ms = to_ms(at)
    hourly = observation.bar_interval_ms == HOUR_MS and not observation.ended
    ticks = app.record.memory.ticks(now_ms)
    return TickContext(
        site=app.publisher.site,
        freshness=freshness(at, number, observation.offset_ms if observation.mode == SourceMode.RECORDED else None),
        observation=observation,
        reading=reading,
        arena=arena,
        day_before=_day_before(app, now_ms),
        ticks=Ticks(ticks.published_24h, ticks.failed_24h, ticks.last_tick_id, ticks.missed_24h),
        closes={asset: app.market.history.closes(asset, SPARK_POINTS) for asset in ASSETS},
        bars=app.market.history.frame(),
        trends=trends(app.market.history.frame()) if reading is None else {},
        futures=futures(app.market.history.frame()) if hourly else {},
    )


def _moved(app: App, observation: Observation) -> bool:
    """Return whether a recording is now replayed from elsewhere: what is under way would mix two markets."""
    if observation.mode != SourceMode.RECORDED:
        return False
    kept = app.record.memory.meta(OFFSET_KEY)
    return kept is not None and kept != str(observation.offset_ms)


def _next_close_ms(observation: Observation) -> int:
    """Return the wall time at which the bar closes that is open now."""
    step_ms = observation.bar_interval_ms
    return (observation.market_ms // step_ms + 1) * step_ms + observation.offset_ms


def _day_before(app: App, now_ms: int) -> DayBefore:
    """Return what was said a day ago, unless a replay was moved since: that was another market."""
    if int(app.record.memory.meta(MOVED_KEY) or 0) > now_ms - DAY_MS:
        return DayBefore()
    label, confidence, risk_score = app.record.memory.day_before(now_ms)
    return DayBefore(None if label is None else RegimeLabel(label), confidence, risk_score)


def _ranges(reading: BrainReading | None) -> dict[str, dict[str, RangeForecast]]:
    found = {asset: ranges_of(one) for asset, one in reading.assets.items()} if reading else {}
    return {asset: ranges for asset, ranges in found.items() if ranges is not None}


def freshness(at: datetime, number: int, offset_ms: int | None) -> Freshness:
    """Return when and under which number a release is made; `offset_ms` is that of a recording."""
    return Freshness(
        tick_id=at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ"),
        generation=f"{number:012d}",
        generated_ms=to_ms(at),
        next_update_ms=to_ms(at.replace(second=0, microsecond=0) + timedelta(minutes=1)),
        valid_until_ms=to_ms(at) + VALID_S * 1000,
        offset_ms=offset_ms,
    )


def _regime_row(reading: BrainReading | None) -> RegimeRow | None:
    if reading is None:
        return None
    regime = reading.regime
    return regime.label, MODE_OF_REGIME[regime.label], regime.confidence, regime.risk_score
