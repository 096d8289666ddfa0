"""No published rate mixes the backtest with live play, and none below 30 cases is written as one.

A whole release is walked.

What each rate may count is worked out here from the rows of the record, apart from the sums that the program keeps.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import update

from generator.arena.rates import ENOUGH, in_full, rate, share
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import moment
from generator.catalog.words import SourceMode
from generator.compose.all import compose
from generator.compose.market_regime import market_regime
from generator.record.memory import tables as t
from generator.record.memory.store import Memory
from generator.site.files.downloads import downloads
from generator.site.files.feeds import asset_feeds, feeds
from generator.site.files.pictures import drawings, svg
from generator.site.pages.asset import asset_record
from generator.site.pages.render import Pages
from generator.site.resources import Resources
from generator.values.hours import PredictionMade
from generator.values.rounds import Round
from tests.support.builders import HOUR_MS, NOW_MS
from tests.support.databases import url_in
from tests.support.filled_memory import fill, game, prediction
from tests.support.page_view import context, predictions, view_of
from tests.support.walk import leaves

START_MS: Final = NOW_MS // HOUR_MS * HOUR_MS
BACKTEST: Final = 47  # hours before the start
SHARE_OF: Final = re.compile(r"([\d.]+)%(?: \([^)]*\))? of ([\d,]+)")
OF_SHARE: Final = re.compile(r"[Oo]f ([\d,]+) (?:moves|forecasts|rounds)[^.]*?[ (]([\d.]+)%(?! range)")
TAGS: Final = re.compile(r"<(?:style|script)[^>]*>.*?</(?:style|script)>|<[^>]+>", re.DOTALL)


@dataclass(frozen=True)
class Release:
    """What one state of the record is published as, and the numbers of cases that its rates may have."""

    bodies: dict[str, Any]
    texts: dict[str, str]
    live: frozenset[int]
    backtest: frozenset[int]
    ended: int  # live rounds


def played(live: int) -> tuple[list[PredictionMade], list[Round]]:
    """Return the hourly forecasts and the rounds of the backtest and of so many live hours after it."""
    first = START_MS - (BACKTEST + live) * HOUR_MS
    tested = [first + number * HOUR_MS < START_MS - live * HOUR_MS for number in range(BACKTEST + live)]
    starts = [(first + number * HOUR_MS, warm_up) for number, warm_up in enumerate(tested)]
    made = [prediction(asset, at, warm_up=warm_up) for at, warm_up in starts for asset in ASSETS]
    return made, [replace(game(at), warm_up=warm_up, simulated_crowd=False) for at, warm_up in starts]


def filled(folder: Path, live: int) -> tuple[Memory, list[PredictionMade]]:
    made, games = played(live)
    memory = Memory.open(url_in(folder))
    fill(memory, made, games)
    with memory._engine.begin() as connection:
        tested = [one.round_id for one in games if one.warm_up]
        connection.execute(update(t.lessons).where(t.lessons.c.round_id.in_(tested)).values(warm_up=True))
        connection.execute(update(t.tallies).values(simulated=False))
    return memory, made


def counts(made: list[PredictionMade], rounds: int) -> frozenset[int]:
    """Return how many cases there are: rounds, forecasts, moves, of all assets and of one."""
    of_each = [[one for one in made if one.asset == asset and one.outcome is not None] for asset in ASSETS]
    of_words = Counter(one.prediction for asset in of_each for one in asset)
    return frozenset({rounds, sum(map(len, of_each)), *map(len, of_each), *of_words.values()})


def released(folder: Path, live: int) -> Release:
    memory, made = filled(folder, live)
    try:
        return _released(memory, made, live)
    finally:
        memory.close()


def _released(memory: Memory, made: list[PredictionMade], live: int) -> Release:
    ctx = replace(context(SourceMode.LIVE), arena=memory.view(NOW_MS))
    done = compose(ctx)
    bodies = {name: body.as_json() for name, body in {**done.free, **done.paid}.items()}
    drawn = drawings(ctx, market_regime(ctx))
    rounds, due = memory.resolved_rounds(500), memory.settled_predictions(5_000)

    at, resources = moment(NOW_MS), Resources.locate()
    files: dict[str, bytes | str] = {**Pages().render(view_of(ctx, rounds, due))}
    files |= feeds(ctx.site, SourceMode.LIVE, rounds, (), at) | asset_feeds(ctx.site, SourceMode.LIVE, rounds, due, at)
    files |= {f"picture of {page}": svg(drawing, resources) for page, drawing in drawn.items()}
    files |= {f"words of {page}": drawing.alt() for page, drawing in drawn.items()}
    files |= _lines(memory, at)

    live_made = [one for one in made if not one.warm_up]
    tested = [one for one in made if one.warm_up]
    return Release(
        bodies,
        {name: _text(data) for name, data in files.items()},
        counts(live_made, live),
        counts(tested, BACKTEST),
        live,
    )


def _lines(memory: Memory, at: datetime) -> dict[str, bytes]:
    return {
        path: data
        for path, data in downloads(memory.exports(), SourceMode.LIVE, at).files.items()
        if path.endswith((".csv", ".jsonl"))
    }


def _text(data: bytes | str) -> str:
    return TAGS.sub(" ", data if isinstance(data, str) else data.decode())


@pytest.fixture(scope="module", params=[0, 2, 40], ids=["fresh", "two live rounds", "forty live rounds"])
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Release:
    return released(tmp_path_factory.mktemp("record"), request.param)


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    items: Iterable[Any] = ()
    if isinstance(value, Mapping):
        yield value
        items = value.values()
    elif isinstance(value, list | tuple):
        items = value
    for item in items:
        yield from objects(item)


def rates_in(text: str) -> Iterator[tuple[float, int, str]]:
    """Give each written rate with its n and the sentence it is in."""
    for sentence in re.split(r"(?<=[.?!])\s+(?=[A-Z])|\n", re.sub(r"[ \t]+", " ", text)):
        yield from ((float(part), int(n.replace(",", "")), sentence) for part, n in SHARE_OF.findall(sentence))
        yield from ((float(part), int(n.replace(",", "")), sentence) for n, part in OF_SHARE.findall(sentence))


def test_every_rate_of_a_body_has_its_own_n_and_none_of_the_backtest(release: Release) -> None:
    every = [one for body in release.bodies.values() for one in objects(body)]
    of_bins = {part["n"] for one in every for part in one.get("calibration") or ()}

    found = [one for one in every if "hits" in one and "percent" in one]

    assert found
    for one in found:
        assert one["backtest"] is False
        assert one["n"] in release.live | of_bins | {0}
        assert one["percent"] == (round(100 * one["hits"] / one["n"], 1) if one["n"] >= ENOUGH else None)


def test_every_record_of_a_body_counts_the_live_cases_alone(release: Release) -> None:
    records = [one for body in release.bodies.values() for one in objects(body) if "hit_rate_percent" in one]
    voids = [one for body in release.bodies.values() for one in objects(body) if "void_rate_percent" in one]

    assert {one["n"] for one in records} <= release.live | {0}
    assert all(sum(part["n"] for part in one["calibration"]) == one["n"] for one in records)
    assert {one["rounds_ended"] for one in voids} == {release.ended}
    assert {one["void_rate_percent"] for one in voids} == {0.0 if release.ended >= ENOUGH else None}


def test_no_written_rate_is_of_fewer_than_thirty_cases(release: Release) -> None:
    texts = {**release.texts, **{name: "\n".join(_strings(body)) for name, body in release.bodies.items()}}
    few = [(name, said) for name, text in texts.items() for _, n, said in rates_in(text) if n < ENOUGH]

    assert few == []


def test_a_written_rate_is_of_live_cases_or_named_a_backtest_with_its_own_n(release: Release) -> None:
    for name, text in release.texts.items():
        for _, n, said in rates_in(text):
            allowed = release.backtest if "backtest" in said.lower() else release.live
            assert n in allowed, (name, said)


def _strings(body: Any) -> list[str]:
    return [value for _, value in leaves(body) if isinstance(value, str)]


def test_no_picture_that_is_shared_has_a_rate_of_the_backtest(release: Release) -> None:
    for page in ("/", "/arena/", ""):
        for text in (release.texts[f"words of {page}"], release.texts[f"picture of {page}"]):
            assert not re.search(r"backtest| of \d+ (rounds|calls|votes|lessons)", text)
            assert all(n in release.live for _, n, _ in rates_in(text)), page


def test_the_totals_of_lessons_name_what_the_backtest_made(release: Release) -> None:
    metrics = release.bodies[ENDPOINT_BY_ID["teacher-lessons"].path]["teacher_brain"]["metrics"]

    assert (metrics["lessons_total"], metrics["warm_up"]) == (release.ended + BACKTEST, BACKTEST)
    assert sum(metrics["patterns"].values()) == metrics["brain"]["n"] == release.ended


def test_a_rate_is_made_in_one_place() -> None:
    makers = {
        path.name
        for path in Path("generator").rglob("*.py")
        if "Rate(" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Rate"
    }

    assert makers == {"rates.py"} | {"scores.py"}  # `NO_ROUNDS`, of which nothing was counted


@pytest.mark.parametrize(
    ("hits", "n", "short", "whole"),
    [
        (0, 0, "none yet", "none yet"),
        (1, 2, "1 of 2", "1 of 2"),
        (29, 29, "29 of 29", "29 of 29"),
        (15, 30, "50.0%", "50.0% of 30 (95% interval 33.2 to 66.8%)"),
    ],
)
def test_below_thirty_cases_people_read_the_counts(hits: int, n: int, short: str, whole: str) -> None:
    assert share(rate(hits, n)) == short
    assert in_full(rate(hits, n)) == whole


@pytest.mark.parametrize(
    ("many", "said"),
    [
        (
            1,
            "Only 1 range for 1 hour could be judged, too few to tell. Calls: only 1 could be judged, too few to tell.",
        ),
        (40, "Calls: only 28 could be judged, too few to tell. 10 forecasts made no call."),
    ],
)
def test_a_few_forecasts_of_an_asset_are_called_too_few(many: int, said: str) -> None:
    of_bitcoin = [made for made in predictions() if made.asset == "BTC"]

    assert asset_record("BTC", of_bitcoin[:many]).endswith(said)
