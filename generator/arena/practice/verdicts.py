"""Whether a learner's ranges and chances are calibrated, judged after each answer.

A test for a fixed number of answers that is read after every answer will sooner or later accuse everybody. So each
verdict here is a bet against the claim that the answers are calibrated. The bet starts with a stake of one. Against a
calibrated learner it gains nothing on average, so the chance that it ever grows to `x` is at most `1 / x`, however long
they practise and whenever they look (Ville's inequality). An error is reported once the stake is so large that at most
5 in 100 calibrated learners ever see such a report.

The opponent spreads the stake over a few errors of plain sizes. `site/assets/practice-scores.js` computes the same.

Source: G. Shafer, Testing by betting, 2021; V. Ville, Étude critique de la notion de collectif, 1939.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log
from typing import Final

from generator.arena.scoring import LEAST_CHANCE

FALSE_ALARMS: Final = 0.05  # of calibrated learners, ever, for each kind of question


class Finding(StrEnum):
    """What the answers show."""

    TOO_EARLY = "too_early"  # fewer than an error of the usual size needs to show
    NOTHING = "nothing"  # enough answers, and no error that shows
    TOO_NARROW = "too_narrow"
    TOO_WIDE = "too_wide"
    TOO_SURE = "too_sure"
    NOT_SURE_ENOUGH = "not_sure_enough"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finding after `answers` of them; `more` is how many are missing while it is too early."""

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


def judge_ranges(inside: Sequence[bool], bets: RangeBets) -> Verdict:
    """Judge ranges of one level by whether each held its move.

    Both levels of "How far?" are judged, so each may accuse half of `FALSE_ALARMS`.

    >>> judge_ranges([True] * 10, BETS_50).finding
    <Finding.TOO_EARLY: 'too_early'>
    >>> judge_ranges([False] * 10, BETS_90)
    Verdict(finding=<Finding.TOO_NARROW: 'too_narrow'>, answers=10, more=0)
    """
    needed = log(2 / FALSE_ALARMS)
    stakes = _Stakes(len(bets.narrow), len(bets.wide))

    for held in inside:
        stakes.add(
            [_gain(share, bets.level, held=held) for share in bets.narrow],
            [_gain(share, bets.level, held=held) for share in bets.wide],
        )
        if stakes.total() >= needed:
            finding = Finding.TOO_NARROW if stakes.first_leads() else Finding.TOO_WIDE
            return Verdict(finding, len(inside))

    return _unproved(len(inside), RANGES_NEEDED)


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
    needed = log(1 / FALSE_ALARMS)
    stakes = _Stakes(len(TOO_SURE), len(NOT_SURE))

    for answer in answers:
        stated = _bounded(answer.said)
        base_rate = _bounded(answer.base_rate)
        kept = log(stated[answer.came])
        stakes.add(
            [log(_leaned(stated, base_rate, weight)[answer.came]) - kept for weight in TOO_SURE],
            [log(_leaned(stated, base_rate, weight)[answer.came]) - kept for weight in NOT_SURE],
        )

        if stakes.total() >= needed:
            finding = Finding.TOO_SURE if stakes.first_leads() else Finding.NOT_SURE_ENOUGH
            return Verdict(finding, len(answers))

    return _unproved(len(answers), CHANCES_NEEDED)


class _Stakes:
    """What the bets on two opposite errors have grown to, as logarithms; half of the stake is on each error."""

    def __init__(self, first: int, second: int) -> None:
        self._first = [0.0] * first
        self._second = [0.0] * second

    def add(self, first: Iterable[float], second: Iterable[float]) -> None:
        self._first = [grown + gain for grown, gain in zip(self._first, first, strict=True)]
        self._second = [grown + gain for grown, gain in zip(self._second, second, strict=True)]

    def total(self) -> float:
        """Return the logarithm of the whole stake."""
        return _log_mean((_log_mean(self._first), _log_mean(self._second)))

    def first_leads(self) -> bool:
        return _log_mean(self._first) >= _log_mean(self._second)


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


def _unproved(answers: int, needed: int) -> Verdict:
    if answers < needed:
        return Verdict(Finding.TOO_EARLY, answers, needed - answers)
    return Verdict(Finding.NOTHING, answers)
