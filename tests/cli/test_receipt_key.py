"""`emi receipt-key`: made once, replaced with the old public half kept, and never shown."""

from pathlib import Path

from gateway.wire.receipts import read_key, read_public
from tests.support.processes import emi_here


def test_a_key_is_made_once_and_replaced_by_rotation_alone(tmp_path: Path) -> None:
    keys = tmp_path / "emi-state" / "keys"

    early = emi_here("receipt-key", "rotate", cwd=tmp_path)
    made = emi_here("receipt-key", "init", cwd=tmp_path)
    first = read_key(keys / "receipt.key")
    again = emi_here("receipt-key", "init", cwd=tmp_path)
    rotated = emi_here("receipt-key", "rotate", cwd=tmp_path)
    second = read_key(keys / "receipt.key")
    shown = emi_here("receipt-key", "show", cwd=tmp_path)

    assert [done.returncode for done in (early, made, again, rotated, shown)] == [1, 0, 1, 0, 0]
    assert "run `emi receipt-key init`" in early.stderr
    assert "is there already" in again.stderr
    assert first is not None
    assert second is not None
    newest, old = read_public(keys / "receipt.pub")
    assert (newest.raw, newest.until, old.raw) == (second.public.raw, None, first.public.raw)
    assert old.until == newest.since
    assert [line.split()[0] for line in shown.stdout.splitlines()] == [second.public.name, first.public.name]


def test_a_key_goes_where_the_setting_says(tmp_path: Path) -> None:
    emi_here("receipt-key", "init", cwd=tmp_path, EMI_RECEIPT_KEY_FILE=str(tmp_path / "mine" / "r.key"))

    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["r.key", "r.pub"]
