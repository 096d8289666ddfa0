"""What the bodies and the landing page of one tick may not say of each other."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tests.contradictions.release_rows import blocks

_OF_REGIME: Final = ("label", "state", "volatility", "breadth_percent", "confidence", "axes")


class WholeTick(NamedTuple):
    """What one tick publishes, and the changes over 24 hours that it was made from."""

    bodies: Mapping[str, Any]  # free and paid, by path
    landing: str  # HTML
    changes: Mapping[str, float | None]  # by asset, percent

    @property
    def headlines(self) -> set[str]:
        """The headlines of the free bodies; a paid one says what was bought."""
        free = [body for body in self.bodies.values() if "payment_status" not in body]
        return {body["headline"] for body in free if "headline" in body}


def two_headlines(tick: WholeTick) -> str:
    """Return the headlines where there is not one."""
    return "" if len(tick.headlines) == 1 else " | ".join(sorted(tick.headlines)) or "no headline"


def two_regimes(tick: WholeTick) -> str:
    """Return the regimes of the market where bodies differ in one."""
    found = {
        tuple((name, str(regime.get(name))) for name in _OF_REGIME)
        for body in tick.bodies.values()
        for regime in blocks(body, "regime")
        if isinstance(regime, dict) and "label" in regime
    }
    return "" if len(found) == 1 else str(found)


def other_change(tick: WholeTick) -> str:
    """Return a change of an asset that is not the one it was made from."""
    wrong = (f"{name} {moved}" for name, moved in _changes(tick.bodies) if moved != tick.changes[name])
    return next(wrong, "")


def _changes(bodies: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for body in bodies.values():
        for assets in blocks(body, "assets"):
            if not isinstance(assets, dict):
                continue
            for name, asset in assets.items():
                if isinstance(asset, dict) and asset.get("change_24h") is not None:
                    yield name, asset["change_24h"]


def other_page(tick: WholeTick) -> str:
    """Return the headline that the landing page does not show."""
    headline = min(tick.headlines, default="").replace("'", "&#39;")
    return "" if headline in tick.landing else headline


WHOLE: Final[dict[str, Callable[[WholeTick], str]]] = {
    "bodies with different headlines": two_headlines,
    "bodies with different regimes": two_regimes,
    "two changes of one asset": other_change,
    "a page with another headline": other_page,
}
"""Each row gives an example of what contradicts; empty where nothing does."""
