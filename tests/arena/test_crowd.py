"""The crowd's chances: their mean, their scores next to brain and base rate, and each voter's own."""

import math
import random
from dataclasses import replace

import pytest

from gateway.wire.notes import TAPPED, Chances
from generator.arena.closing import NOT_SEALED
from generator.arena.crowd import CrowdSums, mean_chances
from generator.arena.published import complaint_of, published_round
from generator.arena.scores import ORDER
from generator.arena.tally import simulated_tally
from generator.arena.teacher import RunningTotals
from generator.arena.voters import Voter
from generator.catalog.words import Prediction
from generator.values.rounds import Closing, Round, Triple
from generator.values.votes import ChanceSums, Tally, Votes
from tests.arena.test_published import a_row
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import HOUR, NOON
from tests.support.known import known

UP, SMALL, DOWN = Prediction.BULLISH, Prediction.NEUTRAL, Prediction.BEARISH
BASE: Triple = (0.31, 0.36, 0.33)
# The brain's chances at opening are others than those that people are compared with.
PLAYED = replace(
    an_open_round(),
    base_rate=BASE,
    probabilities=(0.3, 0.3, 0.4),
    closing=Closing(NOON, (0.2, 0.3, 0.5), "00"),
    outcome=UP,
)


def brier(chances: Triple, came: Prediction) -> float:
    return sum((chance - (word == came)) ** 2 for word, chance in zip(ORDER, chances, strict=True))


def log_score(chances: Triple, came: Prediction) -> float:
    return -math.log(max(0.01, chances[ORDER.index(came)]))


def sums_of(*given: Chances) -> ChanceSums:
    found = ChanceSums()
    for chances in given:
        found = found.plus(ChanceSums(1, *chances))
    return found


ONE_VOTE = Tally(bullish=1, chances=sums_of(Chances(60, 25, 15)))


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
    voter = Voter("A", 0, 0)
    for hour, (chances, came) in enumerate(cases):
        voter = voter.voted(UP, chances, replace(PLAYED, start_ms=hour * HOUR), came)

    own = [brier((c.down / 100, c.neutral / 100, c.up / 100), came) for c, came in cases]
    usual = [brier(BASE, came) for _, came in cases]
    assert voter.given.brier / 1e8 == pytest.approx(sum(own))
    assert voter.given.base_brier / 1e8 == pytest.approx(sum(usual))
    assert voter.by_chances.total / 1e4 == pytest.approx(sum(usual) - sum(own), abs=60 * 5e-5)
    assert (voter.by_chances.answers, voter.by_chances.day, voter.since_ms) == (60, 59 // 24, 0)


def test_people_are_compared_with_the_second_seal_and_the_brain_keeps_the_first() -> None:
    live = RunningTotals().after([(None, PLAYED)], votes={PLAYED.round_id: Votes(ONE_VOTE)}).live

    assert live.crowd.scores().brier_brain == round(brier((0.2, 0.3, 0.5), UP), 4)
    assert live.arena.brier_e8 == round(1e8 * brier((0.3, 0.3, 0.4), UP))


def test_a_round_from_before_the_rule_compares_with_the_forecast_at_opening() -> None:
    before = replace(PLAYED, closing=None)

    assert CrowdSums().plus(before, ONE_VOTE.chances).scores().brier_brain == round(brier((0.3, 0.3, 0.4), UP), 4)


def test_a_round_without_a_second_seal_compares_people_with_nothing() -> None:
    """With the older forecast they would look better than they were."""
    for void in (Closing(void_reason=NOT_SEALED), Closing(NOON, (0.2, 0.3, 0.5), "00", "clock was set back")):
        assert CrowdSums().plus(replace(PLAYED, closing=void), ONE_VOTE.chances) == CrowdSums()
