"""Canonical JSON: the same value always gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from generator.contract.base import Body


def encode(value: Body | Mapping[str, Any]) -> bytes:
    """Return compact UTF-8 JSON in declared key order, without a trailing newline.

    Raises:
        ValueError: a NaN or an infinity is in it.
    """
    data = value.as_json() if isinstance(value, Body) else value
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
