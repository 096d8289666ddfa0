"""Checks of the free files: methods, encodings, conditions, queries."""

import json
import time
from collections.abc import Iterator
from email.utils import formatdate, parsedate_to_datetime
from itertools import combinations
from typing import Final

from generator.catalog.assets import ASSETS
from tests.journeys.checks import (
    CODINGS,
    CONDITIONS,
    ENCODINGS,
    FILES,
    FREE,
    METHODS,
    ONE,
    PREFLIGHT_HEADERS,
    QUERY,
    REASONING,
    RELEASE_CACHE,
    Site,
    check,
    decoded,
    guarded,
    header_is,
    is_problem,
    open_to_all,
    same_file,
    status_is,
    tokens,
)
from tests.journeys.wire import Answer

OTHER_METHODS: Final = ("POST", "PUT", "DELETE", "PATCH", "TRACE")
# An unknown coding, all codings refused, one refused, the weight that means never.
NEVER: Final = (
    ("br;q=0, gzip;q=0", "br gzip"),
    ("br;q=0.000", "br gzip"),
    ("gzip;q=0.0", "gzip br"),
    ("br;q=0,gzip", "br"),
)
ODD: Final = ("", "*", "identity", "zstd", "identity;q=0.5, *;q=0", "GZIP", "gzip ; q=0.5", "br;q=nonsense", ";;,,")
UNSUPPORTED: Final = ("DOGE", "BTCX", "BT", "../BTC", "..%2fBTC", "ETH.json", "BTC%00", "BTC,ETH", "%C3%9F", "A" * 900)


@check(FILES, "GET: 200, application/json, the body of that endpoint")
def get(site: Site) -> Iterator[str]:
    for path in FREE:
        answer = site.plain(path)
        yield from status_is(answer, 200, path)
        yield from header_is(answer, "content-type", "application/json", path)
        body = json.loads(answer.body)
        if body["success"] is not True or not body["endpoint"]:
            yield f"{path}: not a free answer"


@check(FILES, "Cache-Control as promised, word for word")
def cache(site: Site) -> Iterator[str]:
    for path in FREE:
        yield from header_is(site.plain(path), "cache-control", RELEASE_CACHE, path)


@check(FILES, "any origin may read it")
def cors(site: Site) -> Iterator[str]:
    for path in FREE:
        yield from open_to_all(site.origin.get(path, {"Origin": "https://elsewhere.example"}), path)


@check(FILES, "security headers, no cookie, no version of the server")
def security(site: Site) -> Iterator[str]:
    for path in FREE:
        yield from guarded(site.plain(path), path)


@check(FILES, "Vary names Accept-Encoding, also without a coding")
def vary(site: Site) -> Iterator[str]:
    for path in FREE:
        for coding in ENCODINGS:
            if tokens(_coded(site, path, coding).get("vary")) != {"accept-encoding"}:
                yield f"{path} {coding}: Vary {_coded(site, path, coding).all('vary')}"


@check(FILES, "a strong ETag and a Last-Modified of the past")
def validators(site: Site) -> Iterator[str]:
    for path in FREE:
        for coding in ENCODINGS:
            answer = _coded(site, path, coding)
            tag = answer.get("etag")
            if len(answer.all("etag")) != 1 or not (tag.startswith('"') and tag.endswith('"') and len(tag) > 4):
                yield f"{path} {coding}: ETag {answer.all('etag')}"
            if parsedate_to_datetime(answer.get("last-modified")).timestamp() > time.time() + 5:
                yield f"{path} {coding}: Last-Modified {answer.get('last-modified')}"


@check(FILES, "X-Generation is the generation in the body")
def generation(site: Site) -> Iterator[str]:
    for path in FREE:
        answer = site.plain(path)
        yield from header_is(answer, "x-generation", json.loads(answer.body)["freshness"]["generation"], path)


@check(FILES, "HEAD: the headers of GET, no body")
def head(site: Site) -> Iterator[str]:
    # A server that does not know the length beforehand sends GET in chunks, and HEAD without either.
    volatile = {"date", "connection", "age", "server", "transfer-encoding"}
    for path in FREE:
        for coding in ENCODINGS:
            asked = {"Accept-Encoding": coding}
            got, answer = site.origin.get(path, asked), site.origin.ask("HEAD", path, asked)
            wanted, stated = (sorted(pair for pair in one.headers if pair[0] not in volatile) for one in (got, answer))
            if answer.status != got.status or stated != wanted or answer.body:
                yield f"{path} {coding}: {answer.status} with {set(wanted) ^ set(stated)}"


