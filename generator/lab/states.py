"""What a market was said to be: how often it changes, what it says of the next hours, and whether its chance holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from generator.arena.scoring import squared_error
from generator.brain.engine import Engine
from generator.brain.holds import HOURS
from generator.brain.label import REGIMES, TRANSITION
from generator.brain.side import FALLING, RISING
from generator.brain.smoothing import HOUR_BARS
from generator.brain.structure import FLAT
from generator.lab.report import Row
from generator.lab.scores import Flags, Labels, resampled
from generator.market.bars import BARS_A_DAY, FloatArray

LONG_DAYS: Final = 20  # of a set, from which its figures are held to the bars
_MANY_DAYS: Final = 100  # from which the pooled chance is held to two points; below, to its interval
_WORDS: Final = 5
_AHEAD: Final = HOURS * HOUR_BARS
_FIFTHS: Final = 5


class State(NamedTuple):
    """What was said of the market after one bar."""

    label: int  # index of `label.LABELS`
    side: int  # index of `side.SIDES`
    word: int  # of volatility, index of `swings.WORDS`
    chances: FloatArray  # of the four labels in four hours
    up: float  # share of the coins that rose over the day
    down: float


def state_of(engine: Engine) -> State:
    """Return what is said of the market after the last bar."""
    day = engine.moves.moves[3, :-1]
    known = max(int(np.count_nonzero(np.isfinite(day))), 1)

    return State(
        label=int(engine.label.label[-1]),
        side=int(engine.side.side[-1]),
        word=int(engine.swings.word[-1]),
        chances=engine.chances()[:, -1],
        up=float(np.count_nonzero(day > FLAT)) / known,
        down=float(np.count_nonzero(day < -FLAT)) / known,
    )


@dataclass(frozen=True, slots=True)
class States:
    """What was said of every bar, (n,) each."""

    label: Labels
    side: Labels
    word: Labels
    chances: FloatArray  # (n, 4)
    up: FloatArray
    down: FloatArray

    @classmethod
    def of(cls, states: Sequence[State]) -> "States":
        """Return the states of consecutive bars."""
        label, side, word, chances, up, down = zip(*states, strict=True)
        return cls(*(np.array(column) for column in (label, side, word, chances, up, down)))

    def against_breadth(self) -> Flags:
        """Say at which bars the market is called rising or falling while most coins did not go that way."""
        rising = (self.side == RISING) & (self.up < 0.5)
        falling = (self.side == FALLING) & (self.down < 0.5)
        out: Flags = rising | falling
        return out


def changes_a_day(values: Labels | Flags) -> float:
    """Return how often consecutive bars differ, a day.

    >>> changes_a_day(np.repeat([0, 1, 1, 0], 72))
    2.0
    """
    return float(np.count_nonzero(np.diff(values)) * BARS_A_DAY / len(values))


def explained_share(values: FloatArray, groups: Labels | Flags) -> float:
    """Return the share of the variance that the groups explain, 0..1.

    >>> explained_share(np.array([1.0, 3.0, 6.0, 8.0]), np.array([0, 0, 1, 1])).__round__(3)
    0.862
    """
    within = sum(_squares(values[groups == group]) for group in np.unique(groups))
    return 1.0 - within / _squares(values)


def _squares(values: FloatArray) -> float:
    """Return the sum of squares around the mean."""
    return float(((values - values.mean()) ** 2).sum())


@dataclass(frozen=True, slots=True)
class Held:
    """The chances that a label still stands in four hours, at each full hour of which it is known what came."""

    said: FloatArray  # (n,)
    came: Flags  # (n,)
    brier: float  # of the four chances
    climate: float  # of the shares of the labels in this set
    persistence: float  # of saying that it surely stands

    @classmethod
    def of(cls, states: States, first_bar: int) -> "Held":
        """Score what was said; `first_bar` is the number of the first bar since 1970."""
        # A label is known at the close of its bar, so hours are full by the number of closed bars.
        bars = first_bar + np.arange(len(states.label)) + 1
        hours = np.flatnonzero(bars % HOUR_BARS == 0)
        hours = hours[hours + _AHEAD < len(states.label)]
        then = states.label[hours]
        later = states.label[hours + _AHEAD]
        known = (then < len(REGIMES)) & (later < len(REGIMES))
        hours = hours[known]
        then = then[known]
        later = later[known]

        outcome = np.eye(len(REGIMES))[later]
        chances = states.chances[hours]
        return cls(
            said=chances[np.arange(len(hours)), then],
            came=later == then,
            brier=_brier(chances, outcome),
            climate=_brier(outcome.mean(axis=0), outcome),
            persistence=_brier(np.eye(len(REGIMES))[then], outcome),
        )

    def gap(self) -> float:
        """Return how often it came minus how often that was said, percentage points."""
        return 100.0 * float(self.came.mean() - self.said.mean())

    def interval(self) -> tuple[float, float]:
        """Return the 95% interval of the gap by blocks of four days."""
        return resampled(
            lambda take: 100.0 * float(self.came[take].mean() - self.said[take].mean()), len(self.said), 4 * 24
        )

    def fifths(self) -> list[tuple[float, float]]:
        """Return what was said and what came in each fifth by what was said, percent."""
        parts = np.array_split(np.argsort(self.said, kind="stable"), _FIFTHS)
        return [(100.0 * float(self.said[part].mean()), 100.0 * float(self.came[part].mean())) for part in parts]


def _brier(chances: FloatArray, outcome: FloatArray) -> float:
    return float(squared_error(chances, outcome).sum(axis=1).mean())


def rows_of_states(states: States, at: Labels, log_volatility: FloatArray, first_bar: int = 0) -> list[Row]:
    """Return how steady and how true side, volatility and label are, and how much they say of the next hours.

    Args:
        states: of every bar.
        at: bars at which it is known what came.
        log_volatility: of the four hours after each of `at`, mean over the assets.
        first_bar: number of the first bar since 1970.
    """
    days = len(states.label) / BARS_A_DAY
    flips = changes_a_day(states.label)
    dwell = 24.0 / flips if flips else float("inf")
    named = np.isin(states.side, (RISING, FALLING))
    against = float(states.against_breadth().sum() / max(np.count_nonzero(named), 1))
    by_label = explained_share(log_volatility, states.label[at])
    by_both = explained_share(log_volatility, (_WORDS * states.side + states.word)[at])
    held = Held.of(states, first_bar)

    def judged(met: bool) -> bool | None:  # noqa: FBT001
        return met if days >= LONG_DAYS else None

    rows: list[Row] = [
        ("label: changes a day", "<= 2.6", f"{flips:.2f}", judged(flips <= 2.6)),
        ("label: mean dwell, hours", ">= 9", f"{dwell:.1f}", judged(dwell >= 9.0)),
        ("label: transition, share of bars", "", f"{100 * float((states.label == TRANSITION).mean()):.2f}%", None),
        ("side: changes a day", "", f"{changes_a_day(states.side):.2f}", None),
        ("side: against the day's breadth, of sides", "<= 8%", f"{100 * against:.1f}%", judged(against <= 0.08)),
        ("volatility: changes of the four words a day", "", f"{changes_a_day(states.word):.2f}", None),
        (
            "next 4 h's log volatility explained by side and four words (by the label)",
            ">= 0.30" if days >= _MANY_DAYS else "",
            f"{by_both:.3f} ({by_label:.3f})",
            by_both >= 0.30 if days >= _MANY_DAYS else None,
        ),
    ]
    return rows + (_rows_of_held(held, days) if len(held.said) >= _FIFTHS else [])


def _rows_of_held(held: Held, days: float) -> list[Row]:
    low, high = held.interval()
    gap = held.gap()
    fifths = held.fifths()
    near = sum(abs(stated - observed) <= 5.0 for stated, observed in fifths)
    is_long = days >= _MANY_DAYS
    # A long record is held to a fixed gap; of a short one only the interval can say anything.
    is_met = abs(gap) <= 2.0 if is_long else low <= 0.0 <= high
    stated = 100.0 * float(held.said.mean())
    observed = 100.0 * float(held.came.mean())
    best = min(held.climate, held.persistence)

    return [
        (
            "still stands in four hours: said, came, %",
            "within 2 points" if is_long else "interval holds 0",
            f"{stated:.1f}, {observed:.1f} (gap {low:+.1f} to {high:+.1f}, n {len(held.said)})",
            is_met,
        ),
        (
            "the same by fifths, said/came, %",
            "4 of 5 within 5 points" if is_long else "",
            ", ".join(f"{stated:.0f}/{observed:.0f}" for stated, observed in fifths),
            near >= 4 if is_long else None,
        ),
        (
            "the same: Brier (climate, persistence)",
            "below both",
            f"{held.brier:.3f} ({held.climate:.3f}, {held.persistence:.3f})",
            held.brier < best,
        ),
    ]
