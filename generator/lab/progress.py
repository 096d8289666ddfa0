"""Progress bars on standard error."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import track

_Item = TypeVar("_Item")


def tracked(items: Sequence[_Item], what: str) -> Iterable[_Item]:
    """Yield the items and show how many are done."""
    return track(items, what, console=Console(stderr=True))
