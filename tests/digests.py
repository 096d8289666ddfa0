"""The bytes of every body and page in every state of a tick: `python -m tests.digests` writes them again.

Of one state, every JSON object and every page's twin in Markdown is kept as text, so that `git diff` shows what moved;
of an Arena that was played, what is known after it, and the first entry of each step in its log; of months of several
kinds, what the chapters ask and tell. Of the HTML, the schemas, the other states and the rest there are digests only.
The oracles next to them say why a figure is right. These say that nothing else changed: a word, a unit, the order of
fields. Versions of scripts are left out.
"""

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import Any, Final

from pydantic_core import to_jsonable_python

from generator.catalog.formats import iso
from generator.catalog.log_kinds import step_of
from generator.catalog.words import SourceMode
from generator.compose.all import compose
from generator.site.charts.plot import Chart
from generator.site.pages.chapters.chapter import Facts
from generator.site.pages.learn import ASKED
from generator.site.pages.render import Pages
from generator.values.view import ArenaView
from tests.site.test_chapters import MONTH
from tests.support.bodies import bodies, published
from tests.support.builders import CONTEXTS, simulated_context
from tests.support.drawn import drawn
from tests.support.months import KINDS, facts_of
from tests.support.page_view import SITE, arena, context, predictions, view, view_of
from tests.support.played import Moment, played
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
PLAYED: Final[dict[str, Callable[[], Moment]]] = {
    "played young": lambda: played().young,
    "played": lambda: played().end,
}
DRAWN_BODIES, DRAWN_PAGES = 24, 4
"""How many ticks are drawn: of each body and page, one digest over all of them."""
Files = dict[str, str]  # path in a folder of tests -> text


def of_bodies() -> Files:
    """Return every JSON object that leaves, paid ones included, and digests of what each says of its fields."""
    texts = {_file_of(key): _pretty(value) for key, value in published("full").items()}
    others: dict[str, Any] = {}
    for name in CONTEXTS:
        if name != "full":
            others |= {f"{name} {key}": value for key, value in published(name).items()}
    for name, of in PLAYED.items():
        done = compose(replace(simulated_context(), arena=of().arena))
        others |= {f"{name} {key}": body.as_json() for key, body in {**done.free, **done.paid}.items()}
    for number in range(DRAWN_BODIES):
        done = compose(drawn(number))
        for key, body in {**done.free, **done.paid}.items():
            others.setdefault(f"drawn {key}", []).append(body.as_json())
    schemas = {f"schema {key}": type(body).model_json_schema() for key, body in bodies("full").items()}
    digests = {name: _digest(json.dumps(value).encode()) for name, value in {**others, **schemas}.items()}
    return {**texts, DIGESTS: _listed(digests)}


def of_arena() -> Files:
    """Return what a played Arena shows when it is young and at the end, and every entry of its log."""
    record = played()
    by_step: dict[str, list[dict[str, Any]]] = {}
    for entry in record.log:
        by_step.setdefault(step_of(entry), []).append(entry)

    end, young = (_as_json(moment.arena) for moment in (record.end, record.young))
    texts = {f"{STATE}/{name}.json": _pretty(value) for name, value in end.items()}
    texts |= {f"{STATE}/log/{step}.json": _pretty(entries[0]) for step, entries in by_step.items()}

    rest = {**by_step, **{f"young {name}": value for name, value in young.items()}}
    rest |= {"rounds": record.end.rounds, "predictions": record.end.predictions}
    digests = {name: _digest(json.dumps(to_jsonable_python(value)).encode()) for name, value in rest.items()}
    return {**texts, DIGESTS: _listed(digests)}


def _as_json(view: ArenaView) -> dict[str, Any]:
    fields: dict[str, Any] = to_jsonable_python(replace(view, rare_levels=frozenset()))
    return {**fields, "rare_levels": sorted(view.rare_levels)}


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
    for name, of_moment in PLAYED.items():
        moment = of_moment()
        views[name] = view_of(replace(context(), arena=moment.arena), moment.rounds, moment.predictions)
    pages = {
        (name, path): re.sub(rb"\?v=\w+", b"", content)
        for name, of in views.items()
        for path, content in Pages().render(of).items()
        if name != "ten days" or "/learn/" in path
    }

    for number in range(DRAWN_PAGES):
        moment = played().end
        view_drawn = view_of(replace(drawn(number), site=SITE), moment.rounds, moment.predictions)
        for path, content in Pages().render(view_drawn).items():
            if "/changelog/" not in path:
                pages["drawn", path] = pages.get(("drawn", path), b"") + re.sub(rb"\?v=\w+", b"", content)

    twins = {key for key in pages if key[0] == "known" and key[1].endswith(".md")}
    texts = {f"{STATE}{path}": pages[name, path].decode() for name, path in twins}
    texts |= {f"{STATE}/chapters/{name.replace(' ', '-')}.txt": "\n".join(_asked(facts_of(name))) for name in KINDS}
    digests = {" ".join(key): _digest(content) for key, content in pages.items() if key not in twins}
    return {**texts, DIGESTS: _listed(digests)}


def _asked(facts: Facts) -> Iterator[str]:
    """Return the lines of every chapter: its questions with guesses, answers and what their charts hold."""
    for chapter, ask in ASKED.items():
        yield f"# {chapter}"
        for question, tell, guess, picture, at_ms in ask(facts):
            yield f"\n{question}" if at_ms is None else f"\n{question} [{iso(at_ms)}]"
            if guess is not None:
                yield f"  {guess.least:g} to {guess.most:g} by {guess.step:g}, first {guess.start:g}: {guess.words}"
                yield f"  {guess.answer:.6g}"
            yield f"  {tell}"
            if isinstance(picture, Chart):
                yield f"  {picture.caption.finding}: {_digest(picture.inner.encode())}"
                yield from (f"  {' | '.join(row)}" for row in (picture.caption.columns, *picture.caption.rows))
        yield ""


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


FOLDERS: Final[dict[str, Callable[[], Files]]] = {"arena": of_arena, "compose": of_bodies, "site": of_pages}


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
