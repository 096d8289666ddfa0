"""The first page's words against the lines that are plotted on it: `python -m tests.words.first_page --data DIR`.

The points are read out of the page's HTML: seven small lines of the last 24 hours, whose mean is the market's line.
What a page cannot show, how large a usual day is and how rough earlier hours were, is worked out from the raw closes by
code of its own. Nothing here knows how a sentence is made.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import typer

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.formats import change
from generator.compose.all import compose
from generator.compose.free import FreeBodies
from generator.market.bars import BarFrame
from generator.market.recorded.recording import load_recording
from generator.site.pages.recipes import PageView
from tests.contradictions.sweep import context_of, day_changes
from tests.support.services import landing_page
from tests.words.figures import MOVED, SIZE, Move, count, fits, number, untrue_move
from tests.words.oracles import History, Raw, complaints

Floats = npt.NDArray[np.float64]
DAY: Final = 288
HOUR: Final = 12
POINTS: Final = 97  # of a small line, a quarter of an hour apart
SPARK: Final = re.compile(
    r'<svg class="spark".*?<desc[^>]*>From \$([\d.,]+) at .*? to \$([\d.,]+) at .*?; low \$([\d.,]+), high '
    r"\$([\d.,]+)\."
    r'</desc><polyline class="line" points="([^"]+)"'
)
TOP, BOTTOM = 3.0, 33.0  # of a small picture, in its units
TAG: Final = re.compile(r"<[^>]+>")
LINE_FINE: Final = 0.1  # percent, to which the mean of the small lines is read, at least


class Page(NamedTuple):
    """What a first page says and shows."""

    headline: str
    lead: str
    reading: str
    lines: tuple[Floats, ...]  # of the coins, in percent from a day ago
    fine: float  # to which they are read
    bitcoin: float  # the last price that is drawn


def page_of(html: str) -> Page:
    """Read a first page."""
    lines = []
    fine = LINE_FINE
    for first, _, low, high, points in SPARK.findall(html):
        begin, bottom, top = (number(price) or 0.0 for price in (first, low, high))
        heights = np.array([float(point.split(",")[1]) for point in points.split()])
        prices = bottom + (BOTTOM - heights) / (BOTTOM - TOP) * (top - bottom)
        line = 100 * (prices / begin - 1)
        at = np.linspace(0, 1, POINTS)
        lines.append(np.interp(at, np.linspace(0, 1, len(line)), line))
        fine = max(fine, 100 * (top - bottom) / begin / (BOTTOM - TOP) * 0.1)
    last = SPARK.search(html)
    return Page(
        headline=_text(html, r"<h1[^>]*>(.*?)</h1>"),
        lead=_text(html, r'<p class="lead">(.*?)</p>'),
        reading=_text(html, r'<p id="chip-state">(.*?)</p>'),
        lines=tuple(lines),
        fine=fine,
        bitcoin=(number(last[2]) or 0.0) if last else 0.0,
    )


def _text(html: str, pattern: str) -> str:
    found = re.search(pattern, html, re.DOTALL)
    return " ".join(unescape(TAG.sub("", found[1])).split()) if found else ""


def untrue_page(page: Page, raw: Raw) -> list[str]:
    """Return what is wrong with a page."""
    if len(page.lines) < 3:
        return []
    market = np.mean(page.lines, axis=0)
    out = [f"headline: {wrong}" for wrong in complaints(page.headline, raw)]
    out += [f"headline: {wrong}" for wrong in _headline(page, market)]
    out += [f"lead: {wrong}" for wrong in _lead(page, market)]
    out += [f"reading: {wrong}" for wrong in (*_day(page, market, raw), *_roughness(page, raw))]
    return out


def _headline(page: Page, market: Floats) -> Iterator[str]:
    """Hold what a headline says of the day and its last hours against the market's line."""
    said = re.search(rf"(?:Crypto|average coin) is {MOVED}(?: in a day|[;,]|$)", page.headline)
    if said and "days" not in page.headline:
        yield from _moved(said.groups(), float(market[-1]), page.fine, "the day")
    said = re.search(rf"but {MOVED} in the last three hours", page.headline)
    if said and "but Bitcoin" not in page.headline:
        three = 100 * ((1 + market[-1] / 100) / (1 + market[-13] / 100) - 1)
        yield from _moved(said.groups(), float(three), 2 * page.fine, "three hours")
    said = re.search(rf"after being {MOVED}", page.headline)
    if said:
        farthest = float(market.min() if market[-1] < 0 else market.max())
        # A small line has a point for every quarter of an hour: it may miss the extreme, never exceed it.
        if said[1] != ("down" if farthest < 0 else "up"):
            yield f"after being {said[1]} {said[2]}%, drawn {farthest:.2f}%"
        if abs(farthest) > float(said[2]) + 0.5 + page.fine:
            yield f"after being {said[1]} {said[2]}%, drawn {farthest:.2f}%"


