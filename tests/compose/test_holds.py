"""The record of the regime's chances as published: no rate of few cases, no skill of a short time, and its sentence."""

import math
from dataclasses import replace

import pytest

from generator.compose.holds import holds_statement, regime_record, regime_reliability
from generator.compose.statistics import statistics
from generator.values.scores import Estimate, HoldRecord, HoldScores
from tests.support.builders import empty_memory_context, full_context, holds
from tests.support.known import rate_of

LIVE = holds().live
SKILL = Estimate(5.0, 1.0, 9.0)


def of(n: int, hits: int) -> HoldScores:
    return replace(
        LIVE,
        n=n,
        held=rate_of(hits, n, round(100 * hits / n, 1), 50.0, 90.0),
    )


def test_each_figure_of_the_body_is_that_of_the_live_record() -> None:
    body = regime_record(holds())
    earlier = [one.as_fields() for one in body.earlier]

    assert (body.chances_kind, earlier) == ("holds_four_hours", [{"kind": None, "hours": 24}])
    assert (body.hours, body.n, body.days, body.warm_up) == (LIVE.hours, LIVE.n, LIVE.days, holds().backtest.n)
    assert (body.said_percent, body.held.hits, body.held.n) == (LIVE.said_percent, LIVE.held.hits, LIVE.n)
    assert (body.four_way_brier, body.four_way_brier_climate) == (LIVE.brier, LIVE.climate_brier)
    assert body.four_way_brier_persistence == LIVE.persistence_brier
    assert [(one.n, one.said_percent) for one in body.calibration] == [(one.n, one.said_percent) for one in LIVE.bins]
    assert (body.since, body.until) == ("2026-10-12T00:00:05Z", "2026-11-19T23:00:05Z")


def test_skills_are_of_the_scores_that_are_shown() -> None:
    body = regime_record(holds())
    brier, climate, persistence = body.four_way_brier, body.four_way_brier_climate, body.four_way_brier_persistence

    assert brier
    assert climate
    assert persistence
    assert body.climate_skill_percent
    assert body.persistence_skill_percent
    assert math.isclose(body.climate_skill_percent.value, 100 * (1 - brier / climate), abs_tol=0.051)
    assert math.isclose(body.persistence_skill_percent.value, 100 * (1 - brier / persistence), abs_tol=0.051)


def test_below_thirty_cases_there_is_no_rate() -> None:
    few = of(29, 20)

    assert regime_record(HoldRecord(live=few)).held.percent is None
    assert regime_reliability(few) is None
    assert regime_reliability(of(30, 20)) is not None
    assert holds_statement(HoldRecord(live=few)) == (
        "Only 29 chances of a label to stand for 4 hours could be judged: too few to tell."
    )


def test_before_the_first_case_it_says_so() -> None:
    assert holds_statement(HoldRecord()) == "No label's chance to stand for 4 hours has been scored yet."


@pytest.mark.parametrize(
    ("skill", "verdict"),
    [
        (SKILL, "5% (1 to 9%)"),
        (Estimate(5.0, -1.0, 9.0), "5% (-1 to 9%)"),
        (Estimate(-5.0, -9.0, -1.0), "-5% (-9 to -1%)"),
    ],
)
def test_a_skill_comes_with_its_interval(skill: Estimate, verdict: str) -> None:
    scores = replace(of(1000, 700), climate_skill_percent=skill, persistence_skill_percent=None)

    assert holds_statement(HoldRecord(live=scores)) == (
        "Of 1000 labels 70.0% (95% interval 50.0 to 90.0%) still stood 4 hours later; the chances said 72.0%. "
        f"Brier skill: {verdict} against past frequencies."
    )


def test_without_a_skill_none_is_claimed() -> None:
    none = replace(of(100, 70), climate_skill_percent=None, persistence_skill_percent=None)

    assert "skill" not in holds_statement(HoldRecord(live=none))


def test_bodies_carry_the_record_that_the_context_has() -> None:
    full, empty = full_context(), empty_memory_context()

    assert statistics(full).main_brain.regime == regime_record(holds())
    assert full.regime.reliability.record == regime_reliability(LIVE)
    assert statistics(empty).main_brain.regime == regime_record(HoldRecord())
    assert empty.regime.reliability.record is None
