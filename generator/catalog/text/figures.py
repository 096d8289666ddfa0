"""Numbers and times in words: every figure of a text, page, picture or chart is written here.

Figures that are published as numbers are rounded by `generator.catalog.formats`, amounts of USDC are written by
`generator.catalog.money`. What may be unknown is then the word `unknown`, never a number.
"""

import math
from decimal import Decimal
from typing import Final

from generator.catalog.counts import in_words
from generator.catalog.durations import DAY_MINUTES, MINUTE_MS
from generator.catalog.formats import moment

UNKNOWN: Final = "unknown"
NOT_YET: Final = "none yet"
MINUS: Final = "\N{MINUS SIGN}"
HYPHEN: Final = "-"  # the minus of bodies and terminals, which ASCII has
BPS_DECIMALS: Final = 3  # of a percentage: basis points are published with one
_NARROW: Final = "\N{NO-BREAK SPACE}"
UNCHANGED: Final = 0.05  # percent, below which nothing is said to have moved
_CENT: Final = 0.01  # USD
_WHOLE_FROM: Final = 10.0  # percent, from which on a size has no decimals
_HOUR: Final = 1.0
_DAYS_A_MONTH: Final = 30.4
_NEARLY_ALL: Final = 99.5
_ALL: Final = 99.95


def size(percent: float) -> str:
    """Write the size of a move: one decimal below ten percent, none above.

    >>> size(-3.04), size(9.96), size(-21.7)
    ('3.0%', '10%', '22%')
    """
    value = abs(percent)
    return f"{value:.0f}%" if round(value, 1) >= _WHOLE_FROM else f"{value:.1f}%"


def signed_size(percent: float) -> str:
    """Write the size of a move with its sign, a true minus and not a hyphen.

    >>> signed_size(2.44), signed_size(-3.3) == f"{MINUS}3.3%", signed_size(0.01)
    ('+2.4%', True, '0%')
    """
    if abs(percent) < UNCHANGED:
        return "0%"
    return f"{'+' if percent > 0 else MINUS}{size(percent)}"


def percent(value: float | None, decimals: int = 1) -> str:
    """Write a value that is already in percent."""
    if value is None:
        return UNKNOWN
    return f"{value:.{decimals}f}%".replace("-", MINUS)


def minus(number: object) -> str:
    """Write a number with a true minus and not a hyphen.

    >>> minus(-1.1) == f"{MINUS}1.1", minus("0.5")
    (True, '0.5')
    """
    return str(number).replace("-", MINUS)


def signed(value: float | None, decimals: int = 2, minus: str = MINUS) -> str:
    """Write a change in percent with its sign, so that colour is never needed; nothing has none.

    >>> signed(1.234), signed(-0.26, 1, HYPHEN), signed(-0.001), signed(None)
    ('+1.23%', '-0.3%', '0.00%', 'unknown')
    """
    if value is None:
        return UNKNOWN

    rounded = round(value, decimals)
    text = f"{abs(rounded):.{decimals}f}%"
    if rounded > 0:
        return f"+{text}"
    if rounded < 0:
        return f"{minus}{text}"
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


def way(percent: float) -> str:
    """Say up or down."""
    return "up" if percent > 0 else "down"


def moved(percent: float) -> str:
    """Say a move: `up 1.9%`, `down 0.2%`, or that there was none.

    >>> moved(1.94), moved(-0.2), moved(0.04)
    ('up 1.9%', 'down 0.2%', 'unchanged')
    """
    return "unchanged" if abs(percent) < UNCHANGED else f"{way(percent)} {size(percent)}"


def dollars(price: float) -> str:
    """Write a price: no cents from a thousand dollars on, four decimals below ten.

    >>> dollars(26254.3), dollars(22.184), dollars(0.62761)
    ('$26,254', '$22.18', '$0.6276')
    """
    if round(price) >= 1000:
        return f"${price:,.0f}"
    return f"${price:,.2f}" if round(price, 2) >= 10 else f"${price:.4f}"


