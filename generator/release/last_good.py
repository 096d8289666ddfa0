"""What never stops a release: of a page, picture, feed, download or discovery file that fails the last good bytes stay.

Bodies of the endpoints, `/status.json`, products and challenges do not go through here: without one of them there is
no release.
"""

import traceback
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import structlog

from generator.errors import LeadershipLost, PublishError
from generator.release.check import Checker
from generator.release.values import NOTHING, Shown

T = TypeVar("T")
log = structlog.get_logger("emi.publish")


class Kind(StrEnum):
    """What may fail without stopping a release."""

    PAGE = "page"
    PICTURE = "picture"
    FEED = "feed"
    DOWNLOAD = "download"
    DISCOVERY = "discovery"


class LastGoodFiles:
    """Make such files, and count what failed. One thread calls its methods."""

    def __init__(self, checker: Checker | None = None, shown: Shown = lambda _: NOTHING) -> None:
        self.failures: dict[str, int] = dict.fromkeys(Kind, 0)  # since the start, by kind
        self._checker = checker or Checker()
        self._shown = shown
        self._good: dict[str, bytes] = {}
        self._logged: set[tuple[Kind, str, str]] = set()

    def make(self, kind: Kind, paths: Collection[str], make: Callable[[], Mapping[str, bytes]]) -> dict[str, bytes]:
        """Return the files that `make` returns; where it fails, the last good bytes of `paths` that there are."""
        name = next(iter(paths))
        files = self.attempt(kind, lambda: self._checked(make()), name)
        if files is None:
            return self.last(paths)
        self._good.update(files)
        return files

    def attempt(self, kind: Kind, make: Callable[[], T], name: str) -> T | None:
        """Return what `make` returns; None where it fails.

        A failure is counted, and logged once a name until it is well again.
        """
        try:
            made = make()
        except LeadershipLost:
            raise
        except Exception as error:  # noqa: BLE001  whatever it was, the release is worth more
            self._failed(kind, name, error)
            return None

        if self._logged:
            self._logged = {row for row in self._logged if row[:2] != (kind, name)}
        return made

    def last(self, paths: Collection[str]) -> dict[str, bytes]:
        """Return those of `paths` that were good before: as made here, else as published."""
        made_here = {path: self._good[path] for path in paths if path in self._good}
        others = [path for path in paths if path not in made_here]
        if not others:
            return made_here
        return {**made_here, **self._shown(others)}

    def invalidate(self) -> None:
        """Forget what was made: another process may have published since."""
        self._good = {}

    def _checked(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        for path, content in files.items():
            fault = self._checker.fault(path, content)
            if fault is not None:
                raise PublishError(f"{path}: {fault}")
        return dict(files)

    def _failed(self, kind: Kind, name: str, error: Exception) -> None:
        self.failures[kind] += 1
        row = (kind, name, type(error).__name__)
        if row not in self._logged:
            self._logged.add(row)

            reason = f"{type(error).__name__}: {error}"
            place = traceback.extract_tb(error.__traceback__)[-1]
            at = f"{Path(place.filename).name}:{place.lineno}"
            log.warning("not made; the last good bytes stay", kind=str(kind), file=name, reason=reason, at=at)
