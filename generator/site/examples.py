"""Bodies as they stand in OpenAPI as examples, for a day, for everybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_CUT: Final = "<svg>\N{HORIZONTAL ELLIPSIS}</svg>"
CHANCES: Final = frozenset({"down", "neutral", "up"})


def as_example(body: Any) -> Any:
    """Return a body with its chances in whole percents and without the pictures in it.

    The tick that examples are taken from may be the one that seals a round's forecast, which is the same view: its
    exact numbers are nobody's before the votes are locked.
    """
    if isinstance(body, Mapping):
        if body.keys() == CHANCES and all(isinstance(value, float | int) for value in body.values()):
            return _whole_percents(body)
        return {key: _CUT if key == "svg" else as_example(value) for key, value in body.items()}
    return [as_example(value) for value in body] if isinstance(body, list | tuple) else body


def _whole_percents(chances: Mapping[str, float]) -> dict[str, float]:
    """Round to hundredths that add up to one: what is left over goes to the likeliest."""
    rounded = {word: round(value, 2) for word, value in chances.items()}
    likeliest = max(chances, key=lambda word: chances[word])
    rest = sum(value for word, value in rounded.items() if word != likeliest)
    return rounded | {likeliest: round(1 - rest, 2)}
