"""What a payer can do about a refused payment, read from the words in which a node refuses it.

Facilitators pass on what algod said of the simulated group, and the devnet speaks like algod. These words decide
nothing: whether there is a challenge is decided from the verdict and the chain.
"""

from __future__ import annotations

from typing import Final

REFUSED: Final = "the facilitator refused it"
# A part of algod's words -> what it means; the first that fits. The payee's opt-in is the operator's to do.
_ADVICE: Final = (
    ("receiver error: must optin", "the payee has not opted in to the asset; tell the operator"),
    ("missing from", "the payer has not opted in to the asset: opt in and hold the amount, then sign again"),
    ("underflow on subtracting", "the payer holds less of the asset than the price: top up, then sign again"),
    ("overspend", "the payer holds too little ALGO for the fee: top up, or let the fee payer pay, then sign again"),
    ("txn dead", "it is valid in other rounds than now: sign again"),
    (
        "less than the minimum",
        "the fee of one of its transactions is not paid: leave that one out or pay it, then sign again",
    ),
    ("overlapping lease", "its lease is in use by another transaction: wait for that one's last round"),
)


def advice_on(message: str) -> str:
    """Return what to do about a payment that was refused in these words.

    >>> advice_on("Simulation failed: txn dead: round 9 outside of 1--8")
    'it is valid in other rounds than now: sign again'
    >>> advice_on("")
    'the facilitator refused it'
    """
    return next((advice for words, advice in _ADVICE if words in message), REFUSED)
