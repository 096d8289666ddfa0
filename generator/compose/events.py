"""What happened on record and what followed: parts of the paid answers."""

import math
from typing import Final

from pydantic import Field

from generator.brain.events import AFTER, KINDS, After, EventRecord, Places, followed, most_alike
from generator.catalog.formats import fixed, iso, share
from generator.catalog.text import events as texts
from generator.compose.body import Body
from generator.compose.context import TickContext

EVENTS: Final = "Events on record and what followed; null without a reading."
_DECIMALS: Final = 2
_WEEK: Final = 7 * 24  # hours within which an event is the last


class EventList(Body):
    """Events, oldest first, one array a quantity."""

    at: tuple[str, ...] = Field(description="Market time, ISO 8601 UTC.")
    size_percent: tuple[float | None, ...] = Field(
        description="Move of the average coin: of the hour or the day, percent."
    )
    after_1h_percent: tuple[float | None, ...] = Field(description="Its move an hour after, percent.")
    after_4h_percent: tuple[float | None, ...] = Field(description="Four hours after.")
    after_24h_percent: tuple[float | None, ...] = Field(description="24 hours after.")
    after_7d_percent: tuple[float | None, ...] = Field(description="Seven days after.")


class AlikeEvents(EventList):
    """The events most like the last, likest first."""

    volatility_rank_percent: tuple[float | None, ...] = Field(
        description="Share of the record's hours with a calmer day behind them, percent 0..100."
    )


class AfterEvents(Body):
    """How often something followed such events."""

    n: int = Field(description="Events of which it is known what followed.")
    percent: float | None = Field(description="Share of them, percent 0..100; null with fewer than 30 events.")
    low_percent: float | None = Field(
        description="Lower end of its interval, percent; all of a kind hold together in 95 of 100 cases."
    )
    high_percent: float | None = Field(description="Upper end of it, percent.")
    usual_percent: float | None = Field(description="Share of all hours on record, percent.")


class AfterSpan(Body):
    """What followed such events over one span."""

    up: AfterEvents = Field(description="The average coin rose.")
    larger: AfterEvents = Field(description="It moved more than the record's median, either way.")


class LastEvent(Body):
    """The last event on record and those of its kind."""

    kind: str = Field(description=f"Its kind: {', '.join(KINDS)}.")
    at: str = Field(description="Market time of it, ISO 8601 UTC.")
    hours_ago: int = Field(description="Full hours since then.")
    size_percent: float | None = Field(description="Move of the average coin: of the hour or the day, percent.")
    volatility_rank_percent: float | None = Field(
        description="Share of the record's hours with a calmer day behind them, percent 0..100."
    )
    backtest: bool = Field(description="Whether `after` counts the backtest: live there are fewer than 30 yet.")
    after: dict[str, AfterSpan] = Field(description="By span after the event (1h, 4h, 24h, 7d): what followed.")
    alike: AlikeEvents = Field(description="The ten of its kind most like it in size and volatility, of either part.")


class MarketEventsShort(Body):
    """The last event in short."""

    text: str = Field(description="How to read it.")
    statement: str = Field(description="The last event in words.")
    last: LastEvent | None = Field(description="That of the last seven days; null without one.")


class MarketEvents(MarketEventsShort):
    """The events of the kept record."""

    record_days: float = Field(description="Days on record.")
    live: dict[str, EventList] = Field(description="By kind: those since the service began.")
    backtest: dict[str, EventList] = Field(description="By kind: those before.")


def events_block(ctx: TickContext) -> MarketEvents | None:
    """Compose the events of the kept record; None without one."""
    record = _record(ctx)
    if record is None:
        return None

    begin_ms = _live_from(ctx)
    return MarketEvents(
        **events_short(ctx, record).as_fields(),
        record_days=fixed(record.hours / 24, 1) or 0.0,
        live=_by_kind(record.since(begin_ms)),
        backtest=_by_kind(record.until(begin_ms)),
    )


