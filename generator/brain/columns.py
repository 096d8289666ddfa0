"""One value an asset, made from the arrays of all assets when someone asks for it."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Columns(Generic[Value]):
    """What is said of each asset.

    >>> squares = Columns(3, lambda column: column * column)
    >>> squares[2], list(squares)
    (4, [0, 1, 4])
    """

    def __init__(self, many: int, make: Callable[[int], Value]) -> None:
        """Take how many assets there are, and what makes the value of one; it must change nothing."""
        self._many = many
        self._make = make

    def __getitem__(self, column: int) -> Value:
        """Return the value of one asset."""
        return self._make(column)

    def __iter__(self) -> Iterator[Value]:
        """Give the values of all, in the order of the assets."""
        return map(self._make, range(self._many))

    def __len__(self) -> int:
        """Return how many assets there are."""
        return self._many

    def __getstate__(self) -> dict[str, object]:
        """Pickle and copy the values, not what makes them."""
        return {**vars(self), "_make": tuple(self).__getitem__}
