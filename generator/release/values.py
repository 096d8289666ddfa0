"""What publishing a site to any place has in common."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})
FIRST_GENERATION: Final = "000000000000"  # the bootstrap release: published before the first tick, never by one

# Paths -> those of them that the release which readers see now has; all of one release.
Shown: TypeAlias = Callable[[Iterable[str]], Mapping[str, bytes]]
