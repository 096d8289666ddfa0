"""Where a generator publishes to: folders of this machine, or prefixes of an object store."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from generator.release.release import Releases
from generator.release.vault import VaultFolder
from generator.runtime.lease import Fence, no_fence

if TYPE_CHECKING:
    from generator.release.bucket.site import BucketSite
    from generator.release.bucket.vault import BucketVault


def site_store(folder: Path, url: str | None, fence: Fence = no_fence) -> Releases | BucketSite:
    """Return where the site goes; raise PublishError where the environment lacks what the object store needs."""
    if url is None:
        return Releases(folder, fence=fence)
    from generator.release.bucket.site import BucketSite  # noqa: PLC0415  obstore, for who has an object store
    from generator.release.bucket.store import open_bucket  # noqa: PLC0415

    return BucketSite(open_bucket(url), secrets.token_hex(8), fence)


def vault_store(folder: Path, url: str | None, fence: Fence = no_fence) -> VaultFolder | BucketVault:
    """Return where the vault goes; see `site_store`."""
    if url is None:
        return VaultFolder(folder, fence=fence)
    from generator.release.bucket.store import open_bucket  # noqa: PLC0415
    from generator.release.bucket.vault import BucketVault  # noqa: PLC0415

    return BucketVault(open_bucket(url), secrets.token_hex(8), fence)
