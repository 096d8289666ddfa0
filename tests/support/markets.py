"""Small markets for the brain's tests."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame, FloatArray

START_MS = 1_700_006_400_000
ASSETS = ("BTC", "ETH", "XRP")


def market(bars: int, *, assets: tuple[str, ...] = ASSETS, seed: int = 1, sigma: float = 0.001) -> BarFrame:
    """Make a driftless market with books, funding and open interest."""
    rng = np.random.default_rng(seed)
    shape = (bars, len(assets))
    common = rng.standard_t(4, (bars, 1)) / math.sqrt(2.0)
    returns = sigma * (0.8 * common + 0.6 * rng.normal(size=shape))
    close = 100.0 * np.exp(np.cumsum(returns, axis=0))
    start = close / np.exp(returns)
    fields = {name: np.full(shape, np.nan) for name in BAR_FIELDS}
    fields["open"], fields["close"] = start, close
    fields["high"] = np.maximum(start, close) * (1.0 + 0.3 * sigma * rng.random(shape))
    fields["low"] = np.minimum(start, close) * (1.0 - 0.3 * sigma * rng.random(shape))
    fields["volume"] = rng.lognormal(2.0, 0.3, shape)
    fields["depth_usd"] = rng.lognormal(14.0, 0.1, shape)
    fields["spread_bps"] = rng.lognormal(0.5, 0.1, shape)
    fields["imbalance"] = rng.uniform(-0.4, 0.4, shape)
    fields["funding"] = np.full(shape, 0.0001)
    fields["open_interest"] = np.exp(18.0 + np.cumsum(rng.normal(0.0, 0.002, shape), axis=0))
    return BarFrame(assets, START_MS + BAR_MS * np.arange(bars, dtype=np.int64), fields)


def with_field(frame: BarFrame, name: str, values: FloatArray | float) -> BarFrame:
    """Return the frame with one field replaced."""
    filled = np.broadcast_to(np.asarray(values, dtype=np.float64), frame.fields[name].shape).copy()
    return dataclasses.replace(frame, fields={**frame.fields, name: filled})


def priced(close: FloatArray, assets: tuple[str, ...] = ASSETS) -> BarFrame:
    """Return bars that open, trade and close at the given prices."""
    fields = {name: np.full(close.shape, np.nan) for name in BAR_FIELDS}
    for name in ("open", "high", "low", "close"):
        fields[name] = close.copy()
    return BarFrame(assets, START_MS + BAR_MS * np.arange(len(close), dtype=np.int64), fields)


NASTY = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, -1.0, 1e-300, 1e300, np.nan]),
    st.floats(min_value=90.0, max_value=110.0),
)
"""What a source may send as a price or an amount."""


def floats(value: Any) -> Iterator[float]:
    """Yield every float inside a reading."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from floats(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from floats(part)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from floats(getattr(value, field.name))


def texts(value: Any) -> Iterator[str]:
    """Yield every plain sentence inside a reading: evidence, summaries, drivers, limitations."""
    if isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from texts(part)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from texts(getattr(value, field.name))
    elif type(value) is str and " " in value:
        yield value
