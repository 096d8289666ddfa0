"""The crowd in more than its plain count."""

from dataclasses import replace

from generator.arena.values import LockedCrowd, RecordCrowd
from generator.catalog.words import Consensus
from generator.compose.rounds import human_consensus, shared_intelligence
from generator.compose.teacher_lessons import teacher_lessons
from tests.support import builders


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
