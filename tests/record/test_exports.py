"""What another thread reads of the record: whole months, as the methods of the tick's thread give them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from generator.arena.ranges import due_ms
from generator.catalog.assets import ASSETS
from generator.catalog.formats import iso
from generator.catalog.words import RoundPhase
from generator.record.memory import tables as t
from generator.record.memory.rows import values_in
from generator.record.memory.store import Memory
from generator.values.hours import Hour, PredictionMade
from generator.values.rounds import Round
from tests.support.arena_inputs import CONFIG, HOUR, MINUTE, NOON, Vote, hours, inputs_at, store_tick
from tests.support.databases import url_in

DAY = 24 * HOUR
CROWDED = replace(CONFIG, assets=("BTC", "ETH"), simulated_crowd=True)
OUTAGE = [*hours(NOON, 2), *hours(NOON + 6 * HOUR, 2)]  # rounds and hours that were under way end void


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Two hours of a backtest, then some hours with an outage and a vote."""
    made = Memory.open(url_in(tmp_path_factory.mktemp("played")))
    vote = Vote("ETH-20261120-130000", at_ms=NOON + MINUTE)
    with made.batch():
        for now in hours(NOON - 3 * HOUR, 2):
            store_tick(made, replace(inputs_at(now, config=CROWDED), warm_up=True))
        for now in OUTAGE:
            ballots = [vote.file()] if now == NOON + 55 * MINUTE else []
            store_tick(made, inputs_at(now, config=CROWDED, ballots=ballots))
    yield made
    made.close()


@pytest.mark.parametrize(("since", "until"), [(-9, 99), (0, 1), (1, 7), (0, 9), (6, 7), (20, 30)])
def test_a_span_holds_what_began_in_it_and_has_ended_and_counts_the_rest(
    played: Memory, since: int, until: int
) -> None:
    begin, end = NOON + since * HOUR, NOON + until * HOUR
    with played.reading() as connection:
        made = [
            one for one in values_in(connection, PredictionMade, select(t.predictions)) if begin <= one.start_ms < end
        ]
        rounds = [one for one in values_in(connection, Round, select(t.rounds)) if begin <= one.start_ms < end]
    ended = [one for one in made if one.outcome is not None or one.void_reason is not None]
    rows = [row for row in played.resolved_rounds(100) if iso(begin) <= row["start"] < iso(end)]

    span = played.exports().span(begin, end)

    assert list(span.hourly) == sorted(ended, key=lambda one: (one.start_ms, ASSETS.index(one.asset)))
    assert list(span.rounds) == rows[::-1]
    assert played.exports().ended(begin, end) == (len(ended), len(rows))
    due = sum(one not in ended or (one.start_price is not None and due_ms(one) is not None) for one in made)
    assert span.waiting == due + sum(one.phase not in {RoundPhase.RESOLVED, RoundPhase.VOID} for one in rounds)


def test_a_record_begins_with_its_oldest_hour(played: Memory) -> None:
    reader = played.exports()
    shown = played.view(NOON + 9 * HOUR)

    assert reader.first_ms() == NOON - 2 * HOUR
    assert shown.teacher.warm_up > 0


def test_an_empty_record_begins_nowhere(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))

    assert memory.exports().first_ms() is None
    assert memory.exports().span(0, NOON).waiting == 0
    memory.close()


def an_hour(at_ms: int, headline: str = "It is quiet.", **more: object) -> Hour:
    made = Hour(at_ms, at_ms - 5, "range", (0.1, 0.2, 0.3, 0.4), headline, {"BTC": 60_000.5})
    return replace(made, **more)  # type: ignore[arg-type]


def test_of_each_hour_the_first_is_kept_and_a_month_of_them_is_read(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    oldest, older = an_hour(NOON - 31 * DAY - 1), an_hour(NOON - 31 * DAY + HOUR, warm_up=True, chances=None)
    first, newest = an_hour(NOON - HOUR), an_hour(NOON)
    memory.keep_hours([oldest, older, first, an_hour(NOON - HOUR + MINUTE, "Too late.")])
    memory.keep_hours([an_hour(NOON - 2 * HOUR, "Set back."), newest, an_hour(NOON + HOUR - 1, "Too late.")])

    assert memory.hours(NOON) == (older, first, newest)
    assert memory.exports().published_hours(0) == (oldest, first, newest)
    assert memory.exports().published_hours(NOON) == (newest,)
    memory.close()


def test_months_are_noted_under_their_names_and_forgotten_together(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    memory.set_meta("records", "another note")
    memory.note_months({"2026-11": "[1]", "2026-10": "[]"})

    assert list(memory.exports().notes().items()) == [("2026-10", "[]"), ("2026-11", "[1]")]
    memory.close()
