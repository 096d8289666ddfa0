"""One id for each request that may be asked about later: in its answer, and in every log line about it."""

import re
import secrets
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

NAME: Final = b"x-request-id"
PAYMENTS: Final = frozenset({b"payment-signature", b"x-payment"})
GIVEN: Final = re.compile(rb"[A-Za-z0-9_-]{8,64}")
"""What an edge may hand on as its own id: nothing that could break a log line."""


class RequestIds:
    """Give an id to each request: the edge's, or a new one.

    Answers to payments carry it, and failures. A challenge carries none: it is the same bytes for everybody.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, its id bound to what is logged meanwhile."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        headers = dict(scope["headers"])
        given = headers.get(NAME, b"")
        name = given if GIVEN.fullmatch(given) else secrets.token_hex(8).encode()
        is_payment = not PAYMENTS.isdisjoint(headers)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and (is_payment or _is_failure(message["status"])):
                message = {**message, "headers": [*message["headers"], (NAME, name)]}
            await send(message)

        with bound_contextvars(request_id=name.decode()):
            await self._app(scope, receive, answer)


def _is_failure(status: int) -> bool:
    return status >= 400 and status != 402
