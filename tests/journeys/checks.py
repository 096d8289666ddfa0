"""What the checker's checks are made of: one list of them, the contract's words, and how an answer is looked at."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import brotli

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS
from tests.journeys.wire import Answer, Origin

GROUPS: Final = (
    FILES := "Free files",
    CODINGS := "Encodings",
    CONDITIONS := "Conditions",
    QUERY := "Queries",
    PAGE := "Pages and discovery",
    PINNED := "Pinned releases",
    ONCE := "Files that never change",
    PATHS := "Paths",
    ERRORS := "Errors",
    SOLD := "Paid paths",
)
FREE: Final = tuple(endpoint.path for endpoint in ENDPOINTS)
PAID: Final = tuple(product.path for product in PRODUCTS)
REASONING: Final = "/api/reasoning.php"
ONE: Final = FREE[0]
RELEASE_CACHE: Final = "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"
PINNED_CACHE: Final = "public, max-age=600, immutable"
ONCE_CACHE: Final = "public, max-age=31536000, immutable"
EXPOSED: Final = frozenset(
    {"payment-required", "payment-response", "retry-after", "etag", "date", "link", "x-request-id", "x-generation"}
)
METHODS: Final = frozenset({"get", "head", "options"})
PREFLIGHT_HEADERS: Final = frozenset(
    {"payment-signature", "x-payment", "content-type", "access-control-expose-headers"}
    | {"if-none-match", "cache-control", "idempotency-key"}
)
PROBLEM_MEMBERS: Final = ("type", "title", "status", "detail", "instance", "project", "disclaimer")
ENCODINGS: Final = ("identity", "gzip", "br")
KIB: Final = 1024


@dataclass(frozen=True)
class Site:
    """What is checked.

    Args:
        origin: the edge.
        down: the same edge, its gateway not running; None when there is none to ask.
        once: path of a file that never changes; None when there is none.
    """

    origin: Origin
    down: Origin | None = None
    once: str | None = None
    seen: dict[str, Answer] = field(default_factory=dict)

    def plain(self, path: str = ONE) -> Answer:
        """Return the file without encoding, asked for once in the life of a check."""
        if path not in self.seen:
            self.seen[path] = self.origin.get(path)
        return self.seen[path]

    def generation(self) -> str:
        """Return the generation that the first body names."""
        return str(json.loads(self.plain().body)["freshness"]["generation"])


Look = Callable[[Site], Iterator[str]]


@dataclass(frozen=True)
class Check:
    """One check.

    Args:
        group: heading.
        name: what must hold, as the table says it.
        look: gives a sentence for each deviation; nothing is good.
        needs: field of `Site` without which it cannot be asked.
    """

    group: str
    name: str
    look: Look
    needs: str = ""


CHECKS: Final[list[Check]] = []


def check(group: str, name: str, needs: str = "") -> Callable[[Look], Look]:
    """Put a function into the list of checks."""

    def add(look: Look) -> Look:
        CHECKS.append(Check(group, name, look, needs))
        CHECKS.sort(key=lambda one: GROUPS.index(one.group))
        return look

    return add


def tokens(value: str) -> set[str]:
    """Return the members of a comma-separated header in lower case."""
    return {part.strip().lower() for part in value.split(",") if part.strip()}


def status_is(answer: Answer, wanted: int | Iterable[int], what: str) -> Iterator[str]:
    """Say whether the status is another."""
    allowed = {wanted} if isinstance(wanted, int) else set(wanted)
    if answer.status not in allowed:
        yield f"{what}: {answer.status} instead of {' or '.join(map(str, sorted(allowed)))}"


def header_is(answer: Answer, name: str, wanted: str, what: str) -> Iterator[str]:
    """Say whether a header is missing, another, or there twice."""
    if answer.all(name) != [wanted]:
        yield f"{what}: {name} {answer.all(name)} instead of {wanted!r}"


def decoded(answer: Answer) -> bytes:
    """Return the body without its content coding.

    Raises:
        ValueError: the coding is unknown or the bytes do not have it.
    """
    coding = answer.get("content-encoding")
    try:
        if coding in {"", "identity"}:
            return answer.body
        return gzip.decompress(answer.body) if coding == "gzip" else bytes(_unbrotli(coding, answer.body))
    except (OSError, EOFError, zlib.error, brotli.error) as error:
        raise ValueError(f"bytes are not {coding}: {error}") from error


def _unbrotli(coding: str, body: bytes) -> bytes:
    if coding != "br":
        raise ValueError(f"unknown content coding {coding!r}")
    return bytes(brotli.decompress(body))


def same_file(answer: Answer, plain: Answer, what: str) -> Iterator[str]:
    """Say whether an answer is not the file whose plain form is given."""
    yield from status_is(answer, 200, what)
    try:
        if answer.status == 200 and decoded(answer) != plain.body:
            yield f"{what}: another body"
    except ValueError as error:
        yield f"{what}: {error}"


def open_to_all(answer: Answer, what: str) -> Iterator[str]:
    """Say whether another origin's script may not read the answer, or misses what the docs speak of."""
    yield from header_is(answer, "access-control-allow-origin", "*", what)
    if not tokens(answer.get("access-control-expose-headers")) >= EXPOSED:
        yield f"{what}: Access-Control-Expose-Headers {answer.get('access-control-expose-headers')!r}"


def guarded(answer: Answer, what: str) -> Iterator[str]:
    """Say whether a security header is missing."""
    yield from header_is(answer, "x-content-type-options", "nosniff", what)
    yield from header_is(answer, "referrer-policy", "no-referrer", what)
    policy = answer.all("content-security-policy")
    if len(policy) != 1 or "default-src 'none'" not in policy[0] or "frame-ancestors 'none'" not in policy[0]:
        yield f"{what}: Content-Security-Policy {policy}"
    if answer.all("set-cookie"):
        yield f"{what}: sets a cookie"
    if any(sign.isdigit() for sign in answer.get("server")):
        yield f"{what}: states its version: {answer.get('server')}"


def is_problem(answer: Answer, status: int | Iterable[int], what: str) -> Iterator[str]:
    """Say whether an answer is not a problem document of this status that no one stores."""
    yield from status_is(answer, status, what)
    if not answer.get("content-type").startswith("application/problem+json"):
        yield f"{what}: {answer.status} as {answer.get('content-type') or 'nothing'}"
        return
    try:
        body: Any = json.loads(answer.body)
    except ValueError:
        yield f"{what}: not JSON"
        return
    missing = [name for name in PROBLEM_MEMBERS if not body.get(name)]
    if missing or body["status"] != answer.status:
        yield f"{what}: members {missing} missing or status {body.get('status')}"
    yield from header_is(answer, "cache-control", "no-store", what)
    yield from header_is(answer, "access-control-allow-origin", "*", what)
    yield from header_is(answer, "x-content-type-options", "nosniff", what)


def stays(answer: Answer, origin: Origin) -> bool:
    """Return whether a redirect leads to the same scheme, host and port."""
    place = answer.get("location")
    return (place.startswith("/") and not place.startswith(("//", "/\\"))) or place.startswith(origin.url + "/")
