"""Parameters of the simulated market families.

base, hard, wild and null teach and are scored on other seeds; broad and still (broad without drift) only teach; alt
never teaches and is only scored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

TRAINING_FAMILIES: Final = ("base", "hard", "wild", "broad")
DRIFTLESS: Final = ("null", "still")
FAMILIES: Final = ("base", "hard", "wild", "alt", "null")

Four = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Parameters:
    """One market. Four-tuples run over risk_on, risk_off, range, high_volatility.

    Args:
        volatility: daily sigma of log returns, as a fraction.
        drift: daily drift of log returns, as a fraction.
        dwell_hours: mean time in one regime.
        dwell_shape: gamma shape; 1 is the geometric case.
        fast_sd, slow_sd: standard deviations of the two log-volatility scales.
        tail: degrees of freedom of Student noise; 0 means Laplace.
        jumps: common jumps a day.
        correlation: between assets.
        momentum: first-order autocorrelation of the common return.
        smooth: transitions of 30 to 90 minutes instead of abrupt ones.
        egarch: one log-volatility scale driven by lopsided shocks of its own, instead of two log-OU scales.
        season: size of the daily season of log volatility.
        week_sd: standard deviation of a third log-volatility scale, with a half-life of four days.
        bounce: how much of each asset's own noise is undone by the next bar, as between bid and ask, 0..1.
    """

    volatility: Four = (0.020, 0.032, 0.013, 0.048)
    drift: Four = (0.040, -0.060, 0.0, 0.0)
    dwell_hours: float = 16.0
    dwell_shape: float = 3.0
    fast_sd: float = 0.20
    slow_sd: float = 0.15
    tail: float = 4.0
    jumps: Four = (0.5, 1.5, 0.3, 2.0)
    correlation: Four = (0.60, 0.75, 0.50, 0.70)
    momentum: float = 0.0
    smooth: bool = True
    egarch: bool = False
    season: float = 0.15
    week_sd: float = 0.0
    bounce: float = 0.0


def parameters(family: str, rng: np.random.Generator) -> Parameters:
    """Return one market of a family; `wild` draws its own from `rng`.

    Raises:
        ValueError: the family is not known.
    """
    flat = (0.026,) * 4
    fixed = {
        "base": Parameters(),
        "hard": Parameters(drift=(0.020, -0.030, 0.0, 0.0), fast_sd=0.32, slow_sd=0.25),
        "alt": Parameters(dwell_shape=1.0, tail=0.0, momentum=0.06, smooth=False, egarch=True),
        "null": Parameters(volatility=flat, drift=(0.0,) * 4, fast_sd=0.25, slow_sd=0.3, correlation=(0.65,) * 4),
    }
    if family in fixed:
        return fixed[family]
    if family in ("wild", "broad"):
        return _wild(rng) if family == "wild" else _broad(rng)
    if family == "still":
        return replace(_broad(rng), drift=(0.0,) * 4)
    raise ValueError(f"unknown market family {family!r}; one of {', '.join((*FAMILIES, 'broad', 'still'))}")


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
    """Draw a market that may lack what the base always has: correlation that tells regimes apart, calm weeks, a drift.

    Real markets have a stronger daily season, volatility that wanders for days, and a bounce between bid and ask.
    """
    base = Parameters()
    level = rng.uniform(0.5, 2.0)
    logs = np.log(base.volatility)
    apart = logs.mean() + rng.uniform(0.4, 1.1) * (logs - logs.mean()) + rng.normal(0.0, 0.12, 4)
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
    """Return four floats."""
    a, b, c, d = (float(v) for v in values)
    return a, b, c, d
