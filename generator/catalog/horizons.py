"""The horizons over which moves are forecast and scored, the shortest first."""

from typing import Final, NamedTuple

from generator.catalog.durations import DAY_MINUTES, MINUTE_MS


class Horizon(NamedTuple):
    """One horizon; bodies, files and the record name it by its key in `HORIZONS`."""

    minutes: int
    words: str
    levels: tuple[float, ...]  # moves whose chance is said, in percent, the smallest first

    @property
    def length_ms(self) -> int:
        """The same in milliseconds."""
        return self.minutes * MINUTE_MS


HORIZONS: Final = {
    "15m": Horizon(15, "15 minutes", (0.25, 0.5, 1.0, 2.0)),
    "1h": Horizon(60, "1 hour", (0.25, 0.5, 1.0, 2.0)),
    "4h": Horizon(240, "4 hours", (0.5, 1.0, 2.0, 5.0)),
    "24h": Horizon(DAY_MINUTES, "24 hours", (1.0, 2.0, 5.0, 10.0)),
}
HOUR: Final = "1h"  # the horizon of the forecasts of direction
DAY: Final = "24h"
