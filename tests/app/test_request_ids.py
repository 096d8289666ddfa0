"""Answers to payments and failures carry an id, which every log line about the request carries too."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
import structlog
from starlette.types import Message, Receive, Scope, Send

from gateway.http.request_id import RequestIds

Headers = list[tuple[bytes, bytes]]


def answered(status: int, **sent: bytes) -> tuple[Mapping[bytes, bytes], Any]:
    """Return the headers of an answer of this status, and the id that was bound while it was made."""
    bound: list[Any] = []
    headers: Headers = [(b"content-length", b"0")]
    started: list[Message] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        bound.append(structlog.contextvars.get_contextvars().get("request_id"))
        await send({"type": "http.response.start", "status": status, "headers": headers})

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        started.append(message)

    given = [(name.replace("_", "-").encode(), value) for name, value in sent.items()]
    asyncio.run(RequestIds(app)({"type": "http", "headers": given}, receive, send))
    assert headers == [(b"content-length", b"0")]  # it may be shared by many answers
    assert "request_id" not in structlog.contextvars.get_contextvars()
    return dict(started[0]["headers"]), bound[0]


@pytest.mark.parametrize("status", [200, 402, 409, 503])
def test_every_answer_to_a_payment_carries_the_id_that_is_logged(status: int) -> None:
    headers, bound = answered(status, payment_signature=b"e30=")

    assert headers[b"x-request-id"].decode() == bound
    assert len(bound) == 16


@pytest.mark.parametrize(("status", "carried"), [(402, False), (200, False), (404, True), (503, True)])
def test_without_a_payment_only_failures_carry_one(status: int, carried: bool) -> None:
    headers, _ = answered(status)

    assert (b"x-request-id" in headers) is carried


def test_an_edge_hands_its_own_id_on() -> None:
    assert answered(503, x_request_id=b"0123456789abcdef")[0][b"x-request-id"] == b"0123456789abcdef"


@pytest.mark.parametrize("given", [b"short", b"x" * 65, b"line\r\nbreak", b'"quoted-value"', "\u00e9".encode() * 8])
def test_what_could_break_a_log_line_is_replaced(given: bytes) -> None:
    headers, bound = answered(503, x_request_id=given)

    assert headers[b"x-request-id"] != given
    assert bound.isalnum()
