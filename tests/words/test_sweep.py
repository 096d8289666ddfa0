"""The sweep itself: it reads what is published, misses nothing that is planted, and its table has every row."""

from dataclasses import replace

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.text.happened import Coin
from generator.catalog.text.now import asset_line, first_screen, headline
from generator.compose.facts import market_now
from generator.market.bars import BarFrame
from generator.market.simulated.market import SimulatedMarket
from tests.support.builders import full_context
from tests.words.claims import Ground, Row
from tests.words.markets import DAY, eventful
from tests.words.oracles import complaints
from tests.words.planted import plant
from tests.words.published import Published
from tests.words.raw import History, Raw
from tests.words.said import Prices, every_bar, light_reading
from tests.words.sweep import Found, check, history_of, stretches, sweep
from tests.words.table import table

HOUR_MS = 3_600_000
START_MS = 1_795_132_800_000  # 2026-11-20T00:00:00Z


@pytest.fixture(scope="module")
def frame() -> BarFrame:
    """A market with crashes, quiet days and days in a row."""
    market = eventful(11)
    fields = {"open": market.closes, "close": market.closes, "high": market.high, "low": market.low}
    nothing = np.full(market.closes.shape, np.nan)
    others = ("volume", "depth_usd", "spread_bps", "imbalance", "funding", "open_interest")
    rest = dict.fromkeys((*others, "liq_long_usd", "liq_short_usd"), nothing)
    return BarFrame(ASSETS, market.t_ms, fields | rest)


@pytest.mark.parametrize("record", ["fresh", "week", "full"])
def test_every_text_on_now_holds_against_the_closes(frame: BarFrame, record: str) -> None:
    found = sweep("eventful", frame, record, every=23)

    assert found.examples == {}
    assert found.texts > 5 * found.bars


def test_what_is_planted_is_found(frame: BarFrame) -> None:
    found = sweep("eventful", frame, "full", every=17, planted_every=1)

    assert found.missed == {}
    assert {row.name for row in Row} == set(found.planted)


def test_where_as_many_coins_rose_as_fell_neither_way_is_planted() -> None:
    closes = np.full((2 * DAY, len(ASSETS)), 100.0)
    closes[-1, :2] = 100.11, 99.89
    raw = Raw(History(ASSETS, closes, closes, closes), len(closes) - 1)
    text = "Bitcoin is at $100.11, as it was a day ago. One of seven coins is higher than a day ago."

    assert [case for case in plant([("first screen", text)], Ground(raw, Published())) if case.row is Row.WAY] == []


def test_hourly_bars_are_held_against_their_closes(frame: BarFrame) -> None:
    full = frame.rows(11, len(frame))
    rows = np.arange(0, len(full), 12)
    hours = BarFrame(
        frame.assets, full.t[rows] + HOUR_MS // 12 - HOUR_MS, {k: v[rows] for k, v in full.fields.items()}, HOUR_MS
    )

    found = sweep("hourly", hours, "full")

    assert found.examples == {}
    assert found.bars == len(hours)


def test_the_light_reading_gives_the_facts_of_a_whole_one() -> None:
    frame = SimulatedMarket(7).bars(START_MS, START_MS + 4 * 24 * HOUR_MS)
    engine = Engine(Weights.load(), frame.assets)
    prices = Prices(frame)

    for row in engine.replay(frame):
        if row % 97 == 0:
            now_ms, seen = prices.at(row)
            full = full_context()
            observation = replace(full.observation, assets=seen, market_ms=now_ms)
            light, whole = (
                market_now(replace(full, observation=observation, reading=reading, bars=frame.rows(0, row + 1)))
                for reading in (light_reading(engine), engine.reading())
            )
            assert light == whole


def test_each_bar_of_a_market_is_checked_once_on_a_record_of_each_length() -> None:
    fresh = list(stretches(20 * DAY, DAY, "fresh"))
    week = list(stretches(20 * DAY, DAY, "week"))

    assert [stretch.begin for stretch in fresh] == list(range(0, 20 * DAY, 4 * DAY))
    assert sum(stretch.end - stretch.begin - stretch.first for stretch in week) == 13 * DAY
    assert all(7 * DAY <= stretch.end - stretch.begin <= 14 * DAY for stretch in week)


def test_of_an_old_price_nothing_but_its_age_is_said(frame: BarFrame) -> None:
    fields = {name: values.copy() for name, values in frame.fields.items()}
    for values in fields.values():
        values[6 * DAY + 1 : 6 * DAY + 40, 0] = np.nan
    broken = BarFrame(frame.assets, frame.t, fields)

    texts = {}
    found = Found()
    history = history_of(broken)
    for one in every_bar(broken.rows(0, 6 * DAY + 40), 6 * DAY, 1):
        check(found, history, one, broken)
        texts[one.row - 6 * DAY] = (headline(one.facts), first_screen(one.facts), asset_line(one.facts, "BTC"))

    assert found.examples == {}
    assert texts[6][0].startswith("No new prices for 30 minutes; Bitcoin was last at $")
    assert texts[6][1].startswith("Bitcoin was last at $")
    assert "Which way?" not in texts[6][1]
    assert texts[39][2].endswith(", three hours ago.")


def test_bars_that_only_repeat_a_price_are_a_hole_in_the_day(frame: BarFrame) -> None:
    fields = {name: values.copy() for name, values in frame.fields.items()}
    for name in ("close", "high", "low"):
        fields[name][6 * DAY + 1 : 6 * DAY + 20] = fields["close"][6 * DAY]
    halted = BarFrame(frame.assets, frame.t, fields).rows(0, 6 * DAY + 20)

    texts = []
    found = Found()
    history = history_of(halted)
    for one in every_bar(halted, 6 * DAY, 1):
        check(found, history, one, halted)
        texts.append(headline(one.facts))
    of_one_that_went_on = complaints(texts[-1], Raw(history_of(frame), one.row), one.published)

    assert found.examples == {}
    assert not texts[0].startswith("Part of the last day is missing")
    assert texts[-1].startswith("Part of the last day is missing; Bitcoin is at $")
    assert [str(complaint.row) for complaint in of_one_that_went_on] == [Row.FIGURE]


def test_the_table_has_each_row_and_a_column_for_each_sweep() -> None:
    found = Found(bars=288, texts=5)
    found.wrong[f"{Row.WAY.name}/headline"] = 2

    lines = table({("binance-spot-5m-2025-05", "full"): found}).splitlines()

    assert lines[0] == "| row | 2025-05: full |"
    assert f"| {Row.WAY} | 2 |" in lines
    assert all(f"| {row} | 0 | 0 |" in lines for row in Row)
    assert lines[-1] == "2 complaints in 5 texts."


def test_a_price_is_stale_from_ten_minutes_on() -> None:
    assert not Coin(1.0, None, minutes_old=9.9).is_stale
    assert Coin(1.0, None, minutes_old=10.0).is_stale
