"""The human report as text for a terminal, with small plots."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

from generator.catalog.text.figures import HYPHEN, signed

WIDTH: Final = 88
SECTIONS: Final = ("happened", "rough", "far", "after", "long", "yesterday", "idea", "question")
_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_BAR: Final = 40  # columns of the longest bar


def report_text(body: Any) -> str | None:
    """Return a bought body as text, None where it has no report."""
    report = body.get("report") if isinstance(body, dict) else None
    if not isinstance(report, dict):
        return None
    lines = [_printable(line) for line in _lines(report)]
    return "\n".join([*lines, "", *_wrapped(str(body.get("disclaimer", "")))]).strip()


def _lines(report: dict[str, Any]) -> Iterator[str]:
    plots = _objects(report.get("plots"))

    def drawn(part: str) -> Iterator[str]:
        for plot in plots:
            if plot.get("part") == part:
                yield from _plot(plot)

    title = str(report.get("title", ""))
    yield title
    yield "=" * len(title)
    yield f"As of {report.get('as_of')}"

    for part in SECTIONS:
        section = report.get(part)
        if isinstance(section, dict):
            yield from _section(str(section.get("heading", "")), str(section.get("text", "")))
        yield from drawn(part)

    yield from _section("Coin by coin")
    for coin in _objects(report.get("assets")):
        yield f"{coin.get('name')!s:<16}{_signed(coin.get('change_24h')):>8}   {_in_usual_days(coin.get('usual_days'))}"


def _in_usual_days(value: Any) -> str:
    return f"{value:.1f} usual days" if isinstance(value, int | float) else "?"


def _plot(plot: dict[str, Any]) -> Iterator[str]:
    """Draw a plot in characters: a line as a row of blocks, others as a row for each place."""
    series = [row for row in _objects(plot.get("series")) if isinstance(row.get("values"), list)]
    places = plot.get("x")
    if not series or not isinstance(places, list):
        return

    yield ""
    yield from _wrapped(f"{plot.get('title')} ({plot.get('unit')})")
    if plot.get("kind") == "line" and plot.get("name") != "calibration":
        yield from _line(series[0]["values"])
        return

    values = [line["values"] for line in series]
    if plot.get("kind") == "span":
        yield from _spans(places, values)
        return

    # All bars of a plot have the same scale, so that they can be compared.
    numbers = [abs(value) for row in values for value in row if isinstance(value, int | float)]
    most = max(numbers, default=0.0) or 1.0
    for place, name in enumerate(places):
        for line, row in zip(series, values, strict=True):
            value = row[place] if place < len(row) else None
            if isinstance(value, int | float):
                bar = "█" * round(_BAR * abs(value) / most)
                yield f"{name!s:>6} {line.get('name')!s:<14}{value:>9.2f} {bar}"


def _spans(places: Sequence[Any], values: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Draw a row for each place: the outer span in light blocks, the inner one in full ones, zero in the middle."""
    rows = [row for row in zip(places, *values, strict=False) if all(isinstance(end, int | float) for end in row[1:])]
    most = max((abs(end) for row in rows for end in row[1:]), default=0.0) or 1.0
    half = _BAR // 2

    for name, low, *inner, high in rows:
        begin, end = (inner[0], inner[-1]) if inner else (low, high)
        columns = [half + round(half * end / most) for end in (low, begin, end, high)]
        drawn = "".join(_span_block(column, columns) for column in range(2 * half + 1))
        yield f"{name!s:>6} {low:>+7.2f} {drawn} {high:>+6.2f}"
    yield from _wrapped("Full blocks: half of all cases. Light blocks: nine tenths.")


def _span_block(column: int, columns: Sequence[int]) -> str:
    low, begin, end, high = columns
    if begin <= column <= end:
        return "█"
    return "░" if low <= column <= high else " "


def _line(values: Sequence[Any]) -> Iterator[str]:
    known = [value for value in values if isinstance(value, int | float)]
    if not known:
        return

    low = min(known)
    # A flat line has no height to divide by.
    room = max(known) - low or 1.0
    top = len(_BLOCKS) - 1
    yield "".join(
        _BLOCKS[round(top * (value - low) / room)] if isinstance(value, int | float) else " " for value in values
    )
    yield f"lowest {low:,.6g}, highest {max(known):,.6g}, now {known[-1]:,.6g}"


def _signed(value: Any) -> str:
    return signed(value, minus=HYPHEN) if isinstance(value, int | float) else "?"


def _section(heading: str, text: str = "") -> Iterator[str]:
    yield ""
    yield heading
    yield "-" * len(heading)
    if text:
        yield from _wrapped(text)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH)


def _printable(line: str) -> str:
    """Return a line without anything that steers a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in line)
