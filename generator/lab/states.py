"""What a market was said to be, bar by bar: how often label and axes change, and what they say of the next hours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.brain.axes import FALLING, RISING
from generator.brain.engine import Engine
from generator.brain.regime import LEAD
from generator.lab.report import Row
from generator.lab.scores import TRANSITION, Flags, Labels, RegimeRun
from generator.market.bars import BARS_A_DAY, FloatArray

LONG_DAYS: Final = 20  # of a set, from which its figures are held to the bars
_ELEVATED: Final = 2
_WORDS: Final = 4


class State(NamedTuple):
    """What was said of one bar."""

    label: int  # 0..3, 4 for transition
    side: int  # index of `axes.SIDES`
    word: int  # of volatility: 0 calm, 1 normal, 2 elevated, 3 extreme
    chances: FloatArray  # published, of the four regimes
    against: npt.NDArray[np.bool_]  # the regimes that the facts of the day speak against, (4,)


def state_of(engine: Engine) -> State:
    """Return what is said of the market after the last bar."""
    return State(
        label=int(engine.filter.label[-1]),
        side=int(engine.axes.side[0]),
        word=int(engine.stress.word[-1]),
        chances=engine.filter.chances[:, -1],
        against=engine.facts().against()[:, -1],
    )


@dataclass(frozen=True, slots=True)
class States:
    """What was said of every bar, (n,) each."""

    label: Labels
    side: Labels
    word: Labels
    chances: FloatArray  # (n, 4)
    against: Flags  # (n, 4)

    @classmethod
    def of(cls, states: Sequence[State]) -> "States":
        """Return the states of consecutive bars."""
        label, side, word, chances, against = zip(*states, strict=True)
        return cls(np.array(label), np.array(side), np.array(word), np.array(chances), np.array(against))

    @property
    def stressed(self) -> Flags:
        """Whether volatility is elevated or extreme."""
        out: Flags = self.word >= _ELEVATED
        return out

    @property
    def named(self) -> Flags:
        """Whether the market is on a side."""
        out: Flags = (self.side == RISING) | (self.side == FALLING)
        return out

    def headline(self) -> Labels:
        """Return a number for each state that a headline names: the side and the two-way step of volatility."""
        return 2 * self.side + self.stressed

    def label_against(self) -> Flags:
        """Say at which bars the facts of the day speak against the label."""
        own = self.against[np.arange(len(self.label)), np.minimum(self.label, TRANSITION - 1)]
        out: Flags = own & (self.label != TRANSITION)
        return out

    def side_against(self) -> Flags:
        """Say at which bars the facts of the day speak against the side."""
        out: Flags = np.where(self.side == RISING, self.against[:, 0], (self.side == FALLING) & self.against[:, 1])
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


def rows_of_states(states: States, at: Labels, log_volatility: FloatArray) -> list[Row]:
    """Return how steady and how true the label and the axes are, and how much they say of the next hours.

    Args:
        states: of every bar.
        at: bars at which it is known what came.
        log_volatility: of the four hours after each of `at`, mean over the assets.
    """
    days = len(states.label) / BARS_A_DAY
    run = RegimeRun(states.label, states.label, np.zeros(len(states.label), dtype=bool), states.chances)
    near = float((run.behind() < LEAD).mean())
    flips = changes_a_day(states.label)
    sides = changes_a_day(states.side)
    headlines = changes_a_day(states.headline())

    against = float(states.side_against().mean())
    of_named = float(states.side_against().sum() / max(np.count_nonzero(states.named), 1))
    between = float((states.label == TRANSITION).mean())
    by_label = explained_share(log_volatility, states.label[at])
    by_axes = explained_share(log_volatility, (_WORDS * states.side + states.word)[at])

    def judged(met: bool) -> bool | None:  # noqa: FBT001
        return met if days >= LONG_DAYS else None

    return [
        ("label: changes a day", "<= 3.2", f"{flips:.2f}", judged(flips <= 3.2)),
        ("label: dwell, hours", ">= 8", f"{_dwell(flips):.1f}", judged(_dwell(flips) >= 8.0)),
        ("label: less than 0.15 behind the likeliest", "100%", f"{100 * near:.2f}%", near == 1.0),
        ("label: transition, share of bars", "<= 5%", f"{100 * between:.1f}%", judged(between <= 0.05)),
        ("label: against the day's facts", "", f"{100 * float(states.label_against().mean()):.1f}%", None),
        ("side: changes a day", "<= 1.8", f"{sides:.2f}", judged(sides <= 1.8)),
        ("side: dwell, hours", ">= 12", f"{_dwell(sides):.1f}", judged(_dwell(sides) >= 12.0)),
        ("side: rising or falling, share of bars", "", f"{100 * float(states.named.mean()):.0f}%", None),
        ("side: against the day's facts", "<= 6%", f"{100 * against:.1f}%", judged(against <= 0.06)),
        ("side: the same, of bars with a side", "<= 10%", f"{100 * of_named:.1f}%", judged(of_named <= 0.10)),
        ("volatility: changes of the two-way step a day", "", f"{changes_a_day(states.stressed):.2f}", None),
        ("volatility: changes of the four words a day", "", f"{changes_a_day(states.word):.2f}", None),
        ("headline's state: changes a day", "<= 3", f"{headlines:.2f}", judged(headlines <= 3.0)),
        (
            "next 4 h's log volatility explained by side and four words (by the label)",
            ">= 0.28",
            f"{by_axes:.3f} ({by_label:.3f})",
            judged(by_axes >= 0.28),
        ),
    ]


def _dwell(changes: float) -> float:
    """Return the mean hours between changes, endless without any."""
    return 24.0 / changes if changes else float("inf")
