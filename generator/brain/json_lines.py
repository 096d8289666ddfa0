"""The brain over a stream of JSON lines, bar by bar: the values of `emi read`."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple
from typing import Any, Final

import numpy as np

from generator.brain.engine import Engine
from generator.brain.forecast import Forecast
from generator.brain.label import REGIMES
from generator.brain.reading import AssetReading, BrainReading
from generator.brain.weights import Weights
from generator.catalog.horizons import HORIZONS
from generator.catalog.words import READ_BIAS, READ_DERIVATIVES, READ_LIQUIDITY, READ_REGIME
from generator.market.bars import BAR_FIELDS, BarFrame

ARENA_MINUTES: Final = 15
SHORT: Final = {"open": "o", "high": "h", "low": "l", "close": "c", "volume": "v"}
_LARGEST_T: Final = 2**53


class BarError(ValueError):
    """A line that is not a bar; the text says what is wrong."""


class JsonLinesReader:
    """One engine over a stream of JSON bars; the first bar fixes the assets."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._engine: Engine | None = None

    def answer(self, bar: Any) -> dict[str, Any]:
        """Feed one decoded line and return the answer; raise BarError if it is not a bar."""
        t_ms, assets = _checked(bar)
        if self._engine is None:
            if not assets:
                raise BarError("the first bar must name at least one asset")
            self._engine = Engine(self._weights, tuple(assets))

        engine = self._engine
        reading = engine.update(_frame(engine.assets, t_ms, assets))
        if reading is None:
            raise BarError(f"t {t_ms} is not the opening of a 5-minute bar")
        return _answer(t_ms, reading, engine.forecasts(ARENA_MINUTES))


def bars_of(frame: BarFrame) -> Iterator[dict[str, Any]]:
    """Yield each bar of a frame as a line of JSON gives it, only the assets that have a price anywhere in it."""
    closes = frame.fields["close"]
    held = [(column, asset) for column, asset in enumerate(frame.assets) if np.isfinite(closes[:, column]).any()]
    names = {name: SHORT.get(name, name) for name in BAR_FIELDS}
    for row, t_ms in enumerate(frame.t.tolist()):
        assets = {
            asset: {
                short: value
                for name, short in names.items()
                if math.isfinite(value := float(frame.fields[name][row, column]))
            }
            for column, asset in held
        }
        yield {"t": t_ms, "assets": assets}


def _checked(bar: Any) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the open time and the values of each asset; raise BarError where they have another form."""
    if not isinstance(bar, dict) or not isinstance(bar.get("assets"), dict):
        raise BarError('expected {"t": ms, "assets": {...}}')
    t_ms = bar.get("t")
    if isinstance(t_ms, bool) or not isinstance(t_ms, int) or not 0 <= t_ms <= _LARGEST_T:
        raise BarError(f"t must be a whole number of milliseconds, got {t_ms!r}")
    for name, values in bar["assets"].items():
        if values is not None and not isinstance(values, dict):
            raise BarError(f"asset {name} must be an object or null")
    return t_ms, {name: values or {} for name, values in bar["assets"].items()}


def _frame(assets: tuple[str, ...], t_ms: int, given: dict[str, dict[str, Any]]) -> BarFrame:
    """Return a frame of one bar; assets that were not `given` are unknown."""
    fields = {}
    for name in BAR_FIELDS:
        key = SHORT.get(name, name)
        fields[name] = np.array([[_number(given.get(asset, {}), key) for asset in assets]])
    return BarFrame(assets, np.array([t_ms], dtype=np.int64), fields)


def _number(values: dict[str, Any], name: str) -> float:
    """Return a number, NaN where null or absent."""
    value = values.get(name)
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BarError(f"{name} must be a number or null, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _answer(t_ms: int, reading: BrainReading, arena: Iterable[Forecast | None]) -> dict[str, Any]:
    outlook = astuple(reading.outlook) if reading.outlook else (None,) * len(HORIZONS)
    chances = reading.regime.holding
    assets = zip(reading.assets.items(), arena, strict=True)

    return {
        "t": t_ms,
        "regime": READ_REGIME[reading.regime.label],
        "confidence": max(chances.values()) if reading.regime.confidence is None else reading.regime.confidence,
        "probs": {label.value: chances[label] for label in REGIMES},
        "bias": READ_BIAS[reading.direction],
        "bias_confidence": reading.confidence,
        "volatility_outlook": dict(zip(HORIZONS, outlook, strict=True)),
        "assets": {name: _asset(asset, forecast) for (name, asset), forecast in assets},
    }


def _asset(asset: AssetReading, forecast: Forecast | None) -> dict[str, Any]:
    hour = asset.forecast
    ranges: dict[str, Any] = dict.fromkeys(HORIZONS)
    if asset.ranges:
        ranges = {name: [100 * end for end in reach.ends] for name, reach in asset.ranges.items()}

    return {
        "liquidity": READ_LIQUIDITY[asset.liquidity],
        "derivatives": READ_DERIVATIVES[asset.pressure.state],
        "arena": asdict(forecast.probabilities) if forecast else None,
        "band_bps": forecast.band_bps if forecast else None,
        "call": hour.call.value if hour else None,
        "arena_60m": {**asdict(hour.probabilities), "band_bps": hour.band_bps} if hour else None,
        "ranges": ranges,
    }
