"""Events of the kept record: what counts as one, what followed each, and which were most like the last.

All take the market's moves at full hours, the mean of the assets, oldest first, as fractions, NaN where unknown. What
followed is compared with what follows any hour of the same record. An event is a day or more after the one before it
of its kind, so one rough day is counted once.
"""

from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.brain.highlights import DAY_MARK, HOUR_MARK
from generator.brain.record import Half
from generator.catalog.durations import HOUR_MS
from generator.market.bars import FloatArray

KINDS: Final = ("large_hour", "large_day", "turn_up", "turn_down", "rough_start", "rough_end")
AFTER: Final[dict[str, int]] = {"1h": 1, "4h": 4, "24h": 24, "7d": 168}
OUTCOMES: Final = ("up", "larger")
FEWEST: Final = 30  # events of which a share is given
FEWEST_BLOCKS: Final = 8  # on which they fell
_BLOCK_DAYS: Final = (3, 3, 5, 14)  # of each span of `AFTER`: never shorter than it
LOOKED_AT: Final = len(AFTER) * len(OUTCOMES)
_TAIL: Final = 0.05 / (2 * LOOKED_AT)  # on either side: all intervals of a kind hold together in 95% (Bonferroni)
_DAY: Final = 24
_LARGE_HOUR: Final = 4.0  # usual hours
_LARGE_DAY: Final = 2.0  # usual days
_ROUGH: Final = 0.75  # of the record's hours have a calmer day behind them than one that begins a rough spell
_CALM: Final = 0.5  # likewise, than one that ends it
_MOST_ALIKE: Final = 10

Places = npt.NDArray[np.int64]


class Events(NamedTuple):
    """Events of one record, oldest first; places are rows of the record's hours."""

    at: Places  # (n,)
    kind: Places  # places in `KINDS`, (n,)
    size: FloatArray  # the market's move over the hour of a large hour, else over the day, (n,)
    rank: FloatArray  # of the volatility of the day behind it among the record's, 0..1, (n,)
    after: FloatArray  # moves over each span of `AFTER` from it, NaN where not known yet, (n, 4)


class EventRecord(NamedTuple):
    """The events of the kept record."""

    events: Events
    moves: FloatArray  # over each span of `AFTER` from each hour, NaN where not known, (hours, 4)
    first: int  # number of the first row's hour, since 1970
    hours: int  # of the record that are known

    def at_ms(self, row: int) -> int:
        """Return the market time of a row of the record's hours."""
        return (self.first + row) * HOUR_MS

    def since(self, begin_ms: float) -> "EventRecord":
        """Return the record's part from a market time on: its events, and what followed its hours."""
        return self._part(np.arange(len(self.moves)) >= self._row(begin_ms))

    def until(self, end_ms: float) -> "EventRecord":
        """Return the record's part before a market time."""
        return self._part(np.arange(len(self.moves)) < self._row(end_ms))

    def of_kind(self, kind: int) -> Places:
        """Return the places of the events of a kind."""
        return np.flatnonzero(self.events.kind == kind)

    def _row(self, at_ms: float) -> float:
        return at_ms / HOUR_MS - self.first

    def _part(self, of_part: npt.NDArray[np.bool_]) -> "EventRecord":
        """Return the events of some hours, and the moves after these alone; other rows stay, unknown."""
        kept = of_part[self.events.at]
        every = self.events
        events = Events(every.at[kept], every.kind[kept], every.size[kept], every.rank[kept], every.after[kept])
        return self._replace(events=events, moves=np.where(of_part[:, None], self.moves, np.nan))


class After(NamedTuple):
    """How often something followed events, against any hour; fractions."""

    n: int
    share: float | None  # None, with its interval, of fewer than 30 events or on too few blocks of days
    low: float | None
    high: float | None
    usual: float | None  # share of all hours; None of none

    @property
    def differs(self) -> bool:
        """Whether the interval leaves out what follows any hour."""
        if self.low is None or self.high is None or self.usual is None:
            return False
        return not self.low <= self.usual <= self.high


