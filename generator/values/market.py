"""What the market did, counted over its assets."""

from dataclasses import dataclass

from generator.values.published import PUBLISHED


@dataclass(frozen=True, slots=True)
class BreadthCounts:
    """How many assets rose and fell over the last day."""

    __pydantic_config__ = PUBLISHED

    # Those of unknown change are in none.
    up: int
    """Assets that rose by more than 0.1%."""
    down: int
    """Assets that fell by more than 0.1%."""
    flat: int
    """Assets that moved by 0.1% at most."""

    @property
    def known(self) -> int:
        """How many have a known change."""
        return self.up + self.down + self.flat
