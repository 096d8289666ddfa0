"""What is usual has one meaning on a page: the range's width and the chance of a move may not say two things of it."""

import re
from datetime import UTC, datetime

import numpy as np
import pytest

from generator.catalog.text.happened import Chance, Coin, MarketFacts
from generator.catalog.text.now import call_sentence
from generator.catalog.words import Call
from tests.words.claims import Ground
from tests.words.published import Chances, Published
from tests.words.raw import DAY, History, Raw
from tests.words.report_oracles import Case, report_complaints
from tests.words.short_oracles import call

PRICE, BAND = 50_000.0, 0.32
USUAL = 32.0  # the chance of a small move, percent
WIDE, NARROW, LIKE = 1.5, 0.65, 1.0


def said(width: float | None, small: float, record_days: float = 30.0) -> str:
    """Return the next hour in words, with a range so wide against the usual one."""
    side = (100 - small) / 2
    chance = Chance(Call.SMALL_MOVE if small >= 50 else Call.NONE, small, USUAL, side, side, BAND)
    coin = Coin(PRICE, 0.0, chance=chance)
    return call_sentence(
        MarketFacts(0, coins={"BTC": coin}, names={"BTC": "Bitcoin"}, width=width, record_days=record_days)
    )


def refuted(text: str, width: float | None, small: float) -> bool:
    """Return whether the oracle of short texts and that of the report refute a text; they agree."""
    closes = np.tile(PRICE * np.exp(0.001 * np.sin(np.arange(4 * DAY)))[:, None], 3)
    raw = Raw(History(("BTC", "ETH", "XRP"), closes, closes, closes), len(closes) - 1)
    side = (100 - small) / 2
    chances = {"BTC": Chances("none", side, small, side, USUAL, BAND)}
    published = Published(prices={"BTC": PRICE}, chances=chances, width_ratio=width)
    short = bool(call(text, Ground(raw, published)))

    case = Case(raw, datetime(2026, 11, 29, tzinfo=UTC), (), {}, {}, (small, USUAL, PRICE * BAND / 100), width=width)
    report = bool(report_complaints({"call": text}, case))
    assert short == report, text
    return short


@pytest.mark.parametrize(
    ("width", "small"),
    [(WIDE, 45.0), (WIDE, 55.0), (WIDE, 33.0), (NARROW, 20.0), (NARROW, 33.0)],
)
def test_usual_is_not_said_of_a_chance_that_the_width_denies(width: float, small: float) -> None:
    text = said(width, small)

    assert "usual" not in text
    assert f"{small if small >= 50 else 100 - small:.0f}%" in text
    assert not refuted(text, width, small)


@pytest.mark.parametrize(
    ("width", "small", "words"),
    [
        (WIDE, 20.0, "will probably end the next hour more than"),
        (NARROW, 45.0, "is less likely than usual to end"),
        (NARROW, 55.0, "will probably be about here"),
        (LIKE, 45.0, "is less likely than usual to end"),
        (LIKE, 33.0, "An hour like most"),
        (None, 20.0, "will probably end the next hour more than"),
    ],
)
def test_usual_is_said_where_both_agree(width: float | None, small: float, words: str) -> None:
    text = said(width, small)

    assert words in text
    assert re.search(r"usually \d+%", text)
    assert not refuted(text, width, small)


@pytest.mark.parametrize(
    ("width", "small"),
    [(WIDE, 45.0), (WIDE, 55.0), (WIDE, 33.0), (NARROW, 20.0), (NARROW, 33.0)],
)
def test_a_planted_second_meaning_of_usual_is_found(width: float, small: float) -> None:
    planted = said(None, small)  # as it was written before the width was looked at

    assert "usual" in planted
    assert refuted(planted, width, small)


def test_a_width_that_is_not_said_denies_nothing() -> None:
    assert "usually" in said(WIDE, 45.0, record_days=2.0)
