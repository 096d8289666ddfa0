"""Will it move: the chance that the price at the end of the hour lies outside the band, against what came.

The chance is one minus that of the band, and its base rate likewise; both as published. Scores are those of two
classes, with intervals over blocks: the forecasts of one hour move together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from generator.arena.blocks import Cell, bin_of, bins_of
from generator.arena.rates import enough_for_skill, shared
from generator.arena.scoring import E8, E9, Ratio, log_e9, mean, skill, squared_error_e8, units_of
from generator.brain.forecast import UNITS
from generator.catalog.durations import HOUR_MS
from generator.catalog.words import Prediction
from generator.values.hours import PredictionMade
from generator.values.rounds import Round
from generator.values.scores import MoveHourRow, MoveScores

EDGES: Final = (0.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0)  # percent
HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class _Case:
    """One forecast that came due."""

    hour: int  # of the UTC day in which its horizon begins
    said: int  # in ten-thousandths
    usual: int
    moved: int
    losses: tuple[int, int]  # Brier score and that of the base rate
    logs: tuple[int, int]  # likewise the log score


def _case(played: Round | PredictionMade) -> _Case | None:
    chances = played.move
    if chances is None or played.outcome is None:
        return None

    moved = played.outcome is not Prediction.NEUTRAL
    # The log score takes the chance that was given to what came, of a move or of none.
    given = [chance if moved else 1 - chance for chance in (chances.chance, chances.base_rate)]
    return _Case(
        hour=played.start_ms // HOUR_MS % HOURS,
        said=units_of(chances.chance),
        usual=units_of(chances.base_rate),
        moved=int(moved),
        losses=(squared_error_e8(chances.chance, has_come=moved), squared_error_e8(chances.base_rate, has_come=moved)),
        logs=(log_e9(given[0]), log_e9(given[1])),
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

    def plus(self, played: Sequence[Round | PredictionMade]) -> MoveSums:
        """Add forecasts that came due together."""
        cases = [case for case in map(_case, played) if case is not None]
        if not cases:
            return self

        by_bin: dict[int, list[_Case]] = {}
        by_hour: dict[int, list[_Case]] = {}
        for case in cases:
            by_bin.setdefault(bin_of(EDGES, 100 * case.said / UNITS), []).append(case)
            by_hour.setdefault(case.hour, []).append(case)

        return MoveSums(
            total=_added(self.total, cases),
            usual=self.usual + sum(case.usual for case in cases),
            brier=_compared(self.brier, [case.losses for case in cases]),
            log=_compared(self.log, [case.logs for case in cases]),
            bins={**self.bins, **{at: _added(self.bins.get(at, Cell()), of) for at, of in by_bin.items()}},
            hours={**self.hours, **{at: _added(self.hours.get(at, Cell()), of) for at, of in by_hour.items()}},
        )

    @property
    def shows_skill(self) -> bool:
        """Whether there are days and events enough to speak of skill; of each day an hour comes once."""
        days = max((cell.came.blocks for cell in self.hours.values()), default=0)
        moved = self.total.came
        return enough_for_skill(days, moved.above, moved.below)

    def scores(self, *, backtest: bool) -> MoveScores:
        """Return the scores, of live forecasts or of the `backtest`."""
        n = self.total.came.below
        brier = mean(self.brier.above, E8, n)
        base_brier = mean(self.brier.below, E8, n)
        log_score = mean(self.log.above, E9, n)
        base_log = mean(self.log.below, E9, n)

        return MoveScores(
            n=n,
            said_percent=self.total.said_percent,
            base_percent=round(self.usual / 100 / n, 1) if n else None,
            moved=self.total.came.rate(backtest=backtest),
            brier=brier,
            base_rate_brier=base_brier,
            log_score=log_score,
            base_rate_log_score=base_log,
            skill_percent=skill(brier, base_brier, self.brier) if self.shows_skill else None,
            log_skill_percent=skill(log_score, base_log, self.log) if self.shows_skill else None,
            bins=bins_of(EDGES, self.bins, backtest=backtest),
            hours=tuple(self._hour(hour, backtest=backtest) for hour in range(HOURS)),
        )

    def _hour(self, hour: int, *, backtest: bool) -> MoveHourRow:
        cell = self.hours.get(hour, Cell())
        moved = shared(cell.came.rate(backtest=backtest))
        return MoveHourRow(hour, moved.n, cell.said_percent, moved)


def _added(cell: Cell, cases: Sequence[_Case]) -> Cell:
    return cell.plus(sum(case.said for case in cases), sum(case.moved for case in cases), len(cases))


def _compared(ratio: Ratio, losses: Sequence[tuple[int, int]]) -> Ratio:
    return ratio.plus(sum(own for own, _ in losses), sum(other for _, other in losses))
