"""How far, measured: figures of brains whose quality is known."""

from datetime import UTC, datetime

import numpy as np
import pytest

from generator.brain.outlook import HORIZON_BARS, outlook_of
from generator.brain.weights import Weights
from generator.lab.far import QuarterReadings, auc, follow, measured, pinball_loss, rows_of
from generator.lab.outlook import fit_outlook, moves_after
from generator.market.bars import BARS_A_DAY as DAY
from tests.lab.test_states import states
from tests.support.markets import market


def test_what_came_is_of_the_bars_after_the_moment_and_unknown_across_a_gap() -> None:
    frame = market(60)
    close = np.log(frame.fields["close"])
    frame.fields["close"][20] = np.nan

    move, _ = moves_after(frame, np.array([5, 18, 30]))

    assert move[0][0] == pytest.approx(close[8] - close[5])
    assert np.isnan(move[0][1]).all()
    assert np.isnan(move[1][0]).sum() == 0
    assert np.isnan(move[3]).all()


@pytest.mark.parametrize(("scale", "met"), [(1.0, True), (1.4, False)])
def test_a_sigma_that_is_true_meets_its_bars_and_one_that_is_wrong_misses_them(scale: float, *, met: bool) -> None:
    rng, n, sigma = np.random.default_rng(8), 12 * DAY, 0.001
    frame = market(n, assets=("BTC", "ETH"))
    close = np.exp(np.cumsum(sigma * rng.normal(size=(n, 2)), axis=0))
    for name in ("open", "high", "low", "close"):
        frame.fields[name][:] = close
    at = np.arange(2, n, 3)
    width = scale * sigma * np.sqrt(np.array(HORIZON_BARS))[:, None] * np.ones((1, 2))
    wide = np.broadcast_to(width, (len(at), 4, 2))
    reach = wide[..., None] * np.array([0.6745, 1.6449])
    bar = np.full((len(at), 3, 2), sigma)
    said = QuarterReadings(at, wide, np.zeros_like(wide), reach, np.full((len(at), 2), 2 * np.log(sigma)), bar,
                np.linspace(0.0, 100.0, len(at)), states(rng.integers(0, 4, n - 2)))  # fmt: skip

    found = {measure: result for measure, _, _, result in rows_of(frame, said)}

    for name in ("sd(move / sigma), 15m", "coverage of the 50% range, 1h, %", "coverage of the 90% range, 15m, %"):
        assert found[name] is met, name


def test_scores_of_known_numbers() -> None:
    top = np.array([False, False, True, True])
    edges = np.zeros((4, 1, 1))

    assert auc(np.array([1.0, 2.0, 2.0, 3.0]), top) == pytest.approx(0.875)
    assert pinball_loss(np.array([[1.0]]), edges) == pytest.approx(0.5)
    assert pinball_loss(np.array([[-1.0]]), edges) == pytest.approx(0.5)


def test_the_fit_finds_the_rough_hour_and_gives_the_same_body_again() -> None:
    frame = market(24 * DAY, seed=31)
    hour = (frame.t // 3_600_000) % 24
    close = np.log(frame.fields["close"])
    rough = np.diff(close, axis=0, prepend=close[:1]) * np.where(hour == 14, 4.0, 1.0)[:, None]
    for name in ("open", "high", "low", "close"):
        frame.fields[name][:] = np.exp(np.cumsum(rough, axis=0))

    one, same = (fit_outlook(frame, "made") for _ in range(2))

    season = outlook_of(one).season[0, :672].reshape(7, 24, 4).mean(axis=(0, 2))
    assert season.argmax() == 14
    assert one == same


def test_following_a_market_keeps_what_the_engine_says_each_quarter_hour() -> None:
    frame = market(420)

    said = follow(frame, 300, Weights.load())

    assert said.at.tolist() == list(range(302, 420, 3))
    assert said.sigma.shape == (40, 4, 3)
    assert (said.reach[..., 0] < said.reach[..., 1]).all()
    assert np.isfinite(said.baselines).all()


def test_candles_that_the_outlook_was_fitted_on_are_not_scored() -> None:
    frame = market(30)
    frame.t[:] += round(datetime(2022, 10, 1, tzinfo=UTC).timestamp()) * 1000 - frame.t[0]

    text = measured("fitted", frame, Weights.load())

    assert "not scored" in text
    assert "| met |" not in text
    assert "How far" not in text
