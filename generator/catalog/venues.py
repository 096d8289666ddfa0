"""The venues that the live source can ask, by the names that a setting takes; one name may stand for two markets."""

from typing import Final

VENUES: Final[tuple[str, ...]] = ("kraken", "coinbase", "okx", "binance", "bybit", "gate")
