"""Figures as people say them: sizes, prices, times ago, shares, spans of a record."""

import math
from typing import Final

from generator.catalog.counts import in_words

MINUS: Final = "\N{MINUS SIGN}"
UNCHANGED: Final = 0.05  # percent, below which nothing is said to have moved
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


def signed(percent: float) -> str:
    """Write a move with its sign, a true minus and not a hyphen.

    >>> signed(2.44), signed(-3.3) == f"{MINUS}3.3%", signed(0.01)
    ('+2.4%', True, '0%')
    """
    if abs(percent) < UNCHANGED:
        return "0%"
    return f"{'+' if percent > 0 else MINUS}{size(percent)}"


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
