"""How each part of a recording stands at one moment: a row per kind, and one per file that failed."""

from __future__ import annotations

from generator.catalog.words import SourceStatus
from generator.market.recorded.recording import Recording
from generator.market.recorded.series import STALE_INTERVALS, SeriesTable
from generator.market.values import BarFrame, SourceHealth


def recording_health(
    recording: Recording, visible: BarFrame, market_ms: int, *, ended: bool
) -> tuple[SourceHealth, ...]:
    """Return the health of candles, funding, open interest and of every file that could not be read."""
    rows = [_candles(recording, visible, market_ms, ended=ended)]
    rows += [_series(table, market_ms, ended=ended) for table in recording.series.values()]
    rows += _failed(recording.candles.venue, "candles", recording.candles.problems)
    for table in recording.series.values():
        rows += _failed(table.venue, table.kind.value, table.problems)
    return tuple(rows)


def _candles(recording: Recording, visible: BarFrame, market_ms: int, *, ended: bool) -> SourceHealth:
    venue, dropped = recording.candles.venue, recording.candles.dropped
    if not len(visible):
        return SourceHealth(venue, "candles", SourceStatus.FAILED, None, "no bar has closed yet")
    as_of = int(visible.t[-1]) + recording.interval_ms
    old = market_ms - as_of > STALE_INTERVALS * recording.interval_ms
    return _told(venue, "candles", as_of, dropped, old=old, ended=ended)


def _series(table: SeriesTable, market_ms: int, *, ended: bool) -> SourceHealth:
    kind = table.kind.value
    known = [(row[0], one) for one in table.series.values() if (row := one.at(market_ms)) is not None]
    if not known:
        return SourceHealth(table.venue, kind, SourceStatus.FAILED, None, "no row is out yet")
    as_of, newest = max(known, key=lambda pair: pair[0])
    return _told(table.venue, kind, as_of, table.dropped, old=newest.is_stale(as_of, market_ms), ended=ended)


def _told(venue: str, kind: str, as_of_ms: int, dropped: int, *, old: bool, ended: bool) -> SourceHealth:
    reasons = []
    if ended:
        reasons.append("the recording has ended")
    elif old:
        reasons.append("older than two intervals")
    if dropped:
        reasons.append(f"{dropped} invalid rows left out")
    status = SourceStatus.STALE if old or ended else SourceStatus.OK
    return SourceHealth(venue, kind, status, as_of_ms, "; ".join(reasons) or None)


def _failed(venue: str, kind: str, problems: dict[str, str]) -> list[SourceHealth]:
    return [
        SourceHealth(f"{venue}-{asset.lower()}", kind, SourceStatus.FAILED, None, f"{asset}: {reason}")
        for asset, reason in problems.items()
    ]
