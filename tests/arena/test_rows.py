"""What the Arena publishes of a round, field by field, and what a crowd, a burst and a rate come to."""

import hashlib
from dataclasses import replace

import pytest

from generator.arena.life import event_of, schedule_round
from generator.arena.published import published_round
from generator.arena.rates import counted, in_full, in_words, part, rate, share
from generator.arena.tally import simulated_tally
from generator.arena.timetable import Timetable
from generator.arena.voters import CountedVote, Voter, bursts
from generator.catalog.words import Consensus, PatternType, Prediction, RoundPhase
from generator.values.rounds import Lesson, Round
from generator.values.view import ArenaView
from generator.values.votes import Tally
from tests.arena.test_sealing import an_open_round
from tests.arena.test_values import scored
from tests.support.arena_inputs import HOUR, MINUTE, NOON

UP, DOWN, FLAT = Prediction.BULLISH, Prediction.BEARISH, Prediction.NEUTRAL


def resolved() -> Round:
    return replace(
        an_open_round(),
        phase=RoundPhase.RESOLVED,
        previous=DOWN,
        price_basis="venue_mid",
        start_price=100.0,
        end_price=101.5,
        change_bps=150.0,
        outcome=UP,
    )


def lesson() -> Lesson:
    return Lesson(
        lesson_id="lesson-1",
        round_id="BTC-20261120-130000",
        asset="BTC",
        brain_prediction=FLAT,
        human_consensus=Consensus.BULLISH,
        actual_outcome=UP,
        brain_correct=0,
        crowd_correct=1,
        agreement=0,
        shared_intelligence_score=51.2,
        learning_score=62.3,
        pattern_type=PatternType.CROWD_ONLY,
        summary="not published here",
        created_ms=NOON,
        created_at="2026-11-20T12:00:00Z",
        warm_up=False,
        brain_called=None,
        concept=None,
        chapter=None,
        point=None,
        question=None,
        answer=None,
    )


def test_a_round_is_published_field_by_field() -> None:
    played = resolved()

    row = published_round(played, Tally(5, 2, 1), lesson(), Tally(3, 2, 0))

    assert played.probabilities is not None
    assert played.base_rate is not None
    words = ("down", "neutral", "up")
    assert row == {
        "round_id": "BTC-20261120-130000",
        "asset": "BTC",
        "phase": "resolved",
        "opened": "2026-11-20T12:00:00Z",
        "start": "2026-11-20T13:00:00Z",
        "end": "2026-11-20T14:00:00Z",
        "warm_up": False,
        "commitment": played.sealed_digest,
        "forecast": {
            "round_id": "BTC-20261120-130000",
            "asset": "BTC",
            "start": "2026-11-20T13:00:00Z",
            "end": "2026-11-20T14:00:00Z",
            "band_bps": 20.12,
            "prediction": str(played.prediction),
            "probabilities": dict(zip(words, played.probabilities, strict=True)),
            "base_rate": dict(zip(words, played.base_rate, strict=True)),
            "confidence": played.confidence_percent,
            "regime_mode": "NEUTRAL",
            "call": str(played.call),
            "chances_kind": "law",
            "move": {
                "chance": round(1 - played.probabilities[1], 4),
                "base_rate": round(1 - played.base_rate[1], 4),
            },
        },
        "salt": "00ff",
        "closing": {"commitment": None, "forecast": None, "void_reason": None},
        "previous_outcome": "BEARISH",
        "price_basis": "venue_mid",
        "start_price": 100.0,
        "end_price": 101.5,
        "change_bps": 150.0,
        "outcome": "BULLISH",
        "void_reason": None,
        "votes": {"bullish": 5, "bearish": 2, "neutral": 1},
        "simulated_votes": {"bullish": 3, "bearish": 2, "neutral": 0},
        "chance_sums": {"votes": 0, "up": 0, "neutral": 0, "down": 0},
        "simulated_chance_sums": {"votes": 0, "up": 0, "neutral": 0, "down": 0},
        "lesson": {
            "lesson_id": "lesson-1",
            "brain_prediction": "NEUTRAL",
            "human_consensus": "BULLISH",
            "actual_outcome": "BULLISH",
            "brain_correct": 0,
            "crowd_correct": 1,
            "agreement": 0,
            "shared_intelligence_score": 51.2,
            "learning_score": 62.3,
            "pattern_type": lesson().pattern_type,
        },
    }


