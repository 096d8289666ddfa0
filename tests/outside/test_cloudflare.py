"""The Cloudflare Worker, run by Cloudflare's own workerd over a release that `emi tick` made."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.app.preview import CACHE_CONTROL, START
from gateway.http.answers import CORS_HEADERS, PROBLEMS, SECURITY_HEADERS
from generator.catalog.moved import MOVED
from generator.catalog.text.answers import DISCLAIMER
from generator.runtime.bootstrap import ensure_bootstrap
from generator.settings import GeneratorSettings
from tests.journeys.checker import run
from tests.journeys.checks import PINNED_CACHE
from tests.journeys.wire import Answer, Origin
from tests.outside.cloud_edges import (
    CLOUDFLARE,
    OFFICIAL_EDGE,
    WORKER_MISSING,
    Worker,
    worker,
)
from tests.outside.processes import devnet
from tests.outside.processes import gateway as emi_gateway
from tests.support.ports import free_port
from tests.support.processes import emi as emi_command

# The two ticks of the first test, on a machine that does other things too.
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.outside,
    pytest.mark.skipif(bool(WORKER_MISSING), reason=WORKER_MISSING),
]
FREE = "/api/market-regime.php"
PAID = "/api/x402-market-regime.php"
# Answered by workerd's own HTTP reader before the Worker; at Cloudflare, by the edge before it.
BEFORE_THE_WORKER = {
    "malformed HTTP is not served",
    "400 of the server itself is a problem document",
}
FEW = (FREE, "/llms.txt", "/assets/site.css")
FIRST, SECOND = "000000000001", "000000000002"


@pytest.fixture(scope="module")
def edge(ticked: Path) -> Iterator[Worker]:
    """The Worker over the first release, with a gateway that sells over a devnet."""
    gateway = free_port()
    with (
        worker(ticked.parent / "edge", "site/", GATEWAY_ORIGIN=f"http://127.0.0.1:{gateway}") as running,
        devnet(ticked, "devnet") as chain,
    ):
        running.publish(ticked / "site" / "releases" / FIRST, FIRST)
        with emi_gateway(ticked, "devnet", chain, EMI_PORT=str(gateway), EMI_BASE_URL=running.origin):
            yield running


@pytest.fixture
def own(ticked: Path, tmp_path: Path) -> Iterator[Worker]:
    """A Worker over a few files of the first release for one test alone; its gateway's port is closed."""
    with worker(tmp_path, GATEWAY_ORIGIN=f"http://127.0.0.1:{free_port()}") as running:
        running.publish(ticked / "site" / "releases" / FIRST, FIRST, FEW)
        yield running


def assert_problem(answer: Answer, status: int, path: str) -> None:
    body = json.loads(answer.body)
    assert answer.status == body["status"] == status
    assert answer.get("content-type") == "application/problem+json"
    assert answer.get("cache-control") == "no-store"
    assert (body["type"], body["title"]) == (f"urn:emi:problem:{PROBLEMS[status][0]}", PROBLEMS[status][1])
    assert body["disclaimer"] == DISCLAIMER
    assert (body["project"], body["instance"]) == ("Educational Market Intelligence", path)
    sent = {name: answer.get(name) for name in (*CORS_HEADERS, *SECURITY_HEADERS)}
    # The Worker's own, or the gateway's, which is of no release.
    assert sent == CORS_HEADERS | SECURITY_HEADERS


def test_the_contract_holds_but_for_what_is_answered_before_the_worker(
    edge: Worker, ticked: Path, tmp_path: Path
) -> None:
    tile = tmp_path / "tile"
    tile.write_bytes(bytes(range(256)))

    with worker(tmp_path / "down", GATEWAY_ORIGIN=f"http://127.0.0.1:{free_port()}") as down:
        down.publish(ticked / "site" / "releases" / FIRST, FIRST)
        edge.put_immutable("/files/tile", tile)
        rows = run(edge.origin, down=down.origin, once="/files/tile")

    broken = {row.name: row.detail for row in rows if row.verdict != "yes"}
    assert broken.keys() == BEFORE_THE_WORKER, broken


def test_what_says_that_nothing_has_started_is_neither_kept_nor_indexed(tmp_path: Path) -> None:
    ensure_bootstrap(GeneratorSettings(state_dir=tmp_path), datetime.now(UTC))
    begun = tmp_path / "site" / "releases" / START
    paths = ("/", FREE, "/llms.txt", f"/g/{START}{FREE}")

    with worker(tmp_path / "edge", GATEWAY_ORIGIN=f"http://127.0.0.1:{free_port()}") as running:
        running.publish(begun, START)
        answers = [Origin(running.origin).get(path) for path in paths]
        mark = Origin(running.origin).get("/.starting")
        running.publish(begun, FIRST)
        time.sleep(1.5)  # the pointer is asked once a second
        started = Origin(running.origin).get(FREE)

    kept = {(answer.status, answer.get("cache-control"), answer.get("x-robots-tag")) for answer in answers}
    assert kept == {(200, "no-store", "noindex")}
    assert mark.status == 404
    assert (started.get("cache-control"), started.get("x-robots-tag")) == (CACHE_CONTROL, "")


