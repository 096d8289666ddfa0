"""Hours as a log holds them: start price, sealed forecast, end price."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.wire.foreign import read_json
from generator.catalog.formats import ms_of
from generator.catalog.horizons import HOUR
from generator.catalog.log_kinds import step_of

STARTED: Final = "predictions.started"
JUDGED: Final = "predictions.judged"


@dataclass(frozen=True, slots=True)
class LoggedHour:
    """One asset's hour that came to its end.

    Args:
        start: of the hour, as the log writes it.
        forecast: what was sealed before the hour.
        salt: what it was sealed with, hex.
        change_bps: from start to end price.
        outcome: BEARISH, NEUTRAL or BULLISH.
    """

    asset: str
    start: str
    start_price: float
    end_price: float
    forecast: Mapping[str, Any]
    salt: str
    change_bps: float
    outcome: str

    @property
    def start_ms(self) -> int:
        """The start, UTC ms."""
        return ms_of(self.start)


@dataclass(frozen=True, slots=True)
class LoggedHours:
    """All that practice reads of a log: start prices of every hour that began, and the hours that ended.

    Args:
        prices: (asset, start in UTC ms) -> start price.
        ended: hours with an outcome, a call and ranges over an hour, in the log's order.
    """

    prices: Mapping[tuple[str, int], float]
    ended: tuple[LoggedHour, ...]


def logged_hours(entries: Iterable[bytes]) -> LoggedHours:
    """Read the hours out of the entries of a log; ValueError where an entry is not of the log's form."""
    started: dict[tuple[str, str], Mapping[str, Any]] = {}
    prices: dict[tuple[str, int], float] = {}
    ended: list[LoggedHour] = []

    # What an hour sealed is held until its end is read; one that never ends gives no item.
    try:
        for data in entries:
            entry = read_json(data)
            step = step_of(entry)
            if step == STARTED:
                for asset, shown in entry["assets"].items():
                    started[asset, entry["start"]] = shown
                    prices[asset, ms_of(entry["start"])] = shown["start_price"]
            elif step == JUDGED:
                for asset, judged in entry["assets"].items():
                    shown = started.pop((asset, entry["start"]), None)
                    if shown is not None and "outcome" in judged and _is_whole(shown["forecast"]):
                        ended.append(_ended(asset, entry["start"], shown, judged))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"an entry of the log is not of its form ({type(error).__name__}: {error})") from None

    return LoggedHours(prices, tuple(ended))


def _is_whole(forecast: Mapping[str, Any]) -> bool:
    """Return whether a forecast says how far and whether the price will move; older ones did not."""
    return "move" in forecast and HOUR in forecast.get("ranges", {})


def _ended(asset: str, start: str, shown: Mapping[str, Any], judged: Mapping[str, Any]) -> LoggedHour:
    return LoggedHour(
        asset=asset,
        start=start,
        start_price=shown["start_price"],
        end_price=judged["end_price"],
        forecast=shown["forecast"],
        salt=shown["salt"],
        change_bps=judged["change_bps"],
        outcome=judged["outcome"],
    )
