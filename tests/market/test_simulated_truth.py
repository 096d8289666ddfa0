"""Measured on the simulated market: its statistics are the stated ones, and nothing in it reveals the future."""

import numpy as np
import pytest

from generator.catalog.words import RegimeLabel
from generator.market.bars import BAR_MS, BarFrame, FloatArray, IntArray
from generator.market.simulated.market import SimulatedMarket
from generator.market.simulated.params import BETA, BLOCK_BARS, DRIFT_DAY, LOG_PRICE, REGIMES, SIGMA_DAY
from generator.market.simulated.schedule import quiet_seed, regime_mix, schedule

FIRST_BLOCK, BLOCKS = 560, 3
SEEDS = (101, 102, 103, 104)


class Sample:
    """Twelve blocks of four seeds: returns, true labels, and bars away from passages."""

    def __init__(self) -> None:
        markets = [SimulatedMarket(seed) for seed in SEEDS]
        first, stop = FIRST_BLOCK * BLOCK_BARS * BAR_MS, (FIRST_BLOCK + BLOCKS) * BLOCK_BARS * BAR_MS
        self.frames: list[BarFrame] = [market.bars(first, stop) for market in markets]
        self.moves: FloatArray = np.concatenate(
            [np.log(frame.fields["close"] / frame.fields["open"]) for frame in self.frames]
        )
        regimes = [market.regime(int(t)) for market, frame in zip(markets, self.frames, strict=True) for t in frame.t]
        self.labels: IntArray = np.array([REGIMES.index(label) for label, _ in regimes])
        self.settled = np.array([not passing for _, passing in regimes])

    def field(self, name: str) -> FloatArray:
        """One field of all frames."""
        return np.concatenate([frame.fields[name] for frame in self.frames])


@pytest.fixture(scope="module")
def sample() -> Sample:
    """Generate once; about two seconds."""
    return Sample()


@pytest.mark.parametrize("regime", range(4))
def test_each_regime_has_its_stated_volatility(sample: Sample, regime: int) -> None:
    moves = sample.moves[(sample.labels == regime) & sample.settled] / BETA

    realised = np.sqrt((moves**2).mean(axis=0) * 288).mean()

    assert realised == pytest.approx(SIGMA_DAY[regime], rel=0.06)


def test_risk_on_drifts_up_and_risk_off_down(sample: Sample) -> None:
    drift = [(sample.moves[(sample.labels == regime) & sample.settled] / BETA).mean() * 288 for regime in range(4)]

    assert drift == pytest.approx(DRIFT_DAY, abs=0.012)


def test_hourly_returns_without_the_stated_drift_do_not_predict_the_next(sample: Sample) -> None:
    residual = sample.moves - DRIFT_DAY[sample.labels][:, None] / 288 * BETA
    hourly = residual.reshape(-1, 12, residual.shape[1]).sum(axis=1)

    lagged = [np.corrcoef(column[:-1], column[1:])[0, 1] for column in hourly.T]

    assert abs(float(np.mean(lagged))) < 0.03


def test_what_the_block_has_done_so_far_does_not_tell_the_next_hour(sample: Sample) -> None:
    """The path is bent to meet a known level: the bend must not show."""
    residual = sample.moves - DRIFT_DAY[sample.labels][:, None] / 288 * BETA
    hourly = residual.reshape(len(SEEDS) * BLOCKS, -1, 12, residual.shape[1]).sum(axis=2)
    so_far = np.cumsum(hourly, axis=1)[:, :-1]

    correlation = np.corrcoef(so_far.ravel(), hourly[:, 1:].ravel())[0, 1]

    assert abs(float(correlation)) < 0.01  # a bend to a fixed level would show as -0.017 on these seeds


def test_variance_grows_with_the_horizon_and_does_not_shrink(sample: Sample) -> None:
    residual = sample.moves - DRIFT_DAY[sample.labels][:, None] / 288 * BETA
    day = residual.reshape(-1, 288, residual.shape[1]).sum(axis=1)

    ratio = (day**2).mean() / ((residual**2).mean() * 288)

    assert ratio == pytest.approx(1.0, abs=0.15)


def test_tails_are_fat_and_volatility_comes_in_clusters(sample: Sample) -> None:
    calm = sample.moves[(sample.labels == 2) & sample.settled]
    hourly = np.log((sample.moves**2).mean(axis=1).reshape(-1, 12).mean(axis=1))

    kurtosis = ((calm / calm.std(axis=0)) ** 4).mean()

    assert kurtosis > 6
    assert np.corrcoef(hourly[:-1], hourly[1:])[0, 1] > 0.5


def test_assets_move_together_most_in_risk_off(sample: Sample) -> None:
    together = [
        np.corrcoef(sample.moves[(sample.labels == regime) & sample.settled].T)[np.triu_indices(7, 1)].mean()
        for regime in range(4)
    ]

    assert 0.35 < min(together) < max(together) < 0.85
    assert int(np.argmax(together)) == 1


def test_highs_and_lows_reach_as_far_as_a_continuous_path(sample: Sample) -> None:
    reach = np.log(sample.field("high") / sample.field("low")) ** 2 / (4 * np.log(2))

    assert reach.mean() / (sample.moves**2).mean() == pytest.approx(1.0, abs=0.1)


def test_liquidations_come_on_the_losing_side_of_big_moves(sample: Sample) -> None:
    moves, longs, shorts = sample.moves[:, 0], sample.field("liq_long_usd")[:, 0], sample.field("liq_short_usd")[:, 0]
    fell, rose = moves < np.quantile(moves, 0.001), moves > np.quantile(moves, 0.999)

    assert longs[fell].mean() > 50 * longs.mean() / 5
    assert longs[fell].mean() > 20 * shorts[fell].mean()
    assert shorts[rose].mean() > 20 * longs[rose].mean()


def test_prices_stay_plausible_for_years() -> None:
    market = SimulatedMarket(101)
    blocks = range(FIRST_BLOCK, FIRST_BLOCK + 100, 8)

    away = np.array([market.log_mids(block * BLOCK_BARS * BAR_MS + BAR_MS) - LOG_PRICE for block in blocks])

    assert np.abs(away).max() < 2.5
    assert abs(float(away.mean())) < 0.6


def test_the_bar_before_does_not_know_the_regime_after_it() -> None:
    """Cutting the future off changes no weight: the mix of a bar uses switches up to it alone."""
    drawn = schedule(3, FIRST_BLOCK)

    mix = regime_mix(3, FIRST_BLOCK)

    for before, start in zip(drawn.labels[:-1], drawn.starts[1:], strict=True):
        last_bar = (start - 1) // 5
        assert mix[last_bar - 1, before] == pytest.approx(1.0)
    np.testing.assert_allclose(mix.sum(axis=1), 1.0)


@pytest.mark.parametrize("minute", np.random.default_rng(5).integers(29_000_000, 31_000_000, 12).tolist())
def test_whenever_a_market_is_begun_it_has_been_quiet_and_stays_so_for_a_while(minute: int) -> None:
    market = SimulatedMarket(quiet_seed(minute))

    ruling = {market.regime((minute + hours * 60) * 60_000)[0] for hours in range(-18, 4)}

    assert ruling == {RegimeLabel.RANGE}
