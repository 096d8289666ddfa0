"""Votes: what ballots said, who said it, and what their records are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from generator.catalog.text.answers import LEADERBOARD_NOTE
from generator.values.published import PUBLISHED
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardPlace:
    """One place by hits. Ranked by the lower end of the interval of above_likeliest."""

    __pydantic_config__ = PUBLISHED

    place: int
    """From 1."""
    voter: str
    """The voter's address, shortened."""
    hit: Rate
    """How often the voter was right, of the rounds voted in."""
    rounds: int
    """Rounds resolved since the first vote; one that was left out counts as the likeliest outcome by its base rate."""
    above_likeliest: Estimate
    """By what share of these rounds the voter was right oftener than the likeliest outcome came; above 0 is better."""
    luck: float
    """Among so many voters the best by luck alone stays below this, in 95 of 100 cases."""
    beyond_luck: bool
    """Whether above_likeliest is more than that."""
    provisional: bool
    """True below 100 resolved rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePlace:
    """One place by chances. Ranked by the lower end of the interval of brier_saved; a vote that is a word says none."""

    __pydantic_config__ = PUBLISHED

    place: int
    """From 1."""
    voter: str
    """The voter's address, shortened."""
    n: int
    """Resolved rounds in which the voter gave chances."""
    brier: float
    """Mean three-class Brier score, 0..2, lower is better."""
    brier_base_rate: float
    """That of the base rates in the same rounds."""
    log_score: float
    """Mean negative log of the outcome's chance, clamped at 0.01."""
    log_score_base_rate: float
    """That of the base rates in the same rounds."""
    rounds: int
    """Rounds resolved since the first vote; one that was left out, or voted in by a word, counts as the base rate."""
    brier_saved: Estimate
    """By how much the Brier score was below the base rate's, per round since the first vote; above 0 is better."""
    luck: float
    """Among so many voters the best by luck alone stays below this, in 95 of 100 cases."""
    beyond_luck: bool
    """Whether brier_saved is more than that."""
    provisional: bool
    """True below 100 resolved rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """Voters with 30 votes of their own in ten days or more, at most 20 a ranking; simulated voters are in none."""

    __pydantic_config__ = PUBLISHED

    places: tuple[LeaderboardPlace, ...]
    """The best records of being right, of words and of chances by their largest."""
    by_score: tuple[ScorePlace, ...]
    """The best records of chances, by proper scores."""
    voters: int
    """Voters with at least one resolved round."""
    below_30: int
    """Voters with too few votes or days for a place."""
    gave_chances: int
    """Voters who gave chances in at least one resolved round."""
    gave_chances_below_30: int
    """Those of them with too few such votes, or days, for a place in by_score."""
    note: str
    """How places are given."""


NO_VOTERS: Final = Leaderboard(
    places=(),
    by_score=(),
    voters=0,
    below_30=0,
    gave_chances=0,
    gave_chances_below_30=0,
    note=LEADERBOARD_NOTE,
)
