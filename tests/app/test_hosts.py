"""No answer leads to the Host that a request names, and play money is signed only for pages of this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from gateway.app.application import build_app
from gateway.devnet.app import build_devnet
from gateway.devnet.settings import DevnetSettings
from gateway.settings import GatewaySettings
from tests.support.gateway_app import REGIME, gateway_app, in_loop

OURS = ["localhost", "127.0.0.1:8402", "127.9.9.9", "[::1]:8402", "LOCALHOST:1"]
FOREIGN = ["evil.example", "evil.example:8402", "localhost.evil.example", "10.0.0.1", "[2001:db8::1]", "", "[", "x y"]
SIGN = "/x402-buyer/devnet-sign"


@asynccontextmanager
async def preview(folder: Path, **settings: str | bool) -> AsyncIterator[httpx2.AsyncClient]:
    found = {"facilitator_url": "http://127.0.0.1:9/facilitator", **settings}
    app = build_app(GatewaySettings(state_dir=folder, **found), preview=True)  # type: ignore[arg-type]
    transport = httpx2.ASGITransport(app=app)
    async with app.router.lifespan_context(app), httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
        yield client


@asynccontextmanager
async def devnet(folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    app = build_devnet(DevnetSettings(folder / "devnet.sqlite3"))
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8403") as client,
    ):
        yield client


@pytest.mark.parametrize("path", [f"{REGIME}/", "/healthz/", "/x402-buyer/prepare/"])
@in_loop
async def test_a_slash_too_many_is_404_and_no_redirect(path: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answer = await home.get(path, host="evil.example")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/facilitator/supported/", "/v2/status/", "/wallet/fund/", "/indexer/health/", "/wallet"]
)
@in_loop
async def test_nor_does_the_devnet_redirect(path: str, tmp_path: Path) -> None:
    async with devnet(tmp_path) as client:
        answer = await client.get(path)

    assert (answer.status_code, "location" in answer.headers) == (404, False)


@pytest.mark.parametrize("hosts", [[], [("host", "a"), ("host", "a")]])
@pytest.mark.parametrize("path", [REGIME, "/healthz", "/nothing"])
@in_loop
async def test_an_http_1_1_request_names_one_host(hosts: list[tuple[str, str]], path: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        request = home.client.build_request("GET", path)
        request.headers = httpx2.Headers(hosts)
        answer = await home.client.send(request)

    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


@in_loop
async def test_the_preview_answers_to_names_of_this_machine_alone(tmp_path: Path) -> None:
    async with preview(tmp_path) as client:
        statuses = {
            host: {(await client.get(path, headers={"host": host})).status_code for path in ("/", REGIME)}
            for host in (*OURS, *FOREIGN)
        }

    assert statuses == {host: {503} for host in OURS} | {host: {421} for host in FOREIGN}


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("host.docker.internal:8402", "http://host.docker.internal:8402"),
        ("x-8402.app.github.dev", "https://x-8402.app.github.dev"),
    ],
)
@in_loop
async def test_a_foreign_host_gets_a_line_to_type_that_works(host: str, origin: str, tmp_path: Path) -> None:
    async with preview(tmp_path) as client:
        detail = (await client.get("/", headers={"host": host})).json()["detail"]
    async with preview(tmp_path, base_url=origin, network="devnet", play=True) as client:
        answer = await client.get("/", headers={"host": host})

    assert detail.endswith(
        f"Start it with: EMI_BASE_URL={origin} EMI_SOURCE=simulated EMI_NETWORK=devnet EMI_PLAY=true emi up"
    )
    assert answer.status_code == 503


@pytest.mark.parametrize("host", ["a;rm", "$(x)", 'x"y', "a b", "[::2]:80", "ü.example"])
@in_loop
async def test_a_host_that_does_not_look_like_a_name_is_not_repeated(host: str, tmp_path: Path) -> None:
    async with preview(tmp_path) as client:
        answer = await client.get("/", headers=[(b"host", host.encode())])

    assert (answer.status_code, "Start it with" in answer.text, host in answer.text) == (421, False, False)


@in_loop
async def test_the_preview_answers_to_its_configured_name(tmp_path: Path) -> None:
    async with preview(tmp_path, base_url="http://Market.Home:8402", network="devnet", play=True) as client:
        answer = await client.get("/", headers={"host": "market.home:8402"})

    assert answer.status_code == 503


@in_loop
async def test_no_gateway_hands_on_a_wish_for_play_money_of_another_host(tmp_path: Path) -> None:
    asked = {"host": FOREIGN[0], "sec-fetch-site": "same-origin", "x-devnet-wallet": "account"}
    app = build_app(GatewaySettings(state_dir=tmp_path, facilitator_url="http://127.0.0.1:9/facilitator"))
    transport = httpx2.ASGITransport(app=app)
    async with app.router.lifespan_context(app), httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
        answer = await client.get(SIGN, headers=asked)

    assert answer.status_code == 421


@in_loop
async def test_the_devnet_signs_for_no_other_host(tmp_path: Path) -> None:
    async with devnet(tmp_path) as client:
        answer = await client.post("/wallet/account", headers={"host": FOREIGN[0]})

    assert (answer.status_code, "address" in answer.text) == (421, False)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://127.0.0.1:8403", "sec-fetch-site": "same-origin"}, 200),
        ({"origin": "https://evil.example", "sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
    ],
)
@in_loop
async def test_the_devnet_takes_nothing_from_a_page_of_another_origin(
    headers: dict[str, str], status: int, tmp_path: Path
) -> None:
    async with devnet(tmp_path) as client:
        answer = await client.post("/wallet/account", headers=headers)

    assert answer.status_code == status
