"""Whether a learner's ranges and chances are calibrated, judged after each answer.

A test for a fixed number of answers that is read after every answer will sooner or later accuse everybody. So each
verdict here is a bet against the claim that the answers are calibrated. The bet starts with a stake of one. Against a
calibrated learner it gains nothing on average, so the chance that it ever grows to `x` is at most `1 / x`, however long
they practise and whenever they look (Ville's inequality). An error is reported once the stake is so large that at most
5 in 100 calibrated learners ever see such a report.

A verdict forgives. Answers are judged in runs: a new run, with a new stake, begins after each verdict and after every
hundred answers without one, so that what was answered long ago neither accuses nor excuses. A run may accuse a part of
those 5 in 100 only, and the parts of all runs add up to them. After a verdict the parts begin again with the first: of
those who mend their ways, at most 5 in 100 are accused again by what they answer in the runs that begin then.

The opponent spreads the stake over a few errors of plain sizes. `site/assets/practice-scores.js` computes the same.

Source: G. Shafer, Testing by betting, 2021; V. Ville, Étude critique de la notion de collectif, 1939.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import exp, log
from typing import Final

from generator.arena.scoring import LEAST_CHANCE

FALSE_ALARMS: Final = 0.05  # of calibrated learners, ever, for each kind of question
MOST_JUDGED: Final = 100  # answers of a run
FIRST_RUN: Final = 0.6  # of the false alarms; the runs after it share the rest
FEW: Final = 30  # answers, below which no one is said to repeat the base rate
SAME_WIDTH: Final = 0.1  # mean part by which a range is wider or narrower than a usual hour's, and still repeats it
REPEATED: Final = 0.03  # mean distance from the base rate, 0..1, up to which an answer repeats it
Bets = tuple[Sequence[float], Sequence[float]]  # logarithms of the bets on two opposite errors: gains, or stakes


class Finding(StrEnum):
    """What the answers show."""

    TOO_EARLY = "too_early"  # fewer than an error of the usual size needs to show
    NOTHING = "nothing"  # enough answers, and no error that shows
    TOO_NARROW = "too_narrow"
    TOO_WIDE = "too_wide"
    TOO_SURE = "too_sure"
    NOT_SURE_ENOUGH = "not_sure_enough"
    BASE_RATE = "base_rate"  # no error, and no skill: the base rate, or a usual hour's range, was said each time


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finding, and the number of answers it is of.

    Args:
        answers: for an error the answer at which it was found; else how many the finding is of, the newest.
        more: answers that are missing while it is too early; for an error, after which it is forgiven if it does not
            show again.
    """

    finding: Finding
    answers: int
    more: int = 0


@dataclass(frozen=True, slots=True)
class RangeBets:
    """What is bet against ranges of one level: the shares of moves that might really end inside."""

    level: float
    narrow: tuple[float, ...]
    wide: tuple[float, ...]


BETS_50: Final = RangeBets(0.5, (0.2, 0.3, 0.4), (0.6, 0.7, 0.8))
BETS_90: Final = RangeBets(0.9, (0.5, 0.6, 0.7, 0.8), (0.95, 0.98))
TOO_SURE: Final = (0.2, 1 / 3, 0.5, 0.7)  # the honest chance is nearer to the base rate: its weight in the answer
NOT_SURE: Final = (1.5, 2.0, 3.0)  # the honest chance is further from the base rate
RANGES_NEEDED: Final = 60
CHANCES_NEEDED: Final = 100


def judge_ranges(inside: Sequence[bool], bets: RangeBets, widths: Sequence[float] = ()) -> Verdict:
    """Judge ranges of one level by whether each held its move.

    Both levels of "How far?" are judged, so each may accuse half of `FALSE_ALARMS`.

    Args:
        inside: whether each held, in the order in which they were given.
        bets: of the level.
        widths: of each, in widths of a usual hour's range of that level; none: that is not judged.

    >>> judge_ranges([True] * 9, BETS_50).finding
    <Finding.TOO_EARLY: 'too_early'>
    >>> judge_ranges([False] * 5, BETS_90)
    Verdict(finding=<Finding.TOO_NARROW: 'too_narrow'>, answers=4, more=59)
    >>> judge_ranges([False] * 4 + ([True] * 9 + [False]) * 10, BETS_90)
    Verdict(finding=<Finding.NOTHING: 'nothing'>, answers=100, more=0)
    """
    gains = (
        (
            [_gain(share, bets.level, held=held) for share in bets.narrow],
            [_gain(share, bets.level, held=held) for share in bets.wide],
        )
        for held in inside
    )
    verdict = _judge(gains, FALSE_ALARMS / 2, (Finding.TOO_NARROW, Finding.TOO_WIDE), RANGES_NEEDED)
    return _unless_repeated(verdict, [abs(width - 1) for width in widths], SAME_WIDTH)


@dataclass(frozen=True, slots=True)
class Chances:
    """One answer in chances: what was said of each outcome, its base rate, and which came."""

    said: tuple[float, ...]
    base_rate: tuple[float, ...]
    came: int


