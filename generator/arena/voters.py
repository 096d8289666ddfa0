"""What is known of voters: their record, a crowd in which only a record counts, bursts of votes, the leaderboard.

Anyone can make any number of addresses, so the plain count is not a poll. `by_record` gives an address influence only
for rounds in which it was right more often than chance, so a new address has none; bursts are shown, not removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final, NamedTuple

from gateway.wire.notes import WHOLE, Chances
from generator.arena.rates import ENOUGH, part, rate, shared
from generator.arena.scores import ORDER
from generator.arena.scoring import E8, E9, brier_e8, log_e9
from generator.catalog.durations import MINUTE_MS
from generator.catalog.words import Prediction
from generator.values.rounds import Triple
from generator.values.scores import Z_95, Estimate, Rate
from generator.values.votes import NO_VOTERS, Burst, Leaderboard, LeaderboardPlace, RecordCrowd, ScorePlace, Tally

PRIOR_ROUNDS: Final = 30  # a voter begins as if right in a third of so many rounds
BURST_VOTES: Final = 20
BURST_TIMES: Final = 10  # as many as ten usual minutes
BURSTS_SHOWN: Final = 5
SURE_FROM: Final = 100
PLACES: Final = 20
_E4: Final = 10**4


@dataclass(frozen=True, slots=True)
class ChanceScores:
    """Sums over the resolved rounds in which one voter gave chances; immutable. Brier is in 10^-8, log in 10^-9."""

    rounds: int = 0
    brier: int = 0
    base_brier: int = 0
    log_score: int = 0
    base_log_score: int = 0
    squares: int = 0  # of by how much the Brier score was below the base rate's, in 10^-8

    def plus(self, chances: Chances, base_rate: Triple, outcome: Prediction) -> ChanceScores:
        """Score one more round."""
        given = (chances.down / WHOLE, chances.neutral / WHOLE, chances.up / WHOLE)

        place = ORDER.index(outcome)
        brier = brier_e8(given, place)
        base_brier = brier_e8(base_rate, place)
        # In 10^-4, so that its square is in the 10^-8 of `squares`.
        saved_e4 = round((base_brier - brier) / _E4)

        return ChanceScores(
            rounds=self.rounds + 1,
            brier=self.brier + brier,
            base_brier=self.base_brier + base_brier,
            log_score=self.log_score + log_e9(given[place]),
            base_log_score=self.base_log_score + log_e9(base_rate[place]),
            squares=self.squares + saved_e4 * saved_e4,
        )

    @property
    def saved(self) -> Estimate | None:
        """By how much the mean Brier score is below the base rate's; its interval from 30 rounds on.

        Rounds do not overlap, so each is one case.
        """
        n = self.rounds
        if not n:
            return None

        value = (self.base_brier - self.brier) / E8 / n
        if n < ENOUGH:
            return Estimate(round(value, 4), None, None)
        # The sample variance; rounding may put it a hair below zero.
        variance = max(0.0, self.squares / E8 / n - value * value) * n / (n - 1)
        half = Z_95 * sqrt(variance / n)
        return Estimate(round(value, 4), round(value - half, 4), round(value + half, 4))


class Voter(NamedTuple):
    """One address: rounds that it voted in and that resolved, in how many it was right, and the scores of chances."""

    address: str
    resolved: int
    hits: int
    given: ChanceScores = ChanceScores()


class CountedVote(NamedTuple):
    """One counted ballot with its voter's record at that time, None for an address without one."""

    choice: Prediction
    arrived_ms: int
    voter: Voter | None


def influence(voter: Voter | None) -> float:
    """Return how far a voter's hit rate, drawn towards a third, is above a third, 0..2/3; 0 without a record.

    >>> influence(None), influence(Voter("A", resolved=30, hits=10)), round(influence(Voter("B", 30, 30)), 4)
    (0.0, 0.0, 0.3333)
    """
    if voter is None:
        return 0.0
    shrunk = (voter.hits + PRIOR_ROUNDS / 3) / (voter.resolved + PRIOR_ROUNDS)
    return max(0.0, shrunk - 1 / 3)


def by_record(votes: Iterable[CountedVote]) -> RecordCrowd:
    """Count votes by the record of who cast them."""
    sums = dict.fromkeys(Prediction, 0.0)
    counts = dict.fromkeys(Prediction, 0)
    for vote in votes:
        strength = influence(vote.voter)
        if strength > 0:
            sums[vote.choice] += strength
            counts[vote.choice] += 1

    total = sum(sums.values())
    shares = {word: value / total if total else 0.0 for word, value in sums.items()}

    tally = Tally(counts[Prediction.BULLISH], counts[Prediction.BEARISH], counts[Prediction.NEUTRAL])
    return RecordCrowd(
        voters=tally.total,
        bullish=shares[Prediction.BULLISH],
        bearish=shares[Prediction.BEARISH],
        neutral=shares[Prediction.NEUTRAL],
        said=tally,
    )


