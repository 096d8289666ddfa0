"""Sixty questions on published bodies, with the answers of a careful reader, written by hand from the bodies.

A state is one of tests/support/builders.py, or one of `CHANGED`: such a state with a few members replaced.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

FRESH: Final = 0.5  # minutes after the tick; an answer holds for three
LAST: Final = 3.0
LATE: Final = 3.1
STALE: Final = "no, stale since 2026-11-20T09:56:00Z"
REGIME: Final = "/api/market-regime.php"
STATISTICS: Final = "/api/statistics.php"
LESSONS: Final = "/api/teacher-lessons.php"
BRAIN: Final = "/api/main-brain.php"

# Name -> the state, and (path of a body, members down to the one that is replaced, its value).
CHANGED: Final[dict[str, tuple[str, tuple[tuple[str, tuple[Any, ...], Any], ...]]]] = {
    "a label that may not hold": ("full", ((REGIME, ("regime", "confidence"), 46.0),)),
    "between regimes": (
        "full",
        ((REGIME, ("regime", "label"), "transition"), (REGIME, ("regime", "confidence"), None)),
    ),
    "few calls": ("full", ((STATISTICS, ("main_brain", "record", "n"), 29),)),
    "clear skill": ("full", ((STATISTICS, ("main_brain", "record", "hit_rate_low_percent"), 36.3),)),
    "no call made": (
        "full",
        ((LESSONS, ("latest_lessons", 0, "brain_called"), 0), (LESSONS, ("latest_lessons", 0, "brain_correct"), 0)),
    ),
    "backtested lesson": (
        "full",
        ((LESSONS, ("latest_lessons", 0, "brain_correct"), 1), (LESSONS, ("latest_lessons", 0, "warm_up"), True)),
    ),
    "livelier": ("full", ((BRAIN, ("coins", "BTC", "move", "chance"), 0.75),)),
    "calmer": ("full", ((BRAIN, ("coins", "BTC", "move", "chance"), 0.5),)),
    "no move yet": ("full", ((BRAIN, ("public_performance", "how_far", "n"), 3),)),
}


class Row(NamedTuple):
    """One question and its answer."""

    state: str
    minutes: float
    question: str
    about: str
    answer: Any


def _row(state: str, question: str, answer: Any, about: str = "", minutes: float = FRESH) -> Row:
    return Row(state, minutes, question, about, answer)


ROWS: Final = (
    # Stale: three minutes and no longer, and then no number at all.
    _row("full", "may it be used now", "yes"),
    _row("full", "may it be used now", "yes", minutes=LAST),
    _row("full", "may it be used now", STALE, minutes=LATE),
    _row("full", "what is the price of", STALE, "BTC", LATE),
    _row("full", "what is forecast for", STALE, "BTC", LATE),
    _row("full", "how volatile is the market", STALE, minutes=LATE),
    _row("simulated", "may it be used now", STALE, minutes=600.0),
    _row("everything_missing", "may it be used now", "yes"),
    # Whose prices: live, simulated, replayed.
    _row("full", "is it real and of today", "yes"),
    _row("simulated", "is it real and of today", "no: simulated"),
    _row("hourly", "is it real and of today", "no: of 2024-12-20T09:53:00Z"),
    _row("candles_only", "is it real and of today", "no: of 2026-11-20T09:53:00Z"),
    # Values, and what is not known: null is not zero.
    _row("full", "what is the price of", 97412.4, "BTC"),
    _row("missing_asset", "what is the price of", "unknown", "HBAR"),
    _row("missing_asset", "of which assets is the price unknown", ["HBAR"]),
    _row("full", "of which assets is the price unknown", []),
    _row("full", "how did it change over the day:", -2.97, "HBAR"),
    _row("missing_asset", "how did it change over the day:", "unknown", "HBAR"),
    _row("everything_missing", "what is the price of", "unknown", "BTC"),
    _row("full", "how many dollars of longs were liquidated in", "unknown", "XLM"),
    _row("candles_only", "how many dollars of longs were liquidated in", "unknown", "BTC"),
    _row("full", "how many dollars of longs were liquidated in", 1_234_570.0, "BTC"),
    _row("full", "which sources did not answer well", []),
    _row("ended", "which sources did not answer well", ["kraken", "coinbase", "okx", "okx"]),
    _row("full", "how complete is it", "available"),
    _row("hourly", "how complete is it", "degraded"),
    _row("ended", "how complete is it", "unavailable"),
    # The state of the market.
    _row("full", "how volatile is the market", "normal"),
    _row("hourly", "how volatile is the market", "unknown"),
    _row("full", "which side is it on", "rising"),
    _row("everything_missing", "which side is it on", "unknown"),
    _row("hourly", "which side is it on", "rising"),
    _row("full", "which regime is it", "risk_on"),
    _row("a label that may not hold", "which regime is it", "risk_on"),
    _row("between regimes", "which regime is it", "mixed"),
    _row("young", "which regime is it", "unknown"),
    # Forecasts: a call, no call, nothing.
    _row("full", "what is forecast for", "up", "BTC"),
    _row("full", "what is forecast for", "no call", "ALGO"),
    _row("hourly", "what is forecast for", "nothing is forecast", "BTC"),
    _row("full", "how sure is it of", 38.8, "BTC"),
    _row("full", "how sure is it of", "there is no call", "ALGO"),
    _row("hourly", "how sure is it of", "there is no call", "BTC"),
    _row("full", "where does the next hour end, nine in ten, for", (-1.23, 1.27), "BTC"),
    _row("hourly", "where does the next hour end, nine in ten, for", "unknown", "BTC"),
    _row("full", "will it move:", "as often as usual", "BTC"),
    _row("livelier", "will it move:", "more often than usual", "BTC"),
    _row("calmer", "will it move:", "less often than usual", "BTC"),
    _row("young", "will it move:", "unknown", "BTC"),
    # The Arena: what is sealed, what is known, who voted.
    _row("full", "what does the brain forecast for the round that takes votes", "sealed: abababab"),
    _row("empty_memory", "what does the brain forecast for the round that takes votes", "no round takes votes"),
    _row("full", "what did it forecast for the round that runs", "up"),
    _row("empty_memory", "how did people vote", "no one voted"),
    # The record: calls only, from 30 on, live and backtest apart.
    _row("full", "how often were its calls right", "37.7% of 321"),
    _row("few calls", "how often were its calls right", "too few: 29"),
    _row("full", "is skill in direction shown", "not shown"),
    _row("clear skill", "is skill in direction shown", "shown"),
    _row("full", "how often did the 90% range of an hour hold", (89.8, 87.6, 92.0)),
    _row("no move yet", "how often did the 90% range of an hour hold", "not known"),
    _row("no call made", "was the brain right in the newest lesson", "the brain made no call"),
    _row("backtested lesson", "was the brain right in the newest lesson", "the brain was right, in a backtest"),
)
