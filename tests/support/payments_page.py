"""The numbers that docs/explain/payments.md gives, to hold the gateway to them."""

import re
from pathlib import Path
from typing import Final

PAGE: Final = re.sub(r"\s+", " ", (Path(__file__).parents[2] / "docs" / "explain" / "payments.md").read_text())


def published(words: str) -> float:
    """Return the number that the page has in the place of # in some words, which are there once."""
    before, _, after = words.partition("#")
    [number] = re.findall(rf"{re.escape(before)}([0-9.,]*[0-9]){re.escape(after)}", PAGE)
    return float(number.replace(",", ""))
