"""The twelve ideas that lessons teach: a line about the round at hand, a question with its answer, a chapter of Learn.

Every placeholder is a fact of the round; `generator.arena.concepts` decides which idea fits and fills them in. An idea
has three forms that take turns, so that lessons which teach it again do not repeat themselves.
"""

from typing import Final, NamedTuple

from generator.catalog.links import chapter_path
from generator.catalog.words import Concept


class ConceptForm(NamedTuple):
    """One way to put an idea."""

    point: str  # what the round shows of it
    question: str
    answer: str


class ConceptText(NamedTuple):
    """One idea in words."""

    name: str
    chapter: str  # its name below /learn/
    forms: tuple[ConceptForm, ConceptForm, ConceptForm]


CONCEPTS: Final[dict[Concept, ConceptText]] = {
    Concept.BASE_RATE: ConceptText(
        "Base rate",
        "base-rates",
        (
            ConceptForm(
                "Begin with how often things happen: {usual_outcome} was the most frequent outcome of such rounds, "
                "{usual_chance} in 100.",
                "Someone names {usual_outcome} in every round. How often are they right?",
                "About {usual_chance} times in 100, without knowing anything about the round. A forecaster has to beat "
                "that, not one in three.",
            ),
            ConceptForm(
                "What would a forecast score that knows only the past? It names {usual_outcome}, and is right in "
                "{usual_chance} of 100 such rounds.",
                "A forecaster is right in 40 of 100 rounds. Is that good?",
                "It depends on the base rate: naming {usual_outcome} each time is right in {usual_chance}.",
            ),
            ConceptForm(
                "The base rate comes before any reading: {usual_outcome} in {usual_chance} of 100 such rounds.",
                "What should you know before you judge a forecast of {usual_outcome}?",
                "How often that comes anyway: in {usual_chance} of 100 such rounds. Only what goes beyond it is "
                "knowledge.",
            ),
        ),
    ),
    Concept.BAND_WIDTH: ConceptText(
        "Width of the band",
        "base-rates",
        (
            ConceptForm(
                "The price ended {edge}% from the edge of the band: with a slightly different band the outcome would "
                "have another name.",
                "The band here was \N{PLUS-MINUS SIGN}{band}%. What would happen to the chance of a small move with a "
                "band twice as wide?",
                "It would rise, and nothing about the market would have changed. A chance means nothing without the "
                "band it belongs to.",
            ),
            ConceptForm(
                "Only {edge}% separated this round from another outcome, so its name says little about the market.",
                "Two rounds end 0.01% apart, one just inside the band and one just outside. How different were they?",
                "Hardly at all, though they count as different outcomes. Any line drawn through a continuum does that.",
            ),
            ConceptForm(
                "So close to the edge of the band the name of an outcome is nearly arbitrary: {edge}% decided it.",
                "Why is the band fixed when a round opens, and not later?",
                "Because whoever could move it afterwards could choose the outcome. This one was "
                "\N{PLUS-MINUS SIGN}{band}% from the opening on.",
            ),
        ),
    ),
    Concept.FAT_TAILS: ConceptText(
        "Fat tails",
        "fat-tails",
        (
            ConceptForm(
                "A move of {sigmas} standard deviations or more: {by_normal} by a normal curve, {rarity_share} hours "
                "in 14 months of real prices.",
                "Why is a move of {sigmas} standard deviations no proof that something is broken?",
                "Because returns are not normal. Quiet hours and wild hours are mixed, so extremes come far more often "
                "than the bell curve says.",
            ),
            ConceptForm(
                "Prices have fat tails: {rarity_share} hours reach {sigmas} standard deviations, by a normal curve "
                "{by_normal}.",
                "A model with a normal curve calls such an hour all but impossible. What is wrong: the hour or the "
                "curve?",
                "The curve. It takes all hours for equally lively; a mixture of quiet and wild ones has fatter tails.",
            ),
            ConceptForm(
                "Rare by a normal curve ({by_normal}), less rare in real prices ({rarity_share} hours): that is a fat "
                "tail.",
                "What does one such hour do to a mean of squared moves?",
                "It outweighs many quiet ones: squared, it counts as much as about {squared} hours of one standard "
                "deviation.",
            ),
        ),
    ),
    Concept.CLUSTERING: ConceptText(
        "Clustering of volatility",
        "volatility",
        (
            ConceptForm(
                "The last round known at sealing had left its band too: moves tend to follow moves, in either "
                "direction.",
                "After a large move, is the direction of the next one easier to guess, or its size?",
                "Its size. Volatility persists for hours; direction hardly does.",
            ),
            ConceptForm(
                "Another move after a move: such runs are volatility clustering, and they say nothing about direction.",
                "Which simple forecast of the next hour's volatility is hard to beat?",
                "That of the last hours, with most weight on the newest. Because volatility clusters, even that knows "
                "a good deal.",
            ),
            ConceptForm(
                "The last round known at sealing had moved as well: lively rounds come in groups.",
                "If lively hours come in groups, are the 24 hours of a day 24 independent cases?",
                "No: a record has to count what belongs together as one, or it looks surer than it is.",
            ),
        ),
    ),
    Concept.LUCK: ConceptText(
        "Luck",
        "luck",
        (
            ConceptForm(
                "The outcome was the likeliest of three, but only by {lead} in 100: close to a coin toss that went "
                "well.",
                "A forecaster with a lead of {lead} in 100 is right three times in a row. What have you learned?",
                "Almost nothing. Chance gives that now and then, and to one of many forecasters nearly always; it "
                "takes thousands of rounds to see so small an edge.",
            ),
            ConceptForm(
                "A lead of {lead} in 100 decided which outcome was likeliest; that it also came is mostly luck.",
                "Is a forecast good because its likeliest outcome came?",
                "Not by that alone. An outcome given {came} in 100 comes now and then; the forecast is good if such "
                "outcomes come that often.",
            ),
            ConceptForm(
                "The first chance and the second were {lead} in 100 apart: that the first one came proves next to "
                "nothing.",
                "How can luck and skill be kept apart?",
                "By many rounds and a baseline: skill is what remains against the base rate once luck has averaged "
                "out.",
            ),
        ),
    ),
    Concept.CROWD_BIAS: ConceptText(
        "Bias of crowds",
        "base-rates",
        (
            ConceptForm(
                "{crowd_share} in 100 votes were for {crowd_outcome}, an outcome that comes in {crowd_base} of 100 "
                "such rounds.",
                "How would you correct a vote of {crowd_share} in 100 for {crowd_outcome}?",
                "Pull it towards the base rate of {crowd_base}. How far is a question for the crowd's record, not for "
                "its conviction.",
            ),
            ConceptForm(
                "The crowd gave {crowd_outcome} {crowd_share} of 100 votes; its base rate is {crowd_base}.",
                "Does a large majority make an outcome more likely?",
                "Not by itself. It shows what voters say; only their record shows whether that is worth anything.",
            ),
            ConceptForm(
                "Votes and base rate were far apart: {crowd_share} in 100 said {crowd_outcome}, which comes in "
                "{crowd_base} of 100 such rounds.",
                "Why may a thousand votes know no more than ten?",
                "Because voters see the same prices and make the same mistakes. Errors average out only where they are "
                "independent.",
            ),
        ),
    ),
    Concept.CALIBRATION: ConceptText(
        "Calibration",
        "calibration",
        (
            ConceptForm(
                "What came had been given {came} in 100. If such chances are honest, that happens in {came} of 100 "
                "rounds.",
                "Of 100 outcomes that were given {came} in 100, how many should come true?",
                "About {came}. If many more come, the chances were too low; if many fewer, too high.",
            ),
            ConceptForm(
                "An outcome given {came} in 100 should come {came} times in 100: neither more nor less.",
                "What came had {came} chances in 100. Was the forecast bad?",
                "One outcome cannot say. It was bad if outcomes with such a chance come much more or much less often "
                "than that.",
            ),
            ConceptForm(
                "A chance of {came} in 100 is only tested by many rounds with that chance, never by one.",
                "Is a forecaster who always gives the base rates calibrated?",
                "Nearly, and of no use: calibration says that chances are honest, not that they are sharp.",
            ),
        ),
    ),
    Concept.ONE_ROUND: ConceptText(
        "Noise of one round",
        "luck",
        (
            ConceptForm(
                "One round cannot tell a good forecast from a bad one: its noise is far larger than any edge.",
                "How many rounds does it take to see an edge of two points in 100?",
                "Thousands. With 100 rounds the share that comes true may be off by ten points by chance alone.",
            ),
            ConceptForm(
                "Do not judge by this round: even a perfect forecaster does worse than the base rate in many single "
                "rounds.",
                "A forecast scores worse than the base rate in one round. Should it be changed?",
                "Not for one round. Better forecasts lose many of them too; look at the mean of hundreds, with its "
                "interval.",
            ),
            ConceptForm(
                "The score of one round is nearly all noise. Skill shows in the mean of hundreds.",
                "Ten calls in a row came true. How large is the true hit rate?",
                "Anything from about 70 in 100 up, as far as ten cases can say: their 95% interval is that wide.",
            ),
        ),
    ),
    Concept.CORRELATION: ConceptText(
        "Correlation",
        "correlation",
        (
            ConceptForm(
                "{together} of {others} other assets moved the same way meanwhile: this was the market, not the coin.",
                "If {together} of {others} other assets move the same way, how many independent observations are that?",
                "Closer to one than to {others}. What moves together must be counted together, or every record looks "
                "surer than it is.",
            ),
            ConceptForm(
                "It did not move alone: {together} of {others} other assets went the same way.",
                "Would a mean of the {others} other assets have been much calmer in this round?",
                "Hardly: a mean calms only what moves independently.",
            ),
            ConceptForm(
                "The market moved nearly as one, {together} of {others} other assets in the same direction.",
                "Why are forecasts of several assets over the same hour not as many tests?",
                "Because one move of the market decides most of them together. Intervals on this site are widened for "
                "that.",
            ),
        ),
    ),
    Concept.REVERSION: ConceptText(
        "Mean reversion of volatility",
        "volatility",
        (
            ConceptForm(
                "After a round that left its band, this one stayed inside: volatility returns to its mean.",
                "Volatility is twice its usual level. What is the better guess for tomorrow: twice, or nearer to "
                "usual?",
                "Nearer to usual. Volatility persists for hours and returns to its mean over days.",
            ),
            ConceptForm(
                "The last round known at sealing had left its band and this one did not: bursts of volatility fade.",
                "A burst of volatility ends. Is the market as calm as before at once?",
                "No: volatility falls back over hours and days, fastest in the beginning.",
            ),
            ConceptForm(
                "A small move after one beyond the band: what is lively tends back to its usual level.",
                "Why is a very calm week not the new normal either?",
                "Because volatility returns to its mean from below as well.",
            ),
        ),
    ),
    Concept.WEEKEND: ConceptText(
        "Weekends",
        "volatility",
        (
            ConceptForm(
                "It was a weekend hour. Crypto trades on, but with fewer traders, and hours are usually quieter.",
                "Why compare a Saturday hour with other weekend hours?",
                "Because volatility follows the working week. Against the whole week, a normal Saturday looks "
                "unusually calm.",
            ),
            ConceptForm(
                "Saturdays and Sundays have fewer traders, and most of their hours move less than those of the week.",
                "Crypto never closes. Why are weekends different all the same?",
                "Because many who trade it keep office hours, and the markets for shares and bonds are shut.",
            ),
            ConceptForm(
                "This round was at a weekend, when usually less is traded and prices move less.",
                "A model knows the last hours and nothing else. What does it miss on a Friday night?",
                "That the weekend is coming: its usual calm is in the calendar.",
            ),
        ),
    ),
    Concept.NO_CALL: ConceptText(
        "No call",
        "silence",
        (
            ConceptForm(
                "The forecast named no outcome, so there is nothing to be right or wrong about.",
                "When should a forecaster refuse to name an outcome?",
                "When none is likely enough, or when the record has not shown that naming one helps. The chances still "
                "say what is known, and they can still be scored.",
            ),
            ConceptForm(
                "Three chances and no call: to say how likely each outcome is, and to name none, is an answer too.",
                "Does no call mean a forecast of a small move?",
                "No: a small move is one of the three outcomes, called where its chance is about one half or more; "
                "no call claims none of them.",
            ),
            ConceptForm(
                "No outcome was called, so no hit and no miss is counted; the chances are scored all the same.",
                "Can a forecast without a call be a good one?",
                "Yes: its outcomes can come as often as it says. Only a hit rate has nothing to count.",
            ),
        ),
    ),
}


def chapter_of(concept: Concept) -> str:
    """Return the path of the chapter that says more about an idea."""
    return chapter_path(CONCEPTS[concept].chapter)
