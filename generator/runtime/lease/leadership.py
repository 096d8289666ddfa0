"""Hold a lease from a thread of its own, so that a long tick does not cost it.

The thread asks for the lease while another has it, and renews it three times in its time once it is ours. What the
tick asks is `fence`: a look at a clock, no request. It says no from the moment on when another may have taken over,
whether or not the thread got to run, so a process that was stopped and goes on writes nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from generator.errors import GeneratorError, LeadershipLost, LeaseUnreachable
from generator.runtime.lease.values import Grant, Lease, elapsed_s

SHARE_TRUSTED: Final = 0.9  # of the time of a lease; the rest is for clocks that run unequally
RENEWALS: Final = 3  # in the time of a lease
ASK_EVERY_S: Final = 0.4
FIRST_ANSWER_S: Final = 20.0
COMPLAIN_EVERY_S: Final = 60.0

log = structlog.get_logger("emi.lease")


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of the lease: our epoch while we lead, else who does."""

    epoch: int | None
    holder: str


@dataclass
class Counts:
    """What the metrics show."""

    taken: int = 0
    lost: int = 0
    unreached: int = 0


class Leadership:
    """Ask for a lease, keep it, and tell when it comes and goes.

    Args:
        lease: whose methods are called from the thread alone.
        elapsed: seconds that go on while the process is stopped.

    Attributes:
        floor: the highest epoch found written anywhere; the next one is higher.
        healthy: asked in the thread; while False the lease is given back and not asked for.
        changed: called in the thread after every change of `standing`.
    """

    def __init__(self, lease: Lease, elapsed: Callable[[], float] = elapsed_s) -> None:
        self._lease = lease
        self._elapsed = elapsed
        self.floor = 0
        self.healthy: Callable[[], bool] = lambda: True
        self.changed: Callable[[], None] = lambda: None
        self._grant: Grant | None = None
        self._until_s = 0.0
        self._asked = False
        self._complained_s: float | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.counts = Counts()

    def standing(self) -> Standing | None:
        """Return who leads, None before the first answer."""
        grant = self._grant
        if grant is not None:
            return Standing(grant.epoch, "this process")
        return Standing(None, self._lease.holder()) if self._asked else None

    def fence(self) -> int:
        """Return the epoch held.

        Raises:
            LeadershipLost: the lease is another's, or may be.
        """
        grant = self._grant
        if grant is None:
            raise LeadershipLost(f"the lease is not held; {self._lease.holder()} leads")
        if grant.ttl_s is not None and self._elapsed() >= self._until_s:
            raise LeadershipLost(f"the lease of epoch {grant.epoch} ran out before it was renewed")
        return grant.epoch

    def start(self) -> None:
        """Begin to ask, in a thread."""
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Give the lease back and end the thread; a lease that cannot be reached runs out by itself."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.give_back()
        self._lease.close()

    def step(self) -> float:
        """Ask or renew once; return the seconds until it is due again."""
        try:
            if self._grant is None:
                self._ask()
            else:
                self._keep(self._grant)
        except LeaseUnreachable as error:
            self._unreached(str(error))
        return self._pause_s()

    def give_back(self) -> None:
        """Stop leading at once, and let the next one in."""
        if self._grant is None:
            return
        self._grant = None
        try:
            self._lease.release()
        except GeneratorError as error:
            log.warning("the lease could not be given back; it runs out by itself", reason=str(error))
        self.changed()

    @contextmanager
    def held(self, wait_s: float) -> Iterator[int]:
        """Hold the lease for the length of the block.

        Raises:
            GeneratorError: another has it for `wait_s` seconds, or nobody answered whether one has it.
        """
        self.start()
        try:
            began = self._elapsed()
            # A first answer may take its time: a disk that is busy, a machine that is.
            while self._grant is None:
                answered = self._asked or self.counts.unreached
                if self._elapsed() - began >= (wait_s if answered else max(wait_s, FIRST_ANSWER_S)):
                    break
                time.sleep(0.05)
            if self._grant is None:
                raise GeneratorError(
                    f"{self._lease.holder()} leads here; stop it first"
                    if self._asked
                    else "the lease could not be asked for"
                )
            yield self._grant.epoch
        finally:
            self.close()

    def _run(self) -> None:
        pause_s = 0.0
        while not self._stop.wait(pause_s):
            pause_s = self.step()

    def _pause_s(self) -> float:
        grant = self._grant
        if grant is None:
            return ASK_EVERY_S
        return 1.0 if grant.ttl_s is None else grant.ttl_s / RENEWALS

    def _ask(self) -> None:
        if not self.healthy():
            return
        began = self._elapsed()
        first = not self._asked
        grant = self._lease.acquire(self.floor)
        if grant is None:
            self._asked = True
            if first:
                self.changed()
            return
        self._until_s = began + SHARE_TRUSTED * (grant.ttl_s or 0.0)
        self._grant = grant  # from here on the fence says yes
        self._asked = True
        self.counts.taken += 1
        self.changed()

    def _keep(self, grant: Grant) -> None:
        if not self.healthy():
            log.warning("unable to lead: the lease is given back", epoch=grant.epoch)
            self.give_back()
            return
        began = self._elapsed()
        try:
            self._lease.renew()
        except LeadershipLost as error:
            self._grant = None
            self.counts.lost += 1
            log.warning("the lease was lost; standing by", epoch=grant.epoch, reason=str(error))
            self.changed()
            return
        self._until_s = began + SHARE_TRUSTED * (grant.ttl_s or 0.0)
        self._complained_s = None

    def _unreached(self, reason: str) -> None:
        """Count a failed request; an unreached lease stays ours until its time is over, and the fence knows that."""
        self.counts.unreached += 1
        now = self._elapsed()
        if self._complained_s is None or now - self._complained_s >= COMPLAIN_EVERY_S:
            self._complained_s = now
            log.warning("the lease could not be asked for", reason=reason)
