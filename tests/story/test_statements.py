"""Every statement of the report at ten simulated moments, and reports in which something is planted."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.story.reading import Read, read_report, texts_of
from tests.story.statements import WORDINGS
from tests.support.ten_moments import names, ten_moments

REPORT = "x402-atlas-human-report"
FIRST = names()[0]
PARTS = ("together", "derivatives", "liquidity", "ladder", "spells", "partition")
Report = dict[str, Any]


def report(name: str) -> Report:
    found: Report = ten_moments()[name].composed.paid[REPORT].as_json()["report"]
    return found


@cache
def read(name: str) -> Read:
    return read_report(ten_moments()[name], report(name))


def test_every_statement_follows_from_the_candles() -> None:
    faults = {name: read(name).faults for name in names()}

    assert {name: found for name, found in faults.items() if found} == {}
    assert all(read(name).statements >= 40 and read(name).figures >= 80 for name in names())


def _with(part: str, change: Callable[[str], str]) -> Report:
    found = report(FIRST)
    return {**found, part: {**found[part], "text": change(found[part]["text"])}}


def raised(text: str) -> str:
    """Add one to the last digit of the last figure."""
    *_, last = re.finditer(r"\d", text)
    return text[: last.start()] + str((int(last[0]) + 1) % 10) + text[last.end() :]


@pytest.mark.parametrize("part", PARTS)
def test_a_figure_that_is_off_by_one_is_named(part: str) -> None:
    faults = read_report(ten_moments()[FIRST], _with(part, raised)).faults

    assert faults
    assert all(fault.startswith(f"{part}: ") for fault in faults)


def test_a_sentence_that_no_one_listed_and_one_that_does_not_hold_are_named() -> None:
    unknown = read_report(ten_moments()[FIRST], _with("arena", lambda text: f"Prices will rise. {text}"))
    untrue = read_report(ten_moments()[FIRST], report(FIRST) | {"title": "A day that led nowhere"})

    assert unknown.faults == ["arena: no known wording: Prices will rise."]
    assert untrue.faults == ["title: not small_day: A day that led nowhere"]


def test_no_two_wordings_of_one_kind_are_the_same_and_every_text_of_a_report_is_read() -> None:
    kinds = [(wording.conditions, wording.text) for wording in WORDINGS]
    read_texts = " ".join(text for _, text in texts_of(report(FIRST)))

    assert len(kinds) == len(set(kinds))
    for name in ("title", "verdict"):
        assert report(FIRST)[name] in read_texts
