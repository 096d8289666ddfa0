"""Fit the outlook on recorded candles: levels and seasons by ridge regression, gains and laws from the moves."""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from generator.brain.bars import clean_fields
from generator.brain.outlook import (
    BINS,
    EDGES,
    HORIZON_BARS,
    INPUTS,
    OUTLOOK_FORMAT,
    SEASONS,
    calendar,
    with_month,
)
from generator.brain.smoothing import DAY_BARS
from generator.brain.volatility import Volatility, bar_variance
from generator.brain.week import QUARTER_MS, WEEK
from generator.brain.weights import digest_of
from generator.catalog.horizons import HORIZONS
from generator.lab.progress import tracked
from generator.market.bars import BAR_MS, BarFrame, FloatArray

SKIP_DAYS: Final = 8
_RIDGE: Final = 200.0
_LARGEST: Final = 8.0  # sigmas: a larger move counts as this in the gain


def fit_outlook(frame: BarFrame, name: str) -> dict[str, Any]:
    """Return the body of `outlook.json`; the same candles give the same body. The recipe has their `name`."""
    inputs, slow, month, slots, rows = _streamed(frame)
    season = calendar(slots)
    moves, variances = moves_after(frame, rows)

    reached = reached_after(frame, rows)

    parts: dict[str, list[Any]] = {key: [] for key in ("levels", *SEASONS, "gain", "law", "touch")}
    for horizon, (ahead, move, variance) in enumerate(zip(HORIZON_BARS, moves, variances, strict=True)):
        fits = rows + ahead < len(frame)
        whole = np.isfinite(move[fits])

        # The mean of log volatility, from the levels and the time of the week.
        target = 0.5 * (np.log(variance[fits]) - slow[fits])
        weights = _ridge(inputs[fits], season[fits], target, whole)
        levels = weights[:INPUTS]
        seasons = weights[INPUTS:]
        fitted = np.einsum("nia,i->na", inputs[fits], levels) + (season[fits] @ seasons)[:, None]
        typical = with_month(np.broadcast_to(fitted, (len(HORIZONS), *fitted.shape)), month[fits])[horizon]

        # A mean of logs makes too small a sigma: the gain mends that. The law is of what is left.
        sigma = np.exp(typical + 0.5 * slow[fits])
        sizes = np.abs(move[fits] / sigma / np.sqrt(ahead))[whole]
        spread = np.sqrt(np.mean(sizes**2))
        gain, law = gain_and_law(np.minimum(sizes, _LARGEST * spread))
        way = reached[:, horizon, fits] / (sigma * np.sqrt(ahead) * np.exp(gain))
        touch = [shares_of(sides[np.isfinite(sides)]) for sides in way]

        by_season = np.split(seasons, np.cumsum(list(SEASONS.values()))[:-1])
        for key, part in zip(parts, (levels, *by_season, gain, law, touch), strict=True):
            parts[key].append(np.array(part, dtype=np.float32).tolist())

    recipe = {
        "candles": name,
        "first_day": _day(frame.t[0]),
        "last_day": _day(frame.t[-1]),
        "assets": list(frame.assets),
        "moments": str(len(rows)),
        "bins": str(BINS),
    }
    return {"format": OUTLOOK_FORMAT, "horizons": list(HORIZONS), **parts, "recipe": recipe}


def gain_and_law(sizes: FloatArray) -> tuple[float, FloatArray]:
    """Return the log of the sigma of moves and the shares of their sizes over it in the bins of `EDGES`, (bins,).

    The sizes have a variance of one, so that chances read from the law agree with the sigma; that of the middles of its
    bins is some percent more, as fewer sizes lie in the upper half of a bin than in the lower.

    Args:
        sizes: of moves over their expected sigma before the gain, (n,).

    >>> gain, law = gain_and_law(2.0 * np.abs(np.random.default_rng(1).normal(size=100_000)))
    >>> round(gain, 2), round(float(law[EDGES[:-1] < 1.0].sum()), 2)  # of a normal curve: .68 within one sigma
    (0.69, 0.68)
    """
    gain = 0.5 * float(np.log(np.mean(sizes**2)))
    return gain, shares_of(sizes / np.exp(gain))


def shares_of(sizes: FloatArray) -> FloatArray:
    """Return the shares of sizes over their sigma in the bins of `EDGES`, (bins,).

    >>> shares_of(np.array([0.01, 0.01, 20.0, 0.07]))[[0, 1, -1]].tolist()
    [0.5, 0.25, 0.25]
    """
    scaled = np.minimum(sizes, EDGES[-1] * (1.0 - 1e-9))
    return np.asarray(np.histogram(scaled, bins=EDGES)[0] / scaled.size)


def _day(t_ms: np.int64) -> str:
    return str(np.datetime_as_string(np.datetime64(int(t_ms), "ms"), "D"))


