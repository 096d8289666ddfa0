from __future__ import annotations

import gzip
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gateway.app import build_app
from gateway.errors import PreviewRefused
from gateway.preview import Preview
from gateway.settings import GatewaySettings
from tests.gateway.house import REGIME, in_loop

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
        transport=httpx2.ASGITransport(app=app), base_url="http://site", headers={"accept-encoding": "identity"}
    )
    async with app.router.lifespan_context(app), client:
        yield client


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
async def test_a_new_release_is_served_after_the_pointer_moves(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, "000000000001", files(b"one"))
    preview = Preview(site, "project")
    await preview.refresh()
    publish(site, "000000000002", files(b"two"))

    moved, again = await preview.refresh(), await preview.refresh()

    assert (moved, again) == (True, False)
    assert preview._loaded is not None
    assert preview._loaded.files[FREE].variants["identity"].content == b"two"


@in_loop
async def test_before_the_first_release_the_site_is_503_and_the_gateway_answers(tmp_path: Path) -> None:
    app = build_app(GatewaySettings(state_dir=tmp_path), preview=True)
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://site")
    async with app.router.lifespan_context(app), client:
        answers: list[Any] = [await client.get(path) for path in (FREE, REGIME, "/healthz")]

    assert [answer.status_code for answer in answers] == [503, 503, 200]


def test_the_preview_refuses_a_public_host(tmp_path: Path) -> None:
    settings = GatewaySettings(state_dir=tmp_path, host="0.0.0.0", base_url="http://127.0.0.1")

    with pytest.raises(PreviewRefused, match=r"0\.0\.0\.0"):
        build_app(settings, preview=True)
