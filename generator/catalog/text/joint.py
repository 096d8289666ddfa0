"""Texts of the joint scenarios."""

from typing import Final

HOW_TO_READ: Final = (
    "How the coins may move together: what they did together in each hour of the last two months, laid on today's "
    "expected volatility. Each hour counts twice, as it was and turned upside down: which way prices go is not known. "
    "The portfolio holds an equal part of each coin. Coins fall together, so its range is wider than separate ranges "
    "suggest."
)
NO_RECORD: Final = "No joint scenario has been judged yet."
FEW: Final = "So far {n} of the portfolio's ranges over one hour have been judged, too few for a share."
RECORD: Final = (
    "Of the last 90 days {n} ranges of the portfolio over one hour have been judged: {held_50} of its moves ended in "
    "the 50% range, {held_90} in the 90% range. Had coins been taken for independent, that range would have held "
    "{independent_90}."
)
