"""The kept month, hour by hour back from now: what sets an hour apart, and where now ranks in it.

All but the expected volatility is worked out from the candles, so that anyone can recompute it.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from generator.brain.closes import mean_of_assets
from generator.brain.events import EventRecord
from generator.brain.like_days import RecordCounts
from generator.brain.part import Times
from generator.brain.side import UNKNOWN
from generator.brain.spells import UNLABELLED, UNRATED, Spell, Spells, spells_of
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.market.bars import BAR_MS, BarFrame, FloatArray

HOURS: Final = 720
DAY: Final = 24
MEASURES: Final = ("stress", "dispersion", "correlation", "funding", "volume", "depth")
FEWEST_RANKED: Final = 7 * DAY  # hours with a value, before now is ranked among them
_CARRIED_MS: Final = 3 * BAR_MS  # for which a price stands for those that are missing after it
_SHARP: Final = 0.9  # of the month's hours have a smaller move than a sharp one


class MonthRank(NamedTuple):
    """Where now ranks among the kept hours."""

    # Fractions, from which texts round; `compose.spells.Rank` has each in the unit of its measure.
    now: float | None
    rank: float | None  # share of the hours with a smaller value, ties half, 0..1; None of too few
    n: int  # hours with a value, now not counted
    usual: float | None  # their median


class HourMove(NamedTuple):
    """The hour of the last day in which the market's mean price moved most."""

    end_ms: int
    move: float  # as a fraction
    share: float | None  # of the day's mean move; None where that is smaller than the hour's
    place_in_day: int  # by size among the hours that end every full hour back from it, 1: the largest
    place_in_week: int
    place_in_month: int
    hours: int  # of the month that are known


@dataclass(frozen=True, slots=True)
class MarketSpells:
    """The spells of each axis and of the label, the present one last where its beginning was seen."""

    side: list[Spell]
    step: list[Spell]
    label: list[Spell]


@dataclass(frozen=True, slots=True)
class Month:
    """What the kept month says of now; times are closes of bars."""

    now_ms: int
    days: float  # from the first bar to now
    spells: MarketSpells
    ranks: dict[str, MonthRank]  # by measure
    largest_hour: HourMove | None
    sharp: FloatArray  # times at which a sharp hour ended, of each full hour back from now
    day_rank: float | None  # of the last day's mean move by size among those up to each hour before, 0..1
    closes: FloatArray  # closes at each hour, oldest first, NaN where unknown, (HOURS, assets)
    hours_ms: Times  # their times, (HOURS,)
    counts: RecordCounts | None = None  # of the whole record, which may be longer
    events: EventRecord | None = None  # likewise

    @property
    def travelled(self) -> float | None:
        """What the market moved hour by hour over the last day, without signs, as a fraction; None where unknown."""
        moves = mean_of_assets(self.closes[-DAY:] / self.closes[-DAY - 1 : -1] - 1.0)
        return float(np.abs(moves).sum()) if np.isfinite(moves).all() else None

    @property
    def average_swing(self) -> float | None:
        """How much the mean of the assets swung over the last day, hour by hour, as a share of one asset's swing.

        None where an asset that has a day has not every hour of it: the mean would be of others than are named with it.
        """
        closes = self.closes[-DAY - 1 :]
        moves = np.diff(np.log(closes), axis=0)
        has_day = np.isfinite(closes[[0, -1]]).all(axis=0)
        whole = moves[:, has_day]

        alone = float(whole.std(axis=0).mean()) if whole.shape[1] > 1 else 0.0
        return float(whole.mean(axis=1).std()) / alone if alone > 0.0 else None

    def is_sharp(self, at_ms: int) -> bool | None:
        """Say whether the market moved sharply in the hour up to some time or in the next; None before the month."""
        if at_ms < self.hours_ms[0] + HOUR_MS:
            return None
        return bool(np.any((self.sharp >= at_ms) & (self.sharp < at_ms + HOUR_MS)))


def month_of(frame: BarFrame, kept: Spells, stress: float | None, counts: RecordCounts | None = None) -> Month | None:
    """Return what the kept month says of the last bar; None without 5-minute bars.

    Args:
        frame: the bars of the month.
        kept: the changes of state, after the last of them.
        stress: log of the market's expected volatility now.
        counts: over the whole record.
    """
    if frame.interval_ms != BAR_MS or not len(frame):
        return None
    now_ms = int(frame.t[-1]) + BAR_MS
    hours_ms = now_ms - HOUR_MS * np.arange(HOURS - 1, -1, -1)
    closes = _at(frame, "close", hours_ms)
    moves = _mean_moves(closes, 1)
    mean_day = _mean_moves(closes, DAY)
    sizes = np.abs(moves[np.isfinite(moves)])
    sharp = np.abs(moves) >= np.quantile(sizes, _SHARP) if len(sizes) else np.zeros(HOURS, dtype=bool)

    return Month(
        now_ms=now_ms,
        days=(now_ms - int(frame.t[0])) / DAY_MS,
        spells=MarketSpells(
            spells_of(kept.side, now_ms, UNKNOWN),
            spells_of(kept.step, now_ms, UNRATED),
            spells_of(kept.label, now_ms, UNLABELLED),
        ),
        ranks=_ranks(frame, closes, hours_ms, kept, stress),
        largest_hour=_largest_hour(moves, mean_day, hours_ms),
        sharp=hours_ms[sharp],
        day_rank=_ranked(np.abs(mean_day[:-1]), float(np.abs(mean_day[-1]))).rank,
        closes=closes,
        hours_ms=hours_ms,
        counts=counts,
    )


