"""Where a generator publishes to: folders, or an object store."""

from pathlib import Path

import pytest

from generator.errors import PublishError
from generator.release.bucket.places import site_store, vault_store
from generator.release.bucket.site import BucketSite
from generator.release.bucket.vault import BucketVault
from generator.release.release import Releases
from generator.release.vault import VaultFolder


def test_urls_decide_where_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)

    assert isinstance(site_store(tmp_path, None), Releases)
    assert isinstance(site_store(tmp_path, "s3://market/site"), BucketSite)
    assert isinstance(vault_store(tmp_path, None), VaultFolder)
    assert isinstance(vault_store(tmp_path, "s3://market/vault"), BucketVault)
    with pytest.raises(PublishError, match="AZURE_STORAGE_ACCOUNT_NAME is not set"):
        site_store(tmp_path, "az://market/site")
