"""The pipeline of one tick: observe, read, play, compose, publish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from generator.arena.inbox import Inbox
from generator.arena.play import PlayInputs, PricePoint
from generator.arena.values import ArenaView
from generator.brain.hourly import trends
from generator.brain.values import BrainReading
from generator.catalog.assets import ASSETS
from generator.catalog.sentences import DISCLAIMER
from generator.catalog.words import MODE_OF_REGIME, SourceMode
from generator.compose.all import Composed, compose
from generator.compose.context import DayBefore, Freshness, TickContext, Ticks
from generator.market.values import BAR_MS, Observation
from generator.publish.encode import encode
from generator.publish.pages import PageView
from generator.publish.vault import Offer
from generator.service import OFFSET_KEY, Service

VALID_S: Final = 180
SPARK_POINTS: Final = 288
ROUNDS_PUBLISHED: Final = 500


@dataclass(frozen=True, slots=True)
class Report:
    """What a tick did, for the log and the prompt."""

    tick_id: str
    generation: str
    files: int
    written: int
    regime: str
    confidence_percent: float | None
    status: str
    round_id: str | None


async def tick(service: Service, at: datetime) -> Report:
    """Make one release.

    Args:
        service: the rooms.
        at: aware UTC wall time of the tick.

    Raises:
        GeneratorError: the tick failed; what was published and recorded before stands.
    """
    observation = await observe(service, at)
    reading = read(service, observation)
    arena = play(service, observation, reading, at)
    context = describe(service, observation, reading, arena, at)
    return publish(service, context, compose(context), at)


async def observe(service: Service, at: datetime) -> Observation:
    """Ask the market, keep the new bars, remember a recording's offset."""
    observation = await service.source.observe(to_ms(at), service.history.last_t_ms)
    service.history.append(observation.new_bars)
    if observation.mode == SourceMode.RECORDED and service.memory.meta(OFFSET_KEY) != str(observation.offset_ms):
        service.memory.set_meta(OFFSET_KEY, str(observation.offset_ms))
    return observation


def read(service: Service, observation: Observation) -> BrainReading | None:
    """Let the brain read the new bars; it reads nothing but 5-minute bars."""
    if observation.bar_interval_ms != BAR_MS or observation.ended:
        return None
    return service.engine.update(observation.new_bars) or service.engine.reading()


def play(
    service: Service, observation: Observation, reading: BrainReading | None, at: datetime, *, warm_up: bool = False
) -> ArenaView:
    """Count ballots, move the rounds, resolve what is due; everything in one transaction, with the brain's state."""
    inbox = None if warm_up else Inbox(service.settings.inbox_path)
    ballots = inbox.read() if inbox else ()
    prices = {
        asset: PricePoint(seen.price, len(seen.venues))
        for asset, seen in observation.assets.items()
        if seen.price is not None
    }
    view = service.memory.play(
        PlayInputs(
            now_ms=to_ms(at),
            prices=prices,
            venues_needed=observation.venues_needed,
            price_basis=observation.price_basis,
            forecast=service.engine.forecast if reading is not None else lambda _asset, _minutes: None,
            config=service.arena,
            ballots=ballots,
            salt=service.salt,
            regime=_regime_row(reading),
            brain_state=service.engine.dump(),
            warm_up=warm_up,
        )
    )
    if inbox:
        inbox.clear(ballots)
    return view


def describe(
    service: Service, observation: Observation, reading: BrainReading | None, arena: ArenaView, at: datetime
) -> TickContext:
    """Put together what the composers need."""
    now_ms = to_ms(at)
    ticks = service.memory.ticks(now_ms)
    return TickContext(
        site=service.site,
        freshness=_freshness(service, observation, at),
        observation=observation,
        reading=reading,
        arena=arena,
        day_before=DayBefore(*service.memory.day_before(now_ms)),
        ticks=Ticks(ticks.published_24h, ticks.failed_24h, ticks.last_tick_id),
        closes={asset: service.history.closes(asset, SPARK_POINTS) for asset in ASSETS},
        trends=trends(service.history.frame()) if reading is None else {},
    )


def publish(service: Service, context: TickContext, composed: Composed, at: datetime) -> Report:
    """Make every byte, then write: the vault first, the site second, each with its own pointer."""
    bodies = {path: encode(model) for path, model in composed.free.items()}
    paid = {product: encode(model) for product, model in composed.paid.items()}
    standing = service.standing.files(service.site, bodies | paid, at)
    view = PageView(context, composed.as_dicts(), service.standing.schemas)
    pages = service.pages.render(view)
    files = service.variants.add({**standing, **pages, **bodies, "/arena/rounds.json": _rounds(service, context)})
    generation = context.freshness.generation
    service.vault.publish(_offer(context, composed, paid))
    written = service.releases.publish(generation, files, at.timestamp())
    service.memory.tick_done(context.freshness.tick_id, generation, to_ms(at), ok=True, reason=None)
    return _report(context, composed, len(files), written)


def to_ms(at: datetime) -> int:
    """Return integer UTC milliseconds."""
    return round(at.timestamp() * 1000)


def _freshness(service: Service, observation: Observation, at: datetime) -> Freshness:
    now_ms = to_ms(at)
    number = max(service.releases.generation(), service.vault.generation()) + 1
    return Freshness(
        tick_id=at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ"),
        generation=f"{number:012d}",
        generated_ms=now_ms,
        next_update_ms=to_ms(at.replace(second=0, microsecond=0) + timedelta(minutes=1)),
        valid_until_ms=now_ms + VALID_S * 1000,
        offset_ms=observation.offset_ms if observation.mode == SourceMode.RECORDED else None,
    )


def _regime_row(reading: BrainReading | None) -> tuple[str, str, float, float | None] | None:
    if reading is None:
        return None
    regime = reading.regime
    return regime.label, MODE_OF_REGIME[regime.label], regime.confidence, regime.risk_score


def _rounds(service: Service, context: TickContext) -> bytes:
    """Return the record that `emi verify` recomputes."""
    rows = service.memory.resolved_rounds(ROUNDS_PUBLISHED)
    return encode({"success": True, "project": context.site.project, "rounds": rows, "disclaimer": DISCLAIMER})


def _offer(context: TickContext, composed: Composed, paid: Mapping[str, bytes]) -> Offer:
    freshness = context.freshness
    head: dict[str, Any] = {
        "tick_id": freshness.tick_id,
        "generated_at": iso(freshness.generated_ms),
        "valid_until": iso(freshness.valid_until_ms),
        "source_mode": context.observation.mode.value,
        "project": context.site.project,
        "disclaimer": DISCLAIMER,
    }
    as_of = iso(context.observation.market_ms)
    return Offer(freshness.generation, head, as_of, paid, composed.challenges, composed.bazaar)


def _report(context: TickContext, composed: Composed, files: int, written: int) -> Report:
    status = composed.as_dicts()["/status.json"]["status"]
    reading, live = context.reading, context.arena.live
    return Report(
        tick_id=context.freshness.tick_id,
        generation=context.freshness.generation,
        files=files,
        written=written,
        regime=reading.regime.label.value if reading else "unknown",
        confidence_percent=round(100 * reading.regime.confidence, 1) if reading else None,
        status=status,
        round_id=live.round_id if live else None,
    )
