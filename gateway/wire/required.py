"""The header of a 402 that says what is to be paid, read here for every client of ours: command line, agent, wallet."""

import base64
from typing import Any, Final

from gateway.wire.foreign import ForeignBytesError, read_json

PAYMENT_REQUIRED: Final = "payment-required"
"""The header's name, in lower case as it is compared."""


def read_required(header: str) -> dict[str, Any]:
    """Return the object that a PAYMENT-REQUIRED holds, all of it the seller's.

    >>> read_required("eyJ4NDAyVmVyc2lvbiI6Mn0=")
    {'x402Version': 2}

    Args:
        header: its value, standard base64 of JSON.

    Raises:
        ForeignBytesError: it is not base64, not JSON, or not an object.
    """
    try:
        data = base64.b64decode(header, validate=True)
    except ValueError as problem:
        raise ForeignBytesError("not base64") from problem

    required = read_json(data)
    if not isinstance(required, dict):
        raise ForeignBytesError("not a JSON object")
    return required
