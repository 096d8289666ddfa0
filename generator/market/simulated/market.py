"""The simulated market as a pure function of (seed, minute), with a cache of the blocks in use."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from generator.catalog.assets import ASSETS
from generator.catalog.words import RegimeLabel
from generator.market.simulated.bars import Block, make_block
from generator.market.simulated.params import BLOCK_BARS, BLOCK_MINUTES, MINUTE_MS, REGIMES
from generator.market.simulated.random import MAX_SEED
from generator.market.simulated.schedule import schedule
from generator.market.values import BAR_FIELDS, BAR_MS, BarFrame, FloatArray

_BLOCKS_KEPT = 3


class SimulatedMarket:
    """A market whose every minute is known in advance.

    Args:
        seed: 0 <= seed < 2**63. The same seed gives the same market on every machine with the same numpy.

    Raises:
        ValueError: the seed is out of range.
    """

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < MAX_SEED:
            raise ValueError(f"seed must be from 0 to 2**63 - 1, not {seed}")
        self._seed = seed
        self._blocks: OrderedDict[int, Block] = OrderedDict()

    def log_mids(self, t_ms: int) -> FloatArray:
        """Return the log mid of all assets at the start of the minute that holds `t_ms`."""
        block, minute = divmod(_minute(t_ms), BLOCK_MINUTES)
        row: FloatArray = self._block(block).minute[minute]
        return row

    def regime(self, t_ms: int) -> tuple[RegimeLabel, bool]:
        """Return the ruling regime and whether it is still passing in from the one before."""
        block, minute = divmod(_minute(t_ms), BLOCK_MINUTES)
        label, passing = schedule(self._seed, block).at(minute)
        return REGIMES[label], passing

    def bars(self, first_ms: int, stop_ms: int) -> BarFrame:
        """Return all assets' 5-minute bars that open in [first_ms, stop_ms), both multiples of five minutes."""
        first, stop = max(first_ms // BAR_MS, 0), stop_ms // BAR_MS
        if stop <= first:
            return BarFrame.empty(ASSETS)
        pieces = [self._piece(block, first, stop) for block in range(first // BLOCK_BARS, (stop - 1) // BLOCK_BARS + 1)]
        if len(pieces) == 1:
            fields = pieces[0]
        else:
            fields = {name: np.concatenate([piece[name] for piece in pieces]) for name in BAR_FIELDS}
        return BarFrame(ASSETS, np.arange(first, stop, dtype=np.int64) * BAR_MS, fields)

    def _piece(self, block: int, first: int, stop: int) -> dict[str, FloatArray]:
        origin = block * BLOCK_BARS
        rows = slice(max(first - origin, 0), min(stop - origin, BLOCK_BARS))
        return {name: values[rows] for name, values in self._block(block).fields.items()}

    def _block(self, number: int) -> Block:
        block = self._blocks.get(number)
        if block is None:
            block = make_block(self._seed, number)
            for values in (block.minute, *block.fields.values()):
                values.flags.writeable = False  # callers get views
            self._blocks[number] = block
            while len(self._blocks) > _BLOCKS_KEPT:
                self._blocks.popitem(last=False)
        else:
            self._blocks.move_to_end(number)
        return block


def _minute(t_ms: int) -> int:
    if t_ms < 0:
        raise ValueError(f"the simulated market starts in 1970, not at {t_ms} ms")
    return t_ms // MINUTE_MS
