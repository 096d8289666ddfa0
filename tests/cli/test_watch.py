"""`emi watch`: what one look sees of real files, sockets and processes that fail, and how that is reported."""

import contextlib
import json
import os
import shlex
import socket
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from generator.cli._deeper import wrong
from generator.cli._looking import Looker, Places
from generator.cli._notifying import Notifier, fault_url, runbook
from generator.cli.watch import Desk, Rounds, send_example
from generator.operate.watch.alerts import Message
from generator.operate.watch.check import Check
from generator.operate.watch.health import Health
from generator.operate.watch.judge import Anchors, judge
from generator.operate.watch.seen import Seen, Unit
from tests.support import local_servers
from tests.support.ports import free_port
from tests.support.processes import emi_here
from tests.support.system_bus import system_bus

NOW = datetime(2026, 11, 25, 12, 0, 30, tzinfo=UTC)
PRICED = [{"name": name, "kind": "spot", "status": "ok"} for name in ("okx", "kraken")]
FRESH = {"generated_at": "2026-11-25T12:00:00Z", "source_mode": "live", "sources": PRICED}
READY = {
    "vault_age_seconds": 30.0,
    "ledger_fault": None,
    "ledger_write_age_seconds": 2.0,
    "facilitator_supported_age_seconds": 9.0,
    "facilitator_failing_seconds": 0.0,
    "chain_failing_seconds": 0.0,
}
FAULT = Message("node", "", "start", NOW.timestamp(), "algod does not answer")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    (folder / "current").mkdir(parents=True)
    (folder / "current/status.json").write_text(json.dumps(FRESH))
    return folder


def places_of(site: Path, origin: str, gateway: str | None = None, **places: object) -> Places:
    given = {
        "nodes": {},
        "folders": (site,),
        "results": Path("none"),
        "bus": Path("none"),
        "answer_s": 0.5,
        "disk_s": 5.0,
        **places,
    }
    return Places(site=site, origin=origin, gateway=gateway, **given)  # type: ignore[arg-type]


def looked(site: Path, gateway: str | None = None, **places: object) -> Seen:
    """Return what a look sees while readers get their answer."""
    with answering(FRESH) as origin:
        return Looker(places_of(site, origin, gateway, **places)).look(at=NOW.timestamp(), up_s=1_000.0)


