"""The record of hourly forecasts in which a side led, counted a second time."""

import random
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from generator.arena.earned import KIND, LeadDay
from generator.catalog.assets import ASSETS
from generator.catalog.words import Call, Prediction
from generator.record.memory import hours as stored
from generator.record.memory.store import Memory
from generator.values.hours import Move, PredictionMade, RangeDay
from generator.values.ranges import RangesOfWeek
from tests.support import filled_memory
from tests.support.arena_inputs import HOUR, NOON
from tests.support.databases import url_in

DAY = 24 * HOUR
SIGN = {Prediction.BULLISH: 1, Prediction.NEUTRAL: 0, Prediction.BEARISH: -1}


def forecasts(hours: int) -> list[PredictionMade]:
    """Return forecasts whose leads lie close to 0.05, some of a backtest, not resolved, or of an earlier kind."""
    draw = random.Random(4)
    made = []
    for number in range(hours):
        for asset in ASSETS:
            neutral = draw.randint(2000, 3800)
            lead = draw.choice([0, 499, 500, 501, -499, -500, -501, 700])
            lead += (10_000 - neutral - lead) % 2
            up = (10_000 - neutral + lead) // 2
            triple = ((10_000 - neutral - up) / 10_000, neutral / 10_000, up / 10_000)
            ended = draw.random() < 0.9
            made.append(
                replace(
                    filled_memory.prediction(asset, NOON + number * HOUR, ended=False),
                    probabilities=triple,
                    outcome=draw.choice(list(Prediction)) if ended else None,
                    warm_up=draw.random() < 0.1,
                    call=draw.choice([None, Call.NONE, Call.UP]),
                    chances_kind=draw.choice([KIND, KIND, KIND, None, "another"]),
                )
            )
    return made


def counted(made: list[PredictionMade]) -> list[LeadDay]:
    days: dict[int, list[int]] = defaultdict(list)
    for one in made:
        down, neutral, up = (round(10_000 * chance) for chance in one.probabilities)
        side = 1 if up > down else -1
        led = abs(up - down) >= 500 and max(up, down) > neutral
        if one.outcome is not None and not one.warm_up and led and one.chances_kind == KIND:
            days[one.start_ms // DAY].append(side * SIGN[one.outcome])
    return [LeadDay(len(days[day]), sum(days[day])) for day in sorted(days)]


def test_the_days_of_leads_are_those_of_the_stored_forecasts(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    made = forecasts(60)
    filled_memory.fill(memory, made, [])

    with memory.reading() as connection:
        found = stored.lead_days(connection)
    memory.close()

    assert list(found) == counted(made)
    assert len(found) == 3
    assert sum(day.cases for day in found) > 100


def test_leads_of_another_kind_of_chances_earn_nothing(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    earlier = [made for made in forecasts(60) if made.chances_kind != KIND]
    filled_memory.fill(memory, earlier, [])

    with memory.reading() as connection:
        found = stored.lead_days(connection)
    memory.close()

    assert {made.chances_kind for made in earlier} == {None, "another"}
    assert found == ()


def test_the_record_is_looked_at_once_a_day(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    before = memory.earned(NOON)
    filled_memory.fill(memory, forecasts(60), [])

    same_day = memory.earned(NOON + HOUR)
    next_day = memory.earned(NOON + DAY)
    clock_set_back = memory.earned(NOON)
    memory.close()

    assert before == same_day
    assert (before.cases, before.day) == (0, NOON // DAY)
    assert next_day.cases > 100
    assert clock_set_back == next_day


def test_the_ranges_of_the_week_are_those_of_each_stored_forecast(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    made = [
        replace(filled_memory.prediction(asset, NOON + number * HOUR, ended=number % 3 > 0), warm_up=number % 2 == 0)
        for number in range(0, 240, 7)
        for asset in ASSETS
    ]
    filled_memory.fill(memory, made, [])
    now_ms = NOON + 200 * HOUR

    with memory.reading() as connection:
        found = stored.week_of_ranges(connection, now_ms)
    memory.close()

    week = [one for one in made if one.asset == "ETH" and now_ms - 7 * DAY < one.start_ms <= now_ms]
    ended = [one for one in week if "4h" in one.moves and one.ranges]
    cases = [(one, (one.ranges or {})["4h"], move) for one in ended if (move := one.moves["4h"].move) is not None]
    assert len(cases) > 10
    assert found["ETH", "4h"] == RangesOfWeek(
        moves=len(cases),
        held_50=sum(said.low_50 <= move <= said.high_50 for _, said, move in cases),
        held_90=sum(said.low_90 <= move <= said.high_90 for _, said, move in cases),
        mean_width_90_percent=round(sum(said.high_90 - said.low_90 for _, said, _ in cases) / len(cases), 3),
        largest_move_percent=round(max(abs(move) for *_, move in cases), 3),
        of_backtest=sum(one.warm_up for one, *_ in cases),
    )


def test_the_day_of_ranges_is_of_bitcoins_last_24_hours_and_the_last_one_due(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    near, far = Move(65_592.1, -0.028), Move(66_000.0, 3.21)
    hours = [(asset, number) for asset in ("BTC", "ETH") for number in range(60)]
    made = [
        replace(
            filled_memory.prediction(asset, NOON + number * HOUR, warm_up=number < 30),
            moves={"1h": far if asset == "BTC" and number in {3, 40, 50} else near}
            | ({"24h": far} if number < 36 else {}),
        )
        for asset, number in hours
    ]
    filled_memory.fill(memory, made, [])
    last = next(one for one in made if one.start_ms == NOON + 35 * HOUR)
    said = (last.ranges or {})["24h"]
    assert last.start_price is not None

    with memory.reading() as connection:
        now = stored.day_of_ranges(connection, NOON + 60 * HOUR)
        before = stored.day_of_ranges(connection, NOON + 40 * HOUR)
        later = stored.day_of_ranges(connection, NOON + 130 * HOUR)
    memory.close()

    low, high = (last.start_price * (1 + end / 100) for end in (said.low_90, said.high_90))
    assert now == RangeDay(NOON + 59 * HOUR, low, high, 66_000.0, hours=24, held=22, warm_up=False)
    assert before is not None
    assert (before.hours, before.warm_up) == (25, True)
    assert later is None
