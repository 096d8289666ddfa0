"""Words that are shown with a memory: a new one is taken after some bars in a row, or at once where a rule says so."""

import numpy as np

from generator.brain.smoothing import Flags
from generator.market.bars import FloatArray


def taken(
    word: FloatArray, waited: FloatArray, candidate: FloatArray, at_once: Flags, wait: int
) -> tuple[FloatArray, FloatArray]:
    """Return the word shown after each bar of a block, and for how many bars another has been the candidate.

    >>> rows = np.array([0.0, 1.0, 1.0, 0.0])
    >>> candidate = np.broadcast_to(rows[:, None], (2, 4, 1))
    >>> shown, waited = taken(np.zeros(1), np.zeros(1), candidate, np.zeros((2, 4, 1), dtype=bool), wait=2)
    >>> shown.ravel().tolist(), waited.ravel().tolist()
    ([0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0])

    Args:
        word: shown before, as an index, (columns,).
        waited: bars in a row before, (columns,).
        candidate: the word that each bar would be with each word shown, (words, n, columns).
        at_once: whether it is then taken without waiting, likewise.
        wait: bars.
    """
    _, bars, columns = candidate.shape
    if bars == 1:
        rows = word.astype(np.int64)
        every = np.arange(columns)
        other = candidate[rows, 0, every]
        waiting = np.where(other == word, 0.0, waited + 1.0)
        is_taken = (waiting > 0.0) & (at_once[rows, 0, every] | (waiting >= wait))
        return np.where(is_taken, other, word)[None], np.where(is_taken, 0.0, waiting)[None]

    # From bar to bar in a row's own numbers: an array of a few columns costs more than they do.
    words = np.empty((bars, columns))
    waits = np.empty((bars, columns))
    for column in range(columns):
        shown = int(word[column])
        bars_waited = int(waited[column])
        would_be = candidate[:, :, column].astype(np.int64).tolist()
        is_at_once = at_once[:, :, column].tolist()
        for bar in range(bars):
            other = would_be[shown][bar]
            if other == shown:
                bars_waited = 0
            else:
                bars_waited += 1
                if is_at_once[shown][bar] or bars_waited >= wait:
                    shown = other
                    bars_waited = 0
            words[bar, column] = shown
            waits[bar, column] = bars_waited
    return words, waits
