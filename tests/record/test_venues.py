"""What the memory keeps of venues: the first of each 5 minutes and of each hour, bounded, in the tick's transaction."""

from pathlib import Path
from typing import Any

import pytest

from generator.market.live.assets import LiveSnapshot, observe_asset
from generator.market.live.readings import FundingReading, PriceReading
from generator.record.memory import tables as t
from generator.record.memory import venues
from generator.record.memory.store import Memory
from generator.record.memory.venues import KEPT, VenueFacts, kept
from generator.runtime.market import to_ms
from generator.runtime.tick import tick
from tests.support.clock import NOON, ManualClock
from tests.support.databases import url_in
from tests.support.services import opened, run

MINUTE = 60_000
START = to_ms(NOON)


def facts(at_ms: int, depth: float | None = 1e6) -> VenueFacts:
    return VenueFacts(at_ms, at_ms - 5, {"BTC": {"depth_usd": depth, "funding": {"okx": 0.0001, "gate": 0.0003}}})


def keep(memory: Memory, *each: VenueFacts) -> None:
    for one in each:
        with memory.tick() as transaction:
            transaction.keep_venues(one)


def kept_of(memory: Memory, minutes: int) -> tuple[VenueFacts, ...]:
    with memory.reading() as connection:
        return kept(connection, minutes)


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    opened_memory = Memory.open(url_in(tmp_path))
    yield opened_memory
    opened_memory.close()


def test_the_first_tick_of_each_five_minutes_and_of_each_hour_is_kept(memory: Memory) -> None:
    keep(memory, *(facts(START + minute * MINUTE, 1e6 + minute) for minute in range(121)))

    assert [row.at_ms for row in kept_of(memory, 60)] == [START, START + 60 * MINUTE, START + 120 * MINUTE]
    bars = kept_of(memory, 5)
    assert [row.at_ms for row in bars] == [START + 5 * MINUTE * bar for bar in range(25)]
    assert [row.assets["BTC"]["depth_usd"] for row in bars[:2]] == [1_000_000.0, 1_000_000.0]  # six digits
    assert bars[0] == VenueFacts(START, START - 5, facts(START).assets)


def test_the_same_tick_again_and_a_clock_that_goes_back_change_nothing(memory: Memory) -> None:
    keep(memory, facts(START), facts(START, 7.0), facts(START - 60 * MINUTE), facts(START + MINUTE))

    assert [row.assets["BTC"]["depth_usd"] for row in kept_of(memory, 5)] == [1e6]
    assert len(kept_of(memory, 60)) == 1


def test_what_is_unknown_is_null_and_no_number_that_json_lacks_is_written(memory: Memory) -> None:
    keep(memory, facts(START, None), facts(START + 5 * MINUTE, float("inf")))

    assert [row.assets["BTC"]["depth_usd"] for row in kept_of(memory, 5)] == [None, None]


def test_a_day_of_five_minutes_and_a_year_of_hours_are_kept(memory: Memory) -> None:
    begin, bars = 312, 24 * 12
    with memory.writing() as connection:
        for bar in range(bars + begin):
            venues.store(connection, facts(START + bar * 5 * MINUTE))
        first = connection.execute(t.venues.select().where(t.venues.c.minutes == 60)).first()

    held = kept_of(memory, 5)
    assert len(held) == bars
    assert held[-1].at_ms == START + (bars + begin - 1) * 5 * MINUTE
    assert first is not None
    assert first.at_ms == START
    assert KEPT[60] == 366 * KEPT[5] == 366 * 312


def test_nothing_is_kept_of_a_tick_whose_transaction_fails(memory: Memory) -> None:
    def failing() -> None:
        with memory.tick() as transaction:
            transaction.keep_venues(facts(START))
            raise RuntimeError("the power goes")

    with pytest.raises(RuntimeError):
        failing()

    assert kept_of(memory, 5) == ()


def test_a_tick_keeps_what_it_saw_of_every_asset(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            await tick(app, NOON)
            [row] = kept_of(app.record.memory, 5)
            assert kept_of(app.record.memory, 60) == (row,)
            bitcoin = row.assets["BTC"]
            assert set(bitcoin) == {
                *("funding", "contracts", "interest_usd", "depth_usd", "spread_bps", "disagreement_bps")
            }
            assert len(bitcoin["funding"]) == 3
            assert all(bitcoin[name] > 0.0 for name in set(bitcoin) - {"funding"})
            assert len(row.assets) == 7

    run(work)


def test_each_venues_funding_and_how_far_their_prices_lie_apart_are_observed() -> None:
    readings = (
        PriceReading("okx", "BTC", START, 100.0, "USD"),
        PriceReading("gate", "BTC", START, 100.2, "USD"),
        FundingReading("okx", "BTC", START, 0.0001, interval_known=True),
        FundingReading("gate", "BTC", START, 0.0004, interval_known=True),
    )

    seen = observe_asset("BTC", LiveSnapshot(readings, START, 1.0, liquidations_asked=False))

    assert seen.of_venues["funding"] == {"okx": 0.0001, "gate": 0.0004}
    assert seen.of_venues["disagreement_bps"] == pytest.approx(20.0)
    assert seen.of_venues["depth_usd"] is None
