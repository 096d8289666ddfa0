"""Hold the lease from a thread of its own, so that a long tick does not cost it.

The thread acquires the lease when it is free, and renews it three times within its time. A tick checks `fence`: a
comparison with a clock, no request. It refuses from the moment on when another may have taken over, whether or not the
thread got to run, so a process that was suspended and continues writes nothing.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from generator.clock import elapsed_s
from generator.errors import GeneratorError, LeadershipLost, LeaseUnreachable
from generator.lock import FileLease
from generator.runtime.lease import Grant, Lease
from generator.settings import GeneratorSettings

SHARE_TRUSTED: Final = 0.9  # of the time of a lease; the rest is for clocks that run unequally
RENEWALS: Final = 3  # in the time of a lease
RETRY_S: Final = 0.4
COMPLAIN_EVERY_S: Final = 60.0

log = structlog.get_logger("emi.lease")


def open_lease(settings: GeneratorSettings) -> Lease:
    """Make the lease of these settings, not acquired yet: a lock file, or a row in PostgreSQL.

    LeaseUnreachable: LEASE_URL cannot be used on this machine.
    """
    if settings.lease_url is None:
        return FileLease(settings.state_dir)
    from generator.runtime.postgres_lease import PostgresLease  # noqa: PLC0415  one machine needs no driver

    return PostgresLease(settings.lease_url)


@dataclass(frozen=True, slots=True)
class LeaseState:
    """What is known of the lease: our epoch while we lead, else who does."""

    epoch: int | None
    holder: str


class Leadership:
    """Acquire a lease, keep it, and notify of every change; the lease's methods are called from the thread alone."""

    def __init__(self, lease: Lease, elapsed: Callable[[], float] = elapsed_s) -> None:
        self._lease = lease
        self._elapsed = elapsed  # seconds that count on while the process is suspended
        self.floor = 0  # the highest epoch found written anywhere; the next one is higher
        # Called in the thread: while False the lease is released and not acquired; after every change of `state()`.
        self.healthy: Callable[[], bool] = lambda: True
        self.on_change: Callable[[], object] = lambda: None
        self._grant: Grant | None = None
        self._until_s = 0.0
        self._answered = False
        self._complained_s: float | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.taken = self.lost = self.unreached = 0  # what the metrics show

    def state(self) -> LeaseState | None:
        """Return who leads, None before the first answer."""
        grant = self._grant
        if grant is not None:
            return LeaseState(grant.epoch, "this process")
        return LeaseState(None, self._lease.holder()) if self._answered else None

    def fence(self) -> int:
        """Return the epoch held; raise LeadershipLost when the lease is another's, or may be."""
        grant = self._grant
        if grant is None:
            raise LeadershipLost(f"the lease is not held; {self._lease.holder()} leads")
        if grant.ttl_s is not None and self._elapsed() >= self._until_s:
            raise LeadershipLost(f"the lease of epoch {grant.epoch} ran out before it was renewed")
        return grant.epoch

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Release the lease and end the thread; a lease that cannot be reached expires."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.release()
        self._lease.close()

    def step(self) -> float:
        """Acquire or renew once; return the seconds until the next step."""
        try:
            if self._grant is None:
                self._acquire()
            else:
                self._keep(self._grant)
        except LeaseUnreachable as error:
            self._unreached(str(error))

        grant = self._grant
        if grant is None:
            return RETRY_S
        return 1.0 if grant.ttl_s is None else grant.ttl_s / RENEWALS

    def release(self) -> None:
        """Stop leading at once, and let the next one in."""
        if self._grant is None:
            return
        self._grant = None
        try:
            self._lease.release()
        except GeneratorError as error:
            log.warning("the lease could not be released; it expires by itself", reason=str(error))
        self.on_change()

    @contextmanager
    def held(self, wait_s: float) -> Iterator[int]:
        """Hold the lease for the length of the block; GeneratorError: not to be had within `wait_s` seconds."""
        until_s = self._elapsed() + wait_s
        try:
            self.step()
            while self._grant is None and self._elapsed() < until_s:
                self._stop.wait(RETRY_S)
                self.step()

            if self._grant is None:
                held = f"{self._lease.holder()} leads here; stop it first"
                raise GeneratorError(held if self._answered else "the lease could not be reached")

            self.start()
            yield self._grant.epoch
        finally:
            self.close()

    def _run(self) -> None:
        pause_s = 0.0
        while not self._stop.wait(pause_s):
            pause_s = self.step()

    def _acquire(self) -> None:
        if not self.healthy():
            return
        first = not self._answered
        began = self._elapsed()
        grant = self._lease.acquire(self.floor)

        if grant is not None:
            self._until_s = began + SHARE_TRUSTED * (grant.ttl_s or 0.0)
            self._grant = grant  # from here on the fence lets writes pass
            self.taken += 1

        self._answered = True
        if grant is not None or first:
            self.on_change()

    def _keep(self, grant: Grant) -> None:
        if not self.healthy():
            log.warning("unable to lead: the lease is released", epoch=grant.epoch)
            self.release()
            return

        began = self._elapsed()
        try:
            self._lease.renew()
        except LeadershipLost as error:
            self._grant = None
            self.lost += 1
            log.warning("the lease was lost; standing by", epoch=grant.epoch, reason=str(error))
            self.on_change()
            return

        # Counted from before the request, so that our time ends before the lease's own.
        self._until_s = began + SHARE_TRUSTED * (grant.ttl_s or 0.0)
        self._complained_s = None

    def _unreached(self, reason: str) -> None:
        """Count a failed request; an unreached lease stays ours until its time is over, and the fence knows that."""
        self.unreached += 1
        now = self._elapsed()
        if self._complained_s is None or now - self._complained_s >= COMPLAIN_EVERY_S:
            self._complained_s = now
            log.warning("the lease could not be reached", reason=reason)