def judge_chances(answers: Sequence[Chances]) -> Verdict:
    """Judge chances, by whether those nearer to the base rate, or further from it, tell better what came.

    >>> judge_chances([Chances((0.98, 0.02), (0.6, 0.4), came=1)] * 5).finding
    <Finding.TOO_SURE: 'too_sure'>
    """
    verdict = _judge(map(_gains_on, answers), FALSE_ALARMS, (Finding.TOO_SURE, Finding.NOT_SURE_ENOUGH), CHANCES_NEEDED)
    return _unless_repeated(verdict, list(map(_distance, answers)), REPEATED)


def _unless_repeated(verdict: Verdict, distances: Sequence[float], most: float) -> Verdict:
    """Return the verdict, or that the base rate was repeated: no error shows, and the newest answers keep to it."""
    newest = distances[-MOST_JUDGED:]
    is_unproved = verdict.finding in {Finding.TOO_EARLY, Finding.NOTHING}
    if is_unproved and len(newest) >= FEW and sum(newest) / len(newest) <= most:
        return Verdict(Finding.BASE_RATE, len(newest))
    return verdict


def _gains_on(answer: Chances) -> Bets:
    stated = _bounded(answer.said)
    base_rate = _bounded(answer.base_rate)
    kept = log(stated[answer.came])
    return (
        [log(_leaned(stated, base_rate, weight)[answer.came]) - kept for weight in TOO_SURE],
        [log(_leaned(stated, base_rate, weight)[answer.came]) - kept for weight in NOT_SURE],
    )


def _distance(answer: Chances) -> float:
    """Return how much of the chance lay elsewhere than in the base rate, 0..1."""
    return sum(abs(said - usual) for said, usual in zip(answer.said, answer.base_rate, strict=True)) / 2


def _judge(gains: Iterable[Bets], alarms: float, errors: tuple[Finding, Finding], needed: int) -> Verdict:
    """Play the bets out, run by run, and return the newest verdict that is not forgiven.

    Args:
        gains: for each answer, by how much each bet on the first and on the second error grows, as logarithms.
        alarms: share of calibrated learners that may ever be accused.
        errors: what to report where the bets on the first, or on the second error have grown most.
        needed: answers without a verdict after which an error counts as not shown.
    """
    error: Verdict | None = None
    run, begin, answers = 1, 0, 0
    stakes: Bets | None = None

    for answers, gained in enumerate(gains, 1):
        stakes = _grown(stakes, gained)
        first, second = map(_log_mean, stakes)

        if _log_mean((first, second)) >= _accuses(run, alarms):
            error = Verdict(errors[0] if first >= second else errors[1], answers)
            run, begin, stakes = 1, answers, None
        elif answers - begin == MOST_JUDGED:
            run, begin, stakes = run + 1, answers, None

    since = answers - (error.answers if error else 0)
    if since >= needed:
        return Verdict(Finding.NOTHING, min(since, MOST_JUDGED))
    if error is not None:
        return replace(error, more=needed - since)
    return Verdict(Finding.TOO_EARLY, answers, needed - answers)


def _grown(stakes: Bets | None, gained: Bets) -> Bets:
    """Return what the bets on two opposite errors have grown to, as logarithms; half of the stake is on each error."""
    first, second = stakes or ([0.0] * len(gained[0]), [0.0] * len(gained[1]))
    return (
        [grown + gain for grown, gain in zip(first, gained[0], strict=True)],
        [grown + gain for grown, gain in zip(second, gained[1], strict=True)],
    )


def _accuses(run: int, alarms: float) -> float:
    """Return the logarithm of the stake at which a run accuses; the shares of all runs add up to 1."""
    share = FIRST_RUN if run == 1 else (1 - FIRST_RUN) / (run * (run - 1))
    return -log(alarms * share)


def _log_mean(logs: Sequence[float]) -> float:
    """Return the logarithm of the mean of numbers given by their logarithms."""
    # Taken over the largest, so that no exponential overflows.
    largest = max(logs)
    total = 0.0
    for value in logs:
        total += exp(value - largest)
    return largest + log(total / len(logs))


def _gain(share: float, level: float, *, held: bool) -> float:
    if held:
        return log(share / level)
    return log((1 - share) / (1 - level))


def _bounded(chances: Sequence[float]) -> tuple[float, ...]:
    """Return chances of at least `LEAST_CHANCE` that add to one."""
    raised = [max(chance, LEAST_CHANCE) for chance in chances]
    total = sum(raised)
    return tuple(chance / total for chance in raised)


def _leaned(stated: Sequence[float], base_rate: Sequence[float], weight: float) -> tuple[float, ...]:
    """Return chances between the base rate (weight 0) and what was said (1), or beyond it, by their odds."""
    mixed = [chance**weight * base ** (1 - weight) for chance, base in zip(stated, base_rate, strict=True)]
    total = sum(mixed)
    return tuple(chance / total for chance in mixed)
