"""Will it move: the chance that the price at the end of the hour lies outside the band, against what came.

The chance is one minus that of the band, and its base rate likewise; both as published. Scores are those of two
classes, with intervals over blocks: the forecasts of one hour move together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Final

from generator.arena.blocks import Cell, Ratio, bin_of, bins_of
from generator.arena.rates import enough_for_skill
from generator.arena.values import MeanInterval, MoveHour, MoveScores, PredictionMade, Round
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import rounded
from generator.catalog.words import Prediction

EDGES: Final = (0.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0)  # percent
LOG_CLAMP: Final = 0.01
_UNITS: Final = 10_000  # a published chance is a whole number of these
_E8: Final = 10**8
_E9: Final = 10**9
HOURS: Final = 24


def brier_units(chance: float, *, moved: bool) -> int:
    """Return the two-class Brier score, 0 (certain and right) .. 1 (certain and wrong), times 10^8.

    >>> brier_units(0.8, moved=True)  # 0.2^2
    4000000
    """
    return (round(chance * _UNITS) - (_UNITS if moved else 0)) ** 2


def log_units(chance: float, *, moved: bool) -> int:
    """Return -ln of the chance given to what came, times 10^9; chances below 0.01 count as 0.01."""
    given = chance if moved else 1 - chance
    return round(-log(max(given, LOG_CLAMP)) * _E9)


@dataclass(frozen=True, slots=True)
class _Case:
    """One forecast that came due."""

    hour: int  # of the UTC day in which its horizon begins
    said: int  # in ten-thousandths
    usual: int
    moved: int
    losses: tuple[int, int]  # Brier score and that of the base rate
    logs: tuple[int, int]  # likewise the log score


def _case(made: Round | PredictionMade) -> _Case | None:
    chances = made.move
    if chances is None or made.outcome is None:
        return None

    moved = made.outcome is not Prediction.NEUTRAL
    return _Case(
        hour=made.start_ms // HOUR_MS % HOURS,
        said=round(chances.chance * _UNITS),
        usual=round(chances.base_rate * _UNITS),
        moved=int(moved),
        losses=(brier_units(chances.chance, moved=moved), brier_units(chances.base_rate, moved=moved)),
        logs=(log_units(chances.chance, moved=moved), log_units(chances.base_rate, moved=moved)),
    )


@dataclass(frozen=True, slots=True)
class MoveSums:
    """Sums over forecasts that came due; immutable."""

    total: Cell = field(default_factory=Cell)
    usual: int = 0  # sum of the base rates, in ten-thousandths
    brier: Ratio = field(default_factory=Ratio)  # of the forecasts, over that of the base rates
    log: Ratio = field(default_factory=Ratio)
    bins: Mapping[int, Cell] = field(default_factory=dict)  # by chance
    hours: Mapping[int, Cell] = field(default_factory=dict)  # by hour of the UTC day
    hour_brier: Mapping[int, Ratio] = field(default_factory=dict)

    def plus(self, made: Sequence[Round | PredictionMade]) -> MoveSums:
        """Add forecasts that came due together."""
        cases = [case for case in map(_case, made) if case is not None]
        if not cases:
            return self

        by_bin: dict[int, list[_Case]] = {}
        by_hour: dict[int, list[_Case]] = {}
        for case in cases:
            by_bin.setdefault(bin_of(EDGES, 100 * case.said / _UNITS), []).append(case)
            by_hour.setdefault(case.hour, []).append(case)

        return MoveSums(
            total=_added(self.total, cases),
            usual=self.usual + sum(case.usual for case in cases),
            brier=_compared(self.brier, [case.losses for case in cases]),
            log=_compared(self.log, [case.logs for case in cases]),
            bins={**self.bins, **{at: _added(self.bins.get(at, Cell()), of) for at, of in by_bin.items()}},
            hours={**self.hours, **{at: _added(self.hours.get(at, Cell()), of) for at, of in by_hour.items()}},
            hour_brier={
                **self.hour_brier,
                **{
                    at: _compared(self.hour_brier.get(at, Ratio()), [case.losses for case in of])
                    for at, of in by_hour.items()
                },
            },
        )

    @property
    def shows_skill(self) -> bool:
        """Whether there are days and events enough to speak of skill; of each day an hour comes once."""
        days = max((cell.came.blocks for cell in self.hours.values()), default=0)
        came = self.total.came
        return enough_for_skill(days, came.above, came.below)

    def scores(self, *, backtest: bool) -> MoveScores:
        """Return the scores, of live forecasts or of the `backtest`."""
        n = self.total.came.below
        brier = mean(self.brier.above, _E8, n)
        base_brier = mean(self.brier.below, _E8, n)
        log_score = mean(self.log.above, _E9, n)
        base_log = mean(self.log.below, _E9, n)
        return MoveScores(
            n=n,
            said_percent=self.total.said_percent,
            base_percent=round(self.usual / 100 / n, 1) if n else None,
            moved=self.total.came.rate(backtest=backtest),
            brier=brier,
            base_rate_brier=base_brier,
            log_score=log_score,
            base_rate_log_score=base_log,
            skill_percent=skill(brier, base_brier, self.brier) if self.shows_skill else MeanInterval(),
            log_skill_percent=skill(log_score, base_log, self.log) if self.shows_skill else MeanInterval(),
            bins=bins_of(EDGES, self.bins, backtest=backtest),
            hours=tuple(self._hour(hour, backtest=backtest) for hour in range(HOURS)),
        )

    def _hour(self, hour: int, *, backtest: bool) -> MoveHour:
        cell = self.hours.get(hour, Cell())
        losses = self.hour_brier.get(hour, Ratio())
        n = cell.came.below
        against_base = skill(mean(losses.above, _E8, n), mean(losses.below, _E8, n), losses)
        return MoveHour(hour, n, cell.said_percent, cell.came.rate(backtest=backtest), against_base)


def _added(cell: Cell, cases: Sequence[_Case]) -> Cell:
    return cell.plus(sum(case.said for case in cases), sum(case.moved for case in cases), len(cases))


def _compared(ratio: Ratio, losses: Sequence[tuple[int, int]]) -> Ratio:
    return ratio.plus(sum(own for own, _ in losses), sum(other for _, other in losses))


def mean(total: int, scale: int, n: int) -> float | None:
    """Return a mean of scaled whole numbers, with four decimals; None without cases."""
    return round(total / scale / n, 4) if n else None


def skill(score: float | None, baseline: float | None, ratio: Ratio) -> MeanInterval:
    """Return 100 x (1 - score / baseline) from the published scores, with its interval over blocks; none without."""
    half = ratio.half_width()
    if score is None or not baseline or half is None:
        return MeanInterval()

    value = rounded(100 * (1 - score / baseline), 1)
    return MeanInterval(value, rounded(value - 100 * half, 1), rounded(value + 100 * half, 1))
