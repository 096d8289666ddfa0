"""The last health of every venue and kind, also of those not asked in this tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from generator.catalog.words import SourceStatus
from generator.market.live.readings import Collector
from generator.market.values import SourceHealth

# A venue that stood in once, or was taken out, is no news any more after this; nor is what a clock set ahead dated.
FORGET_MS: Final = 600_000
KINDS: Final = ("spot", "book", "candles", "funding", "open_interest", "liquidations")


class HealthBook:
    """Remember how each venue last answered each kind of question."""

    def __init__(self, max_age_ms: Mapping[str, int]) -> None:
        """Start empty.

        Args:
            max_age_ms: kind -> age from which an answer is stale.
        """
        self._max_age_ms = dict(max_age_ms)
        self._rows: dict[tuple[str, str], SourceHealth] = {}
        self._asked_ms: dict[tuple[str, str], int] = {}

    def update(self, collector: Collector, now_ms: int) -> tuple[SourceHealth, ...]:
        """Take in a tick and return one row for every venue and public kind, in a fixed order."""
        answers = collector.health(now_ms)
        self._rows |= answers
        self._asked_ms |= dict.fromkeys(answers, now_ms)
        for key in [key for key, asked_ms in self._asked_ms.items() if not 0 <= now_ms - asked_ms <= FORGET_MS]:
            del self._rows[key], self._asked_ms[key]
        return tuple(self._aged(key, now_ms) for key in sorted(self._rows, key=_order) if key[1] in KINDS)

    def _aged(self, key: tuple[str, str], now_ms: int) -> SourceHealth:
        row = self._rows[key]
        age_ms = 0 if row.as_of_ms is None else now_ms - row.as_of_ms
        if row.status is SourceStatus.OK and age_ms > self._max_age_ms[row.kind]:
            return replace(row, status=SourceStatus.STALE, reason=f"{age_ms // 1000} s old")
        return row


def _order(key: tuple[str, str]) -> tuple[int, str]:
    venue, kind = key
    return (KINDS.index(kind) if kind in KINDS else len(KINDS), venue)
