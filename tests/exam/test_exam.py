"""A plain program that uses only documented fields answers as a careful reader does, sixty times."""

from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from tests.exam.documented import Documented, Undocumented
from tests.exam.questions import CHANGED, ROWS
from tests.exam.reader import QUESTIONS, Reader
from tests.support.bodies import published


@cache
def bodies_of(state: str) -> Any:
    """Return the bodies of a state, frozen."""
    base, changes = CHANGED.get(state, (state, ()))
    bodies = deepcopy(published(base))
    for path, members, value in changes:
        *parents, last = members
        part = bodies[path]
        for member in parents:
            part = part[member]
        assert part[last] != value or state == "no call made"
        part[last] = value
    return bodies


def test_the_plain_reader_answers_all_sixty_questions_as_the_careful_one() -> None:
    said = [
        row._replace(answer=Reader(bodies_of(row.state), row.minutes).answer(row.question, row.about)) for row in ROWS
    ]

    assert [(found, row.answer) for found, row in zip(said, ROWS, strict=True) if found != row] == []
    assert len(ROWS) == len(set(map(str, ROWS))) == 60


def test_every_kind_of_question_is_asked_but_those_without_a_trap() -> None:
    asked = {row.question for row in ROWS}

    assert set(QUESTIONS) - asked == {"how many forecasts were backtested", "what is there beyond, and for how much"}


def test_a_member_without_a_description_cannot_be_read() -> None:
    schema = {"properties": {"said": {"description": "What it is for."}, "bare": {}, "short": {"description": "It."}}}
    part = Documented({"said": 1, "bare": 2, "short": 3, "other": 4}, schema, "body")

    assert part["said"] == 1
    for name in ("bare", "short", "other"):
        with pytest.raises(Undocumented, match=f"body.{name}"):
            part[name]
