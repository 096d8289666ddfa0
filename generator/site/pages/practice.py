"""What the practice page shows: the months of items, the first ten items, and three hours to read without scripts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from generator.catalog.formats import ms_of
from generator.site.charts.plot import Chart
from generator.site.charts.practice import hour_picture
from generator.site.resources import ShippedMonth
from generator.site.words.format import day, signed

FIRST_ITEMS: Final = 10  # in the page itself, so that practice begins without another request
EXAMPLES: Final = 3
_OUTCOMES: Final = {"up": "up", "small_move": "a small move", "down": "down"}


class Example(NamedTuple):
    """One hour to read: its picture, a question, and what came."""

    picture: Chart
    ask: str
    tell: str


def practice_view(month: ShippedMonth) -> dict[str, Any]:
    """Return what pages/practice.html reads."""
    items = json.loads(month.items)
    truths = {truth["item"]: truth for truth in json.loads(month.truths)["truths"]}
    shown = items["items"]
    listed = [
        {"items": month.items_path, "truths": month.truths_path, "simulated": items["source_mode"] == "simulated"}
    ]
    last = shown[-EXAMPLES:]  # the last that a learner comes to

    return {
        "practice": {
            "months": json.dumps(listed),
            "first": json.dumps(shown[:FIRST_ITEMS], separators=(",", ":")),
            "examples": [example(number, item, truths[item["truth_sha256"][:12]]) for number, item in enumerate(last)],
        }
    }


def example(number: int, item: Mapping[str, Any], truth: Mapping[str, Any]) -> Example:
    """Return one hour to read."""
    prices: Sequence[float] = item["prices"]
    brain = truth["brain"]
    ranges = brain["ranges"]
    move = truth["move"]
    place = "outside"
    if ranges["low_90"] <= move <= ranges["high_90"]:
        place = "inside"
    return Example(
        picture=hour_picture(f"example-{number}", prices),
        ask="Between which moves should it end an hour later, nine times in ten?",
        tell=(
            f"The brain said {signed(ranges['low_90'])} to {signed(ranges['high_90'])}. It ended at {signed(move)}, "
            f"{place} that range: {_OUTCOMES[truth['came']]}, for a band of {item['band_percent']:.2f}% either way. "
            f"It was {truth['asset']} on {day(ms_of(truth['start']))} UTC."
        ),
    )