@check(FILES, "OPTIONS: 204, GET, HEAD and the payment headers are allowed")
def options(site: Site) -> Iterator[str]:
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "GET"}
    for path in (*FREE, "/", "/openapi.json"):
        answer = site.origin.ask("OPTIONS", path, asked)
        yield from status_is(answer, 204, path)
        yield from header_is(answer, "access-control-allow-origin", "*", path)
        if not tokens(answer.get("access-control-allow-methods")) >= METHODS:
            yield f"{path}: allows methods {answer.get('access-control-allow-methods')!r}"
        if not tokens(answer.get("access-control-allow-headers")) >= PREFLIGHT_HEADERS:
            yield f"{path}: allows headers {answer.get('access-control-allow-headers')!r}"


@check(FILES, "other methods: 405 as a problem document with Allow")
def methods(site: Site) -> Iterator[str]:
    for path in (*FREE, "/", "/docs/", "/llms.txt", "/api/reasoning/ETH.json"):
        for method in OTHER_METHODS if path == ONE else OTHER_METHODS[:3]:
            answer = site.origin.ask(method, path)
            yield from is_problem(answer, 405, f"{method} {path}")
            if tokens(answer.get("allow")) != METHODS:
                yield f"{method} {path}: Allow {answer.get('allow')!r}"


@check(FILES, "payment headers change nothing")
def payment_ignored(site: Site) -> Iterator[str]:
    for path in FREE:
        for headers in ({"PAYMENT-SIGNATURE": "junk", "X-PAYMENT": "junk"}, {"PAYMENT-SIGNATURE": "A" * 15 * 1024}):
            answer = site.origin.get(path, headers)
            yield from same_file(answer, site.plain(path), path)
            yield from header_is(answer, "cache-control", RELEASE_CACHE, path)


@check(CODINGS, "gzip for who takes gzip")
def gzip_alone(site: Site) -> Iterator[str]:
    yield from _one_coding(site, "gzip", "gzip")


@check(CODINGS, "br for who takes br")
def br_alone(site: Site) -> Iterator[str]:
    yield from _one_coding(site, "br", "br")


@check(CODINGS, "of gzip and br the smaller")
def smaller(site: Site) -> Iterator[str]:
    for accepted in ("gzip, deflate, br", "br, gzip", "br;q=1.0, gzip;q=1.0", "gzip, deflate, br, zstd"):
        yield from _one_coding(site, accepted, "br")


@check(CODINGS, "a coding with weight 0 is never sent")
def never(site: Site) -> Iterator[str]:
    for path in (ONE, REASONING, "/docs/"):
        for accepted, refused in NEVER:
            answer = site.origin.get(path, {"Accept-Encoding": accepted})
            yield from same_file(answer, site.plain(path), f"{path} {accepted!r}")
            if accepted.count("q=0") and answer.get("content-encoding") in _refused(accepted, refused):
                yield f"{path} {accepted!r}: sent {answer.get('content-encoding')}"


@check(CODINGS, "odd Accept-Encoding: the same file, in a coding that was not refused")
def odd(site: Site) -> Iterator[str]:
    for accepted in ODD:
        answer = site.origin.get(ONE, {"Accept-Encoding": accepted})
        yield from same_file(answer, site.plain(), repr(accepted))
        coding = answer.get("content-encoding")
        if coding and coding not in accepted.lower() and "*" not in accepted:
            yield f"{accepted!r}: sent {coding}"


