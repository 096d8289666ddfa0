"""A closed vocabulary: every word that leaves is an easy one, a reviewed one, a name, or stands in the glossary."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from textstat.backend.utils._get_lang_easy_words import get_lang_easy_words

from generator.brain import sentences
from generator.catalog import plain
from generator.catalog import sentences as fixed
from generator.site.pages.words import glossary
from tests.support.bodies import published
from tests.support.builders import CONTEXTS
from tests.support.walk import strings

REVIEWED: Final = Path(__file__).with_name("plain_words.txt")
# Easy words that mean something of their own on a market: whatever of these is said must be explained.
OF_ART: Final = (
    "ask", "base rate", "basis point", "bid", "breadth", "breakdown", "breakout", "brier score", "calibration",
    "confidence", "coverage", "crowded", "deleveraging", "depth", "derivatives", "downtrend", "forecast", "funding",
    "futures", "high volatility", "hit rate", "horizon", "imbalance", "leveraging up", "liquidation", "liquidity",
    "log score", "momentum", "neutral", "neutral band", "open interest", "order book", "persistence", "probability",
    "range", "regime", "resolved", "risk off", "risk on", "risk score", "round", "scenario", "skill", "snapshot",
    "spread", "stale", "swing", "tick", "transition", "trend", "uptrend", "venue", "void", "volatility",
)  # fmt: skip
ENDINGS: Final = (
    ("'s", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("d", ""), ("ied", "y"), ("ing", ""), ("ing", "e"),
    ("ly", ""), ("er", ""), ("r", ""), ("est", ""), ("st", ""), ("less", ""),
)  # fmt: skip


@cache
def terms() -> frozenset[str]:
    """Return the words that the glossary explains, without what stands in brackets."""
    return frozenset(re.sub(r"\s*\(.*\)", "", term).lower() for term, _ in glossary())


@cache
def texts() -> tuple[str, ...]:
    """Return every text of every body in every context, and every sentence that one could hold."""
    said = {text for name in CONTEXTS for body in published(name).values() for _, text in strings(body)}
    for module in (sentences, plain, fixed):
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, dict | tuple | str):
                said |= {text for _, text in strings(value.copy() if isinstance(value, dict) else [value])}
    return tuple(text for text in said if " " in text)


def roots(word: str) -> set[str]:
    """Return the word and what it may be a form of; doubled letters are undone."""
    found = {word} | {word[: -len(end)] + new for end, new in ENDINGS if word.endswith(end)}
    return found | {one[:-1] for one in found if len(one) > 3 and one[-1:] == one[-2:-1]}


def words(text: str) -> set[str]:
    """Return the words of a text, lower case; addresses, code and field names are left out."""
    bare = re.sub(r"\S*[/_{}<>=@.]\S+|`[^`]*`|\S*\d\S*", " ", text)
    return {part for word in re.findall(r"[A-Za-z][A-Za-z'-]*[A-Za-z]", bare) for part in word.lower().split("-")}


def unknown(said: tuple[str, ...]) -> list[str]:
    """Return the words that are neither easy nor reviewed nor explained."""
    explained = {part for term in terms() for part in re.split(r"[\s-]", term)}
    known = set(get_lang_easy_words("en")) | explained | set(REVIEWED.read_text(encoding="utf-8").split())
    return sorted(word for word in set().union(*map(words, said)) if not roots(word) & known)


def test_every_word_that_leaves_is_plain_or_explained() -> None:
    assert len(texts()) > 300
    assert unknown(texts()) == []


def test_a_word_that_nobody_explains_is_noticed() -> None:
    assert unknown(("The contango of XRP widens.", "Prices rise.")) == ["contango", "widens"]


@pytest.mark.parametrize("term", OF_ART)
def test_a_term_of_art_that_is_said_stands_in_the_glossary(term: str) -> None:
    said = any(re.search(rf"\b{term}(s|es)?\b", text, re.IGNORECASE) for text in texts())

    assert not said or term in terms()


def test_the_glossary_explains_with_plain_words_only() -> None:
    assert unknown(tuple(meaning for _, meaning in glossary())) == []


def test_no_text_speaks_of_betting_but_to_say_that_it_is_none() -> None:
    about = [text for text in texts() if re.search(r"\b(bet|bets|betting|gamble|gambling)\b", text, re.IGNORECASE)]

    assert about
    assert [text for text in about if not re.search(r"\b(not|no|never)\b", text, re.IGNORECASE)] == []
