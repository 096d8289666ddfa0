"""Whether the regime's label still stands four hours later: the chances kept of each hour against the label then.

A case is an hour with a label and chances of today's kind, of which the label four hours later was kept too: in market
time and by the clock, to five minutes. After a gap it is not known, and nothing is scored. Chances of an earlier kind
meant something else; their hours are counted, and not scored.

Baselines are the climate, how often each label stood in the hours up to then (each label begins with one), and
persistence, which is sure that the label stays. Hours overlap, and a label stands for half a day: blocks are whole UTC
days, each counted once the last of its outcomes is due.

The chances are a sealed game too (`GAME`): those of the last tick before each full hour, of the label four hours after
it. The record above is of the hours kept, from before there was a log of them; the log counts its own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from generator.arena.blocks import Cell, bin_of, bins_of
from generator.arena.hourly import upcoming_hour
from generator.arena.inputs import PlayInputs
from generator.arena.rates import enough_for_skill
from generator.arena.scoring import E8, Ratio, brier_e8, mean, skill, units_of
from generator.arena.sealed import Content, Scores, Sealed, Seen
from generator.brain.forecast import UNITS
from generator.brain.holds import HOURS
from generator.brain.label import REGIMES
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.formats import probabilities, rounded
from generator.catalog.words import ConfidenceKind
from generator.values.hours import Hour
from generator.values.scores import HoldRecord, HoldScores

KIND: Final = ConfidenceKind.HOLDS_FOUR_HOURS.value
AHEAD_MS: Final = HOURS * HOUR_MS
CLOSE_MS: Final = 5 * MINUTE_MS
EDGES: Final = (0.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0)  # percent
_LABELS: Final = tuple(label.value for label in REGIMES)


class _Case(NamedTuple):
    """One hour of which it is known what came."""

    said: int  # that the label still stands, in ten-thousandths
    held: int
    own: int  # Brier scores of the four chances, times 10^8
    climate: int
    persistence: int


@dataclass(frozen=True, slots=True)
class HoldSums:
    """Sums over hours of one kind, a day at a time; immutable."""

    hours: int = 0  # with a label and chances
    first_ms: int = 0  # the first and the last of them
    last_ms: int = 0
    held: Cell = field(default_factory=Cell)
    climate: Ratio = field(default_factory=Ratio)  # of the chances' Brier score over the climate's
    persistence: Ratio = field(default_factory=Ratio)
    bins: Mapping[int, Cell] = field(default_factory=dict)  # by the chance that the label still stands

    def plus(self, hours: Sequence[Hour], cases: Sequence[_Case]) -> HoldSums:
        """Add the hours of one day, and those of them of which it is known what came."""
        sums = replace(
            self,
            hours=self.hours + len(hours),
            first_ms=self.first_ms or hours[0].at_ms,
            last_ms=hours[-1].at_ms,
        )
        if not cases:
            return sums

        by_bin: dict[int, list[_Case]] = {}
        for case in cases:
            by_bin.setdefault(bin_of(EDGES, 100 * case.said / UNITS), []).append(case)
        own = sum(case.own for case in cases)
        return replace(
            sums,
            held=_added(self.held, cases),
            climate=self.climate.plus(own, sum(case.climate for case in cases)),
            persistence=self.persistence.plus(own, sum(case.persistence for case in cases)),
            bins={**self.bins, **{at: _added(self.bins.get(at, Cell()), of) for at, of in by_bin.items()}},
        )

    def scores(self, *, backtest: bool) -> HoldScores:
        """Return the scores, of live hours or of the `backtest`."""
        held = self.held.came
        n = held.below
        brier = mean(self.climate.above, E8, n)
        climate = mean(self.climate.below, E8, n)
        persistence = mean(self.persistence.below, E8, n)
        shows_skill = enough_for_skill(held.blocks, held.above, n)

        return HoldScores(
            hours=self.hours,
            n=n,
            days=held.blocks,
            since_ms=self.first_ms if self.hours else None,
            until_ms=self.last_ms if self.hours else None,
            said_percent=self.held.said_percent,
            held=held.rate(backtest=backtest),
            brier=brier,
            climate_brier=climate,
            persistence_brier=persistence,
            climate_skill_percent=skill(brier, climate, self.climate) if shows_skill else None,
            persistence_skill_percent=skill(brier, persistence, self.persistence) if shows_skill else None,
            bins=bins_of(EDGES, self.bins, backtest=backtest),
        )


def _added(cell: Cell, cases: Sequence[_Case]) -> Cell:
    return cell.plus(sum(case.said for case in cases), sum(case.held for case in cases), len(cases))


Sums = Mapping[str, HoldSums]  # by kind, empty where the hour was kept before kinds existed


@dataclass(frozen=True, slots=True)
class HoldTotals:
    """What is counted of the whole record; immutable."""

    day: int = 0  # number of the first UTC day that is not counted yet
    live: Sums = field(default_factory=dict)
    backtest: Sums = field(default_factory=dict)
    stood: Mapping[str, Sequence[int]] = field(default_factory=dict)  # by kind: hours with each of the four labels

    def is_behind(self, until_ms: int) -> bool:
        """Return whether a day is over that is not counted, where every hour up to a time is kept."""
        return self.day < _first_open_day(until_ms)

    def plus(self, hours: Sequence[Hour], until_ms: int) -> HoldTotals:
        """Count the days of which no outcome comes after a time.

        Args:
            hours: from the first day that is not counted to five minutes after that time, oldest first.
            until_ms: that time.
        """
        end = _first_open_day(until_ms)
        parts: dict[bool, dict[str, HoldSums]] = {False: dict(self.live), True: dict(self.backtest)}
        stood = {kind: list(counts) for kind, counts in self.stood.items()}

        days: dict[tuple[int, bool, str], list[Hour]] = {}
        for hour in hours:
            if self.day <= hour.at_ms // DAY_MS < end and hour.chances is not None and hour.label in _LABELS:
                days.setdefault((hour.at_ms // DAY_MS, hour.warm_up, hour.chances_kind or ""), []).append(hour)

        times = [hour.at_ms for hour in hours]
        for (_, warm_up, kind), of_day in days.items():
            cases = []
            for hour in of_day if kind == KIND else ():
                counts = stood.setdefault(kind, [0] * len(_LABELS))
                # The climate may know the label of now, but none that is later.
                counts[_LABELS.index(hour.label)] += 1
                later = _later(hour, hours, times)
                if later is not None:
                    cases.append(_case(hour, later, counts))
            parts[warm_up][kind] = parts[warm_up].get(kind, HoldSums()).plus(of_day, cases)

        return HoldTotals(max(self.day, end), parts[False], parts[True], stood)

    def record(self) -> HoldRecord:
        """Return what is shown: the scores of today's kind, and how many hours are of earlier ones."""
        hours = Counter({kind: sums.hours for kind, sums in self.live.items() if kind != KIND})
        return HoldRecord(
            kind=KIND,
            live=self.live.get(KIND, HoldSums()).scores(backtest=False),
            backtest=self.backtest.get(KIND, HoldSums()).scores(backtest=True),
            earlier={kind or None: hours[kind] for kind in sorted(hours)},
        )


