"""Derivatives words: funding within its own 30 days, then the change of open contracts; bars of any length."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.columns import Columns
from generator.brain.part import Part, Times, stretches
from generator.brain.smoothing import (
    HOUR_BARS,
    Flags,
    Pace,
    ages,
    carried,
    counted,
    follow,
    followed,
    hysteresis,
    latched,
    rates,
    totals,
)
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.labels import FUNDING_ODD, FUNDING_SHORT, NO_FUTURES, UNSTEADY
from generator.catalog.words import DerivativesState, DerivativesVote
from generator.market.bars import FloatArray

_USUAL: Final = 0.0001  # funding per 8 hours of most venues: its interest-rate part
_EIGHTHS: Final = 90  # 30 days of 8 hours
_FEWEST: Final = 21  # 8-hour values before funding is ranked: a week
# Rows are longs and shorts. Rate per 8 hours that is paid to hold that side (longs usually pay 0.0001),
# and the share of the asset's own 30 days that it exceeds.
_ENTER: Final = np.array([[[0.0002]], [[0.00005]]])
_LEAVE: Final = np.array([[[0.00016]], [[0.00002]]])
_UNRANKED: Final = 0.0001  # more than that while there are no 30 days to compare with
_RANK_ENTER: Final = 0.7
_RANK_LEAVE: Final = 2.0 / 3.0
_BUILT: Final = 0.04  # log change of open contracts over a day
_KEPT: Final = 0.02
# Hours after which funding (venues pay every 8 hours at most) and open interest are too old.
_HOLDS: Final = (9.0, 5.0)
_WILD: Final = 0.01  # of funding per 8 hours: three percent a day
_STEADY: Final = 0.5

STATES: Final = (
    DerivativesState.UNAVAILABLE,
    DerivativesState.BALANCED,
    DerivativesState.CROWDED_LONGS,
    DerivativesState.CROWDED_SHORTS,
    DerivativesState.LEVERAGING_UP,
    DerivativesState.DELEVERAGING,
)
UNAVAILABLE: Final = STATES.index(DerivativesState.UNAVAILABLE)
BUILDING: Final = STATES.index(DerivativesState.LEVERAGING_UP)
_VOTES: Final = {
    DerivativesState.UNAVAILABLE: DerivativesVote.NO_VOTE,
    DerivativesState.CROWDED_LONGS: DerivativesVote.BEARISH,
    DerivativesState.CROWDED_SHORTS: DerivativesVote.BULLISH,
}
_LEANS: Final = {
    DerivativesVote.BULLISH: 1.0,
    DerivativesVote.NEUTRAL: 0.0,
    DerivativesVote.BEARISH: -1.0,
    DerivativesVote.NO_VOTE: math.nan,
}
_LEAN_OF_STATE: Final = np.array([_LEANS[_VOTES.get(state, DerivativesVote.NEUTRAL)] for state in STATES])


@dataclass(frozen=True, slots=True)
class Pressure:
    """The derivatives word of one asset."""

    state: DerivativesState  # the word now, however young
    steadiness: float  # share of the last hours in which it held
    rank: float | None  # share of the asset's own 30 days with lower funding; None with less than a week of them
    odd: bool = False  # the last funding was so large that it may be a fault

    @property
    def steady(self) -> bool:
        """Whether the word has held for long enough to be shown."""
        return self.state is not DerivativesState.UNAVAILABLE and self.steadiness >= _STEADY

    @property
    def shown(self) -> DerivativesState:
        """The state once it is steady; unavailable until then."""
        return self.state if self.steady else DerivativesState.UNAVAILABLE

    @property
    def vote(self) -> DerivativesVote:
        """What a steady state points to on its own: a crowd tends to be squeezed."""
        return _VOTES.get(self.shown, DerivativesVote.NEUTRAL)

    @property
    def limitations(self) -> tuple[str, ...]:
        """What is unknown, in words."""
        if self.state is DerivativesState.UNAVAILABLE:
            return (FUNDING_ODD,) if self.odd else (NO_FUTURES,)

        missing = []
        if self.rank is None:
            missing.append(FUNDING_SHORT)
        if not self.steady:
            missing.append(UNSTEADY)
        return tuple(missing)


NO_PRESSURE: Final = Pressure(DerivativesState.UNAVAILABLE, 0.0, None)


class Pressures(Columns[Pressure]):
    """The derivatives words of all assets."""

    def __init__(
        self, states: npt.NDArray[np.int64], steadiness: FloatArray, rank: FloatArray, odd: FloatArray
    ) -> None:
        """Take what `Pressure` says of one asset, of all, (assets,); states are indices of `STATES`."""
        super().__init__(len(states), self._pressure)
        self._states = states
        self._steadiness = steadiness
        self._rank = rank
        self._odd = odd
        self.shown_states = np.where(steadiness >= _STEADY, states, UNAVAILABLE)
        """Index of the state that is shown, see `Pressure.shown`, (assets,)."""

    @property
    def words(self) -> list[DerivativesState]:
        """What is shown of each asset."""
        return [STATES[state] for state in self.shown_states.tolist()]

    @property
    def leans(self) -> FloatArray:
        """Which way each vote points: 1 up, 0 nowhere, -1 down, NaN without one, (assets,)."""
        return _LEAN_OF_STATE[self.shown_states]

    def _pressure(self, column: int) -> Pressure:
        state = int(self._states[column])
        rank = float(self._rank[column])
        return Pressure(
            state=STATES[state],
            steadiness=float(self._steadiness[column]),
            rank=None if math.isnan(rank) else rank,
            odd=bool(self._odd[column]),
        )


class Derivatives(Part):
    """Funding and open contracts of each asset; arrays are (k, ..., assets) or (..., assets)."""

    STATE: ClassVar[tuple[str, ...]] = (
        "funding",
        "interest",
        "last",
        "month",
        "eighth",
        "day",
        "close",
        "hour",
        "age",
        "count",
        "word",
        "held",
        "odd",
        "rank",
    )

    def __init__(self, assets: int, bars_an_hour: int = HOUR_BARS) -> None:
        super().__init__()
        self.funding = np.zeros((1, assets))  # over an hour
        self.interest = np.zeros((2, assets))  # log, over an hour and over half a day
        self.last = np.full((2, assets), np.nan)  # funding, and log of open contracts
        self.month = np.full((_EIGHTHS - 1, assets), np.nan)  # last funding of each 8 hours before these, oldest first
        self.eighth = np.full(assets, np.nan)  # the same of these 8 hours
        self.day = np.full((24, assets), np.nan)  # log of open contracts at the end of each hour before this one
        self.close = np.full(assets, np.nan)  # the same of this hour
        self.hour = np.full(1, -1.0)  # of the last bar, since 1970
        self.age = np.full((2, assets), 1e6)  # bars since funding and open contracts were last given
        self.count = np.zeros((2, assets))
        self.word = np.zeros((2, assets))  # -1 shorts, 0 balanced, 1 longs; -1 leaving, 0, 1 building
        self.held = np.zeros((len(STATES), assets))  # share of the last hours in which each state held
        self.odd = np.zeros(assets)  # 1 where the last known funding was so large that it may be a fault
        self.rank = np.full(assets, np.nan)  # of the last funding in its month

        self._holds = [hours * bars_an_hour for hours in _HOLDS]
        self._alpha_funding = rates((bars_an_hour,), 2)
        self._alpha_interest = rates((bars_an_hour, 12 * bars_an_hour), 2)
        self._alpha_held = 1.0 - 0.5 ** (1.0 / (2 * bars_an_hour))

    def update(self, t_ms: Times, funding: FloatArray, contracts: FloatArray, steps: FloatArray) -> None:
        """Take a block of bars; NaN leaves what is known, until it is too old.

        Args:
            t_ms: open times, (n,).
            funding: rate per 8 hours, as a fraction, (n, assets).
            contracts: open interest, in any unit that stays the same, (n, assets).
            steps: bars from each to the one before, (n,).
        """
        seen = np.isfinite(np.array((funding, contracts)))
        limited = np.minimum(np.maximum(funding, -_WILD), _WILD)  # not to dominate for hours after
        rate = np.where(seen[0], limited, 0.0)
        interest = np.log(np.where(seen[1], contracts, 1.0))
        self.odd = carried(self.odd, (np.abs(funding) > _WILD).astype(np.float64), seen[0])
        self._take(np.array((rate, interest)), seen, steps)

        hours = t_ms // HOUR_MS
        before = (self.eighth, self.close)
        last = np.where(self._known(), self.last, np.nan)
        self.eighth, self.close = last
        smoothed_rank, self.rank = self._ranks(hours // 8, before[0])
        crowd = self._crowd(smoothed_rank)
        leverage = self._leverage(hours, before[1])
        self.hour = hours.astype(np.float64)[:, None]
        self.word = np.array((crowd, leverage))

        # A market without futures holds no state at all.
        is_known = np.count_nonzero(self.count, axis=(0, 2)) > 0
        holds = self._state() == np.arange(len(STATES))[:, None, None]
        weights = np.broadcast_to(self._alpha_held * is_known[:, None], holds.shape)
        self.held = follow(self.held, holds.astype(np.float64), weights)

    def _take(self, given: FloatArray, seen: Flags, steps: FloatArray) -> None:
        """Move the means of funding and of the log of open contracts, (2, n, assets), where they were `seen`."""
        by_bar = seen.swapaxes(0, 1)
        self.count = counted(self.count, by_bar).swapaxes(0, 1)
        self.age = ages(self.age, by_bar, steps).swapaxes(0, 1)
        self.last = carried(self.last, given.swapaxes(0, 1), by_bar).swapaxes(0, 1)

        paces = [Pace(count, known.astype(np.float64)) for count, known in zip(self.count, seen, strict=True)]
        weights = (paces[0].weights(self._alpha_funding), paces[1].weights(self._alpha_interest))
        values = given[[0, 1, 1]]
        self.funding, self.interest = followed((self.funding, self.interest), values, weights)

    def _known(self) -> Flags:
        """Return whether funding and open contracts are recent enough, (2, ..., assets)."""
        return np.array([age <= holds for age, holds in zip(self.age, self._holds, strict=True)])

    def _ranks(self, eighths: Times, before: FloatArray) -> FloatArray:
        """Return the share of the last 30 days below the smoothed and the last funding, (2, n, assets).

        Ties count half; a rate is not compared with itself; NaN before a week is known.
        """
        months, places = self.slid("month", int(self.hour[0]) // 8, eighths, before)
        months[places] = self.eighth
        self._windows["month"] = (months, places)

        funding = np.array((self.funding[0], self.last[0]))
        ranks = np.empty_like(funding)
        for bars in stretches(places):
            others = months[places[bars.start] + 1 - _EIGHTHS : places[bars.start]]
            ranks[:, bars] = _lower(others, funding[:, bars])
        return ranks

    def _crowd(self, rank: FloatArray) -> FloatArray:
        """Return 1 where longs pay unusually much, -1 where shorts do."""
        # Rows are longs and shorts.
        paid = np.array((self.funding[0], -self.funding[0]))
        share = np.array((rank, 1.0 - rank))
        unranked = np.isnan(share)

        enter = (unranked | (share >= _RANK_ENTER)) & (paid >= _ENTER + _UNRANKED * unranked)
        stay = (unranked | (share >= _RANK_LEAVE)) & (paid >= _LEAVE)
        longs = latched(self.word[0] > 0.0, enter[0], stay[0])
        shorts = latched(self.word[0] < 0.0, enter[1], stay[1])
        return longs.astype(np.float64) - shorts

    def _leverage(self, hours: Times, before: FloatArray) -> FloatArray:
        """Return 1 where contracts have risen over a day and still stand above their half-day mean, -1 the reverse."""
        days, places = self.slid("day", int(self.hour[0]), hours, before)
        days[places] = self.close
        self._windows["day"] = (days, places)

        change = self.last[1] - days[places - 24]
        lately = self.interest[0] - self.interest[1]
        lasting = np.where(change * lately > 0.0, change, 0.0)
        return hysteresis(self.word[1], lasting, _BUILT, _KEPT)

    def _state(self) -> npt.NDArray[np.int64]:
        """Return the index of each asset's state; a crowd outranks a change of contracts.

        The last rate and its rank must be on the crowd's side as well, for they are published with the word.
        """
        known = self._known()
        known[0] &= self.odd == 0.0
        crowd, leverage = self.word * known

        longs = (crowd > 0) & (self.last[0] > _USUAL) & ~(self.rank < _RANK_LEAVE)
        shorts = (crowd < 0) & (self.last[0] < 0.0) & ~(self.rank > 1.0 - _RANK_LEAVE)
        balanced = known[0]  # 1 where funding is known, else 0: unavailable
        moved = np.where(leverage > 0, 4, np.where(leverage < 0, 5, balanced))
        state: npt.NDArray[np.int64] = np.where(longs, 2, np.where(shorts, 3, moved))
        return state

    def readings(self) -> Pressures:
        """Return the word of every asset, how steadily it held, and the rank of its funding in its month."""
        state = self._state()
        return Pressures(state, self.held[state, np.arange(len(state))], self.rank, self.odd)


def _lower(others: FloatArray, funding: FloatArray) -> FloatArray:
    """Return the share of the other rates, (m, assets), below some, (k, bars, assets); NaN with less than a week."""
    known = totals(np.isfinite(others))
    share = np.where(known >= _FEWEST, 1.0 / np.maximum(known, 1.0), np.nan)

    funding = funding[:, :, None]
    lower = totals(others < funding) + 0.5 * totals(others == funding)
    out: FloatArray = lower * share
    return out