def _moved(said: Move, true: float, fine: float, what: str) -> Iterator[str]:
    if untrue_move(said, true, fine):
        yield f"{what}: {' '.join(part for part in said if part)}, drawn {true:.2f}%"


def _lead(page: Page, market: Floats) -> Iterator[str]:
    ends = [float(line[-1]) for line in page.lines]
    said = re.match(
        rf"Bitcoin is at \$([\d,.]+), (?:{SIZE} (higher|lower) than a day ago|as it was a day ago)", page.lead
    )
    if said is None:
        yield f"unread: {page.lead[:60]}"
        return
    if abs((number(said[1]) or 0.0) / page.bitcoin - 1) > 0.0005:
        yield f"Bitcoin at ${said[1]}, drawn ${page.bitcoin:,.0f}"
    moved = ("up" if said[3] == "higher" else "down", said[2], "" if said[2] else "unchanged")
    yield from _moved(moved, ends[0], page.fine, "Bitcoin's day")

    said = re.search(r"(All|\w+ of) (\w+) coins? (?:are|is) (higher|lower) than a day ago", page.lead)
    if said:
        counted = len(ends) if said[1] == "All" else count(said[1].removesuffix(" of"))
        sign = 1 if said[3] == "higher" else -1
        surely = sum(sign * end > 0.1 + page.fine for end in ends)
        perhaps = sum(sign * end > 0.1 - page.fine for end in ends)
        if not surely <= counted <= perhaps or count(said[2]) != len(ends):
            yield f"{said[0]}, drawn {[round(end, 2) for end in ends]}"
    said = re.search(rf"the average is {MOVED}\.", page.lead)
    if said and "over a week" not in page.lead:
        yield from _moved(said.groups(), float(market[-1]), page.fine, "the average")
    said = re.search(rf"by {SIZE} on average", page.lead)
    if said and not fits(said[1], float(market[-1]), page.fine):
        yield f"by {said[1]}% on average, drawn {market[-1]:.2f}%"
    said = re.search(r"between \$([\d,.]+) and \$([\d,.]+), nine times in ten", page.lead)
    if said and not (number(said[1]) or 0.0) < page.bitcoin < (number(said[2]) or 0.0):
        yield f"{said[0]}, and it is at ${page.bitcoin:,.0f}"


def _day(page: Page, market: Floats, raw: Raw) -> Iterator[str]:
    """Hold the kind of day against the move since and the moves inside."""
    if page.reading.startswith("The regime is unknown: "):
        return
    usual = raw.usual(DAY) if raw.record_days >= 14 else 1.5
    end, top, bottom = float(market[-1]), max(0.0, float(market.max())), min(0.0, float(market.min()))
    swung = 100 * ((1 + top / 100) / (1 + bottom / 100) - 1)

    said = re.match(rf"A (rising|falling|flat) day: crypto is {MOVED} in 24 hours", page.reading)
    if said:
        yield from _moved(said.groups()[1:], end, page.fine, "the day")
        if said[1] == "flat":
            if abs(end) > 1.05 * usual + page.fine or swung > 3.3 * usual + page.fine:
                yield f"flat, drawn {end:.2f}% in {swung:.2f}%, a usual day {usual:.2f}%"
        else:
            sign = 1 if said[1] == "rising" else -1
            extreme = top if sign > 0 else -bottom
            back = extreme - sign * end
            if sign * end < 0.1 * usual - page.fine or (back > 0.8 * extreme and back > 1.35 * usual + page.fine):
                yield f"{said[1]}, drawn {end:.2f}% after {sign * extreme:.2f}%, a usual day {usual:.2f}%"
        return
    said = re.match(rf"Crypto is {MOVED} in 24 hours", page.reading)
    if said:
        yield from _moved(said.groups(), end, page.fine, "the day")
        return
    said = re.match(rf"A day of ups and downs: crypto swung {SIZE} and is {MOVED} in 24 hours", page.reading)
    if said is None:
        yield f"unread: {page.reading[:60]}"
        return
    yield from _moved(said.groups()[1:], end, page.fine, "the day")
    # The extremes of the small lines may fall between two of their points.
    if float(said[1]) < swung - 0.5 - page.fine or float(said[1]) > 1.4 * swung + 0.5 + page.fine:
        yield f"swung {said[1]}%, drawn {swung:.2f}%"
    if swung < 0.9 * usual - page.fine:
        yield f"ups and downs, drawn {swung:.2f}%, a usual day {usual:.2f}%"


