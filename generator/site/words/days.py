"""The market day by day: a line for each day, and a page for each of the newest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import moment
from generator.catalog.links import ARCHIVE
from generator.catalog.pages import SitePage
from generator.catalog.text.figures import UNKNOWN, clock, moved, price, signed
from generator.catalog.words import RegimeLabel
from generator.site.words.lessons import Lessons, chosen
from generator.values.hours import Hour
from generator.values.rounds import Lesson

DAYS_KEPT: Final = 30  # that have a page
DAYS_LISTED: Final = 366


@dataclass(frozen=True, slots=True)
class Day:
    """One UTC day as it was published, or as a backtest read it, in words."""

    path: str  # of its page
    date: str
    name: str
    moved: str  # Bitcoin over it, in words
    change: str  # of Bitcoin
    headlines: tuple[tuple[str, str], ...]  # (time, headline) where it was not the one before
    states: tuple[tuple[str, str], ...]  # those of them that were about another situation
    hours: tuple[tuple[str, str], ...]  # (time, price of Bitcoin)
    prices: tuple[tuple[str, ...], ...]  # asset, first, last, change, lowest, highest
    over: bool
    tested: bool  # by a backtest, to its last hour
    priced: str  # of a replay: of which market times its prices are; empty where the days are the same
    lessons: Lessons  # of the rounds that began on it

    def page(self) -> SitePage:
        """Return its page."""
        so_far = "" if self.over else " so far"
        about = f"The crypto market on {self.name}{so_far}: headlines and prices by the hour, as published."
        title = f"{self.name}{so_far}: {self.moved}"
        return SitePage(self.path, "pages/archive_day.html", self.name, title, about, primary=False, listed=False)


def day_path(at_ms: int) -> str:
    """Return the path of a day's page."""
    return f"{ARCHIVE}{moment(at_ms):%Y-%m-%d}/"


def archived_since_ms(now_ms: int) -> int:
    """Return when the oldest day that is listed began."""
    return (now_ms // DAY_MS - DAYS_LISTED + 1) * DAY_MS


def kept_since_ms(now_ms: int) -> int:
    """Return when the oldest day that has a page began."""
    return (now_ms // DAY_MS - DAYS_KEPT + 1) * DAY_MS


def days(hours: Sequence[Hour], now_ms: int, lessons: Sequence[Lesson] = ()) -> tuple[Day, ...]:
    """Return the days of some hours (oldest first), the newest first.

    Args:
        lessons: of the rounds that began on these days, in any order.
    """
    by_day = [list(group) for _, group in groupby(hours, key=lambda hour: hour.at_ms // DAY_MS)]

    taught: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        _, date, _ = lesson.round_id.split("-")
        taught.setdefault(date, []).append(lesson)

    return tuple(_day(group, now_ms, taught) for group in reversed(by_day))


def _day(hours: Sequence[Hour], now_ms: int, taught: Mapping[str, Sequence[Lesson]]) -> Day:
    at = moment(hours[0].at_ms)
    prices = tuple(_prices(hours))
    return Day(
        path=day_path(hours[0].at_ms),
        date=f"{at:%Y-%m-%d}",
        name=f"{at:%-d %b %Y}",
        moved=_moved(hours),
        change=next((row[3] for row in prices if row[0] == DEFAULT_ASSET), UNKNOWN),
        headlines=tuple(_headlines(hours, lambda hour: hour.headline)),
        states=tuple(_headlines(hours, lambda hour: hour.situation or "")),
        hours=tuple((clock(hour.at_ms), price(hour.prices.get(DEFAULT_ASSET))) for hour in hours),
        prices=prices,
        over=hours[0].at_ms // DAY_MS < now_ms // DAY_MS,
        tested=hours[-1].warm_up,
        priced=_priced(hours),
        lessons=chosen(taught.get(f"{at:%Y%m%d}", ())),
    )


def _priced(hours: Sequence[Hour]) -> str:
    """Name the market times of the prices where a replay dates the hours by another day."""
    first, last = (moment(hour.market_ms) for hour in (hours[0], hours[-1]))
    if first.date() == moment(hours[0].at_ms).date():
        return ""
    return f"{first:%-d %b %Y, %H:%M} to {last:%-d %b %Y, %H:%M} UTC"


def regime_of(hour: Hour) -> RegimeLabel:
    """Return the regime of an hour as people are shown it."""
    return RegimeLabel(hour.label)


def _moved(hours: Sequence[Hour]) -> str:
    """Say what Bitcoin did from the first price of a day to the last."""
    known = [hour.prices[DEFAULT_ASSET] for hour in hours if DEFAULT_ASSET in hour.prices]
    if len(known) < 2:
        return "the first hour"
    return f"{ASSET_NAMES[DEFAULT_ASSET]} {moved(100 * (known[-1] / known[0] - 1))}"


def _headlines(hours: Sequence[Hour], key: Callable[[Hour], str]) -> Iterator[tuple[str, str]]:
    """Give the headline of each hour whose `key` is not that of the hour before, with its time."""
    for _, group in groupby(hours, key=key):
        first = next(group)
        if first.headline:
            yield clock(first.at_ms), first.headline


def _prices(hours: Sequence[Hour]) -> Iterator[tuple[str, ...]]:
    """Give a row for each asset with two prices or more: first, last, change, lowest, highest."""
    for asset in ASSETS:
        known = [hour.prices[asset] for hour in hours if asset in hour.prices]
        if len(known) < 2:
            continue
        first = known[0]
        last = known[-1]
        change = signed(100 * (last / first - 1))
        yield asset, price(first), price(last), change, price(min(known)), price(max(known))
