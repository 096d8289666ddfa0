"""Write the tables of docs/reference from the code: `python -m tests.reference`.

A table of the page lies between `<!-- NAME -->` and `<!-- end -->`; what is around it is written by hand.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gateway.buyer.ballots import BALLOT_PATH
from gateway.buyer.prepare import PREPARE_PATH
from gateway.http.metrics import Metrics as GatewayMetrics
from gateway.payments.parse import FORBIDDEN
from gateway.settings import GatewaySettings
from generator.catalog.assets import ASSETS
from generator.catalog.discovery import (
    DISCOVERY_FILES,
    FEEDS,
    NOW_FILES,
    OPENAPI_SLICES,
    PAGES,
    SHARE_PICTURE,
    SHARE_PICTURES,
)
from generator.catalog.downloads import DOWNLOADS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import (
    BUYER,
    BUYER_PAGES,
    DOCS_INDEX,
    HISTORY_CSV,
    NOW_JSON,
    RECEIPT_KEYS,
    SAMPLE_REPORT,
    STATUS_JSON,
    asset_path,
    now_path,
    reasoning_path,
)
from generator.catalog.products import PRODUCTS
from generator.catalog.text.book import Groups, Sentence
from generator.catalog.text.kept import SPELL
from generator.catalog.text.lessons import ROUND
from generator.catalog.text.now import BOOK
from generator.catalog.text.paid import PAID_GROUPS
from generator.catalog.text.pictured import PICTURED
from generator.catalog.text.report.sentences import REPORT_GROUPS
from generator.catalog.text.titles import TITLES
from generator.cli import command_line
from generator.runtime.metrics import GeneratorMetrics
from generator.settings import GeneratorSettings

ROOT: Final = Path(__file__).parents[1]
REFERENCE: Final = ROOT / "docs" / "reference"
TABLE: Final = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
CODE: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
GROUPED: Final = {
    "/learn/<page>/": "A chapter on one idea; `practice`: past hours to judge",
    "/asset/<asset>/": "One asset now: how far, which way, and its record",
    "/docs/<page>/": "The `free` and the `paid` endpoints: answers, fields, programs; quickstart, how payment works",
    "/samples/<product>.json": "A day-old answer of each product, free",
    "/openapi/<endpoint>.json": "OpenAPI 3.1 of one answer; `files`: of the files",
    "/share/<picture>.png": "What a page shows where it is shared",
    "/track-record/<series>.csv": "This month's `hourly` forecasts, `rounds` and `ranges`, as CSV",
    "/track-record/<series>.jsonl": "The same as JSON Lines",
}
"""Paths that are alike, and what is there."""
Rows = Iterable[tuple[str, ...]]


def table(head: str, rows: Rows) -> str:
    names = head.split(", ")
    lines = [names, ["---"] * len(names), *rows]
    return "".join(
        f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines
    )


def listed(rows: Rows) -> str:
    """Return rows of a name and what it means as a list."""
    return "".join(f"- {name}: {' '.join(text.split())}\n" for name, text in rows)


def named(rows: Rows) -> str:
    """Return the names of rows whose meaning the program prints itself."""
    return ", ".join(name for name, _ in rows) + ".\n"


def fields(kind: type[BaseModel], prefix: str = "EMI_") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in kind.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from fields(field.annotation, f"{prefix}{name.upper()}__")
        else:
            yield prefix + name.upper(), field


def default(field: FieldInfo) -> str:
    value = field.default
    if value in (None, (), ""):
        return ""
    return f"`{','.join(value) if isinstance(value, tuple) else value}`"


def allowed(field: FieldInfo) -> str:
    """Return the words or the numbers that a setting takes, where its type says so."""
    kinds = [field.annotation, *get_args(field.annotation)]
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    words += [
        str(word)
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, str)
        for word in getattr(kind, "__members__", {}).values()
    ]
    if words:
        return " ".join(f"`{word}`" for word in words)
    bounds = {name: getattr(one, name) for one in field.metadata for name in ("ge", "gt", "le") if hasattr(one, name)}
    low = f"above {bounds['gt']}" if "gt" in bounds else str(bounds.get("ge", ""))
    return f"{low} to {bounds['le']}" if "le" in bounds else "secret" if "Secret" in str(field.annotation) else ""


def settings() -> Rows:
    of = {"generator": dict(fields(GeneratorSettings)), "gateway": dict(fields(GatewaySettings))}
    for name in dict.fromkeys([*of["generator"], *of["gateway"]]):
        found = [kind[name] for kind in of.values() if name in kind]
        readers = [program for program, kind in of.items() if name in kind]
        read_by = readers[0] if len(readers) == 1 else "both"
        text = next(field.description for field in found if field.description)
        values = next(filter(None, map(allowed, found)), "")
        preset = next(filter(None, map(default, found)), "")
        yield f"`{name}` ({', '.join(filter(None, (preset, values, read_by)))})", text


def commands() -> Rows:
    """Return each command with the first sentence of its help."""

    def walk(command: Any, name: str) -> Iterator[tuple[str, ...]]:
        for inner in (one for one in getattr(command, "commands", {}).values() if not one.hidden):
            yield from walk(inner, f"{name} {inner.name}")
        if not hasattr(command, "commands"):
            yield f"`{name}`", (command.help or "").partition("\n\n")[0].partition("Example: ")[0].strip()

    return walk(command_line(), "emi")


def paths() -> Rows:
    """Return every path with what is there; of many alike one row."""
    patterns = {path: re.compile(re.sub("<[a-z]+>", "[a-z0-9-]+", re.escape(path))) for path in GROUPED}
    written_once = set()
    for name, text in each_path():
        group = next((path for path, pattern in patterns.items() if pattern.fullmatch(name.strip("`"))), None)
        if group is None:
            yield name, text
        elif group not in written_once:
            written_once.add(group)
            yield f"`{group}`", GROUPED[group]


def gathered(rows: Rows) -> Rows:
    """Return rows of one meaning as one row of all their names, at the place of the first."""
    names: dict[str, list[str]] = {}
    for name, text in rows:
        names.setdefault(text, []).append(name)
    return ((", ".join(alike), text) for text, alike in names.items())


def each_path() -> Rows:
    for page in PAGES:
        yield f"`{page.path}`", "Pages"
    yield from ((f"`{row.path}`", "Free answers") for row in ENDPOINTS)
    yield f"`{reasoning_path('<asset>')}`", f"The reasoning for one asset as a static file: {', '.join(ASSETS)}"
    yield (
        f"`{asset_path('<asset>')}feed.xml`",
        "Rounds of one asset and moves that left their 90% range, as a feed",
    )
    yield f"`{HISTORY_CSV}`", "The hours that the charts show, as CSV"
    yield from ((f"`{row.path}`", f"Paid answers, {row.price_display}") for row in PRODUCTS)
    yield f"`{BUYER}`", "Buy in the browser: " + " ".join(f"`{path}`" for path in BUYER_PAGES.values())
    yield f"`{PREPARE_PATH}`", "Prepares a payment for a wallet, unsigned"
    yield f"`{BALLOT_PATH}`", "Prepares and takes an Arena ballot"
    yield f"`{DOCS_INDEX}`", "What the search of the documentation reads"
    yield from ((f"`{row.sample}`", f"A day-old {row.title}, free") for row in PRODUCTS)
    yield f"`{SAMPLE_REPORT}`", "The human report's sample under its first address"
    yield f"`{STATUS_JSON}`", "How fresh each source is, ticks published and failed"
    yield f"`{NOW_JSON}`", NOW_FILES[0].purpose
    yield f"`{now_path('<asset>')}`", "The same of one asset"
    yield from ((f"`{row.path}`", row.purpose) for row in (*DISCOVERY_FILES, *OPENAPI_SLICES))
    yield f"`{RECEIPT_KEYS}`", "Keys that sign receipts (did:web), where there are any"
    yield "`/log/witnessed.txt`", "Sizes of the newest heads of the log that witnesses signed, the newest first"
    yield "`/files/witnessed/…`", "Each of them as they signed it, by its size"
    yield "`/files/ladders/<YYYY-MM-DD>.json`", "What was sealed of that day's ladders, hour by hour, and what came"
    yield from ((f"`{row.path}`", row.purpose) for row in DOWNLOADS)
    yield from ((f"`{row.path}`", row.title) for row in FEEDS)
    yield from ((f"`{row.path}`", row.alt) for row in (SHARE_PICTURE, *SHARE_PICTURES.values()))


def refusals() -> Rows:
    """Return each code for which a payment is refused, with its sentences, out of the calls that refuse it."""
    found: dict[str, list[str]] = {code: [f"a payment with {name} is not taken"] for name, code in FORBIDDEN.items()}
    for path in sorted((ROOT / "gateway" / "payments").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            values = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
            code, text = (values[0], values[1]) if len(values) == 2 else (None, None)
            if (
                isinstance(code, ast.Constant)
                and CODE.fullmatch(str(code.value))
                and isinstance(text, ast.Constant | ast.JoinedStr)
            ):
                found.setdefault(str(code.value), []).append(sentence(text))
    return sorted((f"`{code}`", "; ".join(dict.fromkeys(texts))) for code, texts in found.items())


def sentences(catalogue: Mapping[str, tuple[Groups[Any], ...]]) -> Rows:
    """Return how many sentences each part of a catalogue has, then of each place how many, and their cases."""
    for name, books in catalogue.items():
        places = [row for groups in books for row in groups.items()]
        yield f"**{name}**", str(sum(worded(of) for _, of in places)), f"{len(places)} places"
        for place, of in places:
            yield f"`{place}`", str(worded(of)), "; ".join(row.case if row.text else f"*{row.case}*" for row in of)


def worded(of: Iterable[Sentence[Any]]) -> int:
    """Count the cases in which something is said."""
    return sum(bool(row.text) for row in of)


def sentence(text: ast.Constant | ast.JoinedStr) -> str:
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)


def metrics(of: GeneratorMetrics | GatewayMetrics) -> Rows:
    labels = {getattr(one, "_name", ""): getattr(one, "_labelnames", ()) for one in vars(of).values()}
    for metric in of.registry.collect():
        if metric.name.startswith("process_"):
            continue  # those of every Prometheus client
        ending = {"counter": "_total", "info": "_info"}.get(metric.type, "")
        name = metric.name + ending
        names = labels.get(metric.name, ("version", "commit") if metric.type == "info" else ())
        yield f"`{name}`" + "".join(f" by `{one}`" for one in names), metric.documentation


CATALOGUE: Final[Mapping[str, tuple[Groups[Any], ...]]] = {
    "The market now": (BOOK.groups, PICTURED.groups, TITLES.groups, ROUND.groups),
    "The report": (REPORT_GROUPS,),
    "What else is sold": (PAID_GROUPS, SPELL.groups),
}


TABLES: Final[dict[str, Callable[[], str]]] = {
    "settings": lambda: listed(settings()),
    "commands": lambda: named(commands()),
    "paths": lambda: listed(gathered(paths())),
    "refusals": lambda: named(refusals()),
    "generator": lambda: named(metrics(GeneratorMetrics())),
    "gateway": lambda: named(metrics(GatewayMetrics())),
    "sentences": lambda: table("place, sentences, cases", sentences(CATALOGUE)),
}


def written(text: str) -> str:
    """Return a page with its tables as the code is now."""
    return TABLE.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


def main() -> None:
    for path in REFERENCE.glob("*.md"):
        path.write_text(written(path.read_text()))


if __name__ == "__main__":
    main()
