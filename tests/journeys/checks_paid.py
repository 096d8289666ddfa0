"""Checks of errors and of the paid paths: everything passes through the edge whole, and nothing is kept there."""

import base64
import json
from collections.abc import Iterator
from typing import Final

from tests.journeys.checks import (
    ERRORS,
    FREE,
    KIB,
    METHODS,
    ONE,
    PAID,
    PREFLIGHT_HEADERS,
    SOLD,
    Site,
    check,
    guarded,
    header_is,
    is_problem,
    open_to_all,
    same_file,
    status_is,
    tokens,
)
from tests.journeys.wire import Answer

PAID_VARY: Final = {"payment-signature", "x-payment"}
BUYER: Final = "/x402-buyer/"
# What is not a request: no Host, an escape that is none, a NUL, a name with a space, words, an unknown method.
NO_REQUEST: Final = (
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET /%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x y\r\nConnection: close\r\n\r\n",
    b"NOT A REQUEST\r\n\r\n",
    b"BREW / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
)


@check(ERRORS, "404 as a problem document, for HEAD without its body")
def missing(site: Site) -> Iterator[str]:
    for path in ("/nothing", "/api/nothing.php", "/docs/nothing/", "/nothing.html", "/api/reasoning/DOGE.json"):
        yield from is_problem(site.origin.get(path), 404, path)
    head = site.origin.ask("HEAD", "/nothing")
    yield from status_is(head, 404, "HEAD")
    if head.body:
        yield "HEAD: a body"


@check(ERRORS, "a problem document is JSON whatever the path holds, and names the path")
def hostile_paths(site: Site) -> Iterator[str]:
    for path in (
        "/%22%7d",
        "/%0d%0aX-Injected:1",
        "/<script>alert(1)</script>",
        "/a'b",
        "/%5c%22",
        "/%E2%80%AE",
        "/" + "a" * 3_000,
    ):
        answer = site.origin.get(path)
        yield from is_problem(answer, {400, 404}, path[:30])
        if answer.all("x-injected"):
            yield f"{path}: a header was injected"
    if json.loads(site.origin.get("/api/nothing.php?x=1").body)["instance"] != "/api/nothing.php":
        yield "instance is not the path"


@check(ERRORS, "malformed HTTP is not served")
def malformed(site: Site) -> Iterator[str]:
    for raw in NO_REQUEST:
        yield from status_is(site.origin.send(raw), {400, 404, 405, 421}, _shown(raw))


@check(ERRORS, "400 of the server itself is a problem document")
def malformed_problem(site: Site) -> Iterator[str]:
    for raw in NO_REQUEST:
        yield from is_problem(site.origin.send(raw), {400, 404, 405, 421}, _shown(raw))


@check(ERRORS, "a body: 413 as a problem document")
def bodies(site: Site) -> Iterator[str]:
    for path in (ONE, "/", PAID[0]):
        for method in ("GET", "HEAD"):
            answer = site.origin.ask(method, path, body=b"hello")
            yield from status_is(answer, 413, f"{method} {path}")
        yield from is_problem(_chunked(site, path), 413, f"chunked {path}")
        yield from is_problem(site.origin.ask("GET", path, body=b"hello"), 413, path)
        yield from is_problem(site.origin.ask("POST", path, body=b"x" * 300 * KIB), {405, 413}, f"POST {path}")


@check(ERRORS, "headers over 16 KiB: 431")
def large_headers(site: Site) -> Iterator[str]:
    for path in (ONE, "/", PAID[0]):
        yield from status_is(site.origin.get(path, {"X-Large": "A" * 24 * KIB}), 431, path)
        many = [(f"X-{number}", "A" * KIB) for number in range(60)]
        yield from status_is(site.origin.get(path, many), 431, f"60 headers, {path}")


@check(ERRORS, "that 431 is a problem document")
def large_headers_problem(site: Site) -> Iterator[str]:
    for path in (ONE, PAID[0]):
        yield from is_problem(site.origin.get(path, {"X-Large": "A" * 24 * KIB}), 431, path)


