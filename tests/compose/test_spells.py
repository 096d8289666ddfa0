"""How long states last and what followed hours like this one: each figure counted a second time, from drawn spells."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import groupby
from random import Random
from typing import Final

import numpy as np
import pytest

from generator.brain.label import LABELS
from generator.brain.month import MarketSpells, Month, MonthRank
from generator.brain.side import SIDES
from generator.brain.spells import FEWEST_SPELLS, Spell
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import iso
from generator.compose.spells import STEPS, Spells, StateSpells, spells
from tests.support.builders import NOW_MS, full_context

NOW: Final = NOW_MS // HOUR_MS * HOUR_MS
QUARTER_MS: Final = HOUR_MS // 4


def drawn(seed: int, states: int, count: int) -> list[Spell]:
    """Draw spells that end now, oldest first; of some the end was not seen."""
    chance = Random(seed)
    made = []
    end_ms = NOW
    came_next: int | None = None
    for _ in range(count):
        state = chance.choice([each for each in range(states) if each != came_next])
        start_ms = end_ms - QUARTER_MS * chance.randint(1, 130)
        made.append(Spell(state, start_ms, end_ms, came_next if chance.random() < 0.85 else None))
        end_ms, came_next = start_ms, state
    return made[::-1]


@cache
def month() -> Month:
    hours_ms = NOW - HOUR_MS * np.arange(719, -1, -1)
    sharp = np.sort(np.array(Random(3).sample(list(map(float, hours_ms[1:])), 220)))
    ranks = {
        "stress": MonthRank(-5.4321, 0.8768, 719, -5.1234),
        "dispersion": MonthRank(0.012345, 0.25, 700, 0.023456),
        "funding": MonthRank(0.00012345, None, 100, None),
        "volume": MonthRank(1_234_567.0, 1.0, 719, 7_654_321.0),
    }
    return Month(
        now_ms=NOW,
        days=30.0,
        spells=MarketSpells(drawn(1, len(SIDES), 240), drawn(2, len(STEPS), 160), drawn(4, len(LABELS) - 1, 330)),
        ranks=ranks,
        largest_hour=None,
        sharp=sharp,
        day_rank=None,
        closes=np.full((720, 1), np.nan),
        hours_ms=hours_ms,
    )


def composed() -> Spells:
    made = spells(replace(full_context(), month=month()))
    assert made is not None
    return made


AXES: Final = {
    "side": (month().spells.side, SIDES),
    "volatility": (month().spells.step, STEPS),
    "label": (month().spells.label, LABELS),
}


def of_now(axis: str) -> tuple[StateSpells, list[Spell]]:
    """Return what is published of an axis, and the spells that it is about."""
    every, _ = AXES[axis]
    published: StateSpells | None = getattr(composed(), axis)
    assert published is not None
    return published, [spell for spell in every if spell.state == every[-1].state]


def outlasting(like: Sequence[Spell], hours: float) -> Fraction | None:
    """Return Kaplan and Meier's share in fractions, length by length; None where none was watched for so long."""
    if hours > max(spell.hours for spell in like) and not all(spell.came_next is not None for spell in like):
        return None
    left = Fraction(1)
    there = len(like)
    for length, group in groupby(sorted(like, key=lambda each: each.hours), key=lambda each: each.hours):
        came_next = [spell.came_next for spell in group]
        ended = len(came_next) - came_next.count(None)
        if length <= hours:
            left *= 1 - Fraction(ended, there)
        there -= len(came_next)
    return left


@pytest.mark.parametrize("axis", AXES)
def test_the_spells_of_a_state_are_those_that_were_drawn(axis: str) -> None:
    published, like = of_now(axis)
    names = AXES[axis][1]
    now = like[-1]

    assert published.state == names[now.state]
    assert published.since == iso(now.start_ms)
    assert published.hours == round((NOW - now.start_ms) / 3_600_000, 2)
    assert (published.n, published.not_over) == (len(like), [spell.came_next for spell in like].count(None))
    assert published.days == len({iso(spell.start_ms)[:10] for spell in like})
    assert published.came_next == Counter(names[spell.came_next] for spell in like if spell.came_next is not None)


@pytest.mark.parametrize("axis", AXES)
def test_the_shares_that_last_longer_are_kaplan_and_meiers(axis: str) -> None:
    published, like = of_now(axis)
    age = like[-1].hours

    for name, lasting in published.survival.items():
        share = outlasting(like, float(name.removesuffix("h")))
        assert (lasting is None) == (share is None), name
        if lasting is not None and share is not None:
            assert lasting.percent == pytest.approx(100 * float(share), abs=0.06)
            assert lasting.low_percent <= lasting.percent <= lasting.high_percent
    got_as_far = sum(spell.hours > age for spell in like)
    for name, lasting in published.from_now.items():
        here, later = outlasting(like, age), outlasting(like, age + float(name.removesuffix("h")))
        is_few = got_as_far < FEWEST_SPELLS
        expected = None if is_few or not here or later is None else 100 * float(later / here)
        assert (lasting is None) == (expected is None), name
        if lasting is not None and expected is not None:
            assert lasting.percent == pytest.approx(expected, abs=0.06)
            assert lasting.low_percent <= lasting.percent <= lasting.high_percent
            assert lasting.n == got_as_far
    assert set(published.survival) == set(published.from_now) == {"1h", "4h", "12h", "24h"}


