"""Each asset in sentences: functions of the published facts and of nothing else."""

from dataclasses import dataclass
from typing import Final

from generator.catalog.assets import ASSET_NAMES
from generator.catalog.text.forecast import PublishedForecast, forecast_sentence
from generator.catalog.text.market import EXTREME_RANK, JUMP_PERCENT, in_100, signed, verb_of
from generator.catalog.thresholds import FLAT_PERCENT, HOUR_MOVE_PERCENT, REBOUND_PERCENT
from generator.catalog.words import MarketStructure

NEAR: Final = 0.9  # of the week's range: near its top
_AT_EDGE: Final = 0.05  # percent within which a price is at its new high or low


@dataclass(frozen=True, slots=True)
class PublishedAsset:
    """What is said of one asset, as published; None where unknown. Changes are percent."""

    asset: str
    change: float | None = None  # over 24 hours
    usual_day: float | None = None  # median size of the changes of the kept days
    structure: MarketStructure = MarketStructure.UNKNOWN
    place: float | None = None  # between the week's low, 0, and its high, 1
    hour_range: tuple[float, float] | None = None  # 90% range of the next hour
    forecast: PublishedForecast | None = None
    notes: tuple[str, ...] = ()  # what its order book and its futures show, as sentences
    missing: str = ""  # why there is no forecast
    hour: float | None = None  # change over the last hour
    hour_rank: float | None = None  # of its size among the hours of the week, 0..100
    last_3h: float | None = None  # changes over the last hours
    broke_at: str | None = None  # when it broke its high, or its low, of the day before this hour, UTC
    off_edge: float | None = None  # how far the price now is from the new high, or low

    @property
    def hour_stands_out(self) -> bool:
        """Whether the last hour has a sentence of its own."""
        if not self.hour:
            return False
        return abs(self.hour) >= HOUR_MOVE_PERCENT or (self.hour_rank or 0.0) >= EXTREME_RANK


def asset_summary(facts: PublishedAsset) -> str:
    """Return one asset in a few sentences: whether it will move, what it did, how far it may move."""
    sentences = [_forecast(facts), day_sentence(facts), _asset_hour(facts), _asset_range(facts), *facts.notes]
    return " ".join(sentence for sentence in sentences if sentence)


def _forecast(facts: PublishedAsset) -> str:
    if facts.forecast is not None:
        return forecast_sentence(facts.forecast)
    return f"There is no forecast: {facts.missing}." if facts.missing else ""


def _asset_range(facts: PublishedAsset) -> str:
    if facts.hour_range is None:
        return ""
    low, high = facts.hour_range
    return f"Nine times in ten, it should end the next hour between {signed(low, 2)} and {signed(high, 2)}."


def day_sentence(facts: PublishedAsset) -> str:
    """Say what the price did over the day, and where that left it."""
    name = ASSET_NAMES.get(facts.asset, facts.asset)
    change = facts.change
    if change is None:
        return f"How {name} moved over the last day is not known."

    did = "is flat"
    if abs(change) > FLAT_PERCENT:
        did = f"is {'up' if change > 0 else 'down'} {abs(change):.1f}%"
    return f"{name} {did} on the day{_where(facts)}."


def _asset_hour(facts: PublishedAsset) -> str:
    """Say how the price moved in the last hour where that stands out; `but` where the day went the other way."""
    if not facts.hour_stands_out:
        return ""
    moved = facts.hour or 0.0
    contrary_day = (facts.change or 0.0) * moved < 0
    opening = "But in the last hour" if contrary_day else "In the last hour"

    place = ""
    if facts.hour_rank is not None and facts.hour_rank >= EXTREME_RANK:
        place = f", more than in {in_100(facts.hour_rank)} of 100 hours of its week"
    return f"{opening} it {verb_of(moved, 2 * JUMP_PERCENT)} {abs(moved):.1f}%{place}."


def _where(facts: PublishedAsset) -> str:
    """Say where the price is within its last day or week, or how its trend goes; empty where nothing stands out."""
    shape = facts.structure
    if shape is MarketStructure.BREAKOUT:
        return _broken(facts, "high", "below")
    if shape is MarketStructure.BREAKDOWN:
        return _broken(facts, "low", "above")
    if shape in (MarketStructure.UPTREND, MarketStructure.DOWNTREND):
        return _within_trend(facts)

    if facts.place is not None and (facts.place >= NEAR or facts.place <= 1.0 - NEAR):
        end = "top" if facts.place >= NEAR else "bottom"
        return f", near the {end} of its range of the week"

    quiet = facts.usual_day is not None and abs(facts.change or 0.0) < 0.5 * facts.usual_day
    still = quiet and not facts.hour_stands_out
    return " and without a clear trend" if still and shape is MarketStructure.RANGE else ""


def _broken(facts: PublishedAsset, edge: str, off: str) -> str:
    """Say when the price broke its high or low of the day before, and where it is now."""
    broke = f": it broke its {edge} of the previous 24 hours"
    if facts.broke_at is None or facts.off_edge is None:
        return f"{broke} within this hour"
    at = f"{broke} at {facts.broke_at} UTC"
    if facts.off_edge < _AT_EDGE:
        return f"{at} and is now at the new one"
    return f"{at} and is now {facts.off_edge:.1f}% {off} the new one"


def _within_trend(facts: PublishedAsset) -> str:
    """Name the trend, joined by `and` to a change over the day that goes its way, by `but` to any other."""
    sign, way, back = 1.0, "an uptrend", "down"
    if facts.structure is MarketStructure.DOWNTREND:
        sign, way, back = -1.0, "a downtrend", "up"

    joined = " and" if sign * (facts.change or 0.0) > FLAT_PERCENT else ", but"
    said = f"{joined} in {way} by its last 24 hours"
    if facts.last_3h is not None and sign * facts.last_3h <= -REBOUND_PERCENT:
        return f"{said}, though {back} {abs(facts.last_3h):.1f}% in the last three hours"
    return said
