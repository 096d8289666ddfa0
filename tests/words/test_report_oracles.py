"""Reports of a market, held against the raw closes by oracles that know nothing of how they are made."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache

import numpy as np
import pytest

from generator.brain.like_days import like_days
from generator.brain.record import in_half
from generator.market.simulated.market import SimulatedMarket
from tests.contradictions.reports import reports
from tests.words.raw import HOUR, History, Raw
from tests.words.report_oracles import Case, HourSaid, report_complaints

START_MS = 1_795_132_800_000
DAY_MS = 86_400_000
DAYS = 40
EVERY_HOURS = 19
Texts = Mapping[str, str]
TURNED = {
    "up": "down",
    "rose": "fell",
    "higher": "lower",
    "more": "less",
    "rougher": "quieter",
    "inside": "above",
    "rise": "fall",
    "busier": "quieter",
    "calm": "wild",
    "normal": "rough",
    "today": "yesterday",
    "all": "no",
}
TURNED.update({new: old for old, new in TURNED.items()} | {"quieter": "rougher", "above": "inside"})
USUAL = 2.0**-6  # a usual day and three quarters of it, either to the digit in half precision
BORDER = 0.75 * USUAL
WORDS = re.compile(rf"\b({'|'.join(TURNED)})\b")
FIGURES = re.compile(r"(?<![:\d])(\d[\d,]*(?:\.\d+)?)(?![\d:])")
# Figures that belong to a wording, not to a moment, and the names of the words of a wording.
FIXED = re.compile(
    r"24 hours|23 hours|24 ranges|promise 90|90% ranges|any hour it is 50|; 1 would|30 days|30 such|on \d+ days"
)


@cache
def read() -> tuple[tuple[Case, Texts, list[str]], ...]:
    """Return reports of a simulated market, fresh at first."""
    frame = SimulatedMarket(2026).bars(START_MS, START_MS + DAYS * DAY_MS)
    return tuple(reports(frame, EVERY_HOURS))


def spoilt(change: Callable[[re.Match[str]], str], places: re.Pattern[str]) -> tuple[int, list[str]]:
    """Change each place of each fifth report alone; return how many were, and those of which nothing was found."""
    count = 0
    missed = []
    for case, texts, _ in read()[::5]:
        for part, text in texts.items():
            fixed = [match.span() for match in FIXED.finditer(text)]
            for match in places.finditer(text):
                if part == "question" or any(begin <= match.start() < end for begin, end in fixed):
                    continue
                count += 1
                altered = text[: match.start()] + change(match) + text[match.end() :]
                if not report_complaints({part: altered}, case):
                    missed.append(altered[max(0, match.start() - 60) : match.end() + 40])
    return count, missed


def test_every_sentence_of_every_report_holds_against_the_closes() -> None:
    assert [complaint for _, _, found in read() for complaint in found] == []


def test_a_report_of_a_fresh_record_has_350_to_650_words() -> None:
    words = [sum(len(text.split()) for text in texts.values()) for _, texts, _ in read()]

    assert min(words) >= 350
    assert max(words) <= 650


def test_another_figure_in_a_report_is_found() -> None:
    def another(match: re.Match[str]) -> str:
        value = float(match.group(1).replace(",", ""))
        decimals = len(match.group(1).partition(".")[2])
        return f"{1.3 * value + 3 * 10.0**-decimals:,.{decimals}f}"

    count, missed = spoilt(another, FIGURES)

    assert count > 300
    assert len(missed) <= 0.02 * count, missed


def test_a_word_of_a_report_that_is_turned_round_is_found() -> None:
    count, missed = spoilt(lambda match: TURNED[match.group(1)], WORDS)

    assert count > 200
    assert len(missed) <= 0.02 * count, missed


@pytest.mark.parametrize("text", ["Bitcoin will rise.", "Prices fell because of news.", "The trend is up."])
def test_a_sentence_of_no_table_is_found(text: str) -> None:
    case, _, _ = read()[0]

    assert report_complaints({"happened": text}, case)


def bordering() -> tuple[Case, int]:
    """Return a quiet moment after 30 days like it, half of which a rise followed, and how many the brain counts.

    On the border of what counts are 14: a ten-thousandth over it, and on it as the record keeps them.
    """
    moves = np.full(40 * 24, USUAL)
    moves[30:930:30] = 0.0
    moves[60:930:60] = BORDER * (1.0 + 1e-4)
    moves[54:950:60] = -USUAL
    moves[-1] = 0.0
    prices = np.full(len(moves), 100.0)
    for hour in range(24, len(prices)):
        prices[hour] = prices[hour - 24] * (1.0 + moves[hour])

    closes = np.repeat(np.repeat(prices, HOUR)[: 1 - HOUR, None], 3, axis=1)
    raw = Raw(History(("BTC", "ETH", "XRP"), closes, closes + 1.0, closes - 1.0), len(closes) - 1)
    said = tuple(HourSaid(hour * HOUR, "normal", 0.01, None, None) for hour in range(len(prices)))
    record = np.concatenate((np.full(24, np.nan), moves[24:]))
    counts = like_days(in_half(record).astype(np.float64), 0.0, USUAL)
    return Case(raw, datetime(2026, 11, 29, tzinfo=UTC), said, {}, {}, None), counts.n


def like_days_said(count: int) -> Texts:
    return {"after": f"Our record holds {count} separate days like this one, with moves of less than 1.2% either way."}


def test_days_on_the_border_count_as_the_record_keeps_them() -> None:
    case, count = bordering()

    assert count == 30
    assert report_complaints(like_days_said(count), case) == []


@pytest.mark.parametrize("off", [-5, -2, 2, 5])
def test_a_count_of_days_like_this_one_that_is_off_is_found(off: int) -> None:
    case, count = bordering()

    assert report_complaints(like_days_said(count + off), case)


@pytest.mark.parametrize(("rose", "percent", "is_true"), [(15, 50, True), (15, 53, False), (17, 57, False)])
def test_a_share_of_days_that_rose_is_of_the_days_on_record(rose: int, percent: int, is_true: bool) -> None:
    case, _ = bordering()
    share = f"{percent} in 100 ({percent - 17} to {percent + 17} allowing for luck)"

    text = f"A day later the average coin was higher after {rose} of them, {share}, against 97 in 100 after any day."

    assert (report_complaints({"after": text}, case) == []) == is_true
