"""Checks of everything else that is published: pinned releases, files that never change, discovery, pages, paths."""

import json
import re
from collections.abc import Iterator
from typing import Final

from generator.catalog.discovery import DISCOVERY_FILES, FEEDS, PAGES
from generator.catalog.downloads import SUMS
from generator.catalog.links import LEARN_WORKER, SECURITY_TXT
from tests.journeys.checks import (
    FREE,
    ONCE,
    ONCE_CACHE,
    ONE,
    PAGE,
    PATHS,
    PINNED,
    PINNED_CACHE,
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
    stays,
    tokens,
)

HTML: Final = "text/html; charset=utf-8"
LINKED: Final = re.compile(
    r'(?:href|src)="(/[^"?#]*\.(?:css|js|svg|png|json|jsonl|csv|xml|txt|md)|/[^"?#]*/SHA256SUMS)"'
)
TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "xml": "application/xml",
    "txt": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}
NAMED: Final = {
    **{feed.path: feed.media_type for feed in FEEDS},
    SUMS: "text/plain; charset=utf-8",
}  # of these the ending says too little
OUTSIDE: Final = (
    "/../../../../../../etc/passwd",
    "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/api/../../../vault/manifest.json",
    "/assets/%2e%2e/%2e%2e/%2e%2e/vault/manifest.json",
    "/api/..;/..;/manifest.json",
    "/..\\..\\etc\\passwd",
    "//etc/passwd",
    "/%2fetc/passwd",
    "/releases/",
    "/current/api/market-regime.php",
    "/once/files/",
    "/payments.sqlite3",
    "/../memory.sqlite3",
    "/_emi/404",
)
DOTTED: Final = ("/.git/config", "/.env", "/api/.htaccess", "/.current.new", "/.well-known/.x", "/assets/../.env", "/.")


@check(PINNED, "/g/<generation>/: the same files, ten minutes and immutable, X-Generation")
def pinned(site: Site) -> Iterator[str]:
    generation = site.generation()
    for path in (*FREE, "/", "/docs/", "/openapi.json", "/.well-known/api-catalog", "/status.json", "/llms.txt"):
        plain = site.plain(path)
        for coding in ("identity", "gzip"):
            answer = site.origin.get(f"/g/{generation}{path}", {"Accept-Encoding": coding})
            yield from same_file(answer, plain, f"{path} {coding}")
            yield from header_is(answer, "cache-control", PINNED_CACHE, path)
            yield from header_is(answer, "x-generation", generation, path)
            yield from header_is(answer, "content-type", plain.get("content-type"), path)
            yield from header_is(answer, "content-security-policy", plain.get("content-security-policy"), path)
        yield from open_to_all(site.origin.get(f"/g/{generation}{path}"), path)


@check(PINNED, "the catalog names itself, to a HEAD too (RFC 9727)")
def catalog(site: Site) -> Iterator[str]:
    for prefix in ("", f"/g/{site.generation()}"):
        path = f"{prefix}/.well-known/api-catalog"
        for method in ("GET", "HEAD"):
            answer = site.origin.ask(method, path)
            yield from status_is(answer, 200, f"{method} {path}")
            yield from header_is(answer, "link", '</.well-known/api-catalog>; rel="api-catalog"', f"{method} {path}")


@check(PINNED, "conditions, HEAD, OPTIONS and ?asset= work there too")
def pinned_requests(site: Site) -> Iterator[str]:
    prefix = f"/g/{site.generation()}"
    tag = site.origin.get(prefix + ONE).get("etag")
    yield from status_is(site.origin.get(prefix + ONE, {"If-None-Match": tag}), 304, "If-None-Match")
    yield from status_is(site.origin.ask("HEAD", prefix + ONE), 200, "HEAD")
    yield from status_is(site.origin.ask("OPTIONS", prefix + ONE), 204, "OPTIONS")
    yield from is_problem(site.origin.ask("POST", prefix + ONE), 405, "POST")
    answer = site.origin.get(f"{prefix}{REASONING}?asset=eth")
    if answer.status != 200 or json.loads(decoded(answer))["asset"] != "ETH":
        yield f"?asset=eth: {answer.status}"
    yield from is_problem(site.origin.get(f"{prefix}{REASONING}?asset=DOGE"), 400, "?asset=DOGE")


@check(PINNED, "a release that is not there: 404")
def pruned(site: Site) -> Iterator[str]:
    generation = site.generation()
    odd = (f"/g/{generation}", "/g/", "/g/1", f"/g/{generation}/nothing", f"/g/{generation}/g/{generation}{ONE}")
    for path in (f"/g/999999999999{ONE}", f"/g/1{ONE}", f"/g/abc{ONE}", f"/g/{generation}9{ONE}", *odd):
        answer = site.origin.get(path)
        if answer.status in {301, 302, 307, 308} and stays(answer, site.origin) and path == f"/g/{generation}":
            continue
        yield from is_problem(answer, 404, path)