def test_what_a_round_does_not_have_yet_is_null() -> None:
    slot = Timetable(60).next_slot(NOON)
    waiting = schedule_round(slot, ("BTC",), opens_ms=NOON, warm_up=True)

    row = published_round(waiting, Tally(), None)

    before = {"commitment", "forecast", "salt", "previous_outcome", "price_basis", "start_price", "end_price"}
    after = {"closing", "change_bps", "outcome", "void_reason", "lesson"}
    assert {key for key, value in row.items() if value is None} == before | after
    assert (row["phase"], row["warm_up"]) == ("scheduled", True)
    assert row["votes"] == row["simulated_votes"] == {"bullish": 0, "bearish": 0, "neutral": 0}


@pytest.mark.parametrize(
    ("phase", "kind", "text"),
    [
        (RoundPhase.OPEN, "round_opened", "takes votes until 2026-11-20T13:00:00Z."),
        (RoundPhase.LIVE, "round_live", "is live; the brain said {prediction}."),
        (RoundPhase.RESOLVED, "round_resolved", "is resolved: BULLISH."),
        (RoundPhase.VOID, "round_void", "is void: too few venues."),
    ],
)
def test_each_step_of_a_round_is_an_event_in_words(phase: RoundPhase, kind: str, text: str) -> None:
    item = replace(resolved(), phase=phase, void_reason="too few venues")

    event = event_of(item, NOON + 7)

    assert event is not None
    assert event.at_ms == NOON + 7
    assert event.kind == kind
    assert event.text == f"Round BTC-20261120-130000 {text.format(prediction=item.prediction)}"


def test_a_round_that_only_waits_makes_no_event() -> None:
    assert event_of(replace(resolved(), phase=RoundPhase.SCHEDULED), NOON) is None


def test_an_arena_in_which_nothing_was_played_counts_nothing() -> None:
    nothing = scored(())
    view = ArenaView(
        live=None,
        live_tally=Tally(),
        open=None,
        lessons=(),
        events=(),
        teacher=None,  # type: ignore[arg-type]
        arena_record=nothing,
        hourly_record=nothing,
    )

    counts = (view.rounds_warm_up, view.ballots_counted, view.ballots_rejected, view.log_size)
    assert counts == (0, 0, 0, 0)
    assert (view.void.n, view.void.hits, view.void.percent, view.void.backtest) == (0, 0, None, False)
    assert (view.leaderboard.places, view.leaderboard.voters, view.leaderboard.below_30) == ((), 0, 0)
    assert (nothing.predictions, nothing.resolved, nothing.void, nothing.warm_up) == (0, 0, 0, 0)
    assert (nothing.brier, nothing.log_score, nothing.hit.percent, nothing.chance.percent) == (None, None, None, None)


def test_a_round_and_a_forecast_are_of_live_play_unless_marked() -> None:
    slot = Timetable(60).next_slot(NOON)
    live = schedule_round(slot, ("BTC",), opens_ms=NOON, warm_up=False)

    assert not live.warm_up
    assert not live.simulated_crowd
    assert [live.prediction, live.outcome, live.salt, live.void_reason, live.start_price] == [None] * 5


# Rates in words


@pytest.mark.parametrize(
    ("hits", "n", "texts"),
    [
        (0, 0, ("none yet", "none yet rounds", "0", "none yet")),
        (1, 2, ("1 of 2", "1 of 2 rounds", "1", "1 of 2")),
        (29, 29, ("29 of 29", "29 of 29 rounds", "29", "29 of 29")),
        (
            24,
            57,
            (
                "42.1%",
                "42.1% of 57 rounds",
                "42.1% (95% interval 30.2 to 55.0%)",
                "42.1% of 57 (95% interval 30.2 to 55.0%)",
            ),
        ),
        (
            615,
            1_230,
            (
                "50.0%",
                "50.0% of 1,230 rounds",
                "50.0% (95% interval 47.2 to 52.8%)",
                "50.0% of 1,230 (95% interval 47.2 to 52.8%)",
            ),
        ),
    ],
)
def test_a_rate_is_written_with_its_count_and_interval(hits: int, n: int, texts: tuple[str, ...]) -> None:
    of = rate(hits, n)

    assert (share(of), counted(of, "rounds"), in_words(of), in_full(of)) == texts


