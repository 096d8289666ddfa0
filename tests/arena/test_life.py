"""The life of a round, rule by rule."""

from dataclasses import replace

import pytest

from generator.arena.life import NO_FORECAST, advance, shown_at
from generator.arena.outcome import PricePoint, change_bps, outcome_of
from generator.arena.play import PlayResult, PlayState, play
from generator.catalog.words import Prediction, RoundPhase
from generator.values.rounds import Round
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import HOUR, MINUTE, NOON, forecast_at, inputs_at, no_forecast, state_of

START = NOON + HOUR
END = START + HOUR


def move(item: Round, now_ms: int, price: float | None = 100.0, venues: int = 2) -> Round:
    return advance(item, now_ms, {"BTC": PricePoint(price, venues)}, 2, "venue_mid")


def a_live_round() -> Round:
    return move(an_open_round(), START)


def test_a_round_goes_live_in_the_first_tick_from_its_start_on() -> None:
    opened = an_open_round()

    assert move(opened, START - 1) == opened
    assert move(opened, START).phase is RoundPhase.LIVE
    assert move(opened, START + 59_999, 100.12345678).start_price == 100.123


@pytest.mark.parametrize(
    ("now", "price", "venues", "reason"),
    [
        (START + 60_000, 100.0, 3, "no tick in the minute after the start"),
        (END, 100.0, 3, "no tick in the minute after the start"),
        (START, None, 3, "no start price"),
        (START, float("nan"), 3, "no start price"),
        (START, 0.0, 3, "no start price"),
        (START, 100.0, 1, "too few venues agree on the start price: 1 of 2"),
    ],
)
def test_a_round_without_a_start_price_is_void_with_its_reason(
    now: int, price: float | None, venues: int, reason: str
) -> None:
    void = move(an_open_round(), now, price, venues)

    assert (void.phase, void.void_reason, void.outcome) == (RoundPhase.VOID, reason, None)


@pytest.mark.parametrize(
    ("now", "price", "venues", "reason"),
    [
        (END + 60_000, 100.0, 3, "no tick in the minute after the end"),
        (END, None, 3, "no end price"),
        (END, 100.0, 0, "too few venues agree on the end price: 0 of 2"),
    ],
)
def test_a_round_without_an_end_price_is_void_and_kept(now: int, price: float | None, venues: int, reason: str) -> None:
    void = move(a_live_round(), now, price, venues)

    assert (void.phase, void.void_reason, void.outcome) == (RoundPhase.VOID, reason, None)
    assert void.start_price == 100.0


@pytest.mark.parametrize(
    ("end_price", "outcome"),
    [
        (100.2012, Prediction.NEUTRAL),  # 20.1 bps: inside the band of 20.12
        (100.202, Prediction.BULLISH),
        (99.7989, Prediction.NEUTRAL),  # published as 99.7989: -20.11
        (99.798, Prediction.BEARISH),
        (100.0, Prediction.NEUTRAL),
    ],
)
def test_the_outcome_follows_from_the_published_prices_and_band(end_price: float, outcome: Prediction) -> None:
    resolved = move(a_live_round(), END, end_price)

    assert (resolved.phase, resolved.outcome) == (RoundPhase.RESOLVED, outcome)


def test_the_edge_of_the_band_is_neutral() -> None:
    change = change_bps(100.0, 100.2)

    assert outcome_of(change, 20.0) is Prediction.NEUTRAL
    assert outcome_of(change, 19.99) is Prediction.BULLISH


def test_finished_rounds_never_move_again() -> None:
    for finished in (move(a_live_round(), END), move(an_open_round(), END)):
        assert move(finished, END + HOUR, 50.0) == finished


def test_between_its_end_and_the_settling_tick_a_round_is_resolving() -> None:
    assert shown_at(a_live_round(), END).phase is RoundPhase.RESOLVING
    assert shown_at(a_live_round(), END - 1).phase is RoundPhase.LIVE


def rounds_after(result: PlayResult) -> list[Round]:
    return [after for _, after in result.rounds.changes]


def test_a_brain_without_a_forecast_leaves_the_round_scheduled_then_void() -> None:
    silent = replace(inputs_at(NOON + 5 * MINUTE), forecast=no_forecast)
    waiting = rounds_after(play(PlayState(), silent))[0]
    late = replace(inputs_at(START), forecast=no_forecast)

    ended = rounds_after(play(state_of(active=(waiting,)), late))[0]

    assert (waiting.phase, waiting.band_bps, waiting.sealed_digest) == (RoundPhase.SCHEDULED, None, None)
    assert (ended.phase, ended.void_reason) == (RoundPhase.VOID, NO_FORECAST)


def test_a_round_opens_late_when_the_forecast_comes_late_but_before_the_start() -> None:
    waiting = rounds_after(play(PlayState(), replace(inputs_at(NOON), forecast=no_forecast)))[0]

    state = state_of(active=(waiting,), taken=frozenset({START}))
    opened = rounds_after(play(state, inputs_at(START - MINUTE)))[0]

    assert (opened.phase, opened.opens_ms) == (RoundPhase.OPEN, START - MINUTE)


def test_a_forecast_with_numbers_that_cannot_be_published_counts_as_none() -> None:
    def broken(asset: str, minutes: int) -> object:
        made = forecast_at(NOON)(asset, minutes)
        assert made is not None
        return replace(made, band_bps=float("nan"))

    result = play(PlayState(), replace(inputs_at(NOON), forecast=broken))  # type: ignore[arg-type]

    assert rounds_after(result)[0].phase is RoundPhase.SCHEDULED


def test_events_never_tell_a_sealed_forecast() -> None:
    result = play(PlayState(), inputs_at(NOON))

    texts = " ".join(event.text for event in result.events)
    assert "takes votes" in texts
    assert not any(word in texts for word in Prediction)
