"""Liquidity and derivatives words against what the simulated market knows of its own books and funding."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from generator.brain.bars import clean
from generator.brain.derivatives import Derivatives
from generator.brain.liquidity import Liquidity
from generator.brain.volatility import Volatility
from generator.catalog.assets import ASSETS
from generator.catalog.words import DerivativesState, LiquidityContext, RegimeLabel
from generator.market.bars import BAR_MS
from generator.market.simulated.market import SimulatedMarket
from generator.market.simulated.params import DEPTH_FACTOR, PREMIUM_8H, REGIMES, SPREAD_FACTOR

DAY = 288
WARM, DAYS = 12, 24
EVERY = 6  # bars between words that are compared
SETTLED = 8 * 12  # bars after a switch until funding, which follows with a half-life of three hours, shows the regime
START = 20_700 * DAY  # a bar number, a midnight


@dataclass(frozen=True)
class Observed:
    """Words of every asset and the regime that made the books and the funding, settled bars only."""

    regime: npt.NDArray[np.int64]
    liquidity: npt.NDArray[np.str_]
    derivatives: npt.NDArray[np.str_]

    def share(self, words: npt.NDArray[np.str_], word: str, regime: RegimeLabel) -> float:
        """Return how often a word is given under a regime."""
        return float((words[self.regime == REGIMES.index(regime)] == word).mean())


def observe(seed: int) -> Observed:
    """Feed one market to the three measures that the words need."""
    market = SimulatedMarket(seed)
    frame = market.bars(START * BAR_MS, (START + DAYS * DAY) * BAR_MS)
    bars, n = clean(frame, ASSETS), len(ASSETS)
    volatility, liquidity, derivatives = Volatility((n,)), Liquidity(n), Derivatives(n)
    returns = np.diff(bars.log_close, axis=0, prepend=np.nan)
    extra, no_gaps = bars.extra, np.ones(len(frame))
    volatility.update(returns, bars.range_variance, extra["volume"], no_gaps)
    depth, spread, imbalance = (extra[name] for name in ("depth_usd", "spread_bps", "imbalance"))
    liquidity.update(depth, spread, imbalance, volatility.levels()[1], no_gaps)
    derivatives.update(frame.t, extra["funding"], extra["open_interest"], no_gaps)
    liquidity.keep()
    derivatives.keep()

    rows, since, before = [], 0, None
    for row, t_ms in enumerate(frame.t.tolist()):
        liquidity.at(row)
        derivatives.at(row)
        regime = market.regime(t_ms)[0]
        since, before = (since + 1, regime) if regime is before else (0, regime)
        if row >= WARM * DAY and since >= SETTLED and row % EVERY == 0:
            words = [one.state.value for one in derivatives.readings()]
            rows.append((REGIMES.index(regime), [one.value for one in liquidity.words()], words))
    regimes, books, futures = (np.array(column) for column in zip(*rows, strict=True))
    return Observed(regimes, books, futures)


@pytest.fixture(scope="module")
def observed() -> Observed:
    return observe(13)


def test_the_simulated_truth_is_what_the_words_are_held_to(observed: Observed) -> None:
    depth = np.log(DEPTH_FACTOR / SPREAD_FACTOR)

    assert REGIMES[int(depth.argmin())] is RegimeLabel.HIGH_VOLATILITY
    assert REGIMES[int(depth.argmax())] is RegimeLabel.RANGE
    assert REGIMES[int(PREMIUM_8H.argmax())] is RegimeLabel.RISK_ON
    assert REGIMES[int(PREMIUM_8H.argmin())] is RegimeLabel.RISK_OFF
    assert set(observed.regime.tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("kind", "word", "regime"),
    [
        ("liquidity", LiquidityContext.THIN, RegimeLabel.HIGH_VOLATILITY),
        ("liquidity", LiquidityContext.DEEP, RegimeLabel.RANGE),
        ("derivatives", DerivativesState.CROWDED_LONGS, RegimeLabel.RISK_ON),
        ("derivatives", DerivativesState.CROWDED_SHORTS, RegimeLabel.RISK_OFF),
    ],
)
def test_a_word_is_said_far_more_often_where_it_is_true(
    observed: Observed, kind: str, word: str, regime: RegimeLabel
) -> None:
    words = getattr(observed, kind)
    elsewhere = [observed.share(words, word, other) for other in REGIMES if other is not regime]

    assert observed.share(words, word, regime) > 0.15 + max(elsewhere)


def test_derivatives_words_are_true_in_four_of_five_settled_bars_of_one_seed(observed: Observed) -> None:
    crowded = {
        REGIMES.index(RegimeLabel.RISK_ON): DerivativesState.CROWDED_LONGS.value,
        REGIMES.index(RegimeLabel.RISK_OFF): DerivativesState.CROWDED_SHORTS.value,
    }
    truth = np.array([crowded.get(regime, "") for regime in observed.regime.tolist()])[:, None]
    said = np.where(np.isin(observed.derivatives, list(crowded.values())), observed.derivatives, "")

    assert (said == truth).mean() >= 0.80


def test_liquidity_words_are_true_in_nine_of_ten_bars_of_books_with_known_states() -> None:
    rng, days, assets, words = np.random.default_rng(9401), 24, 14, np.array(["thin", "normal", "deep"])
    states = np.repeat(rng.choice(3, (days * 2, assets), p=(0.2, 0.6, 0.2)), DAY // 2, axis=0)
    pace, volatility = 0.5 ** (1.0 / 36.0), np.repeat(0.35 * rng.standard_normal((days * 4, assets)), DAY // 4, axis=0)
    found, noise, right = Liquidity(assets), np.zeros(assets), []
    no_gap = np.ones(1)
    for row, state in enumerate(states):
        noise = pace * noise + np.sqrt(1.0 - pace * pace) * rng.standard_normal(assets)
        depth = 1e6 * np.exp(state - 1.0 - 0.7 * volatility[row] + 0.23 * noise)
        found.update(depth[None], np.full((1, assets), 2.0), np.zeros((1, assets)), volatility[None, row], no_gap)
        found.settle()
        if row > 10 * DAY:
            right.append([one.value for one in found.words()] == words[state])

    assert np.mean(right) >= 0.90