def record_of(hours: Half, last: int) -> EventRecord:
    """Return the events of the record of `Highlights`, whose last row is an hour of this number since 1970."""
    known = np.flatnonzero(np.isfinite(hours[:, HOUR_MARK]))
    first = int(known[0]) if len(known) else len(hours)
    kept = hours[first:].astype(np.float64)
    moves = kept[:, HOUR_MARK]
    days = kept[:, DAY_MARK]
    return EventRecord(events_of(moves, days), moves_after(moves, days), last - len(kept) + 1, len(known))


def moves_after(hours: FloatArray, days: FloatArray) -> FloatArray:
    """Return the moves over each span of `AFTER` from each hour, NaN where not known, (hours, 4)."""
    out = np.full((len(hours), len(AFTER)), np.nan)
    for place, (moves, step, many) in enumerate(((hours, 1, 1), (hours, 1, 4), (days, _DAY, 1), (days, _DAY, 7))):
        whole = np.ones(max(len(hours) - step * many, 0))
        for ahead in range(step, step * many + 1, step):
            whole *= 1.0 + moves[ahead : ahead + len(whole)]
        out[: len(whole), place] = whole - 1.0
    return out


def events_of(hours: FloatArray, days: FloatArray) -> Events:
    """Return the events of a record.

    >>> moves = np.tile([0.001, -0.001], 100)
    >>> moves[150] = 0.02
    >>> found = events_of(moves, np.full(200, np.nan))
    >>> [(KINDS[kind], at) for kind, at in zip(found.kind.tolist(), found.at.tolist())]
    [('rough_start', 150), ('large_hour', 150), ('rough_end', 174)]

    Args:
        hours, days: moves up to each hour over one and over 24, (hours,).
    """
    sizes = np.abs(hours)
    by_day = np.abs(days)
    rank = _ranks(_volatility(hours))

    calm = np.where(rank <= _CALM, 1.0, np.where(rank > _ROUGH, -1.0, np.nan))
    turned = np.where(by_day >= _median(by_day), np.sign(days), np.nan)
    found = {
        "large_hour": sizes >= _LARGE_HOUR * _median(sizes),
        "large_day": by_day >= _LARGE_DAY * _median(by_day),
        "turn_up": _changes(turned) > 0.0,
        "turn_down": _changes(turned) < 0.0,
        "rough_start": _changes(calm) < 0.0,
        "rough_end": _changes(calm) > 0.0,
    }
    at = [_apart(np.flatnonzero(found[kind])) for kind in KINDS]
    kind = np.repeat(np.arange(len(KINDS)), [len(places) for places in at])
    places = np.concatenate(at)
    # Of several in one hour the kind named first comes last: it is the one that is spoken of.
    order = np.lexsort((-kind, places))
    places = places[order]
    kind = kind[order]
    return Events(
        at=places,
        kind=kind,
        size=np.where(kind == KINDS.index("large_hour"), hours[places], days[places]),
        rank=rank[places],
        after=moves_after(hours, days)[places],
    )


def followed(at: Places, moves: FloatArray) -> dict[str, dict[str, After]]:
    """Count what followed some hours, by span and by outcome.

    An event's block of days stands for it: those of one block may have met the same weather. All shares looked at
    share one bound, so the chance that any of them seems to differ by luck is 5% at most.

    Args:
        at: rows of `moves`, (n,).
        moves: over each span of `AFTER` from each hour, NaN where not known, (hours, 4).
    """
    out: dict[str, dict[str, After]] = {}
    for place, span in enumerate(AFTER):
        known = moves[np.isfinite(moves[:, place]), place]
        usual_size = _median(np.abs(known))
        chosen = at[np.isfinite(moves[at, place])]
        block = chosen // (_DAY * _BLOCK_DAYS[place])
        came = moves[chosen, place]
        out[span] = {
            "up": _after(came > 0.0, block, known > 0.0),
            "larger": _after(np.abs(came) > usual_size, block, np.abs(known) > usual_size),
        }
    return out


