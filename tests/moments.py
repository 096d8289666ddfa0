"""What is published at named moments of recordings and of a fresh start, to be read aloud.

`python -m tests.moments DATA` prints of each moment the headline, the summary, the text of the asset that moved most
in the hour and the newest lesson; DATA is a folder with `candles`, `funding` and `open-interest`. `--only WORD` prints
those with that word in their name. Moments of recordings are skipped where these are absent.
"""

import asyncio
import json
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from tests.support.clock import ManualClock
from tests.support.services import opened

LONG: Final = "candles/binance-spot-5m-2022-08-2023-09"
AUTUMN: Final = "candles/binance-spot-5m-2022-10"
SUMMER: Final = "candles/binance-spot-5m-2025-05"
HOURLY: Final = ("candles/binance-usdm-perp-1h-wire", "funding/binance-usdm-8h-wire", "open-interest/binance-usdm-4h")
WALL: Final = datetime(2026, 11, 20, 12, 2, tzinfo=UTC)
HOURS: Final = 14  # of backtest, so that there are lessons
DAYS: Final = 9  # of history


@dataclass(frozen=True)
class Moment:
    """One moment; without a time it is a fresh simulated start."""

    name: str
    at: str = ""
    folders: tuple[str, ...] = ()


MOMENTS: Final = (
    Moment("strongest hour up, autumn 2022", "2022-10-25T17:10", (AUTUMN,)),
    Moment("strongest hour down, autumn 2022", "2022-11-02T19:30", (AUTUMN,)),
    Moment("strongest hour up, summer 2025", "2025-06-17T19:30", (SUMMER,)),
    Moment("strongest hour down, summer 2025", "2025-06-13T00:35", (SUMMER,)),
    Moment("strongest hour up, 14 months", "2023-07-13T18:25", (LONG,)),
    Moment("strongest hour down, 14 months", "2023-08-17T21:45", (LONG,)),
    Moment("calmest day", "2023-08-13T00:00", (LONG,)),
    Moment("day after a crash", "2022-11-10T14:05", (LONG,)),
    Moment("weekend", "2025-06-08T12:00", (SUMMER,)),
    Moment("flip", "2025-06-05T20:10", (SUMMER,)),
    Moment("hole of 85 minutes", "2023-03-24T14:10", (LONG,)),
    Moment("hourly data", "2026-02-25T20:00", HOURLY),
    Moment("fresh start"),
)


def main(
    data: Annotated[Path, typer.Argument(help="Folder with candles, funding and open-interest.")],
    only: Annotated[str, typer.Option(help="Print the moments with this word in their name.")] = "",
) -> None:
    """Print what is published at each moment."""
    for moment in MOMENTS:
        folders = tuple(data / folder for folder in moment.folders)
        if only not in moment.name:
            continue
        if not all(folder.is_dir() for folder in folders):
            print(f"## {moment.name}\n\nskipped: {data} has no {', '.join(moment.folders)}\n")
            continue
        print(f"## {moment.name} ({moment.at or 'simulated'})\n", flush=True)
        for title, text in published(moment, folders):
            print(f"- *{title}:* {text}", flush=True)
        print(flush=True)


def published(moment: Moment, folders: tuple[Path, ...]) -> list[tuple[str, str]]:
    """Return the texts of a moment, each with its title."""
    with tempfile.TemporaryDirectory() as scratch:
        state = Path(scratch) / "state"
        asyncio.run(_publish(state, moment, folders))
        current = state / "site" / "current"
        brain = json.loads((current / "api" / "main-brain.php").read_bytes())
        lessons = json.loads((current / "api" / "teacher-lessons.php").read_bytes())["latest_lessons"]
        asset = _liveliest(brain["coins"])
        reasoning = json.loads((current / "api" / "reasoning" / f"{asset}.json").read_bytes())["reasoning"]

    return [
        ("Headline", brain["headline"]),
        ("Summary", brain["summary"]),
        (asset, reasoning["summary"]),
        *[("Lesson", _in_full(lesson)) for lesson in lessons[:1]],
        ("Limitations", "; ".join(brain["limitations"])),
    ]


async def _publish(state: Path, moment: Moment, folders: tuple[Path, ...]) -> None:
    """Make one release at a moment, after some hours of backtest."""
    clock = ManualClock(WALL)
    if not moment.at:
        async with opened(state, clock, hours=HOURS, days=DAYS) as app:
            await tick(app, clock.now())
        return

    settings = GeneratorSettings(state_dir=state, source="recorded", data_dir=folders)
    hours = 0 if "hourly" in moment.name else HOURS
    at = datetime.fromisoformat(moment.at).replace(tzinfo=UTC) - timedelta(hours=hours)
    async with opened(state, clock, settings, hours, at, days=DAYS) as app:
        await tick(app, clock.now())


def _liveliest(coins: dict[str, Any]) -> str:
    """Return the asset with the largest change on the day; that of hour is in no body of before."""
    return max(coins, key=lambda asset: abs(coins[asset]["change_24h"] or 0.0))


def _in_full(lesson: dict[str, Any]) -> str:
    parts = [lesson["summary"], lesson.get("point"), lesson.get("question"), lesson.get("answer")]
    return " ".join(part for part in parts if part)


if __name__ == "__main__":
    typer.run(main)
