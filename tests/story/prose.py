"""The report as prose: its length, how hard it is to read, and how much two reports have in common."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tests.story.reading import texts_of
from tests.worth import sentences

FEWEST_WORDS: Final = 600
MOST_WORDS: Final = 900
MOST_SHARED: Final = 12  # sentences of two reports, with names and figures blanked
EASIEST: Final = 7.0  # grade of school
HARDEST: Final = 10.0
MOST_BYTES: Final = 16_000


class Prose(NamedTuple):
    """One report's text."""

    words: int
    grade: float
    sentences: frozenset[str]  # with names and figures blanked


def prose_of(report: Mapping[str, Any]) -> Prose:
    """Return what the text of a report is like.

    The grade is that of Kincaid (1975). A figure is a word of its sentence, and left out of the syllables of a word, as
    Flesch (1949) advises for texts with many figures.
    """
    texts = [text for _, text in texts_of(report) if text]
    text = " ".join(text if text[-1] in ".?!" else f"{text}." for text in texts)
    words = re.findall(r"[A-Za-z']+", text)
    figures = re.findall(r"\d[\d.,]*", text)
    ends = len(re.findall(r"[.?!](?:\s|$)", text))
    syllables = sum(max(1, len(re.findall(r"[aeiouy]+", word.lower().removesuffix("e")))) for word in words)
    grade = 0.39 * (len(words) + len(figures)) / ends + 11.8 * syllables / len(words) - 15.59
    return Prose(len(text.split()), grade, frozenset(found for one in texts for found in sentences(one)))


def most_shared(reports: Sequence[Prose]) -> int:
    """Return how many sentences two of some reports have in common at most."""
    pairs = itertools.combinations(reports, 2)
    return max((len(one.sentences & other.sentences) for one, other in pairs), default=0)


def sentences_in(bodies: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return every sentence of some bodies, with names and figures blanked."""
    return {found for body in bodies for text in _strings(body) for found in sentences(text)}


def _strings(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    inner: Any = ()
    if isinstance(node, dict):
        inner = node.values()
    elif isinstance(node, list):
        inner = node
    return [text for one in inner for text in _strings(one)]
