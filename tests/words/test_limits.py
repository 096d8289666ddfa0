"""Limits of the oracles: a text on either side of each, the false one found and the true one left."""

from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pytest

from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from tests.contradictions.reports import traded_in_a_day
from tests.words.claims import Ground, Row
from tests.words.first_page import Page, untrue_page
from tests.words.oracles import complaints
from tests.words.published import Published
from tests.words.raw import DAY, HOUR, History, Raw
from tests.words.report_oracles import Case, report_complaints
from tests.words.short_oracles import regime

ASSETS = ("BTC", "ETH", "XRP")
USUAL = 1.5  # percent, a day's move on a record of under two weeks


def raw_of(closes: npt.NDArray[np.float64]) -> Raw:
    return Raw(History(ASSETS[: closes.shape[1]], closes, closes, closes), len(closes) - 1)


def days_of(*ends: float) -> Raw:
    """Return five still days, and one in which the coins went straight to so many percent from where they were."""
    last = 100.0 + np.linspace(0.0, 1.0, DAY + 1)[1:, None] * np.array(ends)
    return raw_of(np.concatenate((np.full((5 * DAY, len(ends)), 100.0), last)))


def page(reading: str, *line: float) -> list[str]:
    """Return what is untrue of the state in words over a market's line."""
    drawn = np.interp(np.linspace(0, 1, 97), np.linspace(0, 1, len(line)), line)
    shown = Page("", "", reading, (drawn, drawn, drawn), 0.1, 100.0)
    return [wrong for wrong in untrue_page(shown, days_of(0.0, 0.0, 0.0)) if wrong.startswith("reading:")]


@pytest.mark.parametrize(("said", "is_true"), [("up 2.0%", True), ("down 2.0%", False), ("up 3.0%", False)])
def test_a_move_alone_on_a_page_is_that_of_the_line(said: str, is_true: bool) -> None:
    assert (page(f"Crypto is {said} in 24 hours.", 0.0, 2.0) == []) is is_true


@pytest.mark.parametrize(("half", "is_true"), [(0.72, True), (0.5, False)])
def test_a_day_of_ups_and_downs_on_a_page_swings_nine_tenths_of_a_usual_one(half: float, is_true: bool) -> None:
    said = f"A day of ups and downs: crypto swung {2 * half:.1f}% and is unchanged in 24 hours."

    assert (page(said, 0.0, half, -half, 0.0) == []) is is_true


@pytest.mark.parametrize(("said", "is_true"), [("up 2.0%", True), ("down 2.0%", False), ("up 3.0%", False)])
def test_a_move_alone_in_the_state_is_that_of_the_closes(said: str, is_true: bool) -> None:
    ground = Ground(days_of(2.0, 2.0, 2.0), Published())

    assert (regime(f"Crypto is {said} in 24 hours.", ground) == []) is is_true


@pytest.mark.parametrize(
    ("bitcoin", "others", "is_true"),
    [(-1.0, 2.5, True), (1.0, 2.5, False), (1.0, -0.47, True)],
)
def test_but_bitcoin_is_said_of_one_that_went_the_other_way(bitcoin: float, others: float, is_true: bool) -> None:
    raw = days_of(bitcoin, others, others)
    day = raw.market(DAY)
    moved = "unchanged" if abs(day) < 0.05 else f"up {day:.1f}%"
    way = "up" if bitcoin > 0 else "down"

    found = complaints(f"Crypto is {moved} in a day, but Bitcoin is {way} {abs(bitcoin):.1f}%", raw)

    assert ([wrong.row for wrong in found if wrong.row is Row.REASON] == []) is is_true


@pytest.mark.parametrize(("times", "is_true"), [(1.55, True), (1.5, False), (2.65, True), (2.7, False)])
def test_about_twice_is_half_a_usual_day_off_at_most(times: float, is_true: bool) -> None:
    size = USUAL * times
    raw = days_of(size, size, size)

    found = complaints(f"Crypto is up {size:.1f}% in a day, about twice as much as usual", raw)

    assert ([wrong for wrong in found if wrong.row is Row.ROUGH] == []) is is_true


@pytest.mark.parametrize("word", ["Rough", "Wild"])
@pytest.mark.parametrize(("last_hour", "is_true"), [(0.01, True), (0.00001, False)])
def test_the_last_hour_alone_may_bear_out_a_rough_word(word: str, last_hour: float, is_true: bool) -> None:
    sizes = np.repeat(np.linspace(0.003, 0.0001, 20 * 24), HOUR)  # quieter and quieter
    sizes[-HOUR:] = last_hour
    closes = 100.0 * np.exp(np.cumsum(sizes * np.resize((1.0, -1.0), len(sizes))))
    said = f"{word}: the next four hours look rougher than 90 in 100 hours of the last two weeks did."

    ground = Ground(raw_of(np.tile(closes[:, None], 3)), Published(outlook_rank=0.9))
    found = regime(f"What the market did over the last day is not known. {said}", ground)

    assert ([wrong for wrong in found if wrong.row is Row.ROUGH] == []) is is_true


@pytest.mark.parametrize(
    ("busiest_days_ago", "said", "is_true"),
    [
        (29.5, "at any time", True),
        (28.5, "at any time", False),
        (28.5, "at almost any time", True),
        (29.5, "50 in 100 times", False),
    ],
)
def test_trading_is_ranked_among_the_days_within_the_last_thirty(
    busiest_days_ago: float, said: str, is_true: bool
) -> None:
    closes = np.full((32 * DAY, 1), 100.0)
    traded = np.linspace(1e9, 2e9, len(closes))
    traded[-1 - round(busiest_days_ago * DAY)] = 9e9
    now = datetime.fromtimestamp(len(closes) * BAR_MS / 1000, UTC)
    case = Case(raw_of(closes), now, (), {}, {}, None, traded)
    rest = "in the last 30 days: $2.0 billion of these coins changed hands in a day."

    assert (report_complaints({"happened": f"Trading was busier than {said} {rest}"}, case) == []) is is_true


def test_what_was_traded_is_known_as_soon_as_the_first_day_is_over() -> None:
    fields = {name: np.ones((DAY + 1, 1)) for name in BAR_FIELDS}
    frame = BarFrame(("BTC",), np.arange(DAY + 1, dtype=np.int64) * BAR_MS, fields)

    traded = traded_in_a_day(frame)

    assert np.isnan(traded[: DAY - 1]).all()
    assert traded[DAY - 1 :].tolist() == [DAY, DAY]
