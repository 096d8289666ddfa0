"""The Algorand networks a payment or ballot can be on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Network:
    """One ledger: its genesis hash (base64) and its USDC asset id."""

    name: str
    genesis_hash: str
    usdc_asset_id: int

    @property
    def caip2_full(self) -> str:
        """The network id with the whole genesis hash."""
        return f"algorand:{self.genesis_hash}"

    @property
    def caip2(self) -> str:
        """The network id in CAIP-2 length."""
        return f"algorand:{self.genesis_hash[:32]}"


NETWORKS: Final[dict[str, Network]] = {
    network.name: network
    for network in (
        Network("mainnet", "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=", 31566704),
        Network("testnet", "SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=", 10458941),
        Network("devnet", "TA6hMJpGMyeuoRsjXWbXw3Wgjcb9IvNqXTEKFE9h2FI=", 31566704),
    )
}
