"""Voters: only a record above chance counts, bursts are shown, places are earned."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.wire.notes import Chances
from generator.arena.ranks import Calendar
from generator.arena.rates import in_words, share
from generator.arena.voters import (
    CountedVote,
    Voter,
    burst_shares,
    bursts,
    by_record,
    influence,
    leaderboard,
    record_shares,
)
from generator.catalog.words import Prediction
from generator.values.votes import Tally
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import HOUR, MINUTE, NOON

UP, DOWN, FLAT = Prediction.BULLISH, Prediction.BEARISH, Prediction.NEUTRAL


def voter(resolved: int, hits: int, name: str = "A") -> Voter:
    return Voter(name, resolved, hits)


def votes(count: int, choice: Prediction = UP, at_ms: int = NOON, who: Voter | None = None) -> list[CountedVote]:
    return [CountedVote(choice, at_ms, who)] * count


@pytest.mark.parametrize("who", [None, voter(0, 0), voter(300, 100), voter(300, 20), voter(3, 1)])
def test_without_a_record_above_chance_a_voter_has_no_influence(who: Voter | None) -> None:
    assert influence(who) == pytest.approx(0, abs=1e-12)


def test_a_few_lucky_rounds_count_for_less_than_a_long_record() -> None:
    assert influence(voter(3, 3)) < influence(voter(200, 120))


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_influence_is_at_most_what_a_perfect_record_gives(resolved: int, hits: int) -> None:
    assert 0 <= influence(voter(resolved, min(hits, resolved))) <= 2 / 3


def test_ten_thousand_new_addresses_do_not_move_the_crowd_by_record() -> None:
    crowd = by_record([*votes(10_000, UP), *votes(3, DOWN, who=voter(100, 60))])

    assert crowd.voters == 3
    assert (crowd.bullish, crowd.bearish, crowd.neutral) == (0, 1, 0)
    assert crowd.said == Tally(0, 3, 0)


def test_the_shares_by_record_are_weighed_and_come_with_the_voters_counted() -> None:
    crowd = by_record([*votes(2, UP, who=voter(100, 40)), *votes(1, DOWN, who=voter(1_000, 900)), *votes(5, FLAT)])

    up, down, flat = record_shares(crowd)

    assert [(one.hits, one.n) for one in (up, down, flat)] == [(2, 3), (1, 3), (0, 3)]
    assert down.percent is not None
    assert down.percent > 80
    assert (share(down), in_words(down)) == ("1 of 3", "1")


def test_a_crowd_without_records_has_no_shares() -> None:
    assert by_record(votes(5)) == by_record([])


def test_a_flood_in_one_minute_is_shown_with_what_it_was() -> None:
    calm = [vote for minute in range(50) for vote in votes(1, DOWN, NOON + minute * MINUTE, voter(9, 5))]
    flood = votes(90, UP, NOON + 30 * MINUTE + 5_000)

    found = bursts([*calm, *flood], NOON, NOON + HOUR)

    assert len(found) == 1
    assert (found[0].at_ms, found[0].votes) == (NOON + 30 * MINUTE, 91)
    assert (found[0].same_choice, found[0].new_voters) == (90, 90)
    assert [share.percent for share in burst_shares(found[0])] == [98.9, 98.9]


@pytest.mark.parametrize("count", [0, 1, 19])
def test_few_votes_are_no_burst(count: int) -> None:
    assert bursts(votes(count), NOON, NOON + HOUR) == ()


def test_a_busy_round_has_no_bursts_only_because_it_is_busy() -> None:
    busy = [vote for minute in range(60) for vote in votes(40, UP, NOON + minute * MINUTE)]

    assert bursts(busy, NOON, NOON + HOUR) == ()


PLAYED: Final = replace(an_open_round(), base_rate=(0.3, 0.4, 0.3))


def played(rounds: int, said: Callable[[int], tuple[Prediction, Chances | None] | None], name: str = "A") -> Voter:
    """Return a voter after so many hourly rounds that came up, small, down, small in turn; None leaves one out."""
    record = Voter(name, 0, 0)
    for hour in range(rounds):
        vote = said(hour)
        if vote is not None:
            record = record.voted(*vote, replace(PLAYED, start_ms=hour * HOUR), CAME[hour % 4])
    return record


CAME: Final = (UP, FLAT, DOWN, FLAT)
CALENDAR: Final = Calendar([hour * HOUR for hour in range(2_400)])


def test_a_vote_that_is_a_word_counts_as_a_hit_and_saves_nothing_by_chances() -> None:
    words = played(40, lambda hour: (CAME[hour % 4], None))
    mixed = played(40, lambda hour: (CAME[hour % 4], Chances(20, 60, 20) if hour % 4 == 1 else None))

    assert (words.resolved, words.hits, words.by_chances.answers) == (40, 40, 0)
    # A small move is the likeliest: to name it saves nothing; up and down, each time that they come, a whole hit.
    assert words.by_hits.total == 20 * 10_000
    assert mixed.by_chances.answers == mixed.given.rounds == 10
    usual, own = 0.3**2 + 0.6**2 + 0.3**2, 0.2**2 + 0.4**2 + 0.2**2
    assert mixed.by_chances.total == 10 * round(10_000 * (usual - own))


def test_a_key_that_plays_only_where_it_likes_gains_no_place_by_that() -> None:
    """Both say what is true of every second round and the base rate else; the picker leaves the others out."""
    sure = (FLAT, Chances(20, 60, 20))
    honest = played(2_400, lambda hour: sure if hour % 2 else (FLAT, Chances(30, 40, 30)), "HONEST")
    picker = played(2_400, lambda hour: sure if hour % 2 or not hour else None, "PICKER")

    board = leaderboard([honest, picker], CALENDAR)

    saved = {place.voter[0]: place for place in board.by_score}
    assert saved["H"].brier > saved["P"].brier
    assert saved["H"].rounds == saved["P"].rounds == 2_400
    assert saved["H"].brier_saved.value == pytest.approx(saved["P"].brier_saved.value, abs=3e-4)


def test_places_start_at_thirty_votes_and_are_provisional_below_a_hundred() -> None:
    def every(step: int) -> Callable[[int], tuple[Prediction, None] | None]:
        return lambda hour: (FLAT, None) if hour % step == 0 else None

    voters = [played(29 * 12, every(12), "A"), played(30 * 12, every(12), "B"), played(99 * 12, every(12), "C")]
    board = leaderboard([*voters, played(100 * 12, every(12), "D")], CALENDAR)

    assert (board.voters, board.below_30, board.gave_chances) == (4, 1, 0)
    assert {place.voter[0]: place.provisional for place in board.places} == {"B": True, "C": True, "D": False}
    assert {place.voter[0]: place.hit.n for place in board.places} == {"B": 30, "C": 99, "D": 100}


def test_the_leaderboard_is_at_most_twenty_and_the_same_for_any_order() -> None:
    def always(word: Prediction) -> Callable[[int], tuple[Prediction, None]]:
        return lambda _hour: (word, None)

    voters = [played(400, always(CAME[number % 4]), f"{number:02d}") for number in range(40)]

    assert leaderboard(voters, CALENDAR) == leaderboard(voters[::-1], CALENDAR)
    assert len(leaderboard(voters, CALENDAR).places) == 20
