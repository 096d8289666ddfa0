"""Texts that leave without a page, held to the oracles of pages: share cards, feeds, an agent's `why`, a tick."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from datetime import UTC, datetime
from html import unescape
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.catalog.assets import ASSET_NAMES, ASSETS
from generator.catalog.formats import change
from generator.catalog.words import SourceMode
from generator.cli._console import print_report
from generator.client.agent.answers import Why
from generator.client.agent.reading import Reader
from generator.compose.all import compose_free
from generator.compose.body import Body
from generator.compose.facts import situation_of
from generator.compose.free import FreeBodies
from generator.compose.tick import Tick
from generator.market.bars import BarFrame
from generator.runtime.publication import Report
from generator.site.files.feeds import feeds
from generator.site.files.pictures import drawings
from generator.values.hours import Hour
from tests.contradictions.sweep import context_of, day_changes
from tests.words.claims import Ground
from tests.words.figures import untrue_move
from tests.words.markets import DAY, eventful
from tests.words.planted import turned
from tests.words.raw import Raw
from tests.words.said import Said, every_bar
from tests.words.sweep import history_of, untrue
from tests.words.test_first_page import frame_of

BEGIN, FIRST, END = 10 * DAY, 15 * DAY, 17 * DAY  # read from the first, checked from a crash on
EVERY = 37
HOURS = {"three hours": 3, "24 hours": 24, "seven days": 168}
COINS = "|".join(ASSET_NAMES.values())
CALL = re.compile(rf" (?=An hour like most:|The chance that |The call for |(?:{COINS}) (?:will|is less likely) )")
BREADTH = re.compile(r"At least two thirds of the assets are (up|down) over the day\.")
EVIDENCE = re.compile(rf"Over the last ({'|'.join(HOURS)}) the price (?:(rose|fell) ([\d.]+)%|is unchanged)\.")


class Leaving(NamedTuple):
    """What leaves at one bar, and the ground that it is held against."""

    ground: Ground
    texts: tuple[tuple[str, str, str], ...]  # where, what kind it is, the text


def every_bar_leaving() -> Iterator[Leaving]:
    """Make what leaves of a market with a crash, each few bars."""
    frame = frame_of(eventful(11, 18)).rows(BEGIN, END)
    history = history_of(frame)
    engine = Engine(Weights.load(), frame.assets)
    replayed = engine.replay(frame)
    for said in every_bar(frame, FIRST - BEGIN, EVERY):
        while next(replayed) != said.row:
            pass
        yield leaving(frame, engine, said, Ground(Raw(history, said.row), said.published))


def leaving(frame: BarFrame, engine: Engine, said: Said, ground: Ground) -> Leaving:
    """Make what leaves at one bar."""
    day = day_changes(frame, said.row)
    reading = engine.reading(np.log1p(day))
    assert reading is not None
    moved = zip(frame.assets, day, strict=True)
    changes = {name: known for name, one in moved if (known := change(100 * one)) is not None}
    ctx = context_of(frame, said.row, engine, reading, changes)
    free = compose_free(ctx)
    regime = FreeBodies(free).market_regime
    pictures = drawings(ctx, regime)

    texts = [
        ("share card", "headline", pictures["/"].headline),
        ("share card", "regime", pictures["/"].text),
        ("feed", "headline", newest_title(ctx)),
        ("line of a tick", "headline", line_of(regime.headline)),
    ]
    for asset in ("BTC", ASSETS[said.row % len(ASSETS)]):
        why = why_of(free, asset, ctx.freshness.generated_ms)
        line, *call = CALL.split(str(why.summary), maxsplit=1)
        texts += [("why", "asset line", line), *(("why", "call", text) for text in call)]
        texts += [("why", f"reason {asset}", str(text)) for text in why.reasons]
    return Leaving(ground, tuple(texts))


def newest_title(ctx: Tick) -> str:
    """Return the title of a feed's entry on the headline."""
    at_ms = ctx.freshness.generated_ms
    said = FreeBodies(compose_free(ctx)).market_regime.headline
    hour = Hour(at_ms, at_ms, "range", None, said, {}, situation=situation_of(ctx.market_now) or "unknown")
    atom = feeds(ctx.site, SourceMode.LIVE, (), (), datetime.fromtimestamp(at_ms / 1000, UTC), hours=[hour])
    (title,) = re.findall(r"<entry>.*?<title>(.*?)</title>", atom["/feed.xml"].decode(), re.DOTALL)
    return unescape(str(title))


def line_of(headline: str) -> str:
    """Return the headline out of what `emi up` prints of a tick."""
    printed = StringIO()
    with redirect_stdout(printed):
        print_report(Report("20261120T095300Z", "000000000007", 120, 9, "available", headline, None), 0.25)
    return printed.getvalue().strip().rpartition(" ms  ")[2]


def why_of(free: Mapping[str, Body], asset: str, now_ms: int) -> Why:
    """Return what an agent reads of a coin."""

    async def fetch(path: str) -> Any:
        return free[path].as_json()

    return asyncio.run(Reader(fetch, lambda: datetime.fromtimestamp(now_ms / 1000, UTC)).why(asset))


def untrue_in(where: Leaving, kind: str, text: str) -> list[str]:
    """Return what is untrue in a text; of a reason what the coin's own closes deny."""
    if not kind.startswith("reason "):
        return [str(wrong) for wrong in untrue(kind, text, where.ground)]
    raw = where.ground.raw
    if breadth := BREADTH.fullmatch(text):
        days = raw.moves(raw.day) * (1 if breadth[1] == "up" else -1)
        return [] if 3 * (days > 0).sum() >= 2 * np.isfinite(days).sum() else [f"{text} {days.round(2)}"]
    said = EVIDENCE.fullmatch(text)
    if said is None:
        return []
    move = float(raw.moves(HOURS[said[1]] * raw.hour)[raw.assets.index(kind.removeprefix("reason "))])
    direction = "up" if said[2] == "rose" else "down"
    words = (direction, said[3], "" if said[3] else "unchanged")
    return [f"{text} {move:.2f}%"] if untrue_move(words, move) else []


@pytest.fixture(scope="module")
def left() -> list[Leaving]:
    return list(every_bar_leaving())


def test_what_leaves_without_a_page_holds_against_the_closes(left: list[Leaving]) -> None:
    read = Counter(f"{where}: {kind.partition(' ')[0]}" for one in left for where, kind, _ in one.texts)

    wrong = [(text, found) for one in left for _, kind, text in one.texts if (found := untrue_in(one, kind, text))]

    assert wrong == []
    assert set(read) == {
        "share card: headline", "share card: regime", "feed: headline", "line of a tick: headline",
        "why: asset", "why: call", "why: reason",
    }  # fmt: skip
    assert all(EVIDENCE.fullmatch(text) for one in left for _, _, text in one.texts if "the price " in text)


def test_what_leaves_turned_round_is_found(left: list[Leaving]) -> None:
    spoilt = [
        (one, kind, by)
        for one in left
        for _, kind, text in one.texts
        if kind != "call" and (by := turned(text).replace("price rose", "price fell")) != text
    ]

    missed = [text for one, kind, text in spoilt if not untrue_in(one, kind, text)]

    assert len(spoilt) > 100
    assert len(missed) <= 0.02 * len(spoilt), missed
