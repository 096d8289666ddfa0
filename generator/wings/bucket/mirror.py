"""A site published to an object store, with a copy in the local site folder.

The object store is what readers see, so it goes first: the copy never shows a release that they cannot have. The copy
is there for whatever looks at this machine: `emi gateway --preview`, `emi vote`, `emi verify`. A copy that cannot be
written is logged and counted, but the release is published all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import structlog

from generator.errors import PublishError
from generator.release.values import NOTHING, SiteStore

log = structlog.get_logger("emi.publish")


class Mirrored:
    """Two places that hold the same releases under the same numbers; a `SiteStore`.

    Args:
        public: where readers are.
        copy: written after it.
    """

    def __init__(self, public: SiteStore, copy: SiteStore) -> None:
        self._public = public
        self._copy = copy
        self.copy_failures = 0

    def open(self) -> None:
        """Open both; see `SiteStore`."""
        self._copy.open()
        self._public.open()

    def generation(self) -> int:
        """Return the highest generation of either; see `SiteStore`."""
        return max(self._public.generation(), self._copy.generation())

    def is_empty(self) -> bool:
        """Return whether readers have nothing; see `SiteStore`."""
        return self._public.is_empty()

    def shown(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Return what readers see; see `SiteStore`."""
        return self._public.shown(paths)

    def publish(
        self, generation: str, files: Mapping[str, bytes], now_s: float, once: Mapping[str, bytes] = NOTHING
    ) -> int:
        """Publish to readers, then to the copy; see `SiteStore`.

        Raises:
            PublishError: nothing changed for readers, who see the last release.
            LeadershipLost: likewise; or the lease went between both, and readers see the new one.
        """
        written = self._public.publish(generation, files, now_s, once)
        try:
            self._copy.publish(generation, files, now_s, once)
        except PublishError as error:
            self.copy_failures += 1
            log.warning("published, but the copy on this machine was not written", reason=str(error))
        return written
