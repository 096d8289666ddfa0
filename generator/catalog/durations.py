"""Lengths of time: in milliseconds, the unit of every time in the generator, and in seconds and minutes of waiting."""

from typing import Final

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
WEEK_MS: Final = 7 * DAY_MS

MINUTE_S: Final = 60
HOUR_S: Final = 60 * MINUTE_S
DAY_S: Final = 24 * HOUR_S

DAY_MINUTES: Final = 24 * 60
