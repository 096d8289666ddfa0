"""A learner's kept record: the answers of a browser or a program, scored again from items and truths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any, Final, NamedTuple

from generator.arena.practice.items import ID_DIGITS, salted_digest
from generator.arena.practice.verdicts import BETS_50, BETS_90, Chances, Verdict, judge_chances, judge_ranges
from generator.arena.scoring import brier, squared_error
from generator.catalog.words import Call
from generator.values.ranges import MoveRange

FORMAT: Final = "emi-practice-record/1"
SIDES: Final = (Call.UP, Call.SMALL_MOVE, Call.DOWN)  # in this order in every list of chances
SAME: Final = 1e-12  # scores that differ by no more are equal


class Question(StrEnum):
    """What is asked of an item."""

    HOW_FAR = "how_far"
    WILL_IT_MOVE = "will_it_move"
    WHICH_WAY = "which_way"


class Scores(NamedTuple):
    """The score of an answer, of the brain's, and of the usual hour or base rate."""

    own: float
    brain: float
    usual: float


class RecordError(ValueError):
    """A record does not hold; the message names the answer."""


@dataclass(frozen=True, slots=True)
class Practised:
    """The truths of a month's items, by the first 12 digits of their digests, as a record names them."""

    truths: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, items_file: Mapping[str, Any], truths_file: Mapping[str, Any]) -> "Practised":
        """Put items and truths together; RecordError where a truth does not open to its item's digest."""
        digests = {item["truth_sha256"] for item in items_file["items"]}
        truths = {salted_digest(truth): truth for truth in truths_file["truths"]}
        if digests != truths.keys():
            raise RecordError("the truths do not open to the digests of the items")
        return cls({digest[:ID_DIGITS]: truth for digest, truth in truths.items()})


def scores_of(question: Question, answer: Mapping[str, Any], truth: Mapping[str, Any]) -> Scores:
    """Score an answer, the brain's and the usual hour's.

    Args:
        question: what was asked.
        answer: `low_90`, `low_50`, `high_50`, `high_90` in percent; or `chance` in 0..100; or whole numbers for `up`,
            `small_move` and `down` that add to 100.
        truth: as published.

    Raises:
        RecordError: the answer is not of its form.
    """
    try:
        if question is Question.HOW_FAR:
            move = truth["move"]
            forecasts = (ranges_of(answer), ranges_of(truth["brain"]["ranges"]), ranges_of(truth["usual"]["ranges"]))
            return Scores(*(ranges.score(move) for ranges in forecasts))

        if question is Question.WILL_IT_MOVE:
            moved = 0.0 if truth["came"] == Call.SMALL_MOVE else 1.0
            chances = (chance_of(answer), truth["brain"]["move_chance"], truth["usual"]["move_chance"])
            return Scores(*(squared_error(chance, moved) for chance in chances))

        side = SIDES.index(truth["came"])
        triples = (triple_of(answer), named(truth["brain"]["chances"]), named(truth["usual"]["chances"]))
        return Scores(*(brier(chances, side) for chances in triples))
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"an answer is not of its form ({error})") from None


def ranges_of(answer: Mapping[str, Any]) -> MoveRange:
    """Read two ranges; ValueError where the 50% range is empty or not inside the 90% range."""
    ranges = MoveRange(*(float(answer[name]) for name in ("low_90", "low_50", "high_50", "high_90")))
    if not ranges.is_sound:
        raise ValueError("a 50% range must lie inside the 90% range")
    return ranges


def chance_of(answer: Mapping[str, Any]) -> float:
    """Read a chance in percent as 0..1; ValueError for none."""
    chance = answer["chance"]
    if type(chance) is not int or not 0 <= chance <= 100:
        raise ValueError(f"{chance!r} is not a chance in whole percent")
    return chance / 100


def triple_of(answer: Mapping[str, Any]) -> tuple[float, ...]:
    """Read three chances in percent as 0..1; ValueError where they do not add to 100."""
    whole = [answer[side] for side in SIDES]
    if not all(type(chance) is int and 0 <= chance <= 100 for chance in whole) or sum(whole) != 100:
        raise ValueError("three whole chances must add to 100")
    return tuple(chance / 100 for chance in whole)


