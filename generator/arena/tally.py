"""What the counted ballots say together."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from generator.arena.values import Tally
from generator.catalog.words import Consensus, Prediction


def most_said(shares: Mapping[Consensus, float]) -> Consensus:
    """Return the word with most behind it, NEUTRAL on a tie at the top.

    Args:
        shares: counts, weights or shares, of every word that may be said.
    """
    top = max(shares.values())
    leaders = [word for word, part in shares.items() if part == top]
    return leaders[0] if len(leaders) == 1 else Consensus.NEUTRAL


def consensus_of(tally: Tally) -> Consensus:
    """Return the word of most voters: NONE only with no votes, NEUTRAL on a tie at the top."""
    if tally.total == 0:
        return Consensus.NONE
    return most_said(
        {
            Consensus.BULLISH: tally.bullish,
            Consensus.BEARISH: tally.bearish,
            Consensus.NEUTRAL: tally.neutral,
        }
    )


def disagreement_score(tally: Tally) -> float:
    """Return 100 x entropy of the shares / ln 3, one decimal: 0 all agree or nobody voted, 100 evenly split."""
    shares = [count / tally.total for count in (tally.bullish, tally.bearish, tally.neutral) if count]
    return round(100 * -sum(share * log(share) for share in shares) / log(3), 1) + 0.0


def share_of(tally: Tally, word: Prediction) -> float:
    """Return the share of one choice, 0..1; 0 with no votes."""
    counts = {
        Prediction.BULLISH: tally.bullish,
        Prediction.BEARISH: tally.bearish,
        Prediction.NEUTRAL: tally.neutral,
    }
    return counts[word] / tally.total if tally.total else 0.0
