"""Take put-once files away that a whole one replaced: the partial tiles of the log.

C2SP tlog-tiles lets a log delete the partial tiles of a tile that is full: whoever wants one takes the beginning of the
full one. Nothing is taken away where the full one is not seen to be.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

ONCE: Final = "once"


class Partials(Protocol):
    """A place where put-once files lie."""

    def drop(self, folder: str, full: str) -> None:
        """Remove everything below `folder`, if `full` is there; done again it does nothing.

        Args:
            folder: of the partial tiles, with leading slash.
            full: path of the tile that replaced them.

        Raises:
            OSError: not all of it was done, or nobody knows.
        """
        ...


class FolderPartials:
    """Below one site folder."""

    def __init__(self, site: Path) -> None:
        self._once = site / ONCE

    def drop(self, folder: str, full: str) -> None:
        """Remove a folder; see `Partials`. A crash leaves some of its files, which the next call removes."""
        place = Path(f"{self._once}{folder}")
        if place.is_dir() and Path(f"{self._once}{full}").is_file():
            shutil.rmtree(place)


class AllPartials:
    """Several places: where readers are first, then the copies."""

    def __init__(self, places: Sequence[Partials]) -> None:
        self._places = places

    def drop(self, folder: str, full: str) -> None:
        """Remove it in every place; see `Partials`."""
        for place in self._places:
            place.drop(folder, full)
