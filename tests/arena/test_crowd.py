"""The crowd's chances: their mean, their scores next to brain and base rate, and each voter's own."""

import math
import random
from dataclasses import replace

import pytest

from gateway.wire.notes import TAPPED, Chances
from generator.arena.crowd import CrowdSums, mean_chances
from generator.arena.published import complaint_of, published_round
from generator.arena.scores import ORDER
from generator.arena.tally import simulated_tally
from generator.arena.teacher import RunningTotals
from generator.arena.voters import ChanceScores, Voter, leaderboard
from generator.catalog.words import Prediction
from generator.values.rounds import Round, Triple
from generator.values.votes import ChanceSums, Tally, Votes
from tests.arena.test_published import a_row
from tests.arena.test_sealing import an_open_round
from tests.support.known import known

UP, SMALL, DOWN = Prediction.BULLISH, Prediction.NEUTRAL, Prediction.BEARISH
BASE: Triple = (0.31, 0.36, 0.33)
PLAYED = replace(an_open_round(), base_rate=BASE, probabilities=(0.2, 0.3, 0.5), outcome=UP)


def brier(chances: Triple, came: Prediction) -> float:
    return sum((chance - (word == came)) ** 2 for word, chance in zip(ORDER, chances, strict=True))


def log_score(chances: Triple, came: Prediction) -> float:
    return -math.log(max(0.01, chances[ORDER.index(came)]))


def sums_of(*given: Chances) -> ChanceSums:
    found = ChanceSums()
    for chances in given:
        found = found.plus(ChanceSums(1, *chances))
    return found


def test_the_mean_is_of_the_votes_that_gave_chances_and_sums_to_one() -> None:
    assert mean_chances(ChanceSums()) is None
    assert mean_chances(sums_of(Chances(60, 25, 15))) == (0.15, 0.25, 0.6)
    thirds = mean_chances(sums_of(Chances(33, 33, 34), Chances(33, 34, 33), Chances(35, 33, 32)))
    assert thirds is not None
    assert sum(thirds) == pytest.approx(1, abs=1e-12)


def test_a_crowd_is_scored_in_the_rounds_in_which_it_gave_chances() -> None:
    dice = random.Random(7)
    rounds: list[tuple[Round, ChanceSums]] = []
    for _ in range(50):
        votes = [dice.choice(tuple(TAPPED.values())) for _ in range(dice.randrange(4))]
        rounds.append((replace(PLAYED, outcome=dice.choice(ORDER)), sums_of(*votes)))

    sums = CrowdSums()
    for played, given in rounds:
        sums = sums.plus(played, given)
    scores = sums.scores()

    cases = [(mean, played.outcome) for played, given in rounds if (mean := mean_chances(given)) and played.outcome]
    n = len(cases)
    own = sum(brier(mean, came) for mean, came in cases) / n
    base = sum(brier(BASE, came) for _, came in cases) / n
    assert 0 < n < 50
    assert (scores.n, scores.votes) == (n, sum(given.votes for _, given in rounds))
    assert scores.brier == pytest.approx(own, abs=6e-5)
    assert scores.brier_base_rate == pytest.approx(base, abs=6e-5)
    assert scores.brier_brain == pytest.approx(sum(brier((0.2, 0.3, 0.5), came) for _, came in cases) / n, abs=6e-5)
    assert scores.log_score == pytest.approx(sum(log_score(mean, came) for mean, came in cases) / n, abs=6e-5)
    assert known(scores.skill_percent).value == pytest.approx(100 * (1 - own / base), abs=0.1)


def test_real_and_simulated_voters_are_two_crowds() -> None:
    votes = Votes(Tally(bullish=1, chances=sums_of(Chances(60, 25, 15))), simulated_tally(3, PLAYED.round_id))

    live = RunningTotals().after([(None, PLAYED)], votes={PLAYED.round_id: votes}).live

    assert (live.crowd.votes, live.crowd.scores().brier) == (1, round(brier((0.15, 0.25, 0.6), UP), 4))
    assert live.simulated_crowd.votes == votes.simulated.chances.votes > 1


