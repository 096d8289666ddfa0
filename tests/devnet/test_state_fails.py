"""A devnet ledger that cannot be used: one answer, no traceback at the prompt."""

from pathlib import Path

from starlette.testclient import TestClient

from gateway.devnet.app import build_devnet
from gateway.devnet.settings import DevnetSettings


def test_a_ledger_that_cannot_be_used_is_503_and_says_so(tmp_path: Path) -> None:
    app = build_devnet(DevnetSettings(state_path=tmp_path / "devnet.sqlite3"))
    client = TestClient(app, base_url="http://localhost")
    app.state.ledger.close()

    answer = client.get("/wallet/fund", params={"address": app.state.fee_payer})

    assert answer.status_code == 503
    assert "the devnet's state" in answer.json()["message"]
