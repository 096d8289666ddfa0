"""The ranges of a day on which the exchange halted: hours without a price are judged by neither side."""

from datetime import UTC, datetime

import numpy as np
import pytest

from generator.market.bars import BAR_MS, BarFrame
from tests.contradictions.reports import arena_of
from tests.support.builders import empty_arena
from tests.words.raw import DAY, HOUR, History, Raw
from tests.words.report_oracles import Case, HourSaid, report_complaints

TOO_FEW = "Too few: a range knows how wild the market has been, not what is about to happen."
MISSED = 5  # ranges of the last day that did not hold


def halted_day(halted: tuple[int, ...]) -> tuple[BarFrame, Case]:
    """Return two days of one price, unknown at the ends of some hours of the last, and the ranges for an hour."""
    bars = 2 * DAY + 1
    closes = np.full((bars, 1), 100.0)
    for hour in halted:
        closes[DAY + hour * HOUR - 4 : DAY + hour * HOUR + 1] = np.nan
    frame = BarFrame(("BTC",), np.arange(bars, dtype=np.int64) * BAR_MS, {"close": closes})
    raw = Raw(History(("BTC",), closes, closes + 1.0, closes - 1.0), bars - 1)

    ranges = [(99.0, 101.0)] * (48 - MISSED) + [(101.0, 102.0)] * MISSED
    said = tuple(HourSaid(hour * HOUR, "normal", 0.01, ends, None) for hour, ends in enumerate(ranges))
    now = datetime.fromtimestamp(bars * BAR_MS / 1000, UTC)
    return frame, Case(raw, now, said, {}, {}, None)


def test_an_hour_that_ended_in_a_halt_is_neither_held_nor_missed() -> None:
    frame, case = halted_day((7, 8))

    day = arena_of(empty_arena(), frame, list(case.said), case.raw).day_of_ranges

    assert day is not None
    assert (day.hours, day.held) == (22, 22 - MISSED)


def test_too_few_is_said_of_a_day_whose_every_hour_was_judged() -> None:
    _, whole = halted_day(())
    _, halted = halted_day((7, 8))

    assert report_complaints({"yesterday": TOO_FEW}, whole) == []
    assert report_complaints({"yesterday": TOO_FEW}, halted) == [f"yesterday: {TOO_FEW} [too few: 17 of 22]"]


@pytest.mark.parametrize("said", ["No coins are not no", "One coins are not one", "Seven coins are not seven"])
def test_an_average_of_coins_without_a_day_is_found(said: str) -> None:
    _, case = halted_day((24,))
    rest = "swung 91% as much as one coin alone, so mixing them took away 9% of the roughness."

    text = f"{said} bets: hour by hour the average of all {said.rsplit(maxsplit=1)[-1]} {rest}"

    assert report_complaints({"idea": text}, case)