def _at(frame: BarFrame, field: str, times_ms: Times) -> FloatArray:
    """Return the last known value of a field at each time, NaN where it is older than a quarter hour, (n, assets)."""
    closed = frame.t + BAR_MS
    out = np.full((len(times_ms), len(frame.assets)), np.nan)
    for ago in range(4):
        wanted = times_ms - ago * BAR_MS
        place = np.minimum(np.searchsorted(closed, wanted), len(closed) - 1)
        values = np.where((closed[place] == wanted)[:, None], frame.fields[field][place], np.nan)
        out = np.where(np.isfinite(out), out, values)
    return out


def _mean_moves(closes: FloatArray, hours: int) -> FloatArray:
    """Return the assets' mean move up to each hour over so many, as a fraction, NaN where unknown, (n,)."""
    out = np.full(len(closes), np.nan)
    out[hours:] = mean_of_assets(closes[hours:] / closes[:-hours] - 1.0)
    return out


def _ranks(
    frame: BarFrame, closes: FloatArray, hours_ms: Times, kept: Spells, stress: float | None
) -> dict[str, MonthRank]:
    """Rank each measure of now among the hours before."""
    day_moves = np.full_like(closes, np.nan)

    day_moves[DAY:] = closes[DAY:] / closes[:-DAY] - 1.0
    series = {
        "dispersion": _spread(day_moves),
        "correlation": _correlations(closes),
        "funding": _mean(_at(frame, "funding", hours_ms)),
        "volume": _traded(frame, hours_ms),
        "depth": _mean(_at(frame, "depth_usd", hours_ms)) * closes.shape[1],
    }
    ranks = {name: _ranked(values[:-1], float(values[-1])) for name, values in series.items()}
    ranks["stress"] = _ranked(kept.stress[:, 0], np.nan if stress is None else stress)
    return {name: ranks[name] for name in MEASURES}


def _ranked(before: FloatArray, now: float) -> MonthRank:
    known = before[np.isfinite(before)]
    if not np.isfinite(now) or len(known) < FEWEST_RANKED:
        return MonthRank(float(now) if np.isfinite(now) else None, None, len(known), None)
    rank = 0.5 * float((known < now).mean() + (known <= now).mean())
    return MonthRank(now, rank, len(known), float(np.median(known)))


def _mean(values: FloatArray) -> FloatArray:
    """Return the mean over the assets where all that are ever known are known, else NaN, (n,)."""
    whole = values[:, np.isfinite(values).any(axis=0)]
    return whole.mean(axis=1) if whole.shape[1] else np.full(len(values), np.nan)


def _spread(moves: FloatArray) -> FloatArray:
    """Return the standard deviation over the assets of each row, NaN where fewer than half are known."""
    middle = mean_of_assets(moves)
    apart = (moves - middle[:, None]) ** 2
    out: FloatArray = np.sqrt(mean_of_assets(apart))
    return out


def _correlations(closes: FloatArray) -> FloatArray:
    """Return at each hour the mean correlation over the pairs of assets of the hourly moves of the day before, (n,)."""
    moves = np.diff(np.log(closes), axis=0)
    out = np.full(len(closes), np.nan)
    if len(moves) < DAY:
        return out
    days = np.lib.stride_tricks.sliding_window_view(moves, DAY, axis=0)  # (n, assets, 24)
    apart = days - days.mean(axis=2, keepdims=True)
    size = np.sqrt((apart**2).sum(axis=2, keepdims=True))
    moving = size > 0.0  # false too where one of the day's moves is not known
    unit = np.where(moving, apart / np.where(moving, size, 1.0), 0.0)
    many = moving[:, :, 0].sum(axis=1)

    # The squared length of the sum of unit vectors is their number plus twice the correlations of all pairs.
    length = (unit.sum(axis=1) ** 2).sum(axis=1)
    pairs = many * (many - 1.0)
    out[DAY:] = np.where(many >= 3, (length - many) / np.where(pairs > 0.0, pairs, 1.0), np.nan)
    return out


def _traded(frame: BarFrame, hours_ms: Times) -> FloatArray:
    """Return what was traded in the day before each hour over all assets, US dollars, NaN in the first day."""
    traded = np.nan_to_num(frame.fields["volume"] * frame.fields["close"]).sum(axis=1)
    summed = np.concatenate(([0.0], np.add.accumulate(traded)))
    closed = frame.t + BAR_MS
    end = np.searchsorted(closed, hours_ms, side="right")
    start = np.searchsorted(closed, hours_ms - DAY_MS, side="right")
    out: FloatArray = np.where(hours_ms - DAY_MS >= frame.t[0], summed[end] - summed[start], np.nan)
    return out


def _largest_hour(moves: FloatArray, mean_day: FloatArray, hours_ms: Times) -> HourMove | None:
    """Return the largest hour of the last day; None where one of its moves is not known."""
    day = moves[-DAY:]
    total = float(mean_day[-1])
    if not np.isfinite(day).all() or not np.isfinite(total):
        return None
    place = len(moves) - DAY + int(np.abs(day).argmax())
    move = float(moves[place])
    sizes = np.abs(moves)

    def place_among(hours: int) -> int:
        span = sizes[-hours:]
        return 1 + int((span[np.isfinite(span)] > abs(move)).sum())

    return HourMove(
        end_ms=int(hours_ms[place]),
        move=move,
        share=move / total if total * move > 0.0 and abs(total) >= abs(move) else None,
        place_in_day=place_among(DAY),
        place_in_week=place_among(7 * DAY),
        place_in_month=place_among(HOURS),
        hours=int(np.isfinite(sizes).sum()),
    )
