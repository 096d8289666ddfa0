"""Where a vault lies in an object store: `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

BUCKETS: Final = ("s3://", "gs://", "az://")
_PART: Final = re.compile(r"^[A-Za-z0-9_.=-]+$")


def plain_bucket_url(url: str) -> str:
    """Return a URL in its one spelling.

    Raises:
        ValueError: not of the form, or one that carries credentials; the text does not repeat the URL.
    """
    parts = urlsplit(url)
    if "@" in parts.netloc or parts.query or parts.fragment:
        message = "credentials and options do not belong in a URL: set AWS_…, GOOGLE_… or AZURE_… variables"
        raise ValueError(message)
    names = [parts.netloc, *(name for name in parts.path.split("/") if name)]
    if not url.startswith(BUCKETS) or not all(_PART.match(name) and name.strip(".") for name in names):
        forms = ", ".join(f"{scheme}bucket/prefix" for scheme in BUCKETS)
        message = f"must be one of {forms}, of letters, digits and _ . = -"
        raise ValueError(message)
    return f"{parts.scheme}://{'/'.join(names)}"


def overlap(one: str, other: str) -> bool:
    """Return whether one of two plain URLs lies at, under or above the other."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
