"""What publishing a site to any place has in common: a pointer that moves last."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})
FIRST_GENERATION: Final = "000000000000"  # the bootstrap release: laid down before the first tick, never by one

# Paths -> those of them that the release which readers see now has; all of one release.
Shown: TypeAlias = Callable[[Iterable[str]], Mapping[str, bytes]]


class SiteStore(Protocol):
    """Where releases go; made with a `fence`, which is asked right before the pointer moves."""

    copy_failures: int
    """How often only a copy of a release could not be written; always 0 where there is none."""

    def open(self) -> None:
        """Make it ready, sweep what a crash left and remember what the last release holds.

        Raises:
            PublishError: it cannot be written.
        """
        ...

    def generation(self) -> int:
        """Return the highest generation ever pointed at or left behind here; 0 before the first."""
        ...

    def is_empty(self) -> bool:
        """Return whether readers have nothing, asked after `open`.

        Raises:
            PublishError: it is unknown.
        """
        ...

    def shown(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Return those of `paths` that the release which readers see now has; see `Shown`.

        It only reads, so a standby may ask too, and answers nothing where the place does not answer.
        """
        ...

    def publish(
        self, generation: str, files: Mapping[str, bytes], now_s: float, once: Mapping[str, bytes] = ...
    ) -> int:
        """Write `once`, then `files`, then move the pointer.

        Args:
            generation: 12 digits, higher than every one before; FIRST_GENERATION where nothing was ever published.
            files: path with leading slash to bytes: the whole release, variants included.
            now_s: wall time of the tick in seconds since the epoch.
            once: files below `ONCE_PREFIXES`, with or without those that are already there; never rewritten.

        Raises:
            PublishError: nothing changed for readers; the last release is still shown.
            LeadershipLost: likewise, and nothing more may be written here.

        Returns:
            How many files were written again.
        """
        ...
