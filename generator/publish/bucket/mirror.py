"""A site published to an object store, with a copy in the local site folder.

The object store is what readers see, so it goes first: the copy never shows a release that they cannot have. The copy
is there for whatever looks at this machine: `emi gateway --preview`, `emi vote`, `emi verify`.
"""

from __future__ import annotations

from collections.abc import Mapping

from generator.publish.values import NOTHING, SiteStore


class Mirrored:
    """Two places that hold the same releases under the same numbers; a `SiteStore`.

    Args:
        public: where readers are.
        copy: written after it.
    """

    def __init__(self, public: SiteStore, copy: SiteStore) -> None:
        self._public = public
        self._copy = copy

    def open(self) -> None:
        """Open both; see `SiteStore`."""
        self._copy.open()
        self._public.open()

    def generation(self) -> int:
        """Return the highest generation of either; see `SiteStore`."""
        return max(self._public.generation(), self._copy.generation())

    def publish(
        self, generation: str, files: Mapping[str, bytes], now_s: float, once: Mapping[str, bytes] = NOTHING
    ) -> int:
        """Publish to readers, then to the copy; see `SiteStore`.

        Raises:
            PublishError: readers see the last release, or, if only the copy failed, already the new one.
            LeadershipLost: nothing was moved.
        """
        written = self._public.publish(generation, files, now_s, once)
        self._copy.publish(generation, files, now_s, once)
        return written
