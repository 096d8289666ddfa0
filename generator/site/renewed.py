"""Something that is made in a thread while ticks go on; a failure keeps the last one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from generator.release.last_good import Kind, LastGood

T = TypeVar("T")


class Renewed(Generic[T]):
    """A value, and the thread that makes the next one. Its methods are called from one thread only.

    Args:
        kind: what it is, for the count of failures.
        name: likewise, for the log.
        pool: of threads that may make other things too.
        last_good: counts what fails.
    """

    def __init__(self, kind: Kind, name: str, pool: ThreadPoolExecutor, last_good: LastGood | None = None) -> None:
        self._kind = kind
        self._name = name
        self._pool = pool
        self._last_good = last_good or LastGood()
        self._key: object = None
        self._asked = False
        self._value: T | None = None
        self._next: Future[T] | None = None

    def take(self, key: object, make: Callable[[], T]) -> T | None:
        """Return the newest value, None while none could be made. The very first is made here and now."""
        if not self._asked:
            self._asked, self._key = True, key
            self._land(make)
        elif self._next is not None and self._next.done():
            self._land(self._next.result)
            self._next = None
        return self._value

    def begin(self, value: T | None, *, needed: bool) -> None:
        """Begin again with a value that somebody else made.

        What is being made meanwhile is dropped when it is done: it knows less.

        Args:
            value: None if there is none.
            needed: whether the next `take` makes a new one; else it goes with this one, and `renew` makes the next.
        """
        self._asked, self._key, self._value, self._next = not needed, None, value, None

    def renew(self, key: object, make: Callable[[], T]) -> None:
        """Begin to make the next value, unless one is being made or the last was of this key."""
        if self._next is None and key != self._key:
            self._key = key
            self._next = self._pool.submit(make)

    def _land(self, made: Callable[[], T]) -> None:
        value = self._last_good.attempt(self._kind, made, self._name)
        if value is None:
            self._key = None  # so that it is tried again
        else:
            self._value = value
