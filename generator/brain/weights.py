"""The brain's weights: a versioned JSON with a digest, made by `python -m generator.lab train`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from gateway.wire.foreign import read_json
from generator.brain.calibration import Calibration
from generator.brain.features import REGIME_INPUTS
from generator.brain.outlook import OUTLOOK_FORMAT, OutlookWeights, outlook_of
from generator.brain.recurrent import Recurrent
from generator.errors import WeightsError
from generator.market.bars import FloatArray

FORMAT: Final = "emi-brain-weights"
VERSION: Final = 3
PACKAGED: Final = Path(__file__).with_name("weights.json")
PACKAGED_OUTLOOK: Final = Path(__file__).with_name("outlook.json")
NETWORK_KEYS: Final = {
    "mean": "centre",
    "std": "spread",
    "input_weights": "inputs",
    "recurrent_weights": "carry",
    "bias": "bias",
    "output_weights": "outputs",
    "skip_weights": "direct",
    "output_bias": "rest",
}
"""Field of `Recurrent` -> its key in the file, whose format is published."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What was learned offline."""

    market: Recurrent  # network of the market's regime
    asset: Recurrent  # network of an asset's, of the same size
    calibrations: tuple[Calibration, Calibration]  # of an asset's chances and of the market's
    outlook: OutlookWeights  # how far prices may move
    digest: str  # SHA-256 hex of the digests of both files
    recipe: dict[str, Any]  # how it was trained

    @classmethod
    def load(cls, path: Path | str | None = None, outlook: Path | str | None = None) -> Weights:
        """Read and check the weights file and the outlook's; None are the packaged ones, both read once in a process.

        Raises:
            WeightsError: unreadable, of another format or version, tampered with, or of the wrong shape.
        """
        if path is None and outlook is None:
            return _packaged()
        return cls._read_from(Path(path or PACKAGED), Path(outlook or PACKAGED_OUTLOOK))

    @classmethod
    def _read_from(cls, weights_path: Path, outlook_path: Path) -> Weights:
        body = _read(weights_path, FORMAT, VERSION)
        outlook_body = _read(outlook_path, OUTLOOK_FORMAT, None)

        try:
            outlook_weights = outlook_of(outlook_body)
        except (KeyError, TypeError, ValueError) as error:
            raise WeightsError(f"{outlook_path} has a missing or misshapen part: {error}") from error

        digests = f"{body['digest']} {outlook_body['digest']}"
        try:
            body["recipe"]["outlook"] = outlook_body["recipe"]
            return cls._of(body, outlook_weights, hashlib.sha256(digests.encode()).hexdigest())
        except (KeyError, TypeError, ValueError) as error:
            raise WeightsError(f"{weights_path} has a missing or misshapen part: {error}") from error

    @classmethod
    def _of(cls, body: dict[str, Any], outlook: OutlookWeights, digest: str) -> Weights:
        if tuple(body["features"]) != REGIME_INPUTS:
            raise ValueError("features differ from this program's")

        units = len(body["market"]["carry"][0])
        calibration = body["calibration"]
        return cls(
            market=_network(body["market"], units),
            asset=_network(body["asset"], units),
            calibrations=(_calibration(calibration["asset"]), _calibration(calibration["market"])),
            outlook=outlook,
            digest=digest,
            recipe=body["recipe"],
        )


@cache
def _packaged() -> Weights:
    return Weights._read_from(PACKAGED, PACKAGED_OUTLOOK)  # noqa: SLF001


def _read(where: Path, form: str, version: int | None) -> dict[str, Any]:
    """Return the body of a file that names its format and carries its digest; raise WeightsError if it does not."""
    try:
        body = read_json(where.read_bytes())
    except (OSError, ValueError) as error:
        raise WeightsError(f"cannot read the weights {where}: {error}") from error
    if not isinstance(body, dict) or body.get("format") != form or body.get("version") != version:
        raise WeightsError(f"{where} is not a {form} file of version {version or 'any'}")
    if body.get("digest") != digest_of(body):
        raise WeightsError(f"{where} does not match its digest: it was changed after training")
    return body


def digest_of(body: dict[str, Any]) -> str:
    """Return the SHA-256 hex of the canonical JSON of a body without its digest.

    >>> digest_of({"b": 1, "a": 2}) == digest_of({"a": 2, "b": 1, "digest": "of the last version"})
    True
    """
    bare = {name: value for name, value in body.items() if name != "digest"}
    canonical = json.dumps(bare, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _calibration(fitted: dict[str, Any]) -> Calibration:
    level, slope = _array([fitted["level"], fitted["slope"]], (2,)).tolist()
    return Calibration(level=level, slope=slope)


def _network(parts: dict[str, Any], units: int) -> Recurrent:
    width = len(REGIME_INPUTS)
    shapes = {
        "mean": (width,),
        "std": (width,),
        "input_weights": (3 * units, width),
        "recurrent_weights": (3 * units, units),
        "bias": (3 * units,),
        "output_weights": (4, units),
        "skip_weights": (4, width),
        "output_bias": (4,),
    }
    if set(parts) != set(NETWORK_KEYS.values()):
        raise ValueError(f"a network has the parts {', '.join(NETWORK_KEYS.values())}")
    return Recurrent(**{name: _array(parts[NETWORK_KEYS[name]], shape) for name, shape in shapes.items()})


def _array(rows: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return finite numbers of the expected shape."""
    out = np.array(rows, dtype=np.float64)
    if out.shape != shape or not np.isfinite(out).all():
        raise ValueError(f"expected finite numbers of shape {shape}, got {out.shape}")
    return out