@check(CODINGS, "also through a proxy and by HTTP/1.0")
def through_proxy(site: Site) -> Iterator[str]:
    answer = site.origin.get(ONE, {"Accept-Encoding": "gzip", "Via": "1.1 cdn.example"})
    yield from header_is(answer, "content-encoding", "gzip", "with Via")
    old = site.origin.send(f"GET {ONE} HTTP/1.0\r\nHost: {site.origin.host}\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    yield from same_file(old, site.plain(), "HTTP/1.0")


@check(CODINGS, "each encoding has an ETag of its own")
def distinct_tags(site: Site) -> Iterator[str]:
    for path in (*FREE, "/", "/docs/", "/openapi.json"):
        coded = {answer.get("content-encoding"): answer.get("etag") for answer in _codings(site, path)}
        for one, other in combinations(coded, 2):
            if coded[one] == coded[other]:
                yield f"{path}: {one or 'identity'} and {other} share {coded[one]}"


@check(CONDITIONS, "If-None-Match with the ETag, weak, listed or *: 304 without body, in every encoding")
def none_match(site: Site) -> Iterator[str]:
    for path in FREE:
        for coding in ENCODINGS:
            held = _coded(site, path, coding)
            tag = held.get("etag")
            for condition in (tag, f"W/{tag}", f'"other", {tag}', "*"):
                answer = site.origin.get(path, {"Accept-Encoding": coding, "If-None-Match": condition})
                yield from _not_modified(answer, held, f"{path} {coding} {condition}")


@check(CONDITIONS, "another ETag, an old one, one of another encoding: 200 with the file")
def other_tag(site: Site) -> Iterator[str]:
    for path in FREE:
        tag = site.plain(path).get("etag")
        for condition in ('"other"', 'W/"other"', tag.strip('"'), f'"{tag[1:-1]}x"', ""):
            answer = site.origin.get(path, {"If-None-Match": condition} if condition else {})
            yield from same_file(answer, site.plain(path), f"{path} {condition}")
    for one, other in combinations(_codings(site, ONE), 2):
        coding = other.get("content-encoding")
        answer = site.origin.get(ONE, {"Accept-Encoding": coding, "If-None-Match": one.get("etag")})
        yield from same_file(answer, site.plain(), f"the ETag of another encoding, asked for {coding}")


@check(CONDITIONS, "If-Modified-Since: 304 at the date and later, 200 before it or for nonsense")
def modified_since(site: Site) -> Iterator[str]:
    for path in FREE:
        held = site.plain(path)
        at = parsedate_to_datetime(held.get("last-modified")).timestamp()
        for date in (held.get("last-modified"), formatdate(max(at, time.time()), usegmt=True)):
            answer = site.origin.get(path, {"If-Modified-Since": date})
            yield from _not_modified(answer, held, f"{path} since {date}")
        for date in (formatdate(at - 1, usegmt=True), formatdate(0, usegmt=True), "yesterday"):
            answer = site.origin.get(path, {"If-Modified-Since": date})
            yield from same_file(answer, held, f"{path} since {date}")


@check(CONDITIONS, "another ETag with a matching date: 200")
def tag_before_date(site: Site) -> Iterator[str]:
    for path in FREE:
        asked = {"If-None-Match": '"other"', "If-Modified-Since": site.plain(path).get("last-modified")}
        yield from same_file(site.origin.get(path, asked), site.plain(path), path)


@check(CONDITIONS, "the ETag with an older date: 304, the date is not asked")
def tag_with_old_date(site: Site) -> Iterator[str]:
    asked = {"If-None-Match": site.plain().get("etag"), "If-Modified-Since": formatdate(0, usegmt=True)}
    yield from _not_modified(site.origin.get(ONE, asked), site.plain(), ONE)


@check(CONDITIONS, "HEAD with the ETag: 304")
def head_not_modified(site: Site) -> Iterator[str]:
    answer = site.origin.ask("HEAD", ONE, {"If-None-Match": site.plain().get("etag")})
    yield from _not_modified(answer, site.plain(), ONE)


@check(CONDITIONS, "the 304 of a page repeats the page's policy: it replaces the stored one")
def page_policy_in_304(site: Site) -> Iterator[str]:
    for path in ("/", "/docs/", ONE):
        held = site.plain(path)
        answer = site.origin.get(path, {"If-None-Match": held.get("etag")})
        yield from status_is(answer, 304, path)
        if answer.get("content-security-policy") not in {"", held.get("content-security-policy")}:
            yield f"{path}: {answer.get('content-security-policy')}"


@check(CONDITIONS, "Range: the whole file or exactly that range, never one of another version")
def ranges(site: Site) -> Iterator[str]:
    whole = site.plain()
    for asked, wanted in (("bytes=0-9", whole.body[:10]), ("bytes=-5", whole.body[-5:])):
        answer = site.origin.get(ONE, {"Range": asked})
        if answer.status == 206:
            if answer.body != wanted or not answer.get("content-range").endswith(f"/{len(whole.body)}"):
                yield f"{asked}: {answer.get('content-range')} {len(answer.body)} bytes"
        else:
            yield from same_file(answer, whole, asked)
    stale = site.origin.get(ONE, {"Range": "bytes=0-9", "If-Range": '"other"'})
    yield from same_file(stale, whole, "If-Range of another version")
    beyond = site.origin.get(ONE, {"Range": "bytes=99999999-"})
    yield from is_problem(beyond, 416, "beyond the end") if beyond.status != 200 else ()


@check(QUERY, "each asset, in upper, lower and mixed case")
def assets(site: Site) -> Iterator[str]:
    for asset in ASSETS:
        for written in (asset, asset.lower(), asset.capitalize()):
            yield from _reads(site, f"?asset={written}", asset)


@check(QUERY, "no asset or an empty one: BTC")
def default_asset(site: Site) -> Iterator[str]:
    for query in ("", "?", "?asset", "?asset="):
        yield from _reads(site, query, "BTC")


@check(QUERY, "an unsupported asset: 400 as a problem document that names the supported ones")
def unsupported(site: Site) -> Iterator[str]:
    for asset in UNSUPPORTED:
        answer = site.origin.get(f"{REASONING}?asset={asset}")
        yield from is_problem(answer, 400, asset[:12])
        if answer.status == 400 and answer.body[:1] == b"{":
            named = json.loads(answer.body).get("supported_assets")
            if sorted(named or ()) != sorted(ASSETS):
                yield f"{asset[:12]}: supported_assets {named}"


@check(QUERY, "of a repeated asset the first counts")
def repeated(site: Site) -> Iterator[str]:
    yield from _reads(site, "?asset=ETH&asset=SOL", "ETH")
    yield from _reads(site, "?asset=sol&asset=DOGE", "SOL")


@check(QUERY, "other names are ignored, here and on the other free paths")
def other_names(site: Site) -> Iterator[str]:
    for query, asset in (("?x=1", "BTC"), ("?assets=ETH", "BTC"), ("?x=1&asset=ETH", "ETH"), ("?asset=XRP&y", "XRP")):
        yield from _reads(site, query, asset)
    for path in FREE:
        if path != REASONING:
            yield from same_file(site.origin.get(f"{path}?asset=DOGE&x=../y"), site.plain(path), path)


@check(QUERY, "a static path for each asset, the same bytes as the query")
def static_assets(site: Site) -> Iterator[str]:
    for asset in ASSETS:
        answer = site.origin.get(f"/api/reasoning/{asset}.json")
        yield from header_is(answer, "content-type", "application/json", asset)
        yield from same_file(site.origin.get(f"{REASONING}?asset={asset}"), answer, asset)


def _coded(site: Site, path: str, coding: str) -> Answer:
    key = f"{coding} {path}"
    if key not in site.seen:
        site.seen[key] = site.origin.get(path, {"Accept-Encoding": coding})
    return site.seen[key]


def _codings(site: Site, path: str) -> list[Answer]:
    """Return one answer for each encoding that the site really has of this file."""
    found = {answer.get("content-encoding"): answer for answer in (_coded(site, path, coding) for coding in ENCODINGS)}
    return list(found.values())


def _one_coding(site: Site, accepted: str, wanted: str) -> Iterator[str]:
    for path in (*FREE, "/", "/openapi.json", "/llms.txt"):
        answer = site.origin.get(path, {"Accept-Encoding": accepted})
        yield from same_file(answer, site.plain(path), path)
        yield from header_is(answer, "content-encoding", wanted, f"{path} {accepted!r}")
        yield from header_is(answer, "content-type", site.plain(path).get("content-type"), path)
        if len(answer.body) >= len(site.plain(path).body):
            yield f"{path} {accepted!r}: not smaller"


def _refused(accepted: str, named: str) -> set[str]:
    zero = {part.split(";")[0].strip() for part in accepted.split(",") if "q=0" in part}
    return zero | {name for name in named.split() if name not in accepted}


def _not_modified(answer: Answer, held: Answer, what: str) -> Iterator[str]:
    yield from status_is(answer, 304, what)
    if answer.body or answer.get("content-length") not in {"", "0", held.get("content-length")}:
        yield f"{what}: a body"
    for name in ("etag", "cache-control", "vary", "access-control-allow-origin"):
        yield from header_is(answer, name, held.get(name), what)


def _reads(site: Site, query: str, asset: str) -> Iterator[str]:
    answer = site.origin.get(REASONING + query)
    yield from status_is(answer, 200, query)
    named = json.loads(decoded(answer)).get("asset") if answer.status == 200 else None
    if answer.status == 200 and named != asset:
        yield f"{query}: {named} instead of {asset}"