def test_some_simulated_votes_of_each_side_give_the_chances_of_one_tap() -> None:
    for number in range(200):
        tally = simulated_tally(5, f"BTC-{number}")
        given = tally.chances
        assert 0 < given.votes < tally.total
        assert given.up + given.neutral + given.down == 100 * given.votes
    assert tally == simulated_tally(5, "BTC-199")


SUMS_OF_NONE = {"votes": 1, "up": 60, "neutral": 25, "down": 15}


@pytest.mark.parametrize(
    "bent",
    [
        {"up": 61},
        {"votes": -1, "up": -100, "neutral": 0, "down": 0},
        {"votes": 10**9},
        {"votes": True, "up": 100, "neutral": 0, "down": 0},
        {"votes": 9, "up": 900, "neutral": 0, "down": 0},  # eight votes in all
        {"up": 60.0},
        {"up": "60"},
        {"more": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["chance_sums", "simulated_chance_sums"])
def test_sums_that_no_votes_can_give_are_a_complaint(name: str, bent: dict[str, object]) -> None:
    row = a_row()
    row["simulated_votes"] = {"bullish": 2, "bearish": 0, "neutral": 0}
    row[name] = SUMS_OF_NONE
    assert complaint_of(row) is None

    row[name] = {**SUMS_OF_NONE, **bent}

    assert complaint_of(row) is not None


def test_a_row_has_the_chances_of_real_and_simulated_votes_apart() -> None:
    real = Tally(bullish=2, chances=sums_of(Chances(70, 20, 10)))
    simulated = Tally(bearish=1, chances=sums_of(Chances(15, 25, 60)))

    row = published_round(PLAYED, real.plus(simulated), None, simulated)

    assert row["chance_sums"] == {"votes": 1, "up": 70, "neutral": 20, "down": 10}
    assert row["simulated_chance_sums"] == {"votes": 1, "up": 15, "neutral": 25, "down": 60}


def test_a_voter_is_scored_against_the_base_rate_of_the_same_rounds() -> None:
    dice = random.Random(11)
    cases = [(dice.choice(tuple(TAPPED.values())), dice.choice(ORDER)) for _ in range(60)]
    sums = ChanceScores()
    for chances, came in cases:
        sums = sums.plus(chances, BASE, came)

    saved = [brier(BASE, came) - brier((c.down / 100, c.neutral / 100, c.up / 100), came) for c, came in cases]
    mean = sum(saved) / 60
    half = 1.959964 * math.sqrt(sum((one - mean) ** 2 for one in saved) / 59 / 60)
    assert known(sums.saved).value == pytest.approx(mean, abs=6e-5)
    assert (known(sums.saved).low, known(sums.saved).high) == pytest.approx((mean - half, mean + half), abs=2e-4)


def test_voters_are_ranked_by_the_lower_end_of_what_their_chances_saved() -> None:
    def given(chances: Chances, came: Prediction, rounds: int) -> ChanceScores:
        sums = ChanceScores()
        for _ in range(rounds):
            sums = sums.plus(chances, BASE, came)
        return sums

    sure, unsure, wrong = Chances(90, 5, 5), Chances(50, 30, 20), Chances(5, 5, 90)
    found = leaderboard(
        [
            Voter("WRONG", 30, 0, given(wrong, UP, 30)),
            Voter("SURE", 30, 30, given(sure, UP, 30)),
            Voter("UNSURE", 100, 100, given(unsure, UP, 100)),
            Voter("NEW", 29, 29, given(sure, UP, 29)),
            Voter("WORDS", 90, 90),
        ]
    )

    assert [place.voter for place in found.by_score] == ["SURE\u2026SURE", "UNSURE\u2026SURE", "WRONG\u2026RONG"]
    assert [place.provisional for place in found.by_score] == [True, False, True]
    assert (found.by_score[0].brier, found.by_score[0].n) == (round(0.1**2 + 2 * 0.05**2, 4), 30)
    assert (found.gave_chances, found.gave_chances_below_30, len(found.places)) == (4, 1, 4)
