"""Something that is made in a thread while ticks go on; a failure keeps the last one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

import structlog

T = TypeVar("T")
log = structlog.get_logger("emi.publish")


class Renewed(Generic[T]):
    """A value, and the thread that makes the next one. Its methods are called from one thread only.

    Args:
        name: what it is, for the log.
        pool: of threads that may make other things too.
    """

    def __init__(self, name: str, pool: ThreadPoolExecutor) -> None:
        self._name = name
        self._pool = pool
        self._key: object = None
        self._asked = False
        self._value: T | None = None
        self._next: Future[T] | None = None

    def take(self, key: object, make: Callable[[], T]) -> T | None:
        """Return the newest value, None while none could be made. The very first is made here and now."""
        if not self._asked:
            self._asked, self._key, self._next = True, key, Future()
            try:
                self._next.set_result(make())
            except Exception as error:  # noqa: BLE001  a tick goes on without it, whatever it was
                self._next.set_exception(error)
        if self._next is not None and self._next.done():
            self._land(self._next)
            self._next = None
        return self._value

    def begin(self, value: T | None, *, needed: bool = True) -> None:
        """Begin anew with a value that somebody else made.

        What is being made meanwhile is dropped when it is done: it knows less.

        Args:
            value: None if there is none.
            needed: then the next `take` makes one; else it goes without, and `renew` makes it.
        """
        self._asked, self._key, self._value, self._next = value is not None or not needed, None, value, None

    def renew(self, key: object, make: Callable[[], T]) -> None:
        """Begin to make the next value, unless one is being made or the last was of this key."""
        if self._next is None and key != self._key:
            self._key = key
            self._next = self._pool.submit(make)

    def _land(self, made: Future[T]) -> None:
        error = made.exception()
        if error is None:
            self._value = made.result()
            return
        self._key = None  # so that it is tried again
        log.warning("not made; the last one stands", what=self._name, reason=f"{type(error).__name__}: {error}")
