"""What every measure is: running arrays that a block of bars moves on, and that can be seen as after any bar of it."""

from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from generator.market.bars import FloatArray

Times = npt.NDArray[np.int64]
_Rows = TypeVar("_Rows", bound=npt.NDArray[np.floating[Any]])


class Part:
    """A measure that is followed bar by bar and survives a restart.

    Its arrays are (k, ..., assets), or (..., assets). While a block is read they hold every bar of it where the dots
    are, so that one formula serves a block and a moment; `at` then leaves them as they were after one bar. Nothing
    computed for a bar depends on a later one, nor on how many were read together.
    """

    STATE: ClassVar[tuple[str, ...]] = ()
    """Names of the arrays of doubles that a restart needs, in the order of the file; the rest is worked out."""

    def __init__(self, columns: int = 1) -> None:
        """Take how many axes the columns are: 1, assets; 2, markets and assets."""
        self._columns = columns
        self._block: dict[str, FloatArray] = {}
        self._windows: dict[str, tuple[npt.NDArray[np.floating[Any]], Times]] = {}

    def stand(self, bars: int) -> None:
        """Be the same after each bar of a block in which nothing of this part moves."""
        self._windows = {}
        for name in self.STATE:
            values: FloatArray = getattr(self, name)
            axis = int(values.ndim > self._columns)
            shape = (*values.shape[:axis], bars, *values.shape[axis:])
            one = values[:, None] if axis else values[None]
            setattr(self, name, one if bars == 1 else np.broadcast_to(one, shape))

    def keep(self) -> None:
        """Remember the arrays as a block left them, bars and all."""
        self._block = {name: getattr(self, name) for name in self.STATE if name not in self._windows}

    def at(self, bar: int) -> None:
        """Be as after a bar of the last block."""
        for name, values in self._block.items():
            in_front = values.ndim - 1 - self._columns  # axes before that of the bars
            setattr(self, name, values[:, bar] if in_front else values[bar])
        for name, (rows, ends) in self._windows.items():
            end = int(ends[bar])
            setattr(self, name, rows[end - len(getattr(self, name)) : end])

    def settle(self) -> None:
        """Be as after the last bar of the block just read."""
        self.keep()
        self.at(-1)


def slid(kept: _Rows, newest: int, numbers: Times) -> tuple[_Rows, Times]:
    """Make room behind kept rows, one for each quarter hour or the like, for those up to the last of `numbers`.

    >>> rows, places = slid(np.array([[1.0], [2.0]]), newest=7, numbers=np.array([7, 7, 9]))
    >>> rows.ravel().tolist(), places.tolist()
    ([1.0, 2.0, nan, nan], [1, 1, 3])

    Args:
        kept: oldest first, (rows, ...).
        newest: number of the last of them, -1 while there is none.
        numbers: of the row that each bar belongs to, (n,), ascending.

    Returns:
        The rows with the new ones, NaN yet, and the place of each bar's row.
    """
    size = len(kept)
    missed = size if newest < 0 else min(int(numbers[0]) - newest, size)
    places = size - 1 + missed + numbers - numbers[0]
    rows: Any = np.full((int(places[-1]) + 1, *kept.shape[1:]), np.nan, dtype=kept.dtype)
    rows[:size] = kept
    return rows, places


def stretches(places: Times) -> list[slice]:
    """Return the stretches of bars of the same place.

    >>> stretches(np.array([4, 4, 5]))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    edges = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(places)]
    return [slice(begin, end) for begin, end in pairwise(edges)]
