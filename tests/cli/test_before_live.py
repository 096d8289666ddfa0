"""`emi doctor --before-live`: each thing that is not ready for real money is one line with the step to take."""

import json
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.wire.networks import MAINNET
from gateway.wire.receipts import ReceiptKey, did_document, write_key
from generator.cli._before_live import _receipts, before_live
from generator.operate.keep.status import note
from generator.operate.watch.check import Check
from generator.settings import GeneratorSettings
from tests.support import local_servers
from tests.support.processes import emi_here

PAYEE = "GD64YIY3TWGDMCNPP553DZPPR6LDUSFQOIJVFDPPXWEG3FVOJCCDBBHU5A"
USDC = MAINNET.asset_id
READY: Mapping[str, tuple[int, Any]] = {
    "/v2/transactions/params": (200, {"genesis-hash": MAINNET.genesis_hash, "last-round": 9}),
    f"/v2/accounts/{PAYEE}": (
        200,
        {"amount": 500_000, "min-balance": 200_000, "assets": [{"asset-id": USDC, "amount": 7_000_000}]},
    ),
    "/health": (200, {"round": 9}),
    "/supported": (200, {"kinds": [{"network": MAINNET.caip2, "scheme": "exact", "x402Version": 2}]}),
    "/discovery/resources": (200, {"items": [{"resource": "https://api.emi.test/api/x402-atlas.php"}]}),
}


def checks(
    folder: Path, changed: Mapping[str, tuple[int, Any]] | None = None, block_age_s: float = 2.0
) -> dict[str, Check]:
    """Return the checks by name, before a chain and a facilitator that answer these paths."""
    answers = {**READY, "/v2/blocks/9": (200, {"timestamp": int(time.time() - block_age_s)}), **(changed or {})}

    def answer(path: str, _body: bytes | None) -> tuple[int, bytes]:
        status, body = answers.get(path.partition("?")[0], (404, {}))
        return status, json.dumps(body).encode()

    with local_servers.answering(answer) as origin:
        generator = GeneratorSettings(
            state_dir=folder,
            base_url="https://api.emi.test",
            source="live",
            network="mainnet",
            contact="ops@emi.test",
        )
        gateway = GatewaySettings(
            state_dir=folder,
            base_url="https://api.emi.test",
            network="mainnet",
            pay_to=PAYEE,
            facilitator_url=origin,
            algod_url=origin,
            indexer_url=origin,
        )
        return {check.what: check for check in before_live(generator, gateway, datetime.now(UTC))}


def test_a_payee_that_is_ready_and_a_chain_that_agrees_are_good_lines(tmp_path: Path) -> None:
    found = checks(tmp_path)

    good = ("EMI_SOURCE", "EMI_NETWORK", "algod", "payee", "payee's balance", "clock", "facilitator", "listing")
    assert [what for what in good if found[what].good is not True] == []
    assert found["payee"].found == f"opted in to asset {USDC}; 0.500 ALGO, 7.00 USDC"


@pytest.mark.parametrize(
    ("path", "answer", "what", "said"),
    [
        (f"/v2/accounts/{PAYEE}", (200, {"amount": 9, "assets": []}), "payee", "has not opted in"),
        (f"/v2/accounts/{PAYEE}", (404, {}), "payee", "fund"),
        (f"/v2/accounts/{PAYEE}", (200, {"amount": 9, "min-balance": 200_000}), "payee's balance", "send it some"),
        ("/v2/transactions/params", (200, {"genesis-hash": "another"}), "algod", "another network"),
        ("/v2/transactions/params", (401, {}), "algod", "401; another node, or its token"),
        ("/supported", (200, {"kinds": []}), "facilitator", "none of mainnet; choose another"),
    ],
)
def test_what_is_not_ready_names_the_step(
    path: str, answer: tuple[int, Any], what: str, said: str, tmp_path: Path
) -> None:
    check = checks(tmp_path, {path: answer})[what]

    assert check.good is False
    assert said in check.found


@pytest.mark.parametrize(("age_s", "good"), [(-30, False), (-4, False), (0, True), (6, True), (30, False)])
def test_a_clock_is_compared_with_the_newest_block(age_s: float, good: bool, tmp_path: Path) -> None:
    assert checks(tmp_path, block_age_s=age_s)["clock"].good is good


