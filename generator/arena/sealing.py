"""Sealing of forecasts: a digest before the votes close, the forecast and its salt afterwards.

digest = SHA-256(canonical JSON of the forecast, UTF-8, followed by the salt's hex digits). Canonical JSON has sorted
keys, no spaces and whole numbers without a decimal point, as in RFC 8785.
"""

import hashlib
import json
from typing import Any

from generator.arena.values import Round
from generator.catalog.formats import iso


def canonical_json(value: Any) -> bytes:
    """Return the one JSON text of a value; raise ValueError where it holds NaN or infinity."""
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def digest_of(forecast: dict[str, Any], salt: str) -> str:
    """Return the commitment to a forecast, 64 hex digits."""
    return hashlib.sha256(canonical_json(forecast) + salt.encode()).hexdigest()


def forecast_of(sealed: Round) -> dict[str, Any]:
    """Return the sealed content of a round, as revealed when it goes live."""
    if sealed.probabilities is None or sealed.prediction is None or sealed.base_rate is None:
        raise ValueError(f"round {sealed.round_id} has no forecast")
    return {
        "round_id": sealed.round_id,
        "asset": sealed.asset,
        "start": iso(sealed.start_ms),
        "end": iso(sealed.end_ms),
        "band_bps": sealed.band_bps,
        "prediction": str(sealed.prediction),
        "probabilities": _named(sealed.probabilities),
        "base_rate": _named(sealed.base_rate),
        "confidence": sealed.confidence_percent,
        "regime_mode": sealed.regime_mode,
    }


def _named(chances: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("down", "neutral", "up"), chances, strict=True))
