"""The venues that the live source can ask, by market kind."""

from __future__ import annotations

from typing import Final

SPOT_VENUES: Final[tuple[str, ...]] = ("kraken", "coinbase", "okx", "binance", "bybit")
PERPETUAL_VENUES: Final[tuple[str, ...]] = ("okx", "binance", "bybit", "gate")
VENUES: Final[tuple[str, ...]] = tuple(dict.fromkeys(SPOT_VENUES + PERPETUAL_VENUES))
