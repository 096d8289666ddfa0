"""The crowd in more than its plain count."""

from dataclasses import replace
from math import nan

import pytest

from generator.brain.reading import VolatilityOutlook
from generator.catalog.words import Consensus
from generator.compose.coins import expected_move
from generator.compose.rounds import crowd_chances, human_consensus, shared_intelligence
from generator.compose.scores import hour_statement
from generator.compose.teacher_lessons import teacher_lessons
from generator.compose.tick import Tick
from generator.values.scores import BacktestScores
from generator.values.votes import Burst, ChanceSums, LockedCrowd, RecordCrowd, Tally
from tests.support import builders
from tests.support.ranges import how_far


def test_the_crowd_by_record_is_next_to_the_count() -> None:
    body = human_consensus(builders.full_context())

    assert body.by_record is not None
    assert (body.by_record.voters, body.by_record.bullish_percent) == (4, 51.2)
    assert body.by_record.consensus is Consensus.BULLISH
    assert "not a poll" in body.crowd_note
    assert [(burst.votes, burst.new_voters_percent) for burst in body.bursts] == [(9, 77.8)]


def test_record_and_bursts_come_with_the_consensus_wherever_it_is_published() -> None:
    context = builders.full_context()
    alone, together = human_consensus(context), shared_intelligence(context)

    assert together.human_layer == alone.human_consensus
    assert (together.by_record, together.bursts) == (alone.by_record, alone.bursts)


def test_a_burst_in_which_no_voter_is_new_says_zero_percent() -> None:
    context = builders.full_context()
    burst = Burst(context.freshness.generated_ms, votes=4, same_choice=3, new_voters=0)
    crowd = LockedCrowd(RecordCrowd(0, 0.0, 0.0, 0.0), (burst, replace(burst, same_choice=0, new_voters=4)))

    shown = human_consensus(replace(context, arena=replace(context.arena, crowd=crowd))).bursts

    assert [(one.same_choice_percent, one.new_voters_percent) for one in shown] == [(75.0, 0.0), (0.0, 100.0)]


@pytest.mark.parametrize("unknown", ["m15", "h1", "h4"])
def test_expected_moves_are_published_where_all_three_are_known(unknown: str) -> None:
    outlook = VolatilityOutlook(0.001, 0.002, 0.004, 0.01)

    shown = expected_move(outlook)

    assert shown is not None
    assert (shown.minutes_15_percent, shown.hour_1_percent, shown.hours_4_percent) == (0.1, 0.2, 0.4)
    assert expected_move(replace(outlook, **{unknown: nan})) is None
    assert expected_move(None) is None


def test_the_hour_s_ranges_of_a_backtest_are_counted_apart() -> None:
    arena = builders.full_context().arena
    backtest = BacktestScores(arena.hourly_record, arena.arena_record, how_far(12))
    resolved = next(row.resolved for row in backtest.how_far if row.horizon == "1h")
    first = replace(arena, how_far=(), backtest=backtest)
    later = replace(arena, how_far=how_far(40), backtest=backtest)

    assert hour_statement(first) == (
        f"No range for 1 hour has been judged yet. A backtest before the start made {resolved}, counted apart."
    )
    assert hour_statement(later) == hour_statement(replace(later, backtest=None))


def test_a_round_whose_voters_have_no_record_says_so() -> None:
    context = builders.full_context()
    no_one = LockedCrowd(RecordCrowd(0, 0.0, 0.0, 0.0), ())

    body = human_consensus(replace(context, arena=replace(context.arena, crowd=no_one)))

    assert body.by_record is not None
    assert (body.by_record.consensus, body.by_record.bullish_percent) == (Consensus.NONE, None)
    assert body.by_record.note.startswith("No voter")


def test_the_leaderboard_shows_shortened_addresses_and_who_has_too_few_rounds() -> None:
    body = teacher_lessons(builders.full_context())

    assert [place.voter for place in body.leaderboard.places] == ["AAAAAA\u2026BBBB"]
    assert body.leaderboard.places[0].provisional is True
    assert (body.leaderboard.voters, body.leaderboard.below_30) == (17, 16)


# Chances

UP_CHANCES, DOWN_CHANCES = ChanceSums(2, 130, 40, 30), ChanceSums(1, 15, 25, 60)


def with_chances() -> Tick:
    """Two of twelve real votes and one of four simulated ones gave chances."""
    full = builders.CONTEXTS["simulated"]()
    simulated = Tally(1, 2, 1, DOWN_CHANCES)
    voted = Tally(9, 4, 3, UP_CHANCES.plus(DOWN_CHANCES))
    return replace(full, arena=replace(full.arena, live_tally=voted, live_simulated_tally=simulated))


def test_mean_chances_of_real_and_simulated_votes_are_published_apart() -> None:
    said = crowd_chances(with_chances()).as_json()

    assert said == {
        "n": 2,
        "chances": {"up": 0.65, "neutral": 0.2, "down": 0.15},
        "simulated_n": 1,
        "simulated_chances": {"up": 0.15, "neutral": 0.25, "down": 0.6},
    }


def test_where_no_vote_gave_chances_the_mean_is_null() -> None:
    said = crowd_chances(builders.full_context())

    assert (said.n, said.chances, said.simulated_n, said.simulated_chances) == (0, None, 0, None)
