import gzip
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gateway.app import preview as preview_module
from gateway.app.application import build_app
from gateway.app.preview import Preview
from gateway.errors import PreviewRefused
from gateway.settings import GatewaySettings
from generator.catalog.discovery import ONCE_CACHE_CONTROL, ONCE_PREFIXES, PINNED_CACHE_CONTROL
from tests.support.gateway_app import REGIME, in_loop

FREE = "/api/market-regime.php"


def publish(site: Path, generation: str, files: dict[str, bytes]) -> None:
    release = site / "releases" / generation
    for name, content in files.items():
        path = release / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    draft = site / "draft"
    draft.symlink_to(f"releases/{generation}")
    draft.replace(site / "current")


def files(text: bytes = b'{"success": true}') -> dict[str, bytes]:
    return {
        FREE: text,
        f"{FREE}.gz": gzip.compress(text),
        f"{FREE}.br": b"brotli of it",
        "/api/reasoning.php": b'"BTC"',
        "/api/reasoning/BTC.json": b'"BTC"',
        "/api/reasoning/ETH.json": b'"ETH"',
        "/index.html": b"<h1>hello</h1>",
        "/docs/index.html": b"<h1>docs</h1>",
        "/llms.txt": b"text",
        "/.well-known/api-catalog": b"{}",
    }


@asynccontextmanager
async def site_of(folder: Path, **published: bytes) -> AsyncIterator[httpx2.AsyncClient]:
    publish(folder / "site", "000000000001", {**files(), **published})
    app = build_app(GatewaySettings(state_dir=folder), preview=True)
    client = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app), base_url="http://localhost", headers={"accept-encoding": "identity"}
    )
    async with app.router.lifespan_context(app), client:
        yield client


def alone(site: Path) -> httpx2.AsyncClient:
    """Return a client of a preview without a gateway around it."""
    transport = httpx2.ASGITransport(app=Preview(site, "project"))
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers={"accept-encoding": "identity"})


