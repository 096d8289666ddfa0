"""What every measure is: running arrays that a block of bars moves on, and that can be seen as after any bar of it."""

from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.market.bars import FloatArray

Times = npt.NDArray[np.int64]
Rows = npt.NDArray[np.floating[Any]]
_SPARE: Final = 4  # kept rows for each that is to spare: those kept are moved once in so many


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
        self._windows: dict[str, tuple[Rows, Times]] = {}
        self._rooms: dict[str, tuple[Rows, int]] = {}  # array with rows to spare, and where those of a block begin
        self._ends: dict[str, int] = {}  # end of the rows that are kept, among those of the block

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
            self._ends[name] = end

    def slid(
        self, name: str, newest: int, numbers: Times, present: Rows | None = None, empty: float = np.nan
    ) -> tuple[Any, Times]:
        """Make room behind the kept rows of an array, one for each quarter hour or the like.

        >>> part = Part()
        >>> part.kept = np.array([[1.0], [2.0]])
        >>> rows, places = part.slid("kept", newest=7, numbers=np.array([7, 7, 9]))
        >>> rows.ravel().tolist(), places.tolist()
        ([1.0, 2.0, nan, nan], [1, 1, 3])

        Args:
            name: of the array, oldest row first.
            newest: number of its last row, or of `present`; -1 while there is none.
            numbers: of the row that each bar belongs to, (n,), ascending.
            present: the row behind those kept, which may still change.
            empty: what the new rows hold.

        Returns:
            The rows with the new ones, and the place of each bar's row. They are written where the kept ones lie, with
            rows to spare, so that a bar that comes alone moves none.
        """
        kept: Rows = getattr(self, name)
        size = len(kept)
        known = size if present is None else size + 1
        missed = known if newest < 0 else min(int(numbers[0]) - newest, known)
        places = numbers - (int(numbers[0]) + 1 - known - missed)
        needed = int(places[-1]) + 1

        room, begin = self._rooms.get(name, (kept, 0))
        begin += self._ends.get(name, size) - size
        if kept.base is not room or begin + needed > len(room):
            room = np.empty((needed + size // _SPARE, *kept.shape[1:]), dtype=kept.dtype)
            room[:size] = kept
            begin = 0
        rows = room[begin : begin + needed]
        if present is not None:
            rows[size] = present
        rows[known:] = empty
        self._rooms[name] = (room, begin)
        self._ends[name] = size
        return rows, places

    def settle(self) -> None:
        """Be as after the last bar of the block just read."""
        self.keep()
        self.at(-1)


def windows(values: FloatArray, size: int) -> FloatArray:
    """Return every window of so many rows in a row, as views, (windows, ..., size).

    >>> windows(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    values = np.ascontiguousarray(values)
    step, *steps = values.strides
    shape = (len(values) - size + 1, *values.shape[1:], size)
    return np.ndarray(shape, values.dtype, values, strides=(step, *steps, step))


def stretches(places: Times) -> list[slice]:
    """Return the stretches of bars of the same place.

    >>> stretches(np.array([4, 4, 5]))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    edges = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(places)]
    return [slice(begin, end) for begin, end in pairwise(edges)]
