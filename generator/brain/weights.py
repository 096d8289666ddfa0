"""What was fitted offline: how far prices may move, a JSON with a digest, `python -m generator.lab train-outlook`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from gateway.wire.foreign import read_json
from generator.brain.outlook import OUTLOOK_FORMAT, OutlookWeights, outlook_of
from generator.errors import WeightsError

PACKAGED: Final = Path(__file__).with_name("outlook.json")


@dataclass(frozen=True, slots=True)
class Weights:
    """The coefficients of the outlook and what they were fitted on."""

    outlook: OutlookWeights
    digest: str  # SHA-256 hex of the file's canonical JSON without its digest
    recipe: dict[str, Any]  # candles, first_day, last_day and what else the fit took

    @classmethod
    def load(cls, path: Path | str | None = None) -> Weights:
        """Read and check the outlook's file; None is the packaged one, read once in a process.

        Raises:
            WeightsError: unreadable, of another format, tampered with, or of the wrong shape.
        """
        return _packaged() if path is None else _read(Path(path))


@cache
def _packaged() -> Weights:
    return _read(PACKAGED)


def _read(where: Path) -> Weights:
    """Return what a file that names its format and carries its digest holds; raise WeightsError if it does not."""
    try:
        body = read_json(where.read_bytes())
    except (OSError, ValueError) as error:
        raise WeightsError(f"cannot read the weights {where}: {error}") from error
    if not isinstance(body, dict) or body.get("format") != OUTLOOK_FORMAT:
        raise WeightsError(f"{where} is not a {OUTLOOK_FORMAT} file")
    if body.get("digest") != digest_of(body):
        raise WeightsError(f"{where} does not match its digest: it was changed after the fit")
    try:
        return Weights(outlook_of(body), body["digest"], body["recipe"])
    except (KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"{where} has a missing or misshapen part: {error}") from error


def digest_of(body: dict[str, Any]) -> str:
    """Return the SHA-256 hex of the canonical JSON of a body without its digest.

    >>> digest_of({"b": 1, "a": 2}) == digest_of({"a": 2, "b": 1, "digest": "of the last version"})
    True
    """
    bare = {name: value for name, value in body.items() if name != "digest"}
    canonical = json.dumps(bare, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
