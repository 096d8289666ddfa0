"""What was made before, for as long as what it is made from is equal."""

from collections.abc import Callable, Container
from typing import Any, Generic, TypeVar

Name = TypeVar("Name")
Value = TypeVar("Value")


class Memo(Generic[Name]):
    """Values by name, one of each: the same object again until its key is another one. One thread calls its methods.

    >>> memo = Memo[str]()
    >>> memo.get("sum", (1, 2), lambda: 1 + 2), memo.get("sum", (1, 2), lambda: 1 / 0)
    (3, 3)
    """

    def __init__(self) -> None:
        self._made: dict[Name, tuple[object, Any]] = {}

    def get(self, name: Name, key: object, make: Callable[[], Value]) -> Value:
        """Return the value of a name, made again where its key is not that of the last; one that fails is not kept.

        Args:
            key: what the value is made from, compared by equality.
        """
        found = self._made.get(name)
        if found is None or found[0] != key:
            found = self._made[name] = (key, make())
        value: Value = found[1]
        return value

    def keep(self, names: Container[Name]) -> None:
        """Forget every other name."""
        self._made = {name: made for name, made in self._made.items() if name in names}

    def drop(self, name: Name) -> None:
        """Forget a name, whether it is known or not."""
        self._made.pop(name, None)

    def clear(self) -> None:
        """Forget everything."""
        self._made = {}

    def __contains__(self, name: Name) -> bool:
        return name in self._made
