"""What one tick makes of the Arena, rule by rule: events, locks, what is void, withdrawn, taught and made again."""

from dataclasses import replace
from math import inf, nan

import pytest

from generator.arena.hourly import HourState
from generator.arena.inputs import PlayInputs, sound
from generator.arena.play import PlayResult, PlayState, play
from generator.arena.state import KnownState, RegimeRow
from generator.arena.tally import simulated_tally
from generator.brain.forecast import Forecast
from generator.catalog.assets import ASSETS
from generator.catalog.words import Concept, MarketSide, Prediction, RoundPhase, VolatilityWord
from generator.values.hours import PredictionMade
from generator.values.rounds import Round
from generator.values.votes import Tally
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import CONFIG, HOUR, MINUTE, NOON, forecast_at, inputs_at, prices_at, state_of

START = NOON + HOUR
VOTES = Tally(5, 2, 1)
UNSEEN = "the forecast was not published before the start"
SET_BACK = "clock was set back"
RANGE = RegimeRow("range", "NEUTRAL", 60.0, 40.0)
RISK_ON = RegimeRow("risk_on", "RISK_ON", 60.0, 40.0)
QUIET = KnownState(VolatilityWord.NORMAL, MarketSide.FLAT)


def after_tick(now_ms: int, *active: Round, state: PlayState | None = None, **inputs: object) -> PlayResult:
    """Play one tick with some rounds under way, of which no next one is opened."""
    known = state_of(state, active=active, taken=frozenset(NOON + hour * HOUR for hour in range(9)))
    made: PlayInputs = replace(inputs_at(now_ms), **inputs)  # type: ignore[arg-type]
    return play(known, made)


def ended(result: PlayResult) -> Round:
    ((_, after),) = result.rounds.changes
    return after


@pytest.mark.parametrize(
    ("before", "now", "texts"),
    [
        ("risk_off", RISK_ON, ["The label of the market regime changed from risk-off to risk-on."]),
        ("risk_on", RISK_ON, []),
        (None, RISK_ON, []),
        ("range", None, []),
    ],
)
def test_a_change_of_the_regime_s_label_is_an_event(before: str | None, now: tuple | None, texts: list[str]) -> None:  # type: ignore[type-arg]
    result = after_tick(NOON + MINUTE, state=PlayState(last_regime=before), regime=now)

    assert [event.text for event in result.events] == texts


@pytest.mark.parametrize(
    ("before", "volatility", "side", "texts"),
    [
        (
            QUIET,
            VolatilityWord.EXTREME,
            MarketSide.FALLING,
            [
                (
                    "The market changed from a flat day, calm or normal volatility to a falling day, rough or wild "
                    "volatility."
                )
            ],
        ),
        (QUIET, VolatilityWord.CALM, MarketSide.FLAT, []),
        (QUIET, VolatilityWord.UNKNOWN, MarketSide.UNKNOWN, []),
        (KnownState(), VolatilityWord.NORMAL, MarketSide.FLAT, []),
    ],
)
def test_a_change_of_the_state_by_its_axes_is_an_event(
    before: KnownState, volatility: VolatilityWord, side: MarketSide, texts: list[str]
) -> None:
    state = PlayState(last_regime="range", last_state=before)

    result = after_tick(NOON + MINUTE, state=state, regime=RANGE._replace(volatility=volatility, side=side))

    assert [event.text for event in result.events] == texts


@pytest.mark.parametrize("simulated", [False, True])
def test_the_votes_of_a_round_are_locked_when_it_goes_live(simulated: bool) -> None:
    opened = replace(an_open_round(), simulated_crowd=simulated)
    state = state_of(real={opened.round_id: VOTES})

    result = after_tick(START, opened, state=state)
    waiting = after_tick(START - MINUTE, opened, state=state)

    crowd = simulated_tally(CONFIG.seed, opened.round_id) if simulated else Tally()
    assert result.rounds.locks == ((opened.round_id, VOTES, crowd),)
    assert (waiting.rounds.locks, waiting.events) == ((), ())
    assert [event.kind for event in result.events] == ["round_live"]


@pytest.mark.parametrize(
    ("published_ms", "warm_up", "reason"),
    [(NOON - 1, False, UNSEEN), (NOON, False, None), (NOON - 1, True, None), (None, False, None)],
)
def test_a_forecast_that_no_release_carried_before_the_start_is_void(
    published_ms: int | None, warm_up: bool, reason: str | None
) -> None:
    opened = replace(an_open_round(), warm_up=warm_up)

    after = ended(after_tick(START, opened, state=PlayState(published_ms=published_ms)))

    assert (after.void_reason, after.phase) == (reason, RoundPhase.VOID if reason else RoundPhase.LIVE)


def test_whether_a_release_carried_it_counts_only_in_the_tick_in_which_it_begins() -> None:
    opened = an_open_round()
    sealed = PredictionMade(
        "BTC", START, START + HOUR, (0.3, 0.3, 0.4), (0.3, 0.4, 0.3), Prediction.BULLISH, 10.0, made_ms=NOON
    )
    begun = replace(sealed, start_price=100.0)
    carried, late = PlayState(published_ms=NOON), PlayState(published_ms=NOON - 1)
    live = ended(after_tick(START, opened, state=carried))

    waiting = after_tick(START - 11 * MINUTE, opened, state=state_of(late, hours=HourState(pending=(sealed,))))
    going_on = after_tick(START + MINUTE, live, state=state_of(late, hours=HourState(pending=(begun,))))
    unseen = after_tick(START, opened, state=state_of(late, hours=HourState(pending=(sealed,))))

    assert waiting.rounds.changes == going_on.rounds.changes == ()
    for result, reasons in ((waiting, set()), (going_on, set()), (unseen, {UNSEEN})):
        assert {after.void_reason for before, after in result.hours.changes if before is not None} - {None} == reasons
    assert ended(unseen).void_reason == UNSEEN


