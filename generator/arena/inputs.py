"""What one tick brings to the games of the Arena, and why what was sealed before it cannot count."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final

from generator.arena.ballots import BallotFile
from generator.arena.life import Forecaster
from generator.arena.outcome import PricePoint
from generator.arena.scores import published_triple
from generator.arena.state import RegimeRow
from generator.brain.forecast import Forecast
from generator.brain.joint import Joint
from generator.catalog.text.lessons import HoursOnRecord
from generator.values.ranges import RangeForecast
from generator.values.rounds import Triple

UNSEEN: Final = "the forecast was not published before the start"
SET_BACK: Final = "clock was set back"


@dataclass(frozen=True, slots=True)
class ArenaConfig:
    """Settings of the Arena, checked where they are set."""

    round_minutes: int  # divisor of 1440 from 15 to 90
    assets: tuple[str, ...]  # whose turn it is rotates over these
    address: str  # where ballots are addressed
    genesis_hash: str  # of the network that ballots are signed for, standard base64
    seed: int = 0  # of the simulated crowd
    simulated_crowd: bool = False  # whether a simulated, labelled crowd votes (simulated source only)


@dataclass(frozen=True, slots=True)
class PlayInputs:
    """What one tick brings: wall time, prices, forecasts, ballots."""

    now_ms: int
    prices: Mapping[str, PricePoint]
    venues_needed: int
    price_basis: str
    forecast: Forecaster
    config: ArenaConfig
    ballots: Sequence[BallotFile]
    salt: Callable[[], str]
    forecast_at_band: Callable[[str, int, float], Forecast | None] = lambda _asset, _minutes, _band_bps: None
    """The same as `forecast`, in a band that was fixed before, in basis points."""
    ranges: Mapping[str, Mapping[str, RangeForecast]] = field(default_factory=dict)  # by asset and horizon
    usual_day: float | None = None  # median size of Bitcoin's moves over a day, as a fraction; for the daily question
    joint: Joint | None = None  # how the assets may move together
    ladders: Mapping[str, Any] | None = None  # what is said of the ladders now, as it is sealed
    reached: Callable[[str, int, int], tuple[float, float] | None] = lambda _asset, _since, _until: None
    """The highest and lowest price of an asset in bars between two wall times; None where a bar is not known."""
    hours_before: Callable[[str, int, float], HoursOnRecord | None] = lambda _asset, _until, _move: None
    """The hours on record of an asset up to a wall time, against a move as a fraction; None where none is known."""
    regime: RegimeRow | None = None
    warm_up: bool = False
    interrupted: str | None = None  # why what is under way cannot be settled, e.g. the replay was moved
    next_close_ms: int | None = None  # wall time; what was sealed from then on was sealed with bars of the future

    def sound_forecast(self, asset: str, minutes: int) -> Forecast | None:
        """Return the brain's forecast of an asset over so many minutes, None without one that can be published."""
        return sound(self.forecast(asset, minutes))

    def sound_chances(self, asset: str, minutes: int, band_bps: float) -> Triple | None:
        """Return the chances of an asset in such a band as they are published, None where there are none."""
        forecast = sound(self.forecast_at_band(asset, minutes, band_bps))
        return None if forecast is None else published_triple(forecast.probabilities)


def sound(forecast: Forecast | None) -> Forecast | None:
    """Return a forecast whose numbers can be published; anything else counts as no forecast."""
    if forecast is None:
        return None
    chances = forecast.probabilities
    base = forecast.base_rate
    numbers = (chances.down, chances.neutral, chances.up, base.down, base.neutral, base.up, forecast.band_bps)
    publishable = all(isfinite(number) and number >= 0 for number in numbers) and forecast.band_bps > 0
    return forecast if publishable else None


def void_reason(sealed_ms: int | None, inputs: PlayInputs, published_ms: int | None) -> str | None:
    """Return why what was sealed then cannot count; None where nothing speaks against it.

    The market may be another now, the clock may have been set back so that it knew bars that close after now, or it
    begins now and no release ever carried it: no one could have seen it before.

    Args:
        published_ms: wall time of the last release; None where what was sealed does not begin now, or is not published.
    """
    if sealed_ms is None or inputs.interrupted is not None:
        return inputs.interrupted
    if inputs.next_close_ms is not None and sealed_ms >= inputs.next_close_ms:
        return SET_BACK
    if published_ms is not None and published_ms < sealed_ms:
        return UNSEEN
    return None
