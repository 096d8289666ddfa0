"""The ladder and the partition of each full hour: sealed before it for all assets at once, judged, and scored.

What is sealed of an hour is one text of all assets. It is made in the ticks of the ten minutes before the hour, and
the last one counts. The move at the end of a horizon is that between two published prices; whether a level was touched
on the way is read from the highs and lows of 5-minute bars against the price at the start, and unknown for good where
a bar is missing. Base rates are how often it came before, by level and horizon, over all assets and earlier hours.

Every sum is a whole number of scaled figures. Intervals come from how UTC days differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, NamedTuple

from generator.arena.hourly import upcoming_hour
from generator.arena.inputs import PlayInputs, void_reason
from generator.arena.outcome import fix_price
from generator.arena.ranges import move_percent
from generator.arena.rates import ENOUGH, enough_for_skill
from generator.arena.scoring import E8, UNITS, Ratio, brier_of_units, log_score, units_of
from generator.arena.values import LadderScore, LadderScores, MeanInterval, PartitionScore, ReliabilityBin
from generator.brain.ladder import Ladder, Partition
from generator.brain.reading import AssetReading
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.formats import rounded
from generator.catalog.horizons import HORIZONS

WAIT_MS: Final = 15 * MINUTE_MS  # for the last bar of a horizon
RARE_DAYS: Final = 30
KINDS: Final = ("end", "touch")
PARTITION: Final = "4h"
_LOG_UNITS: Final = 1_000_000
_EITHER: Final = 2  # of above, below and either
_BINS: Final = 10
_LEAST: Final = 0.001  # no chance is scored for less, so that one surprise does not decide it
Said = Mapping[str, Any]  # by asset, as it is sealed
Reached = Callable[[str, int, int], "tuple[float, float] | None"]
"""The highest and lowest price of an asset in bars from a wall time to another; None where one is not known yet."""


@dataclass(frozen=True, slots=True)
class LadderHour:
    """What was said of one hour, and what came; times are wall times."""

    start_ms: int
    made_ms: int
    warm_up: bool
    said: Said
    base: Mapping[str, Any]  # base rates when it was made: horizon -> [end, touch] of each level
    prices: Mapping[str, float] = field(default_factory=dict)  # at the start; without those that are void
    came: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # horizon -> asset -> move, high, low
    void_reason: str | None = None

    @property
    def due_ms(self) -> int | None:
        """When there is next something to do, None where all is known."""
        if self.void_reason is not None:
            return None
        if not self.came and not self.prices:
            return self.start_ms
        ends = [end_ms(self, name) for name in HORIZONS if not is_done(self, name)]
        return min(ends, default=None)


def end_ms(hour: LadderHour, horizon: str) -> int:
    """Return when a horizon ends."""
    return hour.start_ms + HORIZONS[horizon].length_ms


def is_done(hour: LadderHour, horizon: str) -> bool:
    """Return whether all is known of a horizon: nothing waits for a bar."""
    came = hour.came.get(horizon)
    return came is not None and not any("waits" in one for one in came.values())


def said_of(assets: Mapping[str, AssetReading]) -> Said | None:
    """Return what is sealed of a reading, by asset; None without a ladder of any."""
    said = {
        name: {"ladder": _plain(read.ladder), "partition": _plain_partition(read.partition)}
        for name, read in assets.items()
        if read.ladder is not None
    }
    return said or None


def _plain(ladder: Ladder) -> dict[str, Any]:
    """Return a ladder by horizon: of each level its percent, then above, below and either at the end, then touched."""
    return {
        horizon: [[level.level, *level.end[:3], *level.touch[:3]] for level in levels]
        for horizon, levels in ladder.items()
    }


def _plain_partition(part: Partition | None) -> dict[str, Any] | None:
    if part is None:
        return None
    chances = (part.chances.down, part.chances.neutral, part.chances.up)
    usual = (part.base_rate.down, part.base_rate.neutral, part.base_rate.up)
    return {"band_percent": rounded(100 * part.band, 4), "chances": list(chances), "base_rates": list(usual)}


def sealed_of(hour: LadderHour, start: str) -> dict[str, Any]:
    """Return the content that is sealed of an hour, with its start as published."""
    return {"start": start, "assets": hour.said, "base_rates": hour.base}


@dataclass(frozen=True, slots=True)
class Cell:
    """Sums of one level, horizon and kind over all assets, of either side."""

    n: int = 0
    void: int = 0
    events: int = 0
    days: int = 0  # UTC days with an event
    day: int = -1  # the last of them
    brier: int = 0
    base_brier: int = 0
    log: int = 0
    base_log: int = 0
    said: int = 0
    block: int = -1  # the UTC day that is being summed up, and what it saved and the base rate's loss
    saved: int = 0
    lost: int = 0
    blocks: int = 0  # the days before, and their sums of squares and products
    saved_saved: int = 0
    saved_lost: int = 0
    lost_lost: int = 0

    def counted(self, day: int, losses: Losses, *, event: bool, said: int) -> Cell:
        """Add one case that began on a UTC day."""
        cell = self if day == self.block else self.closed(day)
        is_new_day = event and day != cell.day
        return replace(
            cell,
            n=cell.n + 1,
            events=cell.events + int(event),
            days=cell.days + int(is_new_day),
            day=day if event else cell.day,
            brier=cell.brier + losses.brier,
            base_brier=cell.base_brier + losses.base_brier,
            log=cell.log + losses.log,
            base_log=cell.base_log + losses.base_log,
            said=cell.said + said,
            saved=cell.saved + losses.base_brier - losses.brier,
            lost=cell.lost + losses.base_brier,
        )

    def closed(self, day: int = -1) -> Cell:
        """Fold the day that was summed up into the sums over days, and begin another."""
        if self.block < 0:
            return replace(self, block=day)
        return replace(
            self,
            block=day,
            saved=0,
            lost=0,
            blocks=self.blocks + 1,
            saved_saved=self.saved_saved + self.saved**2,
            saved_lost=self.saved_lost + self.saved * self.lost,
            lost_lost=self.lost_lost + self.lost**2,
        )

    @property
    def skill(self) -> MeanInterval:
        """The Brier skill against the base rate in percent, with its interval; none of a short record."""
        whole = self.closed()
        saved = whole.base_brier - whole.brier
        products = (whole.saved_saved, whole.saved_lost, whole.lost_lost)
        half = Ratio(whole.blocks, saved, whole.base_brier, *products).half_width()
        if half is None or not enough_for_skill(whole.blocks, whole.events, whole.n):
            return MeanInterval()
        value = 100 * saved / whole.base_brier
        return MeanInterval(rounded(value, 1), rounded(value - 100 * half, 1), rounded(value + 100 * half, 1))


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses of one case, scaled."""

    brier: int
    base_brier: int
    log: int
    base_log: int


