"""What the memory holds for the series: the first tick of each span, live forecasts alone, and no other market."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from generator.arena.state import RegimeRow
from generator.brain.facts import BASELINES
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.words import MarketSide, RegimeLabel, VolatilityWord
from generator.record.memory import history, tables
from generator.record.memory.store import Memory
from generator.record.memory.venues import VenueFacts
from generator.runtime.market import to_ms
from generator.values.series import KeptRange, KeptSeries, KeptWords
from tests.support.clock import NOON
from tests.support.databases import url_in

RANGE = {"low_90": -1.0, "low_50": -0.3, "high_50": 0.3, "high_90": 1.0, "sigma": 0.6} | dict.fromkeys(BASELINES, 0.6)
NOON_MS = to_ms(NOON)
SEEN = {"BTC": {"depth_usd": 5.0}}
REGIME = RegimeRow(RegimeLabel.RISK_ON, "risk_on", 50.0, 40.0, VolatilityWord.CALM, MarketSide.RISING)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = Memory.open(url_in(tmp_path))
    yield opened
    opened.close()


def keep(memory: Memory, at_ms: int, *, with_words: bool = True) -> None:
    with memory.tick() as transaction:
        transaction.keep_venues(VenueFacts(at_ms, at_ms, SEEN))
    with memory.writing() as connection:
        if with_words:
            history.store_regime(connection, at_ms, REGIME, warm_up=False)


def predict(memory: Memory, start_ms: int, move: float | None, *, warm_up: bool = False) -> None:
    row: dict[str, Any] = dict.fromkeys(tables.CHANCES, 0.3) | {
        "asset": "BTC", "start_ms": start_ms, "end_ms": start_ms + HOUR_MS, "band_bps": 20.0, "prediction": "NEUTRAL",
        "warm_up": warm_up, "settled": move is not None, "ranges": json.dumps({"1h": RANGE}),
        "moves": None if move is None else f'{{"1h": {{"end_price": 1.0, "move": {move}, "void_reason": null}}}}',
    }  # fmt: skip
    with memory.writing() as connection:
        connection.execute(insert(tables.predictions), [row])


def test_a_span_has_what_its_first_tick_saw_and_said(memory: Memory) -> None:
    keep(memory, NOON_MS + 2_000)
    keep(memory, NOON_MS + 62_000)

    kept = memory.series(NOON_MS + HOUR_MS, 0)

    assert kept.hours.venues == {NOON_MS: SEEN}
    assert kept.bars.venues == {NOON_MS: SEEN}
    assert kept.hours.words == {NOON_MS: KeptWords(MarketSide.RISING, VolatilityWord.CALM)}


def test_a_tick_without_a_reading_has_no_words(memory: Memory) -> None:
    keep(memory, NOON_MS - 60_000)
    keep(memory, NOON_MS, with_words=False)

    assert memory.series(NOON_MS + 60_000, 0).hours.words[NOON_MS] == KeptWords(None, None)


def test_nothing_is_older_than_it_is_shown_or_of_another_market(memory: Memory) -> None:
    keep(memory, NOON_MS - 31 * DAY_MS)
    keep(memory, NOON_MS - 2 * DAY_MS)
    keep(memory, NOON_MS)

    assert [*memory.series(NOON_MS + 1, 0).hours.venues] == [NOON_MS - 2 * DAY_MS, NOON_MS]
    assert [*memory.series(NOON_MS + 1, 0).bars.venues] == [NOON_MS]
    assert [*memory.series(NOON_MS + 1, NOON_MS).hours.venues] == [NOON_MS]


def test_live_ranges_say_whether_they_held_and_those_of_the_backtest_are_left_out(memory: Memory) -> None:
    predict(memory, NOON_MS - 3 * HOUR_MS, 0.0, warm_up=True)
    predict(memory, NOON_MS - 2 * HOUR_MS, 1.0)
    predict(memory, NOON_MS - HOUR_MS, -1.5)
    predict(memory, NOON_MS, None)
    predict(memory, NOON_MS + HOUR_MS, None)

    assert memory.series(NOON_MS, 0).ranges["BTC"] == {
        NOON_MS - 2 * HOUR_MS: KeptRange(-1.0, 1.0, held=True),
        NOON_MS - HOUR_MS: KeptRange(-1.0, 1.0, held=False),
        NOON_MS: KeptRange(-1.0, 1.0, None),
    }


def test_an_empty_memory_has_nothing(memory: Memory) -> None:
    kept = memory.series(NOON_MS, 0)
    nothing = KeptSeries()
    assert (kept.hours, kept.bars, kept.ranges) == (nothing.hours, nothing.bars, nothing.ranges)