@in_loop
async def test_a_free_file_has_the_headers_of_the_contract(tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        answer = await client.get(FREE)

    assert (answer.status_code, answer.json()) == (200, {"success": True})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"
    assert answer.headers["last-modified"] == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["x-generation"] == "000000000001"
    assert answer.headers["etag"].startswith('"')


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("br, gzip", "br"),
        ("gzip", "gzip"),
        ("gzip, br;q=0", "gzip"),
        ("*", "br"),
        ("identity", None),
        ("", None),
        ("br;q=nonsense", None),
        ("br;q=0.5, gzip", "gzip"),
        ("gzip;q=0.2, identity", None),
        ("br;q=7", None),
        ("*;q=0", None),
        ("GZIP", "gzip"),
    ],
)
@in_loop
async def test_variants_follow_accept_encoding(accepted: str, coding: str | None, tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        plain = await client.get(FREE)
        async with client.stream("GET", FREE, headers={"accept-encoding": accepted}) as answer:
            raw = b"".join([chunk async for chunk in answer.aiter_raw()])

    assert answer.headers.get("content-encoding") == coding
    assert answer.headers["vary"] == "Accept-Encoding"
    assert (answer.headers["etag"] == plain.headers["etag"]) is (coding is None)
    assert len(raw) == int(answer.headers["content-length"])


@in_loop
async def test_conditional_requests_are_304(tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        etag = (await client.get(FREE)).headers["etag"]
        cases: list[tuple[dict[str, str], int]] = [
            ({"if-none-match": etag}, 304),
            ({"if-none-match": f'"other", W/{etag}'}, 304),
            ({"if-none-match": '"other"'}, 200),
            ({"if-modified-since": "Tue, 14 Nov 2023 22:13:20 GMT"}, 304),
            ({"if-modified-since": "Tue, 14 Nov 2023 22:13:19 GMT"}, 200),
            ({"if-modified-since": "not a date"}, 200),
            ({"if-none-match": '"other"', "if-modified-since": "Tue, 14 Nov 2023 22:13:20 GMT"}, 200),
        ]
        answers = [(await client.get(FREE, headers=headers), status) for headers, status in cases]

    assert [answer.status_code for answer, _ in answers] == [status for _, status in answers]
    assert answers[0][0].content == b""


@pytest.mark.parametrize(
    ("query", "body"), [("", '"BTC"'), ("?asset=", '"BTC"'), ("?asset=eth", '"ETH"'), ("?asset=ETH", '"ETH"')]
)
@in_loop
async def test_reasoning_maps_the_asset(query: str, body: str, tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        answer = await client.get(f"/api/reasoning.php{query}")

    assert answer.text == body


@in_loop
async def test_an_unsupported_asset_is_400_and_names_those_supported(tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        answer = await client.get("/api/reasoning.php?asset=DOGE")

    assert answer.status_code == 400
    assert answer.json()["supported_assets"] == ["BTC", "ETH"]
    assert answer.headers["cache-control"] == "no-store"


@in_loop
async def test_head_options_and_other_methods(tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        head, options, post = await client.head(FREE), await client.options(FREE), await client.post(FREE)

    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "17")
    assert (options.status_code, options.headers["access-control-allow-origin"]) == (204, "*")
    assert (post.status_code, post.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/../payments.sqlite3",
        "/%2e%2e/payments.sqlite3",
        "/api/..%2f..%2f..%2fsecret",
        f"{FREE}.gz",
        "/api",
    ],
)
@in_loop
async def test_what_is_not_published_is_404(path: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")

    async with site_of(tmp_path) as client:
        answer = await client.get(path)

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["disclaimer"]


@in_loop
async def test_pages_and_text_have_their_types_and_pages_a_policy(tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        page, docs, text = await client.get("/"), await client.get("/docs/"), await client.get("/llms.txt")
        catalogue = await client.get("/.well-known/api-catalog")

    assert page.headers["content-type"] == docs.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert catalogue.headers["content-type"].startswith("application/linkset+json")


@in_loop
async def test_a_folder_without_slash_leads_to_its_page(tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        answer = await client.get("/docs")

    assert (answer.status_code, answer.headers["location"]) == (308, "/docs/")


@in_loop
async def test_before_the_first_release_the_site_is_503_and_the_gateway_answers(tmp_path: Path) -> None:
    app = build_app(GatewaySettings(state_dir=tmp_path), preview=True)
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost")
    async with app.router.lifespan_context(app), client:
        answers: list[Any] = [await client.get(path) for path in (FREE, REGIME, "/healthz")]

    assert [answer.status_code for answer in answers] == [503, 503, 200]


def test_the_preview_refuses_a_public_host(tmp_path: Path) -> None:
    settings = GatewaySettings(state_dir=tmp_path, host="0.0.0.0", base_url="http://127.0.0.1")

    with pytest.raises(PreviewRefused, match=r"0\.0\.0\.0"):
        build_app(settings, preview=True)


@in_loop
async def test_a_304_says_what_the_200_would_but_for_the_body(tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        full = await client.get(FREE)
        unchanged = await client.get(FREE, headers={"if-none-match": full.headers["etag"]})

    of_the_body = {"content-type", "content-length"}
    assert {k: v for k, v in full.headers.items() if k not in of_the_body} == dict(unchanged.headers)


@in_loop
async def test_a_release_is_reached_by_its_number_while_it_is_kept(tmp_path: Path) -> None:
    for number in range(1, 10):
        publish(tmp_path, f"{number:012d}", files(b'{"n": %d}' % number))
    async with alone(tmp_path) as client:
        answers = [await client.get(f"/g/{number:012d}{FREE}") for number in (9, 8, 3, 1, 2, 4, 5, 6)]
        mapped = await client.get("/g/000000000003/api/reasoning.php?asset=eth")
        page, folder = await client.get("/g/000000000003/docs/"), await client.get("/g/000000000003/docs")

    assert [answer.json()["n"] for answer in answers[2:]] == [3, 1, 2, 4, 5, 6]
    assert answers[1].headers["x-generation"] == "000000000008"
    assert {answer.headers["cache-control"] for answer in answers} == {"public, max-age=600, immutable"}
    assert (mapped.text, page.status_code) == ('"ETH"', 200)
    assert folder.headers["location"] == "/g/000000000003/docs/"


@pytest.mark.parametrize(
    "path",
    [
        "/g/000000000007/api/market-regime.php",
        "/g/000000000000/api/market-regime.php",
        "/g/1/api/market-regime.php",
        "/g/000000000001/nothing",
        "/g/000000000001/log/tile/0/000",
        "/g/000000000001/../../../secret",
        "/g/000000000001",
    ],
)
@in_loop
async def test_a_release_that_is_not_kept_or_never_was_is_404(path: str, tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        (tmp_path / "site" / "releases" / "000000000007").mkdir()
        answer = await client.get(path)

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"


@in_loop
async def test_a_new_release_is_served_once_the_pointer_moves_and_a_pruned_one_not(tmp_path: Path) -> None:
    answers = []
    async with alone(tmp_path) as client:
        for number in (1, 2):
            publish(tmp_path, f"{number:012d}", files(b'{"n": %d}' % number))
            answers.append(await client.get(FREE))
        shutil.rmtree(tmp_path / "releases" / "000000000001")
        pruned = await client.get(f"/g/000000000001{FREE}")

    assert [answer.json()["n"] for answer in answers] == [1, 2]
    assert pruned.status_code == 404


@in_loop
async def test_an_immutable_file_is_served_for_good(tmp_path: Path) -> None:
    tile = tmp_path / "site" / "once" / "log" / "tile" / "0" / "000"
    tile.parent.mkdir(parents=True)
    tile.write_bytes(b"\x00tile")
    async with site_of(tmp_path) as client:
        answer, again = [await client.get("/log/tile/0/000") for _ in range(2)]
        head = await client.head("/log/tile/0/000")
        unchanged = await client.get("/log/tile/0/000", headers={"if-none-match": answer.headers["etag"]})

    assert (answer.content, again.content, head.content) == (b"\x00tile", b"\x00tile", b"")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-generation"] == "000000000001"
    assert unchanged.status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/log/tile/0/001",
        "/log/tile/",
        "/log/tile",
        "/files/../../secret",
        "/files/%2e%2e/%2e%2e/secret",
        "/files/.hidden",
        "/files/link",
        "/files/link/passwd",
        "/files/a%00b",
        "/files//a",
        f"/files/{'a' * 300}",
    ],
)
@in_loop
async def test_nothing_but_the_immutable_files_is_reached(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "site" / "once" / "files"
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (folder / ".hidden").write_text("secret")
    (folder / "link").symlink_to("/etc")

    async with site_of(tmp_path) as client:
        answer = await client.get(path)

    assert answer.status_code == 404


def test_the_preview_keeps_the_walls_of_the_generator() -> None:
    assert preview_module.ONCE_PREFIXES == ONCE_PREFIXES
    assert preview_module.ONCE_CACHE_CONTROL == ONCE_CACHE_CONTROL
    assert preview_module.PINNED_CACHE_CONTROL == PINNED_CACHE_CONTROL
