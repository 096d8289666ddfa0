"""The programs that the docs show are run as they stand there."""

import contextlib
import html
import io
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from generator.catalog import examples
from generator.catalog.endpoints import ENDPOINTS, Endpoint
from generator.catalog.links import DOCS_FREE, DOCS_PAID, METHODOLOGY, doc_address
from generator.catalog.money import usdc_amount
from generator.catalog.products import PRODUCTS, Product
from generator.compose.body import encode
from tests.support.builders import CONTEXTS
from tests.support.gateway_app import gateway_app, in_loop
from tests.support.gateway_wallet import decode_header
from tests.support.page_view import Rendered, rendered, view, view_of
from tests.support.processes import REPOSITORY


class _Origin(BaseHTTPRequestHandler):
    bodies: dict[str, bytes]

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.bodies[path])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """The pages of the documentation of an origin that runs."""
    ctx = CONTEXTS["full"]()
    shown = view_of(ctx)
    answers = {path: encode(body) for path, body in shown.bodies.by_path.items()}
    handler = type("Origin", (_Origin,), {"bodies": answers})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = replace(ctx.site, base_url=f"http://127.0.0.1:{server.server_port}")
    files = Rendered(replace(shown, ctx=replace(ctx, site=site)))
    yield "".join(content.decode() for path, content in files.items() if re.fullmatch("/docs/.*html", path))
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


def test_a_program_says_stale_when_the_answer_is_past_its_time(page: str) -> None:
    program = programs(page, "Python")["Market Regime"]

    said = _run(program.replace("> until", "> until or True"))

    assert said.startswith("stale: do not use it as the state of now\n")


def test_every_endpoint_and_product_has_curl_python_and_javascript(page: str) -> None:
    titles = {row.name for row in ENDPOINTS} | {row.title for row in PRODUCTS}

    assert set(programs(page, "Python")) >= titles
    assert set(programs(page, "JavaScript")) >= titles
    assert all(f"curl {'-i ' if row in PRODUCTS else ''}" in page for row in PRODUCTS)


@pytest.mark.parametrize("row", [*ENDPOINTS, *PRODUCTS], ids=lambda row: row.id)
def test_the_section_of_an_endpoint_is_short_as_markdown(row: Endpoint | Product) -> None:
    page = doc_address(row.id).partition("#")[0]
    title = row.name if isinstance(row, Endpoint) else row.title
    sections = rendered()[f"{page}index.md"].decode().split("\n## ")
    # Tokens; every record of the service is in the one, every reading in the other.
    limit = {"statistics": 5_200, "x402-atlas": 5_200, "x402-main-brain": 4_800}.get(row.id, 4_200)

    section = next(text for text in sections if text.startswith(f"{title}\n"))

    assert len(section) / 4 < limit  # four characters a token


def section_of(row: Endpoint | Product) -> str:
    page = doc_address(row.id).partition("#")[0]
    html = rendered()[f"{page}index.html"].decode()
    return html.split(f'<section aria-labelledby="{row.id}">')[1].split("</section>", maxsplit=1)[0]


