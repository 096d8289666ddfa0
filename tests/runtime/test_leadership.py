"""Holding a lease from a thread: what the fence returns when renewals come, fail, or never happen."""

import threading

import pytest

from generator.errors import GeneratorError, LeadershipLost
from generator.runtime.leadership import Leadership
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


def test_the_fence_refuses_every_write_without_a_lease_and_returns_its_epoch() -> None:
    leadership = Leadership(FakeLease(), ManualClock().monotonic)
    leadership.floor = 41

    assert refused(leadership)
    assert leadership.state() is None
    leadership.step()

    assert leadership.fence() == 42  # higher than what was found written


def test_a_process_suspended_past_its_time_writes_nothing_when_it_resumes() -> None:
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


def test_one_lost_request_is_tolerated_and_a_lease_out_of_reach_expires() -> None:
    leadership, lease, clock = leading()
    lease.away = True

    clock.step(leadership.step())
    assert leadership.fence() == 1
    for _ in range(2):
        clock.step(leadership.step())

    assert refused(leadership)
    assert leadership.unreached == 3


def test_a_lease_that_no_one_took_meanwhile_continues_under_its_epoch() -> None:
    leadership, lease, clock = leading()
    lease.away = True
    clock.step(10)
    leadership.step()
    lease.away = False

    leadership.step()

    assert leadership.fence() == 1


def test_a_lease_taken_by_another_makes_a_standby() -> None:
    leadership, lease, _ = leading()
    lease.free = True  # to another
    leadership.step()
    lease.free = False

    leadership.step()

    state = leadership.state()
    assert state is not None
    assert (state.epoch, state.holder) == (None, "machine:7")
    assert refused(leadership)
    assert leadership.lost == 1


def test_a_process_that_cannot_lead_releases_the_lease_until_it_can() -> None:
    leadership, lease, _ = leading()
    leadership.healthy = lambda: False

    leadership.step()
    leadership.step()
    assert lease.calls == ["acquire", "release"]
    assert refused(leadership)
    leadership.healthy = lambda: True
    leadership.step()

    assert leadership.fence() == 2


def test_every_change_is_notified_and_the_first_answer_too() -> None:
    lease = FakeLease()
    lease.free = False
    leadership = Leadership(lease, ManualClock().monotonic)
    notified: list[int | None] = []

    def note() -> None:
        state = leadership.state()
        notified.append(state.epoch if state else -1)

    leadership.on_change = note

    leadership.step()
    leadership.step()
    lease.free = True
    leadership.step()
    leadership.step()
    leadership.release()

    assert notified == [None, 1, None]


def test_closing_releases_the_lease_even_when_it_was_just_acquired() -> None:
    lease = FakeLease(None)
    leadership = Leadership(lease)
    got = threading.Event()
    leadership.on_change = got.set
    leadership.start()
    assert got.wait(60)

    leadership.close()

    assert lease.calls[-2:] == ["release", "close"]
    assert refused(leadership)


def test_a_lease_that_cannot_be_released_expires() -> None:
    leadership, lease, _ = leading()
    lease.away = True

    leadership.release()

    assert refused(leadership)


def test_a_lease_without_an_end_is_held_while_the_process_lives() -> None:
    leadership, _, clock = leading(None)

    clock.step(1e6)

    assert leadership.fence() == 1


def test_a_single_tick_holds_the_lease_for_its_length() -> None:
    lease = FakeLease()
    leadership = Leadership(lease)

    with leadership.held(5) as epoch:
        assert leadership.fence() == epoch

    assert lease.free


@pytest.mark.parametrize(
    ("free", "away", "said"), [(False, False, "machine:7 leads here"), (True, True, "could not be reached")]
)
def test_a_single_tick_is_refused_without_the_lease(free: bool, away: bool, said: str) -> None:
    lease = FakeLease()
    lease.free, lease.away = free, away

    with pytest.raises(GeneratorError, match=said), Leadership(lease).held(0.2):
        pytest.fail("it was let in")

    assert lease.calls[-1] == "close"
