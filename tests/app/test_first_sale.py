"""The first vault of a gateway: from the moment that it says ready, everything it offers can be bought."""

import asyncio
from pathlib import Path

from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop
from tests.support.vaults import PATHS, write_vault

POLL_S = 0.02
STARTS = 10


async def answers_of_a_start(folder: Path) -> list[tuple[int, float, set[int]]]:
    """Start a gateway on an empty folder, publish its first vault, and poll until a look after the first quote.

    Returns:
        A row for each look: the status of /readyz, the gauge `emi_quoting`, the statuses of the paid paths after them.
    """
    looks: list[tuple[int, float, set[int]]] = []
    async with gateway_app(folder, vault=None) as home:
        await asyncio.to_thread(write_vault, folder / "vault")

        while not looks or looks[-1][2] != {402}:
            looks.append(await look(home))
            await asyncio.sleep(POLL_S)
    return looks


async def look(home: GatewayHarness) -> tuple[int, float, set[int]]:
    ready = (await home.get("/readyz")).status_code
    home.state.readiness.measure()
    quoting = home.state.metrics.registry.get_sample_value("emi_quoting")
    assert quoting is not None
    return ready, quoting, {(await home.get(path)).status_code for path in PATHS.values()}


@in_loop
async def test_no_cold_start_says_ready_before_all_paid_paths_quote(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(STARTS)]
    for folder in folders:
        folder.mkdir()

    starts = await asyncio.gather(*map(answers_of_a_start, folders))

    looks = [seen for start in starts for seen in start]
    assert [seen for seen in looks if seen[0] == 200 and seen[2] != {402}] == []
    assert [seen for seen in looks if seen[1] == 1 and seen[2] != {402}] == []
    assert all(start[0][0] == 503 for start in starts)
