"""The venues that the live source can ask, by the names that a setting takes; one name may stand for two markets."""

from typing import Final

VENUES: Final[tuple[str, ...]] = ("kraken", "coinbase", "okx", "binance", "bybit", "gate")

# The reason of a venue that answers 451, or 403 with a word about countries; `emi doctor` looks for it.
OTHER_REGION: Final = "does not serve this region"
