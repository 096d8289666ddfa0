"""The payments ledger's file is removed or replaced under a running gateway."""

import asyncio
import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.errors import LedgerUnavailable
from gateway.ledger.store import GONE, Ledger
from tests.ledger.test_ledger import ledger_with
from tests.support.gateway_app import gateway_app, in_loop
from tests.support.intents import INTENT

NAME = "payments.sqlite3"


def remove(folder: Path) -> None:
    for path in folder.glob(f"{NAME}*"):
        path.unlink()


def restore(folder: Path) -> None:
    shutil.copy(folder / NAME, folder / "backup")
    (folder / "backup").rename(folder / NAME)


def remove_log(folder: Path) -> None:
    (folder / f"{NAME}-wal").unlink()


def move_folder(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


@pytest.mark.parametrize("happens", [remove, restore, remove_log])
@in_loop
async def test_a_ledger_file_that_is_not_ours_any_more_takes_no_money(
    happens: Callable[[Path], None], tmp_path: Path
) -> None:
    async with gateway_app(tmp_path) as home:
        before = home.buyer.pay()
        await home.send(before)
        happens(tmp_path)

        with capture_logs() as logs:
            answers = [await home.send(home.buyer.pay()) for _ in range(2)]
        replay = await home.send(before)

    assert [answer.status_code for answer in answers] == [503, 503]
    assert len(home.upstream.asked("/settle")) == 1
    assert [line["log_level"] for line in logs if line["event"] == GONE] == ["error"]
    assert replay.status_code == 200


@in_loop
async def test_a_payment_on_its_way_is_delivered_when_the_ledger_is_removed(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.1
        buying = asyncio.create_task(home.send(home.buyer.pay()))
        await home.upstream.settling.wait()

        remove(tmp_path)

        assert (await buying).status_code == 200


def test_a_ledger_that_comes_back_is_trusted_only_after_a_restart(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)
    moved = [(path, path.with_name(f"moved{path.name}")) for path in tmp_path.iterdir()]
    for path, other in moved:
        path.rename(other)
    with pytest.raises(LedgerUnavailable):
        ledger.check_file()
    for path, other in moved:
        other.rename(path)

    with pytest.raises(LedgerUnavailable):
        ledger.write_intent(replace(INTENT, txid="B" * 52))
    ledger.close()
    again = Ledger(tmp_path / NAME)
    again.write_intent(replace(INTENT, txid="B" * 52))

    assert again.fault is None


def test_a_folder_that_is_moved_away_is_noticed_and_a_link_to_the_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.sqlite3").symlink_to(tmp_path / "real" / NAME)
    ledger = Ledger(tmp_path / "link.sqlite3")
    ledger.check_file()

    move_folder(tmp_path / "real")

    with pytest.raises(LedgerUnavailable):
        ledger.check_file()


@pytest.mark.parametrize(("stopped", "kept"), [("gently", 60), ("killed", 0)])
def test_rows_of_a_removed_log_are_kept_by_a_gentle_stop_alone(tmp_path: Path, stopped: str, kept: int) -> None:
    """What the advice of /readyz rests on: only the process has the log's rows, and writes them as it closes."""
    Ledger(tmp_path / NAME).close()
    seller = subprocess.run([sys.executable, "-c", SELLER, str(tmp_path), stopped], check=False)
    assert seller.returncode == (0 if stopped == "gently" else -signal.SIGKILL)

    with contextlib.closing(sqlite3.connect(tmp_path / NAME)) as ledger:
        assert ledger.execute("SELECT count(*) FROM payments").fetchone() == (kept,)
    assert "stop the gateway gently, never by kill -9" in GONE
    assert "emi adopt" in GONE


SELLER = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from gateway.ledger.store import Ledger
from tests.support.intents import INTENT

folder = Path(sys.argv[1])
ledger = Ledger(folder / "payments.sqlite3")
for number in range(60):
    ledger.write_intent(replace(INTENT, txid=str(number).ljust(52, "A"), identifier=None))
(folder / "payments.sqlite3-wal").unlink()
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
ledger.close()
"""
