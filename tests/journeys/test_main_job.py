"""As a newcomer: one command, everything answered, everything bought, nothing lost by a kill."""

import json
import signal
import sqlite3
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS
from generator.cli.up import ALARMING
from tests.journeys.checker import run
from tests.journeys.checks import CHECKS, ERRORS, PAGE, QUERY, SOLD
from tests.support.processes import REPOSITORY, Running, emi_here, emi_up, get, without_unix

CHECKED = [one.name for one in CHECKS if one.group in {QUERY, PAGE, ERRORS, SOLD}]
PRIVATE, SERVED = ("memory", "ledger", "run/emi-state"), {"site": 0o644, "vault": 0o640}


def places(folder: Path) -> dict[str, str]:
    """Give each thing that is kept a place of its own."""
    return {
        "EMI_SITE_DIR": f"{folder}/site",
        "EMI_VAULT_URL": f"file://{folder}/vault",
        "EMI_MEMORY_URL": f"sqlite:///{folder}/memory/memory.sqlite3",
        "EMI_LEDGER_URL": f"sqlite:///{folder}/ledger/payments.sqlite3",
        "EMI_ARENA__INBOX_URL": f"{folder}/inbox",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up")


@pytest.fixture(scope="module")
def up(folder: Path) -> Iterator[Running]:
    """One `emi up` for every test of this file; the last one kills it."""
    with emi_up(folder / "run", **places(folder)) as running:
        running.wait_text("is up:")
        yield running


def emi_at(up: Running, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the settings and in the folder of the one that is up."""
    here = up.log.parent
    return emi_here(*words, cwd=here, **places(here.parent))


@pytest.fixture(scope="module")
def openapi(up: Running) -> Any:
    return json.loads(get(up.origin + "/openapi.json")[2])


def test_a_newcomers_first_screen_has_no_alarm(up: Running) -> None:
    first_screen = up.text().partition("is up:")[0]

    assert [line for line in first_screen.splitlines() if ALARMING.search(line.removeprefix("gateway: "))] == []


def schema_of(openapi: Any, path: str, status: str) -> Draft202012Validator:
    answer = openapi["paths"][path]["get"]["responses"][status]
    schema = answer["content"]["application/json"]["schema"]
    return Draft202012Validator({**schema, "components": openapi["components"]})


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.id)
def test_every_free_path_answers_what_openapi_promises(up: Running, openapi: Any, endpoint: Any) -> None:
    status, headers, body = get(up.origin + endpoint.path)

    assert status == 200
    assert headers["content-type"] == "application/json"
    assert headers["cache-control"] == "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"
    assert headers["access-control-allow-origin"] == "*"
    schema_of(openapi, endpoint.path, "200").validate(json.loads(body))
    assert json.loads(body)["freshness"]["source_mode"] == "simulated"


def test_the_checker_holds_the_service_to_its_contract(up: Running) -> None:
    rows = run(up.origin, "preview", only=CHECKED)

    assert {row.name: row.detail for row in rows if row.verdict not in {"yes", "cannot"}} == {}


def test_openapi_in_yaml_equals_the_json(up: Running, openapi: Any) -> None:
    release = f"{up.origin}/g/{get(up.origin + '/openapi.json')[1]['x-generation']}"  # both of one release

    stated = YAML(typ="safe").load(get(f"{release}/openapi.yaml")[2].decode())

    assert stated == json.loads(get(f"{release}/openapi.json")[2])
    assert set(stated["paths"]) == set(openapi["paths"])


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.id)
def test_every_product_can_be_bought(up: Running, openapi: Any, product: Any) -> None:
    status, _, challenge = get(up.origin + product.path)
    assert status == 402
    schema_of(openapi, product.path, "402").validate(json.loads(challenge))

    bought = emi_at(up, "buy", product.buy_name, "--url", up.origin, "--json")

    assert bought.returncode == 0, bought.stderr
    body = json.loads(bought.stdout)
    schema_of(openapi, product.path, "200").validate(body)
    assert (body["payment_status"], body["endpoint"]) == ("settled", product.id)


def test_a_vote_is_counted_by_a_later_tick_and_doctor_is_content(up: Running, folder: Path) -> None:
    voted = emi_at(up, "vote", "BULLISH", "--url", up.origin)
    examined = emi_at(up, "doctor", "--url", up.origin)

    assert voted.returncode == 0, voted.stderr
    assert list((folder / "inbox").iterdir())
    assert examined.returncode == 0, examined.stdout


def test_verify_recomputes_what_is_published(up: Running, tmp_path: Path) -> None:
    verified = emi_here("verify", "--url", up.origin, cwd=tmp_path)

    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_who_reads_votes_and_buys_needs_nothing_that_only_unix_has(up: Running, tmp_path: Path) -> None:
    words = ("buy market-regime --json", "vote up", "verify", "doctor", "mcp")
    commands = [f"{command} --url {up.origin}" for command in words]

    done = without_unix(tmp_path, *commands)

    assert [line for line in done.stderr.splitlines() if line.endswith(": 0")] == [f"{one}: 0" for one in commands]
    assert '"payment_status": "settled"' in done.stdout


def test_a_second_one_on_the_same_state_is_refused_with_the_pid(up: Running) -> None:
    second = emi_at(up, "up", "--port", "1")

    assert second.returncode == 1
    assert str(up.process.pid) in second.stderr


def wait_newer(running: Running, generation: str) -> str:
    """Return the next generation that readers see."""
    for _ in range(600):
        seen = str(json.loads(get(running.origin + "/status.json")[2])["generation"])
        if seen != generation:
            return seen
        time.sleep(0.05)
    raise AssertionError("no newer generation:\n" + running.text())


def counts(folder: Path) -> dict[str, int]:
    """Count what must survive: rounds, lessons, predictions, payments."""
    found = {}
    for name, tables in (("memory/memory", ("rounds", "lessons", "predictions")), ("ledger/payments", ("payments",))):
        with sqlite3.connect(f"file:{folder / name}.sqlite3?mode=ro", uri=True) as db:
            for table in tables:
                found[table] = db.execute(f"select count(*) from {table}").fetchone()[0]
        db.close()
    return found


def below(folder: Path) -> list[Path]:
    return [path for path in (folder, *folder.rglob("*")) if not path.is_symlink()]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("up")
def test_what_is_private_is_its_owner_s_alone_wherever_it_lies(folder: Path) -> None:
    for name in PRIVATE:
        found = {str(path.relative_to(folder)): oct(mode(path)) for path in below(folder / name) if mode(path) & 0o077}

        assert len(below(folder / name)) > 1
        assert found == {}


def test_only_the_owner_and_the_group_it_shares_votes_with_read_the_inbox(folder: Path) -> None:
    found = {path: oct(mode(path)) for path in below(folder / "inbox") if mode(path) & 0o037}

    assert len(below(folder / "inbox")) > 1
    assert found == {}


@pytest.mark.usefixtures("up")
def test_every_file_of_the_state_is_in_the_reference(folder: Path) -> None:
    listed = (REPOSITORY / "docs" / "reference" / "settings.md").read_text()
    names = {path.name.removesuffix("-wal").removesuffix("-shm") for path in (folder / "run" / "emi-state").iterdir()}

    assert names
    assert [name for name in sorted(names) if f"`{name}" not in listed] == []


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("name", SERVED)
def test_what_others_serve_is_readable_to_them_and_written_by_its_owner(folder: Path, name: str) -> None:
    files = SERVED[name]
    folders = files | (files & 0o444) >> 2

    found = {path: mode(path) for path in below(folder / name)}

    assert len(found) > 5
    assert {path: oct(at) for path, at in found.items() if at != (folders if path.is_dir() else files)} == {}


def test_a_kill_in_the_middle_loses_no_round_lesson_or_payment(up: Running, folder: Path) -> None:
    assert emi_at(up, "buy", "atlas", "--url", up.origin, "--json").returncode == 0
    generation = json.loads(get(up.origin + "/status.json")[2])["generation"]
    up.stop(signal.SIGKILL)
    before = counts(folder)

    with emi_up(folder / "run", **places(folder)) as second:
        second.wait_text("is up:")
        later = wait_newer(second, generation)
        stopped = second.stop()

    after = counts(folder)
    assert before["lessons"] > 40
    assert before["payments"] > 0
    assert all(after[name] >= before[name] for name in before)
    assert after["payments"] == before["payments"]
    assert later > generation
    assert stopped == 0
