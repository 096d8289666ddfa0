"""The market day by day: a line for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from generator.catalog.assets import ASSET_NAMES, DEFAULT_ASSET
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import moment
from generator.catalog.text.figures import UNKNOWN, clock, dated, signed
from generator.catalog.text.titles import TITLES, Drawn
from generator.catalog.words import RegimeLabel
from generator.values.hours import Hour

DAYS_LISTED: Final = 366
DAYS_IN_FULL: Final = 30  # the newest, with every headline
_WHOLE_DAY_MS: Final = 0.9 * DAY_MS  # prices so far apart are said to be a day apart


@dataclass(frozen=True, slots=True)
class Day:
    """One UTC day as it was published, or as a backtest read it, in words."""

    date: str
    name: str
    change: str  # of Bitcoin, from its first price of the day to the last
    hours: int
    headline: str  # of its last hour; of a backtest what Bitcoin did; empty where neither is known
    headlines: tuple[tuple[str, str], ...]  # of a new day: (time, headline) of each situation, in its order
    tested: bool  # by a backtest, to its last hour
    priced: str  # of a replay: of which market times its prices are; empty where the days are the same


def listed_since_ms(now_ms: int) -> int:
    """Return when the oldest day that is listed began."""
    return (now_ms // DAY_MS - DAYS_LISTED + 1) * DAY_MS


def days(hours: Sequence[Hour]) -> tuple[Day, ...]:
    """Return the days of some hours (oldest first), the newest first."""
    by_day = [list(group) for _, group in groupby(hours, key=lambda hour: hour.at_ms // DAY_MS)]
    newest_first = enumerate(reversed(by_day))
    return tuple(_day(group, in_full=place < DAYS_IN_FULL) for place, group in newest_first)


def _day(hours: Sequence[Hour], *, in_full: bool) -> Day:
    at = moment(hours[0].at_ms)
    tested = hours[-1].warm_up
    published = [hour.headline for hour in hours if hour.headline]

    last = published[-1] if published else ""
    if tested and not last:
        last = _in_prices(hours)

    return Day(
        date=f"{at:%Y-%m-%d}",
        name=f"{at:%-d %b %Y}",
        change=_change(hours),
        hours=len(hours),
        headline=last,
        headlines=tuple(_situations(hours)) if in_full else (),
        tested=tested,
        priced=_priced(hours),
    )


def _situations(hours: Sequence[Hour]) -> Iterator[tuple[str, str]]:
    """Give the time and the first headline of each situation, in the order of the day."""
    with_headline = (hour for hour in hours if hour.headline)
    for _, spell in groupby(with_headline, key=lambda hour: hour.situation or hour.headline):
        first = next(spell)
        yield clock(first.market_ms), first.headline


def _bitcoin(hours: Sequence[Hour]) -> list[tuple[int, float]]:
    """Return the known prices of Bitcoin, with their market times."""
    return [(hour.market_ms, hour.prices[DEFAULT_ASSET]) for hour in hours if DEFAULT_ASSET in hour.prices]


def _change(hours: Sequence[Hour]) -> str:
    known = _bitcoin(hours)
    if len(known) < 2:
        return UNKNOWN

    _, first = known[0]
    _, last = known[-1]
    return signed(100 * (last / first - 1))


def _in_prices(hours: Sequence[Hour]) -> str:
    """Say what Bitcoin did over a day, as the title of its chart would; empty with fewer than two prices."""
    known = _bitcoin(hours)
    if len(known) < 2:
        return ""
    first_ms, first = known[0]
    last_ms, last = known[-1]

    def point(place: tuple[int, float]) -> tuple[float, str]:
        at_ms, price = place
        return 100 * (price / first - 1), f"at {clock(at_ms)} UTC"

    drawn = Drawn(
        name=ASSET_NAMES[DEFAULT_ASSET],
        span="a day" if last_ms - first_ms >= _WHOLE_DAY_MS else "",
        begun=f"{dated(first_ms)} UTC",
        moved=100 * (last / first - 1),
        high=point(max(known, key=lambda place: place[1])),
        low=point(min(known, key=lambda place: place[1])),
    )
    return TITLES.say("title", drawn)


def _priced(hours: Sequence[Hour]) -> str:
    """Name the market times of the prices where a replay dates the hours by another day."""
    first = hours[0]
    if moment(first.market_ms).date() == moment(first.at_ms).date():
        return ""
    return f"{dated(first.market_ms)} to {dated(hours[-1].market_ms)} UTC"


def regime_of(hour: Hour) -> RegimeLabel:
    """Return the regime of an hour as people are shown it."""
    return RegimeLabel(hour.label)
