"""What each part of the ranges adds: what is left out is left out, and nothing else."""

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.lab.ablation import PARTS, losses, ratio_of, without
from generator.lab.coverage import listen
from generator.market.bars import BARS_A_DAY
from tests.support.markets import market

WEIGHTS = Weights.load()
NAMES = ("A", "B", "C")
FRAME = market(4 * BARS_A_DAY, assets=NAMES)


def said(engine: Engine) -> tuple[np.ndarray, np.ndarray]:
    """Return sigmas and widths after all of `FRAME`."""
    engine.advance(FRAME)
    return engine.sigma(), engine.ranges.widths()


@pytest.mark.parametrize(
    ("part", "horizons"),
    [
        ("profile of the day", (0, 1, 2)),
        ("correction", (0, 1, 2, 3)),
        ("each asset's own level in it", (0, 1, 2, 3)),
        ("kept law", ()),
        ("month's level, 24 h", (3,)),
    ],
)
def test_a_part_left_out_changes_its_own_horizons_alone(part: str, horizons: tuple[int, ...]) -> None:
    whole, _ = said(Engine(WEIGHTS, NAMES))

    sigma, _ = said(without(part, WEIGHTS, NAMES))

    changed = tuple(np.flatnonzero((np.abs(sigma / whole - 1.0) > 1e-9).any(axis=1)).tolist())
    assert changed == horizons


def test_without_the_kept_law_widths_are_the_frozen_ones() -> None:
    _, widths = said(without("kept law", WEIGHTS, NAMES))

    assert widths.tolist() == Engine(WEIGHTS, NAMES).ranges.widths().tolist()
    assert len(PARTS) == 5


def test_the_interval_score_is_the_width_and_what_is_missed_by_its_chance() -> None:
    hours = listen(FRAME, WEIGHTS, 2 * BARS_A_DAY)

    half, most, _, _ = losses(FRAME, hours)

    reach, move = hours.reach[:, 1], np.abs(hours.move[1])
    missed = np.maximum(move - reach, 0.0)
    assert half[1] == pytest.approx((2.0 * reach[0] + 4.0 * missed[0]).mean(axis=1), nan_ok=True)
    assert most[1] == pytest.approx((2.0 * reach[1] + 20.0 * missed[1]).mean(axis=1), nan_ok=True)


def test_the_brier_score_is_of_the_hour_alone() -> None:
    hours = listen(FRAME, WEIGHTS, 2 * BARS_A_DAY)

    *_, brier = losses(FRAME, hours)

    moved = np.abs(np.expm1(hours.move[1])) > hours.band
    assert brier[1][:-1] == pytest.approx(((hours.chance - moved) ** 2).mean(axis=1)[:-1], nan_ok=True)
    assert np.isnan(brier[[0, 2, 3]]).all()


def test_a_ratio_of_equal_losses_is_one() -> None:
    loss = np.array([1.0, 2.0, np.nan, 3.0, 1.0, 5.0])

    assert ratio_of(np.arange(6), loss, loss, together=2) == (1.0, 1.0, 1.0)
