"""The human report as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any, Final

WIDTH: Final = 88
PROSE: Final = {"derivatives": "Futures", "liquidity": "Liquidity"}
EVIDENCE: Final = {"used": "Used", "missing": "Missing", "disagreeing": "Disagreeing"}


def report_text(body: Any) -> str | None:
    """Return a bought body as text, None where it has no report; charts and the glossary are in the JSON alone."""
    report = body.get("report") if isinstance(body, dict) else None
    if not isinstance(report, dict):
        return None
    lines = [_printable(line) for line in _lines(report)]
    return "\n".join([*lines, "", *_wrapped(str(body.get("disclaimer", "")))]).strip()


def _lines(report: dict[str, Any]) -> Iterator[str]:
    title = str(report.get("title", ""))
    yield title
    yield "=" * len(title)
    yield f"As of {report.get('as_of')}"
    yield ""
    yield from _wrapped(str(report.get("verdict", "")))

    yield from _section("What changed", points=report.get("what_changed"))
    yield from _heading("Coin by coin")
    for coin in _objects(report.get("assets")):
        yield from _wrapped(str(coin.get("text", "")), first="- ")
    for field, heading in PROSE.items():
        yield from _prose(heading, report.get(field))

    yield from _prose("What may come next", report.get("partition"))
    yield from _prose("The Arena", report.get("arena"))
    record = report.get("track_record")
    if isinstance(record, dict):
        yield from _section(
            "How past forecasts turned out", str(record.get("text", "")), record.get("latest_arena_losses")
        )
    yield from _evidence(report.get("evidence"))
    yield from _section("What it cannot tell", points=report.get("limits"))


def _prose(heading: str, part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from _section(heading, str(part.get("text", "")), part.get("points"))


def _evidence(evidence: Any) -> Iterator[str]:
    if not isinstance(evidence, dict):
        return
    lists = {name: evidence.get(field) for field, name in EVIDENCE.items()}
    yield from _section(
        "What it rests on", points=[f"{name}: {'; '.join(map(str, one))}" for name, one in lists.items() if one]
    )


def _section(heading: str, text: str = "", points: Any = None) -> Iterator[str]:
    yield from _heading(heading)
    if text:
        yield from _wrapped(text)
    for point in points if isinstance(points, list) else []:
        yield from _wrapped(str(point), first="- ")


def _heading(text: str) -> Iterator[str]:
    yield ""
    yield text
    yield "-" * len(text)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _wrapped(text: str, first: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first))


def _printable(line: str) -> str:
    """Return a line without anything that steers a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in line)
