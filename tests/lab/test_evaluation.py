"""The evaluation: scores by hand, separate seeds, peers that cannot look ahead, and the whole command."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from generator.lab.__main__ import app, span_of
from generator.lab.evaluate import OURS, check
from generator.lab.peers import HMM, PEERS, answers, hourly
from generator.lab.scores import (
    Outcomes,
    RegimeRun,
    balanced,
    by_chance,
    calibration_error,
    join,
    regime_error,
    resampled,
    score_regimes,
)
from generator.lab.simulator import DAY, FAMILIES, simulate
from tests.lab.evaluated import EVEN, candles, evaluated, program

MEASURES = (
    "balanced accuracy, first families",
    "balanced accuracy, second",
    "ratio to the best peer, first families",
    "ratio to the best peer, second",
    "transition, share of bars",
    "stressed against calm",
    "median delay, hours",
    "false switches a day",
    "mean dwell, hours",
    "label near the likeliest",
    "driftless: share of time with a claim",
    "driftless: share of time with a side",
    "regime ECE of each family",
    "Arena ECE of each family",
    "Arena skill %, driftless",
)


def run(shown: list[int], truth: list[int]) -> RegimeRun:
    return RegimeRun(np.repeat(shown, 12), np.repeat(truth, 12), np.zeros(12 * len(truth), dtype=bool))


def forecasts(n: int, chance: float, share: float) -> Outcomes:
    rng = np.random.default_rng(11)
    came = np.where(rng.random(n) < share, 2, 0)
    rest = (1.0 - chance) / 2.0
    return Outcomes(np.tile([rest, rest, chance], (n, 1)), np.full((n, 3), 1 / 3), came, np.arange(n))


def test_calibration_error_and_balanced_accuracy_by_hand() -> None:
    assert calibration_error(np.array([0.9, 0.9]), np.array([True, False])) == pytest.approx(0.4)
    assert balanced(np.array([0.0, 0.0, 0.0, 1.0]), np.array([0, 0, 1, 1])) == pytest.approx(0.75)


def test_delay_dwell_and_false_switches_by_hand() -> None:
    score = score_regimes([run([2, 2, 2, 3, 3, 0, 0, 0], [2, 2, 3, 3, 3, 3, 3, 3])])

    assert score.delay_hours == pytest.approx(1.0)
    assert score.dwell_hours == pytest.approx(4.0)
    assert score.false_a_day == pytest.approx(3.0)  # one in eight hours
    assert score.claimed == pytest.approx(3 / 8)
    assert score.missed == 0.0


def test_a_regime_that_is_never_named_is_an_endless_delay() -> None:
    score = score_regimes([run([2, 2, 2, 2], [2, 2, 1, 1])])

    assert score.missed == 1.0
    assert score.delay_hours > 1e6


def test_transition_counts_as_the_likeliest_and_is_never_behind_it() -> None:
    chances = np.tile([0.5, 0.3, 0.1, 0.1], (3, 1))
    one = RegimeRun(np.array([4, 0, 1]), np.array([0, 0, 0]), np.zeros(3, dtype=bool), chances)

    score = score_regimes([one])

    assert one.counted().tolist() == [0, 0, 1]
    assert one.behind() == pytest.approx([0.0, 0.0, 0.2])
    assert score.accuracy == pytest.approx(2 / 3)
    assert score.transition == pytest.approx(1 / 3)
    assert regime_error([one])[0] == pytest.approx((2 * 0.5 + 0.3) / 3)


def test_an_interval_is_of_whole_markets() -> None:
    good, bad = run([2, 2, 3, 3], [2, 2, 3, 3]), run([3, 3, 2, 2], [2, 2, 3, 3])

    def accuracy(take: np.ndarray) -> float:
        return score_regimes([(good, bad)[one] for one in take]).accuracy

    assert resampled(accuracy, 2) == (0.0, 1.0)
    assert resampled(accuracy, 1) == (1.0, 1.0)


def test_an_error_by_chance_falls_with_the_cases_and_rises_where_they_are_correlated() -> None:
    sure = np.full(4000, 0.4)

    alone, few = by_chance(sure, np.arange(4000)), by_chance(sure[:400], np.arange(400))
    together = by_chance(sure, np.arange(4000) // 7)

    # One bin: the mean size of a normal deviation of n cases is sqrt(2 p (1 - p) / (pi n)).
    assert alone.mean == pytest.approx(np.sqrt(2 * 0.24 / (np.pi * 4000)), rel=0.15)
    assert few.mean == pytest.approx(np.sqrt(2 * 0.24 / (np.pi * 400)), rel=0.15)
    assert together.mean == pytest.approx(np.sqrt(7) * alone.mean, rel=0.2)
    assert alone.mean < alone.high < 4 * alone.mean


def test_a_calibrated_forecaster_scores_within_the_error_by_chance() -> None:
    good, bad = forecasts(4000, 0.5, 0.5), forecasts(4000, 0.6, 0.5)

    assert good.error() < good.error_by_chance(1).high
    assert bad.error() > bad.error_by_chance(1).high


def test_skill_is_against_the_base_rate_and_its_interval_holds_it() -> None:
    good = forecasts(4000, 0.5, 0.5)
    low, high = good.interval(96)

    assert good.skill() > 5.0
    assert low < good.skill() < high
    assert forecasts(4000, 0.9, 0.4).skill() < 0.0


def test_markets_without_a_forecast_are_joined_as_well() -> None:
    none = Outcomes(np.empty((0, 3)), np.empty((0, 3)), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    assert join([none, forecasts(5, 0.5, 0.5), forecasts(5, 0.5, 0.5)]).moment.tolist() == list(range(10))


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer != HMM])
def test_an_answer_of_a_peer_does_not_depend_on_the_future(peer: str) -> None:
    market = simulate("base", 60030, 4)
    other = {name: values.copy() for name, values in market.frame.fields.items()}
    for name in ("open", "high", "low", "close"):
        other[name][3 * DAY :] *= 1.1
    seen = hourly(market.frame, market.regime, 2 * DAY)
    changed = hourly(dataclasses.replace(market.frame, fields=other), market.regime, 2 * DAY)

    before, after = (answers(peer, one, 4 * DAY) for one in (seen, changed))

    assert np.array_equal(before[: 3 * DAY], after[: 3 * DAY])


@pytest.mark.parametrize("seeds", [range(1000, 1002), range(900, 1001), range(1999, 2006), range(500, 3000)])
def test_training_seeds_are_refused_for_evaluation(seeds: range) -> None:
    with pytest.raises(ValueError, match="for training"):
        check(seeds)


@pytest.mark.parametrize("text", ["", "7-", "9-3", "a-b", "1,2"])
def test_seeds_that_are_not_a_span_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="FIRST-LAST"):
        span_of(text)


@pytest.fixture(scope="module")
def run_command(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tmp_path_factory.mktemp("evaluated")
    return evaluated(folder, "--no-peers", "--entrant", program(folder, EVEN))


def test_the_tables_hold_every_measure_model_and_family(run_command: Result) -> None:
    tables = run_command.stdout

    assert run_command.exit_code == 0, run_command.output
    assert [measure for measure in MEASURES if f"| {measure} | " not in tables] == []
    for model in (OURS, *(peer for peer in PEERS if peer != HMM)):
        for family in FAMILIES:
            assert f"| {family} | {model} | " in tables
    assert "How far, small-5m: " in tables


def test_a_program_of_someone_else_is_scored_on_the_same_markets(run_command: Result) -> None:
    rows = [line for line in run_command.stdout.splitlines() if line.startswith("| base | `")]

    assert rows[0].split(" | ")[-2:] == ["100.0", "0 |"]  # transition and claims


def test_training_seeds_and_unfit_candles_are_refused_before_any_work(tmp_path: Path) -> None:
    hours = candles(tmp_path / "hourly", 1, minutes=60)
    wrong = (["--seeds", "70001", "--seeds", "1600-1611"], ["--candles", str(tmp_path)], ["--candles", str(hours)])

    results = [CliRunner().invoke(app, ["evaluate", "--no-peers", *options]) for options in wrong]

    assert [result.exit_code for result in results] == [2, 2, 2]
    for result, reason in zip(results, ("for training", "no market data", "expected 5"), strict=True):
        assert reason in " ".join(result.output.replace("│", " ").split())


def test_candles_are_measured_without_any_seed(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["recorded", "--candles", str(candles(tmp_path, 3))])

    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("How far, small-5m: 2 assets")
