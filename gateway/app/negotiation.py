"""What a request for a file asks for: which encoding, and whether the client has it already (RFC 9110)."""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Final

PREFERRED: Final = ("br", "gzip")
CONDITIONS: Final = frozenset({b"if-none-match", b"if-modified-since", b"if-match", b"if-unmodified-since"})
NO_CONDITIONS: Final[dict[bytes, bytes]] = {}


class Asked:
    """The headers that decide between 200, 304 and 412, and the encoding; lists in several lines are joined."""

    __slots__ = ("accept_encoding", "conditions")

    def __init__(self, accept_encoding: bytes, conditions: dict[bytes, bytes]) -> None:
        self.accept_encoding = accept_encoding
        self.conditions = conditions


def asked_of(headers: Iterable[tuple[bytes, bytes]]) -> Asked:
    """Read the raw headers of a request; names are in lower case."""
    accepted = b""
    conditions = NO_CONDITIONS
    for name, value in headers:
        if name == b"accept-encoding":
            accepted = accepted + b"," + value if accepted else value
        elif name in CONDITIONS:
            conditions = {**conditions, name: conditions[name] + b"," + value if name in conditions else value}
    return Asked(accepted, conditions)


def coding_for(accepted: bytes, there: Container[str]) -> str:
    """Choose the coding that the client likes best of those that are there, by section 12.5.3; the smallest of equals."""
    for coding in _ranked(accepted):
        if coding in there:
            return coding
    return "identity"


@lru_cache(maxsize=256)
def _ranked(accepted: bytes) -> tuple[str, ...]:
    weights: dict[str, float] = {}
    for part in accepted.decode("latin-1").lower().split(","):
        name, _, parameters = part.partition(";")
        weights[name.strip()] = _weight(parameters)
    found = [(weights.get(coding, weights.get("*", 0.0)), coding) for coding in PREFERRED]
    least = weights.get("identity", 0.0)
    return tuple(coding for weight, coding in sorted(found, key=lambda row: -row[0]) if weight > 0 and weight >= least)


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        weight = float(value)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0


def verdict(asked: Asked, etag: bytes, modified_s: int) -> int:
    """Return 200, 304 or 412 by section 13.2.2: tags decide before dates; a date that is none is not there."""
    conditions = asked.conditions
    if b"if-match" in conditions:
        if not _holds(conditions[b"if-match"], etag, weak=False):
            return 412
    elif b"if-unmodified-since" in conditions:
        since = _seconds(conditions[b"if-unmodified-since"])
        if since is not None and since < modified_s:
            return 412
    if b"if-none-match" in conditions:
        return 304 if _holds(conditions[b"if-none-match"], etag, weak=True) else 200
    since = _seconds(conditions[b"if-modified-since"]) if b"if-modified-since" in conditions else None
    return 304 if since is not None and since >= modified_s else 200


def _holds(tags: bytes, etag: bytes, *, weak: bool) -> bool:
    held = {tag.strip().removeprefix(b"W/") if weak else tag.strip() for tag in tags.split(b",")}
    return b"*" in held or etag in held


@lru_cache(maxsize=256)
def _seconds(date: bytes) -> float | None:
    try:
        parsed: datetime = parsedate_to_datetime(date.decode("latin-1"))
        return parsed.timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