def test_a_share_of_all_that_was_counted_has_no_interval() -> None:
    whole, weighed, none = part(45, 60), part(45, 60, 0.5), part(0, 0)

    assert (whole.hits, whole.n, whole.percent, whole.low_percent, whole.high_percent) == (45, 60, 75.0, None, None)
    assert (weighed.percent, none.percent, none.n) == (50.0, None, 0)
    assert in_words(whole) == "75.0%"
    assert [rate(1, 2).backtest, rate(1, 2, backtest=True).backtest, whole.backtest] == [False, True, False]


# Crowds


@pytest.mark.parametrize(("seed", "round_id"), [(7, "BTC-20261120-130000"), (8, "ETH-20261120-140000"), (0, "x")])
def test_the_simulated_crowd_follows_from_a_hash(seed: int, round_id: str) -> None:
    digest = hashlib.sha256(f"emi-simulated-crowd:{seed}:{round_id}".encode()).hexdigest()
    draws = [int(digest[place : place + 16], 16) / 16**16 for place in (0, 16, 32, 48)]
    voters = 12 + int(79 * draws[0])
    leanings = [mean * (0.5 + draw) for mean, draw in zip((0.48, 0.30, 0.22), draws[1:], strict=True)]
    up, down = (round(voters * leaning / sum(leanings)) for leaning in leanings[:2])

    assert simulated_tally(seed, round_id).votes == Tally(up, down, voters - up - down).votes


def votes(count: int, minute: int, choice: Prediction = UP, voter: Voter | None = None) -> list[CountedVote]:
    return [CountedVote(choice, NOON + minute * MINUTE + 59_999, voter)] * count


@pytest.mark.parametrize(("count", "shown"), [(19, 0), (20, 1)])
def test_twenty_votes_of_a_minute_may_be_a_burst(count: int, shown: int) -> None:
    assert len(bursts(votes(count, 5), NOON, NOON + HOUR)) == shown


@pytest.mark.parametrize(("others", "shown"), [(150, 1), (151, 0)])
def test_a_burst_has_ten_times_the_votes_of_a_usual_minute(others: int, shown: int) -> None:
    # Of 180 votes in an hour a usual minute has 3: thirty are ten times that, and of 181 they are not.
    spread = [vote for number in range(others) for vote in votes(1, 10 + number % 40, DOWN)]

    assert len(bursts([*votes(30, 5), *spread], NOON, NOON + HOUR)) == shown


def test_of_many_bursts_the_five_fullest_are_shown_and_of_equal_ones_the_first() -> None:
    sizes = {3: 25, 8: 40, 9: 40, 20: 30, 31: 26, 44: 33, 50: 24}
    known = Voter("A", 3, 1)
    flood = [vote for minute, size in sizes.items() for vote in votes(size - 5, minute) + votes(5, minute, DOWN, known)]

    found = bursts(flood, NOON, NOON + 24 * HOUR)

    assert [(burst.at_ms - NOON) // MINUTE for burst in found] == [8, 9, 44, 20, 31]
    assert [burst.votes for burst in found] == [40, 40, 33, 30, 26]
    assert [(burst.same_choice, burst.new_voters) for burst in found] == [
        (size - 5, size - 5) for size in (40, 40, 33, 30, 26)
    ]


@pytest.mark.parametrize(("seed", "round_id"), [(7, "BTC-20261120-130000"), (8, "ETH-20261120-140000")])
def test_the_chances_of_the_simulated_crowd_follow_from_another_hash(seed: int, round_id: str) -> None:
    digest = hashlib.sha256(f"emi-simulated-chances:{seed}:{round_id}".encode()).hexdigest()
    draws = [int(digest[place : place + 16], 16) / 16**16 for place in (0, 16, 32)]
    votes = simulated_tally(seed, round_id)
    sides = (votes.bullish, votes.neutral, votes.bearish)
    up, small, down = (int(cast * (0.3 + 0.4 * draw)) for cast, draw in zip(sides, draws, strict=True))

    given = votes.chances

    assert given.votes == up + small + down
    assert (given.up, given.neutral) == (40 * up + 30 * small + 27 * down, 33 * up + 40 * small + 33 * down)
