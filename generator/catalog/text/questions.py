"""Questions that people ask, with their answers, as the pages show them."""

from typing import Final

Question = tuple[str, str]

LEARN_QUESTIONS: Final[tuple[Question, ...]] = (
    (
        "Does a regime tell me what comes next?",
        (
            "No. It puts the market of now into a word. In our measurements the returns after each label did not differ, so "
            "no label predicts a gain."
        ),
    ),
    (
        "Why is the lean nearly always FLAT?",
        (
            "Because that is the honest answer. Over one hour, up, down and about the same come up about equally often, and "
            "what is known beforehand moves these chances by very little. A lean is named only when one of them stands out."
        ),
    ),
    (
        "What is a good confidence?",
        (
            "One that means what it says. If things said with 40 out of 100 come true 40 times in 100, the confidence is good, "
            "even though it is low. The track record checks this."
        ),
    ),
    (
        "Does high funding mean that the price will fall?",
        "No. It shows which side pays to hold its bets, so which side is crowded. Crowded markets can stay crowded for weeks.",
    ),
    (
        "Why do you show your misses?",
        (
            "A record without its misses says nothing. Each forecast is stored before its time begins and is counted whatever "
            "comes of it."
        ),
    ),
)

PRICING_QUESTIONS: Final[tuple[Question, ...]] = (
    (
        "Do I need an account?",
        (
            "No. Free answers need nothing at all. A paid answer is bought with the request itself; there is no account, no "
            "subscription and no key."
        ),
    ),
    (
        "What happens if the answer gets lost on its way?",
        "Send the same signed payment again. You get the same bytes, and no money moves a second time.",
    ),
    (
        "Can I be charged more than the price shown?",
        (
            "No. Your wallet signs one exact amount to one payee. Neither can be changed afterwards, and the service never "
            "sees your key."
        ),
    ),
    (
        "What do I get for the money?",
        (
            "More detail of the same reading: each asset's own regime, three chances instead of one word, evidence, scenarios. "
            "Not advice, and no promise that any of it comes true."
        ),
    ),
    (
        "Who sees what I bought?",
        "A payment is a public transaction on Algorand, like any other. The answer itself names no buyer.",
    ),
)
