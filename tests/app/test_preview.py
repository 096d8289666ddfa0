"""The preview of a folder; what it keeps of the contract is checked in `journeys/test_checker_preview.py`."""

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
from gateway.app.preview import CACHE_CONTROL, START, Preview
from gateway.errors import GatewayError
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
        "/api/reasoning/ETH.json": b'"ETH"',
    }


@asynccontextmanager
async def site_of(folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    publish(folder / "site", "000000000001", files())
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


@pytest.mark.parametrize(("path", "pinned"), [(FREE, False), (f"/g/{START}{FREE}", True)])
@in_loop
async def test_the_release_before_the_first_reading_is_neither_kept_nor_indexed(
    path: str, tmp_path: Path, *, pinned: bool
) -> None:
    publish(tmp_path, START, files())
    async with alone(tmp_path) as client:
        starting = (await client.get(path)).headers
        publish(tmp_path, "000000000001", files())
        started = (await client.get(path)).headers

    assert (starting["cache-control"], starting["x-robots-tag"]) == ("no-store", "noindex")
    assert (started["cache-control"], started.get("x-robots-tag")) == (
        ("no-store", "noindex") if pinned else (CACHE_CONTROL, None)
    )


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("br, gzip", "br"),
        ("gzip", "gzip"),
        ("gzip, br;q=0", "gzip"),
        ("*", "br"),
        ("identity", None),
        ("", None),
        ("br;q=0.5, gzip", "br"),
        ("br;q=0.000, gzip;q=0.2", "gzip"),
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
async def test_before_the_first_release_the_site_is_503_and_the_gateway_answers(tmp_path: Path) -> None:
    app = build_app(GatewaySettings(state_dir=tmp_path), preview=True)
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost")
    async with app.router.lifespan_context(app), client:
        answers: list[Any] = [await client.get(path) for path in (FREE, REGIME, "/healthz")]

    assert [answer.status_code for answer in answers] == [503, 503, 200]


def test_the_preview_refuses_a_public_host(tmp_path: Path) -> None:
    settings = GatewaySettings(state_dir=tmp_path, host="0.0.0.0", base_url="http://127.0.0.1")

    with pytest.raises(GatewayError, match=r"0\.0\.0\.0"):
        build_app(settings, preview=True)


@in_loop
async def test_a_release_is_reached_by_its_number_while_it_is_kept(tmp_path: Path) -> None:
    for number in range(1, 10):
        publish(tmp_path, f"{number:012d}", files(b'{"n": %d}' % number))
    (tmp_path / "releases" / "000000000010").mkdir()  # on its way, and not pointed to
    async with alone(tmp_path) as client:
        answers = [await client.get(f"/g/{number:012d}{FREE}") for number in (8, 3, 1, 2, 4, 5, 6)]
        mapped = await client.get("/g/000000000003/api/reasoning.php?asset=eth")
        early = await client.get(f"/g/000000000010{FREE}")

    assert [answer.json()["n"] for answer in answers] == [8, 3, 1, 2, 4, 5, 6]
    assert answers[1].headers["x-generation"] == "000000000003"
    assert (mapped.text, early.status_code) == ('"ETH"', 404)


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


@in_loop
async def test_a_browser_gets_a_page_where_nothing_is_and_a_program_a_problem(tmp_path: Path) -> None:
    async with site_of(tmp_path) as client:
        publish(tmp_path / "site", "000000000002", {**files(), "/not-found/index.html": b"<p>Nothing here"})

        page = await client.get("/no-such", headers={"accept": "text/html,*/*"})
        document = await client.get("/no-such", headers={"accept": "application/json"})

    assert (page.status_code, page.headers["content-type"], page.text) == (
        404,
        "text/html; charset=utf-8",
        "<p>Nothing here",
    )
    assert (page.headers["cache-control"], page.headers["vary"]) == ("no-store", "Accept")
    assert (document.status_code, document.headers["content-type"]) == (404, "application/problem+json")
