"""Where something lies in an object store: `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

SCHEMES: Final = ("s3", "gs", "az")
_PART: Final = re.compile(r"^[A-Za-z0-9_.=-]+$")


@dataclass(frozen=True, slots=True)
class BucketUrl:
    """One prefix of one bucket; `prefix` has no slash at either end and may be empty."""

    scheme: str
    bucket: str
    prefix: str

    @classmethod
    def parse(cls, url: str) -> Self:
        """Read a URL.

        Raises:
            ValueError: not of the form, or one that carries credentials; the text does not repeat the URL.
        """
        parts = urlsplit(url)
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError("credentials and options do not belong in a URL: set AWS_…, GOOGLE_… or AZURE_… variables")
        names = [name for name in parts.path.split("/") if name]
        whole = url.startswith(tuple(f"{scheme}://" for scheme in SCHEMES)) and _PART.match(parts.netloc)
        if not whole or not all(_PART.match(name) and name.strip(".") for name in (parts.netloc, *names)):
            forms = ", ".join(f"{scheme}://bucket/prefix" for scheme in SCHEMES)
            raise ValueError(f"must be one of {forms}, of letters, digits and _ . = -")
        return cls(parts.scheme, parts.netloc, "/".join(names))

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}" + (f"/{self.prefix}" if self.prefix else "")

    def overlaps(self, other: BucketUrl) -> bool:
        """Return whether one of both lies at, under or above the other."""
        return f"{self}/".startswith(f"{other}/") or f"{other}/".startswith(f"{self}/")


def is_bucket(url: str) -> bool:
    """Return whether a URL names an object store."""
    return urlsplit(url).scheme in SCHEMES