def events_of_report(ctx: TickContext) -> MarketEventsShort | None:
    """Compose the same without the whole list."""
    record = _record(ctx)
    return None if record is None else events_short(ctx, record)


def events_short(ctx: TickContext, record: EventRecord) -> MarketEventsShort:
    """Compose the last event, where it is of the last seven days, and what followed those of its kind."""
    events = record.events
    hours_ago = len(record.moves) - 1 - int(events.at[-1]) if len(events.at) else _WEEK + 1
    if hours_ago > _WEEK:
        return MarketEventsShort(text=texts.HOW_TO_READ, statement=texts.NONE, last=None)

    kind = int(events.kind[-1])
    begin_ms = _live_from(ctx)
    # Live first: the backtest speaks only while the live record is too short, and never together with it.
    after = _followed(record.since(begin_ms), kind)
    backtest = after["1h"]["up"].share is None
    if backtest:
        after = _followed(record.until(begin_ms), kind)

    every = [(span, name, of) for span, outcomes in after.items() for name, of in outcomes.items()]
    alike = most_alike(events)
    return MarketEventsShort(
        text=texts.HOW_TO_READ,
        statement=texts.statement(
            KINDS[kind],
            hours_ago,
            after["1h"]["up"].n,
            backtest=backtest,
            enough=any(of.share is not None for _, _, of in every),
            differing=[_differing(span, name, of) for span, name, of in every if of.differs],
        ),
        last=LastEvent(
            kind=KINDS[kind],
            at=iso(record.at_ms(int(events.at[-1]))),
            hours_ago=hours_ago,
            size_percent=fixed(100 * float(events.size[-1]), _DECIMALS),
            volatility_rank_percent=share(float(events.rank[-1])),
            backtest=backtest,
            after={
                span: AfterSpan(**{name: _after(of) for name, of in outcomes.items()})
                for span, outcomes in after.items()
            },
            alike=AlikeEvents(
                **_listed(record, alike).as_fields(),
                volatility_rank_percent=tuple(share(rank) for rank in events.rank[alike].tolist()),
            ),
        ),
    )


def _record(ctx: TickContext) -> EventRecord | None:
    return None if ctx.month is None or ctx.reading is None else ctx.month.events


def _live_from(ctx: TickContext) -> float:
    """Return the market time at which the service's live record begins; infinity without one."""
    since_ms = ctx.arena.holds.live.since_ms
    if since_ms is None:
        return math.inf
    # Of a replay the first hour has a market time of its own.
    return ctx.freshness.priced_ms(since_ms) or since_ms


def _followed(part: EventRecord, kind: int) -> dict[str, dict[str, After]]:
    return followed(part.events.at[part.of_kind(kind)], part.moves)


def _by_kind(part: EventRecord) -> dict[str, EventList]:
    places = {name: part.of_kind(kind) for kind, name in enumerate(KINDS)}
    return {name: _listed(part, of_kind) for name, of_kind in places.items() if len(of_kind)}


def _listed(record: EventRecord, places: Places) -> EventList:
    events = record.events
    after = events.after[places].T.tolist()
    return EventList(
        at=tuple(iso(record.at_ms(row)) for row in events.at[places].tolist()),
        size_percent=_percents(events.size[places].tolist()),
        **{f"after_{span}_percent": _percents(moves) for span, moves in zip(AFTER, after, strict=True)},
    )


def _percents(moves: list[float]) -> tuple[float | None, ...]:
    return tuple(fixed(100 * move, _DECIMALS) for move in moves)


def _after(of: After) -> AfterEvents:
    return AfterEvents(
        n=of.n,
        percent=share(of.share),
        low_percent=share(of.low),
        high_percent=share(of.high),
        usual_percent=share(of.usual),
    )


def _differing(span: str, outcome: str, of: After) -> texts.Share:
    percents = (share(value) or 0.0 for value in (of.share, of.low, of.high, of.usual))
    return texts.Share(span, outcome, *percents)
