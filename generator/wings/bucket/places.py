"""Where a generator publishes to: folders of this machine, or prefixes of an object store."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from generator.lease import Fence, one_writer
from generator.release.release import Releases
from generator.release.vault import Vault

if TYPE_CHECKING:
    from generator.wings.bucket.site import BucketSite
    from generator.wings.bucket.vault import BucketVault


def site_store(folder: Path, url: str | None, fence: Fence = one_writer) -> Releases | BucketSite:
    """Return where the site goes; raise PublishError where the environment lacks what the object store needs."""
    if url is None:
        return Releases(folder, fence=fence)
    from generator.wings.bucket.site import BucketSite  # noqa: PLC0415  obstore, for who has an object store
    from generator.wings.bucket.store import open_bucket  # noqa: PLC0415

    return BucketSite(open_bucket(url), secrets.token_hex(8), fence)


def vault_store(folder: Path, url: str | None, fence: Fence = one_writer) -> Vault | BucketVault:
    """Return where the vault goes; see `site_store`."""
    if url is None:
        return Vault(folder, fence=fence)
    from generator.wings.bucket.store import open_bucket  # noqa: PLC0415
    from generator.wings.bucket.vault import BucketVault  # noqa: PLC0415

    return BucketVault(open_bucket(url), secrets.token_hex(8), fence)
