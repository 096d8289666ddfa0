"""The first page of a market with events, held against the lines that are plotted on it."""

import re

import numpy as np
import pytest

from generator.catalog.assets import ASSETS
from generator.market.bars import BAR_FIELDS, BarFrame
from tests.words.first_page import page_of, pages, untrue_page
from tests.words.markets import DAY, Market, eventful
from tests.words.oracles import History, Raw

EVERY = 173
WARM_UP = 3 * DAY + 12
LAST = 25 * DAY  # past the crash, the rally and the coin alone


def frame_of(market: Market) -> BarFrame:
    """Return the bars of a market without futures and books."""
    shape = market.closes.shape
    fields = {name: np.full(shape, np.nan) for name in BAR_FIELDS}
    fields |= {"close": market.closes, "open": market.closes, "high": market.high, "low": market.low}
    fields["volume"] = np.ones(shape)
    return BarFrame(tuple(ASSETS), market.t_ms, fields)


@pytest.fixture(scope="module")
def market() -> Market:
    return eventful(11, 26)


@pytest.fixture(scope="module")
def made(market: Market) -> list[tuple[int, str]]:
    return list(pages(frame_of(market).rows(0, LAST), EVERY, WARM_UP))


@pytest.fixture(scope="module")
def history(market: Market) -> History:
    return History(tuple(ASSETS), market.closes, market.high, market.low)


def found(html: str, history: History, row: int) -> list[str]:
    return untrue_page(page_of(html), Raw(history, row))


def test_every_first_page_holds_against_its_own_lines(made: list[tuple[int, str]], history: History) -> None:
    assert len(made) > 30
    assert all(len(page_of(html).lines) == len(ASSETS) for row, html in made if row % DAY > DAY // 2)
    assert [(row, wrong) for row, html in made if (wrong := found(html, history, row))] == []


@pytest.mark.parametrize(
    ("spoil", "by", "missed_at_most"),
    [
        (r"A rising day", "A falling day", 0.45),
        (r"A falling day", "A flat day", 0.45),
        (r"A flat day", "A rising day", 0.45),
        (r"lower than a day ago\. An", "higher than a day ago. An", 0.15),
        (r"(Bitcoin is at \$)(\d)", r"\g<1>1\2", 0.15),
        (r"All seven coins are higher", "All seven coins are lower", 0.15),
        (r"Rough: the next four hours look rougher", "Calm: the next four hours look quieter", 0.45),
        (r"Calm: the next four hours look quieter", "Wild: the next four hours look rougher", 0.15),
    ],
)
def test_a_spoilt_page_is_found(
    made: list[tuple[int, str]], history: History, spoil: str, by: str, missed_at_most: float
) -> None:
    changed = [(row, re.sub(spoil, by, html)) for row, html in made if re.search(spoil, html)]

    missed = [row for row, html in changed if not found(html, history, row)]

    assert changed
    assert len(missed) <= missed_at_most * len(changed), missed
