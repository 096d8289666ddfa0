"""Who on the machine may read what the programs write."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import emi, emi_up

OF_FILES = {"site": 0o644, "vault": 0o640}


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder where everything ran, was voted and bought, with each thing in a place of its own."""
    folder = tmp_path_factory.mktemp("modes")
    places = {
        "EMI_SITE_DIR": f"{folder}/site",
        "EMI_VAULT_URL": f"file://{folder}/vault",
        "EMI_MEMORY_URL": f"sqlite:///{folder}/memory/memory.sqlite3",
        "EMI_LEDGER_URL": f"sqlite:///{folder}/ledger/payments.sqlite3",
        "EMI_ARENA__INBOX_URL": f"{folder}/inbox",
    }
    with emi_up(folder / "run", **places) as running:
        running.wait_text("is up:")
        for command in (("vote", "BULLISH"), ("buy", "market-regime", "--url", running.origin)):
            done = emi(*command, cwd=folder / "run", timeout_s=110, **places)
            assert done.returncode == 0, done.stderr
        yield folder


def below(folder: Path) -> list[Path]:
    return [path for path in (folder, *folder.rglob("*")) if not path.is_symlink()]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("name", ["memory", "ledger", "inbox", "run/emi-state"])
def test_what_is_private_is_its_owner_s_alone_wherever_it_lies(used: Path, name: str) -> None:
    found = {str(path.relative_to(used)): oct(mode(path)) for path in below(used / name) if mode(path) & 0o077}

    assert len(below(used / name)) > 1
    assert found == {}


@pytest.mark.parametrize("name", ["site", "vault"])
def test_what_others_serve_can_be_read_by_them_and_written_by_nobody_else(used: Path, name: str) -> None:
    files = OF_FILES[name]
    folders = files | (files & 0o444) >> 2

    found = {path: mode(path) for path in below(used / name)}

    assert len(found) > 5
    assert {path: oct(at) for path, at in found.items() if at != (folders if path.is_dir() else files)} == {}
