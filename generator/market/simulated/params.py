"""Constants of the simulated market: regimes, assets, block length.

No regime has a drift: what a market has done says nothing of where it goes. Volatility, its hours and days, crashes,
books and futures are chosen so that the facts which the chapters of Learn teach hold, as `python -m
tests.default_market` measures them.
"""

from typing import Final

import numpy as np

from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MINUTES
from generator.catalog.words import RegimeLabel
from generator.market.bars import BARS_A_DAY, FloatArray

BAR_MINUTES: Final = 5
BLOCK_DAYS: Final = 35  # so that 30 days of history touch two blocks at most
BLOCK_BARS: Final = BLOCK_DAYS * BARS_A_DAY
BLOCK_MINUTES: Final = BLOCK_DAYS * DAY_MINUTES

REGIMES: Final[tuple[RegimeLabel, ...]] = (
    RegimeLabel.RISK_ON,
    RegimeLabel.RISK_OFF,
    RegimeLabel.RANGE,
    RegimeLabel.HIGH_VOLATILITY,
)
# One column per regime, in the order of REGIMES.
SIGMA_DAY: Final[FloatArray] = np.array([0.022, 0.026, 0.019, 0.030])
CORRELATION: Final[FloatArray] = np.array([0.50, 0.62, 0.46, 0.58])
DEPTH_FACTOR: Final[FloatArray] = np.array([1.00, 0.58, 1.35, 0.38])
SPREAD_FACTOR: Final[FloatArray] = np.array([1.00, 1.70, 0.80, 2.60])
# Futures above their index: what exchanges call the premium, in the unit of a rate per eight hours.
PREMIUM_8H: Final[FloatArray] = np.array([0.00095, -0.00085, 0.00010, 0.00005])
PREMIUM_SD: Final = 0.00018
# A rate is the premium, moved towards 0.01% by at most 0.05%: so it is just that while futures are near their index.
USUAL_FUNDING_8H: Final = 0.0001
FUNDING_BAND_8H: Final = 0.0005
OPEN_INTEREST_LOG: Final[FloatArray] = np.array([0.12, -0.10, 0.0, -0.12])

# Chances of the next regime (the current one excluded).
NEXT_WEIGHTS: Final[FloatArray] = np.array([0.33, 0.18, 0.245, 0.245])
DWELL_HOURS: Final = 16.0
DWELL_SHAPE: Final = 3.0
DWELL_MIN_MINUTES: Final = 120
TRANSITION_MINUTES: Final = (30, 90)

JUMPS_A_DAY: Final = 0.4
JUMP_SHARE_COMMON: Final = 0.02  # of the daily variance
JUMP_SHARE_OWN: Final = 0.015

# Crashes and rallies: of each kind one in a block and at times another, over within half an hour, and rough for a day.
EVENTS_MORE: Final = 0.15
EVENT_LEAST: Final = 0.06  # log move of an asset with a volatility multiple of one
EVENT_MORE: Final = 0.02  # exponential beyond it
EVENT_MOST: Final = 0.16
EVENT_MINUTES: Final = (10, 30)
EVENT_OWN_SD: Final = 0.15  # of each asset's share in it
EVENT_ROUGH: Final = 1.2  # by which volatility is raised at its start
EVENT_ROUGH_HALF_LIFE: Final = 240.0  # minutes

# Volatility by the hour of a UTC day, lowest in Asia's morning and highest when America opens, and on weekends.
_NIGHT: Final = (1.02, 1.00, 0.96, 0.92, 0.88, 0.86, 0.86, 0.90, 0.95, 0.95, 0.94, 0.94)
_DAY: Final = (1.02, 1.18, 1.30, 1.28, 1.18, 1.10, 1.06, 1.04, 1.02, 0.98, 0.97, 1.00)
HOUR_SHAPE: Final[FloatArray] = np.array((*_NIGHT, *_DAY))
WEEKEND_SHAPE: Final = 0.75

# Log price reverts to its level by this factor a block: a pull of about 0.2% a day at one standard deviation.
LEVEL_MEMORY: Final = 0.8
LEVEL_BLOCKS: Final = 24
# Variance of a block's displacement over what its regimes give. The bend adds covariance in proportion to displacement
# over variance less one, which this makes zero in the mean, between large moves (.87) and by their sides (.74).
LEVEL_VARIANCE: Final = 0.80


# Price in USD, volatility multiple, USD traded a day, book depth in USD, spread in basis points, open interest in USD.
ASSET_SHAPES: Final[dict[str, tuple[float, ...]]] = {
    "BTC": (90_000.0, 0.85, 3.0e9, 90e6, 0.6, 22e9),
    "ETH": (3_000.0, 1.00, 1.8e9, 60e6, 0.8, 11e9),
    "XRP": (2.2, 1.00, 7.0e8, 16e6, 1.6, 2.2e9),
    "SOL": (140.0, 1.08, 9.0e8, 24e6, 1.3, 4.0e9),
    "ALGO": (0.18, 1.05, 3.5e7, 1.1e6, 4.5, 7.0e7),
    "XLM": (0.25, 1.00, 6.0e7, 1.8e6, 3.8, 1.4e8),
    "HBAR": (0.14, 1.05, 6.5e7, 1.7e6, 4.0, 1.5e8),
}
_SHAPELESS: Final = [asset for asset in ASSETS if asset not in ASSET_SHAPES]
if _SHAPELESS:
    raise LookupError(f"ASSET_SHAPES lacks the shape of the simulated market of {', '.join(_SHAPELESS)}")
_SHAPES: FloatArray = np.array([ASSET_SHAPES[asset] for asset in ASSETS]).T.copy()
LOG_PRICE: Final[FloatArray] = np.log(_SHAPES[0])
BETA, VOLUME_USD_DAY, DEPTH_USD, SPREAD_BPS, OPEN_INTEREST_USD = _SHAPES[1:]
