"""A kept record: scored again, and refused where anything in it was changed."""

import copy
import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from generator.arena.practice.record import (
    FORMAT,
    Practised,
    Question,
    RecordError,
    check,
    scores_of,
)
from generator.site.resources import ShippedMonth

MONTH = "/files/practice/a-month.json"


@cache
def practised() -> Practised:
    month = ShippedMonth.load()
    return Practised.of(json.loads(month.items), json.loads(month.truths))


def answer_to(question: Question, chance: random.Random) -> dict[str, Any]:
    if question is Question.HOW_FAR:
        half, nine = sorted(round(chance.uniform(0.01, 2), 2) for _ in range(2))
        return {"low_90": -nine, "low_50": -half, "high_50": half, "high_90": nine}
    if question is Question.WILL_IT_MOVE:
        return {"chance": chance.randrange(101)}
    up = chance.randrange(101)
    down = chance.randrange(101 - up)
    return {"up": up, "small_move": 100 - up - down, "down": down}


def record_of(answers: int, seed: int = 1) -> dict[str, Any]:
    """Return a record as the page exports it."""
    chance = random.Random(seed)
    rows = []
    for number, (item, truth) in enumerate(list(practised().truths.items())[:answers]):
        question = list(Question)[number % 3]
        answer = answer_to(question, chance)
        own, brain, usual = scores_of(question, answer, truth)
        rows.append(
            {
                "month": MONTH,
                "item": item,
                "question": str(question),
                "answer": answer,
                "given": "2026-11-26T10:00:00.000Z",
                "score": own,
                "brain_score": brain,
                "usual_score": usual,
            }
        )
    return {"format": FORMAT, "answers": rows}


def checked(record: dict[str, Any]) -> Any:
    return check(record, {MONTH: practised()})


def test_a_kept_record_gives_its_counts_means_and_verdicts() -> None:
    record = record_of(90)
    found = checked(record)

    assert found.answers == dict.fromkeys(Question, 30)
    rows = [row for row in record["answers"] if row["question"] == "how_far"]
    means = found.means[Question.HOW_FAR]
    assert means.own == pytest.approx(sum(row["score"] for row in rows) / 30)
    assert means.brain == pytest.approx(sum(row["brain_score"] for row in rows) / 30)
    assert means.usual == pytest.approx(sum(row["usual_score"] for row in rows) / 30)
    assert set(found.verdicts) == {"50% ranges", "90% ranges", "chances of a move", "three chances"}


def test_a_record_without_answers_holds() -> None:
    assert checked({"format": FORMAT, "answers": []}).answers == {}


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "score": lambda row: row.update(score=row["score"] + 1e-9),
    "brain's score": lambda row: row.update(brain_score=row["brain_score"] + 1e-9),
    "usual score": lambda row: row.update(usual_score=row["usual_score"] - 1e-9),
    "item": lambda row: row.update(item="0" * 12),
    "question": lambda row: row.update(question="which"),
    "month": lambda row: row.update(month="/files/practice/other.json"),
    "answer left out": lambda row: row.pop("answer"),
    "another answer": lambda row: row.update(answer={"chance": 101}),
}


def test_any_change_of_a_record_is_refused() -> None:
    for change in CHANGES.values():
        record = copy.deepcopy(record_of(9))
        change(record["answers"][4])
        with pytest.raises((RecordError, KeyError)):
            checked(record)


def test_the_same_item_answered_twice_is_refused() -> None:
    record = record_of(3)
    record["answers"].append(copy.deepcopy(record["answers"][0]))

    with pytest.raises(RecordError, match="answered before"):
        checked(record)


def test_chances_that_do_not_add_up_or_are_not_whole_are_refused() -> None:
    truth = next(iter(practised().truths.values()))
    for question, answer in (
        (Question.WHICH_WAY, {"up": 50, "small_move": 30, "down": 21}),
        (Question.WHICH_WAY, {"up": 50.0, "small_move": 30, "down": 20}),
        (Question.WHICH_WAY, {"up": -10, "small_move": 60, "down": 50}),
        (Question.WILL_IT_MOVE, {"chance": True}),
        (Question.WILL_IT_MOVE, {"chance": 50.5}),
        (Question.WILL_IT_MOVE, {}),
        (Question.HOW_FAR, {"low_90": -1, "low_50": -2, "high_50": 2, "high_90": 1}),
    ):
        with pytest.raises(RecordError):
            scores_of(question, answer, truth)


def test_truths_that_do_not_open_to_their_items_are_refused() -> None:
    month = ShippedMonth.load()
    items, truths = json.loads(month.items), json.loads(month.truths)
    truths["truths"][7]["came"] = "up" if truths["truths"][7]["came"] != "up" else "down"

    with pytest.raises(RecordError, match="do not open"):
        Practised.of(items, truths)


def test_another_form_of_record_is_refused() -> None:
    with pytest.raises(RecordError, match="not a record of practice"):
        checked({"format": "emi-practice-record/0", "answers": []})


def test_a_move_is_scored_as_a_move_and_a_small_one_as_none() -> None:
    for truth in practised().truths.values():
        own, brain, usual = scores_of(Question.WILL_IT_MOVE, {"chance": 100}, truth)
        moved = truth["came"] != "small_move"
        assert own == (0.0 if moved else 1.0)
        said = truth["brain"]["move_chance"]
        assert brain == pytest.approx((1 - said) ** 2 if moved else said**2)
        base = truth["usual"]["move_chance"]
        assert usual == pytest.approx((1 - base) ** 2 if moved else base**2)


def test_three_chances_are_scored_in_the_order_of_their_names() -> None:
    for truth in practised().truths.values():
        sure = {side: 100 if side == truth["came"] else 0 for side in ("up", "small_move", "down")}
        own, brain, usual = scores_of(Question.WHICH_WAY, sure, truth)
        assert own == 0
        for score, chances in ((brain, truth["brain"]["chances"]), (usual, truth["usual"]["chances"])):
            whole = sum((chances[side] - (side == truth["came"])) ** 2 for side in chances)
            assert score == pytest.approx(whole)