def losses_of(chances: tuple[int, ...], base: tuple[int, ...], came: int) -> Losses:
    """Return the losses of chances and base rates, in units, of which the one at the place `came` happened.

    Of an event there are two: that it comes, and that it does not.
    """

    def brier(units: tuple[int, ...]) -> int:
        every = brier_of_units(units, came)
        return every // 2 if len(units) == 2 else every

    def surprise(units: tuple[int, ...]) -> int:
        return round(_LOG_UNITS * log_score(units[came] / UNITS, _LEAST))

    return Losses(brier(chances), brier(base), surprise(chances), surprise(base))


Bins = tuple[tuple[int, int, int], ...]  # by tenths of what was said: cases, sum of what was said, how often it came
NO_BINS: Final[Bins] = ((0, 0, 0),) * _BINS


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
        for asset, came in hour.came[horizon].items():
            for place, row in enumerate(hour.said[asset]["ladder"][horizon]):
                for kind, events in zip(KINDS, _events(came, row[0]), strict=True):
                    name = key(horizon, row[0], kind)
                    cell = cells.get(name, Cell())
                    if events is None:
                        cells[name] = replace(cell, void=cell.void + 1)
                        continue
                    first = 1 + 3 * KINDS.index(kind)
                    chances = [units_of(chance) for chance in row[first : first + 3]]
                    base = units_of(hour.base[horizon][place][KINDS.index(kind)])
                    said = chances[_EITHER]
                    pairs = ((said, UNITS - said), (base, UNITS - base))
                    losses = losses_of(*pairs, came=int(not events[_EITHER]))
                    cells[name] = cell.counted(day, losses, event=events[_EITHER], said=said)
                    bins[f"{horizon} {kind}"] = _binned(bins.get(f"{horizon} {kind}", NO_BINS), chances, events)
        partition = self.partition
        if horizon == PARTITION:
            partition = self._with_parts(hour, day)
        return LadderSums(cells, bins, partition)

    def _with_parts(self, hour: LadderHour, day: int) -> Cell:
        cell = self.partition
        for asset, came in hour.came[PARTITION].items():
            part = hour.said[asset]["partition"]
            place = part_of(part, came.get("move"))
            if place is None:
                cell = replace(cell, void=cell.void + 1)
                continue
            chances = tuple(units_of(chance) for chance in part["chances"])
            base = tuple(units_of(chance) for chance in part["base_rates"])
            cell = cell.counted(day, losses_of(chances, base, place), event=place != 1, said=UNITS - chances[1])
        return cell