RANKS: Final = {"Calm": (0.0, 0.6), "Normal": (0.0, 0.97), "Rough": (0.3, 1.0), "Wild": (0.45, 1.0)}


def _roughness(page: Page, raw: Raw) -> Iterator[str]:
    """Hold the word of volatility against the mean size of the bars' moves, of this day among the days on record."""
    said = re.search(
        r"(Calm|Normal|Rough|Wild): the next four hours look (quieter|rougher) than (.+?) hours of", page.reading
    )
    if said is None:
        return
    sizes = np.nan_to_num(np.abs(np.diff(np.log(raw.closes), axis=0)).mean(axis=1))
    ranks = []
    for bars in (DAY, 4 * HOUR):
        rough = np.convolve(sizes, np.ones(bars), "valid")
        ranks.append(float(np.mean(rough[::-HOUR] <= rough[-1])))
    lowest, highest = RANKS[said[1]]
    if max(ranks) < lowest or min(ranks) > highest:
        yield f"{said[1]}, and the day and its last four hours rank {ranks[0]:.2f} and {ranks[1]:.2f}"
    if (said[1] == "Calm") != (said[2] == "quieter"):
        yield f"{said[1]} and {said[2]}"
    latest = np.abs(raw.series(HOUR)[-12 * HOUR :])
    if said[1] == "Calm" and np.nanmax(latest) > 4.6 * raw.usual(HOUR):
        yield f"calm within twelve hours of {np.nanmax(latest):.1f}%"


def pages(frame: BarFrame, every: int, warm_up: int) -> Iterator[tuple[int, str]]:
    """Make the first page of every n-th bar."""
    engine = Engine(Weights.load(), frame.assets)
    for row in engine.replay(frame):
        if row < warm_up or row % every or not np.isfinite(frame.fields["close"][row, 0]):
            continue
        day = day_changes(frame, row)
        reading = engine.reading(np.log1p(day))
        if reading is None:
            continue
        moved = zip(frame.assets, day, strict=True)
        changes = {name: known for name, one in moved if (known := change(100 * one)) is not None}
        ctx = context_of(frame, row, engine, reading, changes)
        ends = frame.t[max(0, row - DAY) : row + 1]
        closes = frame.fields["close"][max(0, row - DAY) : row + 1]
        small = {
            asset: tuple(zip(ends.tolist(), closes[:, frame.assets.index(asset)].tolist(), strict=True))
            for asset in frame.assets
        }
        ctx = replace(ctx, closes=small)
        view = PageView(ctx=ctx, bodies=FreeBodies(compose(ctx).free))
        yield row, landing_page().render(view)["/index.html"].decode()


def main(
    *,
    data: Annotated[Path, typer.Option(help="Folder of recordings of 5-minute candles.")],
    only: Annotated[str, typer.Option("--set", help="The sets with this word in their name.")] = "",
    every: Annotated[int, typer.Option(help="Make the page of each so many bars.")] = 36,
    last_days: Annotated[int, typer.Option(help="Check the last so many days alone, on a full record; 0: all.")] = 0,
) -> None:
    """Print how many pages were made of each set and what is wrong with them; 1 if anything is."""
    faults = 0
    for folder in sorted(data.iterdir()):
        if only not in folder.name or "-5m-" not in folder.name:
            continue
        frame = load_recording([folder], ASSETS).frame
        known = [name for name in ASSETS if np.isfinite(frame.fields["close"][:, frame.assets.index(name)]).any()]
        columns = [frame.assets.index(name) for name in known]
        history = History(tuple(known), *(frame.fields[name][:, columns] for name in ("close", "high", "low")))
        warm_up = max(3 * DAY + HOUR, len(frame) - last_days * DAY if last_days else 0)
        began = time.process_time()
        made: Counter[str] = Counter()
        for row, html in pages(frame, every, warm_up):
            age = row // DAY
            made["fresh" if age < 7 else "a week" if age < 30 else "full"] += 1
            for wrong in untrue_page(page_of(html), Raw(history, row)):
                faults += 1
                print(f"  {folder.name} {np.datetime64(int(frame.t[row]), 'ms')}: {wrong}", flush=True)
        spent = time.process_time() - began
        print(f"{folder.name}: {dict(made)} pages, {faults} faults so far ({spent:.0f} CPU-s)", flush=True)
    sys.exit(bool(faults))


if __name__ == "__main__":
    typer.run(main)
