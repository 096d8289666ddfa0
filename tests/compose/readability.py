"""Flesch-Kincaid grade without the network.

textstat fetches its English syllable dictionary when first asked, so sentences are counted by textstat and
syllables here: groups of vowels, less a silent final e or ed. `test_readability.py` checks the count.
"""

from __future__ import annotations

import re
from typing import Final

from textstat.textstat import textstatistics

_GROUPS: Final = re.compile(r"[aeiouy]+")
_SPLIT: Final = re.compile(r"ia(?!l\b|n\b)|io(?!n)|eo|ua(?=l)|(?<=[^aeiouy])ie(?=t)")
_SILENT: Final = re.compile(r"(?<=[^aeiouyl])e$|(?<=[aeiouy])le$|(?<=[^aeioudt])ed$|(?<=[^aeiouscxzgh])es$")


def syllables(word: str) -> int:
    """Count the syllables of one English word; a number counts as one for every digit."""
    digits = sum(letter.isdigit() for letter in word)
    if digits:
        return digits
    bare = word.lower().strip("'")
    spoken = _SILENT.sub("", bare)
    return max(1, len(_GROUPS.findall(spoken)) + len(_SPLIT.findall(spoken)))


def grade(text: str) -> float:
    """Return the Flesch-Kincaid grade: 0.39 words a sentence + 11.8 syllables a word - 15.59 (Kincaid 1975)."""
    words = re.findall(r"[A-Za-z']+|\d[\d.]*", text)
    sentences = textstatistics().sentence_count(text)  # type: ignore[no-untyped-call]
    spoken = sum(map(syllables, words))
    return 0.39 * len(words) / sentences + 11.8 * spoken / len(words) - 15.59
