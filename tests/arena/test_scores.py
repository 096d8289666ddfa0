"""Scores, against slow oracles written from their definitions."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.arena.rates import rate
from generator.arena.scores import BIN_EDGES, ORDER, Sums, published_triple, track_record
from generator.catalog.words import PREDICTION_OF_CALL, Call, Prediction
from generator.values.chances import Probabilities
from generator.values.hours import PredictionMade
from tests.support import filled_memory

WORDS = st.sampled_from(list(Prediction))
UNITS = st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)).map(sorted)
TRIPLES = UNITS.map(lambda cut: (cut[0] / 10_000, (cut[1] - cut[0]) / 10_000, (10_000 - cut[1]) / 10_000))
CASES = st.builds(
    PredictionMade, st.just("BTC"), st.just(0), st.just(1), TRIPLES, TRIPLES, WORDS, st.just(10.0),
    outcome=st.none() | WORDS, previous=st.none() | WORDS, call=st.none() | st.sampled_from(list(Call)),
)  # fmt: skip


def slow_brier(chances: tuple[float, ...], outcome: Prediction) -> float:
    return sum((p - (word == outcome)) ** 2 for p, word in zip(chances, ORDER, strict=True))


@given(st.lists(CASES, max_size=80))
def test_running_sums_give_the_scores_of_the_definitions(cases: list[PredictionMade]) -> None:
    sums = Sums()
    for case in cases:
        sums = sums.counted(case).ended([case])
    record = track_record("hourly", sums)

    judged = [case for case in cases if case.outcome is not None]
    assert (record.predictions, record.resolved) == (len(cases), len(judged))
    if not judged:
        assert record.brier is None
        assert record.skill_percent == {"uniform": None, "base_rate": None, "persistence": None}
        return
    n = len(judged)
    mean = sum(slow_brier(case.probabilities, case.outcome) for case in judged if case.outcome) / n
    base = sum(slow_brier(case.base_rate, case.outcome) for case in judged if case.outcome) / n
    last = sum(2 / 3 if case.previous is None else 2 * (case.previous != case.outcome) for case in judged) / n
    assert record.brier == pytest.approx(mean, abs=6e-5)
    assert record.baselines["base_rate"] == pytest.approx(base, abs=6e-5)
    assert record.baselines["persistence"] == pytest.approx(last, abs=6e-5)
    called = [case for case in judged if case.call not in {None, Call.NONE}]
    right = [case for case in called if case.call and case.outcome is PREDICTION_OF_CALL[case.call]]
    assert (record.hit.n, record.hit.hits) == (len(called), len(right))
    assert record.no_calls == sum(case.call is Call.NONE for case in judged)
    assert sum(part.n for part in record.bins) == len(called)
    for name, baseline in record.baselines.items():  # a reader computes skill from the published scores
        if baseline and record.brier is not None and record.skill_percent[name] is not None:
            assert record.skill_percent[name] == round(100 * (1 - record.brier / baseline), 1)


@given(st.lists(CASES, max_size=40), st.randoms(use_true_random=False))
def test_order_and_revisions_do_not_change_the_sums(cases: list[PredictionMade], order: random.Random) -> None:
    straight, shuffled = Sums(), Sums()
    for case in cases:
        straight = straight.counted(case).ended([case])
    mixed = list(cases)
    order.shuffle(mixed)
    for case in mixed:
        pending = replace(case, outcome=None)
        shuffled = shuffled.counted(pending).counted(pending, -1).counted(case).ended([case])

    assert straight == shuffled


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 25.53, 36.62), (15, 148, 6.24, 16.05), (0, 20, 0.0, 16.84), (1, 29, 0.61, 17.18)],
)
def test_wilson_gives_the_textbook_intervals(hits: int, n: int, low: float, high: float) -> None:
    found = rate(hits, n)  # Newcombe 1998, table I, method 3; of no hit method 5

    assert found.n == n
    assert found.low_percent == pytest.approx(low, abs=0.051)
    assert found.high_percent == pytest.approx(high, abs=0.051)


def test_a_bin_below_thirty_cases_gives_no_rate() -> None:
    up = Prediction.BULLISH
    case = PredictionMade("BTC", 0, 1, (0.3, 0.3, 0.4), (0.3, 0.4, 0.3), up, 10.0, outcome=up, call=Call.UP)
    sums = Sums()
    for _ in range(29):
        sums = sums.ended([case])

    few, enough = track_record("arena", sums).bins, track_record("arena", sums.ended([case])).bins

    index = BIN_EDGES.index(40.0)
    assert (few[index].n, few[index].hit) == (29, None)
    assert enough[index].hit == rate(30, 30)


@pytest.mark.parametrize("wrong", [(0.5, 0.5, 0.5), (-0.1, 0.6, 0.5), (float("nan"), 0.5, 0.5), (0, 0, 0)])
def test_an_invalid_distribution_is_refused(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="not probabilities"):
        published_triple(Probabilities(*wrong))


def of_kind(kind: str | None, hour: int, outcome: Prediction | None = Prediction.BULLISH) -> PredictionMade:
    return replace(filled_memory.prediction("BTC", hour * 3_600_000, ended=False), chances_kind=kind, outcome=outcome)


def scored(sums: Sums, *cases: PredictionMade) -> Sums:
    for case in cases:
        sums = sums.counted(case).ended([case])
    return sums


def test_another_kind_of_chances_begins_at_nothing_and_the_one_before_stays() -> None:
    before = scored(Sums(), *(of_kind(None, hour) for hour in range(5)))

    after = scored(before, of_kind("law", 5), of_kind("law", 6))

    record = track_record("hourly", after)
    assert (record.chances_kind, record.predictions, record.resolved) == ("law", 2, 2)
    [earlier] = record.earlier
    assert (earlier.kind, earlier.predictions, earlier.resolved) == (None, 5, 5)
    assert earlier.brier == track_record("hourly", before).brier
    assert track_record("hourly", before).earlier == ()


@pytest.mark.parametrize(
    "before",
    [
        Sums(kind="law", predictions=1),
        Sums(kind="law", resolved=1),
        Sums(kind="law", earlier=Sums(predictions=1)),
    ],
)
def test_whatever_was_counted_of_a_kind_is_kept_when_another_begins(before: Sums) -> None:
    after = scored(before, of_kind("newer", 5))

    assert (after.kind, after.predictions, after.resolved) == ("newer", 1, 1)
    assert after.earlier == before


def test_a_forecast_of_an_earlier_kind_that_comes_due_late_counts_there() -> None:
    pending = of_kind(None, 1, None)
    sums = Sums().counted(pending)
    sums = scored(sums, of_kind("law", 2))

    late = sums.ended([replace(pending, outcome=Prediction.BEARISH), of_kind("law", 3)])

    assert (late.kind, late.predictions, late.resolved) == ("law", 1, 2)
    assert late.earlier is not None
    assert (late.earlier.kind, late.earlier.predictions, late.earlier.resolved) == (None, 1, 1)


def test_what_has_no_kind_is_the_earliest_in_whichever_order_it_is_counted() -> None:
    cases = [of_kind("law", 1), of_kind(None, 2), of_kind("law", 3), of_kind(None, 4)]

    assert scored(Sums(), *cases) == scored(Sums(), *sorted(cases, key=lambda case: case.chances_kind or ""))
