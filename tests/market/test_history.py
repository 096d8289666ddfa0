"""The history keeps the newest bars, once each, in order."""

import numpy as np
import pytest

from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.market.history import History

ASSETS = ("BTC", "ETH")


def _frame(*opens: int) -> BarFrame:
    """Bars whose close is their number, 0.5 more for the second asset."""
    t = np.array(opens, dtype=np.int64) * BAR_MS
    values = np.column_stack([np.array(opens, dtype=np.float64), np.array(opens) + 0.5])
    return BarFrame(ASSETS, t, {name: values.copy() for name in BAR_FIELDS})


def test_bars_come_back_in_order_and_only_the_newest_are_kept() -> None:
    history = History(ASSETS, capacity_bars=3)

    for number in range(10):
        history.append(_frame(number))

    assert (history.frame().t // BAR_MS).tolist() == [7, 8, 9]
    assert history.frame().fields["close"][:, 1].tolist() == [7.5, 8.5, 9.5]
    assert len(history) == 3


def test_late_and_repeated_bars_are_ignored() -> None:
    history = History(ASSETS, capacity_bars=8)
    history.append(_frame(1, 2, 3))

    history.append(_frame(2, 3, 4, 6))
    history.append(_frame(1))

    assert (history.frame().t // BAR_MS).tolist() == [1, 2, 3, 4, 6]


def test_one_append_longer_than_the_capacity_keeps_its_end() -> None:
    history = History(ASSETS, capacity_bars=4)

    history.append(_frame(*range(100)))

    assert (history.frame().t // BAR_MS).tolist() == [96, 97, 98, 99]


def test_a_frame_given_out_does_not_change_when_bars_follow() -> None:
    history = History(ASSETS, capacity_bars=3)
    history.append(_frame(1, 2, 3))
    given = history.frame()

    for number in range(4, 30):
        history.append(_frame(number))

    assert given.fields["close"][:, 0].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="read-only"):
        given.fields["close"][0, 0] = 0.0


def test_closes_name_their_bar_and_leave_out_unknown_ones() -> None:
    history = History(ASSETS, capacity_bars=8)
    frame = _frame(1, 2, 3, 4)
    frame.fields["close"][2, 1] = np.nan
    history.append(frame)

    closes = history.closes("ETH", 3)

    assert closes == ((2 * BAR_MS, 2.5), (4 * BAR_MS, 4.5))
    assert history.closes("ETH", 0) == ()


def test_an_empty_history_and_an_empty_frame_are_no_trouble() -> None:
    history = History(ASSETS)

    history.append(BarFrame.empty(ASSETS))

    assert len(history.frame()) == 0
    assert history.last_t_ms is None
    assert history.closes("BTC", 5) == ()
