"""Reading what the service published, from a folder or over HTTP."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from generator.errors import GeneratorError

TIMEOUT_S = 10
MAX_BODY_BYTES = 50_000_000


class PublishedError(GeneratorError):
    """What is published cannot be read."""


def read_json(where: str | Path) -> Any:
    """Read JSON from a file or over HTTP.

    Raises:
        PublishedError: it cannot be read or is not JSON.
    """
    try:
        return json.loads(_fetch(where) if isinstance(where, str) else where.read_bytes())
    except FileNotFoundError:
        raise PublishedError(
            f"{where} does not exist: start the service with `emi up`, or name an origin with --url"
        ) from None
    except (OSError, ValueError) as error:
        raise PublishedError(f"{where} cannot be read: {error}") from None


def _fetch(url: str) -> bytes:
    if urlsplit(url).scheme not in {"http", "https"}:
        raise PublishedError(f"{url!r} is no origin; write e.g. http://127.0.0.1:8402")
    request = urllib.request.Request(url, headers={"User-Agent": "emi"})  # noqa: S310  scheme checked above
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
        body: bytes = answer.read(MAX_BODY_BYTES)
    return body
