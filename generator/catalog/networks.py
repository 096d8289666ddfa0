"""The payment networks: both written forms, asset and genesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Network:
    """One Algorand network.

    Args:
        name: the setting's word.
        genesis_hash: standard base64, 44 characters.
        asset_id: USDC on it.
    """

    name: str
    genesis_hash: str
    asset_id: int
    genesis_id: str

    @property
    def long_form(self) -> str:
        """The form with the full genesis hash, offered first."""
        return f"algorand:{self.genesis_hash}"

    @property
    def caip2(self) -> str:
        """The CAIP-2 form: the first 32 characters of the genesis hash."""
        return f"algorand:{self.genesis_hash[:32]}"


NETWORKS: Final[dict[str, Network]] = {
    "mainnet": Network("mainnet", "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=", 31_566_704, "mainnet-v1.0"),
    "testnet": Network("testnet", "SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=", 10_458_941, "testnet-v1.0"),
    "devnet": Network("devnet", "TA6hMJpGMyeuoRsjXWbXw3Wgjcb9IvNqXTEKFE9h2FI=", 31_566_704, "emi-devnet-v1"),
}
