"""What the page of practice shows: items for the browser, hours to read without scripts, and a sheet for a class."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypedDict

from gateway.wire.foreign import read_json
from generator.catalog.downloads import PRACTICE_ITEMS, PRACTICE_TRUTHS, RecordFile
from generator.catalog.formats import ms_of
from generator.catalog.text.figures import day, signed
from generator.site.charts.plot import Chart
from generator.site.charts.practice import hour_picture
from generator.site.resources import PracticeFiles, ShippedMonth
from generator.values.ranges import MoveRange

FIRST_ITEMS: Final = 10  # in the page itself, so that practice begins without another request
EXAMPLES: Final = 3
ON_SHEET: Final = 10  # hours for a class, before the examples in the order of the items
_OUTCOMES: Final = {"up": "up", "small_move": "a small move", "down": "down"}


class Example(NamedTuple):
    """One hour to read: its picture, a question, and what came."""

    picture: Chart
    ask: str
    tell: str


class SheetHour(NamedTuple):
    """One hour of the sheet, and its row of the key."""

    picture: Chart
    move: str
    half: str
    nine: str
    name: str


class Practice(NamedTuple):
    """What practice begins with: JSON for the script, and hours to read without it."""

    months: str
    first: str
    examples: tuple[Example, ...]


class SheetForClass(NamedTuple):
    """A sheet for a class; `months` is JSON."""

    hours: tuple[SheetHour, ...]
    own: tuple[PracticeFiles, ...]
    months: str


class ListedMonth(TypedDict):
    """A month as scripts read it."""

    month: str
    items: str
    truths: str
    simulated: bool


def own_months(files: Sequence[RecordFile]) -> tuple[PracticeFiles, ...]:
    """Return the months that have items of practice, the newest first."""
    months: dict[str, dict[str, str]] = {}
    for file in files:
        if file.month is not None and file.series in {PRACTICE_ITEMS, PRACTICE_TRUTHS}:
            months.setdefault(file.month, {})[file.series] = file.path
    newest_first = sorted(months.items(), reverse=True)
    return tuple(PracticeFiles(month, paths[PRACTICE_ITEMS], paths[PRACTICE_TRUTHS]) for month, paths in newest_first)


def practice_view(month: ShippedMonth, own: Sequence[PracticeFiles], mode: str) -> Practice:
    """Return what pages/practice.html reads as `practice`.

    Args:
        month: the one that comes with the program; its first items are in the page.
        own: further months, of this site's record.
        mode: what market this site's record is of.
    """
    items = read_json(month.items)
    truths = {truth["item"]: truth for truth in read_json(month.truths)["truths"]}
    shown = items["items"]
    listed = [_listed(month.month, items["source_mode"]), *(_listed(files, mode) for files in own)]
    # The last items that a learner comes to.
    last = shown[-EXAMPLES:]

    return Practice(
        months=json.dumps(listed),
        first=json.dumps(shown[:FIRST_ITEMS], separators=(",", ":")),
        examples=tuple(example(number, item, truths[item["truth_sha256"][:12]]) for number, item in enumerate(last)),
    )


def _listed(files: PracticeFiles, mode: str) -> ListedMonth:
    """Return a month as scripts read it."""
    return {
        "month": files.month,
        "items": files.items,
        "truths": files.truths,
        "simulated": mode == "simulated",
    }


def example(number: int, item: Mapping[str, Any], truth: Mapping[str, Any]) -> Example:
    """Return one hour to read."""
    prices: Sequence[float] = item["prices"]
    brain = truth["brain"]
    within = MoveRange(**brain["ranges"])
    move = truth["move"]
    place = "inside" if within.holds_90(move) else "outside"

    return Example(
        picture=hour_picture(f"example-{number}", prices),
        ask="Between which moves should it end an hour later, nine times in ten?",
        tell=(
            f"The brain said {signed(within.low_90)} to {signed(within.high_90)}. It ended at {signed(move)}, "
            f"{place} that range: {_OUTCOMES[truth['came']]}, for a band of {item['band_percent']:.2f}% either way. "
            f"It was {truth['asset']} on {day(ms_of(truth['start']))} UTC."
        ),
    )


def sheet_for_class(month: ShippedMonth, own: Sequence[PracticeFiles], mode: str) -> SheetForClass:
    """Return what pages/practice.html reads as `sheet`: ten hours of the shipped month, other ones than the examples.

    The same of a month of this site's own record is made in the browser: the page knows its files.
    """
    truths = {truth["item"]: truth for truth in read_json(month.truths)["truths"]}
    items = read_json(month.items)["items"][-EXAMPLES - ON_SHEET : -EXAMPLES]

    rows = []
    for number, item in enumerate(items):
        truth = truths[item["truth_sha256"][:12]]
        within = MoveRange(**truth["brain"]["ranges"])
        rows.append(
            SheetHour(
                picture=hour_picture(f"hour-{number}", item["prices"]),
                move=signed(truth["move"]),
                half=f"{signed(within.low_50)} to {signed(within.high_50)}",
                nine=f"{signed(within.low_90)} to {signed(within.high_90)}",
                name=f"{truth['asset']}, {day(ms_of(truth['start']))} UTC",
            )
        )
    return SheetForClass(tuple(rows), tuple(own), json.dumps([_listed(files, mode) for files in own]))
