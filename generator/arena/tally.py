"""Votes of a round counted, and the simulated votes of the demo."""

import hashlib
from math import log
from typing import Final

from gateway.wire.notes import TAPPED
from generator.catalog.formats import rounded
from generator.catalog.words import Consensus, Prediction
from generator.values.votes import ChanceSums, Tally


def most_said(bullish: float, bearish: float, neutral: float) -> Consensus:
    """Return the word with most behind it, NEUTRAL on a tie at the top."""
    if bullish == bearish or max(bullish, bearish) <= neutral:
        return Consensus.NEUTRAL
    if bullish > bearish:
        return Consensus.BULLISH
    return Consensus.BEARISH


def consensus_of(tally: Tally) -> Consensus:
    """Return the word of most voters: NONE only with no votes, NEUTRAL on a tie at the top."""
    if not tally.total:
        return Consensus.NONE
    return most_said(tally.bullish, tally.bearish, tally.neutral)


def disagreement_score(tally: Tally) -> float:
    """Return 100 x entropy of the shares / ln 3, one decimal: 0 all agree or no one voted, 100 evenly split.

    >>> disagreement_score(Tally(4, 4, 4)), disagreement_score(Tally(7, 0, 0))
    (100.0, 0.0)
    """
    shares = [count / tally.total for count in (tally.bullish, tally.bearish, tally.neutral) if count]
    return rounded(100 * -sum(share * log(share) for share in shares) / log(3), 1)


def share_of(tally: Tally, word: Prediction) -> float:
    """Return the share of one choice, 0..1; 0 with no votes."""
    if not tally.total:
        return 0.0
    count: int = getattr(tally, word.lower())
    return count / tally.total


# People lean to the hopeful answer and seldom choose the middle one, although it is right as often as the others.
MEAN_SHARES: Final = (0.48, 0.30, 0.22)  # bullish, bearish, neutral
SWING: Final = 0.5  # each round's mood stretches each share by up to this part
LEAST_GIVING: Final = 0.3  # of each side so many give chances, and in some rounds up to
MORE_GIVING: Final = 0.4  # so many more


def simulated_tally(seed: int, round_id: str) -> Tally:
    """Simulate the votes of one round: between 12 and 90, the same for the same arguments."""
    draws = _draws(seed, round_id)
    voters = 12 + int(draws[0] * 79)
    stretched = [share * (1 + SWING * (2 * draw - 1)) for share, draw in zip(MEAN_SHARES, draws[1:], strict=True)]

    bullish = round(voters * stretched[0] / sum(stretched))
    bearish = round(voters * stretched[1] / sum(stretched))
    # The third share of 12 votes is never below 1, so rounding the others up leaves it at 0 or more.
    neutral = voters - bullish - bearish
    return Tally(bullish, bearish, neutral, _simulated_chances(seed, round_id, (bullish, neutral, bearish)))


def _simulated_chances(seed: int, round_id: str, votes: tuple[int, int, int]) -> ChanceSums:
    """Simulate the chances of these votes for up, small move and down: some of each side's give those of one tap."""
    sums = ChanceSums()
    draws = _draws(seed, round_id, "emi-simulated-chances")
    for count, draw, tapped in zip(votes, draws, TAPPED.values(), strict=False):
        giving = int(count * (LEAST_GIVING + MORE_GIVING * draw))
        sums = sums.plus(ChanceSums(giving, giving * tapped.up, giving * tapped.neutral, giving * tapped.down))
    return sums


def _draws(seed: int, round_id: str, what: str = "emi-simulated-crowd") -> tuple[float, ...]:
    """Four numbers in [0, 1) from a hash: the same on every machine and Python."""
    digest = hashlib.sha256(f"{what}:{seed}:{round_id}".encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 8], "big") / 2**64 for i in (0, 8, 16, 24))
