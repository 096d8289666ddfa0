"""Failures of the devnet and of its wallet."""


class DevnetError(Exception):
    """Root of the devnet's failures; its text is one clear line for the person at the prompt."""


class LedgerRefusal(DevnetError):
    """The ledger will not commit this group; words as a node would say them."""


class Malformed(LedgerRefusal):
    """The bytes are not a transaction that this ledger can read."""


class WalletError(DevnetError):
    """The wallet will not pay this challenge."""