def sums_of(hours: Iterable[LadderHour]) -> LadderSums:
    """Return the sums of some hours, of all that has come due of them."""
    sums = LadderSums()
    for hour in hours:
        for horizon in HORIZONS:
            if is_done(hour, horizon):
                sums = sums.plus(hour, horizon)
    return sums


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


def counted(sums: LadderSums) -> dict[str, dict[str, Any]]:
    """Return the sums that do not depend on the order in which cases came due, each by its name."""
    cells = {name: _counted(cell) for name, cell in sums.cells.items() if cell.n or cell.void}
    bins = dict(sums.bins)
    return {"level": cells, "reliability": bins, "partition": {"4h": _counted(sums.partition)}}


def _counted(cell: Cell) -> list[int]:
    return [cell.n, cell.void, cell.events, cell.brier, cell.base_brier, cell.log, cell.base_log, cell.said]


def part_of(part: Mapping[str, Any] | None, move: float | None) -> int | None:
    """Return which part came: 0 a fall beyond the usual move, 1 within it, 2 a rise; None where unknown."""
    if part is None or move is None:
        return None
    if abs(move) <= part["band_percent"]:
        return 1
    return 2 if move > 0 else 0


def key(horizon: str, level: float, kind: str) -> str:
    """Return the name of a cell."""
    return f"{horizon} {level:g} {kind}"


def _events(came: Mapping[str, Any], level: float) -> Iterator[tuple[bool, bool, bool] | None]:
    """Give what came of above, below and either at the end, then of the touch; None where unknown."""
    move = came.get("move")
    yield None if move is None else _sides(move > level, move < -level)
    if came.get("high") is None:
        yield None
    else:
        yield _sides(came["high"] > level, came["low"] < -level)


def _sides(above: bool, below: bool) -> tuple[bool, bool, bool]:  # noqa: FBT001
    return above, below, above or below


