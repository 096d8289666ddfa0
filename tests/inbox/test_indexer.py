"""The indexer over HTTP: one that hangs, lies, floods, sends us elsewhere or dies is an IndexerError, never more."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from gateway.wire.algorand import DEMO_ARENA
from generator.arena.ballots import ANY_PREFIX
from generator.record.inbox.chain import ChainBallots, IndexerError
from generator.record.inbox.indexer import LARGEST, Indexer
from tests.support.gateway_app import in_loop


@asynccontextmanager
async def serving(answer: web.Response | None, asked: list[web.Request] | None = None) -> AsyncIterator[str]:
    """Serve one answer at every path; None never answers."""

    async def handle(request: web.Request) -> web.Response:
        (asked if asked is not None else []).append(request)
        if answer is None:
            await asyncio.sleep(3_600)
        assert answer is not None
        return web.Response(body=answer.body, status=answer.status, headers=answer.headers)

    app = web.Application()
    app.router.add_get("/{tail:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0]
    try:
        yield f"http://{host}:{port}/idx"
    finally:
        await runner.cleanup()


async def complaint(url: str, timeout_s: float = 60) -> str:
    indexer = Indexer(url, None, timeout_s=timeout_s)
    try:
        with pytest.raises(IndexerError) as raised:
            await indexer.ask("/v2/transactions", {"limit": "1"})
    finally:
        await indexer.aclose()
    return str(raised.value)


@in_loop
async def test_it_asks_below_the_path_of_its_url_with_its_token_and_a_whole_note_prefix() -> None:
    asked: list[web.Request] = []
    async with serving(web.json_response({"current-round": 9, "transactions": []}), asked) as url:
        indexer = Indexer(url + "/", "s3cret")
        await ChainBallots(indexer.ask, DEMO_ARENA).receive()
        await indexer.aclose()

    assert {request.path for request in asked} == {"/idx/v2/transactions"}
    assert {request.headers["X-Indexer-API-Token"] for request in asked} == {"s3cret"}
    assert base64.b64decode(asked[0].query["note-prefix"]) == ANY_PREFIX


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (web.json_response({}, status=500), "answered 500"),
        (web.json_response({}, status=404), "answered 404"),
        (web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}), "answered 302"),
        (web.Response(body=b"<html>"), "did not answer"),
        (web.Response(body=b"\xff\xfe"), "did not answer"),
        (web.Response(body=b"[" * 100_000), "did not answer"),
        (web.Response(body=b" " * (LARGEST + 1)), "too large"),
        (None, "did not answer (TimeoutError)"),
    ],
)
@in_loop
async def test_an_invalid_answer_is_one_line(answer: web.Response | None, named: str) -> None:
    async with serving(answer) as url:
        assert named in await complaint(url, timeout_s=0.3 if answer is None else 60)


@in_loop
async def test_one_that_is_not_there_is_one_line() -> None:
    async with serving(web.json_response({})) as url:
        pass

    assert "did not answer" in await complaint(url)
