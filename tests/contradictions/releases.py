"""Markets played by the whole generator: the lessons, the bodies and the pages that readers get, held to the table."""

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select

from generator.catalog.words import Call
from generator.record.memory import tables
from generator.record.memory.exports import FOREVER_MS
from generator.record.memory.rows import values_in
from generator.runtime.app import App
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from generator.site.words.lessons import chosen
from generator.values.hours import PredictionMade
from generator.values.rounds import Lesson
from tests.contradictions.lesson_rows import LESSON, SEQUENCE, LessonSequence, LessonText
from tests.contradictions.release_rows import RELEASE, Counted, Release, visible
from tests.contradictions.story_rows import STORY, paid_texts
from tests.contradictions.sweep import Found
from tests.support.clock import ManualClock
from tests.support.services import opened

WALL: Final = datetime(2026, 11, 20, 0, 56, tzinfo=UTC)
BACKTEST_HOURS: Final = 72
DAYS: Final = 9
PAGES: Final = ("index", "learn", "arena", "track-record", "asset")


@dataclass(frozen=True)
class Played:
    """A market to play: a seed of the simulated one, or the folder of a recording and the time to begin at."""

    name: str
    seed: int = 0
    folder: Path | None = None
    at: datetime | None = None


def play(market: Played, found: Found, *, hours: int = BACKTEST_HOURS, live_hours: int = 4, days: int = DAYS) -> None:
    """Play a market: a backtest, then live hours with a release at the end of each.

    Args:
        found: what the rows find is added to it.
        hours: of backtest.
        live_hours: with votes of a simulated crowd where the market is simulated.
        days: of history before.
    """
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(_play(Path(scratch), market, found, (hours, live_hours, days)))


async def _play(state: Path, market: Played, found: Found, spans: tuple[int, int, int]) -> None:
    hours, live_hours, days = spans
    clock = ManualClock(WALL)
    settings = GeneratorSettings(state_dir=state, seed=market.seed, source="simulated")
    if market.folder is not None:
        settings = GeneratorSettings(state_dir=state, source="recorded", data_dir=(market.folder,))

    async with opened(state, clock, settings, hours, market.at, every_page=True, days=days) as app:
        for _ in range(live_hours):
            await tick(app, clock.now())  # what is sealed before the hour
            await tick(app, clock.step(timedelta(minutes=4)))
            check_release(found, release_of(state, app), f"{market.name}, {clock.now():%d %H:%M}")
            clock.step(timedelta(minutes=56))
        check_lessons(found, app, market.name)


def check_lessons(found: Found, app: App, name: str) -> None:
    """Hold every lesson to the table, and their sequence."""
    span = app.record.memory.exports().span(0, FOREVER_MS)
    rounds = {row["round_id"]: row for row in span.rounds}
    with app.record.memory.reading() as connection:
        lessons = values_in(connection, Lesson, select(tables.lessons).order_by(tables.lessons.c.created_ms))

    published = [asdict(lesson) for lesson in lessons]
    for lesson in published:
        text = LessonText(lesson, rounds[lesson["round_id"]])
        found.lessons += 1
        for row, broken in LESSON.items():
            if broken(text):
                found.add(row, f"{name} {lesson['round_id']}: {text.text}")

    by_day = groupby(lessons, key=lambda lesson: lesson.round_id.split("-")[1])
    explained = [[one.lesson.concept for one in chosen(of_day).explained] for _, of_day in by_day]
    for row, fault in SEQUENCE.items():
        example = fault(LessonSequence(published, explained))
        if example:
            found.add(row, f"{name}: {example}")


def release_of(state: Path, app: App) -> Release:
    """Return the release that readers see now, and what the record holds."""
    current = state / "site" / "current"
    bodies = {path.name.removesuffix(".php"): json.loads(path.read_bytes()) for path in (current / "api").glob("*.php")}
    for path in sorted((current / "api" / "reasoning").glob("*.json")):
        bodies[f"reasoning {path.stem}"] = json.loads(path.read_bytes())
    manifest = json.loads((state / "vault" / "manifest.json").read_bytes())
    for product, row in manifest["snapshots"][0]["bodies"].items():
        bodies[product] = json.loads((state / "vault" / row["path"]).read_bytes())

    pages = {
        path.relative_to(current).as_posix(): visible(path.read_text(encoding="utf-8"))
        for path in sorted(current.rglob("*.html"))
        if path.relative_to(current).parts[0].removesuffix(".html") in PAGES
    }
    span = app.record.memory.exports().span(0, FOREVER_MS)
    live_rounds = [row for row in span.rounds if not row["warm_up"] and row["outcome"] and row["forecast"]]
    return Release(bodies, pages, _counted(span.hourly), _rounds_counted(live_rounds))


def _counted(hourly: Sequence[PredictionMade]) -> Counted:
    live = [made for made in hourly if not made.warm_up and made.outcome is not None]
    called = [made for made in live if made.call not in {None, Call.NONE}]
    right = sum(made.prediction == made.outcome for made in called)
    return Counted(len(called), right, sum(made.call is Call.NONE for made in live), len(live))


def _rounds_counted(rounds: Sequence[Mapping[str, Any]]) -> Counted:
    called = [row for row in rounds if row["forecast"].get("call", "none") != "none"]
    right = sum(row["forecast"]["prediction"] == row["outcome"] for row in called)
    return Counted(len(called), right, len(rounds) - len(called), len(rounds))


def check_release(found: Found, release: Release, when: str) -> None:
    """Hold one release to the table."""
    found.releases += 1
    for row, broken in RELEASE.items():
        example = broken(release)
        if example:
            found.add(row, f"{when}: {example}")

    sold = paid_texts(release.bodies)
    for row, untrue in STORY.items():
        example = untrue(sold)
        if example:
            found.add(row, f"{when}: {example}")
