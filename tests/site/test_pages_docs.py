"""The programs that the docs show are run as they stand there."""

import base64
import contextlib
import html
import io
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS
from generator.compose.all import compose_free
from generator.site.pages.render import Pages, PageView
from tests.support.builders import CONTEXTS
from tests.support.page_view import schemas

OFFER = {"amount": "20000", "asset": "31566704", "payTo": "PAYEE"}


class _Origin(BaseHTTPRequestHandler):
    bodies: dict[str, bytes]

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        paid = path not in self.bodies
        self.send_response(402 if paid else 200)
        if paid:
            self.send_header("PAYMENT-REQUIRED", base64.b64encode(json.dumps({"accepts": [OFFER]}).encode()).decode())
        self.end_headers()
        self.wfile.write(b"{}" if paid else self.bodies[path])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """The docs page of an origin that runs, with the answers that it shows."""
    ctx = CONTEXTS["full"]()
    bodies = {path: body.as_json() for path, body in compose_free(ctx).items()}
    handler = type("Origin", (_Origin,), {"bodies": {path: json.dumps(body).encode() for path, body in bodies.items()}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = replace(ctx.site, base_url=f"http://127.0.0.1:{server.server_port}")
    files = Pages().render(PageView(replace(ctx, site=site), bodies, schemas()))
    yield files["/docs/index.html"].decode()
    server.shutdown()
    server.server_close()


def programs(page: str, label: str) -> dict[str, str]:
    """Return the programs of one language by the title of their endpoint."""
    found = re.findall(rf'aria-label="{label}, ([^"]+)"><code>(.*?)</code>', page, re.DOTALL)
    return {html.unescape(title): html.unescape(text) for title, text in found}


def _run(program: str) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(program, "<docs>", "exec"), {})
    return said.getvalue()


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda row: row.id)
def test_the_python_program_of_a_free_endpoint_prints_what_it_reads(page: str, endpoint: object) -> None:
    row = next(row for row in ENDPOINTS if row == endpoint)

    lines = _run(programs(page, "Python")[row.name]).splitlines()

    assert len([line for line in lines if not line.startswith("stale")]) == len(row.first_read)
    assert "None" not in lines


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda row: row.id)
def test_the_python_program_of_a_paid_endpoint_prints_the_terms(page: str, product: object) -> None:
    row = next(row for row in PRODUCTS if row == product)

    assert _run(programs(page, "Python")[row.title]) == "20000 atomic units of asset 31566704 to PAYEE\n"


def test_a_program_says_stale_when_the_answer_is_past_its_time(page: str) -> None:
    program = programs(page, "Python")["Market Regime"]

    said = _run(program.replace("> until", "> until or True"))

    assert said.startswith("stale: do not use it as the state of now\n")


def test_every_endpoint_and_product_has_curl_python_and_javascript(page: str) -> None:
    titles = {row.name for row in ENDPOINTS} | {row.title for row in PRODUCTS}

    assert set(programs(page, "Python")) == titles
    assert set(programs(page, "JavaScript")) == titles
    assert all(f"curl {'-i ' if row in PRODUCTS else ''}" in page for row in PRODUCTS)
