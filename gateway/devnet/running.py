"""Where the running devnet can be found, in a small file beside its ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

FILE: Final = "devnet.json"


@contextmanager
def announced(state_dir: Path, origin: str) -> Iterator[None]:
    """Say where the devnet answers, for as long as it does."""
    path = state_dir / FILE
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps({"url": origin}), encoding="utf-8")
    draft.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def running_devnet(state_dir: Path) -> str | None:
    """Return the origin that the last devnet of this state announced, None when there is none."""
    try:
        told = json.loads((state_dir / FILE).read_text(encoding="utf-8"))
        return str(told["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
