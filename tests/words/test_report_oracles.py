"""Reports of a market, held against the raw closes by oracles that know nothing of how they are made."""

import re
from collections.abc import Callable, Mapping
from functools import cache

import pytest

from generator.market.simulated.market import SimulatedMarket
from tests.contradictions.reports import reports
from tests.words.report_oracles import Case, report_complaints

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