def moves_after(frame: BarFrame, at: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return log moves and mean variances of a bar over the four horizons after some moments.

    Both are (4, n, assets), NaN where a bar is missing.
    """
    bars = clean_fields(frame.fields)
    close = bars.log_close
    variance = bar_variance(np.diff(close, axis=0, prepend=np.nan), bars.range_variance)
    nothing = np.zeros((1, close.shape[1]))
    total = np.concatenate((nothing, np.cumsum(np.nan_to_num(variance), axis=0)))
    holes = np.concatenate((nothing, np.cumsum(np.isnan(variance), axis=0)))

    moves = []
    means = []
    for ahead in HORIZON_BARS:
        end = np.minimum(at + ahead, len(close) - 1)
        over = at + ahead < len(close)
        whole = over[:, None] & (holes[end + 1] == holes[at])
        mean = np.maximum((total[end + 1] - total[at + 1]) / ahead, 1e-12)
        moves.append(np.where(whole, close[end] - close[at], np.nan))
        means.append(np.where(whole, mean, np.nan))
    return np.array(moves), np.array(means)


def reached_after(frame: BarFrame, at: npt.NDArray[np.int64]) -> FloatArray:
    """Return how far prices went on the way over the four horizons after some moments, in logs.

    Returns:
        To the farther side and to the nearer, at least 0, (2, 4, n, assets), NaN where a bar is missing.
    """
    bars = clean_fields(frame.fields)
    after = np.minimum(at + 1, len(frame.t) - 1)
    ways = []

    for ahead in HORIZON_BARS:
        fits = (at + ahead < len(frame))[:, None]
        highest = _rolling(bars.top, ahead)[after]
        lowest = -_rolling(-bars.bottom, ahead)[after]
        up = np.maximum(highest - bars.log_close[at], 0.0)
        down = np.maximum(bars.log_close[at] - lowest, 0.0)
        way = np.array((np.maximum(up, down), np.minimum(up, down)))
        ways.append(np.where(fits, way, np.nan))
    return np.array(ways).swapaxes(0, 1)


def _rolling(values: FloatArray, span: int) -> FloatArray:
    """Return the largest of the values from each row on, over so many rows; NaN where one is, and at the end.

    >>> _rolling(np.array([1.0, 3.0, 2.0, 0.0]), 3).tolist()
    [3.0, 3.0, nan, nan]
    """
    out = values.copy()
    covered = 1
    while covered < span:
        step = min(covered, span - covered)
        later = np.full_like(out, np.nan)
        later[:-step] = out[step:]
        out = np.maximum(out, later)
        covered += step
    return out


def _streamed(
    frame: BarFrame,
) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return inputs (n, 8, assets), log slow variances and month levels (n, assets), slots and rows, both (n,)."""
    bars = clean_fields(frame.fields)
    volatility = Volatility(bars.log_close.shape[1:])
    moved = np.diff(bars.log_close, axis=0, prepend=np.nan)
    volume = bars.extra["volume"]
    ends_quarter = (frame.t + BAR_MS) % QUARTER_MS == 0
    inputs: list[FloatArray] = []
    slow: list[FloatArray] = []
    month: list[FloatArray] = []
    for begin in tracked(range(0, len(frame), DAY_BARS), "days of candles"):
        day = slice(begin, begin + DAY_BARS)
        kept = ends_quarter[day]
        volatility.update(moved[day], bars.range_variance[day], volume[day], np.ones(len(kept)))
        levels = np.concatenate((volatility.levels(), volatility.volume_levels())).swapaxes(0, 1)
        inputs.append(levels[kept])
        slow.append(volatility.slow[0][kept])
        month.append(volatility.month_level()[kept])
        volatility.settle()

    at = np.flatnonzero(ends_quarter)
    first = int(np.searchsorted(at, SKIP_DAYS * DAY_BARS))
    at = at[first:]
    slots = (frame.t[at] + BAR_MS) // QUARTER_MS % WEEK
    return np.concatenate(inputs)[first:], np.concatenate(slow)[first:], np.concatenate(month)[first:], slots, at


def _ridge(inputs: FloatArray, season: FloatArray, target: FloatArray, known: npt.NDArray[np.bool_]) -> FloatArray:
    """Fit all assets together by ridge regression: the weights of levels, then of seasons, (8 + 127,).

    Args:
        inputs: (n, 8, assets).
        season: (n, 127).
        target: (n, assets).
        known: which targets count, (n, assets).
    """
    width = INPUTS + season.shape[1]
    square = _RIDGE * np.eye(width)
    product = np.zeros(width)
    for column in range(target.shape[1]):
        rows = known[:, column]
        regressors = np.concatenate((inputs[rows, :, column], season[rows]), axis=1)
        square += regressors.T @ regressors
        product += regressors.T @ target[rows, column]
    return np.asarray(np.linalg.solve(square, product), dtype=np.float64)


def save(body: dict[str, Any], out: Path) -> dict[str, Any]:
    """Write a body with its digest and return it."""
    body["digest"] = digest_of(body)
    text = json.dumps(body, separators=(",", ":")).replace('],"', '],\n"')  # a part a line, for a readable diff
    out.write_text(text + "\n", encoding="utf-8")
    return body
