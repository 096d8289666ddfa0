"""The recipes of site/edge in front of the real thing: `emi up`'s site, and its gateway behind them."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.app.preview import CACHE_CONTROL
from generator.catalog.discovery import ONCE_CACHE_CONTROL
from generator.catalog.moved import MOVED
from generator.runtime.bootstrap import ensure_bootstrap
from generator.settings import GeneratorSettings
from tests.blocks import blocks
from tests.journeys.checker import CANNOT, Row, run
from tests.journeys.edges import NOWHERE, Edge, bare_nginx, caddy, missing, nginx
from tests.journeys.wire import Origin
from tests.outside.processes import devnet, gateway
from tests.outside.test_object_store import wait_quote
from tests.support.ports import free_port
from tests.support.processes import Running, emi, emi_up
from tests.torture import FAULTS, STATUS, Writer, torture

pytestmark = [pytest.mark.outside, pytest.mark.timeout(300)]
PAID = "/api/x402-atlas.php"
ONCE = "/files/checked.json"
STARTING = ("/", "/status.json", "/api/market-regime.php", "/api/reasoning.php?asset=eth", "/llms.txt", "/index.md")
ACCOUNT = "A" * 58
NAMING_AN_ACCOUNT = (
    f"/x402-buyer/prepare?product=human&address={ACCOUNT}",
    f"/x402-buyer/ballot?voter={ACCOUNT}&round=BTC-20261123-150000&choice=BULLISH",
    f"/api/market-regime.php?%76oter={ACCOUNT}",
    f"/nothing/?address={ACCOUNT}",
)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path]]:
    """Everything running, and its site folder with one file that never changes."""
    folder = tmp_path_factory.mktemp("edges")
    with emi_up(folder) as running:
        running.wait_answer("/api/market-regime.php")
        running.wait_answer("/x402-buyer/")
        wait_quote(running.origin)
        site = folder / "emi-state" / "site"
        once = site / f"once{ONCE}"
        once.parent.mkdir(parents=True, exist_ok=True)
        once.write_text('{"never": "changes"}')
        yield running, site


@pytest.mark.parametrize("name", ["nginx", "nginx without brotli", "caddy"])
def test_an_edge_keeps_the_contract_but_for_what_its_table_says(
    name: str, up: tuple[Running, Path], tmp_path: Path
) -> None:
    skip_without(name.split(maxsplit=1)[0])
    running, site = up
    upstream = running.origin.removeprefix("http://")

    with edge(name, tmp_path / "up", site, upstream) as whole, edge(name, tmp_path / "down", site, NOWHERE) as down:
        rows = run(whole.origin, name, down=down.origin, once=ONCE)

    assert outcome(rows) == {"yes": [], "cannot": sorted(CANNOT[name])}


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_a_purchase_passes_through_an_edge(name: str, ticked: Path, tmp_path: Path) -> None:
    skip_without(name)
    port, site = free_port(), ticked / "site"

    with (
        devnet(tmp_path / "devnet", "devnet") as chain,
        edge(name, tmp_path / "edge", site, f"127.0.0.1:{port}") as whole,
        # The service calls itself by the edge's name, or a buyer would take it for another one.
        gateway(ticked, "devnet", chain, EMI_PORT=str(port), EMI_BASE_URL=whole.origin),
    ):
        words = ("buy", "atlas", "--url", whole.origin, "--devnet-url", chain, "--json")
        bought = emi(*words, cwd=tmp_path, EMI_STATE_DIR=str(tmp_path / "buyer"))

    assert bought.returncode == 0, bought.stderr
    assert json.loads(bought.stdout)["payment_status"] == "settled"


@pytest.mark.parametrize(
    ("name", "known"),
    [("nginx", ()), ("caddy", ("same ETag, other body", "same Last-Modified, other body"))],  # it resolves no pointer
)
def test_an_edge_never_tears_or_mixes_while_releases_come(name: str, known: tuple[str, ...], tmp_path: Path) -> None:
    skip_without(name)
    site = tmp_path / "site"
    Writer(site).publish()

    with edge(name, tmp_path / "edge", site, NOWHERE) as whole:
        seen = torture(seconds=3, readers=2, rate=10, url=whole.origin, site=site, known=known)

    assert seen["sets"]
    assert not FAULTS & set(seen)


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_what_says_that_nothing_has_started_is_neither_kept_nor_indexed(name: str, tmp_path: Path) -> None:
    skip_without(name)
    ensure_bootstrap(GeneratorSettings(state_dir=tmp_path), datetime.now(UTC))
    paths = [*STARTING, *(f"/g/000000000000{path}" for path in STARTING)]

    with edge(name, tmp_path / "edge", tmp_path / "site", NOWHERE) as whole:
        starting = [Origin(whole.origin).get(path) for path in paths]
        mark = Origin(whole.origin).get("/.starting")
        lasting = Origin(whole.origin).get(practice_file(tmp_path / "site"))
        Writer(tmp_path / "site").publish()
        started = Origin(whole.origin).get(STATUS)

    assert {(answer.status, answer.get("cache-control"), answer.get("x-robots-tag")) for answer in starting} == {
        (200, "no-store", "noindex")
    }
    assert (mark.status, lasting.get("cache-control")) == (404, ONCE_CACHE_CONTROL)
    assert (started.get("cache-control"), started.get("x-robots-tag")) == (CACHE_CONTROL, "")


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_no_cache_serves_not_started_after_the_first_release(name: str, tmp_path: Path) -> None:
    skip_without(name)
    ensure_bootstrap(GeneratorSettings(state_dir=tmp_path), datetime.now(UTC))
    site = tmp_path / "site"

    with edge(name, tmp_path / "edge", site, NOWHERE) as whole, cache(tmp_path / "cache", whole) as kept:
        before = [Origin(kept.origin).get(STATUS) for _ in range(3)]
        Writer(site).publish()
        after = [Origin(kept.origin).get(STATUS) for _ in range(3)]

    assert [json.loads(answer.body)["generation"] for answer in before] == ["000000000000"] * 3
    assert [json.loads(answer.body)["made"] for answer in after] == [1] * 3
    assert [answer.get("x-cache") for answer in after] == ["MISS", "HIT", "HIT"]  # it is a cache


@contextlib.contextmanager
def cache(folder: Path, edge: Edge) -> Iterator[Edge]:
    """Run an nginx that keeps the answers of an edge as their headers allow."""
    port = free_port()
    http = (
        f"proxy_cache_path {folder}/kept keys_zone=kept:1m;\n"
        f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {edge.origin}; proxy_cache kept;\n"
        "proxy_cache_use_stale error timeout updating http_503; add_header X-Cache $upstream_cache_status always; } }"
    )
    with bare_nginx(folder, http, port) as running:
        yield running


def practice_file(site: Path) -> str:
    """Return the path of a file that never changes, which the pages of a start name."""
    months = json.loads((site / "current" / "learn/practice/months.json").read_text())["months"]
    return str(months[0]["items"])


@pytest.mark.parametrize("pointer", [None, "releases/000000000001", "/etc", "releases"])
def test_nginx_without_a_release_is_503_and_reads_nothing_else(pointer: str | None, tmp_path: Path) -> None:
    skip_without("nginx")
    site = tmp_path / "site"
    site.mkdir()
    if pointer is not None:
        (site / "releases").mkdir()
        (site / "current").symlink_to(pointer)

    with nginx(tmp_path / "nginx", site) as whole:
        answers = [Origin(whole.origin).get(path) for path in ("/", "/etc/passwd", "/passwd", "/api/market-regime.php")]

    assert [answer.status for answer in answers] == [503] * 4
    assert all(answer.get("retry-after") == "5" for answer in answers)
    assert json.loads(answers[0].body)["status"] == 503


def test_nginx_refuses_an_address_that_asks_for_quotes_too_often_and_no_other(tmp_path: Path) -> None:
    skip_without("nginx")
    Writer(tmp_path / "site").publish()

    with nginx(tmp_path / "nginx", tmp_path / "site") as whole:
        flood = [Origin(whole.origin).get(PAID) for _ in range(400)]
        other = asked(whole, PAID, "127.0.0.2")
        free = Origin(whole.origin).get(STATUS)

    refused = [answer for answer in flood if answer.status == 429]
    assert len(refused) > 50
    assert flood[0].status == 503  # there is no gateway
    assert json.loads(refused[0].body)["type"] == "urn:emi:problem:rate-limited"
    for name, value in (("cache-control", "no-store"), ("retry-after", "1"), ("vary", "PAYMENT-SIGNATURE, X-PAYMENT")):
        assert refused[0].get(name) == value
    assert (other, free.status) == (503, 200)


def test_nginx_takes_a_64_of_ipv6_for_one_address(tmp_path: Path) -> None:
    skip_without("nginx")
    proxied = "set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;"

    def status(address: str) -> int:
        return origin.get(PAID, {"X-Forwarded-For": address}).status

    with nginx(tmp_path / "nginx", tmp_path / "site", http=proxied) as whole:
        origin = Origin(whole.origin)
        same = [status(f"2001:db8:1:2::{host:x}") for host in range(300)]
        short = [status(f"2001:db8:7::{host:x}") for host in range(300)]
        others = [status(address) for address in ("2001:db8:1:3::1", "2001:db8:8::1", "192.0.2.1")]

    assert 429 in same
    assert 429 in short
    assert others == [503] * 3


OPEN_OF_AN_ADDRESS = 240  # `limit_conn` of emi-gateway.conf


def test_nginx_lets_no_address_take_all_of_the_gateway_s_connections(tmp_path: Path) -> None:
    skip_without("nginx")

    with (
        contextlib.ExitStack() as held,
        silent_gateway() as gateway,
        nginx(tmp_path / "nginx", tmp_path / "site", gateway) as whole,
    ):
        waiting = [held.enter_context(asking(whole, PAID)) for _ in range(OPEN_OF_AN_ADDRESS)]
        assert len(waiting) == OPEN_OF_AN_ADDRESS
        more = asked(whole, PAID)
        other = held.enter_context(asking(whole, PAID, "127.0.0.2"))
        other.settimeout(0.5)
        with pytest.raises(TimeoutError):
            other.recv(1)

    assert more == 429


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_no_redirect_leads_to_another_host_or_out_of_tls(name: str, tmp_path: Path) -> None:
    skip_without(name)

    with (
        answering(
            b"HTTP/1.1 307 X\r\nLocation: http://evil.example/api/x402-atlas.php?a=1\r\nContent-Length: 0\r\n\r\n"
        ) as gateway,
        edge(name, tmp_path / "edge", tmp_path / "site", gateway) as whole,
    ):
        answer = Origin(whole.origin).get(f"{PAID}/")

    assert (answer.status, answer.get("location")) == (307, "/api/x402-atlas.php?a=1")


@pytest.mark.parametrize("name", ["nginx", "caddy", "caddy with an access log"])
def test_no_log_of_an_edge_joins_an_account_to_an_address(name: str, tmp_path: Path) -> None:
    skip_without(name.split(maxsplit=1)[0])
    Writer(tmp_path / "site").publish()

    with edge(name, tmp_path / "edge", tmp_path / "site", NOWHERE) as whole:
        for path in NAMING_AN_ACCOUNT:
            Origin(whole.origin).get(path, {"Referer": f"https://x.test{path}"})
    logged = whole.logs()

    assert ("/x402-buyer/prepare" in logged) == (name != "caddy")  # which writes of requests only where it has to
    assert ACCOUNT not in logged


@pytest.mark.parametrize(("encoding", "version"), [("cow", "1.1"), ("identity", "1.1"), ("", "3.0")])
def test_nginx_says_what_of_http_it_does_not_take(encoding: str, version: str, tmp_path: Path) -> None:
    skip_without("nginx")
    Writer(tmp_path / "site").publish()
    header = f"Transfer-Encoding: {encoding}\r\n" if encoding else ""

    with nginx(tmp_path / "nginx", tmp_path / "site") as whole:
        head, body = said(whole, f"GET {STATUS} HTTP/{version}\r\nHost: x\r\nConnection: close\r\n{header}\r\n")

    assert head.startswith("HTTP/1.1 501 ")
    assert json.loads(body)["type"] == "urn:emi:problem:not-implemented"


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_an_edge_leads_every_moved_page_and_what_lay_below_it_to_where_it_is_now(name: str, tmp_path: Path) -> None:
    skip_without(name)
    ensure_bootstrap(GeneratorSettings(state_dir=tmp_path), datetime.now(UTC))
    below = {"/archive/2026-11-28/": MOVED["/archive/"], "/glossary/index.md": MOVED["/glossary/"]}

    with edge(name, tmp_path / "edge", tmp_path / "site", NOWHERE) as whole:
        answers = {path: Origin(whole.origin).get(path) for path in (*MOVED, *below)}
        pinned = Origin(whole.origin).get("/g/000000000000/glossary/")
        whole_file = Origin(whole.origin).get("/history/hours.csv")

    led = {path: (answer.status, answer.get("location")) for path, answer in answers.items()}
    assert led == {path: (308, new) for path, new in (MOVED | below).items()}
    assert (pinned.status, b"noindex" in pinned.body) == (200, True)  # a release by name has its stub
    assert whole_file.status != 308


@contextlib.contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Give each connection one and the same answer."""

    class Same(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65_536)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Same) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def silent_gateway() -> Iterator[str]:
    """Take every connection and answer none."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def asking(edge: Edge, path: str, source: str = "127.0.0.1") -> socket.socket:
    """Send a request from an address of this machine; the answer is still to be read."""
    host, port = edge.origin.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), 20, source_address=(source, 0))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    return connection


def asked(edge: Edge, path: str, source: str = "127.0.0.1") -> int:
    """Return the status that an address of this machine gets."""
    with asking(edge, path, source) as connection:
        return int(connection.recv(64).split()[1])


def said(edge: Edge, request: str) -> tuple[str, str]:
    """Send a request as it is; return the head and the body of what comes back."""
    host, port = edge.origin.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 20) as connection:
        connection.sendall(request.encode())
        answer = b"".join(iter(lambda: connection.recv(65_536), b"")).decode()
    head, _, body = answer.partition("\r\n\r\n")
    return head, body


def edge(name: str, folder: Path, site: Path, gateway: str) -> AbstractContextManager[Edge]:
    """Run the edge of this name of the table."""
    if name.startswith("caddy"):
        more = next(block.text for block in blocks("docs/howto/serving.md") if block.language == "caddyfile")
        return caddy(folder, site, gateway, more=more if "access log" in name else "")
    return nginx(folder, site, gateway, brotli=name == "nginx")


def outcome(rows: list[Row]) -> dict[str, list[str]]:
    """Return what did not hold, and what the table excused."""
    faults = [f"{row.verdict}: {row.name}: {row.detail}" for row in rows if row.verdict == "no"]
    return {"yes": faults, "cannot": sorted(row.name for row in rows if row.verdict == "cannot")}


def skip_without(name: str) -> None:
    """Skip, naming what this machine lacks."""
    if missing(name):
        pytest.skip(missing(name))
