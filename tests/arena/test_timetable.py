"""The round clock."""

from hypothesis import given
from hypothesis import strategies as st

from generator.arena.timetable import Timetable, asset_of, revise, round_id_of
from generator.catalog.durations import DAY_MS, MINUTE_MS
from tests.support.arena_inputs import HOUR, NOON, ms

LENGTHS = [15, 16, 18, 20, 24, 30, 32, 36, 40, 45, 48, 60, 72, 80, 90]
MIDNIGHT = ms("2026-11-21T00:00")


@given(st.sampled_from(LENGTHS), st.integers(0, 4_000_000_000_000))
def test_every_instant_lies_in_one_slot_that_starts_at_a_multiple_since_midnight(minutes: int, t_ms: int) -> None:
    slot = Timetable(minutes).slot_at(t_ms)

    assert slot.start_ms <= t_ms < slot.end_ms
    assert slot.end_ms - slot.start_ms == minutes * MINUTE_MS
    assert slot.start_ms % DAY_MS % (minutes * MINUTE_MS) == 0


def test_a_new_length_takes_effect_at_the_next_midnight() -> None:
    timetable = revise(Timetable(60), 15, NOON, NOON + HOUR)

    assert timetable.minutes_at(MIDNIGHT - 1) == 60
    assert timetable.minutes_at(MIDNIGHT) == 15
    assert timetable.next_slot(MIDNIGHT - 1).end_ms == MIDNIGHT + 15 * MINUTE_MS


def test_once_the_round_of_midnight_takes_votes_a_change_waits_a_day() -> None:
    timetable = revise(Timetable(60), 15, MIDNIGHT - HOUR // 2, MIDNIGHT)

    assert timetable.minutes_at(MIDNIGHT) == 60
    assert timetable.minutes_at(MIDNIGHT + DAY_MS) == 15


def test_a_change_that_is_taken_back_in_time_never_happens() -> None:
    changed = revise(Timetable(60), 15, NOON, NOON + HOUR)

    assert revise(changed, 60, NOON + HOUR, NOON + 2 * HOUR) == Timetable(60)


def test_a_wish_that_comes_while_another_takes_effect_waits_for_its_own_midnight() -> None:
    changed = revise(Timetable(60), 15, NOON, NOON + HOUR)

    late = revise(changed, 30, MIDNIGHT - 60_000, MIDNIGHT)
    after = revise(late, 30, MIDNIGHT, MIDNIGHT)

    assert late == changed
    assert (after.minutes_at(MIDNIGHT), after.minutes_at(MIDNIGHT + DAY_MS)) == (15, 30)


@given(
    st.lists(st.tuples(st.integers(1, 40), st.sampled_from(LENGTHS)), min_size=1, max_size=60),
)
def test_whatever_is_wished_when_rounds_never_overlap(steps: list[tuple[int, int]]) -> None:
    now, timetable, last_end, last_start = NOON, None, 0, None
    for quarter_hours, wanted in steps:
        now += quarter_hours * 15 * MINUTE_MS
        timetable = revise(timetable, wanted, now, last_start)
        slot = timetable.next_slot(now)
        if last_start is None or slot.start_ms > last_start:
            assert slot.start_ms >= last_end
            last_start, last_end = slot.start_ms, slot.end_ms


def test_assets_take_turns_and_name_their_rounds() -> None:
    slots = [Timetable(60).slot_at(NOON + hour * HOUR) for hour in range(4)]

    names = [round_id_of(asset_of(slot, ("BTC", "ETH", "SOL")), slot.start_ms) for slot in slots]

    assert sorted(name.split("-")[0] for name in names[:3]) == ["BTC", "ETH", "SOL"]
    assert names[3].split("-")[0] == names[0].split("-")[0]
    assert [name.split("-", 1)[1] for name in names[:2]] == ["20261120-120000", "20261120-130000"]
