"""No bytes of others end in anything but an answer or the refusal of their door."""

import pytest

from tests.doors.fuzz import fuzz
from tests.doors.table import DOORS

CASES = 10_000
SEED = 20261128


@pytest.mark.parametrize("name", DOORS)
def test_hostile_bytes_are_read_or_refused_by_the_doors_own_error(name: str) -> None:
    door = DOORS[name]()

    outcome = fuzz(door, CASES, SEED)

    assert outcome.failed == []
    assert outcome.read >= len(door.samples)
    assert outcome.read + outcome.refused.total() == CASES