@check(PINNED, "nothing is sold there, and nothing lies outside")
def pinned_bounds(site: Site) -> Iterator[str]:
    generation = site.generation()
    for path in ("/api/x402-atlas.php", "/x402-buyer/", "/log/tile/x", "/files/x", "/.env", f"{ONE}.gz", "/_emi/503"):
        yield from is_problem(site.origin.get(f"/g/{generation}{path}"), 404, path)
    for path in ("/../../current/x", "/../../../vault/manifest.json", "/..%2f..%2f..%2fvault/manifest.json"):
        yield from is_problem(site.origin.get(f"/g/{generation}{path}"), {400, 404}, path)


@check(PINNED, "a folder without its slash stays in its release")
def pinned_folder(site: Site) -> Iterator[str]:
    generation = site.generation()
    answer = site.origin.get(f"/g/{generation}/docs")
    yield from status_is(answer, {301, 302, 307, 308}, "/docs")
    if not answer.get("location").endswith(f"/g/{generation}/docs/") or not stays(answer, site.origin):
        yield f"leads to {answer.get('location')!r}"


@check(ONCE, "a year and immutable, strong ETag, 304, HEAD", needs="once")
def once(site: Site) -> Iterator[str]:
    path = site.once or ""
    answer = site.origin.get(path)
    yield from status_is(answer, 200, path)
    yield from header_is(answer, "cache-control", ONCE_CACHE, path)
    yield from open_to_all(answer, path)
    yield from guarded(answer, path)
    tag = answer.get("etag")
    if not tag.startswith('"') or not answer.get("last-modified"):
        yield f"ETag {tag!r}, Last-Modified {answer.get('last-modified')!r}"
    yield from status_is(site.origin.get(path, {"If-None-Match": tag}), 304, "If-None-Match")
    head = site.origin.ask("HEAD", path)
    if head.status != 200 or head.body or head.get("content-length") != str(len(answer.body)):
        yield f"HEAD: {head.status}"


@check(ONCE, "what is not there is 404 and never stored")
def once_missing(site: Site) -> Iterator[str]:
    for path in ("/log/tile/x/y/z", "/files/nothing.csv", "/log/tile/", "/files/", "/log/tile/../../current", "/files"):
        yield from is_problem(site.origin.get(path), 404, path)


@check(PAGE, "the discovery files with their media types")
def discovery(site: Site) -> Iterator[str]:
    for one in DISCOVERY_FILES:
        answer = site.plain(one.path)
        if one.path == SECURITY_TXT and answer.status == 404:  # no contact is set
            continue
        yield from status_is(answer, 200, one.path)
        yield from header_is(answer, "content-type", one.media_type, one.path)
        yield from header_is(answer, "cache-control", RELEASE_CACHE, one.path)
        yield from open_to_all(answer, one.path)
    for path in ("/status.json", "/arena/rounds.json", "/arena/daily.json"):
        yield from header_is(site.plain(path), "content-type", "application/json", path)


@check(PAGE, "pages are HTML with a policy that lets nothing foreign in")
def pages(site: Site) -> Iterator[str]:
    for page in PAGES:
        answer = site.plain(page.path)
        yield from status_is(answer, 200, page.path)
        yield from header_is(answer, "content-type", HTML, page.path)
        yield from header_is(answer, "cache-control", RELEASE_CACHE, page.path)
        yield from guarded(answer, page.path)
        policy = answer.get("content-security-policy")
        if "script-src 'self'" not in policy or "style-src 'self'" not in policy or "unsafe" in policy:
            yield f"{page.path}: {policy}"


@check(PAGE, "the service worker of Learn may fetch what its pages may")
def worker(site: Site) -> Iterator[str]:
    answer = site.plain(LEARN_WORKER)
    yield from status_is(answer, 200, LEARN_WORKER)
    yield from header_is(answer, "content-type", TYPES["js"], LEARN_WORKER)
    policy = site.plain("/learn/").get("content-security-policy")
    yield from header_is(answer, "content-security-policy", policy, LEARN_WORKER)


@check(PAGE, "Link: a page names its Markdown twin, the twin its page, also in a 304")
def twins(site: Site) -> Iterator[str]:
    for page in PAGES:
        for path, link in (
            (page.path, f'<{page.twin}>; rel="alternate"; type="text/markdown"'),
            (page.twin, f'<{page.path}>; rel="canonical"'),
        ):
            answer = site.plain(path)
            yield from status_is(answer, 200, path)
            yield from header_is(answer, "link", link, path)
    yield from header_is(site.plain("/index.md"), "content-type", TYPES["md"], "/index.md")
    unchanged = site.origin.get("/docs/", {"If-None-Match": site.plain("/docs/").get("etag")})
    yield from status_is(unchanged, 304, "/docs/")
    if unchanged.all("link") not in ([], site.plain("/docs/").all("link")):
        yield f"/docs/: a 304 with {unchanged.all('link')}"
    if site.plain(ONE).all("link"):
        yield f"{ONE}: {site.plain(ONE).all('link')}"