def most_alike(events: Events) -> Places:
    """Return the places of the ten events of the last one's kind, before it, most like it by size and volatility.

    Both are ranks among the events of that kind, so neither counts for more than the other.
    """
    if not len(events.at):
        return np.zeros(0, dtype=np.int64)

    same = np.flatnonzero(events.kind == events.kind[-1])
    size = _ranks(events.size[same])
    rough = _ranks(events.rank[same])
    distance = np.abs(size - size[-1]) + np.abs(rough - rough[-1])
    order = np.argsort(np.where(np.isfinite(distance), distance, np.inf)[:-1], kind="stable")
    return same[order[:_MOST_ALIKE]]


def _after(came: npt.NDArray[np.bool_], block: Places, every: npt.NDArray[np.bool_]) -> After:
    """Return the share of what came with its interval by blocks, and that of every hour."""
    usual = float(every.mean()) if len(every) else None
    n = len(came)
    _, places = np.unique(block, return_inverse=True)
    blocks = int(places.max()) + 1 if n else 0
    if n < FEWEST or blocks < FEWEST_BLOCKS:
        return After(n, None, None, None, usual)

    share = float(came.mean())
    if share in {0.0, 1.0}:
        # The exact limit (Clopper and Pearson, 1934), as if each block were one case.
        reach = 1.0 - _TAIL ** (1.0 / blocks)
        return After(n, share, max(share - reach, 0.0), min(share + reach, 1.0), usual)

    # How many cases are worth one independent case, by the spread of the blocks; never less than one.
    apart = np.bincount(places, came - share)
    effect = max(1.0, float((apart**2).sum()) * blocks / (blocks - 1) / (n * share * (1.0 - share)))
    z = _student(blocks - 1)
    cases = n / effect
    centre = (share + z * z / (2 * cases)) / (1 + z * z / cases)
    half = z / (1 + z * z / cases) * float(np.sqrt(share * (1 - share) / cases + z * z / (4 * cases * cases)))
    return After(n, share, max(0.0, centre - half), min(1.0, centre + half), usual)


def _student(freedom: int) -> float:
    """Return what Student's t passes with the chance of the tail; the expansion of Cornish and Fisher (1960).

    >>> round(_student(10_000), 2)
    2.73
    """
    z = NormalDist().inv_cdf(1.0 - _TAIL)
    first = (z**3 + z) / (4 * freedom)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return z + first + second


def _volatility(hours: FloatArray) -> FloatArray:
    """Return the root of the mean square of the day's hours up to each, NaN where one is unknown, (hours,)."""
    out = np.full(len(hours), np.nan)
    if len(hours) >= _DAY:
        out[_DAY - 1 :] = np.sqrt(np.lib.stride_tricks.sliding_window_view(hours**2, _DAY).mean(axis=1))
    return out


def _ranks(values: FloatArray) -> FloatArray:
    """Return the share of the known values that are smaller, NaN where unknown, (n,)."""
    known = np.sort(values[np.isfinite(values)])
    shares = np.searchsorted(known, values) / max(len(known), 1)
    return np.where(np.isfinite(values), shares, np.nan)


def _median(values: FloatArray) -> float:
    """Return the median of the known values; infinity without any, which no size reaches."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else np.inf


def _changes(states: FloatArray) -> FloatArray:
    """Return the new state where it differs from the last known one, else 0, (n,).

    >>> _changes(np.array([np.nan, 1.0, np.nan, -1.0, -1.0])).tolist()
    [0.0, 0.0, 0.0, -1.0, 0.0]
    """
    out = np.zeros(len(states))
    known = np.flatnonzero(np.isfinite(states))
    changed = known[1:][states[known[1:]] != states[known[:-1]]]
    out[changed] = states[changed]
    return out


def _apart(places: Places) -> Places:
    """Return the hours that are a day or more after the one before that was taken."""
    taken: list[int] = []
    for place in places.tolist():
        if not taken or place - taken[-1] >= _DAY:
            taken.append(place)
    return np.array(taken, dtype=np.int64)