def _binned(bins: Bins, chances: list[int], events: tuple[bool, bool, bool]) -> Bins:
    counts = [list(one) for one in bins]
    for chance, event in zip(chances, events, strict=True):
        one = counts[min(chance * _BINS // UNITS, _BINS - 1)]
        one[0] += 1
        one[1] += chance
        one[2] += int(event)
    return tuple((n, said, came) for n, said, came in counts)


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
        return rounded((events + 0.5) / (cases + 1), 4)

    def rare(self) -> frozenset[tuple[str, float]]:
        """Return the levels that were passed at the end on fewer than 30 days of the record."""
        found = set()
        for name, horizon in HORIZONS.items():
            for level in horizon.levels:
                cells = [sums.cells.get(key(name, level, "end"), Cell()) for sums in (self.live, self.backtest)]
                if sum(cell.days for cell in cells) < RARE_DAYS:
                    found.add((name, level))
        return frozenset(found)

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
        bins={name: tuple((n, said, came) for n, said, came in bins) for name, bins in stored["bins"].items()},
        partition=Cell(**stored["partition"]),
    )


def scores_of(sums: LadderSums, rare: frozenset[tuple[str, float]]) -> LadderScores:
    """Return the scores as they are published; a rare level is pooled with the next lower one of its horizon."""
    rows = []
    for name, horizon in HORIZONS.items():
        for kind in KINDS:
            for place, level in enumerate(horizon.levels):
                cell = sums.cells.get(key(name, level, kind), Cell())
                if cell.n:
                    pooled = (name, level) in rare and place > 0
                    lower = sums.cells.get(key(name, horizon.levels[place - 1], kind)) if pooled else None
                    rows.append(_score(name, level, kind, cell, lower, is_rare=(name, level) in rare))
    bins = {
        name: tuple(
            ReliabilityBin(n, rounded(100 * said / n / UNITS, 1), rounded(100 * came / n, 1))
            for n, said, came in of_name
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


def _mean(total: int, n: int, unit: int) -> float:
    return rounded(total / n / unit, 4)


def pool(one: Cell, other: Cell) -> Cell:
    """Add two cells of one horizon up; their days are taken for days of their own, as their interval is a rough one."""
    first = one.closed()
    second = other.closed()
    summed = {name: getattr(first, name) + getattr(second, name) for name in _SUMMED}
    return replace(first, **summed)


_SUMMED: Final = ("n", "events", "brier", "base_brier", "blocks", "saved_saved", "saved_lost", "lost_lost")


def make(inputs: PlayInputs, said: Said | None, totals: LadderTotals) -> LadderHour | None:
    """Return what this tick says of the upcoming hour; None outside of its window or without a ladder."""
    start_ms = upcoming_hour(inputs.now_ms)
    if start_ms is None or said is None:
        return None
    return LadderHour(start_ms, inputs.now_ms, inputs.warm_up, said, totals.base())


def judge(hour: LadderHour, inputs: PlayInputs, reached: Reached, published_ms: int | None) -> LadderHour:
    """Fix the start prices, then what came of each horizon that has ended."""
    begins = not hour.prices and not hour.came and inputs.now_ms >= hour.start_ms
    reason = void_reason(hour.made_ms, inputs, published_ms if begins and not hour.warm_up else None)
    if reason is not None:
        return replace(hour, void_reason=reason)
    if inputs.now_ms < hour.start_ms:
        return hour
    if begins:
        hour = _started(hour, inputs)

    for horizon in HORIZONS:
        if hour.void_reason is None and inputs.now_ms >= end_ms(hour, horizon) and not is_done(hour, horizon):
            came = {asset: _came(hour, horizon, asset, inputs, reached) for asset in hour.said}
            hour = replace(hour, came={**hour.came, horizon: came})
    return hour


def _started(hour: LadderHour, inputs: PlayInputs) -> LadderHour:
    prices = {}
    reasons = []
    for asset in hour.said:
        late_ms = inputs.now_ms - hour.start_ms
        price, reason = fix_price(inputs.prices, asset, inputs.venues_needed, "start", late_ms)
        if price is None:
            reasons.append(reason)
        else:
            prices[asset] = price
    if not prices:
        return replace(hour, void_reason=reasons[0])
    return replace(hour, prices=prices)


def _came(hour: LadderHour, horizon: str, asset: str, inputs: PlayInputs, reached: Reached) -> dict[str, Any]:
    """Return move, high and low of one asset in percent of the start's price, null where unknown."""
    start = hour.prices.get(asset)
    if start is None:
        return {"move": None, "high": None, "low": None}

    before = hour.came.get(horizon, {}).get(asset)
    if before is not None and "waits" not in before:
        return dict(before)
    late_ms = inputs.now_ms - end_ms(hour, horizon)
    if before is not None:
        move = before["move"]
    else:
        end, _ = fix_price(inputs.prices, asset, inputs.venues_needed, "end", late_ms)
        move = None if end is None else move_percent(start, end)

    edges = reached(asset, hour.start_ms, end_ms(hour, horizon))
    if edges is None:
        waits = {"waits": True} if late_ms < WAIT_MS else {}
        return {"move": move, "high": None, "low": None, **waits}
    high, low = edges
    return {"move": move, "high": move_percent(start, high), "low": move_percent(start, low)}


class LadderState(NamedTuple):
    """What the memory holds of ladders before a tick."""

    due: tuple[LadderHour, ...] = ()  # hours of which there is something to do now, the oldest first
    upcoming: LadderHour | None = None  # what was said of the upcoming hour, None outside of its window
    totals: LadderTotals = LadderTotals()


class LaddersPlayed(NamedTuple):
    """What a tick changes of ladders."""

    judged: tuple[LadderHour, ...]  # hours of which more is known now
    made: LadderHour | None  # what is said of the upcoming hour; None where it is what was said before
    totals: LadderTotals  # the same object where nothing was counted


def play_ladders(state: LadderState, inputs: PlayInputs, published_ms: int | None) -> LaddersPlayed:
    """Judge what is due, then make the upcoming hour's ladder. The same tick again changes nothing.

    Args:
        state: what is stored of them.
        inputs: of the tick.
        published_ms: wall time of the last release; None where nothing is published.
    """
    totals = state.totals
    judged = {}
    for before in state.due:
        hour = judge(before, inputs, inputs.reached, published_ms)
        for horizon in newly_done(before, hour):
            totals = totals.plus(hour, horizon)
        if hour != before:
            judged[hour.start_ms] = hour

    made = make(inputs, inputs.ladders, totals)
    if made is not None and not _is_news(made, judged.get(made.start_ms, state.upcoming)):
        made = None
    return LaddersPlayed(tuple(judged.values()), made, totals)


def _is_news(made: LadderHour, known: LadderHour | None) -> bool:
    """Return whether what is made of an hour is to be sealed: it has not begun, and something else was said before."""
    if known is None:
        return True
    has_begun = bool(known.prices or known.came) or known.void_reason is not None
    is_same = (known.said, known.base, known.warm_up) == (made.said, made.base, made.warm_up)
    return not has_begun and not is_same


def newly_done(before: LadderHour, after: LadderHour) -> list[str]:
    """Return the horizons of which all became known in a change."""
    return [name for name in HORIZONS if is_done(after, name) and not is_done(before, name)]


def day_is_over(day: int, now_ms: int) -> bool:
    """Return whether the last horizon of the hours that began on a UTC day has ended, and its bars had time to come."""
    return now_ms >= (day + 2) * DAY_MS - HOUR_MS + WAIT_MS