def test_cloudflares_own_tool_takes_the_recipe_with_every_module_and_binding(tmp_path: Path) -> None:
    recipe = shutil.copytree(CLOUDFLARE, tmp_path / "recipe")
    wrangler = Path(OFFICIAL_EDGE).resolve() / "node_modules" / ".bin" / "wrangler"
    # No account, no network: it packs what it would send.
    done = subprocess.run(
        [str(wrangler), "deploy", "--dry-run", "--outdir", str(tmp_path / "out")],
        cwd=recipe,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "WRANGLER_SEND_METRICS": "false", "CI": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    packed = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.js")}
    assert packed.keys() == {path.name for path in CLOUDFLARE.glob("*.js")}
    assert {name: packed[name] for name in packed if name != "worker.js"} == {
        path.name: path.read_bytes() for path in CLOUDFLARE.glob("*.js") if path.name != "worker.js"
    }
    for binding in ("SITE", "PROJECT", "PREFIX", "GATEWAY_ORIGIN"):
        assert f"env.{binding} " in done.stdout


@pytest.mark.parametrize("coding", ["identity", "gzip", "br"])
def test_behind_the_edge_the_clients_choice_counts_and_stored_bytes_come_through(edge: Worker, coding: str) -> None:
    # The edge gives the Worker "br, gzip" whatever the client sent.
    direct, behind = (Origin(origin).get(FREE, {"accept-encoding": coding}) for origin in (edge.origin, edge.proxied))

    assert (behind.get("content-encoding") or "identity") == coding
    assert (behind.body, behind.get("etag")) == (direct.body, direct.get("etag"))


@pytest.mark.parametrize(
    "path",
    [
        "/current.json",
        f"/g/{SECOND}{FREE}",
        f"/g/{FIRST}/..%2F..%2Fcurrent.json",
        "/healthz",
    ],
)
def test_what_is_not_published_is_a_404(edge: Worker, path: str) -> None:
    answer = Origin(edge.origin).get(path)

    assert answer.status == 404
    assert_problem(answer, 404, json.loads(answer.body)["instance"])


def test_every_moved_page_and_what_lay_below_it_leads_to_where_it_is_now(edge: Worker) -> None:
    below = {"/archive/2026-11-28/": MOVED["/archive/"], "/glossary/index.md": MOVED["/glossary/"]}

    answers = {path: Origin(edge.origin).get(path) for path in (*MOVED, *below)}
    pinned = Origin(edge.origin).get(f"/g/{FIRST}/glossary/")

    led = {path: (answer.status, answer.get("location")) for path, answer in answers.items()}
    assert led == {path: (308, new) for path, new in (MOVED | below).items()}
    assert (pinned.status, b"noindex" in pinned.body) == (200, True)  # a release by name has its stub


def test_the_pointer_moves_whole_and_the_old_release_stays_under_its_number(own: Worker, ticked: Path) -> None:
    old = Origin(own.origin).get(FREE)
    own.publish(ticked / "site" / "releases" / SECOND, SECOND, FEW)
    time.sleep(1.1)

    new, pinned = Origin(own.origin).get(FREE), Origin(own.origin).get(f"/g/{FIRST}{FREE}")

    assert (old.get("x-generation"), new.get("x-generation")) == (FIRST, SECOND)
    assert json.loads(new.body)["freshness"]["generation"] == SECOND
    assert (pinned.body, pinned.get("x-generation")) == (old.body, FIRST)
    assert pinned.get("cache-control") == PINNED_CACHE


def test_a_file_that_did_not_change_keeps_its_tag_and_date_across_releases(own: Worker, ticked: Path) -> None:
    old = Origin(own.origin).get("/assets/site.css")
    own.publish(ticked / "site" / "releases" / SECOND, SECOND, FEW)
    time.sleep(1.1)

    new = Origin(own.origin).get("/assets/site.css")
    assert new.get("x-generation") == SECOND
    assert [new.get(name) for name in ("etag", "last-modified")] == [
        old.get(name) for name in ("etag", "last-modified")
    ]
    assert Origin(own.origin).get("/assets/site.css", {"if-none-match": old.get("etag")}).status == 304


@pytest.mark.parametrize("mode", ["down", "hang", "lie"])
def test_the_last_good_release_is_served_while_the_bucket_fails(own: Worker, mode: str) -> None:
    before = Origin(own.origin).get(FREE)
    own.fault(mode)
    time.sleep(1.1)

    during, never_read = Origin(own.origin).get(FREE), Origin(own.origin).get("/llms.txt")

    assert (during.status, during.body, during.get("x-generation")) == (200, before.body, FIRST)
    assert_problem(never_read, 503, "/llms.txt")
    assert never_read.get("retry-after") == "5"
    own.fault("")
    time.sleep(1.1)
    assert Origin(own.origin).get("/llms.txt").status == 200


def test_a_purchase_goes_through_the_edge(edge: Worker, ticked: Path) -> None:
    done = emi_command(
        "buy",
        "market-regime",
        "--url",
        edge.origin,
        cwd=ticked.parent,
        EMI_STATE_DIR=str(ticked),
        EMI_BASE_URL=edge.origin,
    )

    assert done.returncode == 0, done.stderr
    assert "settled" in done.stdout


def test_without_a_release_or_an_answering_gateway_the_answer_is_503(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        gateway = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with worker(tmp_path, GATEWAY_ORIGIN=gateway, GATEWAY_TIMEOUT_SECONDS="1") as empty:
            free, plain = Origin(empty.origin).get(FREE), Origin(empty.origin).get(PAID)
            paying = Origin(empty.origin).get(PAID, {"payment-signature": "e30="})

    for answer, path in ((free, FREE), (plain, PAID), (paying, PAID)):
        assert_problem(answer, 503, path)
        assert answer.get("retry-after") == "5"
    assert "do not sign another" in json.loads(paying.body)["detail"]
