"""Texts of the events on record."""

from typing import Final, NamedTuple

from generator.catalog.counts import quantity

NAMES: Final[dict[str, str]] = {
    "large_hour": "a large hour",
    "large_day": "a large day",
    "turn_up": "a turn upwards",
    "turn_down": "a turn downwards",
    "rough_start": "the start of a rough spell",
    "rough_end": "the end of a rough spell",
}
HOW_TO_READ: Final = (
    "Events of the average coin on the kept record, up to a year; each is a day or more after the one before it of "
    "its kind. A large hour has four usual hours or more, a large day two usual days. A turn is a move of a usual day "
    "or more against the last such move. A rough spell starts when the hours of a day are rougher than three quarters "
    "of the record's, and ends when they are calmer than half. Usual is the median. What came after them "
    "need not come again."
)
NONE: Final = "No event in the last seven days."
_OUTCOMES: Final[dict[str, str]] = {"up": "rose", "larger": "moved more than is usual"}
_SPANS: Final[dict[str, str]] = {"1h": "hour", "4h": "four hours", "24h": "day", "7d": "week"}


class Share(NamedTuple):
    """One share that differs from that of any hour, percent."""

    span: str
    outcome: str
    percent: float
    low: float
    high: float
    usual: float


def statement(kind: str, hours_ago: int, n: int, *, backtest: bool, enough: bool, differing: list[Share]) -> str:
    """Say what the last event is, and what followed such events more or less often than any hour."""
    ago = f"{quantity(hours_ago, 'hour')} ago" if hours_ago else "in the last hour"
    last = f"The last event is {NAMES[kind]}, {ago}."
    record = "The backtest" if backtest else "The record"
    before = f"{record} has {quantity(n, 'such event')} of which it is known what followed"
    if not enough:
        return f"{last} {before}: too few for a share."
    if not differing:
        return f"{last} {before}; it differs from what follows any hour by no more than luck explains."
    said = " ".join(_share(share) for share in differing)
    return f"{last} {before}. {said} That is more than luck explains."


def _share(share: Share) -> str:
    return (
        f"In the next {_SPANS[share.span]} the average coin {_OUTCOMES[share.outcome]} {share.percent:.0f} times in "
        f"100 ({share.low:.0f} to {share.high:.0f}), against {share.usual:.0f} after any hour."
    )
