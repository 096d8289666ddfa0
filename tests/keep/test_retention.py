"""Which backups stay, against a plain second reading of the rule."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.operate.keep.retention import SPANS, kept, name_at
from generator.operate.keep.status import Status, note

BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
PARTS = ("memory", "ledger")


@given(st.lists(st.integers(0, 2 * 365 * 24 * 60), min_size=1, max_size=60, unique=True))
def test_a_backup_stays_exactly_where_it_is_the_newest_of_a_kept_span(minutes: list[int]) -> None:
    times = {name_at(time): time for time in (BEGIN + timedelta(minutes=minute) for minute in minutes)}

    staying = kept(dict.fromkeys(times, PARTS))

    for name, time in times.items():
        wanted = False
        for form, most in (("%Y%m%d%H", 48), ("%Y%m%d", 30), ("%Y%m", 12)):
            later = {other.strftime(form) for other in times.values() if other > time}
            wanted |= time.strftime(form) not in later and len(later) < most
        assert (name in staying) == wanted


def test_backups_of_two_years_become_at_most_ninety() -> None:
    staying: frozenset[str] = frozenset()
    for hour in range(0, 2 * 365 * 24, 12):
        staying = kept(dict.fromkeys({*staying, name_at(BEGIN + timedelta(hours=hour))}, PARTS))

    assert len(staying) <= sum(most for _, most in SPANS)
    assert len({name[:6] for name in staying}) == 12


@given(st.dictionaries(st.integers(0, 90 * 24 * 60), st.sets(st.sampled_from("abc")), min_size=1, max_size=40))
def test_what_stays_of_each_part_is_what_would_stay_if_there_were_no_other(held: dict[int, set[str]]) -> None:
    backups = {name_at(BEGIN + timedelta(minutes=minute)): parts for minute, parts in held.items()}

    alone = [kept({name: {part} for name, parts in backups.items() if part in parts}) for part in "abc"]

    assert kept(backups) == frozenset().union(*alone)


@pytest.mark.parametrize(
    ("hours", "good", "text"),
    [(1, True, "it was made, 1.0 hours ago"), (27, False, "the last backup is 27 hours old")],
)
def test_a_backup_is_judged_by_its_age(tmp_path: Path, hours: int, good: bool, text: str) -> None:
    path = tmp_path / "backups.json"
    note(path, "backup", BEGIN, "it was made")

    assert Status.load(path).judge_backup(BEGIN + timedelta(hours=hours)) == (good, text)
    assert Status.load(path).judge_drill(BEGIN)[0] is None


def test_a_backup_that_failed_is_a_fault_until_one_goes_well(tmp_path: Path) -> None:
    path = tmp_path / "backups.json"
    note(path, "drill", BEGIN, "it was made")
    note(path, "drill", BEGIN, fault="no space")

    assert Status.load(path).judge_drill(BEGIN) == (False, "the last restore drill failed: no space")
    assert Status.load(path).drill.found == "it was made"
    note(path, "drill", BEGIN, "again")
    assert Status.load(path).judge_drill(BEGIN)[0] is True
