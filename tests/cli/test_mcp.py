"""`emi mcp`, before it serves."""

from pathlib import Path

from tests.support.processes import emi_here


def test_a_wallet_that_is_not_there_is_named_with_the_way_to_make_one(tmp_path: Path) -> None:
    missing = tmp_path / "buyer.key"

    result = emi_here(
        "mcp", "--url", "http://127.0.0.1:9", "--wallet", str(missing), "--state", str(tmp_path), cwd=tmp_path
    )

    assert result.returncode == 1
    assert f"there is no wallet {missing}; on a devnet `emi buy market-regime` makes one" in result.stderr
