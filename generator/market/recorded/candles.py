"""Candles of one asset out of its files: their length, which rows can be true, short bars joined."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.errors import SourceError
from generator.market.bars import BAR_MS, FloatArray, IntArray
from generator.market.recorded.files import Rows

BoolArray = npt.NDArray[np.bool_]

INTERVALS_MS: Final = (BAR_MS, HOUR_MS)
_EXPECTED: Final = "expected 1, 5, 15, 30 or 60 minutes"
_HALF_A_CENT: Final = 0.005
_BASIS_POINT: Final = 1e-4
_MOST_ROUNDING: Final = 0.01  # of the price, where half a cent is more

# Why a row is left out
NO_TRADE: Final = "no price in the bar"
NOT_POSITIVE: Final = "a price that is not above zero"
NOT_FINITE: Final = "a price or volume that is unknown or endless"
NOT_SPANNED: Final = "an open or close outside its low and high"
NEGATIVE_VOLUME: Final = "a volume below zero"
OFF_THE_GRID: Final = "a time between two bars"
REPEATED: Final = "the same time as a later row"
ALONE: Final = "a day or more from every other row"
NOT_WHOLE: Final = "part of a longer bar that the file does not hold whole"


@dataclass(frozen=True, slots=True)
class Candles:
    """The candles of one asset, each row of the files either used or left out with a reason."""

    t: IntArray  # open times in ms, strictly ascending
    values: FloatArray  # shape (n, len(fields))
    fields: tuple[str, ...]
    interval_ms: int
    left_out: tuple[Counter[str], ...]  # of each file, in their order
    mended: int = 0  # rounded highs and lows that were moved onto the open or close


def candles_of(files: Sequence[Rows]) -> Candles:
    """Put the files of one asset together, in order of time; of rows with one time the last one counts.

    Bars of 1 minute become bars of 5, those of 15 and 30 minutes bars of 60.

    Raises:
        SourceError: the files have bars of several lengths, of one that is not read, or times that are rounded.
    """
    interval_ms = _interval(files)
    fields = files[0].fields if len({rows.fields for rows in files}) == 1 else files[0].fields[:5]
    t = np.concatenate([_opening(rows, interval_ms) for rows in files])
    values = np.concatenate([rows.values[:, : len(fields)] for rows in files])
    origin = np.repeat(np.arange(len(files)), [len(rows.t) for rows in files])

    reasons, mended = _judge(t, values, interval_ms, strict=len(fields) == 5)
    order = np.lexsort((np.arange(len(t)), t))
    order = order[reasons[order] == ""]
    again = np.append(np.diff(t[order]) == 0, False) if len(order) else np.zeros(0, dtype=bool)
    reasons[order[again]] = REPEATED
    order = order[~again]
    alone = _alone(t[order])
    reasons[order[alone]] = ALONE
    order = order[~alone]

    target_ms = next(length for length in INTERVALS_MS if length % interval_ms == 0)
    kept_t = t[order]
    kept = values[order]
    if target_ms != interval_ms:
        whole = _whole(kept_t, interval_ms, target_ms)
        reasons[order[~whole]] = NOT_WHOLE
        kept_t, kept = _joined(kept_t[whole], kept[whole], target_ms)

    counts = [Counter(reasons[(origin == number) & (reasons != "")].tolist()) for number in range(len(files))]
    left_out = tuple(rows.left_out + count for rows, count in zip(files, counts, strict=True))
    return Candles(kept_t, kept, fields, target_ms, left_out, mended)


def _interval(files: Sequence[Rows]) -> int:
    """Return the length of the bars: the commonest distance of two times, the same in every file."""
    by_length: dict[int, Rows] = {}
    for rows in files:
        distances = np.diff(np.unique(rows.t))
        if len(distances):
            lengths, counts = np.unique(distances, return_counts=True)
            by_length.setdefault(int(lengths[np.argmax(counts)]), rows)

    for length, rows in by_length.items():
        if not any(target % length == 0 for target in INTERVALS_MS):
            raise SourceError(_unread_length(length, rows))
    if len(by_length) > 1:
        (one, first), (two, second) = list(by_length.items())[:2]
        raise SourceError(
            f"{first.path} has bars of {_in_words(one)}, {second.path} of {_in_words(two)}; keep files of one length"
        )
    if not by_length:
        raise SourceError(_too_few(files))
    return next(iter(by_length))


def _unread_length(length_ms: int, rows: Rows) -> str:
    """Say why bars of a length are not read: many rows with one time are times that were rounded."""
    times = len(np.unique(rows.t))
    if times < len(rows.t) / 2:
        return (
            f"{rows.path}: {len(rows.t)} rows have only {times} times, as after a spreadsheet that rounded them "
            "(1.66458E+12); export the file again"
        )
    return f"{rows.path} ({rows.layout.publisher}): bars of {_in_words(length_ms)}; {_EXPECTED}"


def _too_few(files: Sequence[Rows]) -> str:
    rows = sum(len(table.t) for table in files)
    reasons = sum((table.left_out for table in files), Counter[str]())
    left_out = f" ({in_words(reasons)})" if reasons else ""
    return f"{files[0].path} holds too few candles to tell their length: {rows}{left_out}; {_EXPECTED}"


def _opening(rows: Rows, interval_ms: int) -> IntArray:
    """Return when each bar opens, where a file gives the last millisecond or second of a bar, or its close."""
    if rows.layout.closes and (rows.t % interval_ms == 0).mean() > 0.5:
        return rows.t - interval_ms
    phases, counts = np.unique(rows.t % interval_ms, return_counts=True)
    phase = int(phases[np.argmax(counts)]) if len(phases) else 0
    return rows.t - phase if interval_ms - phase in {1, 1000} else rows.t


def _judge(t: IntArray, values: FloatArray, interval_ms: int, *, strict: bool) -> tuple[npt.NDArray[np.object_], int]:
    """Say of each row why it cannot be true, "" where it can; mend in place highs and lows that are rounded.

    With `strict` a row without any price is left out; else its other fields may be known.
    """
    opened, high, low, close, volume = values[:, :5].T
    top = np.fmax(opened, close)
    bottom = np.fmin(opened, close)
    slack = np.minimum(np.maximum(_HALF_A_CENT, _BASIS_POINT * top), _MOST_ROUNDING * top)
    rounded = ((high < top) & (high >= top - slack)) | ((low > bottom) & (low <= bottom + slack) & (low > 0))
    high[rounded] = np.maximum(high, top)[rounded]
    low[rounded] = np.minimum(low, bottom)[rounded]

    prices = values[:, :4]
    unknown = np.isnan(prices)
    empty = unknown.all(axis=1)
    rules = (
        (OFF_THE_GRID, t % interval_ms != 0),
        (NO_TRADE, empty if strict else np.isnan(values).all(axis=1)),
        (NOT_FINITE, (unknown.any(axis=1) & ~empty) | np.isinf(values).any(axis=1)),
        (NOT_POSITIVE, (prices <= 0).any(axis=1)),
        (NOT_SPANNED, (high < top) | (low > bottom)),
        (NEGATIVE_VOLUME, volume < 0),
    )
    reasons = np.full(len(t), "", dtype=object)
    for reason, broken in reversed(rules):
        reasons[broken] = reason
    return reasons, int((rounded & (reasons == "")).sum())


def _alone(t: IntArray) -> BoolArray:
    """Return which times lie a day or more from their neighbours on both sides: one wild time, not a market."""
    if len(t) < 3:
        return np.zeros(len(t), dtype=bool)
    far = np.diff(t) >= DAY_MS
    alone: BoolArray = np.append(True, far) & np.append(far, True)
    return alone


def _whole(t: IntArray, interval_ms: int, target_ms: int) -> BoolArray:
    """Return which rows belong to a longer bar that the file holds from its beginning and to its end."""
    if not len(t):
        return np.zeros(0, dtype=bool)
    group = t // target_ms
    whole = np.ones(len(t), dtype=bool)
    if t[0] % target_ms:
        whole &= group != group[0]
    if (t[-1] + interval_ms) % target_ms:
        whole &= group != group[-1]
    return whole


def _joined(t: IntArray, values: FloatArray, target_ms: int) -> tuple[IntArray, FloatArray]:
    """Join ascending bars to longer ones from those of them that there are."""
    if not len(t):
        return t, values
    opens, first = np.unique(t // target_ms, return_index=True)
    last = np.append(first[1:], len(t)) - 1
    opened, high, low, close, volume = values[:, :5].T
    has_volume = np.isfinite(volume)
    total = np.add.reduceat(np.where(has_volume, volume, 0.0), first)
    total[np.add.reduceat(has_volume.astype(int), first) == 0] = np.nan
    columns = (opened[first], np.maximum.reduceat(high, first), np.minimum.reduceat(low, first), close[last], total)
    return opens * target_ms, np.column_stack(columns)


def in_words(left_out: Counter[str]) -> str:
    """Return reasons with their counts, the commonest first.

    >>> in_words(Counter({"the header again": 2, "an unfinished bar": 1}))
    'the header again (2), an unfinished bar (1)'
    """
    return ", ".join(f"{reason} ({count:,})" for reason, count in left_out.most_common() if count)


def _in_words(length_ms: int) -> str:
    if length_ms % DAY_MS == 0:
        return "1 day" if length_ms == DAY_MS else f"{length_ms // DAY_MS} days"
    return f"{length_ms / MINUTE_MS:g} minutes"
