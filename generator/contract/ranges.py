"""How far a price may move."""

from pydantic import Field

from generator.contract.base import Body


class Range(Body):
    """Where the price may be at the end of a horizon, as changes from now in percent."""

    low_90: float = Field(description="In 5% of cases the change is lower, percent, four decimals.")
    low_50: float = Field(description="In 25% of cases the change is lower, percent, four decimals.")
    high_50: float = Field(description="In 25% of cases the change is higher, percent, four decimals.")
    high_90: float = Field(description="In 5% of cases the change is higher, percent, four decimals.")


Ranges = dict[str, Range]
RANGES = (
    "How far the price may move over 15m, 1h, 4h and 24h: the 50% and the 90% range of the change from now, percent. "
    "Null without a reading."
)