@pytest.mark.parametrize("axis", AXES)
def test_half_of_the_spells_outlast_the_median(axis: str) -> None:
    published, like = of_now(axis)

    lengths = sorted({spell.hours for spell in like})
    first = next(hours for hours in lengths if (outlasting(like, hours) or 0) <= Fraction(1, 2))
    assert published.median_hours == pytest.approx(first, abs=0.051)


@pytest.mark.parametrize("axis", AXES)
def test_what_ended_a_spell_is_a_sharp_hour_before_a_change_of_volatility(axis: str) -> None:
    published, like = of_now(axis)
    steps = [] if axis == "volatility" else month().spells.step
    counts: Counter[str] = Counter()

    for spell in like:
        if spell.came_next is None or spell.end_ms < NOW - 718 * HOUR_MS:
            continue
        sharp = any(0 <= at - spell.end_ms < HOUR_MS for at in month().sharp)
        near = any(abs(step.end_ms - spell.end_ms) <= HOUR_MS for step in steps if step.came_next in {0, 1})
        if sharp:
            counts["sharp_hour"] += 1
        elif near:
            counts["volatility_change"] += 1
        else:
            counts["neither"] += 1

    assert published.ended_by is not None
    names = ("sharp_hour", "volatility_change", "neither")
    assert {name: getattr(published.ended_by, name) for name in names} == {name: counts[name] for name in names}
    assert published.ended_by.n == counts.total()


def test_the_days_of_the_record_are_those_since_the_first_spell_of_an_axis() -> None:
    first_ms = min(spell.start_ms for spell in (*month().spells.side, *month().spells.step))

    assert composed().record_days == round((NOW - first_ms) / 86_400_000, 1)


def test_too_few_spells_or_days_give_counts_and_no_share() -> None:
    few = drawn(7, len(SIDES), 12)
    state = few[-1].state
    month_of_few = replace(month(), spells=MarketSpells(few, [], few[:-1]))

    made = spells(replace(full_context(), month=month_of_few))

    assert made is not None
    assert made.side is not None
    assert made.side.n == sum(spell.state == state for spell in few) < FEWEST_SPELLS
    assert set(made.side.survival.values()) == {None}
    assert set(made.side.from_now.values()) == {None}
    assert made.side.median_hours is None
    # No spell at all, and none that lasts until now.
    assert (made.volatility, made.label) == (None, None)


@pytest.mark.parametrize("change", [{"end_ms": NOW - QUARTER_MS}, {"came_next": 0}])
def test_a_state_that_is_over_is_not_the_state_now(change: dict[str, int]) -> None:
    every = month().spells.side
    over = [*every[:-1], every[-1]._replace(**change)]

    made = spells(replace(full_context(), month=replace(month(), spells=MarketSpells(over, [], []))))

    assert made is not None
    assert made.side is None


def test_a_rank_is_shown_in_the_unit_of_its_measure() -> None:
    ranks = {name: rank.model_dump() for name, rank in composed().ranks.items()}

    assert ranks == {
        "stress": {"now": -5.43, "usual": -5.12, "rank_percent": 87.7, "n": 719},
        "dispersion": {"now": 1.23, "usual": 2.35, "rank_percent": 25.0, "n": 700},
        "funding": {"now": 0.0123, "usual": None, "rank_percent": None, "n": 100},
        "volume": {"now": 1_235_000.0, "usual": 7_654_000.0, "rank_percent": 100.0, "n": 719},
    }


def test_a_text_gives_each_share_with_its_interval_and_none_of_too_few() -> None:
    few = spells(replace(full_context(), month=replace(month(), spells=MarketSpells(drawn(7, len(SIDES), 12), [], []))))
    side = composed().side

    assert few is not None
    assert few.side is not None
    assert side is not None
    assert "in 100" not in few.side.text
    assert "too few to say how long they last" in few.side.text
    shares = side.text.count("in 100")
    assert shares >= 2
    assert side.text.count("allowing for luck)") == shares


@pytest.mark.parametrize(("most", "over", "is_named"), [(20, 30, False), (25, 30, True), (12, 12, False)])
def test_a_successor_is_named_where_its_interval_lies_above_one_half(most: int, over: int, *, is_named: bool) -> None:
    ends = [1] * most + [2] * (over - most)
    begins = [NOW - 4 * HOUR_MS * (over + 1 - place) for place in range(over)]
    like = [Spell(0, at, at + HOUR_MS, came_next) for at, came_next in zip(begins, ends, strict=True)]
    now = Spell(0, NOW - HOUR_MS, NOW, None)

    made = spells(replace(full_context(), month=replace(month(), spells=MarketSpells([*like, now], [], []))))

    assert made is not None
    assert made.side is not None
    assert ("gave way to" in made.side.text) is is_named


@pytest.mark.parametrize(
    ("rank", "words"),
    [
        (1.0, "the busiest day of trading"),
        (0.95, "a day of trading among the busiest tenth"),
        (0.5, "Nothing measured is among the highest or the lowest tenth"),
        (0.04, "a day of trading among the quietest tenth"),
        (0.0, "the quietest day of trading"),
    ],
)
def test_a_rank_is_said_in_words(rank: float, words: str) -> None:
    ranked = replace(month(), ranks={"volume": MonthRank(1.0, rank, 719, 1.0)})

    made = spells(replace(full_context(), month=ranked))

    assert made is not None
    assert words in made.statement
    assert not any(sign.isdigit() for sign in made.statement)
