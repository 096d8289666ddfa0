"""The recipes of docs/howto/changing.md name files that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_file_that_a_recipe_names_exists() -> None:
    named = re.findall(
        r"`((?:generator|gateway|tests|site|docs)/[^`<]+\.\w+)`", (ROOT / "docs" / "howto" / "changing.md").read_text()
    )

    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []
