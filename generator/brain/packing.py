"""The state of a brain as bytes: a JSON line, then every array in its own precision, laid out so that it packs well.

Of numbers that lie near each other in time the high bytes are alike and the low ones are noise. So the bytes of one
place of all numbers of a series come together. Prices, which single precision is kept of, hardly move from bar to bar:
of them the steps are written. Nothing is rounded.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gateway.wire.foreign import read_json

Floats = npt.NDArray[np.floating[Any]]
Bits = npt.NDArray[np.unsignedinteger[Any]]

_LEVEL: Final = 1  # it is written every minute
_LONG: Final = 1000  # bytes, from which on a new code pays
_STEPS: Final = np.dtype(np.float32).itemsize  # bytes of the numbers of which the steps are written


def packed(header: dict[str, Any], arrays: Sequence[Floats]) -> bytes:
    """Return a header and arrays, the oldest row first, as bytes."""
    stream = zlib.compressobj(_LEVEL)
    head = json.dumps(header, sort_keys=True).encode()
    pieces = [stream.compress(head + b"\n")]
    for array in arrays:
        for series in _series(array):
            for plane in _planes(series):
                pieces.append(stream.compress(plane))
                if len(plane) >= _LONG:
                    pieces.append(stream.flush(zlib.Z_BLOCK))
    pieces.append(stream.flush())
    return b"".join(pieces)


def header_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and what follows it.

    Raises:
        ValueError: it is not what `packed` returned.
    """
    try:
        head, body = zlib.decompress(data).split(b"\n", 1)
        header: dict[str, Any] = read_json(head)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"not a brain state: {error}") from error
    return header, body


def fill(arrays: Sequence[Floats], body: bytes) -> None:
    """Put what follows a header into arrays shaped as those that were packed.

    Raises:
        ValueError: they are of another size.
    """
    if len(body) != sum(array.nbytes for array in arrays):
        raise ValueError("a brain state of another shape")

    at = 0
    for array in arrays:
        for series in _series(array):
            planes = np.frombuffer(body, np.uint8, series.nbytes, at)
            series[...] = _joined(planes, series)
            at += series.nbytes


def _series(array: Floats) -> Iterator[Floats]:
    """Give the parts of an array that hold numbers of one kind: of three axes the middle one says which."""
    if array.ndim == 3:
        for kind in range(array.shape[1]):
            yield array[:, kind]
    else:
        yield array


def _planes(series: Floats) -> Iterator[bytes]:
    """Give the lowest byte of all numbers, column by column, then the next."""
    bits: Bits = np.ascontiguousarray(series, dtype=series.dtype.newbyteorder("<")).view(f"<u{series.itemsize}")
    if series.itemsize == _STEPS:
        bits = _zigzag(np.diff(bits, axis=0, prepend=bits.dtype.type(0)))
    by_column = np.ascontiguousarray(bits.T).view(np.uint8).reshape(-1, series.itemsize)
    for plane in by_column.T:
        yield plane.tobytes()


def _joined(planes: npt.NDArray[np.uint8], like: Floats) -> Floats:
    """Return the numbers that `_planes` gave, shaped as they were."""
    size = like.itemsize
    by_column = np.ascontiguousarray(planes.reshape(size, -1).T)
    bits: Bits = by_column.view(f"<u{size}").reshape(like.T.shape).T
    if size == _STEPS:
        bits = np.add.accumulate(_unzigzag(bits), axis=0, dtype=bits.dtype)
    return np.asarray(np.ascontiguousarray(bits).view(like.dtype.newbyteorder("<")), dtype=like.dtype)


def _zigzag(steps: Bits) -> Bits:
    """Return steps, which wrap around, so that small ones of either sign are small numbers.

    >>> _zigzag(np.array([0, 1, 2**32 - 1], dtype=np.uint32)).tolist()
    [0, 2, 1]
    """
    is_back = steps >> steps.dtype.type(8 * steps.itemsize - 1)
    return np.asarray((steps << steps.dtype.type(1)) ^ (steps.dtype.type(0) - is_back))


def _unzigzag(folded: Bits) -> Bits:
    """Return the steps again.

    >>> _unzigzag(np.array([0, 2, 1], dtype=np.uint32)).tolist() == [0, 1, 2**32 - 1]
    True
    """
    one = folded.dtype.type(1)
    return np.asarray((folded >> one) ^ (folded.dtype.type(0) - (folded & one)))
