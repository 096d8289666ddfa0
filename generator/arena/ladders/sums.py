"""Sums over hours of ladders: by level and kind, by tenths of what was said, and of the partition.

Base rates are how often it came before, by level and horizon, over all assets and earlier hours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, NamedTuple

from generator.arena.ladders.cells import Cell, losses_of
from generator.arena.ladders.hour import KINDS, PARTITION, LadderHour, is_done, part_of
from generator.arena.scoring import units_of
from generator.brain.forecast import UNITS
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import rounded
from generator.catalog.horizons import HORIZONS

RARE_DAYS: Final = 30
_EITHER: Final = 2  # of above, below and either
_BINS: Final = 10
Bins = tuple[tuple[int, int, int], ...]  # by tenths of what was said: cases, sum of what was said, how often it came
NO_BINS: Final[Bins] = ((0, 0, 0),) * _BINS


Sides = tuple[bool, bool, bool]
"""Whether a move went above a level, below its opposite, and either of the two."""


class Case(NamedTuple):
    """One level of one asset over one horizon: the chances that were said, and what came of them."""

    level: float
    kind: str
    chances: tuple[int, int, int]  # of above, below and either, in ten-thousandths
    base: int  # base rate of either
    events: Sides | None  # None where it is not known


def _cases(hour: LadderHour, horizon: str) -> Iterator[Case]:
    """Give each asset's levels, at the end and touched; a stored row is the level, then three chances of each kind."""
    for asset, outcome in hour.came[horizon].items():
        rows = hour.said[asset]["ladder"][horizon]
        for (level, *chances), base_rates in zip(rows, hour.base[horizon], strict=True):
            events = _events(outcome, level)
            for place, (kind, of_kind) in enumerate(zip(KINDS, events, strict=True)):
                above, below, either = (units_of(chance) for chance in chances[3 * place : 3 * place + 3])
                yield Case(level, kind, (above, below, either), units_of(base_rates[place]), of_kind)


@dataclass(frozen=True, slots=True)
class LadderSums:
    """All sums of live hours, or of those of the backtest."""

    cells: Mapping[str, Cell] = field(default_factory=dict)  # by horizon, level and kind
    bins: Mapping[str, Bins] = field(default_factory=dict)  # by horizon and kind, over levels and sides
    partition: Cell = field(default_factory=Cell)

    def plus(self, hour: LadderHour, horizon: str) -> LadderSums:
        """Add one horizon of an hour, of which all is known."""
        cells = dict(self.cells)
        bins = dict(self.bins)
        day = hour.start_ms // DAY_MS
        for case in _cases(hour, horizon):
            name = key(horizon, case.level, case.kind)
            cell = cells.get(name, Cell())
            if case.events is None:
                cells[name] = replace(cell, void=cell.void + 1)
                continue

            chance = case.chances[_EITHER]
            is_passed = case.events[_EITHER]
            # Passed is the first of the two outcomes, so it is at place 0.
            losses = losses_of((chance, UNITS - chance), (case.base, UNITS - case.base), outcome=int(not is_passed))
            cells[name] = cell.counted(day, losses, event=is_passed, stated=chance)

            of_kind = f"{horizon} {case.kind}"
            bins[of_kind] = _binned(bins.get(of_kind, NO_BINS), case.chances, case.events)

        partition = self.partition
        if horizon == PARTITION:
            partition = self._with_parts(hour, day)
        return LadderSums(cells, bins, partition)

    def _with_parts(self, hour: LadderHour, day: int) -> Cell:
        cell = self.partition
        for asset, outcome in hour.came[PARTITION].items():
            part = hour.said[asset]["partition"]
            place = part_of(part, outcome.get("move"))
            if place is None:
                cell = replace(cell, void=cell.void + 1)
                continue

            chances = tuple(units_of(chance) for chance in part["chances"])
            base = tuple(units_of(chance) for chance in part["base_rates"])
            # The middle part is the band: an event is a move out of it, on either side.
            cell = cell.counted(day, losses_of(chances, base, place), event=place != 1, stated=UNITS - chances[1])
        return cell


def sums_of(hours: Iterable[LadderHour]) -> LadderSums:
    """Return the sums of some hours, of all that has come due of them."""
    sums = LadderSums()
    for hour in hours:
        for horizon in HORIZONS:
            if is_done(hour, horizon):
                sums = sums.plus(hour, horizon)
    return sums


