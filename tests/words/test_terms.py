"""Terms of the field, and words of our own for the market, that sentences use: the glossary explains each."""

import re

import pytest

from generator.catalog.text.glossary import glossary
from generator.catalog.text.lessons import ROUND
from generator.catalog.text.now import BOOK
from generator.catalog.text.report.sentences import REPORT

TERMS = {
    "average coin": "Average coin",
    "backtest": "Backtest",
    "band": "Small move",
    "base rate": "Base rate",
    "Brier score": "Brier score",
    "calm": "Calm, normal, rough, wild",
    "call": "Call",
    "correlation": "Correlation",
    "range": "Range",
    "record": "Record",
    "rough": "Calm, normal, rough, wild",
    "small move": "Small move",
    "spells": "Spell",
    "usual day": "Usual day",
    "wild": "Calm, normal, rough, wild",
}
SENTENCES = [
    sentence.text for book in (BOOK, REPORT, ROUND) for sentences in book.groups.values() for sentence in sentences
]


@pytest.mark.parametrize("term", TERMS)
def test_a_term_that_sentences_use_is_in_the_glossary(term: str) -> None:
    assert any(re.search(rf"\b{term}\b", text) for text in SENTENCES)
    assert TERMS[term] in {entry.term for entry in glossary()}
