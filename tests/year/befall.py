"""What befalls the generator's machine in an hour of the disturbed year: one function for each fault."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from tests.year.generator import Tick
from tests.year.plan import RESTORED

if TYPE_CHECKING:
    from tests.year.play import Year

MINUTE_S: Final = 60
HOUR_S: Final = 3_600
TICK_CPU_S: Final = 0.15  # about what one takes
MINUTES: Final = (55, 60)  # of the ticks that are still to come in this hour
Ticks = Mapping[int, Tick]


def befall(year: Year, fault: str, chance: random.Random) -> Ticks:
    """Let a fault happen now, or return the ticks of this hour that it meets."""
    return FAULTS[fault](year, chance)


def _restarted(year: Year, _chance: random.Random) -> Ticks:
    machine = year.machine
    assert machine.generator is not None
    machine.generator.stop()
    machine.start_generator()
    return {}


def _killed_in_a_tick(_year: Year, chance: random.Random) -> Ticks:
    return {chance.choice(MINUTES): Tick(kill_s=chance.uniform(0, TICK_CPU_S))}


def _killed_and_down(year: Year, chance: random.Random) -> Ticks:
    """The process stays away until :15 of the next hour."""
    year.gap("generator killed and down for hours", 0, HOUR_S)
    minute = chance.choice((0, 55))
    if minute == 0:
        year.lose_generator()
    else:
        year.after(minute, year.lose_generator)
    return {}


def _full_for_a_tick(_year: Year, chance: random.Random) -> Ticks:
    return {chance.choice(MINUTES): Tick(limit=_size(chance))}


def _full_for_hours(year: Year, chance: random.Random) -> Ticks:
    year.gap("generator's disk full for hours", 0, HOUR_S)
    return {minute: Tick(limit=_size(chance), lasts=True) for minute in MINUTES}


def _size(chance: random.Random) -> int:
    """Return how large a file may become: on a logarithmic scale, since most files are small."""
    return int(2 ** chance.uniform(0, 22))


def _unreadable(_year: Year, chance: random.Random) -> Ticks:
    return {chance.choice(MINUTES): Tick(venues=0)}


def _two_venues_fail(year: Year, _chance: random.Random) -> Ticks:
    year.gap("two of three venues fail", 0, HOUR_S)
    return {60: Tick(venues=1)}


def _one_venue_fails(_year: Year, _chance: random.Random) -> Ticks:
    return {minute: Tick(venues=2) for minute in MINUTES}


def _back_by_seconds(year: Year, chance: random.Random) -> Ticks:
    """After the tick of the full hour it is a minute ago again."""
    year.gap("clock set back by seconds", 0, HOUR_S)
    year.after(60, lambda: year.be_wrong(-chance.uniform(20, MINUTE_S)))
    return {}


def _back_by_an_hour(year: Year, _chance: random.Random) -> Ticks:
    year.gap("clock set back by an hour", -HOUR_S - 6 * MINUTE_S, 6 * MINUTE_S)
    year.be_wrong(-HOUR_S)
    return {}


def _forward_by_hours(year: Year, chance: random.Random) -> Ticks:
    hours = chance.randint(1, 3)
    year.gap("clock set forward by hours", -HOUR_S, (hours + 1) * HOUR_S)
    year.be_wrong(hours * HOUR_S)
    return {}


def _power_cut(year: Year, _chance: random.Random) -> Ticks:
    machine = year.machine
    machine.kill(machine.generator, machine.gateway)
    machine.start_generator()
    machine.start_gateway()
    return {}


def _restored(year: Year, _chance: random.Random) -> Ticks:
    year.restore()
    return {}


FAULTS: Final[Mapping[str, Callable[[Year, random.Random], Ticks]]] = {
    "generator restarted": _restarted,
    "generator killed in a tick": _killed_in_a_tick,
    "generator killed and down for hours": _killed_and_down,
    "generator's disk full for a tick": _full_for_a_tick,
    "generator's disk full for hours": _full_for_hours,
    "market unreadable for a tick": _unreadable,
    "two of three venues fail": _two_venues_fail,
    "one of three venues fails": _one_venue_fails,
    "clock set back by seconds": _back_by_seconds,
    "clock set back by an hour": _back_by_an_hour,
    "clock set forward by hours": _forward_by_hours,
    "power cut": _power_cut,
    RESTORED: _restored,
}
