"""Markets with everything that a headline may be about, and what the brain's parts say of each bar."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.brain.highlights import Highlights
from generator.brain.market_facts import Followed, market_facts
from generator.brain.moves import Moves
from generator.brain.part import Part
from generator.brain.record import Record
from generator.brain.side import SIDES, Side
from generator.brain.situation import Situations
from generator.brain.swings import WORDS, Swings
from generator.catalog.assets import ASSETS
from generator.catalog.text.happened import MarketFacts
from generator.market.bars import BAR_MS

DAY: Final = 288
DAYS: Final = 34
START_MS: Final = 1_700_006_400_000  # a midnight
Floats = npt.NDArray[np.float64]


class Market(NamedTuple):
    """Prices of seven coins, (bars, coins) each, and the sigma that is expected of each hour."""

    t_ms: npt.NDArray[np.int64]
    closes: Floats
    high: Floats
    low: Floats
    expected: Floats  # with the market's in the last column


def eventful(seed: int, days: int = DAYS) -> Market:
    """Return a market with calm and rough days, crashes and rallies, a coin that stands out, days in a row, a hole."""
    rng = np.random.default_rng(seed)
    bars = days * DAY
    roughness = np.repeat(np.exp(0.5 * rng.standard_normal(days)), DAY)
    roughness[18 * DAY : 21 * DAY] *= 0.25
    shared = rng.standard_normal((bars, 1)) * 0.00085
    own = rng.standard_normal((bars, len(ASSETS))) * 0.0006
    steps = roughness[:, None] * (shared + own)

    # What is planted: a crash and its rebound, a rally, a coin alone, four falling days.
    steps[15 * DAY : 15 * DAY + 9] -= 0.009
    steps[15 * DAY + 40 : 15 * DAY + 60] += 0.002
    steps[22 * DAY + 100 : 22 * DAY + 130] += 0.003
    steps[24 * DAY + 10 : 24 * DAY + 100, 4] += 0.0015
    steps[27 * DAY : 31 * DAY] -= 0.00009
    closes = np.array([30000.0, 2000.0, 0.5, 100.0, 0.15, 0.1, 0.06]) * np.exp(np.add.accumulate(steps))
    reach = np.abs(rng.standard_normal(closes.shape)) * 0.0002
    high, low = closes * (1 + reach), closes * (1 - reach)
    closes[12 * DAY + 5 : 12 * DAY + 7, 3] = np.nan

    sigma = 0.0035 * roughness
    expected = np.repeat(sigma[:, None], len(ASSETS) + 1, axis=1)
    return Market(START_MS + np.arange(bars, dtype=np.int64) * BAR_MS, closes, high, low, expected)


class Reader:
    """The parts that follow a market for its sentences."""

    def __init__(self) -> None:
        """Start without history."""
        coins = len(ASSETS)
        self.moves = Moves(coins)
        self.record = Record(coins + 1)
        self.swings = Swings(coins + 1)
        self.side = Side(coins + 1)
        self.highlights = Highlights(coins)
        self.situations = Situations()
        self._last_ms = START_MS - BAR_MS

    @property
    def parts(self) -> tuple[Part, ...]:
        """All of them, in the order in which they are fed."""
        return self.moves, self.record, self.swings, self.side, self.highlights, self.situations

    def read(self, market: Market, begin: int, end: int) -> None:
        """Take some bars of a market as one block."""
        rows = slice(begin, end)
        t_ms = market.t_ms[rows]
        expected = market.expected[rows]
        steps = np.diff(t_ms, prepend=self._last_ms) / BAR_MS
        self.moves.update(t_ms, np.log(market.closes[rows]))
        self.record.update(t_ms, self.moves, expected)
        self.swings.update(self.moves, self.record, steps)
        self.side.update(self.moves, self.record.usual[1])
        edges = np.stack((market.high[rows], market.low[rows]), axis=1)
        self.highlights.update(t_ms, self.moves, edges, expected[:, 0], self.swings.word[:, -1])
        followed = (self.moves, self.record, self.highlights)
        self.situations.update(*followed, self.side.side[:, -1], self.swings.word[:, -1])
        for part in self.parts:
            part.keep()
        self._last_ms = int(t_ms[-1])

    def at(self, bar: int) -> None:
        """Be as after a bar of the last block."""
        for part in self.parts:
            part.at(bar)

    def facts(self, t_ms: int) -> MarketFacts:
        """Return the facts after the bar opened at `t_ms`, the last that the parts have taken."""
        followed = Followed(self.moves, self.record, self.highlights, self.situations)
        side, word = int(self.side.side[-1]), int(self.swings.word[-1])
        return market_facts(ASSETS, t_ms + BAR_MS, followed, SIDES[side], WORDS[word])


def read_every(market: Market, n: int, block: int = 1000) -> Iterator[tuple[int, MarketFacts]]:
    """Yield every n-th bar with its facts."""
    reader = Reader()
    bars = len(market.t_ms)
    for begin in range(0, bars, block):
        end = min(begin + block, bars)
        reader.read(market, begin, end)
        for bar in range(begin, end):
            if bar % n == 0:
                reader.at(bar - begin)
                yield bar, reader.facts(int(market.t_ms[bar]))
        reader.at(-1)
