"""The words of the chapters of Learn whose exercise is counted from the record."""

from typing import Final, NamedTuple


class ChapterText(NamedTuple):
    """The idea of a chapter; `anchor` is its place on /learn/."""

    anchor: str
    short: str  # in the list of chapters
    title: str
    idea: str


TEXTS: Final = {
    text.anchor: text
    for text in (
        ChapterText(
            "base-rates",
            "Base rates",
            "Before you ask what will happen, ask how often it does",
            "The base rate is how often something came in the past. It is the first forecast of everything, and "
            "hard to beat: most of what a chart seems to say is less than what a plain count says. Start there, "
            "and move away only as far as the evidence carries you.",
        ),
        ChapterText(
            "fat-tails",
            "Fat tails",
            "Large moves are rarer than you feel and commoner than the bell curve says",
            "If moves followed a normal distribution, one hour in 370 would go further than three standard "
            "deviations. Prices have fat tails: calm and wild hours come in clusters, and news comes at once. So "
            "a 90% range is not nearly a 100% range, and what lies outside of it may lie far outside.",
        ),
        ChapterText(
            "correlation",
            "Correlation",
            "Many coins are mostly one bet",
            "Crypto assets rise and fall together. Holding many of them spreads the risk of one project, hardly "
            "the risk of the market. The same is true of evidence: assets that all went up are closer to one "
            "observation than to many, which is why intervals here count hours together.",
        ),
        ChapterText(
            "order-books",
            "Order books",
            "A price holds for a small amount only",
            "The price on a screen is that of the last small trade. An order book lists who would buy or sell how"
            " much at which price; its depth is what lies close to the middle. A large order takes the best "
            "offers first and moves on to worse ones: the difference is called slippage. Books thin out when "
            "markets are wild.",
        ),
        ChapterText(
            "silence",
            "Saying nothing",
            "Sometimes the honest answer is “I cannot tell”",
            "A direction that leads by a hair is a coin with a name on it. The brain names an outcome only where "
            "its chance, or its record, carries it; otherwise it makes no call and gives the chances alone. A "
            "forecaster who always has an opinion is not better informed, only louder.",
        ),
    )
}
