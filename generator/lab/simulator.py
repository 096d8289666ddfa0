"""Simulated markets with known regimes: a pure function of (family, seed).

The families base, hard, wild, second and null teach and are scored on other seeds; broad and still (broad without
drift) only teach; alt never teaches and is only scored. In second each spell of a regime draws its own drift and level.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame, FloatArray

DAY: Final = 288
START_MS: Final = 1_700_006_400_000  # a UTC midnight
NAMES: Final = ("A", "B", "C", "D", "E", "F", "G")
DRIFTLESS: Final = ("null", "still")
RANGE: Final = 2
_UNEVEN: Final = (0.6, 0.3, 0.1)
FAMILIES: Final = ("base", "hard", "wild", "alt", "second", "null")

Four = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Parameters:
    """One market. Four-tuples run over risk_on, risk_off, range, high_volatility."""

    volatility: Four = (0.020, 0.032, 0.013, 0.048)  # daily sigma of log returns, as a fraction
    drift: Four = (0.040, -0.060, 0.0, 0.0)  # daily drift of log returns, as a fraction
    dwell_hours: float = 16.0  # mean time in one regime
    dwell_shape: float = 3.0  # gamma shape; 1 is the geometric case
    fast_sd: float = 0.20  # standard deviation of the faster log-volatility scale
    slow_sd: float = 0.15  # and of the slower
    tail: float = 4.0  # degrees of freedom of Student noise; 0 means Laplace
    jumps: Four = (0.5, 1.5, 0.3, 2.0)  # common jumps a day
    correlation: Four = (0.60, 0.75, 0.50, 0.70)  # between assets
    momentum: float = 0.0  # first-order autocorrelation of the common return
    smooth: bool = True  # transitions of 30 to 90 minutes instead of abrupt ones
    egarch: bool = False  # one log-volatility scale driven by lopsided shocks of its own, instead of two log-OU scales
    season: float = 0.15  # size of the daily season of log volatility
    week_sd: float = 0.0  # standard deviation of a third log-volatility scale, with a half-life of four days
    bounce: float = 0.0  # how much of each asset's own noise is undone by the next bar, as between bid and ask, 0..1
    spell_sd: float = 0.0  # of each spell's log level around its regime's; its drift is drawn from 0.2 to 1.5 of it
    own_sd: float = 0.0  # standard deviation of each asset's own log volatility
    revert_hours: float = 0.0  # half-life in which a range returns to where it began, 0 for a range that wanders
    uneven: bool = False  # each regime is followed by the three others with chances of 0.6, 0.3 and 0.1


def parameters(family: str, rng: np.random.Generator) -> Parameters:
    """Return one market of a family; `wild`, `broad` and `still` draw their own from `rng`."""
    driftless = Parameters(
        volatility=(0.026,) * 4,
        drift=(0.0,) * 4,
        fast_sd=0.25,
        slow_sd=0.3,
        correlation=(0.65,) * 4,
    )
    fixed = {
        "base": Parameters(),
        "hard": Parameters(drift=(0.020, -0.030, 0.0, 0.0), fast_sd=0.32, slow_sd=0.25),
        "alt": Parameters(dwell_shape=1.0, tail=0.0, momentum=0.06, smooth=False, egarch=True),
        "second": Parameters(
            dwell_hours=12.0,
            dwell_shape=2.0,
            momentum=0.05,
            egarch=True,
            spell_sd=0.25,
            own_sd=0.3,
            revert_hours=4.0,
            uneven=True,
        ),
        "null": driftless,
    }
    if family in fixed:
        return fixed[family]

    if family == "wild":
        return _wild(rng)
    broad = _broad(rng)
    if family in DRIFTLESS:
        return replace(broad, drift=(0.0,) * 4)
    return broad


def _wild(rng: np.random.Generator) -> Parameters:
    """Draw a market around the base with its own levels, tails and rhythm."""
    base = Parameters()
    level = rng.uniform(0.6, 1.8)
    spread = np.exp(rng.normal(0.0, 0.12, 4))
    push = rng.uniform(0.5, 1.4)
    return replace(
        base,
        volatility=_four(level * spread * np.array(base.volatility)),
        drift=_four(level * push * np.array(base.drift)),
        dwell_hours=float(rng.uniform(9.0, 28.0)),
        dwell_shape=float(rng.uniform(1.0, 5.0)),
        fast_sd=float(rng.uniform(0.1, 0.4)),
        slow_sd=float(rng.uniform(0.05, 0.3)),
        tail=float(rng.choice([0.0, 3.0, 4.0, 6.0, 12.0])),
        jumps=_four(rng.uniform(0.0, 2.0) * np.array(base.jumps)),
        correlation=_four(np.clip(rng.uniform(0.35, 0.75) + rng.normal(0.0, 0.08, 4), 0.1, 0.92)),
        momentum=float(rng.uniform(-0.08, 0.08)),
        smooth=bool(rng.integers(2)),
        egarch=bool(rng.integers(2)),
    )


def _broad(rng: np.random.Generator) -> Parameters:
    """Draw a market that may lack what the base always has: correlation that differs by regime, calm weeks, a drift.

    Real markets have a stronger daily season, volatility that wanders for days, and a bounce between bid and ask.
    """
    base = Parameters()
    level = rng.uniform(0.5, 2.0)
    logs = np.log(base.volatility)
    width = rng.uniform(0.4, 1.1)  # how far the regimes' volatilities are apart
    apart = logs.mean() + width * (logs - logs.mean()) + rng.normal(0.0, 0.12, 4)
    share = rng.uniform(0.0, 1.0)  # how far correlation differs between regimes
    middle = rng.uniform(0.3, 0.85)
    together = middle + share * (np.array(base.correlation) - 0.64) + rng.normal(0.0, 0.04, 4)
    return replace(
        base,
        volatility=_four(level * np.exp(apart)),
        drift=_four(level * rng.uniform(0.3, 1.5, 4) * np.array(base.drift)),
        dwell_hours=float(rng.uniform(8.0, 36.0)),
        dwell_shape=float(rng.uniform(1.0, 6.0)),
        fast_sd=float(rng.uniform(0.1, 0.45)),
        slow_sd=float(rng.uniform(0.05, 0.35)),
        tail=float(rng.choice([0.0, 3.0, 4.0, 6.0, 12.0])),
        jumps=_four(rng.uniform(0.0, 3.0, 4) * np.array(base.jumps)),
        correlation=_four(np.clip(together, 0.1, 0.93)),
        momentum=float(rng.uniform(-0.1, 0.1)),
        smooth=bool(rng.integers(2)),
        egarch=bool(rng.integers(2)),
        season=float(rng.uniform(0.0, 0.5)),
        week_sd=float(rng.uniform(0.0, 0.4)),
        bounce=float(rng.uniform(0.0, 0.3)),
    )


def _four(values: np.ndarray) -> Four:
    a, b, c, d = (float(v) for v in values)
    return a, b, c, d


@dataclass(frozen=True, slots=True)
class LabelledMarket:
    """Bars with the truth behind them."""

    frame: BarFrame  # the bars
    regime: npt.NDArray[np.int64]  # true regime index of each bar: risk_on, risk_off, range, high_volatility
    moving: npt.NDArray[np.bool_]  # True inside a transition window, which is not scored


def simulate(family: str, seed: int, days: int = 60) -> LabelledMarket:
    """Make one market of as many assets as the service reads with 5-minute bars."""
    rng = np.random.default_rng([seed, len(family), ord(family[0])])
    market = parameters(family, rng)
    bars = days * DAY

    # Level and drift of each bar, by its regime.
    regime, blend, moving = _regimes(market, bars, rng)
    log_sigma = blend @ np.log(np.array(market.volatility)) + _volatility_noise(market, bars, rng)
    push = blend @ np.array(market.drift)
    if market.spell_sd:
        spell = np.cumsum(np.diff(regime, prepend=regime[0]) != 0)
        log_sigma = log_sigma + rng.normal(0.0, market.spell_sd, spell[-1] + 1)[spell]
        push = push * rng.uniform(0.2, 1.5, spell[-1] + 1)[spell]

    returns, sigma = _returns(market, blend, log_sigma, push, rng, martingale=family in DRIFTLESS)
    if market.revert_hours:
        returns = _reverted(returns, regime == RANGE, 12.0 * market.revert_hours)
    return LabelledMarket(frame=_frame(returns, sigma, rng), regime=regime, moving=moving)


def _regimes(
    market: Parameters, bars: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], FloatArray, npt.NDArray[np.bool_]]:
    """Draw the semi-Markov path, its smooth blend (bars, 4) and the transition windows."""
    regime = np.empty(bars, dtype=np.int64)
    moving = np.zeros(bars, dtype=bool)
    blend = np.zeros((bars, 4))
    at = 0
    now = int(rng.integers(4))
    before = -1
    while at < bars:
        hours = rng.gamma(market.dwell_shape, market.dwell_hours / market.dwell_shape)
        end = min(bars, at + max(6, round(hours * 12)))
        regime[at:end] = now
        blend[at:end, now] = 1.0

        if before >= 0:
            width = min(end - at, int(rng.integers(6, 19)) if market.smooth else 3)
            moving[at : at + width] = True
            if market.smooth:
                share = (np.arange(width) + 1.0) / (width + 1.0)
                blend[at : at + width, now] = share
                blend[at : at + width, before] = 1.0 - share

        step = rng.choice(3, p=_UNEVEN) + 1 if market.uneven else rng.integers(1, 4)
        before = now
        now = int((now + step) % 4)
        at = end
    return regime, blend, moving


def _ou(bars: int, half_life: float, sd: float, rng: np.random.Generator) -> FloatArray:
    """Draw an Ornstein-Uhlenbeck path of standard deviation `sd` that forgets half in `half_life` bars, (bars,)."""
    phi = 0.5 ** (1.0 / half_life)
    shocks = rng.normal(0.0, sd * np.sqrt(1.0 - phi * phi), bars)

    path = np.empty(bars)
    value = rng.normal(0.0, sd)
    for i, shock in enumerate(shocks):
        value = phi * value + shock
        path[i] = value
    return path


def _volatility_noise(market: Parameters, bars: int, rng: np.random.Generator) -> FloatArray:
    """Return the log-volatility around its regime level, with a daily season, (bars,)."""
    phase = rng.uniform(0.0, 6.3)
    noise = market.season * np.sin(2.0 * np.pi * np.arange(bars) / DAY + phase)
    if market.week_sd:
        noise = noise + _ou(bars, 4.0 * DAY, market.week_sd, rng)
    if market.egarch:
        return noise + _egarch(bars, rng, sd=float(np.hypot(market.fast_sd, market.slow_sd)))
    return noise + _ou(bars, 18.0, market.fast_sd, rng) + _ou(bars, 400.0, market.slow_sd, rng)


def _egarch(bars: int, rng: np.random.Generator, sd: float) -> FloatArray:
    """Draw log-volatility that rises more after falls (Nelson 1991), on its own shocks."""
    phi = 0.5 ** (1.0 / 60.0)
    shock = rng.laplace(0.0, np.sqrt(0.5), bars)
    drive = (np.abs(shock) - np.sqrt(0.5)) - 0.4 * shock

    path = np.empty(bars)
    value = 0.0
    for i in range(bars):
        path[i] = value
        value = phi * value + drive[i]
    out: FloatArray = path * (sd / max(path.std(), 1e-9))
    return out


def _noise(market: Parameters, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw unit-variance noise with the market's tails."""
    if market.tail == 0.0:
        return rng.laplace(0.0, np.sqrt(0.5), shape)
    out: FloatArray = rng.standard_t(market.tail, shape) * np.sqrt((market.tail - 2.0) / market.tail)
    return out


