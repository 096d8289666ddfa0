"""The evaluation: scores by hand, seeds that stay apart, peers that cannot look ahead, a page that is filled in."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from typer.testing import CliRunner

from generator.brain.weights import Weights
from generator.cli import application
from generator.cli.brain import _span
from generator.lab.evaluate import BRAIN, Evaluation, RealScore, evaluate
from generator.lab.families import FAMILIES
from generator.lab.peers import PEERS, answers, hourly
from generator.lab.plots import timeline_plot
from generator.lab.report import BEGIN, END, plots, tables, write
from generator.lab.scores import (
    Outcomes,
    RegimeRun,
    balanced,
    by_chance,
    calibration_error,
    forward_ratio,
    join,
    score_regimes,
)
from generator.lab.simulator import DAY, simulate
from generator.lab.streams import Said, listen, listen_together, outcomes


def run(shown: list[int], truth: list[int]) -> RegimeRun:
    return RegimeRun(
        np.repeat(shown, 12), np.repeat(truth, 12), np.zeros(12 * len(truth), dtype=bool), np.ones(12 * len(truth))
    )


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


def test_what_chance_gives_falls_with_the_cases_and_rises_where_they_come_true_as_one() -> None:
    sure = np.full(4000, 0.4)

    alone, few = by_chance(sure, np.arange(4000)), by_chance(sure[:400], np.arange(400))
    together = by_chance(sure, np.arange(4000) // 7)

    # One bin: the mean size of a normal deviation of n cases is sqrt(2 p (1 - p) / (pi n)).
    assert alone.mean == pytest.approx(np.sqrt(2 * 0.24 / (np.pi * 4000)), rel=0.15)
    assert few.mean == pytest.approx(np.sqrt(2 * 0.24 / (np.pi * 400)), rel=0.15)
    assert together.mean == pytest.approx(np.sqrt(7) * alone.mean, rel=0.2)
    assert alone.mean < alone.high < 4 * alone.mean


def test_a_forecaster_that_is_calibrated_scores_within_what_chance_gives() -> None:
    good, bad = forecasts(4000, 0.5, 0.5), forecasts(4000, 0.6, 0.5)

    assert good.error() < good.error_by_chance(1)[0].high
    assert bad.error() > bad.error_by_chance(1)[0].high


def test_skill_is_against_the_base_rate_and_its_interval_holds_it() -> None:
    good = forecasts(4000, 0.5, 0.5)
    low, high = good.interval(96)

    assert good.skill() > 5.0
    assert low < good.skill() < high
    assert forecasts(4000, 0.9, 0.4).skill() < 0.0


def test_joined_outcomes_keep_their_moments_apart() -> None:
    both = join([forecasts(10, 0.5, 0.5), forecasts(5, 0.5, 0.5)])

    assert both.moment.tolist() == [*range(10), *range(10, 15)]


def test_the_volatility_ratio_looks_at_the_next_hours_and_not_at_the_past() -> None:
    moves = np.concatenate([np.full((60, 1), 0.01), np.full((61, 1), 0.03)])

    ratio = forward_ratio(moves, np.array([5, 59]), np.array([2, 3]))

    assert ratio == pytest.approx(3.0)


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.library is None], ids=lambda peer: peer.name)
def test_what_a_peer_said_does_not_change_with_the_future(peer: object) -> None:
    market = simulate("base", 60030, 6)
    other = {name: values.copy() for name, values in market.frame.fields.items()}
    for name in ("open", "high", "low", "close"):
        other[name][5 * DAY :] *= 1.1
    seen = hourly(market.frame, market.regime, 4 * DAY)
    changed = hourly(dataclasses.replace(market.frame, fields=other), market.regime, 4 * DAY)

    before, after = (answers(peer, one, 6 * DAY)[0] for one in (seen, changed))  # type: ignore[arg-type]

    assert np.array_equal(before[: 5 * DAY], after[: 5 * DAY])


@pytest.mark.parametrize("seeds", [range(1000, 1002), range(900, 1001), range(1999, 2006), range(500, 3000)])
def test_training_seeds_are_refused_for_evaluation(seeds: range) -> None:
    with pytest.raises(ValueError, match="for training"):
        evaluate(seeds, [], [], Weights.load(), lambda *_: None)


@pytest.mark.parametrize("text", ["", "7-", "9-3", "a-b", "1,2"])
def test_seeds_that_are_no_span_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="FIRST-LAST"):
        _span(text)


def test_the_command_line_offers_both() -> None:
    help_text = CliRunner().invoke(application(), ["brain", "--help"]).output

    assert "train" in help_text
    assert "evaluate" in help_text


@pytest.fixture(scope="module")
def found() -> Evaluation:
    """Evaluate three short days of one market as if it were all of them."""
    market = simulate("base", 60031, 4)
    said = listen(market.frame, 3 * DAY, Weights.load())
    part = RegimeRun(said.label, market.regime[said.at], market.moving[said.at], said.sure)
    pair = (outcomes(market.frame, said, 0), outcomes(market.frame, said, 1))
    real = RealScore("candles", 100, 7, (0.2, 0.2, 0.3, 0.3, 0.0), 6.0, 1.6, pair, [(0.5, 0.3)] * 3)
    return Evaluation(
        seeds=range(60031, 60032),
        digest="0" * 64,
        runs={name: {family: [part] for family in FAMILIES} for name in (BRAIN, "peer")},
        outcomes=dict.fromkeys(FAMILIES, pair),
        real=[real],
        example=(market, said),
    )


def test_tables_name_the_bars_the_peers_and_what_was_not_run(found: Evaluation) -> None:
    text = tables(found, ["absent peer"])

    assert "| balanced accuracy, mean of four families |" in text
    assert "| alt | peer |" in text
    assert "Not run, because the library is not installed: absent peer." in text
    assert "candles, 7 assets" in text


def test_plots_are_well_formed(found: Evaluation) -> None:
    drawn = plots(found)

    assert set(drawn) == {"reliability.svg", "accuracy.svg", "timeline.svg"}
    for svg in drawn.values():
        assert ET.fromstring(svg).tag.endswith("svg")


def test_a_timeline_has_one_piece_for_every_stay() -> None:
    svg = timeline_plot("t", {"shown": np.array([0, 0, 1, 1, 1, 2])}, 3)

    assert svg.count('height="44"') == 3


def test_a_page_is_filled_between_its_marks_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")

    write(page, "new\n", {"a.svg": "<svg/>"})

    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "new" in text
    assert "old" not in text
    assert (tmp_path / "brain" / "a.svg").exists()


def test_a_page_without_marks_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing", encoding="utf-8")

    with pytest.raises(ValueError, match="no place"):
        write(page, "new", {})


def test_markets_side_by_side_say_what_the_engine_says_of_each_alone() -> None:
    frames = [simulate("wild", seed, 5).frame for seed in (60040, 60041)]

    together = listen_together(frames, 4 * DAY, Weights.load())

    for frame, both in zip(frames, together, strict=True):
        alone = listen(frame, 4 * DAY, Weights.load())
        for field in dataclasses.fields(Said):
            one, other = getattr(alone, field.name), getattr(both, field.name)
            assert one == pytest.approx(other, abs=1e-9), field.name
