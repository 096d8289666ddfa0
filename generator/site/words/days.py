"""The market day by day: a line for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import moment
from generator.catalog.text.figures import UNKNOWN, dated, signed
from generator.catalog.words import RegimeLabel
from generator.values.hours import Hour

DAYS_LISTED: Final = 366


@dataclass(frozen=True, slots=True)
class Day:
    """One UTC day as it was published, or as a backtest read it, in words."""

    date: str
    name: str
    change: str  # of Bitcoin, from its first price of the day to the last
    hours: int
    headline: str  # of its last hour; empty where there was none
    tested: bool  # by a backtest, to its last hour
    priced: str  # of a replay: of which market times its prices are; empty where the days are the same


def listed_since_ms(now_ms: int) -> int:
    """Return when the oldest day that is listed began."""
    return (now_ms // DAY_MS - DAYS_LISTED + 1) * DAY_MS


def days(hours: Sequence[Hour]) -> tuple[Day, ...]:
    """Return the days of some hours (oldest first), the newest first."""
    by_day = [list(group) for _, group in groupby(hours, key=lambda hour: hour.at_ms // DAY_MS)]
    return tuple(_day(group) for group in reversed(by_day))


def _day(hours: Sequence[Hour]) -> Day:
    at = moment(hours[0].at_ms)
    headlines = [hour.headline for hour in hours if hour.headline]

    return Day(
        date=f"{at:%Y-%m-%d}",
        name=f"{at:%-d %b %Y}",
        change=_change(hours),
        hours=len(hours),
        headline=headlines[-1] if headlines else "",
        tested=hours[-1].warm_up,
        priced=_priced(hours),
    )


def _change(hours: Sequence[Hour]) -> str:
    known = [hour.prices[DEFAULT_ASSET] for hour in hours if DEFAULT_ASSET in hour.prices]
    return UNKNOWN if len(known) < 2 else signed(100 * (known[-1] / known[0] - 1))


def _priced(hours: Sequence[Hour]) -> str:
    """Name the market times of the prices where a replay dates the hours by another day."""
    first = hours[0]
    if moment(first.market_ms).date() == moment(first.at_ms).date():
        return ""
    return f"{dated(first.market_ms)} to {dated(hours[-1].market_ms)} UTC"


def regime_of(hour: Hour) -> RegimeLabel:
    """Return the regime of an hour as people are shown it."""
    return RegimeLabel(hour.label)
