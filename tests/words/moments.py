"""Print the texts of ten named moments, to be read aloud: `python -m tests.words.moments --data DIR > PAGE`.

A crash and its days after, a bank run, a coin that stood out, a quiet day, a fall, a ruling, a weekend, a month's turn,
a hole, and a fresh start. Each is read from fifteen days of bars up to it; a fresh start from its own first bar. Then
three reports, each from ten weeks of bars.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import numpy as np
import typer

from generator.catalog.text.now import asset_line, first_screen, headline
from generator.catalog.text.report.sentences import Part
from generator.market.bars import BarFrame
from tests.contradictions.reports import reports
from tests.words.__main__ import read
from tests.words.claims import Ground
from tests.words.lessons import complaints, lessons_of
from tests.words.raw import Raw
from tests.words.said import Said, every_bar
from tests.words.sweep import history_of, texts_of, untrue

LONG: Final = "binance-spot-5m-2022-08-2023-09"
BARS_A_DAY: Final = 288


class Moment(NamedTuple):
    """Bars that closed at some times, the first put into all its words; with so many days of bars before it."""

    name: str
    at: str
    days: float = 15.0
    later: tuple[str, ...] = ()  # of which the headline alone is printed
    asset: str = "BTC"


MOMENTS: Final = (
    Moment(
        "the crash of November 2022",
        "2022-11-09T22:00",
        later=("2022-11-08T12:00", "2022-11-09T06:00", "2022-11-10T22:00", "2022-11-12T12:00", "2022-11-14T07:00"),
    ),
    Moment("the bank run", "2023-03-11T12:00", later=("2023-03-10T06:00", "2023-03-12T22:00")),
    Moment("a ruling for XRP", "2023-07-13T16:00", later=("2023-07-13T20:00",), asset="XRP"),
    Moment("a quiet day", "2023-08-13T12:00"),
    Moment(
        "the fall of 17 August",
        "2023-08-17T21:45",
        later=("2023-08-17T20:00", "2023-08-17T22:00", "2023-08-17T23:00"),
    ),
    Moment("a ruling for a fund", "2023-08-29T15:00"),
    Moment("a weekend", "2023-08-05T15:00"),
    Moment("a month's turn", "2023-03-01T00:05"),
    Moment("a hole", "2023-03-24T13:55", later=("2023-03-24T15:05",)),
    Moment("a fresh start, five hours old", "2023-06-10T05:00", 5 / 24),
)


REPORTS: Final = ("2022-11-09T22:00", "2023-07-14T06:00", "2023-08-13T12:00")
REPORT_DAYS: Final = 70
INTRODUCTION: Final = """# Named moments, as published

Ten moments of a recorded market, then three whole reports, printed by

    python -m tests.words.moments --data DIR > docs/proof/moments.md

"Untrue" is what the oracles of `tests/words` find against the raw closes, in every text on now and in the lesson of the
hour before. Each record is of fifteen days, a report's of ten weeks. Chances and band of a lesson are the test's own;
of a report's ranges those of Bitcoin alone were scored.
"""


def main(*, data: Annotated[Path, typer.Option(help="Folder of recordings of candles, a folder each.")]) -> None:
    """Print each moment's texts, and what is untrue in them."""
    frame = read(data / LONG)
    print(INTRODUCTION)
    for moment in MOMENTS:
        print_moment(frame, moment)
    for at in REPORTS:
        print_report(until(frame, at, REPORT_DAYS), datetime.fromisoformat(at).replace(tzinfo=UTC))


def print_moment(frame: BarFrame, moment: Moment) -> None:
    """Print all words of a moment, then the headlines of the times that belong to it."""
    part = until(frame, moment.at, moment.days)
    said, wrong = read_last(part)
    lesson, untrue_lesson = last_lesson(part)
    print(f"## {moment.name[0].upper()}{moment.name[1:]}: {closed(part)} UTC\n")
    print(f"**{headline(said.facts)}.** {first_screen(said.facts)}\n")
    print(f"- {moment.asset}: {asset_line(said.facts, moment.asset)}")
    print(f"- Lesson: {lesson}")
    for at in moment.later:
        other = until(frame, at, moment.days)
        then, untrue_then = read_last(other)
        wrong += untrue_then
        print(f"- {closed(other)}: **{headline(then.facts)}**")
    print(f"- Untrue: {'; '.join([*wrong, *untrue_lesson]) or 'nothing'}\n", flush=True)


def read_last(part: BarFrame) -> tuple[Said, list[str]]:
    """Return the last bar as published, and what is untrue in its texts."""
    said = next(iter(every_bar(part, len(part) - 1)))
    ground = Ground(Raw(history_of(part), said.row), said.published)
    return said, [str(one) for kind, text in texts_of(said.facts, 0) for one in untrue(kind, text, ground)]


def closed(part: BarFrame) -> str:
    """Return when the last bar closed."""
    return f"{datetime.fromtimestamp((int(part.t[-1]) + part.interval_ms) / 1000, UTC):%Y-%m-%d %H:%M}"


def until(frame: BarFrame, at: str, days: float) -> BarFrame:
    """Return the bars of some days up to a time."""
    at_ms = int(np.datetime64(at, "ms").astype(np.int64))
    end = int(np.searchsorted(frame.t + frame.interval_ms, at_ms, side="right"))
    return frame.rows(max(0, end - round(days * BARS_A_DAY)), end)


def last_lesson(part: BarFrame) -> tuple[str, list[str]]:
    """Return Bitcoin's lesson of the last full hour, and what is untrue in it."""
    made = [
        (lesson, hour)
        for lesson, hour in lessons_of(part.fields["close"], part.t, part.assets, every=1)
        if lesson.round_id.startswith("BTC-")
    ]
    if not made:
        return "none yet", []
    lesson, hour = made[-1]
    point = lesson.point or ""
    return f"{lesson.summary} {point}".strip(), complaints(lesson.summary, point, lesson.concept, hour)


def print_report(part: BarFrame, at: datetime) -> None:
    """Print a whole report, and what is untrue in it."""
    _, texts, wrong = list(reports(part, every_hours=1_000_000, named={at}))[-1]
    words = sum(len(text.split()) for text in texts.values())
    print(f"## The report of {at:%Y-%m-%d %H:%M} UTC\n")
    for name, text in texts.items():
        print(f"**{Part[name.upper()]}.** {text}\n")
    print(f"{words} words. Untrue: {'; '.join(wrong) or 'nothing'}\n", flush=True)


if __name__ == "__main__":
    typer.run(main)
