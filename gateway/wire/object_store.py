"""Where something lies in an object store, how the store is opened, and what its failures are called.

Credentials and endpoints come from the environment that obstore reads (AWS_…, GOOGLE_…, AZURE_…). No text of a store's
answer is repeated as it is: it may hold a signed request.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Self
from urllib.parse import urlsplit

from gateway.wire.extras import missing
from gateway.wire.loopback import is_loopback

SCHEMES: Final = ("s3", "gs", "az")
_PART: Final = re.compile(r"^[A-Za-z0-9_.=-]+$")
REQUEST_S: Final = 4.0
CONNECT_S: Final = 2.0
RETRIES: Final = 2
RETRY_FOR_S: Final = 6.0  # obstore's own default would be three minutes
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_CAUSES: Final = {
    "timed out": "timed out",
    "error sending request": "error sending request",
    "error decoding response body": "the answer broke off",
    "builder error": "plain HTTP is allowed to this machine only",
    "Account must be specified": "AZURE_STORAGE_ACCOUNT_NAME is not set",
    # Asked when the environment has no keys; outside of a cloud there is no answer.
    "169\\.254\\.|metadata\\.google|[Cc]redential": "no usable credentials: set them in the environment",
}


@dataclass(frozen=True, slots=True)
class BucketUrl:
    """One prefix of one bucket; `prefix` has no slash at either end and may be empty."""

    scheme: str
    bucket: str
    prefix: str

    @classmethod
    def parse(cls, url: str) -> Self:
        """Read a URL; ValueError for one of another form or with credentials, whose text does not repeat it."""
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


class ExtraMissing(ValueError):
    """An object store is set, and the library for it is not installed."""


def is_bucket(url: str) -> bool:
    """Return whether a URL names an object store."""
    return urlsplit(url).scheme in SCHEMES


def open_store(url: str, request_s: float = REQUEST_S, retries: int = RETRIES, retry_for_s: float = RETRY_FOR_S) -> Any:
    """Make an obstore store of a bucket's URL; nothing is requested of it yet.

    One of `store_errors` is raised where the environment lacks what it needs.

    Args:
        url: as `BucketUrl` writes it.
        request_s: seconds that one try may take.
        retries: further tries of a request that failed.
        retry_for_s: seconds after which a request is not tried again.
    """
    try:
        from obstore.store import from_url  # noqa: PLC0415  only who has an object store pays for it
    except ImportError:
        raise ExtraMissing(missing("an object store", "cloud")) from None

    client = {
        "timeout": timedelta(seconds=request_s),
        "connect_timeout": timedelta(seconds=min(CONNECT_S, request_s)),
        "allow_http": endpoint_is_loopback(os.environ),
    }
    backoff = {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2}
    retry = {"max_retries": retries, "retry_timeout": timedelta(seconds=retry_for_s), "backoff": backoff}
    return from_url(str(BucketUrl.parse(url)), client_options=client, retry_config=retry)  # type: ignore[call-overload]


def store_errors() -> tuple[type[Exception], ...]:
    """Return what obstore raises when a store refuses, fails or does not answer."""
    try:
        from obstore.exceptions import BaseError  # noqa: PLC0415
    except ImportError:
        return (ExtraMissing,)
    return (BaseError, OSError, ValueError)


def endpoint_is_loopback(environment: Mapping[str, str]) -> bool:
    """Return whether the S3 endpoint is this very machine, the only place where unencrypted HTTP is allowed."""
    url = next((environment[name] for name in _ENDPOINTS if environment.get(name)), "")
    return is_loopback(urlsplit(url).hostname or "")


def plain_error(error: BaseException) -> str:
    """Return what went wrong in a few words of ours."""
    if isinstance(error, ExtraMissing):
        return str(error)

    text = str(error).split("\n\nDebug source", 1)[0]
    code = re.search(r"<Code>([A-Za-z]{1,60})</Code>", text)
    status = re.search(r"non-2xx status code: (\d{3})|status (?:code )?(\d{3})", text)
    words = [type(error).__name__]
    words += [f"status {status[1] or status[2]}"] if status else []
    words += [code[1]] if code else []
    words += [cause for pattern, cause in _CAUSES.items() if re.search(pattern, text)]
    return ", ".join(words)