NAMESAKE = {"items": [{"resource": "https://api.emi.test.elsewhere/api/x402-atlas.php"}]}


@pytest.mark.parametrize(
    ("status", "body"), [(404, {}), (200, {"items": []}), (200, {"items": "none"}), (200, NAMESAKE)]
)
def test_a_list_without_us_is_said_and_no_fault(status: int, body: Any, tmp_path: Path) -> None:
    assert checks(tmp_path, {"/discovery/resources": (status, body)})["listing"].good is None


def test_settings_that_still_say_example_are_named(tmp_path: Path) -> None:
    settings = GeneratorSettings(state_dir=tmp_path, contact="ops@example.org")
    gateway = GatewaySettings(state_dir=tmp_path, facilitator_url="https://facilitator.example.org")

    found = {check.what: check for check in before_live(settings, gateway, datetime.now(UTC))}

    assert "is the example; set your own" in found["EMI_CONTACT"].found
    assert "is the example; set your own" in found["EMI_FACILITATOR_URL"].found
    assert found["EMI_ALGOD_URL"].found == "is not set; set it"
    assert found["EMI_SOURCE"].good is False
    assert found["base URL"].good is False
    assert found["alarms"].good is False


def test_the_demo_payee_is_named(tmp_path: Path) -> None:
    with local_servers.answering(
        lambda _path, _body: (200, json.dumps(READY["/v2/transactions/params"][1]).encode())
    ) as at:
        gateway = GatewaySettings(state_dir=tmp_path, algod_url=at, network="mainnet", pay_to=DEMO_PAYEE)
        found = {
            check.what: check
            for check in before_live(GeneratorSettings(state_dir=tmp_path), gateway, datetime.now(UTC))
        }

    assert "is the demo address" in found["payee"].found


@pytest.mark.parametrize(("days", "good"), [(0.5, None), (2, True)])
def test_the_disk_is_divided_by_its_growth_since_the_first_start(
    days: float, good: bool | None, tmp_path: Path
) -> None:
    key = tmp_path / "keys" / "log.key"
    key.parent.mkdir()
    key.write_text("a key")
    began = time.time() - days * 86_400
    os.utime(key, (began, began))

    assert checks(tmp_path)["disk"].good is good


def test_a_backup_that_was_never_made_or_never_restored_is_a_fault(tmp_path: Path) -> None:
    before = checks(tmp_path)
    note(tmp_path / "backups.json", "backup", datetime.now(UTC), "20261125T200409Z, 1.0 MB")
    after = checks(tmp_path)

    assert (before["backup"].good, after["backup"].good, after["restore drill"].good) == (False, True, False)
    assert "emi-drill" in after["restore drill"].found


def test_the_command_prints_lines_or_one_object_and_the_verdict_last(tmp_path: Path) -> None:
    lines = emi_here("doctor", "--before-live", cwd=tmp_path, EMI_STATE_DIR=str(tmp_path))
    shown = emi_here("doctor", "--before-live", "--json", cwd=tmp_path, EMI_STATE_DIR=str(tmp_path))

    assert (lines.returncode, shown.returncode) == (1, 1)
    content = json.loads(shown.stdout)
    assert lines.stdout.splitlines()[-1] == content["verdict"]
    assert content["verdict"].startswith("BAD: ")
    assert "Not checked: payee, facilitator, disk." in content["verdict"]
    assert {"what", "good", "found"} == set(content["checks"][0])


def _said(content: bytes, _path: str, _body: bytes | None) -> tuple[int, bytes]:
    return 200, content


def test_a_receipt_key_that_readers_cannot_find_is_a_fault(tmp_path: Path) -> None:
    signs, other = ReceiptKey(bytes(32)), ReceiptKey(b"1" * 32)
    write_key(tmp_path / "keys" / "receipt.key", signs, [signs.public])
    found = []
    for published in ([], [other.public], [signs.public]):
        document = json.dumps(did_document("http://o", published)).encode()
        with local_servers.answering(partial(_said, document)) as origin:
            [check] = _receipts(GatewaySettings(state_dir=tmp_path, base_url=origin, network="devnet"))
        found.append((check.good, "copy receipt.pub" in check.found))

    assert found == [(False, True), (False, True), (True, False)]
    assert list(_receipts(GatewaySettings(state_dir=tmp_path / "none"))) == []