def _returns(
    market: Parameters,
    blend: FloatArray,
    log_sigma: FloatArray,
    push: FloatArray,
    rng: np.random.Generator,
    *,
    martingale: bool,
) -> tuple[FloatArray, FloatArray]:
    """Draw log returns and per-bar sigma, both (bars, assets); `push` is the daily drift."""
    bars = len(log_sigma)
    assets = len(NAMES)
    scale = np.exp(rng.normal(0.0, 0.2, assets))
    sigma = np.exp(log_sigma)[:, None] * scale / np.sqrt(DAY)
    if market.own_sd:
        sigma = sigma * np.exp(np.stack([_ou(bars, 144.0, market.own_sd, rng) for _ in NAMES], axis=1))

    # What all assets share, jumps included.
    common = _noise(market, (bars,), rng)
    if market.momentum:
        common[1:] += market.momentum * common[:-1]
    hit = rng.random(bars) < (blend @ np.array(market.jumps)) / DAY
    common += hit * rng.normal(0.0, 5.0, bars)

    # What each has alone.
    own = _noise(market, (bars, assets), rng)
    if market.bounce:
        own[1:] -= market.bounce * own[:-1]

    rho = (blend @ np.array(market.correlation))[:, None]
    noise = np.sqrt(rho) * common[:, None] + np.sqrt(1.0 - rho) * own
    drift = push[:, None] * scale / DAY
    if martingale:
        drift = drift - 0.5 * sigma**2  # so that the price, not its log, has no drift
    return drift + sigma * noise, sigma


