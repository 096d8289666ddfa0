"""The assets that the service reads, in the order every body lists them."""

from typing import Final

ASSETS: Final[tuple[str, ...]] = ("BTC", "ETH", "XRP", "SOL", "ALGO", "XLM", "HBAR")
DEFAULT_ASSET: Final = "BTC"

ASSET_NAMES: Final[dict[str, str]] = {
    "BTC": "Bitcoin",
    "ETH": "Ether",
    "XRP": "XRP",
    "SOL": "Solana",
    "ALGO": "Algorand",
    "XLM": "Stellar Lumens",
    "HBAR": "Hedera",
}
