"""Where a generator publishes to: folders of this machine, or prefixes of an object store."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from generator.errors import PublishError
from generator.lease import Fence, one_writer
from generator.release.release import Releases
from generator.release.values import NOTHING
from generator.release.vault import Vault

if TYPE_CHECKING:
    from generator.wings.bucket.site import BucketSite
    from generator.wings.bucket.vault import BucketVault

log = structlog.get_logger("emi.publish")


class Mirrored:
    """An object store and a copy in a folder, with the same releases under the same numbers.

    Readers see the object store, so it is written first: the copy never shows a release that they cannot have. The copy
    is for what reads on this machine: `emi gateway --preview`, `emi vote`, `emi verify`. Where it cannot be written,
    that is logged and counted, and the release is published all the same.
    """

    def __init__(self, public: BucketSite, copy: Releases) -> None:
        self._public = public
        self._copy = copy
        self.copy_failures = 0

    def open(self) -> None:
        """Open both; see `Releases`."""
        self._copy.open()
        self._public.open()

    def generation(self) -> int:
        """Return the highest generation of either; see `Releases`."""
        return max(self._public.generation(), self._copy.generation())

    def is_empty(self) -> bool:
        """Return whether readers have nothing; see `Releases`."""
        return self._public.is_empty()

    def shown(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Return what readers see; see `Releases`."""
        return self._public.shown(paths)

    def publish(
        self, generation: str, files: Mapping[str, bytes], now_s: float, once: Mapping[str, bytes] = NOTHING
    ) -> int:
        """Publish to readers, then to the copy; see `Releases`."""
        written = self._public.publish(generation, files, now_s, once)
        try:
            self._copy.publish(generation, files, now_s, once)
        except PublishError as error:
            self.copy_failures += 1
            log.warning("published, but the copy on this machine was not written", reason=str(error))
        return written


def site_store(folder: Path, url: str | None, fence: Fence = one_writer) -> Releases | Mirrored:
    """Return where the site goes: the folder, or the object store at `url` with a copy in the folder.

    Raises:
        PublishError: the environment lacks what the object store needs.
    """
    releases = Releases(folder, fence=fence)
    if url is None:
        return releases
    from generator.wings.bucket.site import BucketSite  # noqa: PLC0415  obstore, for who has an object store
    from generator.wings.bucket.store import open_bucket  # noqa: PLC0415

    return Mirrored(BucketSite(open_bucket(url), secrets.token_hex(8), fence), releases)


def vault_store(folder: Path, url: str | None, fence: Fence = one_writer) -> Vault | BucketVault:
    """Return where the vault goes: an object store, or the folder when there is no `url`."""
    if url is None:
        return Vault(folder, fence=fence)
    from generator.wings.bucket.store import open_bucket  # noqa: PLC0415
    from generator.wings.bucket.vault import BucketVault  # noqa: PLC0415

    return BucketVault(open_bucket(url), secrets.token_hex(8), fence)
