"""The twelve ideas that lessons teach: a line about the round at hand, a question with its answer, a chapter of Learn.

Every placeholder is a fact of the round; `generator.arena.concepts` decides which idea fits and fills them in.
"""

from typing import Final, NamedTuple

from generator.catalog.links import LEARN
from generator.catalog.words import Concept


class ConceptText(NamedTuple):
    """One idea in words."""

    name: str
    chapter: str  # anchor on /learn/
    points: tuple[str, ...]  # what the round shows of it, in forms that take turns
    question: str
    answer: str


CONCEPTS: Final[dict[Concept, ConceptText]] = {
    Concept.BASE_RATE: ConceptText(
        "Base rate",
        "confidence",
        (
            (
                "Begin with how often things happen: {usual_outcome} was the most frequent outcome of such hours, "
                "{usual_chance} in 100."
            ),
            (
                "What would a forecast score that knows only the past? It names {usual_outcome}, and is right in "
                "{usual_chance} of 100 such hours."
            ),
            "The base rate comes before any reading: {usual_outcome} in {usual_chance} of 100 such hours.",
        ),
        "Someone names {usual_outcome} every hour. How often are they right?",
        "About {usual_chance} times in 100, without knowing anything about the hour. A forecaster has to beat that, "
        "not one in three.",
    ),
    Concept.BAND_WIDTH: ConceptText(
        "Width of the band",
        "confidence",
        (
            (
                "The price ended {edge}% from the edge of the band: with a slightly different band the outcome "
                "would have "
                "another name."
            ),
            "Only {edge}% separated this hour from another outcome, so its name says little about the market.",
        ),
        "The band here was \N{PLUS-MINUS SIGN}{band}%. What would happen to the chance of a small move with a band "
        "twice as wide?",
        "It would rise, and nothing about the market would have changed. A chance means nothing without the band it "
        "belongs to.",
    ),
    Concept.FAT_TAILS: ConceptText(
        "Fat tails",
        "confidence",
        (
            (
                "A move of {sigmas} standard deviations or more: {by_normal} by a normal curve, {rarity_share} "
                "hours in 14 months of real prices."
            ),
            (
                "Prices have fat tails: {rarity_share} of hours reach {sigmas} standard deviations, by a normal curve "
                "{by_normal}."
            ),
        ),
        "Why is a move of {sigmas} standard deviations no proof that something is broken?",
        "Because returns are not normal. Quiet hours and wild hours are mixed, so extremes come far more often than "
        "the bell curve says.",
    ),
    Concept.CLUSTERING: ConceptText(
        "Clustering of volatility",
        "regime",
        (
            "The last known round had left its band too: large moves follow large moves, in either direction.",
            "One large move after another: that is volatility clustering, and it says nothing about direction.",
        ),
        "After an hour with a large move, is the next hour's direction easier to guess, or its size?",
        "Its size. Volatility persists for hours; direction hardly does.",
    ),
    Concept.LUCK: ConceptText(
        "Luck",
        "confidence",
        (
            "The outcome was the likeliest of the three by only {lead} in 100: close to a coin toss that went well.",
            "A lead of {lead} in 100 decided which outcome was likeliest; that it also came is mostly luck.",
        ),
        "A forecaster with a lead of {lead} in 100 is right three times in a row. What have you learned?",
        "Almost nothing. Three in a row is common by chance; it takes thousands of rounds to see so small an edge.",
    ),
    Concept.CROWD_BIAS: ConceptText(
        "Bias of crowds",
        "questions",
        (
            (
                "{crowd_share} in 100 votes were for {crowd_outcome}, an outcome that comes in {crowd_base} of "
                "100 such "
                "hours."
            ),
            "The crowd gave {crowd_outcome} {crowd_share} of 100 votes; its base rate is {crowd_base}.",
        ),
        "Crowds lean to the hopeful answer. How would you correct a vote of {crowd_share} in 100 for {crowd_outcome}?",
        "Pull it towards the base rate of {crowd_base}. How far is a question for the crowd's record, not for its "
        "conviction.",
    ),
    Concept.CALIBRATION: ConceptText(
        "Calibration",
        "confidence",
        (
            "What came had been given {came} in 100. If such chances are honest, that happens in {came} of 100 rounds.",
            "An outcome given {came} in 100 should come {came} times in 100: neither more nor less.",
            "A chance of {came} in 100 is only tested by many rounds with that chance, never by one.",
        ),
        "Of 100 outcomes that were given {came} in 100, how many should come true?",
        "About {came}. If many more come, the chances were too low; if many fewer, too high.",
    ),
    Concept.ONE_ROUND: ConceptText(
        "Noise of one round",
        "confidence",
        (
            "One round cannot tell a good forecast from a bad one: its noise is far larger than any edge.",
            (
                "Do not judge by this round: even a perfect forecaster does worse than the base rate in many single "
                "rounds."
            ),
            "The score of one round is nearly all noise. Skill shows in the mean of hundreds.",
        ),
        "How many rounds does it take to see an edge of two points in 100?",
        "Thousands. With 100 rounds the share that comes true may be off by ten points by chance alone.",
    ),
    Concept.CORRELATION: ConceptText(
        "Correlation",
        "regime",
        (
            "{together} of {others} other assets moved the same way in that hour: this was the market, not the coin.",
            "It did not move alone: {together} of {others} other assets went the same way.",
        ),
        "If {together} of {others} other assets move the same way, how many independent observations are that?",
        "Closer to one than to {others}. What moves together must be counted together, or every record looks surer "
        "than it is.",
    ),
    Concept.REVERSION: ConceptText(
        "Mean reversion of volatility",
        "regime",
        (
            "After a round that left its band, this one stayed inside: volatility returns to its mean.",
            "The last known round had been large and this one was small: bursts of volatility fade.",
        ),
        "Volatility is twice its usual level. What is the better guess for tomorrow: twice, or nearer to usual?",
        "Nearer to usual. Volatility persists for hours and returns to its mean over days.",
    ),
    Concept.WEEKEND: ConceptText(
        "Weekends",
        "regime",
        (
            "It was a weekend hour. Crypto trades on, but with fewer traders, and hours are usually quieter.",
            "Saturdays and Sundays have fewer traders, and most of their hours move less than those of the week.",
        ),
        "Why compare a Saturday hour with other weekend hours?",
        "Because volatility follows the working week. Against the whole week, a normal Saturday looks unusually calm.",
    ),
    Concept.NO_CALL: ConceptText(
        "No call",
        "confidence",
        (
            (
                "The forecast named no outcome: the chances were too close, so there is nothing to be right or wrong "
                "about."
            ),
            "Three chances and no call: saying that no outcome stands out is an answer too.",
            "No outcome was called, so no hit and no miss is counted; the chances are scored all the same.",
        ),
        "When should a forecaster refuse to name an outcome?",
        "When no outcome is likely enough to act on. The chances still say what is known, and they can still be "
        "scored.",
    ),
}


def chapter_of(concept: Concept) -> str:
    """Return the path of the chapter that says more about an idea."""
    return f"{LEARN}#{CONCEPTS[concept].chapter}"
