"""A report read statement by statement: which wording each is, whether its condition holds, and whether it says so."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from tests.story.statements import WORDINGS
from tests.story.truth import Figure, Truth, coin_day
from tests.story.wording import Wording
from tests.support.ten_moments import Moment

SECTIONS: Final = (*("together", "derivatives", "liquidity", "ladder", "spells", "partition", "arena", "track_record"),)
_SLOT: Final = re.compile(r"\{([^}]+)\}")
_FIGURE: Final = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
_SENTENCE: Final = re.compile(r"[^.?!]*(?:[.?!](?! |$)[^.?!]*)*[.?!]?")


@dataclass
class Read:
    """What was found in a report."""

    statements: int = 0
    figures: int = 0
    faults: list[str] = field(default_factory=list)
    wordings: set[Wording] = field(default_factory=set)

    def plus(self, other: "Read") -> "Read":
        """Return both together."""
        return Read(
            self.statements + other.statements,
            self.figures + other.figures,
            [*self.faults, *other.faults],
            self.wordings | other.wordings,
        )


def texts_of(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return every text of a report with the name of its part."""
    points = " ".join(report["partition"]["points"])
    idea = report["idea"] or {"text": "", "question": ""}
    return [
        ("title", report["title"]),
        ("verdict", report["verdict"]),
        ("what_changed", " ".join(report["what_changed"])),
        *((name, report[name]["text"]) for name in SECTIONS),
        ("partition points", points),
        ("idea", idea["text"]),
        ("question", idea["question"]),
        ("limits", " ".join(report["limits"])),
    ]


def read_report(moment: Moment, report: Mapping[str, Any]) -> Read:
    """Hold every statement of a report to what the candles and the record give."""
    truth = Truth(moment)
    found = Read()
    for part, text in texts_of(report):
        _read(found, part, text, truth)

    for coin in report["assets"]:
        found.statements += 1
        found.figures += 1
        allowed = coin_day(truth, coin["asset"])
        if coin["text"] not in allowed:
            found.faults.append(f"assets: {coin['name']}: {coin['text']!r} instead of {sorted(allowed)}")
    return found


def _read(found: Read, part: str, text: str, truth: Truth) -> None:
    """Take one statement after the other from the beginning of a text."""
    rest = text
    while rest:
        matches = list(_matches(rest, truth))
        if not matches:
            sentence = (_SENTENCE.match(rest) or [rest])[0] or rest
            found.faults.append(f"{part}: no known wording: {sentence}")
            rest = rest[len(sentence) :].lstrip()
            continue

        judged = [(_faults(wording, given, truth), wording, given) for wording, given in matches]
        faults, wording, given = min(judged, key=lambda one: (len(one[0]), -one[2].end()))
        found.statements += 1
        found.figures += len(given.groups())
        found.wordings.add(wording)
        found.faults += [f"{part}: {fault}: {given[0]}" for fault in faults]
        rest = rest[given.end() :].lstrip()


def _matches(text: str, truth: Truth) -> Iterator[tuple[Wording, re.Match[str]]]:
    for wording in WORDINGS:
        start = wording.text.partition("{")[0].removesuffix(".")
        if not start or text[:1].lower() + text[1 : len(start)] == start[:1].lower() + start[1:]:
            names = _SLOT.findall(wording.text)
            figures = frozenset(name for name in names if isinstance(truth.slots.get(name), Figure))
            match = _pattern(wording.text, figures).match(text)
            if match:
                yield wording, match


@cache
def _pattern(text: str, figures: frozenset[str]) -> re.Pattern[str]:
    """Return what a wording looks like with any figures and words in its slots.

    Args:
        text: of the wording.
        figures: the names of the slots that hold figures.
    """
    fixed, *others = _SLOT.split(text)
    # In the middle of a sentence its first letter is small.
    pattern = f"(?i:{re.escape(fixed[:1])}){re.escape(fixed[1:])}"
    for name, after in zip(others[::2], others[1::2], strict=True):
        slot = _FIGURE.pattern if name in figures else ".*?"
        pattern += f"({slot if after else '.*?[.]|[a-z]+'}){re.escape(after)}"
    # Two statements are one sentence where a semicolon joins them.
    return re.compile(re.sub(r"\\\.$", "[.;]", pattern) + r"(?= |$)")


def _faults(wording: Wording, given: re.Match[str], truth: Truth) -> list[str]:
    """Say which condition does not hold, and which slot says another thing."""
    faults = [f"not {name}" for name in wording.conditions if truth.holds.get(name) is False]
    faults += [f"nothing is known of {name}" for name in wording.conditions if name not in truth.holds]
    for name, said in zip(_SLOT.findall(wording.text), given.groups(), strict=True):
        slot = truth.slots.get(name)
        if slot is None:
            faults.append(f"nothing is known of {name}")
        elif isinstance(slot, Figure):
            if not _says(said, slot):
                faults.append(f"{name} is {slot.value:.4f}")
        elif said not in ({slot} if isinstance(slot, str) else slot):
            faults.append(f"{name} is {slot if isinstance(slot, str) else sorted(slot)}")
    return faults


def _says(text: str, figure: Figure) -> bool:
    """Say whether a figure in a text is one, rounded to as many decimals as stand there."""
    if not _FIGURE.fullmatch(text):
        return False
    half = 0.5 * 10.0 ** -len(text.partition(".")[2])
    return (
        math.isfinite(figure.value) and abs(float(text.replace(",", "")) - figure.value) <= half + figure.slack + 1e-9
    )
