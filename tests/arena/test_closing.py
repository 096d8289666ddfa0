"""The second seal: people are compared with what the brain knew when votes closed, and without it with nothing."""

from dataclasses import replace

import pytest

from generator.arena.closing import NOT_SEALED
from generator.arena.inputs import SET_BACK, UNSEEN, PlayInputs
from generator.arena.play import PlayResult, PlayState, play
from generator.arena.published import closing_forecast, digest_of, forecast_of
from generator.arena.scores import published_triple
from generator.catalog.words import RoundPhase
from generator.values.rounds import Closing, Round
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import HOUR, MINUTE, NOON, forecast_at, inputs_at, no_forecast, state_of
from tests.support.known import known

START = NOON + HOUR


def tick(item: Round, inputs: PlayInputs, published_ms: int | None = None) -> PlayResult:
    state = state_of(PlayState(published_ms=published_ms), active=(item,), taken=frozenset({item.end_ms, START}))
    return play(state, inputs)


def after(item: Round, inputs: PlayInputs, published_ms: int | None = None) -> Round:
    """Return a round after a tick."""
    changes = dict(tick(item, inputs, published_ms).rounds.changes)
    return changes.get(item, item)


def sealed_at(now_ms: int, before: Round | None = None) -> Round:
    return after(before or an_open_round(), inputs_at(now_ms))


@pytest.mark.parametrize(("minutes", "is_sealed"), [(11, False), (10, True), (1, True)])
def test_an_open_round_is_sealed_again_in_the_last_ten_minutes(minutes: int, is_sealed: bool) -> None:
    found = known(sealed_at(START - minutes * MINUTE).closing)

    assert (found.commitment is not None) is is_sealed


def test_the_second_seal_is_of_the_brains_chances_then_in_the_band_of_the_round() -> None:
    now = START - 5 * MINUTE
    opened = replace(an_open_round(), band_bps=33.33)

    found = sealed_at(now, opened)

    chances = published_triple(known(forecast_at(now)("BTC", 60)).probabilities)
    closing = known(found.closing)
    assert (closing.made_ms, closing.probabilities, closing.void_reason) == (now, chances, None)
    assert closing_forecast(found)["band_bps"] == 33.33
    assert closing.commitment == digest_of(closing_forecast(found), known(found.salt))
    assert forecast_of(found) == forecast_of(opened)  # what was sealed at opening stays


def test_the_last_seal_before_the_start_counts_and_equal_chances_change_nothing() -> None:
    first = sealed_at(START - 5 * MINUTE)
    second = sealed_at(START - MINUTE, first)
    same = replace(inputs_at(START - 2 * MINUTE), forecast_at_band=forecast_at(START - 5 * MINUTE))

    assert known(second.closing).made_ms == START - MINUTE
    assert after(first, same) == first


def test_a_round_that_is_only_sealed_again_makes_no_event() -> None:
    assert tick(an_open_round(), inputs_at(START - MINUTE)).events == ()


def test_a_round_without_a_second_seal_goes_live_and_says_why_no_one_is_compared() -> None:
    """Such as after a power cut over the last ten minutes, or with a brain that has nothing to say."""
    silent = replace(inputs_at(START - MINUTE), forecast_at_band=no_forecast)

    live = after(after(an_open_round(), silent), inputs_at(START))

    assert (live.phase, live.closing) == (RoundPhase.LIVE, Closing(void_reason=NOT_SEALED))
    assert live.compared is None
    assert live.probabilities is not None


@pytest.mark.parametrize(
    ("published_ms", "next_close_ms", "reason"),
    [
        (START - MINUTE, None, None),
        (None, None, None),
        (START - 2 * MINUTE, None, UNSEEN),
        (START - MINUTE, START - MINUTE, SET_BACK),
    ],
)
def test_a_second_seal_that_no_release_carried_or_from_a_later_clock_does_not_count(
    published_ms: int | None, next_close_ms: int | None, reason: str | None
) -> None:
    sealed = sealed_at(START - MINUTE)

    live = after(sealed, replace(inputs_at(START), next_close_ms=next_close_ms), published_ms)

    assert (live.phase, known(live.closing).void_reason) == (RoundPhase.LIVE, reason)
    assert live.compared == (None if reason else known(sealed.closing).probabilities)
    assert known(live.closing).commitment == known(sealed.closing).commitment  # it is opened all the same


def test_after_the_start_nothing_is_sealed_and_what_was_is_kept() -> None:
    live = after(sealed_at(START - MINUTE), inputs_at(START))

    ended = after(live, inputs_at(START + HOUR))

    assert (ended.phase, ended.closing) == (RoundPhase.RESOLVED, live.closing)


def test_a_backtest_and_a_round_from_before_the_rule_are_not_sealed_again() -> None:
    backtest = play(PlayState(), replace(inputs_at(NOON), warm_up=True)).rounds.changes[0][1]

    assert backtest.closing is None
    assert sealed_at(START - MINUTE, replace(an_open_round(), closing=None)).closing is None
    assert backtest.compared == backtest.probabilities


def test_a_market_that_was_moved_is_not_sealed_again() -> None:
    moved = after(an_open_round(), replace(inputs_at(START - MINUTE), interrupted="moved"))

    assert (moved.phase, known(moved.closing).commitment) == (RoundPhase.VOID, None)