@check(ERRORS, "a URL of 20 KiB: 400, 404, 414 or 431 as a problem document, or the file where only the query is long")
def long_url(site: Site) -> Iterator[str]:
    yield from is_problem(site.origin.get("/" + "a" * 20 * KIB), {400, 404, 414, 431}, "a long path")
    answer = site.origin.get(f"{ONE}?x={'a' * 20 * KIB}")
    if answer.status != 200:
        yield from is_problem(answer, {400, 404, 414, 431}, "a long query")


@check(SOLD, "GET: 402 with PAYMENT-REQUIRED whole, the same as in the body")
def challenge(site: Site) -> Iterator[str]:
    for path in PAID:
        answer = site.origin.get(path)
        yield from status_is(answer, 402, path)
        yield from header_is(answer, "content-type", "application/json", path)
        yield from _whole(answer, path)
        yield from open_to_all(answer, path)
        yield from guarded(answer, path)


@check(SOLD, "HEAD: the headers of the 402, no body")
def challenge_head(site: Site) -> Iterator[str]:
    for path in PAID:
        answer = site.origin.ask("HEAD", path, {"PAYMENT-SIGNATURE": "junk"})
        yield from status_is(answer, 402, path)
        if answer.body or not answer.get("payment-required"):
            yield f"{path}: body of {len(answer.body)}, PAYMENT-REQUIRED {answer.get('payment-required')[:20]!r}"


@check(SOLD, "OPTIONS: 204, the payment headers are allowed")
def paid_options(site: Site) -> Iterator[str]:
    for path in PAID:
        answer = site.origin.ask("OPTIONS", path, {"Origin": "https://elsewhere.example"})
        yield from status_is(answer, 204, path)
        yield from header_is(answer, "access-control-allow-origin", "*", path)
        if not tokens(answer.get("access-control-allow-headers")) >= PREFLIGHT_HEADERS:
            yield f"{path}: {answer.get('access-control-allow-headers')!r}"


@check(SOLD, "POST, PUT and DELETE: 405 as a problem document with Allow")
def paid_methods(site: Site) -> Iterator[str]:
    for path in PAID:
        for method in ("POST", "PUT", "DELETE"):
            answer = site.origin.ask(method, path)
            yield from is_problem(answer, 405, f"{method} {path}")
            if tokens(answer.get("allow")) != METHODS:
                yield f"{method} {path}: Allow {answer.get('allow')!r}"


@check(SOLD, "no-store and Vary on every answer, no ETag, no age, each header once")
def not_stored(site: Site) -> Iterator[str]:
    for path in PAID:
        for method, headers in (("GET", {}), ("GET", {"PAYMENT-SIGNATURE": "junk"}), ("HEAD", {}), ("POST", {})):
            answer = site.origin.ask(method, path, headers)
            yield from header_is(answer, "cache-control", "no-store", f"{method} {path}")
            if not tokens(answer.get("vary")) >= PAID_VARY:
                yield f"{method} {path}: Vary {answer.get('vary')!r}"
            if answer.get("etag") or answer.get("age"):
                yield f"{method} {path}: ETag or Age"
            doubled = {name for name, _ in answer.headers if len(answer.all(name)) > 1}
            if doubled:
                yield f"{method} {path}: twice {sorted(doubled)}"


@check(SOLD, "a payment header of 15 KiB reaches the gateway")
def large_payment(site: Site) -> Iterator[str]:
    for path in PAID:
        without = _error(site.origin.get(path))
        answer = site.origin.get(path, {"PAYMENT-SIGNATURE": "A" * 15 * KIB})
        yield from status_is(answer, 402, path)
        if answer.status == 402 and _error(answer) == without:
            yield f"{path}: the gateway did not see it: {without!r}"
        yield from _whole(answer, path)
        if _error(site.origin.get(path)) != without:
            yield f"{path}: the next one got somebody else's answer"


