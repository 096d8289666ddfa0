"""Votes: what ballots said, who said it, and what their records are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from generator.values.rows import ChanceSumsRow, VoteCounts
from generator.values.scores import Estimate, Rate


@dataclass(frozen=True, slots=True)
class ChanceSums:
    """The chances of one round's counted ballots that gave some: of how many, and their sums in whole percent."""

    votes: int = 0
    up: int = 0
    neutral: int = 0
    down: int = 0

    @property
    def row(self) -> ChanceSumsRow:
        """The sums, as they are published."""
        return {"votes": self.votes, "up": self.up, "neutral": self.neutral, "down": self.down}

    def plus(self, other: ChanceSums) -> ChanceSums:
        """Add those of other ballots."""
        return ChanceSums(
            self.votes + other.votes, self.up + other.up, self.neutral + other.neutral, self.down + other.down
        )

    def minus(self, other: ChanceSums) -> ChanceSums:
        """Take those of a part of the ballots away."""
        return ChanceSums(
            self.votes - other.votes, self.up - other.up, self.neutral - other.neutral, self.down - other.down
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """Counted ballots of one round, one per voter, the last before the close; those with chances by their largest."""

    bullish: int = 0
    bearish: int = 0
    neutral: int = 0
    chances: ChanceSums = ChanceSums()

    @property
    def total(self) -> int:
        """All counted ballots."""
        return self.bullish + self.bearish + self.neutral

    def plus(self, other: Tally) -> Tally:
        """Add two tallies."""
        return Tally(
            self.bullish + other.bullish,
            self.bearish + other.bearish,
            self.neutral + other.neutral,
            self.chances.plus(other.chances),
        )

    @property
    def votes(self) -> VoteCounts:
        """The votes by choice, as they are published."""
        return {"bullish": self.bullish, "bearish": self.bearish, "neutral": self.neutral}


class Votes(NamedTuple):
    """The votes of a round at its close, of real and of simulated voters."""

    real: Tally = Tally()
    simulated: Tally = Tally()


class BallotVerdict(NamedTuple):
    """What became of one ballot file; `reason` is None when it counted."""

    name: str  # the file's
    reason: str | None = None
    txid: str | None = None


@dataclass(frozen=True, slots=True)
class RecordCrowd:
    """The crowd in which a voter counts by their record; weighed shares 0..1, all 0 when no one has one."""

    voters: int
    bullish: float
    bearish: float
    neutral: float
    said: Tally = Tally()  # these voters by their choice; empty where an earlier version locked the round


@dataclass(frozen=True, slots=True)
class Burst:
    """Many votes in one minute: how many of them were for its most frequent choice, how many from new addresses."""

    at_ms: int
    votes: int
    same_choice: int
    new_voters: int


@dataclass(frozen=True, slots=True)
class LockedCrowd:
    """What was worked out of a round's real votes at its lock."""

    by_record: RecordCrowd
    bursts: tuple[Burst, ...]


class RankedVoter(NamedTuple):
    """One place of the leaderboard; provisional below 100 resolved rounds."""

    place: int
    address: str
    hit: Rate
    provisional: bool


class ScoredVoter(NamedTuple):
    """One place of the ranking by chances: a voter's scores, the base rate's in the same rounds, and what was saved."""

    place: int
    address: str
    rounds: int
    brier: float
    base_rate_brier: float
    log_score: float
    base_rate_log_score: float
    saved: Estimate  # the base rate's Brier score minus the voter's
    provisional: bool


class VoterRanking(NamedTuple):
    """The best records by the lower end of their interval, and how many voters have too few rounds for a place.

    `places` are of hit rates, `by_score` of the chances that voters gave.
    """

    places: tuple[RankedVoter, ...] = ()
    voters: int = 0
    below: int = 0
    by_score: tuple[ScoredVoter, ...] = ()
    scored: int = 0  # voters who gave chances in a resolved round
    scored_below: int = 0  # of them in fewer than 30
