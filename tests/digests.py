"""The bytes of every body and page in every state of a tick: `python -m tests.digests` writes them again.

Of one state, every JSON object and every page's twin in Markdown is kept as text, so that `git diff` shows what moved.
Of the HTML, the schemas and the other states there are digests only. The oracles next to them say why a figure is
right. These say that nothing else changed: a word, a unit, the order of fields. Versions of scripts and the page of the
changelog are left out.
"""

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import unified_diff
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
STATE: Final = "state"
"""The folder of the texts."""
DIGESTS: Final = "digests.txt"
HINT: Final = (
    "if the change is meant, run: python -m tests.digests (git diff --word-diff then shows all of it), "
    "and tell users in CHANGELOG.md"
)
FILES_SHOWN, LINES_SHOWN = 3, 8
Files = dict[str, str]  # path in a folder of tests -> text


def of_bodies() -> Files:
    """Return every JSON object that leaves, paid ones included, and digests of what each says of its fields."""
    texts = {_file_of(key): _pretty(value) for key, value in published("full").items()}
    others = {f"{name} {key}": value for name in CONTEXTS if name != "full" for key, value in published(name).items()}
    schemas = {f"schema {key}": type(body).model_json_schema() for key, body in bodies("full").items()}
    digests = {name: _digest(json.dumps(value).encode()) for name, value in {**others, **schemas}.items()}
    return {**texts, DIGESTS: _listed(digests)}


def of_pages() -> Files:
    """Return every page: where all is known, on hourly bars, in a replay, before the first price and so on."""
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
    pages = {
        (name, path): re.sub(rb"\?v=\w+", b"", content)
        for name, of in views.items()
        for path, content in Pages().render(of).items()
        if "/changelog/" not in path and (name != "ten days" or "/learn/" in path)
    }

    twins = {key for key in pages if key[0] == "known" and key[1].endswith(".md")}
    texts = {f"{STATE}{path}": pages[name, path].decode() for name, path in twins}
    digests = {" ".join(key): _digest(content) for key, content in pages.items() if key not in twins}
    return {**texts, DIGESTS: _listed(digests)}


def _file_of(key: str) -> str:
    """Return where the text of a body is: /api/atlas.php, x402-atlas#402 -> api/atlas.php.json, x402-atlas.402.json."""
    name = key.strip("/").replace("#", ".").removesuffix(".json")
    return f"{STATE}/{name}.json"


def _pretty(value: object) -> str:
    """Return a line for each field, in the order in which they are published, and one for a list of numbers."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    numbers = re.compile(r"\[\n[^\[\]{}\"]+\]")
    return numbers.sub(lambda found: re.sub(r"\n\s*", " ", found[0]), text) + "\n"


def _listed(digests: dict[str, str]) -> str:
    return "".join(f"{digest} {name}\n" for name, digest in sorted(digests.items()))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


FOLDERS: Final[dict[str, Callable[[], Files]]] = {"compose": of_bodies, "site": of_pages}


def changed(folder: str) -> str:
    """Return what is not as the folder's files say, or nothing."""
    root = TESTS / folder
    paths = [root / DIGESTS, *(path for path in (root / STATE).rglob("*") if path.is_file())]
    before = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return difference(before, FOLDERS[folder]())


def difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the first lines that differ, texts before digests, the names of all other files, and what to do."""
    names = [name for name in before.keys() | now.keys() if before.get(name) != now.get(name)]
    names.sort(key=lambda name: (name == DIGESTS, name))
    if not names:
        return ""

    shown = [line for name in names[:FILES_SHOWN] for line in _shown(name, before.get(name, ""), now.get(name, ""))]
    rest = [f"and in {', '.join(names[FILES_SHOWN:])}"] if names[FILES_SHOWN:] else []
    return "\n".join([*shown, *rest, HINT])


def _shown(name: str, before: str, now: str) -> list[str]:
    lines = list(unified_diff(before.splitlines(), now.splitlines(), name, name, n=0, lineterm=""))
    more = len(lines) - LINES_SHOWN
    return [*lines[:LINES_SHOWN], f"... {more} more lines"] if more > 0 else lines


def main() -> int:
    """Write the files."""
    for folder, files in FOLDERS.items():
        shutil.rmtree(TESTS / folder / STATE, ignore_errors=True)
        for name, text in files().items():
            path = TESTS / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