def record_shares(crowd: RecordCrowd) -> tuple[Rate, Rate, Rate]:
    """Return the weighed shares of bullish, bearish and neutral among the voters with a record."""
    tally = crowd.said
    return (
        part(tally.bullish, crowd.voters, crowd.bullish),
        part(tally.bearish, crowd.voters, crowd.bearish),
        part(tally.neutral, crowd.voters, crowd.neutral),
    )


def bursts(votes: Sequence[CountedVote], opened_ms: int, closed_ms: int) -> tuple[Burst, ...]:
    """Return the fullest minutes of a round that stand out: 20 votes at least, and ten times the usual minute."""
    minutes: dict[int, list[CountedVote]] = {}
    for vote in votes:
        minutes.setdefault(vote.arrived_ms // MINUTE_MS, []).append(vote)

    usual = len(votes) / max(1, (closed_ms - opened_ms) // MINUTE_MS)
    least = max(BURST_VOTES, BURST_TIMES * usual)
    full = [_burst(minute, in_minute) for minute, in_minute in minutes.items() if len(in_minute) >= least]

    full.sort(key=lambda burst: (-burst.votes, burst.at_ms))
    return tuple(full[:BURSTS_SHOWN])


def _burst(minute: int, votes: Sequence[CountedVote]) -> Burst:
    most = Counter(vote.choice for vote in votes).most_common(1)[0][1]
    new = sum(vote.voter is None for vote in votes)
    return Burst(minute * MINUTE_MS, len(votes), most, new)


def burst_shares(burst: Burst) -> tuple[Rate, Rate]:
    """Return the shares of a burst's votes that were for one choice, and that came from new addresses."""
    return part(burst.same_choice, burst.votes), part(burst.new_voters, burst.votes)


def leaderboard(voters: Iterable[Voter]) -> Leaderboard:
    """Rank voters with 30 resolved rounds or more, by hits and by chances; ties go to more rounds, then the address."""
    rated = []
    scored = []
    below = 0
    scored_below = 0
    total = 0
    for voter in voters:
        total += 1
        saved = voter.given.saved
        if saved is not None and voter.given.rounds >= ENOUGH:
            scored.append((voter, saved))
        elif voter.given.rounds:
            scored_below += 1
        if voter.resolved < ENOUGH:
            below += 1
            continue
        rated.append((voter, rate(voter.hits, voter.resolved)))

    # By the lower end of the interval, so that a lucky start does not lead.
    rated.sort(key=lambda pair: (-(pair[1].low_percent or 0.0), -pair[0].resolved, pair[0].address))
    places = tuple(
        LeaderboardPlace(
            place=number,
            voter=shortened(voter.address),
            hit=shared(hit),
            provisional=voter.resolved < SURE_FROM,
        )
        for number, (voter, hit) in enumerate(rated[:PLACES], 1)
    )
    scored.sort(key=lambda pair: (-(pair[1].low or 0.0), -pair[0].given.rounds, pair[0].address))
    by_score = tuple(_scored(number, voter, saved) for number, (voter, saved) in enumerate(scored[:PLACES], 1))
    return replace(
        NO_VOTERS,
        places=places,
        by_score=by_score,
        voters=total,
        below_30=below,
        gave_chances=len(scored) + scored_below,
        gave_chances_below_30=scored_below,
    )


def shortened(address: str) -> str:
    """Return the ends of an address, by which its owner knows it.

    >>> shortened("ABCDEFGHIJKLMNOP")
    'ABCDEF…MNOP'
    """
    return f"{address[:6]}\u2026{address[-4:]}"


def _scored(place: int, voter: Voter, saved: Estimate) -> ScorePlace:
    given = voter.given

    return ScorePlace(
        place=place,
        voter=shortened(voter.address),
        n=given.rounds,
        brier=round(given.brier / E8 / given.rounds, 4),
        brier_base_rate=round(given.base_brier / E8 / given.rounds, 4),
        log_score=round(given.log_score / E9 / given.rounds, 4),
        log_score_base_rate=round(given.base_log_score / E9 / given.rounds, 4),
        brier_saved=saved,
        provisional=given.rounds < SURE_FROM,
    )
