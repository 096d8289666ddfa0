"""What is said of a forecast: whether the price will have moved when its hour ends, and what is called of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from generator.catalog.counts import in_words, listed
from generator.catalog.formats import rounded
from generator.catalog.words import Call

AHEAD_POINTS: Final = 2.0  # percentage points from which one side is said to be ahead of the other
DRIFTING: Final = "this simulated market, whose record says nothing of real ones"
SIDES: Final = (Call.UP, Call.DOWN)
_COUNTED: Final[dict[Call, str]] = {Call.UP: "up", Call.DOWN: "down", Call.SMALL_MOVE: "a small move"}


def drift_note(call: Call | None, *, simulated: bool) -> str:
    """Say where a called side comes from in a simulated market; empty of any other call, and of a real market.

    >>> drift_note(Call.UP, simulated=True)
    'A side is called only in this simulated market, whose record says nothing of real ones.'
    """
    if not simulated or call not in SIDES:
        return ""
    return f"A side is called only in {DRIFTING}."


@dataclass(frozen=True, slots=True)
class PublishedForecast:
    """A forecast of one asset over the next hour, as published; chances in percent."""

    call: Call
    chances: tuple[float, float, float]  # of down, a small move and up
    base: tuple[float, float, float]  # their base rates
    band: float  # half-width of the neutral band, percent
    points: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # families of evidence that point up and down, in words
    simulated: bool = False  # whether the market is


def forecast_sentence(forecast: PublishedForecast) -> str:
    """Say how likely it is that the price ends the hour outside its band, and what is called.

    >>> band = PublishedForecast(Call.NONE, (41.0, 17.3, 41.7), (31.5, 37.0, 31.5), 0.1)
    >>> forecast_sentence(band)
    'In an hour, more than 0.10% up or down from here: 82.7%, usual 63.0%; up and down are as likely as each other.'
    """
    small = forecast.chances[1]
    usual_small = forecast.base[1]
    chance = f"{rounded(100 - small, 2):.1f}%, usual {rounded(100 - usual_small, 2):.1f}%"
    move = f"In an hour, more than {forecast.band:.2f}% up or down from here: {chance}"

    called = call_sentence(forecast)
    if forecast.call is Call.NONE:
        return f"{move}; {called[:1].lower()}{called[1:]}"
    return f"{move}. {called}"


def call_sentence(forecast: PublishedForecast) -> str:
    """Say what is called; without a call, how the two sides compare."""
    down, small, up = forecast.chances
    usual_down, usual_small, usual_up = forecast.base
    if forecast.call is Call.NONE:
        sides = _sides(down, up)
        return f"{sides[:1].upper()}{sides[1:]}."
    if forecast.call is Call.SMALL_MOVE:
        return f"The call is a small move: {small:.1f}%, usual {usual_small:.1f}%."

    where = f"In {DRIFTING}, the" if forecast.simulated else "The"
    pointing_up, pointing_down = forecast.points
    if forecast.call is Call.UP:
        called = f"{where} call is up: {up:.1f}%, usual {usual_up:.1f}%, against {down:.1f}% for down"
        return f"{called}{_context(pointing_up, pointing_down)}."
    called = f"{where} call is down: {down:.1f}%, usual {usual_down:.1f}%, against {up:.1f}% for up"
    return f"{called}{_context(pointing_down, pointing_up)}."


def _sides(down: float, up: float) -> str:
    """Say whether one side is ahead of the other; within two points of each other none is."""
    if abs(round(up - down, 2)) < AHEAD_POINTS:
        return "up and down are as likely as each other"
    if up > down:
        return f"up is ahead of down, {up:.1f}% to {down:.1f}%, and neither is called"
    return f"down is ahead of up, {down:.1f}% to {up:.1f}%, and neither is called"


def _context(same: tuple[str, ...], other: tuple[str, ...]) -> str:
    """Name the evidence that points the way of a call, and that which points the other way: neither made the call."""
    parts = []
    if same:
        parts.append(f"{listed(same)} {_point(same)} the same way")
    if other:
        parts.append(f"{listed(other)} {_point(other)} the other way")
    return f"; {', '.join(parts)}" if parts else ""


def _point(families: tuple[str, ...]) -> str:
    return "points" if len(families) == 1 else "point"


def calls_sentence(calls: Mapping[Call, int], *, simulated: bool) -> str:
    """Count the calls of the next hour; empty without a forecast.

    Args:
        calls: how many assets have each; those without a forecast are not counted.
        simulated: whether the market is.

    >>> calls_sentence({Call.NONE: 3}, simulated=False)
    'No call is made for the next hour.'
    """
    known = sum(calls.values())
    if not known:
        return ""

    called = [f"{words} for {in_words(calls[call])}" for call, words in _COUNTED.items() if calls.get(call)]
    if not called:
        return "No call is made for the next hour."

    without = calls.get(Call.NONE, 0)
    others = f"; there is none for the other {in_words(without)}" if without else ""
    has_side = bool(calls.get(Call.UP) or calls.get(Call.DOWN))
    where = f"In {DRIFTING}, the" if simulated and has_side else "The"
    return f"{where} call for the next hour is {listed(called)} of {in_words(known)} assets{others}."