def _first_open_day(until_ms: int) -> int:
    """Return the first UTC day of which an outcome may come after a time."""
    return (until_ms - AHEAD_MS) // DAY_MS


def _later(hour: Hour, hours: Sequence[Hour], times: Sequence[int]) -> Hour | None:
    """Return the hour four hours later; None where none was kept then, or the replay was moved in between."""
    due_ms = hour.at_ms + AHEAD_MS
    first = bisect_left(times, due_ms - CLOSE_MS)
    near = [later for later in hours[first : first + 2] if abs(later.at_ms - due_ms) <= CLOSE_MS]
    in_step = [later for later in near if abs(later.market_ms - hour.market_ms - AHEAD_MS) <= CLOSE_MS]
    known = [later for later in in_step if later.label in _LABELS]
    return min(known, key=lambda later: abs(later.at_ms - due_ms), default=None)


def _case(hour: Hour, later: Hour, stood: Sequence[int]) -> _Case:
    """Score what was said of an hour; `stood` counts the labels up to it."""
    now = _LABELS.index(hour.label)
    then = _LABELS.index(later.label)
    chances = hour.chances or ()

    # Each label counts as seen once, so that none that is new has no chance.
    cases = sum(stood) + len(stood)
    climate = probabilities(tuple((count + 1) / cases for count in stood))

    return _Case(
        said=units_of(chances[now]),
        held=int(then == now),
        own=brier_e8(chances, then),
        climate=brier_e8(climate, then),
        persistence=0 if then == now else 2 * E8,
    )


def make(inputs: PlayInputs, _horizon: str) -> Content | None:
    """Return the label and the chances of the four that are to be sealed now; None where one is not known."""
    regime = inputs.regime
    if regime is None or regime.chances is None or regime.label not in _LABELS:
        return None
    chances = dict(zip(_LABELS, regime.chances, strict=True))
    return {"kind": KIND, "label": str(regime.label), "chances": chances}


def see(inputs: PlayInputs, what: str) -> tuple[Seen | None, str | None]:
    """Return the label of this tick."""
    if inputs.regime is None or inputs.regime.label not in _LABELS:
        return None, f"no label at the {what}"
    return {"label": str(inputs.regime.label)}, None


def score(content: Content, _at_start: Seen, at_end: Seen) -> Scores:
    """Return the Brier score of the chances and that of persistence, the chance that the label stays, and if it did.

    >>> chances = {"risk_on": 0.7, "risk_off": 0.1, "range": 0.1, "high_volatility": 0.1}
    >>> score({"label": "risk_on", "chances": chances}, {}, {"label": "range"})
    {'brier': 1.32, 'persistence': 2.0, 'chance': 0.7, 'held': 0.0}
    """
    label = content["label"]
    chances = tuple(content["chances"][name] for name in _LABELS)
    then = _LABELS.index(at_end["label"])
    held = at_end["label"] == label

    return {
        "brier": rounded(brier_e8(chances, then) / E8, 4),
        "persistence": 0.0 if held else 2.0,
        "chance": content["chances"][label],
        "held": float(held),
    }


GAME: Final = Sealed("holds", {f"{HOURS}h": AHEAD_MS}, upcoming_hour, make, see, score)
