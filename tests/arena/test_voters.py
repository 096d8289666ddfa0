"""Voters: only a record above chance counts, bursts are shown, places are earned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_places_start_at_thirty_rounds_and_are_provisional_below_a_hundred() -> None:
    board = leaderboard([voter(29, 29, "A"), voter(30, 20, "B"), voter(99, 60, "C"), voter(100, 60, "D")])

    assert (board.voters, board.below_30) == (4, 1)
    assert [(place.place, place.voter, place.provisional) for place in board.places] == [
        (1, "C\u2026C", True),
        (2, "D\u2026D", False),
        (3, "B\u2026B", True),
    ]


def test_a_lucky_short_record_does_not_lead_a_long_one() -> None:
    board = leaderboard([voter(30, 19, "lucky"), voter(1_000, 600, "steady")])

    assert [place.voter for place in board.places] == ["steady\u2026eady", "lucky\u2026ucky"]


def test_the_leaderboard_is_at_most_twenty_and_the_same_for_any_order() -> None:
    voters = [voter(40, number, f"{number:02d}") for number in range(40)]

    assert leaderboard(voters) == leaderboard(voters[::-1])
    assert len(leaderboard(voters).places) == 20


def test_equal_records_are_ranked_by_their_rounds_and_then_by_address() -> None:
    board = leaderboard([voter(30, 0, "A"), voter(100, 0, "C"), voter(100, 0, "B")])

    assert [place.voter[0] for place in board.places] == ["B", "C", "A"]
