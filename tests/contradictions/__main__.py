"""Hold every sentence to the table of contradictions: `python -m tests.contradictions --data DIR --seeds 1-10`.

At drawn bars of each market all bodies and a page are made, and every third hour a report; then the whole generator
plays each market for some hours, and its lessons, bodies and pages are read. At the end a table is printed, a row for
each contradiction and a column for each market. `--set WORD` takes the markets with that word in their name.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from generator.catalog.assets import ASSETS
from generator.lab.candles import read_candles
from generator.market.bars import BAR_MS, BarFrame
from generator.market.recorded.recording import load_recording
from generator.market.simulated.market import SimulatedMarket
from tests.contradictions.lesson_rows import LESSON, SEQUENCE
from tests.contradictions.release_rows import RELEASE
from tests.contradictions.releases import Played, play
from tests.contradictions.reports import UNTRUE_REPORT, check_reports
from tests.contradictions.rows import FUTURES
from tests.contradictions.story_rows import STORY
from tests.contradictions.sweep import WARM_UP, Found, sweep
from tests.contradictions.whole_rows import WHOLE

START_MS: Final = 1_795_132_800_000  # 2026-11-20T00:00:00Z
DAY_MS: Final = 86_400_000
ROWS: Final = (UNTRUE_REPORT, *FUTURES, *LESSON, *SEQUENCE, *RELEASE, *WHOLE, *STORY)
LONG_BARS: Final = 30_000  # a recording from which on it is played at three times


@dataclass(frozen=True)
class Market:
    """One column of the table."""

    name: str
    bars: Callable[[], BarFrame]
    plays: tuple[Played, ...]


def main(
    *,
    data: Annotated[Path | None, typer.Option(help="Folder of recordings of 5-minute candles.")] = None,
    seeds: Annotated[str, typer.Option(help="FIRST-LAST of the simulated market; empty: none.")] = "1-10",
    days: Annotated[int, typer.Option(help="Of each simulated market.")] = 30,
    bodies: Annotated[
        int, typer.Option(help="Drawn moments of each market at which whole bodies and a page are checked.")
    ] = 20,
    only: Annotated[str, typer.Option("--set", help="The markets with this word in their name.")] = "",
    part: Annotated[str, typer.Option(help="K/N: of each market the K-th of N parts, to sweep them at once.")] = "1/1",
) -> None:
    """Print what was read and each contradiction found; 1 if there is any."""
    columns: dict[str, Found] = {}
    for market in _markets(data, seeds, days):
        if only in market.name:
            columns[market.name] = _swept(market, bodies, part)

    print(table(columns))
    sys.exit(any(found.rows.total() for found in columns.values()))


def _swept(market: Market, bodies: int, part: str) -> Found:
    began = time.process_time()
    frame = _part(market.bars(), part)
    assert set(frame.assets) <= set(ASSETS)
    found = sweep(frame, bodies=bodies)
    check_reports(found, frame)
    if part.startswith("1/"):
        for played in market.plays:
            play(played, found)

    print(
        f"{market.name}: {found.texts} texts on futures, {found.bodies} whole ticks, {found.reports} reports, "
        f"{found.lessons} lessons, {found.releases} releases: "
        f"{found.rows.total()} contradictions ({time.process_time() - began:.0f} CPU-s)",
        flush=True,
    )
    for row, count in found.rows.most_common():
        print(f"  {count} x {row}; first: {found.examples[row]}", flush=True)
    return found


def _part(frame: BarFrame, part: str) -> BarFrame:
    """Return one of some parts of a market, and before it the bars that a sweep reads without a check."""
    number, parts = map(int, part.split("/"))
    size = len(frame) // parts
    end = len(frame) if number == parts else number * size
    return frame.rows(max(0, (number - 1) * size - WARM_UP), end)


def _markets(data: Path | None, seeds: str, days: int) -> Iterator[Market]:
    for folder in sorted(data.iterdir()) if data else ():
        frame = load_recording([folder], ASSETS).frame
        if frame.interval_ms == BAR_MS:
            yield Market(folder.name, lambda folder=folder: read_candles(folder), _plays(folder, frame))  # type: ignore[misc]

    for seed in span_of(seeds) if seeds else ():
        simulated = SimulatedMarket(seed)
        yield Market(
            f"simulated {seed}",
            lambda simulated=simulated: simulated.bars(START_MS, START_MS + days * DAY_MS),  # type: ignore[misc]
            (Played(f"simulated {seed}", seed=seed),),
        )


def _plays(folder: Path, frame: BarFrame) -> tuple[Played, ...]:
    """Return at which times a recording is played: in its middle, a long one at three."""
    parts = 4 if len(frame) > LONG_BARS else 2
    hours = [int(frame.t[len(frame) * part // parts]) // 3_600_000 for part in range(1, parts)]
    at = [datetime.fromtimestamp(3600 * hour - 240, tz=UTC) for hour in hours]
    return tuple(Played(f"{folder.name} {moment:%Y-%m-%d}", folder=folder, at=moment) for moment in at)


def table(columns: Mapping[str, Found]) -> str:
    """Return a row for each contradiction: what was found in each market."""
    names = list(columns)
    head = [f"| row | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    rows = [f"| {row} | {' | '.join(str(columns[name].rows[row]) for name in names)} |" for row in ROWS]
    read = [
        f"| *{what}* | {' | '.join(f'{getattr(columns[name], what):,}' for name in names)} |"
        for what in ("texts", "bodies", "reports", "lessons", "releases")
    ]
    return "\n".join([*head, *rows, *read])


def span_of(seeds: str) -> range:
    """Return the seeds from `FIRST-LAST` or one number."""
    first, _, last = seeds.partition("-")
    return range(int(first), int(last or first) + 1)


if __name__ == "__main__":
    typer.run(main)