@check(SOLD, "headers of 17 KiB: 431 as a problem document")
def too_large_payment(site: Site) -> Iterator[str]:
    answer = site.origin.get(PAID[0], {"PAYMENT-SIGNATURE": "A" * 15 * KIB, "X-More": "A" * 2 * KIB})
    yield from is_problem(answer, 431, PAID[0])


@check(SOLD, "X-PAYMENT of version 1 gets the challenge of version 2")
def version_one(site: Site) -> Iterator[str]:
    answer = site.origin.get(PAID[0], {"X-PAYMENT": base64.b64encode(b'{"x402Version":1}').decode()})
    yield from status_is(answer, 402, PAID[0])
    yield from _whole(answer, PAID[0])


@check(SOLD, "a product that does not exist: 404 as a problem document")
def no_product(site: Site) -> Iterator[str]:
    yield from is_problem(site.origin.get("/api/x402-nothing.php"), 404, "/api/x402-nothing.php")


@check(SOLD, "the buyer page, with its query and its policy, never stored")
def buyer(site: Site) -> Iterator[str]:
    human, agent = site.origin.get(BUYER), site.origin.get(f"{BUYER}?product=agent")
    for answer, what in ((human, BUYER), (agent, "?product=agent")):
        yield from status_is(answer, 200, what)
        yield from header_is(answer, "cache-control", "no-store", what)
        yield from guarded(answer, what)
    if human.body == agent.body:
        yield "?product=agent shows the same"
    if agent.body != site.origin.get(f"{BUYER}?product=atlas").body:
        yield "?product=agent shows something else than ?product=atlas"
    yield from status_is(site.origin.get(f"{BUYER}?product=nothing"), 404, "?product=nothing")
    answer = site.origin.get(BUYER.rstrip("/"))
    yield from status_is(answer, {301, 302, 307, 308}, "without its slash")
    if answer.get("location") not in {BUYER, site.origin.url + BUYER}:
        yield f"leads to {answer.get('location')!r}"


@check(SOLD, "the gateway is down: 503 as a problem document with Retry-After and Vary", needs="down")
def gateway_down(site: Site) -> Iterator[str]:
    assert site.down is not None
    for path in (*PAID, BUYER):
        answer = site.down.get(path, {"PAYMENT-SIGNATURE": "A" * 15 * KIB})
        yield from is_problem(answer, 503, path)
        if not answer.get("retry-after").isdigit():
            yield f"{path}: Retry-After {answer.get('retry-after')!r}"
        if path in PAID and not tokens(answer.get("vary")) >= PAID_VARY:
            yield f"{path}: Vary {answer.get('vary')!r}"
        if answer.get("payment-required"):
            yield f"{path}: a challenge"
    yield from status_is(site.down.ask("HEAD", PAID[0]), 503, "HEAD")


@check(SOLD, "the gateway is down: the free files do not notice", needs="down")
def free_while_down(site: Site) -> Iterator[str]:
    assert site.down is not None
    for path in FREE:
        yield from same_file(site.down.get(path), site.plain(path), path)


def _shown(raw: bytes) -> str:
    return " ".join(raw.decode().split())[:40]


def _chunked(site: Site, path: str) -> Answer:
    head = f"GET {path} HTTP/1.1\r\nHost: {site.origin.host}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    return site.origin.send(head.encode() + b"5\r\nhello\r\n0\r\n\r\n")


def _error(answer: Answer) -> str:
    return str(json.loads(answer.body).get("error")) if answer.status == 402 else ""


def _whole(answer: Answer, what: str) -> Iterator[str]:
    if answer.status != 402:
        return
    try:
        found = json.loads(base64.b64decode(answer.get("payment-required"), validate=True))
    except ValueError:
        yield f"{what}: PAYMENT-REQUIRED cannot be read: {answer.get('payment-required')[:40]!r}"
        return
    body = json.loads(answer.body)
    for name in ("x402Version", "error", "resource", "accepts"):
        if not found.get(name) or found[name] != body.get(name):
            yield f"{what}: {name} differs between header and body"
