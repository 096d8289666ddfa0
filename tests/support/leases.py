"""What every lease must do, checked for any kind."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from generator.errors import LeadershipLost, LeaseUnreachable
from generator.runtime.lease import Grant, Lease

Make = Callable[[], Lease]


class FakeLease:
    """A lease that a test controls."""

    def __init__(self, ttl_s: float | None = 3.0) -> None:
        self.ttl_s = ttl_s
        self.epoch = 0
        self.free = True
        self.away = False
        self.calls: list[str] = []
        self.on_renew: Callable[[], None] = lambda: None

    def acquire(self, floor: int) -> Grant | None:
        self._called("acquire")
        if not self.free:
            return None
        self.free = False
        self.epoch = max(self.epoch, floor) + 1
        return Grant(self.epoch, self.ttl_s)

    def renew(self) -> None:
        self._called("renew")
        self.on_renew()
        if self.free:
            raise LeadershipLost("another took it")

    def release(self) -> None:
        self._called("release")
        self.free = True

    def holder(self) -> str:
        return "machine:7"

    def close(self) -> None:
        self.calls.append("close")

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if self.away:
            raise LeaseUnreachable("no answer")


def one_at_a_time(make: Make) -> None:
    """One holds it; the other gets it, under a higher epoch, as soon as it is released."""
    one, two = make(), make()

    first = one.acquire(0)
    refused = two.acquire(0)
    one.renew()
    one.release()
    second = two.acquire(0)

    assert first is not None
    assert refused is None
    assert two.holder() != "another generator"
    assert second is not None
    assert second.epoch > first.epoch
    with pytest.raises(LeadershipLost):
        one.renew()
    two.release()


def epochs_only_rise(make: Make) -> None:
    """Restarts, floors and returns: no epoch comes twice."""
    epochs = []
    for floor in (0, 0, 40, 0, 7):
        lease = make()
        grant = lease.acquire(floor)
        assert grant is not None
        epochs.append(grant.epoch)
        lease.release()

    assert epochs == sorted(set(epochs))
    assert epochs[2] > 40


def one_of_many_wins(make: Make, rivals: int = 8) -> None:
    """Acquired by many at the same moment it is held by one."""
    won: list[Any] = []
    barrier = threading.Barrier(rivals)
    leases = [make() for _ in range(rivals)]

    def ask(lease: Lease) -> None:
        barrier.wait()
        grant = lease.acquire(0)
        if grant is not None:
            won.append(lease)

    threads = [threading.Thread(target=ask, args=(lease,)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(won) == 1
    won[0].release()