def tick_dollars(price: float) -> str:
    """Write a price at which a tick of an axis lies: as `dollars` where that is exact, else with all its decimals.

    >>> tick_dollars(26250.0), tick_dollars(0.0575), tick_dollars(0.05675)
    ('$26,250', '$0.0575', '$0.05675')
    """
    short = dollars(price)
    if math.isclose(float(short[1:].replace(",", "")), price, rel_tol=1e-9):
        return short
    return f"${price:,.8f}".rstrip("0")


def about_dollars(amount: float) -> str:
    """Write an amount to two significant digits.

    >>> about_dollars(19.4), about_dollars(7.83), about_dollars(126.0), about_dollars(0.000874)
    ('$19', '$7.80', '$130', '$0.00087')
    """
    if amount <= 0.0:
        return "$0"
    step = 10.0 ** (math.floor(math.log10(amount)) - 1)
    value = round(amount / step) * step
    if value >= 10:
        return f"${value:,.0f}"
    decimals = 2 if value >= 1 else 1 - math.floor(math.log10(value))
    return f"${value:.{decimals}f}"


def price(value: float | None) -> str:
    """Write a USD price as sentences do, so that it has one rounding on a page; below a cent, three digits of it."""
    if value is None:
        return UNKNOWN
    if 0 < value < _CENT:
        return f"${Decimal(f'{value:.3g}'):f}"
    return dollars(value)


