"""Numbers of the brain that texts give and raw prices do not: where prices may be, how likely they move."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Chances(NamedTuple):
    """The next hour of one coin."""

    call: str
    down: float  # chances of the end of the hour, percent
    small: float
    up: float
    usual_small: float
    band: float  # half-width of a small move, percent of the price


@dataclass(frozen=True, slots=True)
class Published:
    """What was published with the texts of a bar; None and absent where unknown."""

    prices: Mapping[str, float] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # 90% of the next hour, as prices
    chances: Mapping[str, Chances] = field(default_factory=dict)
    outlook_rank: float | None = None  # of the next four hours among all that were expected on record, 0 to 1
    outlook_near: float = 0.0  # the share of them that are as large to a thousandth, so that either may come first
    width_ratio: float | None = None  # of Bitcoin's range of an hour over the median of those on record
    minutes_old: Mapping[str, float] = field(default_factory=dict)  # of the prices
