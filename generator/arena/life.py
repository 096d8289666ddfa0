"""The life of a round: scheduled, open, live, resolving, resolved or void. Phases only move forward.

A round opens in the first tick at which the round before it is live and the brain has a forecast: the forecast is
sealed and the band frozen in that tick, before the first vote. Until the brain has one the round is `scheduled` and
takes no votes; with none at its start it is void. Slots that no tick ever reached (an outage) leave no round.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from generator.arena.outcome import PricePoint, change_bps, fix_price, outcome_of
from generator.arena.published import digest_of, forecast_of
from generator.arena.scores import confidence_percent, published_triple
from generator.arena.state import KnownState
from generator.arena.timetable import Slot, asset_of, round_id_of
from generator.brain.forecast import CHANCES_KIND, Forecast
from generator.catalog.formats import basis_points, iso
from generator.catalog.text.labels import REGIME
from generator.catalog.text.state import state_words
from generator.catalog.words import Prediction, RegimeLabel, RoundPhase
from generator.values.rounds import Closing, Event, Round

NO_FORECAST = "no forecast: the brain had none before the start"


def schedule_round(slot: Slot, assets: tuple[str, ...], *, opens_ms: int, warm_up: bool) -> Round:
    """Make the round of a slot, not yet open."""
    asset = asset_of(slot, assets)

    return Round(
        round_id=round_id_of(asset, slot.start_ms),
        asset=asset,
        opens_ms=opens_ms,
        start_ms=slot.start_ms,
        end_ms=slot.end_ms,
        phase=RoundPhase.SCHEDULED,
        warm_up=warm_up,
    )


def open_round(
    scheduled: Round,
    forecast: Forecast,
    now_ms: int,
    *,
    salt: str,
    regime_mode: str | None,
    previous: Prediction | None,
    simulated_crowd: bool,
) -> Round:
    """Seal the forecast, freeze the band and open the votes."""
    chances = published_triple(forecast.probabilities)

    filled = replace(
        scheduled,
        opens_ms=now_ms,
        phase=RoundPhase.OPEN,
        band_bps=basis_points(forecast.band_bps),
        salt=salt,
        prediction=forecast.prediction,
        probabilities=chances,
        base_rate=published_triple(forecast.base_rate),
        confidence_percent=confidence_percent(chances, forecast.call),
        regime_mode=regime_mode,
        previous=previous,
        simulated_crowd=simulated_crowd,
        call=forecast.call,
        chances_kind=CHANCES_KIND,
        closing=None if scheduled.warm_up else Closing(),
    )

    # Sealed last: the digest is of everything above.
    return replace(filled, sealed_digest=digest_of(forecast_of(filled), salt))


def advance(current: Round, now_ms: int, prices: Mapping[str, PricePoint], venues_needed: int, basis: str) -> Round:
    """Move a round on as far as this tick allows: go live, resolve or become void."""
    if current.phase is RoundPhase.SCHEDULED and now_ms >= current.start_ms:
        return void(current, NO_FORECAST)
    if current.phase is RoundPhase.OPEN and now_ms >= current.start_ms:
        return _go_live(current, now_ms - current.start_ms, prices, venues_needed, basis)
    if current.phase is RoundPhase.LIVE and now_ms >= current.end_ms:
        return _resolve(current, now_ms - current.end_ms, prices, venues_needed)
    return current


def _go_live(current: Round, late_ms: int, prices: Mapping[str, PricePoint], venues_needed: int, basis: str) -> Round:
    price, reason = fix_price(prices, current.asset, venues_needed, "start", late_ms)
    if reason is not None:
        return void(current, reason)
    return replace(current, phase=RoundPhase.LIVE, start_price=price, price_basis=basis)


def _resolve(current: Round, late_ms: int, prices: Mapping[str, PricePoint], venues_needed: int) -> Round:
    price, reason = fix_price(prices, current.asset, venues_needed, "end", late_ms)
    if price is None or current.start_price is None or current.band_bps is None:
        return void(current, reason or "no start price")

    change = change_bps(current.start_price, price)
    return replace(
        current,
        phase=RoundPhase.RESOLVED,
        end_price=price,
        change_bps=change,
        outcome=outcome_of(change, current.band_bps),
    )


def void(current: Round, reason: str) -> Round:
    """End a round that cannot count, e.g. because its prices would come from two different markets."""
    return replace(current, phase=RoundPhase.VOID, void_reason=reason)


def shown_at(current: Round, now_ms: int) -> Round:
    """Return a round as it looks between ticks: past its end and not yet settled it is `resolving`."""
    if current.phase is RoundPhase.LIVE and now_ms >= current.end_ms:
        return replace(current, phase=RoundPhase.RESOLVING)
    return current


Forecaster = Callable[[str, int], Forecast | None]


ROUND_OPENED: Final = "round_opened"


def event_of(changed: Round, now_ms: int) -> Event | None:
    """Describe what became of a round in this tick, nothing of a sealed forecast; None while it only waits."""
    name = changed.round_id
    texts = {
        RoundPhase.OPEN: (
            ROUND_OPENED,
            f"Round {name} takes votes until {iso(changed.start_ms)}.",
        ),
        RoundPhase.LIVE: ("round_live", f"Round {name} is live; the brain said {changed.prediction}."),
        RoundPhase.RESOLVED: ("round_resolved", f"Round {name} is resolved: {changed.outcome}."),
        RoundPhase.VOID: ("round_void", f"Round {name} is void: {changed.void_reason}."),
    }
    if changed.phase not in texts:
        return None

    kind, text = texts[changed.phase]
    return Event(now_ms, kind, text)


def state_event(before: KnownState, after: KnownState, now_ms: int) -> Event:
    """Describe a change of the market's state by its two axes."""
    text = f"The market changed from {state_words(*before)} to {state_words(*after)}."
    return Event(now_ms, "state_changed", text)


def regime_event(before: str, after: str, now_ms: int) -> Event:
    """Describe a change of the regime's label."""
    old = REGIME[RegimeLabel(before)]
    new = REGIME[RegimeLabel(after)]
    return Event(now_ms, "regime_changed", f"The label of the market regime changed from {old} to {new}.")
