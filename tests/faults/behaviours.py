"""What a facilitator or a node can do to a request besides its duty."""

import asyncio
import gzip
import json
from typing import Any

from aiohttp import web

from tests.faults.proxy import Asked, Behaviour, honest

HANG_S = 30.0


def after(answer: Behaviour) -> Behaviour:
    """Do what was asked, then answer so."""

    async def behave(asked: Asked) -> web.StreamResponse:
        await asked.pass_on()
        return await answer(asked)

    return behave


def answering_json(content: Any, status: int = 200, **also: Any) -> Behaviour:
    """Answer JSON, whatever it says."""
    return text(json.dumps(content), status, "application/json", **also)


def text(content: str, status: int = 200, content_type: str = "text/html", **headers: str) -> Behaviour:
    """Answer a text."""

    async def behave(_asked: Asked) -> web.StreamResponse:
        return web.Response(status=status, text=content, content_type=content_type, headers=headers)

    return behave


def changed(**members: Any) -> Behaviour:
    """Do what was asked and answer truly, but for these members."""

    async def behave(asked: Asked) -> web.StreamResponse:
        answer = await asked.pass_on()
        assert isinstance(answer.body, bytes)
        return web.json_response({**json.loads(answer.body), **members}, status=answer.status)

    return behave


def delayed(seconds: float, then: Behaviour) -> Behaviour:
    """Wait first."""

    async def behave(asked: Asked) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await then(asked)

    return behave


def too_late(then: Behaviour) -> Behaviour:
    """Wait until the fault is over, which is past the time limit of everybody who asked meanwhile."""

    async def behave(asked: Asked) -> web.StreamResponse:
        await asked.over.wait()
        return await then(asked)

    return behave


def first(once: Behaviour, then: Behaviour) -> Behaviour:
    """Behave so at the first settle of a payment, and otherwise from the second on."""

    async def behave(asked: Asked) -> web.StreamResponse:
        return await (once if asked.nth == 1 else then)(asked)

    return behave


def below(path: str, then: Behaviour, elsewhere: Behaviour = honest) -> Behaviour:
    """Behave so below a path only, and otherwise elsewhere."""

    async def behave(asked: Asked) -> web.StreamResponse:
        return await (then if path in asked.request.path else elsewhere)(asked)

    return behave


def lagging(blocks: int) -> Behaviour:
    """Be an honest node that is some blocks behind: an older round, and nothing of what is in newer blocks."""

    async def behave(asked: Asked) -> web.StreamResponse:
        answer = await asked.pass_on()
        assert isinstance(answer.body, bytes)
        content = json.loads(answer.body)
        reached = (await asked.ask("/algod/v2/status")).json()["last-round"] - blocks
        if asked.request.path.endswith("/status"):
            return web.json_response({**content, "last-round": reached})
        if content.get("confirmed-round", 0) > reached:
            return web.json_response({"message": "not found"}, status=404)
        return answer

    return behave


def followed(then: Behaviour, unasked: Any) -> Behaviour:
    """Behave so, and send one more answer, which was not asked for, if the client keeps the connection open."""

    async def behave(asked: Asked) -> web.StreamResponse:
        answer = await then(asked)
        assert isinstance(answer, web.Response)
        assert isinstance(answer.body, bytes)
        return _Followed(json.dumps(unasked).encode(), answer)

    return behave


class _Followed(web.Response):
    def __init__(self, unasked: bytes, answer: web.Response) -> None:
        super().__init__(status=answer.status, body=answer.body, content_type=answer.content_type)
        self._unasked = unasked

    async def write_eof(self, data: bytes = b"") -> None:
        transport = None if self._req is None else self._req.transport
        await super().write_eof(data)
        if transport is None:
            return
        for _ in range(20):
            if transport.is_closing():
                return
            await asyncio.sleep(0.001)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        transport.write(head % len(self._unasked) + self._unasked)


async def wants_agent(asked: Asked) -> web.StreamResponse:
    """Refuse whoever does not say who asks, or says only with which library, as many a CDN."""
    if asked.request.headers.get("User-Agent", "Python").startswith("Python"):
        return await text("<html>error code: 1010</html>", 403)(asked)
    return await asked.pass_on()


async def compressed(asked: Asked) -> web.StreamResponse:
    """Compress whenever the request allows it; without an Accept-Encoding it allows anything."""
    answer = await asked.pass_on()
    assert isinstance(answer.body, bytes)
    if "gzip" not in asked.request.headers.get("Accept-Encoding", "gzip"):
        return answer
    return gzipped(answer.body, answer.status)


async def bomb(_asked: Asked) -> web.StreamResponse:
    """Answer 20 kB that unpack to 20 MB."""
    return gzipped(b" " * 20_000_000)


def gzipped(content: bytes, status: int = 200) -> web.Response:
    """Make a compressed answer."""
    packed = gzip.compress(content)
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    return web.Response(status=status, body=packed, headers=headers)


async def never(asked: Asked) -> web.StreamResponse:
    """Keep the connection open and say nothing."""
    await asyncio.sleep(HANG_S)
    return await reset(asked)


async def reset(asked: Asked) -> web.StreamResponse:
    """Break the connection without an answer."""
    if asked.request.transport is not None:
        asked.request.transport.abort()
    return web.Response()


async def half(asked: Asked) -> web.StreamResponse:
    """Break the connection in the middle of a good answer."""
    answer = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "200"})
    await answer.prepare(asked.request)
    await answer.write(b'{"success": true, "transaction": "')
    return await reset(asked)


SERVER_ERROR = answering_json({"error": "internal"}, 500)
BAD_GATEWAY = text("<html><h1>502 Bad Gateway</h1></html>", 502)
GARBAGE = text("<html>Welcome to nginx!</html>")
