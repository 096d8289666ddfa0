"""Scores of ladders, as they are published and as the log has them of each day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from generator.arena.ladders.cells import _LOG_UNITS, Cell, pool
from generator.arena.ladders.hour import KINDS
from generator.arena.ladders.sums import LadderSums, key
from generator.arena.rates import ENOUGH
from generator.arena.scoring import E8
from generator.brain.forecast import UNITS
from generator.catalog.formats import rounded
from generator.catalog.horizons import HORIZONS
from generator.values.ladders import LadderScore, LadderScores, PartitionScore, ReliabilityBin


def scores_of(sums: LadderSums, rare: frozenset[tuple[str, float]]) -> LadderScores:
    """Return the scores as they are published; a rare level is pooled with the next lower one of its horizon."""
    rows = []
    for name, horizon in HORIZONS.items():
        for kind in KINDS:
            for place, level in enumerate(horizon.levels):
                cell = sums.cells.get(key(name, level, kind), Cell())
                if cell.n:
                    # A rare level has too few events of its own for a skill: it is scored with the one below it.
                    pooled = (name, level) in rare and place > 0
                    lower = sums.cells.get(key(name, horizon.levels[place - 1], kind)) if pooled else None
                    rows.append(_score(name, level, kind, cell, lower, is_rare=(name, level) in rare))

    bins = {
        name: tuple(
            ReliabilityBin(n, rounded(100 * stated / n / UNITS, 1), rounded(100 * events / n, 1))
            for n, stated, events in of_name
            if n
        )
        for name, of_name in sums.bins.items()
    }

    part = sums.partition
    partition = None
    if part.n:
        partition = PartitionScore(
            n=part.n,
            void=part.void,
            brier=_mean(part.brier, part.n, E8),
            base_rate_brier=_mean(part.base_brier, part.n, E8),
            log_score=_mean(part.log, part.n, _LOG_UNITS),
            base_rate_log_score=_mean(part.base_log, part.n, _LOG_UNITS),
            skill_percent=part.skill,
        )

    return LadderScores(tuple(rows), bins, partition)


def _score(horizon: str, level: float, kind: str, cell: Cell, lower: Cell | None, *, is_rare: bool) -> LadderScore:
    return LadderScore(
        horizon=horizon,
        level=level,
        kind=kind,
        n=cell.n,
        void=cell.void,
        events=cell.events,
        days=cell.days,
        said_percent=rounded(100 * cell.said / cell.n / UNITS, 2),
        came_percent=rounded(100 * cell.events / cell.n, 2) if cell.n >= ENOUGH else None,
        brier=_mean(cell.brier, cell.n, E8),
        base_rate_brier=_mean(cell.base_brier, cell.n, E8),
        log_score=_mean(cell.log, cell.n, _LOG_UNITS),
        base_rate_log_score=_mean(cell.base_log, cell.n, _LOG_UNITS),
        skill_percent=(pool(cell, lower) if lower else cell).skill,
        rare=is_rare,
    )


def short_scores(sums: LadderSums) -> dict[str, Any]:
    """Return how the chances did in a few figures, as the log has them of each day: by horizon and kind, all levels."""
    scores = {}
    for horizon in HORIZONS:
        for kind in KINDS:
            cells = [sums.cells.get(key(horizon, level, kind), Cell()) for level in HORIZONS[horizon].levels]
            scores[f"{horizon} {kind}"] = _short(cells)
    return {**scores, "partition": _short([sums.partition])}


def _short(cells: Sequence[Cell]) -> dict[str, Any]:
    n = sum(cell.n for cell in cells)
    if not n:
        return {"n": 0, "brier": None, "base_rate_brier": None}
    return {
        "n": n,
        "brier": _mean(sum(cell.brier for cell in cells), n, E8),
        "base_rate_brier": _mean(sum(cell.base_brier for cell in cells), n, E8),
    }


def _mean(total: int, n: int, unit: int) -> float:
    return rounded(total / n / unit, 4)
