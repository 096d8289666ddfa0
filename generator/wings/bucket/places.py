"""Where a generator publishes to and takes ballots from: folders of this machine, or prefixes of an object store."""

from __future__ import annotations

import secrets
from pathlib import Path

from generator.errors import PublishError
from generator.lease import Fence, one_writer
from generator.release.partials import AllPartials, FolderPartials, Partials
from generator.release.release import Releases
from generator.release.values import SiteStore, VaultStore
from generator.release.vault import Vault
from generator.wings.bucket.mirror import Mirrored
from generator.wings.bucket.partials import BucketPartials
from generator.wings.bucket.shelf import BucketShelf
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


def partials(folder: Path, url: str | None) -> Partials:
    """Return where the log's partial tiles lie: where readers are, and in the copy.

    Raises:
        PublishError: the environment lacks what the object store needs.
    """
    here = FolderPartials(folder)
    return here if url is None else AllPartials([BucketPartials(_bucket(url)), here])


def vault_store(folder: Path, url: str | None, fence: Fence = one_writer) -> VaultStore:
    """Return where the vault goes: an object store, or the folder when there is no `url`.

    Raises:
        PublishError: the environment lacks what the object store needs.
    """
    return Vault(folder, fence=fence) if url is None else BucketVault(_bucket(url), _writer(), fence)


def inbox_shelf(url: str) -> BucketShelf:
    """Return where ballots are dropped, in an object store.

    Raises:
        PublishError: the environment lacks what the object store needs.
    """
    return BucketShelf(_bucket(url))


def _bucket(url: str) -> ObjectBucket:
    try:
        return open_bucket(url)
    except StoreFault as fault:
        raise PublishError(str(fault)) from fault


def _writer() -> str:
    return secrets.token_hex(8)
