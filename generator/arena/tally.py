"""What the counted ballots say together."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from generator.arena.values import Tally
from generator.catalog.words import Consensus, Prediction


@dataclass(frozen=True, slots=True)
class CrowdView:
    """HumanConsensus of service.md: counts, shares in percent with one decimal, the word, the disagreement."""

    total: int
    bullish: int
    bearish: int
    neutral: int
    bullish_percent: float
    bearish_percent: float
    neutral_percent: float
    consensus: Consensus
    disagreement_score: float


def consensus_of(tally: Tally) -> Consensus:
    """Return the word of most voters: NONE only with no votes, NEUTRAL on a tie at the top."""
    if tally.total == 0:
        return Consensus.NONE
    counts = {
        Consensus.BULLISH: tally.bullish,
        Consensus.BEARISH: tally.bearish,
        Consensus.NEUTRAL: tally.neutral,
    }
    top = max(counts.values())
    leaders = [word for word, count in counts.items() if count == top]
    return leaders[0] if len(leaders) == 1 else Consensus.NEUTRAL


def disagreement_score(tally: Tally) -> float:
    """Return 100 x entropy of the shares / ln 3, one decimal: 0 all agree, 100 evenly split."""
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


def crowd_view(tally: Tally) -> CrowdView:
    """Describe a tally in the words of HumanConsensus."""
    return CrowdView(
        total=tally.total,
        bullish=tally.bullish,
        bearish=tally.bearish,
        neutral=tally.neutral,
        bullish_percent=round(100 * share_of(tally, Prediction.BULLISH), 1),
        bearish_percent=round(100 * share_of(tally, Prediction.BEARISH), 1),
        neutral_percent=round(100 * share_of(tally, Prediction.NEUTRAL), 1),
        consensus=consensus_of(tally),
        disagreement_score=disagreement_score(tally),
    )
