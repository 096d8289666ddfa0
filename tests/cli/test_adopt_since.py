"""`emi adopt --since`: what the ledger lacks is taken in all at once, or one by one at a terminal."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from urllib.parse import parse_qs, urlsplit

import pytest

from gateway.ledger.view import LedgerView
from gateway.payments.lost import LostPayment
from generator.cli._adopting import choose
from generator.cli.buy import product_named
from tests.support import local_servers
from tests.support.indexers import EXAMPLE_PRICES, page, row, txid_of
from tests.support.processes import REPOSITORY, clean_environment, emi_here
from tests.support.vaults import write_vault

ROWS = {one["id"]: one for one in (row(1, 10_000), row(2, 20_000), row(3, 100_000), row(4, 777))}
SINCE = ("adopt", "--since", "1000")


def answer(path: str, _body: bytes | None) -> tuple[int, bytes]:
    parts = urlsplit(path)
    if parts.path == "/v2/transactions":
        listed = [] if "next" in parse_qs(parts.query) else list(ROWS.values())
        return 200, json.dumps(page(listed, "more" if listed else None)).encode()
    found = ROWS.get(parts.path.rpartition("/")[2])
    return (200, json.dumps({"transaction": found}).encode()) if found else (404, b"{}")


@pytest.fixture
def indexer() -> Iterator[str]:
    with local_servers.answering(answer) as origin:
        yield origin


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    write_vault(tmp_path / "vault", prices=EXAMPLE_PRICES)
    return tmp_path


def run(folder: Path, indexer: str, *words: str) -> CompletedProcess[str]:
    return emi_here(*words, cwd=folder, EMI_STATE_DIR=str(folder), EMI_INDEXER_URL=indexer)


def kept(folder: Path) -> dict[str, str]:
    if not (folder / "payments.sqlite3").exists():
        return {}
    with LedgerView(folder / "payments.sqlite3") as view:
        return {row["txid"]: row["product"].removeprefix("x402-") for row in view.all_rows()}


def test_a_dry_run_shows_everything_and_takes_in_nothing(folder: Path, indexer: str) -> None:
    done = run(folder, indexer, *SINCE, "--dry-run")

    assert done.returncode == 0, done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()] == [txid_of(number) for number in (1, 2, 3, 4)]
    assert "round 1001  0.01 USDC" in done.stdout
    assert "market-regime or main-brain" in done.stdout
    assert "(no product costs this)" in done.stdout
    assert "2 would be adopted" in done.stderr
    assert not (folder / "payments.sqlite3").exists()


def test_all_takes_in_what_leaves_no_doubt_and_says_what_it_left(folder: Path, indexer: str) -> None:
    done = run(folder, indexer, *SINCE, "--all")
    again = run(folder, indexer, *SINCE, "--all")

    assert done.returncode == again.returncode == 0, done.stderr
    assert kept(folder) == {txid_of(2): "atlas", txid_of(3): "atlas-human-report"}
    assert "2 adopted, 2 left" in done.stderr
    assert "needs --product" in done.stderr
    assert "1 of an amount that no product costs" in done.stderr
    assert "0 adopted, 2 left" in again.stderr


def test_a_named_product_decides_where_an_amount_fits_several(folder: Path, indexer: str) -> None:
    done = run(folder, indexer, *SINCE, "--all", "--product", "main-brain")

    assert kept(folder) == {txid_of(1): "main-brain", txid_of(2): "atlas", txid_of(3): "atlas-human-report"}
    assert "needs --product" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (SINCE, "there is no terminal to ask at"),
        (("adopt",), "name either a transaction id or --since ROUND"),
        ((*SINCE, txid_of(1)), "name either a transaction id or --since ROUND"),
        (("adopt", txid_of(2)), "name what it bought with --product"),
        (("adopt", txid_of(2), "--product", "atlas", "--all"), "go with --since"),
        ((*SINCE, "--all", "--product", "gold"), "'gold' is not for sale"),
    ],
)
def test_a_question_that_cannot_be_meant_is_one_clear_line(
    words: tuple[str, ...], said: str, folder: Path, indexer: str
) -> None:
    done = run(folder, indexer, *words)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert said in done.stderr
    assert kept(folder) == {}


def test_one_that_is_not_taken_in_is_named_and_the_others_are(folder: Path) -> None:
    def forgetful(path: str, body: bytes | None) -> tuple[int, bytes]:
        return (404, b"{}") if path.endswith(txid_of(2)) else answer(path, body)

    with local_servers.answering(forgetful) as origin:
        done = run(folder, origin, *SINCE, "--all")

    assert done.returncode == 1
    assert f"left     {txid_of(2)}: the chain shows no confirmed asset transfer" in done.stderr
    assert kept(folder) == {txid_of(3): "atlas-human-report"}


def test_at_a_terminal_each_payment_is_asked_for(folder: Path, indexer: str) -> None:
    here, there = pty.openpty()
    environment = clean_environment(PYTHONPATH=str(REPOSITORY), EMI_STATE_DIR=str(folder), EMI_INDEXER_URL=indexer)
    os.write(here, b"gold\nmarket-regime\ny\n\n")

    done = subprocess.run(
        [sys.executable, "-m", "generator.cli", *SINCE],
        stdin=there, capture_output=True, cwd=folder, env=environment, timeout=60, check=False,
    )  # fmt: skip
    os.close(here)
    os.close(there)

    assert done.returncode == 0, done.stderr
    assert kept(folder) == {txid_of(1): "market-regime", txid_of(2): "atlas"}


BOTH = ("x402-market-regime", "x402-main-brain")


@pytest.mark.parametrize(
    ("products", "named", "take_all", "answers", "chosen"),
    [
        (("x402-atlas",), None, True, None, "x402-atlas"),
        (("x402-atlas",), "main-brain", True, None, "x402-atlas"),
        (("x402-atlas",), None, False, ["y"], "x402-atlas"),
        (("x402-atlas",), None, False, [""], None),
        (BOTH, None, True, None, None),
        (BOTH, "main-brain", True, None, "x402-main-brain"),
        (BOTH, None, True, ["main-brain"], "x402-main-brain"),
        (BOTH, None, False, ["what", ""], None),
        (BOTH, "main-brain", False, ["n"], None),
        ((), "atlas", True, ["y"], None),
    ],
)
def test_a_payment_is_taken_in_as_what_its_amount_a_name_or_an_answer_says(
    products: tuple[str, ...], named: str | None, take_all: bool, answers: list[str] | None, chosen: str | None
) -> None:
    payment = LostPayment(txid_of(1), "P" * 58, 10_000, 1_001, products)
    product = None if named is None else product_named(named)
    ask = None if answers is None else lambda _question: answers.pop(0)

    assert choose(payment, product, take_all=take_all, ask=ask) == chosen
