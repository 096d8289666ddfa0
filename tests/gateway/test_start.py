"""A start beside others that are starting too is no alarm; what lasts is."""

from __future__ import annotations

from pathlib import Path

from structlog.testing import capture_logs

from gateway.facilitator import STARTING_S
from gateway.vault import Vault
from gateway.vault_store import Folder
from tests.gateway.fakes import FakeClock
from tests.gateway.house import house, in_loop
from tests.ports import free_port

NOWHERE = "http://127.0.0.1:{}/f"


def levels(logs: list[dict[str, str]], event: str) -> list[str]:
    return [line["log_level"] for line in logs if line["event"] == event]


@in_loop
async def test_a_facilitator_that_is_not_there_yet_is_an_error_only_after_seconds(tmp_path: Path) -> None:
    with capture_logs() as logs:
        async with house(tmp_path) as home:
            facilitator = home.state.facilitator
            facilitator._offer, facilitator._urls["/supported"] = None, NOWHERE.format(free_port())
            for _ in range(2):
                home.clock.step(STARTING_S / 2)
                facilitator._asked_at = None
                await facilitator.refresh()

    assert levels(logs, "no new offer from the facilitator") == ["info", "error"]


@in_loop
async def test_a_vault_that_is_not_there_yet_is_no_warning_and_one_that_is_broken_is(tmp_path: Path) -> None:
    vault = Vault(Folder(tmp_path), FakeClock(), 900)
    with capture_logs() as logs:
        await vault.refresh()
        (tmp_path / "manifest.json").write_text("{")
        vault._look_at_s = 0
        await vault.refresh()

    assert [line["log_level"] for line in logs] == ["info", "warning"]
