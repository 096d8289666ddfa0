"""One moment of a recording: each asset, and the health of each kind and of every file that failed."""

from datetime import UTC, datetime
from typing import Final

import numpy as np

from generator.catalog.words import SourceStatus
from generator.market.bars import BarFrame, FloatArray
from generator.market.observation import AssetObservation, Funding, OpenInterest, SourceHealth
from generator.market.recorded.files import Kind
from generator.market.recorded.recording import STALE_INTERVALS, Recording, SeriesTable

DAY_MS: Final = 86_400_000
_TOLERANCE_MS: Final = 60_000  # venues stamp rows some milliseconds late
_ALWAYS_MISSING: Final = ("no order book in a recording", "no liquidations in a recording")
_WORDS: Final = {Kind.FUNDING: "funding", Kind.OPEN_INTEREST: "open interest"}


def observe_asset(
    recording: Recording, visible: BarFrame, asset: str, market_ms: int, *, ended: bool
) -> AssetObservation:
    """Read one asset from the bars that have closed and the rows that are out by `market_ms`.

    A price older than two bars, or of a recording that has ended, keeps its time but has no venue behind it, so that
    nothing settles on it.
    """
    limits = list(_ALWAYS_MISSING)
    funding = _funding(recording, asset, market_ms, limits)
    interest = _open_interest(recording, asset, market_ms, limits)
    close = visible.fields["close"][:, recording.frame.assets.index(asset)]
    known = np.flatnonzero(np.isfinite(close))
    if not len(known):
        limits.append(_no_price(recording, asset))
        return AssetObservation(asset, funding=funding, open_interest=interest, limitations=tuple(limits))
    price = float(close[known[-1]])
    as_of = int(visible.t[known[-1]]) + recording.interval_ms
    fresh = not ended and market_ms - as_of <= STALE_INTERVALS * recording.interval_ms
    if not fresh:
        limits.append("the recording has ended" if ended else f"last price of {asset} is from {_utc(as_of)}")
    return AssetObservation(
        asset=asset,
        price=price,
        price_as_of_ms=as_of,
        venues=(recording.candles.venue,) if fresh else (),
        change_24h_percent=_change(visible, close, int(visible.t[known[-1]]), price, limits),
        funding=funding,
        open_interest=interest,
        limitations=tuple(limits),
    )


def _utc(t_ms: int) -> str:
    return datetime.fromtimestamp(t_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _no_price(recording: Recording, asset: str) -> str:
    if asset in recording.candles.problems:
        return f"candles of {asset} could not be read"
    if np.isfinite(recording.frame.fields["close"][:, recording.frame.assets.index(asset)]).any():
        return f"no bar of {asset} has closed yet in this recording"
    return f"no candles of {asset} in this recording"


def _change(visible: BarFrame, close: FloatArray, t_ms: int, price: float, limits: list[str]) -> float | None:
    row = int(np.searchsorted(visible.t, t_ms - DAY_MS))
    if visible.t[row] == t_ms - DAY_MS and np.isfinite(close[row]):
        return 100.0 * (price / float(close[row]) - 1.0)
    limits.append("no bar 24 hours before the price")
    return None


def _row(
    recording: Recording, kind: Kind, asset: str, market_ms: int, limits: list[str]
) -> tuple[int, list[float]] | None:
    """Return time and values of the newest row that is out and fresh, or None with the reason in `limits`."""
    table, word = recording.series.get(kind), _WORDS[kind]
    if table is None:
        limits.append(f"no {word} in this recording")
        return None
    series = table.series.get(asset)
    if series is None:
        limits.append(
            f"{word} of {asset} could not be read" if asset in table.problems else f"no {word} of {asset} here"
        )
        return None
    known = series.at(market_ms)
    if known is None:
        limits.append(f"{word} of {asset} begins later in this recording")
    elif series.is_stale(known[0], market_ms):
        limits.append(f"last {word} of {asset} is from {_utc(known[0])}")
        return None
    return known


def _funding(recording: Recording, asset: str, market_ms: int, limits: list[str]) -> Funding | None:
    known = _row(recording, Kind.FUNDING, asset, market_ms, limits)
    if known is None:
        return None
    return Funding(known[1][0], (recording.series[Kind.FUNDING].venue,), known[0])


def _open_interest(recording: Recording, asset: str, market_ms: int, limits: list[str]) -> OpenInterest | None:
    known = _row(recording, Kind.OPEN_INTEREST, asset, market_ms, limits)
    if known is None:
        return None
    table = recording.series[Kind.OPEN_INTEREST]
    before = table.series[asset].near(known[0] - DAY_MS, _TOLERANCE_MS)
    if before is None:
        limits.append("no open interest 24 hours before")
    (contracts, usd), then = known[1], before or (None, None)
    changes = [100.0 * (now / past - 1.0) if past else None for now, past in zip(known[1], then, strict=True)]
    return OpenInterest(contracts, changes[0], usd, changes[1], (table.venue,), known[0])


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
    return _health(venue, "candles", as_of, dropped, old=old, ended=ended)


def _series(table: SeriesTable, market_ms: int, *, ended: bool) -> SourceHealth:
    kind = table.kind.value
    known = [(row[0], one) for one in table.series.values() if (row := one.at(market_ms)) is not None]
    if not known:
        return SourceHealth(table.venue, kind, SourceStatus.FAILED, None, "no row is out yet")
    as_of, newest = max(known, key=lambda pair: pair[0])
    return _health(table.venue, kind, as_of, table.dropped, old=newest.is_stale(as_of, market_ms), ended=ended)


def _health(venue: str, kind: str, as_of_ms: int, dropped: int, *, old: bool, ended: bool) -> SourceHealth:
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
