"""Every text of every bar of a market, held against its raw closes: on a fresh, a one-week and a full record."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.text.happened import MarketFacts, Situation
from generator.catalog.text.now import asset_line, call_sentence, first_screen, headline, regime_summary
from generator.catalog.words import MarketSide
from generator.market.bars import BarFrame
from tests.words import short_oracles as short
from tests.words.claims import Complaint, Ground, Row
from tests.words.oracles import complaints
from tests.words.planted import plant
from tests.words.raw import HOUR_MS, History, Raw
from tests.words.said import Said, every_bar

DAY_MS: Final = 24 * HOUR_MS
KINDS: Final = ("headline", "first screen", "regime", "asset line", "call")
_EXAMPLES: Final = 12  # kept of each row and kind
_SHOWN_EVERY_S: Final = 30.0


class Stretch(NamedTuple):
    """Rows of a market that are read as if the service had started with the first of them."""

    begin: int
    end: int
    first: int  # from which on texts are checked


@dataclass
class Found:
    """What a sweep counted."""

    every: int = 1  # bars from one that was looked at to the next
    bars: int = 0
    texts: int = 0
    seconds: float = 0.0
    wrong: Counter[str] = field(default_factory=Counter)  # by row and kind of text
    examples: dict[str, list[str]] = field(default_factory=dict)
    planted: Counter[str] = field(default_factory=Counter)  # by row
    caught: Counter[str] = field(default_factory=Counter)
    missed: dict[str, list[str]] = field(default_factory=dict)
    shown: Counter[str] = field(default_factory=Counter)  # bars by situation, side, word of volatility
    changes: Counter[str] = field(default_factory=Counter)
    great_days: int = 0  # of most coins, three usual ones
    great_days_flat: int = 0  # called flat, or by the other side
    longest: int = 0  # characters of a headline
    ranges: int = 0  # 90% ranges of Bitcoin's next hour whose end is known
    held: int = 0

    def add(self, kind: str, complaint: Complaint, example: str) -> None:
        """Count one complaint."""
        key = f"{complaint.row.name}/{kind}"
        self.wrong[key] += 1
        kept = self.examples.setdefault(key, [])
        if len(kept) < _EXAMPLES:
            kept.append(f"{example} ({complaint.text})")

    def of_row(self, row: Row) -> int:
        """Return the complaints of a row."""
        return sum(number for key, number in self.wrong.items() if key.startswith(f"{row.name}/"))


def stretches(bars: int, bars_a_day: int, record: str) -> Iterator[Stretch]:
    """Return how a market is cut for a record of some length; each bar of it is checked once.

    A fresh record is of under four days, a one-week record of seven to fourteen.
    """
    if record == "full":
        yield Stretch(0, bars, 0)
        return
    days, before = {"fresh": (4, 0), "week": (7, 7)}[record]
    size = days * bars_a_day
    for begin in range(before * bars_a_day, bars, size):
        yield Stretch(begin - before * bars_a_day, min(begin + size, bars), before * bars_a_day)


def sweep(name: str, frame: BarFrame, record: str, *, every: int = 1, planted_every: int = 0) -> Found:
    """Hold each k-th bar's texts against the raw closes, and plant false ones at some."""
    found = Found(every=every)
    began = time.process_time()
    said = began
    done = 0
    cut = list(stretches(len(frame), DAY_MS // frame.interval_ms, record))
    total = sum(stretch.end - stretch.begin - stretch.first for stretch in cut) // every
    for stretch in cut:
        part = frame.rows(stretch.begin, stretch.end)
        history = history_of(part)
        before: MarketFacts | None = None
        for one in every_bar(part, stretch.first, every):
            check(found, history, one, part)
            _count(found, history, one, before)
            if planted_every and done % planted_every == 0:
                _plant(found, history, one)
            before = one.facts
            done += 1
            now = time.process_time()
            if now - said > _SHOWN_EVERY_S:
                said = now
                left = (now - began) / done * (total - done)
                print(f"{name}, {record}: {done} of {total} bars, {left:.0f} CPU-s left", file=sys.stderr, flush=True)
    found.seconds = time.process_time() - began
    return found


def history_of(frame: BarFrame) -> History:
    """Return the raw prices of some bars."""
    values = (frame.fields[name] for name in ("close", "high", "low"))
    return History(frame.assets, *values, t_ms=frame.t, bar_ms=frame.interval_ms)


def texts_of(facts: MarketFacts, bar: int) -> Iterator[tuple[str, str]]:
    """Yield every text on now with its kind: of the coins Bitcoin, and another at each bar in turn."""
    yield "headline", headline(facts)
    yield "first screen", first_screen(facts)
    yield "regime", regime_summary(facts)
    known = list(facts.coins)
    others = [asset for asset in known if asset != DEFAULT_ASSET]
    turn = others[bar % len(others)] if others else None
    for asset in [asset for asset in known if asset in {DEFAULT_ASSET, turn}]:
        yield "asset line", asset_line(facts, asset)
        if call := call_sentence(facts, asset):
            yield "call", call


def untrue(kind: str, text: str, ground: Ground) -> list[Complaint]:
    """Return what is untrue in a text of a kind."""
    if kind == "headline":
        return complaints(text, ground.raw, ground.published)
    of_kind = {
        "first screen": short.first_screen,
        "regime": short.regime,
        "asset line": short.asset,
        "call": short.call,
    }
    return of_kind[kind](text, ground)


def check(found: Found, history: History, one: Said, frame: BarFrame) -> None:
    """Hold every text of a bar against its raw closes."""
    found.bars += 1
    ground = Ground(Raw(history, one.row), one.published)
    for kind, text in texts_of(one.facts, one.row):
        found.texts += 1
        if kind == "headline":
            found.longest = max(found.longest, len(text))
        for complaint in untrue(kind, text, ground):
            at = str(np.datetime64(int(frame.t[one.row]) + frame.interval_ms, "ms"))[:16]
            found.add(kind, complaint, f"{at}: {text}")


def _count(found: Found, history: History, one: Said, before: MarketFacts | None) -> None:
    """Count what is shown, how often it changes, and whether great days are named and ranges hold."""
    facts = one.facts
    words = {
        "situation": facts.situation.name,
        "side": facts.side.name,
        "volatility": facts.volatility.name,
    }
    for of, word in words.items():
        found.shown[f"{of}/{word}"] += 1
    if before is not None:
        found.changes["situation"] += facts.situation is not before.situation
        found.changes["side"] += facts.side is not before.side
        found.changes["volatility"] += facts.volatility is not before.volatility

    raw = Raw(history, one.row)
    day, usual = raw.market(raw.day), raw.usual(raw.day)
    days = raw.moves(raw.day)
    one_way = ((days > 0.1) if day > 0 else (days < -0.1)).sum() >= 0.8 * np.isfinite(days).sum()
    if facts.situation is not Situation.UNKNOWN and one_way and abs(day) >= 3 * usual:
        found.great_days += 1
        other = MarketSide.FALLING if day > 0 else MarketSide.RISING
        found.great_days_flat += facts.side in {MarketSide.FLAT, other}

    reach = one.published.ranges.get("BTC")
    later = raw.now + raw.hour
    if reach and later < len(history.seen) and np.isfinite(history.seen[later, 0]):
        found.ranges += 1
        found.held += bool(reach[0] <= history.seen[later, 0] <= reach[1])


def _plant(found: Found, history: History, one: Said) -> None:
    """Plant false texts of each row that this bar has a case of, and count those that are found."""
    ground = Ground(Raw(history, one.row), one.published)
    texts = list(texts_of(one.facts, one.row))
    for case in plant(texts, ground):
        found.planted[case.row.name] += 1
        if untrue(case.kind, case.text, ground):
            found.caught[case.row.name] += 1
        else:
            kept = found.missed.setdefault(case.row.name, [])
            if len(kept) < _EXAMPLES:
                kept.append(case.text)
