"""Questions that people ask, with their answers, as the pages show them."""

from typing import Final

LEARN_QUESTIONS: Final[dict[str, str]] = {
    "Does a regime tell me what comes next?": (
        "No. It describes the market now. In our measurements the returns after each regime did not differ, so no "
        "regime predicts a gain."
    ),
    "Why is there mostly no call?": (
        "Because that is the honest answer. Over one hour a rise, a fall and a small move are about equally common, "
        "and what is known beforehand changes their chances very little. A call is made only where "
        "one outcome clearly leads; how far and whether a price will move can be said far better."
    ),
    "What is a good confidence?": (
        "One that can be taken at its word. If outcomes given 40 out of 100 happen 40 times in 100, the confidence"
        " is well calibrated, even though it is low. The track record checks this."
    ),
    "Does high funding mean that the price will fall?": (
        "No. It means that longs pay unusually much to keep their positions. Funding can stay high for weeks while "
        "the price rises."
    ),
    "Why do you show your misses?": (
        "A record without misses proves nothing. Each forecast is stored before its hour begins and counted whatever "
        "happens."
    ),
}

PRICING_QUESTIONS: Final[dict[str, str]] = {
    "Do I need an account?": (
        "No. Free answers need nothing at all. A paid answer needs only the payment: no account, no subscription, no "
        "key."
    ),
    "What happens if an answer I paid for is lost on the way?": (
        "Send the same signed payment again. You get the same bytes, and you are not charged twice."
    ),
    "Can I be charged more than the price shown?": (
        "No. Your wallet signs one exact amount to one payee. Neither can be changed afterwards, and the service "
        "never sees your key."
    ),
    "What do I get for the money?": (
        "More detail: how sure the regime of each asset is, the expected size of its moves, and how the next hours may "
        "go. No advice, and no promise of any of it."
    ),
    "Who can see what I bought?": (
        "A payment is a public transaction on Algorand, like any other. The answer itself does not name the buyer."
    ),
}