class _Links(HTMLParser):
    """Read the links of the example answer, and the cells of each row of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.in_example = False
        self.rows: dict[str, list[str]] = {}
        self.row = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "pre":
            self.in_example = True
        if tag == "a" and self.in_example:
            self.links.append(given["href"] or "")
        if tag == "tr":
            self.row = given.get("id") or ""
            self.rows[self.row] = []
        if tag in {"th", "td"} and self.row:
            self.rows[self.row].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self.in_example = False
        if tag == "tr":
            self.row = ""

    def handle_data(self, data: str) -> None:
        if self.row and self.rows[self.row]:
            self.rows[self.row][-1] += data


@pytest.mark.parametrize("row", [*ENDPOINTS, *PRODUCTS], ids=lambda row: row.id)
def test_each_key_of_an_example_answer_leads_to_the_row_that_has_its_meaning(row: Endpoint | Product) -> None:
    own = doc_address(row.id).partition("#")[0]
    rows = {page: _Links(rendered()[f"{page}index.html"].decode()).rows for page in (DOCS_FREE, DOCS_PAID, METHODOLOGY)}
    shown = _Links(section_of(row))

    assert len(shown.links) >= 5
    for address in shown.links:
        page, anchor = address.split("#")
        name, _, meaning = rows[page or own][anchor]
        assert name.split()[0] == anchor.rpartition(".")[2], address
        assert meaning.strip(), address


@pytest.mark.parametrize("row", [*ENDPOINTS, *PRODUCTS], ids=lambda row: row.id)
def test_an_endpoint_has_an_answer_programs_and_its_fields_in_this_order(row: Endpoint | Product) -> None:
    text = section_of(row)

    places = [text.index(words) for words in ('aria-label="Answer of', 'class="tabs"', f'<tr id="{row.id}.')]

    assert places == sorted(places)


def test_fields_that_describe_the_answer_come_last() -> None:
    text = section_of(ENDPOINTS[0])

    assert text.index('id="market-regime.regime"') < text.index('id="market-regime.agent_guidance"')


def test_the_purchase_on_the_page_has_the_address_of_this_site() -> None:
    text = rendered()["/docs/paid/index.html"].decode()

    assert "Host: 127.0.0.1:8402" in text
    assert '"url": "http://127.0.0.1:8402/api/x402-market-regime.php"' in html.unescape(text)
    assert "degraded" not in text.split('id="flow"')[1]


def test_the_quickstart_starts_what_the_readme_starts_and_installs_what_ci_tests() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    peers = json.loads((REPOSITORY / "tests/peers/package.json").read_text())["dependencies"]

    assert examples.START.removesuffix(" --as testnet") in readme
    assert examples.INSTALL["javascript"].split()[3:] == [
        f"{name}@{peers[name]}" for name in ("@x402/fetch", "@x402/avm")
    ]


@pytest.mark.parametrize(("lent", "origin"), [(None, "http://127.0.0.1:8402"), ("http://127.0.0.1:9", "http://x.test")])
def test_the_quickstart_asks_this_service_only_where_its_money_is_play(lent: str | None, origin: str) -> None:
    base = view()
    site = replace(base.ctx.site, base_url="http://x.test", network="testnet", devnet=lent)

    made = Rendered(replace(base, ctx=replace(base.ctx, site=site)))["/docs/paid/index.html"].decode()

    text = html.unescape(made)
    assert f'get("{origin}/api/' in text
    assert f"curl -sX POST {lent or 'http://127.0.0.1:8403'}/wallet/new" in text


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.id)
def test_each_product_names_a_cap_that_covers_its_price(product: Product) -> None:
    text = html.unescape(section_of(product))
    caps = (f"max_amount({product.price_atomic})", f'maxAmountPerPayment: "${usdc_amount(product.price_atomic)}"')

    for cap, program in zip(caps, (examples.paid_python, examples.paid_javascript), strict=True):
        assert f"<code>{cap}</code>" in text
        assert cap in program("", product)


@in_loop
async def test_the_purchase_on_the_page_has_the_form_of_one_of_this_version(tmp_path: Path) -> None:
    text = rendered()["/docs/paid/index.html"].decode()
    async with gateway_app(tmp_path) as home:
        terms = decode_header((await home.get(PRODUCTS[0].path)).headers["PAYMENT-REQUIRED"])

    shown = json.loads(text.split('aria-label="PAYMENT-REQUIRED, decoded"><code>')[1].split("</code>")[0])

    assert shown.keys() == terms.keys()
    assert shown["accepts"][0].keys() == terms["accepts"][0].keys()
    assert shown["accepts"][0]["extra"].keys() == terms["accepts"][0]["extra"].keys()
