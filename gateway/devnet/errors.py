"""Failures of the devnet and of its wallet.

DevnetError            one clear line for the person at the prompt
├── LedgerRefusal      the ledger will not commit this group; words as a node would say them
│   └── Malformed      the bytes are not a transaction at all
└── WalletError        the wallet will not pay this challenge
"""


class DevnetError(Exception):
    """Root of the devnet's failures; its text is one clear line."""


class LedgerRefusal(DevnetError):
    """The ledger will not commit this group."""


class Malformed(LedgerRefusal):
    """The bytes are not a transaction that this ledger can read."""


class WalletError(DevnetError):
    """The wallet will not pay this challenge."""
