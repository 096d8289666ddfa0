"""Whether the live record has earned that a side is called: the only thing that opens up and down in a real market.

A case is a stored hourly forecast in which a side was the likeliest outcome and led the opposite side by the lead from
which it would be called, whether it was or not. Each counts 1 where that side came, -1 where the opposite came, else 0.
Sides open when 300 cases on 60 days have a mean whose 99.5% lower bound is above 0, and close when the mean is not. The
bound comes from leaving out one day at a time (the jackknife): the cases of a day move together.

It is looked at once a UTC day, from what is stored, without the backtest; the same record gives the same answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, NamedTuple

from generator.brain.forecast import CHANCES_KIND, EARNED, UNITS

CASES: Final = 300
KIND: Final = CHANCES_KIND  # of the chances that count: another kind begins at no case
DAYS: Final = 60
Z_995: Final = 2.575829
PER_CHANCE: Final = UNITS  # chances are compared in ten-thousandths, as they are published
LEAST_LEAD: Final = round(UNITS * EARNED.enter)


class LeadDay(NamedTuple):
    """The cases of one UTC day: how many, and those that came as led less those that came opposite."""

    cases: int
    balance: int


@dataclass(frozen=True, slots=True)
class Earned:
    """What the record showed when it was looked at last."""

    day: int  # number of the UTC day
    is_open: bool
    cases: int
    days: int  # with a case
    mean: float | None  # None without cases


def look(day: int, record: Sequence[LeadDay], *, was_open: bool) -> Earned:
    """Look at the record of the days with a case; open sides stay open while the mean is above 0.

    >>> look(7, [LeadDay(10, 4)] * 59, was_open=False).is_open, look(7, [LeadDay(10, 4)] * 60, was_open=False).is_open
    (False, True)
    """
    cases = sum(of.cases for of in record)
    balance = sum(of.balance for of in record)
    is_open = balance > 0
    if is_open and not was_open:
        is_open = cases >= CASES and len(record) >= DAYS and lower_bound(record) > 0
    return Earned(day, is_open, cases, len(record), balance / cases if cases else None)


def lower_bound(record: Sequence[LeadDay]) -> float:
    """Return the 99.5% lower bound of the mean over cases, from the means with one day left out.

    Source: J. W. Tukey, Bias and confidence in not-quite large samples, 1958; quantile of Student's t after Cornish and
    Fisher.
    """
    n = len(record)
    cases = sum(of.cases for of in record)
    balance = sum(of.balance for of in record)

    without = [(balance - of.balance) / (cases - of.cases) for of in record]
    centre = sum(without) / n
    error = sqrt((n - 1) / n * sum((mean - centre) ** 2 for mean in without))

    t = Z_995 + (Z_995**3 + Z_995) / (4 * (n - 1))
    return balance / cases - t * error