def faults(seen: Seen) -> dict[str, str]:
    found = judge(seen, Anchors())
    return {name: next(iter(findings.values())).text for name, findings in found.items() if findings}


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """Give an origin that takes connections and answers nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def answering(body: object, status: int = 200) -> contextlib.AbstractContextManager[str]:
    return local_servers.answering(lambda _path, _body: (status, json.dumps(body).encode()))


def test_a_service_that_is_well_shows_no_fault(site: Path) -> None:
    with answering(READY) as gateway:
        seen = looked(site, gateway, nodes={"algod": (gateway, {})})

    assert seen.release is not None
    assert faults(seen) == {}


def test_a_gateway_that_hangs_and_one_that_is_down_do_not_answer(site: Path) -> None:
    with silent() as hanging:
        found = [faults(looked(site, origin)) for origin in (hanging, f"http://127.0.0.1:{free_port()}")]

    assert [list(one) for one in found] == [["gateway"], ["gateway"]]
    assert "timed out" in found[0]["gateway"]
    assert "refused" in found[1]["gateway"]


def test_a_node_that_hangs_and_one_that_refuses_the_token_are_named(site: Path) -> None:
    with silent() as hanging, answering({}, 401) as refusing:
        found = [faults(looked(site, nodes={"algod": (origin, {})})) for origin in (hanging, refusing)]

    assert found == [{"node": "algod does not answer: timed out"}, {"node": "algod answers 401"}]


def test_a_disk_that_hangs_is_left_behind(site: Path) -> None:
    (site / "current/status.json").unlink()
    os.mkfifo(site / "current/status.json")  # whoever opens it waits for good

    found = faults(looked(site, disk_s=0.5))

    assert found == {"disk-hung": f"{site} does not answer: its disk hangs"}


@pytest.mark.parametrize("content", [None, "{", "[]", '{"generated_at": 5}'])
def test_a_site_without_a_readable_release_is_a_tick_that_is_missing(site: Path, content: str | None) -> None:
    status = site / "current/status.json"
    status.unlink()
    if content is not None:
        status.write_text(content)

    assert list(faults(looked(site))) == ["tick"]


def test_venues_are_counted_by_their_prices_and_gone_when_nothing_of_them_is_well(site: Path) -> None:
    rows = [("okx", "spot", "ok"), ("okx", "funding", "failed"), ("bybit", "spot", "failed"), ("bybit", "book", "ok")]
    rows += [("kraken", "spot", "failed"), ("kraken", "book", "stale")]
    sources = [{"name": name, "kind": kind, "status": status} for name, kind, status in rows]
    (site / "current/status.json").write_text(json.dumps(FRESH | {"sources": sources}))

    assert faults(looked(site)) == {
        "venues": "1 of 3 venues give prices",
        "venue": "kraken has answered nothing for half an hour",
    }


UNITS = [
    ("emi-schedule.service", "loaded", "active"),
    ("emi-check.service", "loaded", "failed"),
    ("emi-drill.timer", "loaded", "active"),
    ("emi-gone.service", "not-found", "inactive"),
]
RESTARTS = {"emi-schedule.service": 3, "emi-check.service": 0}


@pytest.mark.parametrize("order", ["<", ">"])
def test_systemd_is_asked_for_failed_units_and_restarts(site: Path, tmp_path: Path, order: str) -> None:
    with system_bus(tmp_path / "bus", UNITS, RESTARTS, order):
        seen = looked(site, bus=tmp_path / "bus", answer_s=5.0)

    assert seen.units == (
        Unit("emi-schedule.service", failed=False, restarts=3),
        Unit("emi-check.service", failed=True, restarts=0),
        Unit("emi-drill.timer", failed=False, restarts=0),
    )
    assert faults(seen)["unit"] == "emi-check.service has failed"
    restarted = judge(seen, Anchors(restarts={"emi-schedule.service": 2}))["restarted"] or {}
    assert [finding.text for finding in restarted.values()] == [
        "emi-schedule.service hung or ended, and was started again"
    ]


def test_where_systemd_does_not_run_refuses_or_hangs_nothing_is_known_of_units(site: Path, tmp_path: Path) -> None:
    empty = system_bus(tmp_path / "empty", [], {})
    refusing = system_bus(tmp_path / "refusing", UNITS, {})
    with empty, refusing, socket.socket(socket.AF_UNIX) as hanging:
        hanging.bind(str(tmp_path / "hanging"))
        hanging.listen()

        found = [looked(site, bus=tmp_path / name) for name in ("none", "empty", "refusing", "hanging")]

    assert [seen.units for seen in found] == [None] * 4
    assert [faults(seen) for seen in found] == [{}] * 4


def python(code: str, *arguments: str) -> str:
    return shlex.join([sys.executable, "-c", code, *arguments])


def test_a_command_gets_one_object_and_no_shell(tmp_path: Path) -> None:
    out = tmp_path / "sent; touch $HOME"
    command = python("import sys; open(sys.argv[1], 'w').write(sys.stdin.read())", str(out))

    assert Notifier(command, None).send(FAULT) == []
    assert json.loads(out.read_text()) == FAULT.content(str(runbook()))


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] not in {"Z", "X"}
    except FileNotFoundError:
        return False


def test_a_command_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = "import os, sys, time; os.fork(); open(sys.argv[1], 'a').write(f'{os.getpid()} '); time.sleep(600)"

    problems = Notifier(python(code, str(pids)), None, within_s=1.0).send(FAULT)

    assert problems == ["EMI_ALERT_CMD took more than 1 s and was killed"]
    assert len(pids.read_text().split()) == 2
    until = time.monotonic() + 20
    while any(map(is_running, pids.read_text().split())):
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("command", "said"),
    [("/no/such/program", "cannot be run: No such file"), (python("raise SystemExit(3)"), "ended with code 3")],
)
def test_a_command_that_fails_has_reported_nothing(command: str, said: str) -> None:
    assert said in Notifier(command, None).send(FAULT)[0]


def test_a_push_url_with_a_query_hears_of_a_fault_as_a_fault() -> None:
    kuma = "https://kuma.example/api/push/abc?status=up&msg=OK&ping="

    assert fault_url(kuma) == "https://kuma.example/api/push/abc?status=down&msg=fault&ping="
    assert fault_url("https://hc.example/ping/abc/?rid=5") == "https://hc.example/ping/abc/fail?rid=5"
    assert fault_url("https://hc.example/abc") == "https://hc.example/abc/fail"


def test_a_url_hears_of_faults_behind_fail_and_of_all_else_as_it_is() -> None:
    asked: list[tuple[str, bytes]] = []

    def hear(path: str, body: bytes | None) -> tuple[int, bytes]:
        asked.append((path, body or b""))
        return 200, b"OK"

    with local_servers.answering(hear) as origin:
        notifier = Notifier("", f"{origin}/a-key")
        problems = [*notifier.send(FAULT), notifier.ping()]

    assert problems == [None]
    assert [path for path, _ in asked] == ["/a-key/fail", "/a-key"]
    assert json.loads(asked[0][1]) == FAULT.content(str(runbook()))


def test_a_url_that_hangs_or_refuses_keeps_no_one_waiting() -> None:
    with silent() as hanging, answering({}, 500) as refusing:
        found = [Notifier("", origin, within_s=0.3).send(FAULT)[0] for origin in (hanging, refusing)]

    assert "does not answer" in found[0]
    assert found[1] == "EMI_PING_URL answers 500"


def test_readers_who_get_no_answer_are_a_fault_of_the_edge(site: Path) -> None:
    with silent() as hanging, answering({}, 502) as failing:
        origins = (f"http://127.0.0.1:{free_port()}", hanging, failing)
        lookers = [Looker(places_of(site, origin)) for origin in origins]
        found = [faults(looker.look(at=NOW.timestamp(), up_s=1_000.0)) for looker in lookers]

    assert [list(one) for one in found] == [["edge"]] * 3
    assert "refused" in found[0]["edge"]
    assert found[1]["edge"] == "readers get no answer: timed out"
    assert found[2]["edge"] == "readers get no answer: /status.json is answered 502"


def test_a_disk_that_hangs_keeps_one_thread_and_is_well_again_afterwards(site: Path) -> None:
    status = site / "current/status.json"
    content = status.read_text()
    status.unlink()
    os.mkfifo(status)
    with answering(FRESH) as origin:
        looker = Looker(places_of(site, origin, disk_s=0.3))
        threads = []
        for _ in range(3):
            assert list(faults(looker.look(at=NOW.timestamp(), up_s=1_000.0))) == ["disk-hung"]
            threads.append(threading.active_count())

        with status.open("w") as unblocked:
            unblocked.write(content)
        until = time.monotonic() + 20
        while threading.active_count() >= threads[0] and time.monotonic() < until:
            time.sleep(0.01)
        status.unlink()
        status.write_text(content)

        assert faults(looker.look(at=NOW.timestamp(), up_s=1_000.0)) == {}
    assert max(threads) == threads[0]


def test_what_the_generator_and_the_daily_readings_leave_is_read(site: Path, tmp_path: Path) -> None:
    (tmp_path / "generator.json").write_bytes(Health(memory="the memory was removed", store_refusals=1).dumped())
    (tmp_path / "ledger.json").write_text(json.dumps({"tried_at": NOW.timestamp(), "fault": "page 7 is damaged"}))

    found = faults(looked(site, results=tmp_path / "backups.json"))

    assert found == {
        "memory": "the memory was removed",
        "database": "the payments ledger was read to its end: page 7 is damaged",
    }


def test_what_has_a_fault_of_its_own_is_not_reported_a_second_time_by_the_doctor() -> None:
    checks = [Check("freshness", False, "STALE"), Check("/openapi.json", False, "404"), Check("/x", True, "200")]

    assert wrong(checks) == {"/openapi.json": "404"}
    assert wrong([Check("https://api.test", False, "no answer; is it running?")]) == {}


def rounds_of(site: Path, folder: Path, origin: str, command: str) -> Rounds:
    looker = Looker(places_of(site, origin))
    return Rounds(
        folder / "watch.json",
        lambda: looker.look(at=NOW.timestamp() + 600, up_s=1_600.0),
        lambda: Notifier(command, None),
    )


def test_a_fault_is_reported_once_and_a_restart_of_the_watch_does_not_repeat_it(site: Path, tmp_path: Path) -> None:
    out = tmp_path / "sent"
    command = python("import sys; open(sys.argv[1], 'a').write(sys.stdin.read())", str(out))

    with answering(FRESH) as origin:
        said = [rounds_of(site, tmp_path, origin, command).once() for _ in range(2)]

    assert said == ["open: tick", "open: tick"]
    assert [json.loads(line)["fault"] for line in out.read_text().splitlines()] == ["tick"]


def test_a_command_that_fails_is_in_the_status_and_a_fault_of_its_own(site: Path, tmp_path: Path) -> None:
    with answering(FRESH) as origin:
        rounds = rounds_of(site, tmp_path, origin, python("raise SystemExit(3)"))
        said = [rounds.once() for _ in range(2)]

    kept = {row["name"]: row["text"] for row in json.loads((tmp_path / "watch.json").read_text())["faults"]}
    assert said[0] == "all well; EMI_ALERT_CMD ended with code 3"
    assert kept["alarm"] == "EMI_ALERT_CMD ended with code 3"


def test_a_test_is_sent_by_the_watch_that_runs_and_not_by_who_asks(tmp_path: Path) -> None:
    out = tmp_path / "sent"
    command = python("import sys; open(sys.argv[1], 'a').write(sys.stdin.read())", str(out))
    with Desk(tmp_path / "watch.sock", lambda: send_example(Notifier(command, None), NOW.timestamp())) as desk:
        serving = threading.Thread(target=desk.serve_until, args=(time.monotonic() + 3,))
        serving.start()
        asked = emi_here("watch", "--test", cwd=tmp_path, EMI_STATE_DIR=str(tmp_path), EMI_ALERT_CMD="/no/such/program")
        serving.join()

    assert (asked.returncode, asked.stdout) == (0, "sent\n")
    assert json.loads(out.read_text())["fault"] == "test"


def test_a_test_says_that_no_watch_runs_and_one_without_a_way_says_so(tmp_path: Path) -> None:
    done = emi_here("watch", "--test", cwd=tmp_path, EMI_STATE_DIR=str(tmp_path))

    assert done.returncode == 1
    assert "systemctl start emi-watch" in done.stderr
    assert "set EMI_ALERT_CMD or EMI_PING_URL" in send_example(Notifier("", None), NOW.timestamp())