def usd(value: float | None) -> str:
    """Write a large USD amount with three significant digits and a unit."""
    if value is None:
        return UNKNOWN
    for size, unit in ((1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if value >= size:
            return f"${value / size:.3g}{_NARROW}{unit}"
    return f"${value:.3g}"


def billions(amount: float) -> str:
    """Write a large amount with its unit in full: `$1.2 billion`, `$340 million`."""
    return f"${amount / 1e9:.1f} billion" if amount >= 1e9 else f"${amount / 1e6:.0f} million"


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Write a number and its noun, e.g. `1 vote`, `1,204 votes`; without a plural, with an s."""
    if number == 1:
        return f"1 {singular}"
    return f"{number:,} {plural or singular + 's'}"


def clock(ms: int) -> str:
    """Write the time of day, UTC: 09:53."""
    return f"{moment(ms):%H:%M}"


def day_and_clock(at_ms: int | None, now_ms: int) -> str | None:
    """Write a time as `14:05`, one of another day (UTC) with its date, `20 Nov 14:05`; None where unknown.

    >>> day_and_clock(50_700_000, 86_399_000), day_and_clock(50_700_000, 86_400_000)
    ('14:05', '1 Jan 14:05')
    """
    if at_ms is None:
        return None
    at = moment(at_ms)
    return clock(at_ms) if at.date() == moment(now_ms).date() else f"{at.day} {at:%b %H:%M}"


def clock_of_day(at_ms: int, now_ms: int) -> str:
    """Write a time of the last day, e.g. `14:05 UTC yesterday`."""
    is_today = moment(at_ms).date() == moment(now_ms).date()
    return f"{clock(at_ms)} UTC {'today' if is_today else 'yesterday'}"


def day(ms: int) -> str:
    """Write a moment in short, where the year is not in question: 20 Nov, 09:53."""
    return f"{moment(ms):%-d %b, %H:%M}"


def dated(ms: int) -> str:
    """Write a moment with its year: 20 Nov 2026, 09:53."""
    return f"{moment(ms):%-d %b %Y, %H:%M}"


def left(ms: int) -> str:
    """Write a span of milliseconds as MM:SS; nothing is left below zero."""
    minutes, seconds = divmod(max(0, ms) // 1000, 60)
    return f"{minutes:02d}:{seconds:02d}"


def duration(minutes: int | None) -> str:
    """Write a span of minutes in its largest useful units."""
    if minutes is None:
        return UNKNOWN
    days, rest = divmod(minutes, DAY_MINUTES)
    hours, rest = divmod(rest, 60)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {rest} min"
    return f"{rest} min"


def shift(ms: int) -> str:
    """Write the distance of two clocks to the minute, e.g. `530 days 2 h 50 min`."""
    days, rest = divmod(ms // MINUTE_MS, DAY_MINUTES)
    hours_and_minutes = f"{rest // 60} h {rest % 60} min"
    return f"{count(days, 'day')} {hours_and_minutes}" if days else hours_and_minutes


def ago(hours: float) -> str:
    """Say how long ago something was, within three quarters of an hour.

    >>> [ago(hours) for hours in (0.1, 0.3, 0.5, 1.2, 3.6, 12.2, 13.0)]  # doctest: +NORMALIZE_WHITESPACE
    ['minutes ago', 'a quarter of an hour ago', 'half an hour ago', 'an hour ago', 'four hours ago',
     'twelve hours ago', '13 hours ago']
    """
    if hours < 0.2:
        return "minutes ago"
    if hours < 0.375:
        return "a quarter of an hour ago"
    if hours < 0.75:
        return "half an hour ago"
    if hours < 1.5:
        return "an hour ago"
    return f"{in_words(int(hours + 0.5))} hours ago"


def elapsed(minutes: float) -> str:
    """Say how long something has lasted.

    >>> [elapsed(minutes) for minutes in (25.3, 89.0, 150.0, 3000.0)]
    ['25 minutes', '89 minutes', 'three hours', 'two days']
    """
    if minutes < 90:
        return f"{minutes:.0f} minutes"
    hours = minutes / 60
    return f"{in_words(int(hours + 0.5))} hours" if hours < 48 else f"{in_words(int(hours // 24))} days"


def span(days: float) -> str:
    """Say how long a record is, rounded down.

    >>> [span(days) for days in (0.9, 1.9, 5.5, 13.0, 36.0, 60.0, 120.0, 366.0)]
    ['less than a day', 'a day', 'five days', '13 days', 'five weeks', 'eight weeks', 'three months', 'a year']
    """
    if days < 1:
        return "less than a day"
    if days < 2:
        return "a day"
    if days >= 360:
        return "a year"

    if days >= 2 * _DAYS_A_MONTH:
        return f"{in_words(int(days // _DAYS_A_MONTH))} months"
    if days >= 14:
        return f"{in_words(int(days // 7))} weeks"
    return f"{in_words(int(days))} days"


def last(days: float) -> str:
    """Say `the last year`, `the last five weeks`."""
    length = span(days)
    return "the last year" if length == "a year" else f"the last {length}"


def of_100(percent: float) -> str:
    """Say a share of a hundred, in words where it is none or all.

    >>> [of_100(percent) for percent in (0.2, 72.4, 99.7, 100.0)]
    ['hardly any', '72 in 100', 'nearly all', 'all']
    """
    if percent >= _ALL:
        return "all"
    if percent >= _NEARLY_ALL:
        return "nearly all"
    return f"{percent:.0f} in 100" if round(percent) >= 1 else "hardly any"


def wide(ratio: float) -> str:
    """Say how wide a range is against the usual one.

    >>> [wide(ratio) for ratio in (0.5, 0.7, 1.0, 1.5, 2.0, 13.8)]  # doctest: +NORMALIZE_WHITESPACE
    ['about half as wide as', 'narrower than', 'about as wide as', 'half as wide again as', 'about twice as wide as',
     'about 14 times as wide as']
    """
    for limit, words in _WIDTHS:
        if ratio < limit:
            return words
    return f"about {in_words(int(ratio + 0.5))} times as wide as"


_WIDTHS: Final = (
    (0.6, "about half as wide as"),
    (0.8, "narrower than"),
    (1.25, "about as wide as"),
    (1.75, "half as wide again as"),
    (2.5, "about twice as wide as"),
)
