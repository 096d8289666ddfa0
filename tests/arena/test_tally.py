"""What ballots say together, against slow oracles."""

from collections import Counter
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.arena.tally import consensus_of, disagreement_score, simulated_tally
from generator.catalog.words import Consensus
from generator.compose.rounds import human_consensus_block
from generator.values.votes import Tally

COUNTS = st.integers(0, 10_000)
TALLIES = st.builds(Tally, COUNTS, COUNTS, COUNTS)


@given(TALLIES)
def test_consensus_is_the_only_leader_else_neutral_and_none_only_without_votes(tally: Tally) -> None:
    ranked = Counter({"BULLISH": tally.bullish, "BEARISH": tally.bearish, "NEUTRAL": tally.neutral}).most_common()

    expected = "NONE" if not sum(count for _, count in ranked) else ranked[0][0]
    if expected != "NONE" and ranked[0][1] == ranked[1][1]:
        expected = "NEUTRAL"

    assert consensus_of(tally) == expected


@given(TALLIES)
def test_disagreement_is_the_entropy_of_the_shares(tally: Tally) -> None:
    counts = [tally.bullish, tally.bearish, tally.neutral]
    bits = -sum(c / tally.total * log2(c / tally.total) for c in counts if c)

    assert disagreement_score(tally) == pytest.approx(100 * bits / log2(3), abs=0.0501)
    assert 0 <= disagreement_score(tally) <= 100


@given(TALLIES)
def test_shares_are_percent_with_one_decimal(tally: Tally) -> None:
    view = human_consensus_block(tally)
    shares = (view.bullish_percent, view.bearish_percent, view.neutral_percent)

    assert all(share == round(share, 1) for share in shares)
    assert sum(shares) == pytest.approx(100 if tally.total else 0, abs=0.16)


@pytest.mark.parametrize(
    ("tally", "score"), [(Tally(), 0.0), (Tally(9, 0, 0), 0.0), (Tally(5, 5, 5), 100.0), (Tally(1, 1, 0), 63.1)]
)
def test_disagreement_at_its_landmarks(tally: Tally, score: float) -> None:
    assert str(disagreement_score(tally)) == str(score)


@given(st.integers(0, 2**63), st.text(max_size=30))
def test_the_simulated_crowd_is_the_same_every_time_and_never_negative(seed: int, round_id: str) -> None:
    tally = simulated_tally(seed, round_id)

    assert tally == simulated_tally(seed, round_id)
    assert min(tally.bullish, tally.bearish, tally.neutral) >= 0
    assert 12 <= tally.total <= 91


def test_the_simulated_crowd_leans_to_the_hopeful_side_but_not_always() -> None:
    words = Counter(consensus_of(simulated_tally(7, f"BTC-{number}")) for number in range(400))

    assert words[Consensus.BULLISH] > words[Consensus.BEARISH] > 10
    assert words[Consensus.NONE] == 0