def _reverted(returns: FloatArray, still: npt.NDArray[np.bool_], half_life: float) -> FloatArray:
    """Pull every range back to where it began, in half-lives of `half_life` bars."""
    pull = 1.0 - 0.5 ** (1.0 / half_life)
    out = returns.copy()
    away = np.zeros(returns.shape[1])
    for i in np.flatnonzero(still):
        away = away * still[i - 1] if i else away
        out[i] -= pull * away
        away = away + out[i]
    return out


def _frame(returns: FloatArray, sigma: FloatArray, rng: np.random.Generator) -> BarFrame:
    """Build OHLCV bars; highs and lows are extremes of a Brownian bridge."""
    shape = returns.shape
    close = np.cumsum(returns, axis=0)
    start = close - returns
    top = np.sqrt(returns**2 - 2.0 * sigma**2 * np.log(rng.random(shape)))
    low = np.sqrt(returns**2 - 2.0 * sigma**2 * np.log(rng.random(shape)))
    liveliness = np.log(sigma / sigma.mean(axis=0))
    volume = np.exp(0.8 * liveliness + rng.normal(0.0, 0.4, shape))

    fields = {name: np.full(shape, np.nan) for name in BAR_FIELDS}
    fields["open"] = 100.0 * np.exp(start)
    fields["close"] = 100.0 * np.exp(close)
    fields["high"] = 100.0 * np.exp(start + (returns + top) / 2.0)
    fields["low"] = 100.0 * np.exp(start + (returns - low) / 2.0)
    fields["volume"] = volume
    t = START_MS + BAR_MS * np.arange(len(returns), dtype=np.int64)
    return BarFrame(NAMES, t, fields)
