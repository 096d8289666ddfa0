"""The twelve ideas that lessons teach: a line about the round at hand, a question with its answer, a chapter of Learn.

Every placeholder is a fact of the round; `generator.arena.concepts` decides which idea fits and fills them in.
"""

from typing import Final, NamedTuple

from generator.catalog.links import chapter_path
from generator.catalog.words import Concept


class ConceptText(NamedTuple):
    """One idea in words."""

    name: str
    chapter: str  # its name below /learn/
    point: str  # what the round shows of it
    question: str
    answer: str


CONCEPTS: Final[dict[Concept, ConceptText]] = {
    Concept.BASE_RATE: ConceptText(
        "Base rate",
        "base-rates",
        "Begin with how often things happen: {usual_outcome} was the most frequent outcome of such rounds, "
        "{usual_chance} in 100.",
        "Someone names {usual_outcome} in every round. How often are they right?",
        "About {usual_chance} times in 100, without knowing anything about the round. A forecaster has to beat "
        "that, not one in three.",
    ),
    Concept.BAND_WIDTH: ConceptText(
        "Width of the band",
        "base-rates",
        "The price ended {edge}% from the edge of the band: with a slightly different band the outcome would "
        "have another name.",
        "The band here was \N{PLUS-MINUS SIGN}{band}%. What would happen to the chance of a small move with a "
        "band twice as wide?",
        "It would rise, and nothing about the market would have changed. A chance means nothing without the "
        "band it belongs to.",
    ),
    Concept.FAT_TAILS: ConceptText(
        "Fat tails",
        "fat-tails",
        "A normal curve with the same usual hour expects {by_normal} of the {hours} hours on record before it to "
        "move as far; {as_large} did.",
        "Why is so large an hour no proof that something is broken?",
        "Because returns are not normal. Quiet hours and wild hours are mixed, so extremes are far more frequent "
        "than the bell curve says.",
    ),
    Concept.CLUSTERING: ConceptText(
        "Clustering of volatility",
        "volatility",
        "The last round known at sealing had left its band too. Moves tend to follow moves, in either direction.",
        "After a large move, is the direction of the next one easier to guess, or its size?",
        "Its size. Volatility persists for hours; direction hardly does.",
    ),
    Concept.LUCK: ConceptText(
        "Luck",
        "luck",
        "The outcome was the likeliest of three, but only by {lead} in 100: close to a coin toss that went well.",
        "A forecaster with a lead of {lead} in 100 is right three times in a row. What have you learned?",
        "Almost nothing. Chance gives that now and then, and to one of many forecasters nearly always; it "
        "takes thousands of rounds to see so small an edge.",
    ),
    Concept.CROWD_BIAS: ConceptText(
        "Bias of crowds",
        "base-rates",
        "{crowd_votes} of {all_votes} votes were for {crowd_outcome}, whose base rate is {crowd_base} in 100.",
        "How would you correct such a vote for {crowd_outcome}?",
        "Pull it towards the base rate of {crowd_base}. How far is a question for the crowd's record, not for "
        "its conviction.",
    ),
    Concept.CALIBRATION: ConceptText(
        "Calibration",
        "calibration",
        "The outcome had been given {given} in 100. Of 100 outcomes with such a chance about {given} should happen.",
        "Can one round show whether a chance of {given} in 100 was honest?",
        "No. Many rounds with that chance can: if far more than {given} in 100 of them end so, it was too low; if far "
        "fewer, too high.",
    ),
    Concept.ONE_ROUND: ConceptText(
        "Noise of one round",
        "luck",
        "One round cannot tell a good forecast from a bad one: its noise is far larger than any edge.",
        "How many rounds does it take to see an edge of two points in 100?",
        "Thousands. With 100 rounds the share that is right may be off by ten points by chance alone.",
    ),
    Concept.CORRELATION: ConceptText(
        "Correlation",
        "correlation",
        "{together} of {others} other assets moved the same way meanwhile: it did not move alone.",
        "If {together} of {others} other assets move the same way, how many independent observations are that?",
        "Closer to one than to {others}. What moves together must be counted together, or every record looks "
        "surer than it is.",
    ),
    Concept.REVERSION: ConceptText(
        "Mean reversion of volatility",
        "volatility",
        "After a round that left its band, this one stayed inside. Over days, volatility returns towards its mean.",
        "Volatility is twice its usual level. What is the better guess for tomorrow: twice, or nearer to usual?",
        "Nearer to usual. Volatility persists for hours and returns to its mean over days.",
    ),
    Concept.WEEKEND: ConceptText(
        "Weekends",
        "volatility",
        "It was a weekend hour. Crypto trades on, but with fewer traders, and hours are usually quieter.",
        "Why compare a Saturday hour with other weekend hours?",
        "Because volatility follows the working week. Against the whole week, a normal Saturday looks unusually calm.",
    ),
    Concept.NO_CALL: ConceptText(
        "No call",
        "silence",
        "The forecast named no outcome, so there is nothing to be right or wrong about.",
        "When should a forecaster refuse to name an outcome?",
        "When none is likely enough, or when the record has not shown that naming one helps. The chances still "
        "say what is known, and they can still be scored.",
    ),
}


def chapter_of(concept: Concept) -> str:
    """Return the path of the chapter that says more about an idea."""
    return chapter_path(CONCEPTS[concept].chapter)
