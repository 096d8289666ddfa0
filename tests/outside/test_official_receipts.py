"""The official package takes our receipts, with their further claims, and refuses every altered one."""

import json
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread

import httpx2
import pytest

from gateway.wire.receipts import DID_PATH, did_document
from tests.outside.market import HAVE, MISSING
from tests.outside.processes import peer
from tests.payments.test_receipts import KEY, claims_of, receipt_of, write_sold
from tests.support.altered import altered_receipt
from tests.support.gateway_app import gateway_app, in_loop

pytestmark = pytest.mark.outside
ALTERED = 1_000


class Quiet(SimpleHTTPRequestHandler):
    """Serve files and log nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def published(folder: Path) -> Iterator[str]:
    """Serve the DID document of the origin that is yielded."""
    server = HTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    origin = f"http://127.0.0.1:{server.server_port}"
    file = folder / DID_PATH.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(did_document(origin, [KEY.public])))

    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield origin
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def bought(folder: Path, origin: str) -> httpx2.Response:
    """Return the answer to a payment at a gateway of this origin."""
    answers = []

    @in_loop
    async def buy() -> None:
        async with gateway_app(folder, vault=write_sold, base_url=origin) as home:
            answers.append(await home.send(home.buyer.pay()))

    folder.mkdir()
    buy()
    return answers[0]


def test_the_official_verifier_takes_a_receipt_and_refuses_1000_altered_ones(tmp_path: Path) -> None:
    if not HAVE["js"]:
        pytest.skip(MISSING["js"])
    chance = random.Random(26)
    with published(tmp_path / "site") as origin:
        answer = bought(tmp_path / "gateway", origin)
        altered = [altered_receipt(receipt_of(answer), chance) for _ in range(ALTERED)]
        asked = json.dumps({"header": answer.headers["PAYMENT-RESPONSE"], "altered": altered})

        command = peer(tmp_path / "peers", "js", "receipts", [])
        done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr[-2_000:]
    assert json.loads(done.stdout) == {"claims": claims_of(answer), "taken": 0}
