"""Whether the regime's label still stands: every sum a second time, by hand, over records with gaps and other kinds."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from generator.arena.holds import EDGES, KIND, HoldTotals
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.values.hours import Hour
from generator.values.scores import CalibrationBin, HoldScores
from tests.support.known import known

LABELS = ("risk_on", "risk_off", "range", "high_volatility")
MONDAY = 20_776 * DAY_MS  # 2026-11-19


def hour(at_ms: int, label: str = "range", chances: tuple[float, ...] | None = (0.1, 0.1, 0.7, 0.1)) -> Hour:
    return Hour(at_ms, at_ms, label, chances, "", {}, chances_kind=KIND if chances else None)


def at(number: int, label: str = "range") -> Hour:
    """Return an hour of Monday and later."""
    return hour(MONDAY + number * HOUR_MS + 7_000, label)


def counted(hours: list[Hour]) -> HoldTotals:
    return HoldTotals().plus(hours, hours[-1].at_ms)


def live(hours: list[Hour]) -> HoldScores:
    return counted(hours).record().live


def random_hours(seed: int, number: int) -> list[Hour]:
    """Return a record with gaps, late hours, a moved replay, a backtest before it, and hours of an earlier kind."""
    draw = random.Random(seed)
    label = "range"
    hours = []
    for place in range(number):
        if draw.random() < 0.2:
            label = draw.choice((*LABELS, "transition", "unknown"))
        if draw.random() < 0.1:
            continue
        at_ms = MONDAY + place * HOUR_MS + (draw.randrange(59 * MINUTE_MS) if draw.random() < 0.1 else 5_000)
        units = [draw.randrange(1, 90) for _ in LABELS]
        chances = tuple(round(100 * unit / sum(units)) / 100 for unit in units[:3])
        made = hour(at_ms, label, (*chances, round(1 - sum(chances), 2)))
        kind = None if place < number // 4 else KIND
        moved_ms = 0 if place < number // 2 else 3 * DAY_MS
        backtest = number // 4 <= place < number // 3
        hours.append(replace(made, market_ms=at_ms - moved_ms, chances_kind=kind, warm_up=backtest))
    return hours


def by_hand(hours: list[Hour], days: range) -> dict[str, float]:
    """Return n, hours held, what was said and the three Brier scores of live hours of some days, in plain floats."""
    stood = dict.fromkeys(LABELS, 1)
    rows = []
    for now in hours:
        if now.chances_kind != KIND or now.label not in LABELS or now.at_ms // DAY_MS not in days:
            continue
        stood[now.label] += 1
        later = [
            other
            for other in hours
            if abs(other.at_ms - now.at_ms - 4 * HOUR_MS) <= 5 * MINUTE_MS
            and abs(other.market_ms - now.market_ms - 4 * HOUR_MS) <= 5 * MINUTE_MS
            and other.label in LABELS
        ]
        if now.warm_up or not later:
            continue
        [came] = [other.label for other in later]
        outcome = [float(label == came) for label in LABELS]
        climate = [stood[label] / sum(stood.values()) for label in LABELS]
        stays = [float(label == now.label) for label in LABELS]
        said = now.chances or ()
        losses = [sum((p - o) ** 2 for p, o in zip(q, outcome, strict=True)) for q in (said, climate, stays)]
        rows.append((1.0, float(came == now.label), said[LABELS.index(now.label)], *losses))
    names = ("n", "held", "said", "brier", "climate", "persistence")
    return dict(zip(names, map(sum, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_every_figure_is_that_of_a_plain_second_count(seed: int) -> None:
    hours = random_hours(seed, 30 * 24)
    scores = live(hours)
    last_day = (hours[-1].at_ms - 4 * HOUR_MS) // DAY_MS

    expected = by_hand(hours, range(last_day))

    n = expected["n"]
    assert (scores.n, scores.held.hits) == (n, expected["held"])
    assert scores.said_percent == pytest.approx(100 * expected["said"] / n, abs=0.051)
    assert scores.brier == pytest.approx(expected["brier"] / n, abs=1e-4)
    assert scores.climate_brier == pytest.approx(expected["climate"] / n, abs=2e-4)
    assert scores.persistence_brier == pytest.approx(expected["persistence"] / n, abs=1e-4)
    assert sum(one.n for one in scores.bins) == scores.n > 100


@pytest.mark.parametrize("seed", range(4))
def test_hour_by_hour_and_all_at_once_give_the_same_sums(seed: int) -> None:
    hours = random_hours(seed, 12 * 24)
    step_by_step = HoldTotals()
    for place in range(len(hours)):
        known = [one for one in hours[: place + 1] if one.at_ms >= step_by_step.day * DAY_MS]
        step_by_step = step_by_step.plus(known, hours[place].at_ms)

    assert step_by_step == counted(hours)


def test_an_hour_is_scored_by_the_label_four_hours_later() -> None:
    labels = ["range"] * 6 + ["risk_on"] * 19 + ["range"] * 4
    scores = live([at(number, label) for number, label in enumerate(labels)])

    # Range at 0, 1 still stands; at 2 to 5 it does not. Risk-on at 21 to 23 does not stand at 25 to 27.
    assert (scores.hours, scores.n, scores.held.hits, scores.days) == (24, 24, 17, 1)
    assert scores.persistence_brier == round(2 * 7 / 24, 4)
    assert (scores.since_ms, scores.until_ms) == (at(0).at_ms, at(23).at_ms)


def test_a_day_is_counted_once_its_last_outcome_is_due() -> None:
    hours = [at(number) for number in range(28)]

    assert live(hours).hours == 0
    assert live([*hours, at(28)]).hours == 24


def test_after_a_gap_there_is_no_outcome() -> None:
    hours = [at(number) for number in range(29) if number not in {6, 7}]
    scores = live(hours)

    assert (scores.hours, scores.n) == (22, 20)  # what was said at 2 and 3 is not scored


@pytest.mark.parametrize(("late_ms", "n"), [(5 * MINUTE_MS, 24), (5 * MINUTE_MS + 1, 22)])
def test_a_label_kept_more_than_five_minutes_off_counts_for_nothing(late_ms: int, n: int) -> None:
    hours = [at(number) for number in range(30)]
    hours[8] = replace(hours[8], at_ms=hours[8].at_ms + late_ms, market_ms=hours[8].market_ms + late_ms)

    assert live(hours).n == n


def test_a_replay_that_was_moved_has_no_outcome() -> None:
    hours = [at(number) for number in range(30)]
    moved = [one if place < 12 else replace(one, market_ms=one.market_ms - DAY_MS) for place, one in enumerate(hours)]

    assert live(moved).n == 20


@pytest.mark.parametrize("label", ["transition", "unknown"])
def test_a_label_that_is_none_of_the_four_is_neither_scored_nor_an_outcome(label: str) -> None:
    hours = [at(number, label if number == 10 else "range") for number in range(30)]
    scores = live(hours)

    assert (scores.hours, scores.n) == (23, 22)


def test_hours_of_an_earlier_kind_are_counted_apart_and_not_scored() -> None:
    old = [replace(at(number), chances_kind=None) for number in range(48)]
    record = counted([*old, *(at(number) for number in range(48, 80))]).record()

    assert record.earlier == {None: 48}
    assert (record.live.hours, record.live.n, record.kind) == (24, 24, KIND)
    assert counted(old).record().live == HoldScores(
        bins=tuple(CalibrationBin.of(*edges, 0, None) for edges in pairwise(EDGES))
    )


def test_the_climate_begins_with_what_the_backtest_read() -> None:
    backtest = [replace(at(number, "range"), warm_up=True) for number in range(24)]
    own = [at(number, "range") for number in range(24, 56)]

    record = counted([*backtest, *own]).record()

    assert (record.backtest.n, record.live.n) == (24, 24)
    assert record.live.climate_brier is not None
    assert record.backtest.climate_brier is not None
    assert record.live.climate_brier < record.backtest.climate_brier / 3


def test_no_skill_is_shown_below_ten_days_or_ten_changes() -> None:
    changing = [at(number, LABELS[number // 9 % 4]) for number in range(11 * 24)]
    standing = [at(number) for number in range(20 * 24)]

    assert known(live(changing).climate_skill_percent).low is not None
    assert live(changing[: 10 * 24]).climate_skill_percent is None
    assert live(changing[: 10 * 24]).days == 9
    assert live(standing).climate_skill_percent is None
    assert live(standing).persistence_skill_percent is None


def test_a_label_that_always_stood_has_exact_limits_of_whole_days() -> None:
    scores = live([at(number) for number in range(20 * 24 + 5)])

    assert (scores.held.hits, scores.held.n, scores.held.percent) == (480, 480, 100.0)
    assert scores.held.low_percent == round(100 * 0.025 ** (1 / 20), 1)  # twenty days, each worth one case
    assert [one.hit is None for one in scores.bins] == [True, True, True, True, False, True, True]


def test_a_bin_has_no_rate_below_thirty_cases() -> None:
    sure = (0.02, 0.02, 0.94, 0.02)
    hours = [at(number) for number in range(3 * 24 + 5)]
    for place in range(29):
        hours[place] = replace(hours[place], chances=sure)

    bins = {one.low_percent: (one.n, one.hit is None) for one in live(hours).bins if one.n}

    assert bins == {70.0: (43, False), 90.0: (29, True)}
