"""One tick of the ladders: hours judged as far as is known, and the upcoming hour's made.

It is made in the ticks of the ten minutes before the hour, and the last one counts.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import Any, Final, NamedTuple

from generator.arena.hourly import upcoming_hour
from generator.arena.inputs import PlayInputs
from generator.arena.ladders.hour import WAIT_MS, LadderHour, SealedChances, end_ms, is_done, newly_done
from generator.arena.ladders.sums import LadderTotals
from generator.arena.outcome import fix_price
from generator.arena.ranges import move_percent
from generator.arena.sealed import Life
from generator.catalog.horizons import HORIZONS


class LadderState(NamedTuple):
    """What the memory holds of ladders before a tick."""

    due: tuple[LadderHour, ...] = ()  # hours of which there is something to do now, the oldest first
    upcoming: LadderHour | None = None  # what was said of the upcoming hour, None outside of its window
    totals: LadderTotals = LadderTotals()


LadderChange = tuple[LadderHour | None, LadderHour]
"""An hour before a tick, None where nothing was said of it, and after it."""


class LaddersPlayed(NamedTuple):
    """What a tick changes of ladders."""

    changes: tuple[LadderChange, ...]  # hours of which more is known now, then the upcoming one if it is news
    totals: LadderTotals  # the same object where nothing was counted


def play_ladders(state: LadderState, inputs: PlayInputs, published_ms: int | None) -> LaddersPlayed:
    """Judge what is due, then make the upcoming hour's ladder. The same tick again changes nothing.

    Args:
        state: what is stored of them.
        inputs: of the tick.
        published_ms: wall time of the last release; None where nothing is published.
    """
    totals = state.totals
    changes: list[LadderChange] = []
    for before in state.due:
        hour = LIFE.moved(before, inputs, published_ms)
        for horizon in newly_done(before, hour):
            totals = totals.plus(hour, horizon)
        if hour != before:
            changes.append((before, hour))

    upcoming = make(inputs, inputs.ladders, totals)
    if upcoming is not None:
        # What this tick has already changed of the hour counts, not what was stored of it.
        moved = {hour.start_ms: hour for _, hour in changes}
        known = moved.get(upcoming.start_ms, state.upcoming)
        if _is_news(upcoming, known):
            changes.append((known, upcoming))
    return LaddersPlayed(tuple(changes), totals)


def _is_news(hour: LadderHour, known: LadderHour | None) -> bool:
    """Return whether what is made of an hour is to be sealed: it has not begun, and something else was said before."""
    if known is None:
        return True
    is_same = (known.said, known.base, known.warm_up) == (hour.said, hour.base, hour.warm_up)
    return known.is_closed and not is_same


def make(inputs: PlayInputs, chances: SealedChances | None, totals: LadderTotals) -> LadderHour | None:
    """Return what this tick says of the upcoming hour; None outside of its window or without a ladder."""
    start_ms = upcoming_hour(inputs.now_ms)
    if start_ms is None or chances is None:
        return None
    return LadderHour(start_ms, inputs.now_ms, inputs.warm_up, chances, totals.base())


def judge(hour: LadderHour, inputs: PlayInputs) -> LadderHour:
    """Fix the start prices, then what came of each horizon that has ended."""
    if inputs.now_ms < hour.start_ms:
        return hour
    if not hour.has_begun:
        hour = _started(hour, inputs)

    for horizon in HORIZONS:
        if hour.void_reason is None and inputs.now_ms >= end_ms(hour, horizon) and not is_done(hour, horizon):
            outcomes = {asset: _outcome(hour, horizon, asset, inputs) for asset in hour.said}
            hour = replace(hour, came={**hour.came, horizon: outcomes})
    return hour


def _opens_ms(hour: LadderHour) -> int | None:
    return None if hour.has_begun or hour.warm_up else hour.start_ms


def _void(hour: LadderHour, reason: str) -> LadderHour:
    return replace(hour, void_reason=reason)


LIFE: Final[Life[LadderHour]] = Life(attrgetter("made_ms"), _opens_ms, judge, _void)


def _started(hour: LadderHour, inputs: PlayInputs) -> LadderHour:
    prices = {}
    reasons = []
    for asset in hour.said:
        late_ms = inputs.now_ms - hour.start_ms
        price, reason = fix_price(inputs.prices, asset, inputs.venues_needed, "start", late_ms)
        if price is None:
            reasons.append(reason)
        else:
            prices[asset] = price

    # One asset without a price leaves the others; without any there is nothing to judge.
    if not prices:
        return replace(hour, void_reason=reasons[0])
    return replace(hour, prices=prices)


def _outcome(hour: LadderHour, horizon: str, asset: str, inputs: PlayInputs) -> dict[str, Any]:
    """Return move, high and low of one asset in percent of the start's price, null where unknown."""
    start = hour.prices.get(asset)
    if start is None:
        return {"move": None, "high": None, "low": None}

    before = hour.came.get(horizon, {}).get(asset)
    # The bars of the way may arrive after the end price: the move stays, and high and low are asked for again.
    if before is not None and "waits" not in before:
        return dict(before)
    late_ms = inputs.now_ms - end_ms(hour, horizon)
    if before is not None:
        move = before["move"]
    else:
        end, _ = fix_price(inputs.prices, asset, inputs.venues_needed, "end", late_ms)
        move = None if end is None else move_percent(start, end)

    edges = inputs.reached(asset, hour.start_ms, end_ms(hour, horizon))
    if edges is None:
        waits = {"waits": True} if late_ms < WAIT_MS else {}
        return {"move": move, "high": None, "low": None, **waits}
    high, low = edges
    return {"move": move, "high": move_percent(start, high), "low": move_percent(start, low)}
