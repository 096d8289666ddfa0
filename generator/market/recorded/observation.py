"""One moment of a recording: each asset, and the health of each kind and of every file that failed."""

from collections import Counter
from typing import Final

import numpy as np

from generator.catalog.durations import DAY_MS, MINUTE_MS
from generator.catalog.formats import iso
from generator.catalog.words import SourceStatus
from generator.market.bars import BarFrame, FloatArray
from generator.market.observation import AssetObservation, FundingRate
from generator.market.recorded.candles import in_words
from generator.market.recorded.layouts import RecordedKind
from generator.market.recorded.recording import STALE_INTERVALS, Recording
from generator.values.market import OpenInterest, SourceRow

_TOLERANCE_MS: Final = MINUTE_MS  # venues stamp rows some milliseconds late
_ALWAYS_MISSING: Final = ("no order book in a recording", "no liquidations in a recording")
_WORDS: Final = {RecordedKind.FUNDING: "funding", RecordedKind.OPEN_INTEREST: "open interest"}


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

    last = known[-1]
    price = float(close[last])
    opened_ms = int(visible.t[last])
    as_of = opened_ms + recording.frame.interval_ms

    venues: tuple[str, ...] = ()
    if ended:
        limits.append("the recording has ended")
    elif market_ms - as_of > STALE_INTERVALS * recording.frame.interval_ms:
        limits.append(f"last price of {asset} is from {iso(as_of)}")
    else:
        venues = (recording.origins[RecordedKind.CANDLES].venue,)

    return AssetObservation(
        asset=asset,
        price=price,
        price_as_of_ms=as_of,
        venues=venues,
        change_24h_percent=_change(visible, close, opened_ms, price, limits),
        funding=funding,
        open_interest=interest,
        limitations=tuple(limits),
    )


def _no_price(recording: Recording, asset: str) -> str:
    if asset in recording.origins[RecordedKind.CANDLES].problems:
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
    recording: Recording, kind: RecordedKind, asset: str, market_ms: int, limits: list[str]
) -> tuple[int, list[float]] | None:
    """Return time and values of the newest row that is out and fresh, or None with the reason in `limits`."""
    word = _WORDS[kind]
    if kind not in recording.series:
        limits.append(f"no {word} in this recording")
        return None

    series = recording.series[kind].get(asset)
    if series is None:
        if asset in recording.origins[kind].problems:
            limits.append(f"{word} of {asset} could not be read")
        else:
            limits.append(f"no {word} of {asset} here")
        return None

    known = series.at(market_ms)
    if known is None:
        limits.append(f"{word} of {asset} begins later in this recording")
    elif series.is_stale(known[0], market_ms):
        limits.append(f"last {word} of {asset} is from {iso(known[0])}")
        return None
    return known


def _funding(recording: Recording, asset: str, market_ms: int, limits: list[str]) -> FundingRate | None:
    known = _row(recording, RecordedKind.FUNDING, asset, market_ms, limits)
    if known is None:
        return None
    venue = recording.origins[RecordedKind.FUNDING].venue
    return FundingRate(known[1][0], (venue,), known[0], {venue: known[1][0]})


def _open_interest(recording: Recording, asset: str, market_ms: int, limits: list[str]) -> OpenInterest | None:
    known = _row(recording, RecordedKind.OPEN_INTEREST, asset, market_ms, limits)
    if known is None:
        return None
    as_of_ms, (contracts, usd) = known

    contracts_change = None
    usd_change = None
    day_ago_ms = as_of_ms - DAY_MS
    before = recording.series[RecordedKind.OPEN_INTEREST][asset].at(day_ago_ms + _TOLERANCE_MS)
    if before is None or before[0] < day_ago_ms - _TOLERANCE_MS:
        limits.append("no open interest 24 hours before")
    else:
        contracts_before, usd_before = before[1]
        contracts_change = 100.0 * (contracts / contracts_before - 1.0)
        usd_change = 100.0 * (usd / usd_before - 1.0)

    venue = recording.origins[RecordedKind.OPEN_INTEREST].venue
    return OpenInterest.of(contracts, contracts_change, usd, usd_change, (venue,), as_of_ms=as_of_ms)


def left_out_in_words(left_out: Counter[str]) -> str:
    """Say how many rows were left out, and why."""
    count = left_out.total()
    return f"{count:,} {'row' if count == 1 else 'rows'} left out: {in_words(left_out)}"


def recording_health(recording: Recording, visible: BarFrame, market_ms: int, *, ended: bool) -> tuple[SourceRow, ...]:
    """Return the health of candles, funding, open interest and of every file that could not be read."""
    rows = []
    for kind, origin in recording.origins.items():
        newest = _newest(recording, visible, kind, market_ms)
        if newest is None:
            reason = "no bar has closed yet" if kind is RecordedKind.CANDLES else "no row is out yet"
            rows.append(SourceRow.at(market_ms, origin.venue, kind.value, SourceStatus.FAILED, None, reason=reason))
            continue

        as_of_ms, old = newest
        reasons = []
        if ended:
            reasons.append("the recording has ended")
        elif old:
            reasons.append("older than two intervals")
        if origin.left_out:
            reasons.append(left_out_in_words(origin.left_out))
        status = SourceStatus.STALE if old or ended else SourceStatus.OK
        why = "; ".join(reasons) or None
        rows.append(SourceRow.at(market_ms, origin.venue, kind.value, status, as_of_ms, reason=why))

    failed = [
        SourceRow.at(
            market_ms,
            f"{origin.venue}-{asset.lower()}",
            kind.value,
            SourceStatus.FAILED,
            None,
            reason=f"{asset}: {reason}",
        )
        for kind, origin in recording.origins.items()
        for asset, reason in origin.problems.items()
    ]
    return (*rows, *failed)


def _newest(recording: Recording, visible: BarFrame, kind: RecordedKind, market_ms: int) -> tuple[int, bool] | None:
    """Return the time of the newest row of a kind that is out, and whether it is older than two intervals."""
    if kind is not RecordedKind.CANDLES:
        known = []
        for series in recording.series[kind].values():
            row = series.at(market_ms)
            if row is not None:
                known.append((row[0], series.is_stale(row[0], market_ms)))
        return max(known, key=lambda row: row[0], default=None)

    if not len(visible):
        return None
    as_of_ms = int(visible.t[-1]) + visible.interval_ms
    return as_of_ms, market_ms - as_of_ms > STALE_INTERVALS * visible.interval_ms
