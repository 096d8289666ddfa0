"""Reports of a market every few hours, each sentence held against the raw closes and what was published before."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import numpy as np

from generator.arena.scoring import Ratio
from generator.brain.engine import Engine
from generator.brain.reading import BrainReading
from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.text.happened import RANKED_DAYS
from generator.catalog.text.report.sentences import report
from generator.catalog.text.slots import VOLATILITY
from generator.compose.coins import ranges
from generator.compose.tick import Tick
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.market.history import CAPACITY_BARS
from generator.market.observation import AssetObservation
from generator.values.hours import RangeDay
from generator.values.scores import HorizonRecord, RangeForecastScore
from generator.values.view import ArenaView
from tests.contradictions.sweep import Found
from tests.support.builders import empty_arena, full_context
from tests.words.raw import DAY, HOUR, History, Raw
from tests.words.report_oracles import Case, HourSaid, report_complaints

BITCOIN: Final = "BTC"
FIRST: Final = 4 * DAY  # bars before the first report
UNTRUE_REPORT: Final = "a sentence of a report that the closes contradict"
FEWEST_WORDS: Final = 350  # of a day that is known
MOST_WORDS: Final = 650
_NOTHING: Final = HourSaid(-1, "unknown", np.nan, None, None)


def reports(
    frame: BarFrame, every_hours: int = 3, first: int = FIRST, named: Collection[datetime] = ()
) -> Iterator[tuple[Case, Mapping[str, str], list[str]]]:
    """Yield each moment with its report by part and what is untrue in it.

    Args:
        every_hours: since 1970.
        first: bars before the first report.
        named: further full hours.
    """
    whole = _whole(frame)
    history = History(whole.assets, *(whole.fields[name] for name in ("close", "high", "low")))
    traded = traded_in_a_day(whole)
    engine = Engine(Weights.load(), frame.assets)
    said: list[HourSaid] = []
    for row in engine.replay(frame, HOUR_MS):
        reading = engine.reading()
        assert reading is not None
        at = int(frame.t[row] - frame.t[0]) // BAR_MS
        raw = Raw(history, at)
        missed = (at - said[-1].bar) // HOUR - 1 if said else 0
        said += [_NOTHING] * missed
        said.append(_said(engine, reading, raw))
        hour = (reading.t_ms + BAR_MS) // HOUR_MS
        is_named = datetime.fromtimestamp(hour * 3600, UTC) in named
        if at < first or (hour % every_hours and not is_named):
            continue

        bars = frame.rows(max(0, row + 1 - CAPACITY_BARS), row + 1)
        ctx = _context(engine, reading, raw, bars)
        ctx = replace(ctx, arena=arena_of(ctx.arena, whole, said, raw))
        facts = ctx.report
        texts = {part.name.lower(): text for part, text in report(facts).items()}
        case = _case(ctx, raw, said, traded)
        yield case, texts, report_complaints(texts, case)


def check_reports(found: Found, frame: BarFrame) -> None:
    """Hold the report of every third hour to the closes, and count its words where most coins are known."""
    for case, texts, complaints in reports(frame):
        found.reports += 1
        for complaint in complaints:
            found.add(UNTRUE_REPORT, f"{case.now:%Y-%m-%d %H:%M}: {complaint}")
        words = sum(len(text.split()) for text in texts.values())
        is_known = np.isfinite(case.raw.moves(DAY)).all() and np.isfinite(case.raw.closes[-1]).all()
        if words > MOST_WORDS or (is_known and words < FEWEST_WORDS):
            found.add(UNTRUE_REPORT, f"{case.now:%Y-%m-%d %H:%M}: {words} words")


def _whole(frame: BarFrame) -> BarFrame:
    """Return the bars with a row of unknown ones where none was."""
    t_ms = np.arange(frame.t[0], frame.t[-1] + BAR_MS, BAR_MS, dtype=np.int64)
    places = (frame.t - frame.t[0]) // BAR_MS
    fields = {}
    for name in ("close", "high", "low", "volume"):
        fields[name] = np.full((len(t_ms), len(frame.assets)), np.nan)
        fields[name][places] = frame.fields[name]
    return replace(frame, t=t_ms, fields={**frame.fields, **fields})


def _context(engine: Engine, reading: BrainReading, raw: Raw, bars: BarFrame) -> Tick:
    """Return a tick that publishes a reading with the prices that it was made from; a missing one is unknown."""
    full = full_context()
    now_ms = int(bars.t[-1]) + BAR_MS
    days = raw.moves(DAY)
    seen = {}
    for name, close, moved in zip(raw.assets, raw.closes[-1].tolist(), days.tolist(), strict=True):
        seen[name] = replace(
            full.observation.assets[name],
            price=close if np.isfinite(close) else None,
            change_24h_percent=moved if np.isfinite(moved) else None,
            price_as_of_ms=now_ms,
        )
    missing = {name: AssetObservation(name) for name in full.observation.assets if name not in seen}
    observation = replace(full.observation, assets={**missing, **seen}, market_ms=now_ms)
    return replace(full, reading=reading, observation=observation, bars=bars, month=engine.month(bars))


def traded_in_a_day(whole: BarFrame) -> FloatArray:
    """Return what was traded in the day up to each bar, dollars; NaN before the first is over."""
    each = np.nansum(whole.fields["volume"] * whole.fields["close"], axis=1)
    out = np.full(len(each), np.nan)
    out[DAY - 1 :] = np.lib.stride_tricks.sliding_window_view(each, DAY).sum(axis=1)
    return out


def _said(engine: Engine, reading: BrainReading, raw: Raw) -> HourSaid:
    read = reading.assets[BITCOIN]
    moves = ranges(read) or {}
    price = float(raw.closes[-1, raw.assets.index(BITCOIN)])
    hour, day = (
        (price * (1 + moves[name].low_90 / 100), price * (1 + moves[name].high_90 / 100)) if name in moves else None
        for name in ("1h", "24h")
    )
    expected = engine.expected()
    return HourSaid(
        bar=raw.now,
        word=VOLATILITY[reading.market.volatility],
        expected=np.nan if expected is None else float(np.exp(expected)),
        hour=hour,
        day=day,
    )


def arena_of(arena: ArenaView, frame: BarFrame, said: list[HourSaid], raw: Raw) -> ArenaView:
    """Return the Arena with the record of the ranges that came due; where no price did, none is judged."""
    closes = raw.closes[:, raw.assets.index(BITCOIN)]
    due = [(one, one.hour) for one in said if one.hour is not None and one.bar + HOUR <= raw.now]
    came = {one.bar: float(closes[one.bar + HOUR]) for one, _ in due}
    held = {one.bar: ends[0] <= came[one.bar] <= ends[1] for one, ends in due if np.isfinite(came[one.bar])}
    by_day: dict[int, list[bool]] = {}
    for bar, is_held in held.items():
        by_day.setdefault(int(frame.t[bar]) // DAY_MS, []).append(is_held)

    total = Ratio()
    for of_day in by_day.values():
        total = total.plus(sum(of_day), len(of_day))
    score = RangeForecastScore("brain", total.rate(backtest=False), total.rate(backtest=False), None, None)
    record = HorizonRecord("1h", total.below, 0, total.blocks, (score,))

    lately = [is_held for bar, is_held in held.items() if bar + HOUR > raw.now - DAY]
    given = next((one.day for one in said if one.bar == raw.now - DAY), None)
    day = RangeDay(None, 0.0, 0.0, 0.0, len(lately), sum(lately), warm_up=False)
    if given is not None and np.isfinite(closes[raw.now]):
        due_ms = int(frame.t[raw.now]) + BAR_MS
        day = day._replace(due_ms=due_ms, low=given[0], high=given[1], price=float(closes[raw.now]))
    return replace(arena or empty_arena(), how_far=(record,), day_of_ranges=day)


def _case(ctx: Tick, raw: Raw, said: list[HourSaid], traded: FloatArray) -> Case:
    now = datetime.fromtimestamp(ctx.observation.market_ms / 1000, UTC)
    reading = ctx.reading
    assert reading is not None
    price = float(raw.closes[-1, raw.assets.index(BITCOIN)])
    spans = {
        name: tuple(price * (1 + end / 100) for end in (move.low_90, move.low_50, move.high_50, move.high_90))
        for name, move in (ranges(reading.assets[BITCOIN]) or {}).items()
    }
    widths = {asset: moves["1h"].high_90 for asset, read in reading.assets.items() if (moves := ranges(read))}
    bitcoin = ctx.market_now.bitcoin
    chance = bitcoin.chance if bitcoin else None
    published = None if chance is None else (chance.small, chance.usual_small, price * chance.band / 100)
    width = ctx.market_now.width if ctx.market_now.record_days >= RANKED_DAYS else None  # which the first screen says
    return Case(raw, now, tuple(said), spans, widths, published, traded, width)  # type: ignore[arg-type]
