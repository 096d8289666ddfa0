"""Derivatives words: funding within its own 30 days, then the change of open contracts; bars of any length."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from generator.brain.liquidity import hysteresis
from generator.brain.smoothing import HOUR_BARS, Pace, rates
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.labels import FUNDING_ODD, FUNDING_SHORT, NO_FUTURES, UNSTEADY
from generator.catalog.words import DerivativesState, DerivativesVote
from generator.market.bars import FloatArray

_USUAL: Final = 0.0001  # funding per 8 hours of most venues: its interest-rate part
_EIGHTS: Final = 90  # 30 days of 8 hours
_FEWEST: Final = 21  # 8-hour values before funding is ranked: a week
# Rows are longs and shorts. Rate per 8 hours that is paid to hold that side (longs usually pay 0.0001),
# and the share of the asset's own 30 days that it exceeds.
_ENTER: Final = np.array([[0.0002], [0.00005]])
_LEAVE: Final = np.array([[0.00016], [0.00002]])
_UNRANKED: Final = 0.0001  # more than that while there are no 30 days to compare with
_RANK_ENTER: Final = 0.7
_RANK_LEAVE: Final = 2.0 / 3.0
_BUILT: Final = 0.04  # log change of open contracts over a day
_KEPT: Final = 0.02
# Hours after which funding (venues pay every 8 hours at most) and open interest are too old.
_HOLDS: Final = np.array([[9.0], [5.0]])
_WILD: Final = 0.01  # of funding per 8 hours: three percent a day
_NOTHING: Final = np.array([[0.0], [1.0]])  # in the place of unknown funding or open interest; never counted
_STEADY: Final = 0.5

_STATES: Final = (
    DerivativesState.UNAVAILABLE,
    DerivativesState.BALANCED,
    DerivativesState.CROWDED_LONGS,
    DerivativesState.CROWDED_SHORTS,
    DerivativesState.LEVERAGING_UP,
    DerivativesState.DELEVERAGING,
)
_VOTES: Final = {
    DerivativesState.UNAVAILABLE: DerivativesVote.NO_VOTE,
    DerivativesState.CROWDED_LONGS: DerivativesVote.BEARISH,
    DerivativesState.CROWDED_SHORTS: DerivativesVote.BULLISH,
}


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


class Derivatives:
    """Funding and open contracts of each asset; arrays are (k, assets) or (assets,)."""

    STATE: ClassVar[tuple[str, ...]] = (
        "funding",
        "interest",
        "last",
        "month",
        "day",
        "hour",
        "age",
        "count",
        "word",
        "held",
        "odd",
    )

    def __init__(self, assets: int, bars_an_hour: int = HOUR_BARS) -> None:
        self.funding = np.zeros((1, assets))  # over an hour
        self.interest = np.zeros((2, assets))  # log, over an hour and over half a day
        self.last = np.full((2, assets), np.nan)  # funding, and log of open contracts
        self.month = np.full((_EIGHTS, assets), np.nan)  # last funding of each 8 hours
        self.day = np.full((25, assets), np.nan)  # log of open contracts at the end of each hour
        self.hour = np.full(1, -1.0)  # of the last bar, since 1970
        self.age = np.full((2, assets), 1e6)  # bars since funding and open contracts were last given
        self.count = np.zeros((2, assets))
        self.word = np.zeros((2, assets))  # -1 shorts, 0 balanced, 1 longs; -1 leaving, 0, 1 building
        self.held = np.zeros((len(_STATES), assets))  # share of the last hours in which each state held
        self.odd = np.zeros(assets)  # 1 where the last known funding was so large that it may be a fault

        self._rank: FloatArray | None = None  # of the last funding after the last bar
        self._holds = _HOLDS * bars_an_hour
        self._alpha_funding = rates((bars_an_hour,), 1)
        self._alpha_interest = rates((bars_an_hour, 12 * bars_an_hour), 1)
        self._alpha_held = 1.0 - 0.5 ** (1.0 / (2 * bars_an_hour))

    def update(self, t_ms: int, funding: FloatArray, contracts: FloatArray) -> None:
        """Take one bar that opened at `t_ms`; NaN leaves what is known, until it is too old.

        Args:
            t_ms: open time of the bar.
            funding: rate per 8 hours, as a fraction, (assets,).
            contracts: open interest, in any unit that stays the same, (assets,).
        """
        self._rank = None
        self._turn(t_ms // HOUR_MS)
        given = np.array((funding, contracts))
        seen = np.isfinite(given)
        if not np.count_nonzero(seen) and not np.count_nonzero(self.count):
            return  # a market without futures

        self.odd = np.where(seen[0], np.abs(funding) > _WILD, self.odd)
        given[0] = np.minimum(np.maximum(given[0], -_WILD), _WILD)  # not to dominate for hours after
        given = np.where(seen, given, _NOTHING)
        given[1] = np.log(given[1])
        weight = seen.astype(np.float64)
        self.count += weight
        self.age = np.where(seen, 0.0, self.age + 1.0)
        self.last = np.where(seen, given, self.last)
        Pace(self.count[0], weight[0]).step(self.funding, given[:1], self._alpha_funding)
        Pace(self.count[1], weight[1]).step(self.interest, given[1], self._alpha_interest)

        known = self.age <= self._holds
        hour = int(self.hour[0])
        self.month[hour // 8 % _EIGHTS] = np.where(known[0], self.last[0], np.nan)
        self.day[hour % 25] = np.where(known[1], self.last[1], np.nan)

        smoothed_rank, self._rank = self._ranks()
        self.word = np.array((self._crowd(smoothed_rank), self._leverage()))
        holds = self._state(self._rank) == np.arange(len(_STATES))[:, None]
        self.held += (holds - self.held) * self._alpha_held

    def _turn(self, hour: int) -> None:
        """Empty the places of the hours that begin now or were missed; `hour` counts since 1970."""
        before = int(self.hour[0])
        if hour == before:
            return

        hours = np.arange(max(before + 1, hour - 24), hour + 1)
        self.day[hours % 25] = np.nan
        eighth = hour // 8
        eighths = np.arange(max(before // 8 + 1, eighth - _EIGHTS + 1), eighth + 1)
        self.month[eighths % _EIGHTS] = np.nan
        self.hour[0] = hour

    def _ranks(self) -> FloatArray:
        """Return the share of the last 30 days below the smoothed and the last funding, ties counted half, (2, assets).

        NaN before a week is known.
        """
        eighth = int(self.hour[0]) // 8
        others = self.month[:, None].copy()
        others[eighth % _EIGHTS] = np.nan  # a rate is not compared with itself
        known = np.isfinite(others).sum(axis=0)
        share = np.where(known >= _FEWEST, 1.0 / np.maximum(known, 1), np.nan)

        funding = np.array((self.funding[0], self.last[0]))
        lower = (others < funding).sum(axis=0) + 0.5 * (others == funding).sum(axis=0)
        out: FloatArray = lower * share
        return out

    def _crowd(self, rank: FloatArray) -> FloatArray:
        """Return 1 where longs pay unusually much, -1 where shorts do."""
        # Rows are longs and shorts.
        paid = np.array((self.funding[0], -self.funding[0]))
        share = np.array((rank, 1.0 - rank))
        was = self.word[0] == np.array([[1.0], [-1.0]])
        unranked = np.isnan(share)

        extreme = unranked | (share >= np.where(was, _RANK_LEAVE, _RANK_ENTER))
        side = extreme & (paid >= np.where(was, _LEAVE, _ENTER + _UNRANKED * unranked))
        word: FloatArray = side[0].astype(np.float64) - side[1]
        return word

    def _leverage(self) -> FloatArray:
        """Return 1 where contracts have risen over a day and still stand above their half-day mean, -1 the reverse."""
        change = self.last[1] - self.day[(int(self.hour[0]) + 1) % 25]
        lately = self.interest[0] - self.interest[1]
        lasting = np.where(change * lately > 0.0, change, 0.0)
        return hysteresis(self.word[1], lasting, _BUILT, _KEPT)

    def _state(self, rank: FloatArray) -> FloatArray:
        """Return the index of each asset's state; a crowd outranks a change of contracts.

        The last rate and its rank must be on the crowd's side as well, for they are published with the word.
        """
        known = self.age <= self._holds
        known[0] &= self.odd == 0.0
        crowd, leverage = self.word * known

        longs = (crowd > 0) & (self.last[0] > _USUAL) & ~(rank < _RANK_LEAVE)
        shorts = (crowd < 0) & (self.last[0] < 0.0) & ~(rank > 1.0 - _RANK_LEAVE)
        balanced = known[0]  # 1 where funding is known, else 0: unavailable
        moved = np.where(leverage > 0, 4, np.where(leverage < 0, 5, balanced))
        state: FloatArray = np.where(longs, 2, np.where(shorts, 3, moved))
        return state

    def readings(self) -> list[Pressure]:
        """Return the word of every asset, how steadily it held, and the rank of its funding in its month."""
        rank = self._ranks()[1] if self._rank is None else self._rank
        state = self._state(rank)
        steady = self.held[state, np.arange(len(state))]

        columns = zip(state.tolist(), steady.tolist(), rank.tolist(), self.odd.tolist(), strict=True)
        return [
            Pressure(
                state=_STATES[at],
                steadiness=held,
                rank=None if math.isnan(share) else share,
                odd=bool(odd),
            )
            for at, held, share, odd in columns
        ]
