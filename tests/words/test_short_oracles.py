"""What the oracles of short texts refute, and what they must leave: a word of volatility over a young record."""

import numpy as np
import pytest

from tests.words.claims import Complaint, Ground, Row
from tests.words.published import Published
from tests.words.raw import DAY, HOUR, History, Raw
from tests.words.short_oracles import regime

QUIET = 0.0002  # a bar's usual move
ROUGH = 0.004


def state(last_hour: float) -> list[Complaint]:
    """Return what is untrue in "Normal" after a day rougher than all on record, whose last hour moves so much a bar."""
    sizes = np.full(4 * DAY, QUIET)
    sizes[-4 * HOUR :] = ROUGH
    sizes[-HOUR:] = last_hour
    # Earlier hours differ, so that each has its own rank.
    sizes[: -4 * HOUR] *= np.repeat(np.linspace(0.5, 6.0, 4 * 24 - 4), HOUR)
    signs = np.resize((1.0, -1.0), len(sizes))
    closes = np.tile(100.0 * np.exp(np.cumsum(sizes * signs))[:, None], 3)
    raw = Raw(History(("BTC", "ETH", "XRP"), closes, 1.0001 * closes, 0.9999 * closes), len(closes) - 1)

    said = "Normal: the next four hours look rougher than 50 in 100 hours of the last four days did."
    text = f"What the market did over the last day is not known. {said}"
    complaints = regime(text, Ground(raw, Published(outlook_rank=0.5)))
    return [complaint for complaint in complaints if complaint.row is Row.ROUGH]


def test_normal_is_refuted_while_the_roughest_day_of_a_young_record_lasts() -> None:
    (complaint,) = state(ROUGH)

    assert complaint.text.startswith("normal: of days 1.00, of four hours 1.00, of hours 0.97 ")


@pytest.mark.parametrize("last_hour", [QUIET, 3 * QUIET])
def test_normal_holds_once_the_roughest_day_of_a_young_record_has_calmed_down(
    last_hour: float,
) -> None:
    assert state(last_hour) == []


def test_a_move_is_held_against_what_was_usual_before_it() -> None:
    fortnight = 14 * DAY  # after which a record has usual days of its own
    swaying = np.exp(0.012 * np.sin(np.arange(fortnight + 1) * np.pi / DAY))
    closes = np.tile(100.0 * swaying[:, None], 3)

    usual = History(("BTC", "ETH", "XRP"), closes, closes, closes).usual(DAY)

    assert usual[fortnight - 1] == 1.5
    assert usual[fortnight] > 1.6
