"""What is counted of a record as it changes: each outcome once, live play and the backtest apart."""

from dataclasses import replace

import pytest

from generator.arena.teacher import RunningTotals
from generator.catalog.words import Prediction, RoundPhase
from generator.values.hours import PredictionMade
from generator.values.rounds import Round
from tests.arena.test_sealing import an_open_round
from tests.arena.test_values import CASES

OPEN = an_open_round()
CAME = replace(OPEN, phase=RoundPhase.RESOLVED, outcome=Prediction.BULLISH)
VOID = replace(OPEN, phase=RoundPhase.VOID, void_reason="no end price")
MADE = CASES[0]
DUE = replace(MADE, outcome=None)


def of_rounds(*changes: tuple[Round | None, Round]) -> RunningTotals:
    totals = RunningTotals()
    for change in changes:
        totals = totals.after(rounds=[change])
    return totals


@pytest.mark.parametrize(
    ("changes", "resolved"),
    [
        ([(None, OPEN)], 0),
        ([(None, OPEN), (OPEN, CAME)], 1),
        ([(None, OPEN), (OPEN, CAME), (CAME, CAME)], 1),
        ([(None, CAME)], 1),
        ([(None, OPEN), (OPEN, VOID)], 0),
    ],
)
def test_a_round_is_scored_once_when_its_outcome_came(changes: list[tuple[Round | None, Round]], resolved: int) -> None:
    record = of_rounds(*changes).arena_record()

    assert (record.predictions, record.resolved) == (1, resolved)
    assert record.void == int(changes[-1][1] is VOID)


@pytest.mark.parametrize(("before", "resolved"), [(None, 1), (DUE, 1), (MADE, 0)])
def test_an_hourly_forecast_is_scored_once_when_its_outcome_came(before: PredictionMade | None, resolved: int) -> None:
    totals = RunningTotals().after(predictions=[(before, MADE)])

    assert totals.hourly_record().resolved == resolved


def test_live_play_and_the_backtest_are_counted_apart() -> None:
    of_backtest = replace(CAME, warm_up=True)

    totals = RunningTotals().after(rounds=[(None, CAME), (None, VOID), (None, of_backtest)])

    live, backtest = totals.arena_record(), totals.backtest_scores()
    assert (live.predictions, live.resolved, live.void, live.warm_up) == (2, 1, 1, 1)
    assert backtest is not None
    assert (backtest.arena.resolved, backtest.hourly.resolved) == (1, 0)
    assert totals.phases == {RoundPhase.RESOLVED: 2, RoundPhase.VOID: 1}
    assert (totals.void().hits, totals.void().n) == (1, 2)
    assert of_rounds((None, CAME)).backtest_scores() is None


def test_a_round_of_the_backtest_that_is_played_live_changes_sides() -> None:
    opened = replace(OPEN, warm_up=True)

    totals = of_rounds((None, opened), (opened, OPEN), (OPEN, CAME))

    assert (totals.arena_record().predictions, totals.arena_record().warm_up) == (1, 0)
    assert totals.phases == {RoundPhase.RESOLVED: 1}