@check(PAGE, "what a page links to is there with its type")
def linked(site: Site) -> Iterator[str]:
    paths = {path for page in PAGES for path in LINKED.findall(site.plain(page.path).body.decode())}
    if len(paths) < 3:
        yield f"only {sorted(paths)} linked"
    for path in sorted(paths):
        answer = site.plain(path)
        yield from status_is(answer, 200, path)
        yield from header_is(answer, "content-type", NAMED.get(path) or TYPES[path.rpartition(".")[2]], path)


@check(PAGE, "where nothing is, who takes HTML gets a page with its 404, everybody else a problem document")
def nothing(site: Site) -> Iterator[str]:
    for path in ("/no-such-page", "/docs/no/such/page/", "/api/no-such.php"):
        answer = site.origin.get(path, {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        yield from status_is(answer, 404, path)
        yield from header_is(answer, "content-type", HTML, path)
        yield from header_is(answer, "cache-control", "no-store", path)
        yield from guarded(answer, path)
        if "accept" not in tokens(answer.get("vary")) or "script-src 'self'" not in answer.get(
            "content-security-policy"
        ):
            yield f"{path}: {answer.all('vary')}, {answer.get('content-security-policy')}"
        yield from is_problem(site.origin.get(path, {"Accept": "*/*"}), 404, path)


@check(PAGE, "a folder without its slash leads to the page, on the same scheme, host and port")
def folder(site: Site) -> Iterator[str]:
    for headers in ({}, {"Host": "elsewhere.example:99"}):
        answer = site.origin.get("/docs", headers)
        if headers and answer.status == 421:
            continue
        yield from status_is(answer, {301, 302, 307, 308}, "/docs")
        if answer.get("location") not in {"/docs/", f"{site.origin.url}/docs/"}:
            yield f"leads to {answer.get('location')!r}"


@check(PATHS, "nothing outside the release is ever read")
def outside(site: Site) -> Iterator[str]:
    for path in OUTSIDE:
        answer = site.origin.get(path)
        yield from status_is(answer, {400, 404}, path)
        if b"root:" in answer.body or b"snapshots" in answer.body:
            yield f"{path}: read"


@check(PATHS, "names that begin with a dot: 404")
def dotted(site: Site) -> Iterator[str]:
    for path in DOTTED:
        answer = site.origin.get(path)
        if path == "/." and (answer.status == 200 or stays(answer, site.origin)):
            continue
        yield from is_problem(answer, 404, path)


@check(PATHS, "compressed siblings are not files of their own: 404")
def siblings(site: Site) -> Iterator[str]:
    for path in (*FREE, "/index.html", "/openapi.json"):
        for ending in (".gz", ".br"):
            yield from is_problem(site.origin.get(path + ending), 404, path + ending)


@check(PATHS, "no folder is listed: 404")
def listing(site: Site) -> Iterator[str]:
    for path in ("/api", "/api/", "/assets/", "/.well-known/", "/api/reasoning/"):
        answer = site.origin.get(path)
        if answer.status in {301, 302, 307, 308} and stays(answer, site.origin):
            answer = site.origin.get(answer.get("location").removeprefix(site.origin.url))
        yield from is_problem(answer, 404, path)


@check(PATHS, "doubled, dotted and encoded slashes: the same file, or 400 or 404, or a redirect that stays here")
def slashes(site: Site) -> Iterator[str]:
    name = ONE.rpartition("/")[2]
    forms = (
        f"//api/{name}",
        f"/api//{name}",
        f"/api%2f{name}",
        f"/./api/{name}",
        f"/docs/../api/{name}",
        f"/api/%6d{name[1:]}",
    )
    for path in (*forms, "//elsewhere.example/", "//elsewhere.example/docs", "/\\elsewhere.example/docs", "///docs"):
        answer = site.origin.get(path)
        if answer.status == 200:
            yield from same_file(answer, site.plain(ONE if "api" in path else "/"), path)
        elif answer.status in {301, 302, 307, 308}:
            if not stays(answer, site.origin):
                yield f"{path}: leads to {answer.get('location')!r}"
        else:
            yield from status_is(answer, {400, 404}, path)


@check(PATHS, "another case, a slash or a path behind a file: 404")
def behind(site: Site) -> Iterator[str]:
    for path in (ONE.upper(), "/API/market-regime.php", f"{ONE}/", f"{ONE}/x", f"{ONE}%20", f"{ONE};x", "/index.html/"):
        answer = site.origin.get(path)
        if answer.status in {301, 302, 307, 308} and stays(answer, site.origin):
            continue
        yield from is_problem(answer, 404, path)
