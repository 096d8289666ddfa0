"""Months and records of practice, changed in one place, to be refused: `python -m tests.practice.forged [COUNT]`."""

import json
import random
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from generator.arena.practice.record import FORMAT, Practised, Question, RecordError, check, scores_of
from generator.arena.published import canonical_json
from generator.client.practice import compare
from generator.record.verify import VerifyError
from generator.site.resources import ShippedMonth

COUNT: Final = 1_000
ITEMS: Final = 20  # with an answer to each question
KINDS: Final = ("item", "truth", "salt", "score", "answer")
SEED: Final = 20261126


@cache
def month() -> ShippedMonth:
    """Return the shipped month, which follows from its log; `emi verify --practice` makes it again and compares."""
    return ShippedMonth.load()


@cache
def record() -> str:
    """Return a record of an answer to each question of some items, as JSON."""
    truths = json.loads(month().truths)["truths"][:ITEMS]
    said: Mapping[Question, Mapping[str, Any]] = {
        Question.HOW_FAR: {"low_90": -1.0, "low_50": -0.3, "high_50": 0.3, "high_90": 1.0},
        Question.WILL_IT_MOVE: {"chance": 55},
        Question.WHICH_WAY: {"up": 30, "small_move": 45, "down": 25},
    }
    answers = []
    for truth in truths:
        for question, answer in said.items():
            own, brain, usual = scores_of(question, answer, truth)
            scores = {"score": own, "brain_score": brain, "usual_score": usual}
            about = {"month": month().items_path, "item": truth["item"], "question": question, "answer": answer}
            answers.append({**about, **scores})
    return json.dumps({"format": FORMAT, "answers": answers})


def accepted(items: bytes, truths: bytes, kept: str) -> bool:
    """Return whether a month, as published, and a record pass every check."""
    shipped = month()
    served = {**shipped.files, shipped.items_path: items, shipped.truths_path: truths}
    follows = {shipped.items_path: shipped.items, shipped.truths_path: shipped.truths}
    try:
        practised = Practised.of(json.loads(items), json.loads(truths))
        check(json.loads(kept), {shipped.items_path: practised})
        compare(follows, served.get, "emi-practice-demo")
    except (RecordError, VerifyError):
        return False
    return True


def passes_changed(what: str, chance: random.Random) -> bool:
    """Change one place of one of `KINDS`; return whether that passed."""
    items = json.loads(month().items)
    truths = json.loads(month().truths)
    kept = json.loads(record())

    if what == "item":
        item = chance.choice(items["items"])
        place = chance.randrange(len(item["prices"]))
        item["prices"][place] = round(item["prices"][place] + chance.choice((-0.01, 0.01)), 2)
    elif what == "truth":
        truth = chance.choice(truths["truths"])
        name = chance.choice(("move", "start_price", "end_price"))
        truth[name] = nudged(truth[name], chance)
    elif what == "salt":
        truth = chance.choice(truths["truths"])
        place = chance.randrange(len(truth["salt"]))
        other = chance.choice([digit for digit in "0123456789abcdef" if digit != truth["salt"][place]])
        truth["salt"] = truth["salt"][:place] + other + truth["salt"][place + 1 :]
    elif what == "score":
        answer = chance.choice(kept["answers"])
        name = chance.choice(("score", "brain_score", "usual_score"))
        answer[name] += chance.choice((-1, 1)) * 10 ** chance.uniform(-11, -1)
    else:
        answer = chance.choice([one for one in kept["answers"] if one["question"] == "will_it_move"])
        answer["answer"] = {"chance": answer["answer"]["chance"] + chance.choice((-1, 1))}

    return accepted(canonical_json(items), canonical_json(truths), json.dumps(kept))


def nudged(value: float, chance: random.Random) -> float:
    """Return a number that differs from another one in a late digit."""
    return value + chance.choice((-1, 1)) * max(abs(value), 0.01) * 10 ** chance.uniform(-6, -1)


def main(count: int = COUNT) -> int:
    """Print how many of each kind were refused; return how many passed."""
    chance = random.Random(SEED)
    drawn = [chance.choice(KINDS) for _ in range(count)]
    passed = 0
    for what in KINDS:
        cases = [passes_changed(what, chance) for kind in drawn if kind == what]
        print(f"{what}: {len(cases) - sum(cases)} of {len(cases)} refused")
        passed += sum(cases)
    print(f"all: {count - passed} of {count} refused; unchanged {'passes' if unchanged() else 'is refused'}")
    return passed


def unchanged() -> bool:
    """Return whether the same passes as it was, so that a refusal says something."""
    items, truths = (canonical_json(json.loads(content)) for content in (month().items, month().truths))
    return accepted(items, truths, record())


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT) > 0)
