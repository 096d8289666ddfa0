"""`emi key`: a key is made once, replaced with the old public half kept, and its private half is never shown."""

from pathlib import Path

import pytest

from gateway.wire.receipts import read_key, read_public
from tests.support.processes import emi_here


def test_a_key_is_made_once_and_replaced_by_rotation_alone(tmp_path: Path) -> None:
    keys = tmp_path / "emi-state" / "keys"

    early = emi_here("key", "receipt", "--rotate", cwd=tmp_path)
    made = emi_here("key", "receipt", "--make", cwd=tmp_path)
    first = read_key(keys / "receipt.key")
    again = emi_here("key", "receipt", "--make", cwd=tmp_path)
    rotated = emi_here("key", "receipt", "--rotate", cwd=tmp_path)
    second = read_key(keys / "receipt.key")
    shown = emi_here("key", "receipt", cwd=tmp_path)

    assert [done.returncode for done in (early, made, again, rotated, shown)] == [1, 0, 1, 0, 0]
    assert "run `emi key receipt --make`" in early.stderr
    assert "is there already" in again.stderr
    assert first is not None
    assert second is not None
    newest, old = read_public(keys / "receipt.pub")
    assert (newest.raw, newest.until, old.raw) == (second.public.raw, None, first.public.raw)
    assert old.until == newest.since
    assert [line.split()[0] for line in shown.stdout.splitlines()] == [second.public.name, first.public.name]


def test_a_key_goes_where_the_setting_says(tmp_path: Path) -> None:
    emi_here("key", "log", "--make", cwd=tmp_path, EMI_LOG_KEY_FILE=str(tmp_path / "mine" / "l.key"))

    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["l.key"]


def test_the_key_of_the_log_is_made_once_added_to_and_left_alone(tmp_path: Path) -> None:
    early = emi_here("key", "log", cwd=tmp_path)
    made = emi_here("key", "log", "--make", cwd=tmp_path)
    again = emi_here("key", "log", "--make", cwd=tmp_path)
    emi_here("key", "log", "--rotate", cwd=tmp_path)
    both = emi_here("key", "log", cwd=tmp_path).stdout.splitlines()
    emi_here("key", "log", "--finish", cwd=tmp_path)
    newest = emi_here("key", "log", cwd=tmp_path).stdout.splitlines()

    assert (early.returncode, made.returncode, again.returncode) == (1, 0, 1)
    assert "run `emi key log --make`" in early.stderr
    assert len(both) == 2
    assert both[1] in made.stdout
    assert newest == both[:1]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("log", "--make", "--rotate"), "choose one of --make, --rotate and --finish"),
        (("receipt", "--finish"), "--finish is for the log's key alone: `emi key receipt --rotate`"),
        (("log", "file"), "where the log key lies is a setting, EMI_LOG_KEY_FILE"),
        (("backup",), "name a new file for the private half, e.g. `emi key backup identity.txt`"),
        (("backup", "file", "--rotate"), "name a new file for the private half"),
    ],
)
def test_what_cannot_be_done_with_a_key_says_what_can(tmp_path: Path, words: tuple[str, ...], answer: str) -> None:
    refused = emi_here("key", *words, cwd=tmp_path)

    assert refused.returncode == 1
    assert refused.stderr.startswith(f"emi: {answer}")
    assert list(tmp_path.iterdir()) == []