def counted(sums: LadderSums) -> dict[str, dict[str, Any]]:
    """Return the sums that do not depend on the order in which cases came due, each by its name."""
    cells = {name: _counted(cell) for name, cell in sums.cells.items() if cell.n or cell.void}
    bins = dict(sums.bins)
    return {"level": cells, "reliability": bins, "partition": {"4h": _counted(sums.partition)}}


def _counted(cell: Cell) -> list[int]:
    return [cell.n, cell.void, cell.events, cell.brier, cell.base_brier, cell.log, cell.base_log, cell.said]


def key(horizon: str, level: float, kind: str) -> str:
    """Return the name of a cell."""
    return f"{horizon} {level:g} {kind}"


def _events(outcome: Mapping[str, Any], level: float) -> Iterator[Sides | None]:
    """Give what came of above, below and either at the end, then of the touch; None where unknown."""
    move = outcome.get("move")
    yield None if move is None else _sides(move > level, move < -level)
    if outcome.get("high") is None:
        yield None
    else:
        yield _sides(outcome["high"] > level, outcome["low"] < -level)


def _sides(above: bool, below: bool) -> Sides:  # noqa: FBT001
    return above, below, above or below


def _binned(bins: Bins, chances: Sequence[int], events: Sides) -> Bins:
    counts = [list(tenth) for tenth in bins]
    for chance, event in zip(chances, events, strict=True):
        tenth = counts[min(chance * _BINS // UNITS, _BINS - 1)]
        tenth[0] += 1
        tenth[1] += chance
        tenth[2] += int(event)
    return tuple((n, chances, events) for n, chances, events in counts)


@dataclass(frozen=True, slots=True)
class LadderTotals:
    """What is kept of the whole record."""

    live: LadderSums = field(default_factory=LadderSums)
    backtest: LadderSums = field(default_factory=LadderSums)

    def plus(self, hour: LadderHour, horizon: str) -> LadderTotals:
        """Add one horizon of an hour."""
        if hour.warm_up:
            return replace(self, backtest=self.backtest.plus(hour, horizon))
        return replace(self, live=self.live.plus(hour, horizon))

    def base(self) -> dict[str, list[list[float]]]:
        """Return how often each level was passed so far, live or in the backtest: horizon -> [end, touch] of each."""
        return {
            name: [[self._rate(key(name, level, kind)) for kind in KINDS] for level in horizon.levels]
            for name, horizon in HORIZONS.items()
        }

    def _rate(self, name: str) -> float:
        cells = [sums.cells.get(name, Cell()) for sums in (self.live, self.backtest)]
        events = sum(cell.events for cell in cells)
        cases = sum(cell.n for cell in cells)
        # Half a case of each kind is added, so that a level never passed is not said to be impossible.
        return rounded((events + 0.5) / (cases + 1), 4)

    def rare(self) -> frozenset[tuple[str, float]]:
        """Return the levels that were passed at the end on fewer than 30 days of the record."""
        rare = set()
        for name, horizon in HORIZONS.items():
            for level in horizon.levels:
                cells = [sums.cells.get(key(name, level, "end"), Cell()) for sums in (self.live, self.backtest)]
                if sum(cell.days for cell in cells) < RARE_DAYS:
                    rare.add((name, level))
        return frozenset(rare)

    def as_json(self) -> dict[str, Any]:
        """Return the totals as plain values."""
        return {name: _sums_as_json(sums) for name, sums in (("live", self.live), ("backtest", self.backtest))}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> LadderTotals:
        """Read totals that `as_json` gave."""
        return cls(**{name: _sums_of_json(stored[name]) for name in ("live", "backtest")})


def _sums_as_json(sums: LadderSums) -> dict[str, Any]:
    cells = {name: asdict(cell) for name, cell in sums.cells.items()}
    return {"cells": cells, "bins": dict(sums.bins), "partition": asdict(sums.partition)}


def _sums_of_json(stored: Mapping[str, Any]) -> LadderSums:
    return LadderSums(
        cells={name: Cell(**cell) for name, cell in stored["cells"].items()},
        bins={name: tuple((n, stated, events) for n, stated, events in bins) for name, bins in stored["bins"].items()},
        partition=Cell(**stored["partition"]),
    )
