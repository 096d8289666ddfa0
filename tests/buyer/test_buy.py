import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.devnet.keys import new_key
from gateway.ledger.store import Ledger
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET
from generator.catalog.products import PRODUCTS
from generator.cli import application
from generator.errors import GeneratorError
from generator.lock import StateLock
from tests.support.local_servers import Shop, shop
from tests.support.vaults import PRICES


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with shop(tmp_path_factory.mktemp("shop")) as open_shop:
        yield open_shop


def emi(shop: Shop, *arguments: str) -> str:
    """Run `emi buy` as at a prompt and return what it prints on standard output."""
    environment = {"EMI_STATE_DIR": str(shop.state), "EMI_FACILITATOR_URL": f"{shop.devnet}/facilitator"}
    done = CliRunner().invoke(application(), ["buy", *arguments, "--url", shop.gateway], env=environment)
    if done.exception is not None:
        raise done.exception
    return done.stdout


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.buy_name)
def test_emi_buy_prints_settled_txid_and_network_and_keeps_the_receipt(running: Shop, product: Any) -> None:
    had = running.ledger.holding(DEMO_PAYEE) or 0

    lines = emi(running, product.buy_name).splitlines()

    txid = lines[1].split()[1]
    assert lines[0] == "settled"
    assert lines[2].split() == ["network", DEVNET.full]
    assert running.ledger.is_committed(txid)
    assert (running.ledger.holding(DEMO_PAYEE) or 0) - had == product.price_atomic
    kept = json.loads((running.state / "purchases" / f"{txid}.json").read_text())
    assert (kept["status"], kept["receipt"]["success"], kept["receipt"]["transaction"]) == ("settled", True, txid)


def test_without_a_url_emi_buy_asks_the_service_that_runs_on_its_state(running: Shop) -> None:
    environment = {"EMI_STATE_DIR": str(running.state), "EMI_FACILITATOR_URL": f"{running.devnet}/facilitator"}

    with StateLock(running.state, "up", note=running.gateway):
        done = CliRunner().invoke(application(), ["buy", "atlas"], env=environment)

    assert done.exit_code == 0, done.exception
    assert done.stdout.startswith("settled\n")


def test_the_url_that_emi_buy_is_given_comes_before_the_running_service(running: Shop) -> None:
    with StateLock(running.state, "up", note="http://127.0.0.1:1"):
        assert emi(running, "atlas").startswith("settled\n")


def test_emi_adopt_takes_in_what_another_ledger_sold(running: Shop, tmp_path: Path) -> None:
    txid = emi(running, "atlas").splitlines()[1].split()[1]
    nodes = {"EMI_ALGOD_URL": f"{running.devnet}/algod", "EMI_INDEXER_URL": f"{running.devnet}/indexer"}
    ledger = {"EMI_STATE_DIR": str(running.state), "EMI_LEDGER_URL": f"sqlite:///{tmp_path}/new.sqlite3"}

    adopting = ["adopt", txid, "--product", "atlas"]
    done = CliRunner().invoke(application(), adopting, env=nodes | ledger)

    record = Ledger(tmp_path / "new.sqlite3").find(txid)
    assert done.exit_code == 0, done.exception
    assert record is not None
    assert (record.state, record.evidence, record.price_atomic) == ("settled", "adopted", PRICES["x402-atlas"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("atlas", "--max-price", "19999"), "above the limit of 19999"),
        (("everything",), "not for sale; products are market-regime, main-brain"),
        (("atlas", "--devnet-url", "http://devnet.example"), "loopback devnet only"),
        (("atlas", "--devnet-url", "http://127.0.0.1:1"), "nothing was paid: the devnet at"),
    ],
)
def test_what_cannot_be_bought_is_one_clear_line_and_nothing_is_paid(
    running: Shop, arguments: tuple[str, ...], words: str
) -> None:
    had = running.ledger.holding(DEMO_PAYEE)

    with pytest.raises(GeneratorError, match=words):
        emi(running, *arguments)

    assert running.ledger.holding(DEMO_PAYEE) == had


def test_the_report_is_printed_as_text_and_the_rest_as_json(running: Shop) -> None:
    text = emi(running, "atlas-human-report")
    alone = json.loads(emi(running, "atlas-human-report", "--json"))
    other = emi(running, "atlas")

    assert "sideways & calm" in text
    assert "{" not in text
    assert alone["endpoint"] == "x402-atlas-human-report"
    assert json.loads("\n".join(other.splitlines()[5:]))["endpoint"] == "x402-atlas"


@pytest.mark.parametrize("option", ["--url", "--node", "--devnet-url"])
def test_an_address_without_a_scheme_says_how_it_must_begin(running: Shop, option: str) -> None:
    environment = {"EMI_STATE_DIR": str(running.state)}

    done = CliRunner().invoke(application(), ["buy", "atlas", option, "127.0.0.1:8632"], env=environment)

    assert done.exit_code == 2
    assert "must begin with http:// or https://" in " ".join(done.output.split())


def test_a_payee_other_than_the_accepted_one_is_never_paid(running: Shop) -> None:
    had = running.ledger.holding(DEMO_PAYEE)

    with pytest.raises(GeneratorError, match=r"not .*, the only one accepted"):
        emi(running, "atlas", "--accept-payee", new_key().address)
    with pytest.raises(GeneratorError, match="is not an Algorand address"):
        emi(running, "atlas", "--accept-payee", "SOMEONE")

    assert running.ledger.holding(DEMO_PAYEE) == had


def test_two_buyers_on_one_state_do_not_buy_at_once(running: Shop) -> None:
    with StateLock(running.state, "buy"), pytest.raises(GeneratorError, match="is buying with the same state"):
        emi(running, "atlas")


def test_the_commands_load_nothing_heavy_before_they_run() -> None:
    found = "import sys, generator.cli.buy, generator.cli.devnet; print([name for name in sys.modules if name in %r])"
    heavy = ["aiohttp", "algosdk", "gateway.app", "gateway.settings", "nacl", "numpy", "pydantic", "x402"]

    done = subprocess.run([sys.executable, "-c", found % heavy], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_reader_of_the_first_lines_alone_has_bought_all_the_same(running: Shop) -> None:
    environment = os.environ | {
        "EMI_STATE_DIR": str(running.state),
        "EMI_FACILITATOR_URL": f"{running.devnet}/facilitator",
    }
    command = f"{sys.executable} -m generator.cli buy atlas --url {running.gateway} | head -1"

    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, env=environment)

    assert (done.stdout, done.stderr) == ("settled\n", "")
    kept = [json.loads(path.read_text())["status"] for path in (running.state / "purchases").glob("*.json")]
    assert set(kept) == {"settled"}
