"""Where a generator publishes to: folders of this machine, or prefixes of an object store."""

from __future__ import annotations

import secrets
from pathlib import Path

from generator.errors import PublishError
from generator.lease import Fence, one_writer
from generator.release.release import Releases
from generator.release.values import SiteStore, VaultStore
from generator.release.vault import Vault
from generator.wings.bucket.mirror import Mirrored
from generator.wings.bucket.site import BucketSite
from generator.wings.bucket.store import ObjectBucket, StoreFault, open_bucket
from generator.wings.bucket.vault import BucketVault


def site_store(folder: Path, url: str | None, fence: Fence = one_writer) -> SiteStore:
    """Return where the site goes.

    Args:
        folder: of this machine; with `url` it holds the copy.
        url: object store that readers see, None when they see the folder.
        fence: returns the epoch held, or raises LeadershipLost.

    Raises:
        PublishError: the environment lacks what the object store needs.
    """
    releases = Releases(folder, fence=fence)
    return releases if url is None else Mirrored(BucketSite(_bucket(url), _writer(), fence), releases)


def vault_store(folder: Path, url: str | None, fence: Fence = one_writer) -> VaultStore:
    """Return where the vault goes: an object store, or the folder when there is no `url`.

    Raises:
        PublishError: the environment lacks what the object store needs.
    """
    return Vault(folder, fence=fence) if url is None else BucketVault(_bucket(url), _writer(), fence)


def _bucket(url: str) -> ObjectBucket:
    try:
        return open_bucket(url)
    except StoreFault as fault:
        raise PublishError(str(fault)) from fault


def _writer() -> str:
    return secrets.token_hex(8)
