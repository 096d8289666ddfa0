import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.errors import VaultUnreadable
from gateway.vault.bucket import Folder
from gateway.vault.folder import LoadedVault, VaultReader, load_vault, read_manifest
from tests.support.clock import ManualClock
from tests.support.gateway_app import gateway_app, in_loop
from tests.support.vaults import GENERATION, write_manifest, write_vault


def load(folder: Path) -> LoadedVault:
    """Read a vault in a folder as the gateway does."""
    files = Folder(folder)

    async def read() -> LoadedVault:
        found = await files.manifest(None)
        assert found is not None
        return await load_vault(files, read_manifest(found.data), {})

    return asyncio.run(read())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda manifest: manifest.pop("disclaimer"),
        lambda manifest: manifest.update(schema_version=2),
        lambda manifest: manifest.update(source_mode="invented"),
        lambda manifest: manifest.update(generation="000000000099"),
        lambda manifest: manifest["products"][0].update(price_atomic=1),
        lambda manifest: manifest["products"][0].update(price_atomic=10_000.5),
        lambda manifest: manifest["products"][0].update(path="/etc/passwd"),
        lambda manifest: manifest["snapshots"][0]["bodies"]["x402-atlas"].update(sha256="0" * 64),
        lambda manifest: manifest["snapshots"][0]["bodies"]["x402-atlas"].update(bytes=3),
        lambda manifest: manifest["snapshots"][0]["bodies"]["x402-atlas"].update(path="../../etc/passwd"),
        lambda manifest: manifest["snapshots"][0]["bodies"].pop("x402-atlas"),
        lambda manifest: manifest["snapshots"].clear(),
    ],
)
def test_a_manifest_that_does_not_hold_is_refused(spoil: Callable[[Any], Any], tmp_path: Path) -> None:
    manifest = write_vault(tmp_path)
    spoil(manifest)
    write_manifest(tmp_path, manifest)

    with pytest.raises(VaultUnreadable):
        load(tmp_path)


def test_a_missing_or_changed_body_is_refused(tmp_path: Path) -> None:
    write_vault(tmp_path)
    body = tmp_path / "snapshots" / GENERATION / "x402-atlas.json"
    body.write_bytes(body.read_bytes()[:-1] + b" ")

    with pytest.raises(VaultUnreadable, match="not the one"):
        load(tmp_path)
    body.unlink()
    with pytest.raises(VaultUnreadable, match="cannot be read"):
        load(tmp_path)


@in_loop
async def test_a_broken_new_manifest_keeps_the_last_good_one_and_is_logged_once(tmp_path: Path) -> None:
    write_vault(tmp_path)
    vault = VaultReader(Folder(tmp_path), ManualClock(), 900)
    await vault.refresh()
    (tmp_path / "manifest.json").write_text("{")

    with capture_logs() as logs:
        for _ in range(3):
            assert not await vault.refresh()

    current = vault.current()
    assert current is not None
    assert current.generation == GENERATION
    assert len(logs) == 1


@in_loop
async def test_readers_never_see_half_a_vault_while_it_is_replaced(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        seen = set()
        for number in range(8, 16):
            write_vault(tmp_path / "vault", generation=f"{number:012d}")
            refreshing = asyncio.create_task(home.state.refresh())
            answer = await home.get()
            await refreshing
            quote, accepts = answer.json()["quote"], answer.json()["accepts"]
            seen.add(quote["snapshotId"] == accepts[0]["extra"]["snapshotId"] == accepts[1]["extra"]["snapshotId"])

    assert seen == {True}
    assert json.loads((tmp_path / "vault" / "manifest.json").read_text())["generation"] == "000000000015"
