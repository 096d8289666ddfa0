"""The crowd in more than its plain count: by record, bursts, patterns, the leaderboard."""

from __future__ import annotations

from typing import Final

from generator.arena.tally import most_said
from generator.arena.values import RecordCrowd
from generator.catalog.formats import iso, share
from generator.catalog.text.answers import BY_RECORD_NOTE, LEADERBOARD_NOTE, NO_RECORDS
from generator.catalog.words import Consensus
from generator.compose.context import TickContext
from generator.compose.scores import rate
from generator.contract.rounds import CrowdByRecord, VoteBurst
from generator.contract.teacher_lessons import Leaderboard, LeaderboardPlace, TeacherPattern

NO_ONE: Final = RecordCrowd(0, 0.0, 0.0, 0.0)


def crowd_by_record(ctx: TickContext) -> CrowdByRecord | None:
    """Compose the live round's crowd by record, as of its lock."""
    if ctx.arena.live is None:
        return None
    crowd = ctx.arena.crowd.by_record if ctx.arena.crowd else NO_ONE
    shares = {
        Consensus.BULLISH: share(crowd.bullish) or 0.0,
        Consensus.BEARISH: share(crowd.bearish) or 0.0,
        Consensus.NEUTRAL: share(crowd.neutral) or 0.0,
    }
    return CrowdByRecord(
        voters=crowd.voters,
        bullish_percent=shares[Consensus.BULLISH],
        bearish_percent=shares[Consensus.BEARISH],
        neutral_percent=shares[Consensus.NEUTRAL],
        consensus=most_said(shares) if crowd.voters else Consensus.NONE,
        note=BY_RECORD_NOTE if crowd.voters else NO_RECORDS,
    )


def vote_bursts(ctx: TickContext) -> tuple[VoteBurst, ...]:
    """Compose the minutes of the live round's votes that stand out."""
    found = ctx.arena.crowd.bursts if ctx.arena.live and ctx.arena.crowd else ()
    return tuple(
        VoteBurst(
            at=iso(burst.at_ms),
            votes=burst.votes,
            same_choice_percent=share(burst.same_choice) or 0.0,
            new_voters_percent=share(burst.new_voters) or 0.0,
        )
        for burst in found
    )


def patterns(ctx: TickContext) -> tuple[TeacherPattern, ...]:
    """Compose what many rounds show."""
    return tuple(
        TeacherPattern(
            when=group.when,
            rounds=group.rounds,
            brain=rate(group.brain),
            crowd=rate(group.crowd),
            both_wrong=rate(group.both_wrong),
            finding=group.finding,
        )
        for group in ctx.arena.patterns
    )


def leaderboard(ctx: TickContext) -> Leaderboard:
    """Compose the leaderboard; addresses are shortened."""
    board = ctx.arena.leaderboard
    return Leaderboard(
        places=tuple(
            LeaderboardPlace(
                place=place.place,
                voter=f"{place.address[:6]}\u2026{place.address[-4:]}",
                hit=rate(place.hit),
                provisional=place.provisional,
            )
            for place in board.places
        ),
        voters=board.voters,
        below_30=board.below,
        note=LEADERBOARD_NOTE,
    )
