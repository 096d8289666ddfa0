"""The engine's state as bytes: a JSON line, then every array as little-endian doubles, compressed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from generator.market.bars import FloatArray

FORMAT: Final = 1


def arrays_of(part: object) -> dict[str, FloatArray]:
    """Return the public arrays of a part, which are its whole state; `current` is derived from the rest."""
    found = {name: value for name, value in vars(part).items() if not name.startswith("_") and name != "current"}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def pack(header: dict[str, Any], parts: Iterable[object]) -> bytes:
    """Return the header and every array of the parts as bytes."""
    values = [array.astype("<f8").tobytes() for part in parts for array in arrays_of(part).values()]
    head = json.dumps({"format": FORMAT, **header}, sort_keys=True).encode() + b"\n"
    return zlib.compress(head + b"".join(values), 6)


def unpack(data: bytes, parts: Iterable[object]) -> dict[str, Any]:
    """Fill the arrays of the parts in place and return the header.

    Raises:
        ValueError: not a state of this program, or of other shapes.
    """
    try:
        head, body = zlib.decompress(data).split(b"\n", 1)
        header = json.loads(head)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"not a brain state: {error}") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("a brain state of another format")
    at, values = 0, np.frombuffer(body, dtype="<f8") if len(body) % 8 == 0 else np.empty(0)
    for part in parts:
        for name, array in arrays_of(part).items():
            piece = values[at : at + array.size]
            if piece.size != array.size:
                raise ValueError("a brain state of another shape")
            setattr(part, name, piece.astype(np.float64).reshape(array.shape))
            at += array.size
    if at != values.size:
        raise ValueError("a brain state of another shape")
    return header
