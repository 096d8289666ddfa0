"""A memory with a record in it, as long as asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from generator.catalog.assets import ASSETS
from generator.catalog.formats import iso
from generator.catalog.horizons import HORIZONS
from generator.catalog.words import PREDICTION_OF_CALL, Prediction, RoundPhase
from generator.record.memory import tables as t
from generator.record.memory.rows import row_of
from generator.record.memory.store import Memory
from generator.values.hours import Move, PredictionMade
from generator.values.rounds import Lesson, Round
from tests.support import builders
from tests.support.databases import url_in
from tests.support.ranges import range_of

HOUR_MS = 3_600_000
CAME, VOID = Move(65_592.1, -0.028), Move(void_reason="no tick in the minute after the start")
WORDS = (Prediction.BEARISH, Prediction.NEUTRAL, Prediction.BULLISH)


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def hours(since: str, until: str, every: int = 1) -> range:
    return range(ms(since), ms(until), every * HOUR_MS)


def prediction(asset: str, start_ms: int, *, ended: bool = True, **other: Any) -> PredictionMade:
    place = start_ms // HOUR_MS + ASSETS.index(asset)
    void = place % 23 == 0
    found: dict[str, Any] = {"start_price": 65_610.5 - place % 97}
    if ended and void:
        found = {"void_reason": "no tick in the minute after the start"}
    elif ended:
        found |= {"end_price": 65_592.1, "change_bps": -2.8, "outcome": WORDS[place % 3]}
    if ended:
        found["moves"] = dict.fromkeys(HORIZONS, VOID if void else CAME)
    return PredictionMade(
        asset=asset,
        start_ms=start_ms,
        end_ms=start_ms + HOUR_MS,
        probabilities=(0.2815, 0.3979, 0.3206),
        base_rate=(0.3293, 0.3398, 0.3309),
        prediction=PREDICTION_OF_CALL[other["call"]] if other.get("call") else WORDS[place % 2],
        band_bps=15.19,
        made_ms=start_ms - 300_000,
        previous=WORDS[1],
        ranges=dict.fromkeys(HORIZONS, range_of(0.2)),
        **{**found, **other},
    )


def game(start_ms: int, *, ended: bool = True) -> Round:
    at = datetime.fromtimestamp(start_ms / 1000, UTC)
    found: dict[str, Any] = {"end_price": 65_592.1, "change_bps": -2.8, "outcome": Prediction.NEUTRAL} if ended else {}
    made = builders.round_of(start_ms, RoundPhase.RESOLVED if ended else RoundPhase.LIVE)
    return replace(made, round_id=f"BTC-{at:%Y%m%d-%H%M%S}", simulated_crowd=True, price_basis="venue_mid", **found)


def lesson(of: Round) -> Lesson:
    made = builders.lesson(1)
    return replace(
        made, lesson_id=f"lesson-{of.round_id}", round_id=of.round_id, created_ms=of.end_ms, created_at=iso(of.end_ms)
    )


def fill(memory: Memory, made: Sequence[PredictionMade], played: Sequence[Round]) -> None:
    """Store predictions and rounds; ended rounds with votes and a lesson."""
    with memory._engine.begin() as connection:
        if made:
            connection.execute(insert(t.predictions), [row_of(one) for one in made])
        if played:
            connection.execute(insert(t.rounds), [row_of(one) for one in played])
        ended = [one for one in played if one.phase is RoundPhase.RESOLVED]
        if not ended:
            return
        votes = {"simulated": True, "bullish": 7, "bearish": 3, "neutral": 2}
        connection.execute(insert(t.tallies), [{"round_id": one.round_id, **votes} for one in ended])
        connection.execute(insert(t.lessons), [row_of(lesson(one)) for one in ended])


def opened(folder: Path) -> Iterator[Memory]:
    memory = Memory.open(url_in(folder))
    yield memory
    memory.close()


def record(memory: Memory, since: str, until: str, every: int = 1) -> None:
    """Fill a span with every asset's hours and a round an hour, or only each so many hours, all of them ended."""
    starts = hours(since, until, every)
    fill(memory, [prediction(asset, at) for at in starts for asset in ASSETS], [game(at) for at in starts])
