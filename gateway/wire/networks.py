"""The Algorand networks that the gateway knows: genesis, names on the wire, stablecoin."""

import base64
from dataclasses import dataclass
from typing import Final

USDC_DECIMALS: Final = 6
CAIP2_REFERENCE_LENGTH: Final = 32


@dataclass(frozen=True, slots=True)
class Network:
    """One network."""

    name: str  # what the NETWORK setting calls it
    genesis_id: str  # the network's own name for itself
    genesis_hash: str  # SHA-512/256 of the genesis block, padded base64
    asset_id: int  # the stablecoin's on this network

    @property
    def full(self) -> str:
        """The form with the whole genesis hash, which comes first in every offer."""
        return f"algorand:{self.genesis_hash}"

    @property
    def caip2(self) -> str:
        """The CAIP-2 form: the first 32 characters of the genesis hash."""
        return f"algorand:{self.genesis_hash[:CAIP2_REFERENCE_LENGTH]}"

    @property
    def forms(self) -> tuple[str, str]:
        """Both forms, in the order of the offer."""
        return (self.full, self.caip2)

    @property
    def genesis_hash_bytes(self) -> bytes:
        """The 32 bytes that a transaction carries as `gh`."""
        return base64.b64decode(self.genesis_hash)


MAINNET: Final = Network("mainnet", "mainnet-v1.0", "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=", 31_566_704)
TESTNET: Final = Network("testnet", "testnet-v1.0", "SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=", 10_458_941)
# The hash is SHA-512/256 of the text "emi-devnet-v1": nothing signed for it is valid anywhere else.
DEVNET: Final = Network("devnet", "emi-devnet-v1", "TA6hMJpGMyeuoRsjXWbXw3Wgjcb9IvNqXTEKFE9h2FI=", 31_566_704)
NETWORKS: Final[dict[str, Network]] = {network.name: network for network in (MAINNET, TESTNET, DEVNET)}
IDENTITIES: Final[dict[str, Network]] = {network.name: network for network in (DEVNET, TESTNET)}
"""Which networks a devnet can be: its own, or the test network's ids, lent for official clients."""
