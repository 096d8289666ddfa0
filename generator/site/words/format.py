"""Numbers and times as people read them. Unknown is the word `unknown`, never a number."""

import math
from datetime import UTC, datetime
from typing import Final

from markupsafe import Markup

from generator.catalog.formats import iso

UNKNOWN: Final = "unknown"
NOT_YET: Final = "none yet"
BPS_DECIMALS: Final = 3  # of a percentage: basis points are published with one
_MINUS: Final = "\N{MINUS SIGN}"
_NARROW: Final = "\N{NO-BREAK SPACE}"


def price(value: float | None) -> str:
    """Write a USD price: 6 significant digits, 8 decimals at most, no zeros after the cents; from $10,000 on whole."""
    if value is None:
        return UNKNOWN
    magnitude = math.floor(math.log10(value)) if value > 0 else 0
    if magnitude > 3:
        return f"${value:,.0f}"

    decimals = min(8, max(0, 5 - magnitude))
    units, _, fraction = f"{value:,.{decimals}f}".partition(".")
    return f"${units}.{fraction.rstrip('0'):0<2}"


def percent(value: float | None, decimals: int = 1) -> str:
    """Write a value that is already in percent."""
    if value is None:
        return UNKNOWN
    return f"{value:.{decimals}f}%".replace("-", _MINUS)


def signed(value: float | None, decimals: int = 2) -> str:
    """Write a change in percent with its sign, so that colour is never needed."""
    if value is None:
        return UNKNOWN

    rounded = round(value, decimals)
    text = f"{abs(rounded):.{decimals}f}%"
    if rounded > 0:
        return f"+{text}"
    if rounded < 0:
        return f"{_MINUS}{text}"
    return text


def signed_bps(value: float | None) -> str:
    """Write a change in basis points as one in percent, with its sign and every digit that is published."""
    if value is None:
        return UNKNOWN
    return signed(value / 100, BPS_DECIMALS)


def band(bps: float | None) -> str:
    """Write a neutral band in percent, with every digit that is published: a move may end just inside or outside."""
    if bps is None:
        return UNKNOWN
    return percent(bps / 100, BPS_DECIMALS)


def usd(value: float | None) -> str:
    """Write a large USD amount with three significant digits and a unit."""
    if value is None:
        return UNKNOWN
    for size, unit in ((1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if value >= size:
            return f"${value / size:.3g}{_NARROW}{unit}"
    return f"${value:.3g}"


def coded(text: str) -> Markup:
    """Turn text between back-ticks into code; everything else is escaped."""
    code = Markup("<code>{}</code>")
    plain = Markup("{}")
    parts = str(text).split("`")  # every second one lies between a pair
    return Markup("").join((code if number % 2 else plain).format(part) for number, part in enumerate(parts))


def word(value: str | None) -> str:
    """Write a snake-case word of the contract as people do."""
    return UNKNOWN if value is None else value.replace("_", " ")


def moment(ms: int) -> datetime:
    """Return UTC milliseconds as an aware time."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def ms_of(text: str) -> int:
    """Return the milliseconds of an ISO 8601 time of ours."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def left(ms: int) -> str:
    """Write a span of milliseconds as MM:SS; nothing is left below zero."""
    minutes, seconds = divmod(max(0, ms) // 1000, 60)
    return f"{minutes:02d}:{seconds:02d}"


def when(ms: int | None) -> Markup:
    """Write a moment as a `<time>` element, e.g. 20 Nov 2026, 09:53 UTC."""
    if ms is None:
        return Markup("{}").format(UNKNOWN)
    text = f"{moment(ms):%d %b %Y, %H:%M} UTC".lstrip("0")
    return Markup('<time datetime="{}">{}</time>').format(iso(ms), text)


def day(ms: int) -> str:
    """Write a moment in short, where the year is not in question: 20 Nov, 09:53."""
    return f"{moment(ms):%-d %b, %H:%M}"


def clock(ms: int) -> Markup:
    """Write the time of day only, e.g. 09:53."""
    return Markup('<time datetime="{}">{}</time>').format(iso(ms), f"{moment(ms):%H:%M}")


def duration(minutes: int | None) -> str:
    """Write a span of minutes in its largest useful units."""
    if minutes is None:
        return UNKNOWN
    days, rest = divmod(minutes, 1440)
    hours, rest = divmod(rest, 60)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {rest} min"
    return f"{rest} min"


def shift(ms: int) -> str:
    """Write the distance of two clocks to the minute, e.g. `530 days 2 h 50 min`."""
    days, rest = divmod(ms // 60_000, 1440)
    hours_and_minutes = f"{rest // 60} h {rest % 60} min"
    return f"{count(days, 'day')} {hours_and_minutes}" if days else hours_and_minutes


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Write a number and its noun, e.g. `1 vote`, `1,204 votes`; without a plural, with an s."""
    if number == 1:
        return f"1 {singular}"
    return f"{number:,} {plural or singular + 's'}"
