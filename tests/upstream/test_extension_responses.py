"""What a facilitator says of extensions with a settlement is kept, and logged when it is another."""

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.http.metrics import Metrics
from gateway.settings import GatewaySettings
from gateway.upstream.facilitator import Facilitator, decoded_responses, encode_request
from gateway.upstream.http_client import Http
from tests.support.clock import ManualClock
from tests.upstream.test_facilitator import payment

REJECTED = b64encode(b'{"bazaar": {"status": "rejected"}}').decode()


class Answers(Http):
    """A client whose every answer is a failure to settle, with these headers, one after the other."""

    def __init__(self, headers: list[Mapping[str, str]]) -> None:
        self._headers = headers

    async def exchange(self, method: str, url: str, **options: Any) -> tuple[int, bytes]:
        options["note"](self._headers.pop(0))
        return 200, b'{"success": false, "errorReason": "invalid_payload"}'


def settle(*headers: Mapping[str, str]) -> tuple[Facilitator, list[Any]]:
    settings = GatewaySettings(facilitator_url="http://127.0.0.1:9")
    facilitator = Facilitator(settings, Answers(list(headers)), ManualClock(), Metrics())
    with capture_logs() as logs:
        for _ in headers:
            asyncio.run(facilitator.settle(encode_request(payment(None, None), {})))
    return facilitator, [row["responses"] for row in logs if "responses" in row]


def test_it_is_kept_and_logged_once_until_it_is_another() -> None:
    header = {"extension-responses": REJECTED}

    facilitator, logged = settle(header, header, {}, {"extension-responses": "bazaar=ok"})

    assert logged == ['{"bazaar": {"status": "rejected"}}', "bazaar=ok"]
    assert facilitator.extension_responses == "bazaar=ok"


@pytest.mark.parametrize("given", ["x" * 9_000, "\x1b[31m", b64encode(b"[" * 5_000).decode(), ""])
def test_whatever_it_is_becomes_one_short_printable_line(given: str) -> None:
    line = decoded_responses(given)

    assert len(line) <= 500
    assert line.isprintable()
