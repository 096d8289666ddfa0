"""Why a ballot does not count, and why a product is not sold."""

from enum import StrEnum
from typing import Final

NOT_FOR_SALE: Final = "not_for_sale"
"""The `reason` of a 503 for what lacks its data: it does not end by itself in seconds."""


class Refusal(StrEnum):
    """Why a ballot does not count."""

    TOO_LARGE = "larger than 4096 bytes"
    TOO_LONG = "larger than a ballot's 512 bytes"
    UNREADABLE = "file cannot be read"
    NOT_BASE64 = "not base64"
    NOT_A_TRANSACTION = "not one canonical signed transaction"
    MULTISIG = "multisig ballots are not counted"
    LOGICSIG = "logic signature ballots are not counted"
    REKEYED = "signed by another key than the sender's"
    NOT_A_PAYMENT = "not a payment"
    REKEYS = "would rekey the account"
    CLOSES = "would close the account"
    NOT_ZERO = "amount is not zero"
    OTHER_NETWORK = "signed for another network"
    OTHER_RECEIVER = "not addressed to the arena"
    UNKNOWN_FIELD = "carries a field that a ballot must not have"
    NOTE_FORM = "note is not a ballot's"
    LEASE = "lease is not one of this voter in this round"
    NOT_FREE = "neither free nor on chain"
    CHOICE = "choice is not BULLISH, BEARISH or NEUTRAL"
    CHANCES = "chances are not three whole percents that add up to 100"
    RANGES = "ranges are not a 50% range inside a 90% range"
    WORDS_ALONE = "chances in a round that takes words alone"
    NO_SUCH_ROUND = "no such round takes votes"
    OTHER_ASSET = "round id and asset do not agree"
    CLOSED = "round is closed"
    SEEN_LATE = "confirmed in time, seen after the lock"
    READ_LATE = "arrived in time, read after the lock"
    REPEATED = "already counted"
    BAD_SIGNATURE = "signature is wrong"


class RefusedError(Exception):
    """This ballot does not count."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal
