"""The horizons over which moves are forecast and scored, the shortest first."""

from typing import Final, NamedTuple


class Horizon(NamedTuple):
    """One horizon; bodies, files and the record name it by its key in `HORIZONS`."""

    minutes: int
    words: str

    @property
    def hours(self) -> float:
        """The same in hours."""
        return self.minutes / 60


HORIZONS: Final = {
    "15m": Horizon(15, "15 minutes"),
    "1h": Horizon(60, "1 hour"),
    "4h": Horizon(240, "4 hours"),
    "24h": Horizon(1440, "24 hours"),
}
HOUR: Final = "1h"  # the horizon of forecasts of direction
