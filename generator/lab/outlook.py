"""Fit the outlook on recorded candles: levels and seasons by ridge regression, gains and laws from the moves."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from generator.brain.bars import clean_fields
from generator.brain.outlook import BINS, EDGES, HORIZON_BARS, INPUTS, OUTLOOK_FORMAT, SEASONS, calendar
from generator.brain.smoothing import DAY_BARS
from generator.brain.volatility import Volatility, bar_variance
from generator.brain.week import QUARTER_MS, WEEK
from generator.catalog.horizons import HORIZONS
from generator.lab.progress import tracked
from generator.market.bars import BAR_MS, BarFrame, FloatArray

SKIP_DAYS: Final = 8
_RIDGE: Final = 200.0
_LARGEST: Final = 8.0  # sigmas: a larger move counts as this in the gain


def fit_outlook(frame: BarFrame, name: str) -> dict[str, Any]:
    """Return the body of `outlook.json`; the same candles give the same body. The recipe has their `name`."""
    inputs, slow, slots, rows = _streamed(frame)
    season = calendar(slots)
    body: dict[str, Any] = {"format": OUTLOOK_FORMAT, "horizons": list(HORIZONS)}
    parts: dict[str, list[Any]] = {key: [] for key in ("levels", *SEASONS, "gain", "law")}
    for ahead, move, variance in zip(HORIZON_BARS, *came(frame, rows), strict=True):
        fits = rows + ahead < len(frame)
        whole = np.isfinite(move[fits])
        target = 0.5 * (np.log(variance[fits]) - slow[fits])
        weights = _ridge(inputs[fits], season[fits], target, whole)
        typical = np.einsum("nia,i->na", inputs[fits], weights[:INPUTS]) + (season[fits] @ weights[INPUTS:])[:, None]
        sizes = (move[fits] / np.exp(typical + 0.5 * slow[fits]) / np.sqrt(ahead))[whole]
        gain = 0.5 * float(np.log(np.mean(np.minimum(np.abs(sizes), _LARGEST * sizes.std()) ** 2)))
        scaled = np.minimum(np.abs(sizes) / np.exp(gain), EDGES[-1] * (1.0 - 1e-9))
        law = np.histogram(scaled, bins=EDGES)[0] / scaled.size
        every = (weights[:INPUTS], *np.split(weights[INPUTS:], np.cumsum(list(SEASONS.values()))[:-1]), gain, law)
        for key, part in zip(parts, every, strict=True):
            parts[key].append(np.float32(part).tolist())
    first, last = (np.datetime_as_string(np.datetime64(int(t), "ms"), "D") for t in (frame.t[0], frame.t[-1]))
    recipe = {"candles": name, "first_day": str(first), "last_day": str(last), "assets": list(frame.assets)}
    return {**body, **parts, "recipe": {**recipe, "moments": str(len(rows)), "bins": str(BINS)}}


def came(frame: BarFrame, at: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return log moves and mean variances of a bar over the four horizons after some moments.

    Both are (4, n, assets), NaN where a bar is missing.
    """
    bars = clean_fields(frame.fields)
    close = bars.log_close
    variance = bar_variance(np.diff(close, axis=0, prepend=np.nan), bars.range_variance)
    total, holes = (
        np.concatenate((np.zeros((1, close.shape[1])), np.cumsum(one, axis=0)))
        for one in (np.nan_to_num(variance), np.isnan(variance))
    )
    moves, means = [], []
    for ahead in HORIZON_BARS:
        end = np.minimum(at + ahead, len(close) - 1)
        whole = (at + ahead < len(close))[:, None] & (holes[end + 1] == holes[at])
        moves.append(np.where(whole, close[end] - close[at], np.nan))
        means.append(np.where(whole, np.maximum((total[end + 1] - total[at + 1]) / ahead, 1e-12), np.nan))
    return np.array(moves), np.array(means)


def _streamed(frame: BarFrame) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return inputs (n, 8, assets), log slow variances (n, assets), quarter hours of the week and rows of each moment."""
    bars = clean_fields(frame.fields)
    volatility = Volatility(bars.log_close.shape[1:])
    moved = np.diff(bars.log_close, axis=0, prepend=np.nan)
    inputs, slow, rows = [], [], []
    for row, t_ms in enumerate(tracked(frame.t.tolist(), "candles")):
        volatility.update(moved[row], bars.range_variance[row], bars.extra["volume"][row])
        if (t_ms + BAR_MS) % QUARTER_MS == 0 and row >= SKIP_DAYS * DAY_BARS:
            inputs.append(np.concatenate((volatility.levels(), volatility.volume_levels())))
            slow.append(volatility.slow[0].copy())
            rows.append(row)
    at = np.array(rows)
    return np.array(inputs), np.array(slow), (frame.t[at] + BAR_MS) // QUARTER_MS % WEEK, at


def _ridge(inputs: FloatArray, season: FloatArray, target: FloatArray, known: npt.NDArray[np.bool_]) -> FloatArray:
    """Fit all assets together."""
    width = INPUTS + season.shape[1]
    square, product = _RIDGE * np.eye(width), np.zeros(width)
    for column in range(target.shape[1]):
        rows = known[:, column]
        found = np.concatenate((inputs[rows, :, column], season[rows]), axis=1)
        square += found.T @ found
        product += found.T @ target[rows, column]
    return np.asarray(np.linalg.solve(square, product), dtype=np.float64)
