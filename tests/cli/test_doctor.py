"""`emi doctor` says when what is served is not fresh, and when no sale is possible."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from prometheus_client import generate_latest

from gateway.http.metrics import Metrics
from gateway.ledger.store import Ledger
from generator.catalog.products import PRODUCTS
from generator.cli.doctor import check_sqlite, examine, verdict
from generator.operate.watch.check import Check
from generator.record.memory.database import open_database
from tests.ledger.test_damaged_ledger import damage, fill
from tests.support import local_servers
from tests.support.intents import INTENT
from tests.support.ports import free_port
from tests.support.processes import emi_here


@pytest.mark.parametrize(
    ("generation", "valid_s", "good", "said"),
    [
        ("000000000007", 100, True, "available"),
        ("000000000007", -100, False, "STALE for 100 s"),
        ("000000000000", 100, False, "the generator has made no tick yet"),
    ],
)
def test_what_is_served_is_called_fresh_only_when_it_is(generation: str, valid_s: int, good: bool, said: str) -> None:
    until = (datetime.now(UTC) + timedelta(seconds=valid_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
    status = {"generation": generation, "valid_until": until, "status": "available"}

    with answering(status_json=(200, json.dumps(status))) as origin:
        first = examine(origin)[0]

    assert first.good is good
    assert said.removesuffix("100 s") in first.found


def answering(**answers: tuple[int, str]) -> AbstractContextManager[str]:
    """Serve these answers by path; the paths that are not there are 404."""
    canned = {f"/{name.replace('_', '.')}": (status, body.encode()) for name, (status, body) in answers.items()}
    return local_servers.answering(lambda path, _body: canned.get(path, (404, b"{}")))


SILENT = "the facilitator has given no good answer to /supported for over 60 s"
FULL = "the payments ledger has taken no write for over 60 s"
READY = (200, json.dumps({"status": "ready"}))
NOT_READY = (503, json.dumps({"status": 503, "reasons": [SILENT, FULL]}))
NO_STATUS = (200, "{}")


def sales(checks: list[Check]) -> list[tuple[bool | None, str]]:
    return [(check.good, check.found) for check in checks if check.what == "/readyz"]


def test_each_reason_why_no_sale_is_possible_is_a_line() -> None:
    with answering(status_json=NO_STATUS, readyz=NOT_READY) as origin:
        checks = examine(origin)

    assert sales(checks) == [(False, SILENT), (False, FULL)]


def test_a_product_that_lacks_its_days_is_a_line_that_says_so() -> None:
    lacking = "not for sale: it needs 28.5 days of prices and has 3.0"
    problem = json.dumps({"status": 503, "detail": lacking, "reason": "not_for_sale"}).encode()
    product = PRODUCTS[0]

    def answer(path: str, _body: bytes | None) -> tuple[int, bytes]:
        return {"/status.json": (200, b"{}"), product.path: (503, problem)}.get(path, (404, b"{}"))

    with local_servers.answering(answer) as origin:
        checks = {check.what: check for check in examine(origin)}

    assert checks[product.path] == Check(product.path, False, f"503, {lacking}")


def test_a_gateway_that_can_sell_is_one_good_line() -> None:
    with answering(status_json=NO_STATUS, readyz=READY) as origin:
        assert sales(examine(origin)) == [(True, "a sale is possible")]


def test_behind_an_edge_that_does_not_route_readyz_the_gateway_itself_is_asked() -> None:
    with answering(status_json=NO_STATUS) as edge, answering(readyz=NOT_READY) as gateway:
        assert sales(examine(edge, [gateway])) == [(False, SILENT), (False, FULL)]


@pytest.mark.parametrize("answer", [(404, "{}"), (200, "<html>"), (503, "{}"), (503, '{"reasons": 5}'), (200, "[]")])
def test_a_readyz_that_cannot_be_reached_is_reported_without_a_fault(answer: tuple[int, str]) -> None:
    with answering(status_json=NO_STATUS, readyz=answer) as edge:
        found = sales(examine(edge, [f"http://127.0.0.1:{free_port()}"]))

    assert found == [(None, "not reachable from here; run this where the gateway runs")]


def test_metrics_past_their_limit_are_lines_and_failures_are_named() -> None:
    metrics = Metrics()
    metrics.unclosable.set(2)
    metrics.unknown_oldest.set(3_601)
    metrics.chain_failing.set(61)
    metrics.facilitator_failing.set(61)
    metrics.delivered_unpaid.inc()
    metrics.refused_landed.inc()
    metrics.facilitator_failures.labels("verify").inc(3)
    with answering(status_json=NO_STATUS, metrics=(200, generate_latest(metrics.registry).decode())) as origin:
        checks = examine(origin, metrics=f"{origin}/metrics")

    assert [(check.what, check.good) for check in checks][-7:] == [
        ("emi_facilitator_failing_seconds", False),
        ("emi_payments_unclosable", False),
        ("emi_chain_failing_seconds", False),
        ("emi_payments_unknown_oldest_seconds", False),
        ("emi_payments_delivered_unpaid_total", False),
        ("emi_payments_refused_but_landed_total", False),
        ("metrics", True),
    ]
    assert 'emi_facilitator_failures_total{call="verify"} 3' in checks[-1].found


def test_metrics_in_order_are_one_good_line_and_unreachable_ones_are_said() -> None:
    text = generate_latest(Metrics().registry).decode()
    with answering(status_json=NO_STATUS, metrics=(200, text)) as origin:
        quiet = examine(origin, metrics=f"{origin}/metrics")[-1]
        gone = examine(origin, metrics=f"http://127.0.0.1:{free_port()}/metrics")[-1]

    assert (quiet.what, quiet.good, gone.what, gone.good) == ("metrics", True, "metrics", None)


def test_a_venue_that_does_not_serve_this_region_is_noted_once_with_the_step() -> None:
    reason = "markets: does not serve this region (451)"
    rows = [{"name": "binance", "kind": kind, "status": "failed", "reason": reason} for kind in ("spot", "book")]
    well = {"name": "kraken", "kind": "spot", "status": "ok", "reason": None}

    with answering(status_json=(200, json.dumps({"sources": [*rows, well]}))) as origin:
        venues = [check for check in examine(origin) if check.what.startswith("venue")]

    assert [(check.what, check.good) for check in venues] == [("venue binance", None)]
    assert venues[0].found.startswith("does not serve this region (451); ")
    assert "EMI_VENUES" in venues[0].found


def test_an_origin_without_any_answer_is_one_line() -> None:
    checks = examine(f"http://127.0.0.1:{free_port()}")

    assert [check.good for check in checks] == [False]
    assert "no answer" in checks[0].found
    assert "is it running?" in checks[0].found


def state(folder: Path) -> CompletedProcess[str]:
    return emi_here("doctor", "--state", cwd=folder, EMI_STATE_DIR=str(folder))


def test_whole_databases_are_called_whole_while_a_gateway_writes(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    ledger.write_intent(INTENT)
    open_database(f"sqlite:///{tmp_path / 'memory.sqlite3'}").dispose()

    done = state(tmp_path)

    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    assert [line.split()[-1] for line in lines] == ["whole", "whole"]
    assert last == "All well: 2 checked."


@pytest.mark.parametrize(
    ("version", "noted"), [("3.40.1", True), ("3.51.2", True), ("3.51.3", False), ("3.53.0", False)]
)
def test_an_sqlite_with_its_wal_reset_fault_is_noted_and_no_reason_to_fail(version: str, noted: bool) -> None:
    checks = check_sqlite(version)

    assert [check.good for check in checks] == [None] * noted
    assert all(f"SQLite {version}" == check.what and "before 3.51.3" in check.found for check in checks)
    assert not verdict(checks).startswith("BAD")


@pytest.mark.parametrize("harm", [damage, lambda path: path.write_text("no database at all" * 99)])
def test_a_damaged_ledger_is_named_and_left_as_it_is(harm: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "payments.sqlite3"
    fill(path)
    harm(path)
    before = path.read_bytes()

    done = state(tmp_path)

    assert done.returncode == 1
    assert done.stdout.startswith(f"BAD  payments ledger {path}: ")
    assert "restore the backup" in done.stdout
    assert path.read_bytes() == before


def test_a_state_without_databases_is_one_clear_line(tmp_path: Path) -> None:
    done = state(tmp_path)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "neither a payments ledger nor a memory" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_on_a_server_is_not_looked_into(tmp_path: Path) -> None:
    url = "postgresql+psycopg://emi@localhost/emi"

    done = emi_here("doctor", "--state", cwd=tmp_path, EMI_STATE_DIR=str(tmp_path), EMI_LEDGER_URL=url)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("--   payments ledger: ")
