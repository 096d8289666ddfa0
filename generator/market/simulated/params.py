"""Constants of the simulated market: regimes, assets, block length.

Daily volatility and drift are the `base` family of the brain study; the rest is chosen to look like the
assets (levels, turnover, books, futures) and to react to the regime the way markets do.
"""

from typing import Final

import numpy as np

from generator.catalog.assets import ASSETS
from generator.catalog.words import RegimeLabel
from generator.market.bars import BARS_A_DAY, FloatArray

BAR_MINUTES: Final = 5
MINUTES_A_DAY: Final = 1440
BLOCK_DAYS: Final = 35  # so that 30 days of history touch two blocks at most
BLOCK_BARS: Final = BLOCK_DAYS * BARS_A_DAY
BLOCK_MINUTES: Final = BLOCK_DAYS * MINUTES_A_DAY

REGIMES: Final[tuple[RegimeLabel, ...]] = (
    RegimeLabel.RISK_ON,
    RegimeLabel.RISK_OFF,
    RegimeLabel.RANGE,
    RegimeLabel.HIGH_VOLATILITY,
)
# One column per regime, in the order of REGIMES.
SIGMA_DAY: Final[FloatArray] = np.array([0.020, 0.032, 0.013, 0.048])
DRIFT_DAY: Final[FloatArray] = np.array([0.040, -0.060, 0.0, 0.0])
CORRELATION: Final[FloatArray] = np.array([0.55, 0.75, 0.50, 0.65])
DEPTH_FACTOR: Final[FloatArray] = np.array([1.10, 0.55, 1.35, 0.35])
SPREAD_FACTOR: Final[FloatArray] = np.array([0.90, 1.70, 0.80, 2.80])
FUNDING_8H: Final[FloatArray] = np.array([0.00030, -0.00012, 0.00009, 0.00004])
OPEN_INTEREST_LOG: Final[FloatArray] = np.array([0.12, -0.10, 0.0, -0.12])

# Chances of the next regime (the current one excluded). They make risk_on half as common again as risk_off,
# so that the two drifts cancel in the long run and prices neither explode nor vanish.
NEXT_WEIGHTS: Final[FloatArray] = np.array([0.33, 0.18, 0.245, 0.245])
DWELL_HOURS: Final = 16.0
DWELL_SHAPE: Final = 3.0
DWELL_MIN_MINUTES: Final = 120
TRANSITION_MINUTES: Final = (30, 90)

JUMPS_A_DAY: Final = 0.4
JUMP_SHARE_COMMON: Final = 0.05  # of the daily variance
JUMP_SHARE_OWN: Final = 0.03

# Log price reverts to its level by this factor a block: a pull of about 0.2% a day at one standard deviation.
LEVEL_MEMORY: Final = 0.8
LEVEL_BLOCKS: Final = 24


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
