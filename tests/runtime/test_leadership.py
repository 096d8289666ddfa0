"""Holding a lease from a thread: what the fence says when renewals come, fail, or never happen."""

from __future__ import annotations

import threading
import time

import pytest

from generator.errors import GeneratorError, LeadershipLost
from generator.runtime.lease.leadership import Leadership
from generator.runtime.lease.values import Grant
from tests.support.clock import ManualClock
from tests.support.leases import FakeLease


def leading(ttl_s: float | None = 3.0) -> tuple[Leadership, FakeLease, ManualClock]:
    lease, clock = FakeLease(ttl_s), ManualClock()
    leadership = Leadership(lease, clock.monotonic)
    leadership.step()
    return leadership, lease, clock


def refused(leadership: Leadership) -> bool:
    try:
        leadership.fence()
    except LeadershipLost:
        return True
    return False


def test_before_the_lease_is_got_nothing_may_be_written() -> None:
    leadership = Leadership(FakeLease(), ManualClock().monotonic)

    assert refused(leadership)
    assert leadership.standing() is None


def test_the_fence_says_the_epoch_that_was_granted() -> None:
    leadership, _, _ = leading()

    assert leadership.fence() == 1


def test_a_process_that_was_stopped_past_its_time_writes_nothing_even_before_its_thread_runs_again() -> None:
    leadership, _, clock = leading()

    clock.step(2.69)
    assert leadership.fence() == 1
    clock.step(0.02)

    assert refused(leadership)


def test_time_is_counted_from_before_the_request_was_sent() -> None:
    leadership, lease, clock = leading()

    def slow() -> None:
        clock.step(2.0)

    lease.on_renew = slow
    leadership.step()
    clock.step(0.8)

    assert refused(leadership)


def test_a_lease_is_renewed_three_times_in_its_time() -> None:
    leadership, _, clock = leading()

    for _ in range(10):
        clock.step(leadership.step())
        assert leadership.fence() == 1


def test_one_lost_request_costs_nothing_and_a_lease_out_of_reach_ends_by_itself() -> None:
    leadership, lease, clock = leading()
    lease.away = True

    clock.step(leadership.step())
    assert leadership.fence() == 1
    for _ in range(2):
        clock.step(leadership.step())

    assert refused(leadership)
    assert leadership.counts.unreached == 3


def test_a_lease_that_nobody_took_meanwhile_goes_on_under_its_epoch() -> None:
    leadership, lease, clock = leading()
    lease.away = True
    clock.step(10)
    leadership.step()
    lease.away = False

    leadership.step()

    assert leadership.fence() == 1


def test_a_lease_taken_by_another_makes_a_standby() -> None:
    leadership, lease, _ = leading()
    lease.free = True  # to somebody else
    leadership.step()
    lease.free = False

    leadership.step()

    standing = leadership.standing()
    assert standing is not None
    assert (standing.epoch, standing.holder) == (None, "machine:7")
    assert refused(leadership)
    assert leadership.counts.lost == 1


def test_a_process_that_cannot_lead_gives_the_lease_back_and_does_not_ask_again_until_it_can() -> None:
    leadership, lease, _ = leading()
    leadership.healthy = lambda: False

    leadership.step()
    leadership.step()
    assert lease.calls == ["acquire", "release"]
    assert refused(leadership)
    leadership.healthy = lambda: True
    leadership.step()

    assert leadership.fence() == 2


def test_the_floor_makes_the_next_epoch_higher() -> None:
    lease = FakeLease()
    leadership = Leadership(lease, ManualClock().monotonic)
    leadership.floor = 41

    leadership.step()

    assert leadership.fence() == 42


def test_every_change_is_told_and_the_first_answer_too() -> None:
    lease = FakeLease()
    lease.free = False
    leadership = Leadership(lease, ManualClock().monotonic)
    told: list[int | None] = []

    def note() -> None:
        standing = leadership.standing()
        told.append(standing.epoch if standing else -1)

    leadership.changed = note

    leadership.step()
    leadership.step()
    lease.free = True
    leadership.step()
    leadership.step()
    leadership.give_back()

    assert told == [None, 1, None]


def test_closing_gives_the_lease_back_even_when_it_was_just_got() -> None:
    lease = FakeLease(None)
    leadership = Leadership(lease)
    got = threading.Event()
    leadership.changed = got.set
    leadership.start()
    assert got.wait(60)

    leadership.close()

    assert lease.calls[-2:] == ["release", "close"]
    assert refused(leadership)


def test_a_lease_that_cannot_be_given_back_is_left_to_run_out() -> None:
    leadership, lease, _ = leading()
    lease.away = True

    leadership.give_back()

    assert refused(leadership)


def test_a_lease_without_an_end_is_held_while_the_process_lives() -> None:
    leadership, _, clock = leading(None)

    clock.step(1e6)

    assert leadership.fence() == 1


def test_a_single_tick_is_refused_while_another_leads() -> None:
    lease = FakeLease()
    lease.free = False

    with pytest.raises(GeneratorError, match="machine:7 leads here"), Leadership(lease).held(0.2):
        pytest.fail("it was let in")

    assert lease.calls[-1] == "close"


def test_a_single_tick_waits_for_a_first_answer_that_takes_long() -> None:
    class Slow(FakeLease):
        def acquire(self, floor: int) -> Grant | None:
            time.sleep(0.5)
            return super().acquire(floor)

    with Leadership(Slow()).held(0.1) as epoch:
        assert epoch == 1


def test_a_single_tick_does_not_wait_long_for_a_lease_that_is_away() -> None:
    lease = FakeLease()
    lease.away = True

    with pytest.raises(GeneratorError, match="could not be asked for"), Leadership(lease).held(0.2):
        pytest.fail("it was let in")


def test_a_single_tick_holds_the_lease_for_its_length() -> None:
    lease = FakeLease()
    leadership = Leadership(lease)

    with leadership.held(5) as epoch:
        assert leadership.fence() == epoch

    assert lease.free