def test_what_was_sealed_with_bars_of_the_future_or_of_another_market_is_void() -> None:
    opened = an_open_round()

    late = after_tick(NOON + MINUTE, opened, next_close_ms=NOON)
    fine = after_tick(NOON + MINUTE, opened, next_close_ms=NOON + 1)
    moved = after_tick(NOON + MINUTE, opened, interrupted="the replay was moved")

    assert (ended(late).void_reason, fine.rounds.changes, ended(moved).void_reason) == (
        SET_BACK,
        (),
        "the replay was moved",
    )


@pytest.mark.parametrize(
    ("live", "played_in_backtest", "now_ms", "opens_again"),
    [
        (True, True, NOON + MINUTE, True),
        (True, True, START, False),
        (True, False, NOON + MINUTE, False),
        (False, True, NOON + MINUTE, False),
    ],
)
def test_what_a_backtest_sealed_of_a_round_to_come_is_sealed_again_live(
    live: bool, played_in_backtest: bool, now_ms: int, opens_again: bool
) -> None:
    sealed = replace(an_open_round("another salt"), warm_up=played_in_backtest)

    rounds = after_tick(now_ms, sealed, warm_up=not live).rounds.changes

    again = [after for _, after in rounds if after.phase is RoundPhase.OPEN]
    assert bool(again) is opens_again
    assert all((after.warm_up, after.opens_ms, after.asset) == (False, now_ms, sealed.asset) for after in again)


def broken(**changes: float) -> Forecast:
    made = forecast_at(NOON)("BTC", 60)
    assert made is not None
    chances = {name: value for name, value in changes.items() if name != "band_bps"}
    if "band_bps" in changes:
        return replace(made, band_bps=changes["band_bps"])
    return replace(made, probabilities=replace(made.probabilities, **chances))


@pytest.mark.parametrize(
    ("changes", "is_sound"),
    [
        ({}, True),
        ({"up": 0.0}, True),
        ({"down": nan}, False),
        ({"neutral": inf}, False),
        ({"up": -0.1}, False),
        ({"band_bps": 0.0}, False),
        ({"band_bps": 0.01}, True),
        ({"band_bps": -1.0}, False),
    ],
)
def test_a_forecast_is_sound_where_every_number_can_be_published(changes: dict[str, float], is_sound: bool) -> None:
    forecast = broken(**changes)

    assert sound(forecast) is (forecast if is_sound else None)
    assert sound(None) is None


def hourly(asset: str, start_ms: int, change: float = 7.0, **more: object) -> PredictionMade:
    made = PredictionMade(asset, start_ms, start_ms + HOUR, (0.3, 0.3, 0.4), (0.3, 0.4, 0.3), Prediction.BULLISH, 10.0)
    price = prices_at(start_ms + HOUR)[asset].price
    assert price is not None
    return replace(made, start_price=price / (1 + change / 10_000), made_ms=start_ms - MINUTE, **more)  # type: ignore[arg-type]


def test_a_lesson_knows_how_the_other_assets_moved_over_its_very_hour() -> None:
    start_price = (prices_at(START + HOUR)["BTC"].price or 0.0) / 1.005
    live = replace(an_open_round(), phase=RoundPhase.LIVE, start_price=start_price, price_basis="venue_mid")
    pending = (
        *(hourly(asset, START) for asset in ASSETS[1:6]),
        hourly("BTC", START),
        hourly(ASSETS[6], NOON, outcome=Prediction.BULLISH, change_bps=7.0),
    )
    but_this = tuple(concept for concept in Concept if concept is not Concept.CORRELATION)

    state = state_of(hours=HourState(pending=pending), concepts=but_this)
    (lesson,) = after_tick(START + HOUR, live, state=state).rounds.lessons

    assert lesson.concept is Concept.CORRELATION
    assert "5 of 5 other assets" in (lesson.point or "")


def test_what_resolves_in_a_tick_is_the_last_outcome_of_what_opens_in_it() -> None:
    judged = hourly("BTC", START - HOUR, change=50.0)
    asked: list[str] = []

    def last(asset: str) -> None:
        asked.append(asset)

    state = state_of(hours=HourState(pending=(judged,), last_outcome=last))
    made = {after.asset: after for _, after in after_tick(START - MINUTE, state=state).hours.changes}
    resolved = {after.asset: after for _, after in after_tick(START, state=state).hours.changes}

    assert (made["BTC"].previous, resolved["BTC"].outcome) == (None, Prediction.BULLISH)
    assert set(asked) == set(ASSETS)


def test_an_hour_that_had_begun_before_the_clock_went_back_is_not_forecast_again() -> None:
    begun = frozenset({("BTC", START), ("ETH", NOON)})

    state = state_of(hours=HourState(begun=begun))
    made = [after.asset for _, after in after_tick(START - MINUTE, state=state).hours.changes]

    assert made == [asset for asset in ASSETS if asset != "BTC"]
