"""Titles of charts against the lines that are drawn: where they ended, and how far they had been on the way."""

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from generator.catalog.assets import ASSETS
from generator.market.bars import BAR_MS
from generator.site.charts.history import WINDOWS, Lately, history
from tests.words.figures import COIN, SIZE, fits
from tests.words.markets import DAY, Market, eventful
from tests.words.plotted import plotted

MOVED = rf"(?:(up|down) {SIZE}|(where it was))"
TITLE = re.compile(
    rf"{COIN} is {MOVED} (?:in|since|on|24|a|30|7)?.*?(?:, after being (up|down) (\d+(?:\.\d)?)% (on|at) (.+))?"
)
Floats = npt.NDArray[np.float64]


def untrue_title(figure: str) -> list[str]:
    """Return what is wrong with a title, by the points of its line."""
    drawn = plotted(figure)
    line = np.concatenate(drawn.thick)
    path = 100 * (line / line[0] - 1)
    fine = 100 * 2 * drawn.fine / float(line[0])
    said = TITLE.fullmatch(drawn.finding)
    if said is None:
        return [f"unread: {drawn.finding}"]
    _, way, size, level, turn_way, turn_size, _, _ = said.groups()

    moved = float(path[-1])
    out = []
    if level:
        out += [] if abs(moved) <= 0.06 + fine else [f"level, drawn {moved:.2f}%"]
    else:
        out += [] if (way == "up") == (moved > 0) else [f"{way}, drawn {moved:.2f}%"]
        out += [f"{size}%, drawn {moved:.2f}%"] if not fits(size, moved, fine) else []

    top, bottom = float(path.max()), float(path.min())
    above, below = top - max(0.0, moved), min(0.0, moved) - bottom
    outside = max(above, below)
    if turn_way:
        extreme = top if turn_way == "up" else bottom
        out += [f"turn {turn_size}%, drawn {extreme:.2f}%"] if not fits(turn_size, extreme, fine) else []
        out += [] if (turn_way == "up") == (extreme > 0) else ["a turn to the other side"]
        named = above if (extreme == top) else below
        out += [] if named >= max(outside, 0.45 * abs(moved)) - 2 * fine else ["not the farthest turn"]
    elif outside > max(0.55 * abs(moved), 0.12) + 2 * fine:
        out.append(f"a turn of {outside:.2f}% is left out")
    return out


def charts(market: Market, *, every: int = 211) -> Iterator[str]:
    for end in range(3 * DAY, len(market.closes), every):
        for column, asset in enumerate(ASSETS):
            for window in WINDOWS.values():
                step = window.step_ms // BAR_MS
                rows = range(end, max(-1, end - window.span_ms // BAR_MS - step), -step)
                closes = [
                    (int(market.t_ms[row]) + BAR_MS, float(market.closes[row, column]))
                    for row in sorted(rows)
                    if np.isfinite(market.closes[row, column])
                ]
                now_ms = int(market.t_ms[end]) + BAR_MS
                chart = history("a", window, Lately(asset, now_ms, closes, (), None), "")
                if chart is not None:
                    yield "".join(str(chart))


@pytest.fixture(scope="module")
def figures() -> list[str]:
    return list(charts(eventful(3)))


def test_every_title_holds_against_its_line(figures: list[str]) -> None:
    bad = [(plotted(figure).finding, wrong) for figure in figures if (wrong := untrue_title(figure))]

    assert bad == []
    assert sum("after being" in figure for figure in figures) > 50
    assert sum(" since " in plotted(figure).finding for figure in figures) > 50


@pytest.mark.parametrize(
    ("spoil", "by"),
    [
        (r"is up", "is down"),
        (r"is down", "is up"),
        (r"(is (?:up|down) )(\d+)", r"\g<1>1\2"),
        (r"after being up", "after being down"),
        (r", after being (up|down) [\d.]+% (on|at) [^<]+", ""),
    ],
)
def test_a_spoilt_title_is_found(figures: list[str], spoil: str, by: str) -> None:
    spoilt = [
        re.sub(rf"(?<=<figcaption>)([^<]*?){spoil}", lambda m: m[1] + re.sub(spoil, by, m[0][len(m[1]) :]), one)
        for one in figures
    ]
    changed = [(one, before) for one, before in zip(spoilt, figures, strict=True) if one != before]

    missed = [plotted(one).finding for one, _ in changed if not untrue_title(one)]

    assert len(changed) > 20
    assert len(missed) <= 0.05 * len(changed), missed[:5]