def named(chances: Mapping[str, float]) -> tuple[float, ...]:
    """Return three named chances in the order of `SIDES`."""
    return tuple(chances[side] for side in SIDES)


class Given(NamedTuple):
    """One answer with its truth, scored."""

    answer: Mapping[str, Any]
    truth: Mapping[str, Any]
    scores: Scores


@dataclass(frozen=True, slots=True)
class Checked:
    """A record that holds: how many answers of each question, mean scores, and verdicts by what they judge."""

    answers: Mapping[Question, int]
    means: Mapping[Question, Scores]
    verdicts: Mapping[str, Verdict]


def check(record: Mapping[str, Any], practised: Mapping[str, Practised]) -> Checked:
    """Score every answer of a record again; RecordError where an answer, item or score does not hold.

    Args:
        record: as exported by the page.
        practised: by the path of the items file that an answer names.
    """
    if record.get("format") != FORMAT:
        raise RecordError(f"this is not a record of practice in the form {FORMAT}")

    given: dict[Question, list[Given]] = {}
    seen: set[tuple[str, str, Question]] = set()
    for number, answer in enumerate(record["answers"], 1):
        try:
            question = Question(answer["question"])
            truth = practised[answer["month"]].truths[answer["item"]]
        except (KeyError, ValueError) as error:
            raise RecordError(f"answer {number}: {error} is not in the published files") from None
        if (answer["month"], answer["item"], question) in seen:
            raise RecordError(f"answer {number}: item {answer['item']} was answered before")
        seen.add((answer["month"], answer["item"], question))

        scores = scores_of(question, answer["answer"], truth)
        stated = Scores(*(answer[name] for name in ("score", "brain_score", "usual_score")))
        if any(abs(score - other) > SAME for score, other in zip(scores, stated, strict=True)):
            raise RecordError(f"answer {number}: the score is {stated.own}, recomputed {scores.own}")
        given.setdefault(question, []).append(Given(answer["answer"], truth, scores))

    return Checked(
        answers={question: len(rows) for question, rows in given.items()},
        means={question: _means([row.scores for row in rows]) for question, rows in given.items()},
        verdicts=_verdicts(given),
    )


def _means(scores: Sequence[Scores]) -> Scores:
    return Scores(*(sum(column) / len(scores) for column in zip(*scores, strict=True)))


def _verdicts(given: Mapping[Question, Sequence[Given]]) -> dict[str, Verdict]:
    """Judge each kind of answer, in the order in which it was given."""
    verdicts: dict[str, Verdict] = {}
    if rows := given.get(Question.HOW_FAR):
        pairs = [(ranges_of(row.answer), row.truth["move"]) for row in rows]
        usual = [ranges_of(row.truth["usual"]["ranges"]) for row in rows]
        both = [(ranges, other) for (ranges, _), other in zip(pairs, usual, strict=True)]
        halves = [_times(ranges.high_50 - ranges.low_50, other.high_50 - other.low_50) for ranges, other in both]
        nines = [_times(ranges.width_90, other.width_90) for ranges, other in both]
        verdicts["50% ranges"] = judge_ranges([ranges.holds_50(move) for ranges, move in pairs], BETS_50, halves)
        verdicts["90% ranges"] = judge_ranges([ranges.holds_90(move) for ranges, move in pairs], BETS_90, nines)

    if rows := given.get(Question.WILL_IT_MOVE):
        verdicts["chances of a move"] = judge_chances([_of_a_move(row) for row in rows])
    if rows := given.get(Question.WHICH_WAY):
        verdicts["three chances"] = judge_chances([_of_three(row) for row in rows])
    return verdicts


def _times(width: float, usual: float) -> float:
    """Return how many times as wide as usual; no width at all is like none."""
    return width / usual if usual else inf


def _of_a_move(row: Given) -> Chances:
    chance = chance_of(row.answer)
    usual = row.truth["usual"]["move_chance"]
    outcome = 0 if row.truth["came"] != Call.SMALL_MOVE else 1
    return Chances((chance, 1 - chance), (usual, 1 - usual), outcome)


def _of_three(row: Given) -> Chances:
    return Chances(triple_of(row.answer), named(row.truth["usual"]["chances"]), SIDES.index(row.truth["came"]))
