"""Half a day of rounds with restarts and kills.

docs/explain/arena.md has the figures of a month (days=30, step_minutes=10).
"""

from pathlib import Path

from tests.support.month import Month, broken, differences, straight


def test_half_a_day_with_restarts_at_random_instants_equals_the_same_without(tmp_path: Path) -> None:
    month = Month(days=0.5, step_minutes=15, seed=12)
    one = straight(month, tmp_path / "straight")
    two = broken(month, tmp_path / "broken")

    assert differences(one, two) == []
    assert len(month.faults) == 5
    assert one.memory.view(0).ballots_counted > 20
    assert list((one.site / "files" / "ballots").iterdir())
    for record in (one, two):
        record.memory.close()
