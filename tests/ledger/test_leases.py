"""Whose attempt is over: a live process's only after it was watched, unchanged, for as long as an attempt may take."""

from dataclasses import replace

from gateway.ledger.owner import Leases
from tests.support.clock import ManualClock
from tests.support.intents import INTENT

ME = "me:boot:1:7:9:aa"
OTHER = replace(INTENT, owner="another host:boot:1:7:9:bb")
LEASE_S = 30.0
SIX_HOURS_S = 6 * 3600


def watching() -> tuple[Leases, ManualClock]:
    clock = ManualClock()
    return Leases(clock, ME, LEASE_S), clock


def test_our_own_attempt_is_over_at_once() -> None:
    leases, _ = watching()

    assert leases.is_over(replace(INTENT, owner=ME))


def test_anothers_attempt_is_over_when_its_time_has_passed_since_it_was_seen() -> None:
    leases, clock = watching()
    looks = [leases.is_over(OTHER)]

    for wall_s, passed_s in ((SIX_HOURS_S, LEASE_S - 0.5), (-SIX_HOURS_S, 0.5)):
        clock.set_wall(wall_s)
        clock.step(passed_s)
        looks.append(leases.is_over(OTHER))

    assert looks == [False, False, True]


def test_a_new_attempt_or_a_new_owner_has_its_own_time() -> None:
    for changed in (replace(OTHER, settles=2), replace(OTHER, owner="a third:boot:1:7:9:cc")):
        leases, clock = watching()
        leases.is_over(OTHER)
        clock.step(LEASE_S)
        looks = [leases.is_over(changed), leases.is_over(changed)]
        clock.step(LEASE_S)

        assert [*looks, leases.is_over(changed)] == [False, False, True]


def test_a_payment_that_is_not_open_any_more_is_forgotten_and_the_others_are_not() -> None:
    leases, clock = watching()
    kept = replace(OTHER, txid="K" * 52)
    leases.is_over(OTHER)
    leases.is_over(kept)

    leases.keep_only({kept.txid})
    clock.step(LEASE_S)

    assert (leases.is_over(OTHER), leases.is_over(kept)) == (False, True)
