"""The bytes of every body and page in every state of a tick, as digests: `python -m tests.digests` writes them again.

The oracles next to them say why a figure is right. These say that nothing else changed: a word, a unit, the order of
fields. Versions of scripts and the page of the changelog are left out.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from generator.catalog.words import SourceMode
from generator.site.pages.render import Pages
from tests.site.test_chapters import MONTH
from tests.support.bodies import bodies, published
from tests.support.builders import CONTEXTS
from tests.support.page_view import arena, predictions, view
from tests.support.ranges import how_far

TESTS: Final = Path(__file__).parent
HINT: Final = "if the change is meant, run: python -m tests.digests, and tell users in CHANGELOG.md"
Digests = dict[str, str]  # state and path -> digest


def of_bodies() -> Digests:
    """Return those of every JSON object that leaves, paid ones included, and of what each says of its fields."""
    objects = {f"{name} {key}": value for name in CONTEXTS for key, value in published(name).items()}
    schemas = {f"schema {key}": type(body).model_json_schema() for key, body in bodies("full").items()}
    return {name: _digest(json.dumps(value).encode()) for name, value in {**objects, **schemas}.items()}


def of_pages() -> Digests:
    """Return those of every page: where all is known, on hourly bars, in a replay, before the first price and so on."""
    made = predictions()
    young = replace(arena(12), how_far=how_far(36))
    views = {
        "known": view(),
        "live": view(SourceMode.LIVE),
        "hourly": view(known=False),
        "replay": view(SourceMode.RECORDED),
        "nothing": view(empty=True),
        "no rounds": replace(view(), rounds=(), predictions=()),
        "backtest": replace(view(), predictions=tuple(replace(one, warm_up=True) for one in made)),
        "no ranges": replace(view(), predictions=tuple(replace(one, ranges=None, moves={}) for one in made[:20])),
        "ten days": replace(view(), month=MONTH),
        "young": replace(view(), ctx=replace(view().ctx, arena=young), predictions=made[:20]),
    }
    return {
        f"{name} {path}": _digest(re.sub(rb"\?v=\w+", b"", content))
        for name, of in views.items()
        for path, content in Pages().render(of).items()
        if "/changelog/" not in path and (name != "ten days" or "/learn/" in path)
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


FILES: Final[dict[str, Callable[[], Digests]]] = {
    "compose/digests.txt": of_bodies,
    "site/digests.txt": of_pages,
}


def changed(file: str) -> list[str]:
    """Return what is not as the file says, is new, or is gone."""
    before, now = dict(_read(TESTS / file)), FILES[file]()
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def _read(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        digest, name = line.split(" ", 1)
        yield name, digest


def main() -> int:
    """Write the files."""
    for file, digests in FILES.items():
        lines = [f"{digest} {name}\n" for name, digest in sorted(digests().items())]
        (TESTS / file).write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
