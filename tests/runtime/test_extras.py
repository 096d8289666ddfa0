"""What a setting needs that is an extra of this package, where it is not installed: one line that names it."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import LedgerUnreadable, VaultUnreadable
from gateway.ledger.engine import postgres_engine
from gateway.vault.bucket import vault_files
from generator.clock import SystemClock
from generator.errors import BackupError, LeaseUnreachable, MemoryUnreadable, PublishError, SourceError
from generator.market.recorded.sheets import UnreadableFileError, opened
from generator.operate.keep.targets import open_target
from generator.record.memory.database import open_database
from generator.release.bucket.places import site_store, vault_store
from generator.runtime.app import build
from generator.runtime.postgres_lease import PostgresLease
from generator.settings import GeneratorSettings

BUCKET = "s3://bucket/prefix"
CLOUD = r"needs the extra `cloud` of this package: pip install -r requirements-cloud\.lock$"
OPENING: dict[str, tuple[Callable[[Path], Any], type[Exception]]] = {
    "site": (lambda folder: site_store(folder, BUCKET), PublishError),
    "vault": (lambda folder: vault_store(folder, BUCKET), PublishError),
    "vault that is sold from": (lambda folder: vault_files(folder, BUCKET), VaultUnreadable),
    "backups": (lambda folder: open_target(BUCKET, folder), BackupError),
}


@pytest.mark.parametrize(("opens", "error"), OPENING.values(), ids=OPENING)
def test_an_object_store_without_its_library_names_the_extra(
    opens: Callable[[Path], Any], error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("obstore", "obstore.store", "obstore.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(error, match=CLOUD):
        opens(tmp_path)


def test_the_live_market_without_its_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ccxt", None)

    with pytest.raises(SourceError, match=r"EMI_SOURCE=live needs the extra `live` .* requirements-live\.lock$"):
        build(GeneratorSettings(state_dir=tmp_path, source="live"), SystemClock())


ON_A_DATABASE: dict[str, tuple[Callable[[str], Any], type[Exception]]] = {
    "memory": (open_database, MemoryUnreadable),
    "lease": (PostgresLease, LeaseUnreachable),
    "payments ledger": (postgres_engine, LedgerUnreadable),
}


@pytest.mark.parametrize(("opens", "error"), ON_A_DATABASE.values(), ids=ON_A_DATABASE)
def test_a_database_without_its_driver_names_the_extra(
    opens: Callable[[str], Any], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(error, match=r"needs the extra `postgres` .*: pip install -r requirements-postgres\.lock$"):
        opens("postgresql+psycopg://emi:secret@db.example.org/emi")


def test_parquet_without_its_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = tmp_path / "BTC.parquet"
    table.write_bytes(b"PAR1")

    line = r"`frames` .*: pip install -r requirements-frames\.lock$"
    with pytest.raises(UnreadableFileError, match=line), opened(table) as sheets:
        list(next(sheets).rows)
