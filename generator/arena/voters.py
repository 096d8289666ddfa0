"""What is known of voters: their record, a crowd in which only a record counts, bursts of votes, the leaderboard.

Anyone can make any number of addresses, so the plain count is not a poll. `by_record` gives an address influence only
for rounds in which it was right more often than chance, so a new address has none; bursts are shown, not removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from gateway.wire.notes import WHOLE, Chances
from generator.arena.ranks import UNITS, Calendar, Entrant, Place, Saved, ranking
from generator.arena.rates import part, rate, shared
from generator.arena.scores import ORDER
from generator.arena.scoring import E8, E9, brier_e8, log_e9
from generator.catalog.durations import DAY_MS, MINUTE_MS
from generator.catalog.words import Prediction
from generator.values.rounds import Round, Triple
from generator.values.scores import Rate
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

    def plus(self, chances: Chances, base_rate: Triple, outcome: Prediction) -> ChanceScores:
        """Score one more round."""
        given = given_chances(chances)
        place = ORDER.index(outcome)

        return ChanceScores(
            rounds=self.rounds + 1,
            brier=self.brier + brier_e8(given, place),
            base_brier=self.base_brier + brier_e8(base_rate, place),
            log_score=self.log_score + log_e9(given[place]),
            base_log_score=self.base_log_score + log_e9(base_rate[place]),
        )


class Voter(NamedTuple):
    """One address: rounds that it voted in and that resolved, in how many it was right, and what its votes saved."""

    address: str
    resolved: int
    hits: int
    given: ChanceScores = ChanceScores()
    since_ms: int = 0  # start of the first of these rounds
    by_hits: Saved = Saved()  # how much oftener it was right than the likeliest outcome came
    by_chances: Saved = Saved()  # by how much its Brier scores were below the base rate's

    def voted(self, choice: Prediction, chances: Chances | None, played: Round, outcome: Prediction) -> Voter:
        """Add a vote in a round that resolved; a word says no chances, and saves nothing by them."""
        base_rate = played.base_rate
        day = played.start_ms // DAY_MS
        voter = self._replace(
            resolved=self.resolved + 1,
            hits=self.hits + (choice is outcome),
            since_ms=self.since_ms if self.resolved else played.start_ms,
        )
        if base_rate is None:
            return voter

        # What a voter without any view would name.
        likeliest = ORDER[base_rate.index(max(base_rate))]
        voter = voter._replace(by_hits=self.by_hits.plus(UNITS * ((choice is outcome) - (likeliest is outcome)), day))
        if chances is None:
            return voter

        place = ORDER.index(outcome)
        saved_e8 = brier_e8(base_rate, place) - brier_e8(given_chances(chances), place)
        return voter._replace(
            given=self.given.plus(chances, base_rate, outcome),
            by_chances=self.by_chances.plus(round(saved_e8 / _E4), day),
        )


def given_chances(chances: Chances) -> Triple:
    """Return the chances of a ballot, whole percents, as chances of down, neutral and up.

    >>> given_chances(Chances(up=50, neutral=30, down=20))
    (0.2, 0.3, 0.5)
    """
    return chances.down / WHOLE, chances.neutral / WHOLE, chances.up / WHOLE


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


def leaderboard(voters: Iterable[Voter], calendar: Calendar) -> Leaderboard:
    """Rank voters by what they saved per round since their first vote: by hits, and by chances.

    Args:
        voters: all of them.
        calendar: of the rounds that were resolved.
    """
    by_address = {voter.address: voter for voter in voters}
    everyone = by_address.values()
    by_hits = ranking((Entrant(one.address, one.by_hits, one.since_ms) for one in everyone), calendar, PLACES)
    giving = (Entrant(one.address, one.by_chances, one.since_ms) for one in everyone if one.given.rounds)
    by_score = ranking(giving, calendar, PLACES)

    return replace(
        NO_VOTERS,
        places=tuple(_by_hits(place, by_address[place.address]) for place in by_hits.places),
        by_score=tuple(_by_score(place, by_address[place.address]) for place in by_score.places),
        voters=by_hits.entrants,
        below_30=by_hits.too_early,
        gave_chances=by_score.entrants,
        gave_chances_below_30=by_score.too_early,
    )


def shortened(address: str) -> str:
    """Return the ends of an address, by which its owner knows it.

    >>> shortened("ABCDEFGHIJKLMNOP")
    'ABCDEF…MNOP'
    """
    return f"{address[:6]}\u2026{address[-4:]}"


def _by_hits(place: Place, voter: Voter) -> LeaderboardPlace:
    rank = place.rank

    return LeaderboardPlace(
        place=place.place,
        voter=shortened(voter.address),
        hit=shared(rate(voter.hits, voter.resolved)),
        rounds=rank.asked,
        above_likeliest=rank.saved,
        luck=rank.luck,
        beyond_luck=rank.beyond_luck,
        provisional=voter.resolved < SURE_FROM,
    )


def _by_score(place: Place, voter: Voter) -> ScorePlace:
    given = voter.given
    rank = place.rank

    return ScorePlace(
        place=place.place,
        voter=shortened(voter.address),
        n=given.rounds,
        brier=round(given.brier / E8 / given.rounds, 4),
        brier_base_rate=round(given.base_brier / E8 / given.rounds, 4),
        log_score=round(given.log_score / E9 / given.rounds, 4),
        log_score_base_rate=round(given.base_log_score / E9 / given.rounds, 4),
        rounds=rank.asked,
        brier_saved=rank.saved,
        luck=rank.luck,
        beyond_luck=rank.beyond_luck,
        provisional=given.rounds < SURE_FROM,
    )
