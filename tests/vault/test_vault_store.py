"""The vault in an object store that is down, slow, forbidden or lying: the last good one is still sold."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from obstore.store import MemoryStore
from structlog.testing import capture_logs

from gateway.errors import VaultUnreadable
from gateway.settings import GatewaySettings
from gateway.vault.bucket import BucketFiles, vault_files
from gateway.vault.folder import VaultReader
from tests.support.clock import ManualClock
from tests.support.gateway_app import in_loop
from tests.support.vaults import GENERATION, body_of, write_manifest, write_vault

NEWER = "000000000008"
URL = "s3://market/vault"


@dataclass
class Store:
    """An S3 server of one folder that answers GETs, and misbehaves on demand."""

    folder: Path
    how: str = ""
    where: str = ""
    asked: Counter[str] = field(default_factory=Counter)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix("/market/vault/")
        self.asked[path] += 1
        if self.how and path.startswith(self.where):
            return await self._misbehave(request, path)
        return self._file(request, path)

    def _file(self, request: web.Request, path: str) -> web.Response:
        file = self.folder / path
        if not file.is_file():
            return web.Response(status=404, text="<Error><Code>NoSuchKey</Code></Error>")
        etag = f'"{file.stat().st_mtime_ns}-{file.stat().st_ino}"'
        headers = {"ETag": etag, "Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT"}
        if request.headers.get("If-None-Match") == etag:
            self.asked["304"] += 1
            return web.Response(status=304, headers=headers)
        return web.Response(body=file.read_bytes(), headers=headers)

    async def _misbehave(self, request: web.Request, path: str) -> web.StreamResponse:
        if self.how == "hangs":
            await asyncio.sleep(30)
        if self.how == "half a body":
            whole = self._file(request, path)
            assert isinstance(whole.body, bytes)
            half = web.StreamResponse(headers={**whole.headers, "Content-Length": str(len(whole.body))})
            await half.prepare(request)
            await half.write(whole.body[: len(whole.body) // 2])
            assert request.transport is not None
            request.transport.close()
            return half
        if self.how == "other bytes":
            return web.Response(
                body=b'{"hello":1}', headers={"ETag": '"x"', "Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT"}
            )
        return web.Response(status=int(self.how), text="<Error><Code>AccessDenied</Code><Key>AKIDTEST</Key></Error>")


@dataclass
class Home:
    store: Store
    vault: VaultReader
    clock: ManualClock

    async def look(self) -> bool:
        """Look again, once it is time to."""
        self.clock.step(BucketFiles.poll_s)
        return await self.vault.refresh()

    @property
    def generation(self) -> str | None:
        held = self.vault.current()
        return held.generation if held else None


@asynccontextmanager
async def home(folder: Path, monkeypatch: pytest.MonkeyPatch, request_s: float = 10) -> AsyncIterator[Home]:
    store = Store(folder)
    app = web.Application()
    app.router.add_get("/{path:.*}", store.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    for name, value in _environment(f"http://127.0.0.1:{port}").items():
        monkeypatch.setenv(name, value)
    clock = ManualClock()
    try:
        yield Home(store, VaultReader(vault_files(folder, URL, request_s, retries=0), clock, 900), clock)
    finally:
        await runner.cleanup()


def _environment(endpoint: str) -> dict[str, str]:
    keys = {"AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_REGION": "us-east-1"}
    return keys | {"AWS_ENDPOINT_URL": endpoint}


@in_loop
async def test_a_vault_in_a_store_is_read_whole_and_then_asked_for_on_a_condition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vault(tmp_path)
    async with home(tmp_path, monkeypatch) as at:
        assert await at.look()
        held = at.vault.current()
        assert held is not None
        assert held.newest.bodies["x402-atlas"].content == body_of("x402-atlas", GENERATION)
        for _ in range(3):
            assert not await at.look()
        assert at.store.asked["304"] == 3
        write_vault(tmp_path, generation=NEWER)
        assert await at.look()
        assert at.generation == NEWER


@in_loop
async def test_the_store_is_asked_every_five_seconds_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_vault(tmp_path)
    async with home(tmp_path, monkeypatch) as at:
        for _ in range(20):
            at.clock.step(1)
            await at.vault.refresh()
        assert at.store.asked["manifest.json"] == 4


@pytest.mark.parametrize("where", ["manifest.json", f"snapshots/{NEWER}/x402-atlas.json"])
@pytest.mark.parametrize("how", ["403", "404", "500", "503", "half a body", "other bytes", "hangs"])
@in_loop
async def test_the_last_good_vault_is_kept_until_the_store_works_again(
    how: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vault(tmp_path)
    async with home(tmp_path, monkeypatch, 0.4 if how == "hangs" else 10.0) as at:
        await at.look()
        write_vault(tmp_path, generation=NEWER)
        at.store.how, at.store.where = how, where

        with capture_logs() as logs:
            for _ in range(2):
                assert not await at.look()
        assert at.generation == GENERATION
        assert len(logs) == 1
        assert not [word for word in ("hunter2", "AKIDTEST") if word in str(logs)]

        at.store.how = ""
        assert await at.look()
        assert at.generation == NEWER


@in_loop
async def test_a_store_that_fails_now_and_then_is_read_in_several_looks_and_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vault(tmp_path)
    missing = tmp_path / "snapshots" / GENERATION / "x402-main-brain.json"
    content = missing.read_bytes()
    missing.unlink()
    async with home(tmp_path, monkeypatch) as at:
        assert not await at.look()
        missing.write_bytes(content)
        at.store.asked.clear()
        assert await at.look()
        assert [path for path in at.store.asked if path.startswith("snapshots/")] == [
            f"snapshots/{GENERATION}/x402-main-brain.json"
        ]


@in_loop
async def test_an_older_manifest_does_not_replace_a_newer_one_but_a_vault_begun_again_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = write_vault(tmp_path)
    younger = ManualClock()
    younger.step(120)
    write_vault(tmp_path, generation=NEWER, at=younger.now())
    async with home(tmp_path, monkeypatch) as at:
        await at.look()
        write_manifest(tmp_path, older)
        assert not await at.look()
        assert at.generation == NEWER
        younger.step(120)
        write_vault(tmp_path, generation="000000000001", at=younger.now())
        assert await at.look()
        assert at.generation == "000000000001"


def test_a_manifest_too_large_to_be_one_is_not_read() -> None:
    store = MemoryStore()
    store.put("manifest.json", b" " * (8 * 1024 * 1024 + 1))

    with pytest.raises(VaultUnreadable, match="larger than"):
        asyncio.run(BucketFiles(store, "memory").manifest(None))


@in_loop
async def test_a_gateway_starts_while_its_store_is_down_and_sells_once_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home(tmp_path, monkeypatch) as at:
        at.store.how = "503"
        settings = GatewaySettings(state_dir=tmp_path / "state", vault_url=URL)
        vault = VaultReader(
            vault_files(settings.vault_dir, settings.vault_bucket), at.clock, settings.vault_max_age_seconds
        )
        assert not await vault.refresh()
        assert vault.fault() == "no data has been published yet"
        write_vault(tmp_path)
        at.store.how = ""
        at.clock.step(BucketFiles.poll_s)
        assert await vault.refresh()
