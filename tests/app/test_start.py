"""Programs that start together raise no alarm; what lasts does."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.clock import STARTING_S
from gateway.errors import GatewayError
from gateway.upstream.chain import Chain
from gateway.upstream.facilitator import Facilitator
from gateway.vault.bucket import Folder
from gateway.vault.folder import VaultReader
from gateway.wire.restoring import MARK
from tests.support.clock import ManualClock
from tests.support.gateway_app import gateway_app, in_loop
from tests.support.ports import free_port


def levels(logs: Sequence[Mapping[str, Any]], event: str) -> list[str]:
    return [line["log_level"] for line in logs if line["event"] == event]


@in_loop
async def test_an_outside_that_is_not_there_yet_is_an_alarm_only_after_seconds(tmp_path: Path) -> None:
    with capture_logs() as logs:
        async with gateway_app(tmp_path) as home:
            nowhere = f"http://127.0.0.1:{free_port()}"
            settings = home.state.settings.model_copy(update={"facilitator_url": nowhere, "algod_url": nowhere})
            outside = (settings, home.state.http, home.clock, home.state.metrics)
            facilitator, chain = Facilitator(*outside), Chain(*outside)
            for _ in range(2):
                for _ in range(2):
                    await facilitator.refresh()
                    await chain.current_round()
                home.clock.step(STARTING_S)

    assert levels(logs, "no new offer from the facilitator") == ["info", "error"]
    assert levels(logs, "a call to the chain failed") == ["info", "warning"]


@in_loop
async def test_a_vault_that_is_not_there_yet_raises_no_warning_and_a_broken_one_does(tmp_path: Path) -> None:
    vault = VaultReader(Folder(tmp_path), ManualClock(), 900)
    with capture_logs() as logs:
        await vault.refresh()
        (tmp_path / "manifest.json").write_text("{")
        vault._look_at_s = 0
        await vault.refresh()

    assert [line["log_level"] for line in logs] == ["info", "warning"]


@in_loop
async def test_no_gateway_opens_a_ledger_that_is_half_restored(tmp_path: Path) -> None:
    (tmp_path / MARK).write_text("20261125T200409Z")

    with pytest.raises(GatewayError, match="did not come to its end: run emi restore again"):
        async with gateway_app(tmp_path):
            pass

    assert not (tmp_path / "payments.sqlite3").exists()
