"""What a finished round shows, in sentences: the move, how large it is on record, the chances, the score, the votes."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from generator.catalog.counts import quantity
from generator.catalog.text import figures
from generator.catalog.text.book import Book, Groups, Sentence, Slot, always, joined, known
from generator.catalog.text.figures import size
from generator.catalog.words import Prediction

OUTCOME: Final = {Prediction.BULLISH: "up", Prediction.NEUTRAL: "a small move", Prediction.BEARISH: "down"}
FEWEST_HOURS: Final = 14 * 24  # on record, from which on an hour is compared with them
_COMMON: Final = 0.75  # of the hours, from which on how many went as far is not worth saying
_HOUR_MINUTES: Final = 60
_STILL: Final = 0.005  # percent, below which a move rounds to nothing


class HoursOnRecord(NamedTuple):
    """The hours of one asset that had ended before some time, against a move."""

    known: int
    as_large: int  # how many moved at least as far, either way
    usual: float  # the median size of their moves, percent


class VoteCounts(NamedTuple):
    """Votes of one kind of voters in a round."""

    up: int = 0
    small: int = 0
    down: int = 0

    @property
    def most(self) -> int:
        """Return the votes of the side with most of them."""
        return max(self)

    @property
    def is_split(self) -> bool:
        """Whether two sides have most of them."""
        return list(self).count(self.most) > 1


class Percents(NamedTuple):
    """The three chances at sealing in whole percent; together 100."""

    up: int
    small: int
    down: int


@dataclass(frozen=True)
class RoundFacts:
    """A finished round, as published."""

    name: str  # of the asset
    minutes: int
    moved: float  # percent
    outcome: Prediction
    chances: Percents
    score: float  # Brier, 0..2
    base_score: float
    band: float | None = None  # half-width, percent
    record: HoursOnRecord | None = None  # of hours before the round; None of other rounds, and of a young record
    votes: VoteCounts = field(default_factory=VoteCounts)
    simulated: VoteCounts = field(default_factory=VoteCounts)
    is_backtest: bool = False

    @property
    def saved(self) -> float:
        """What the chances saved against the base rate, from the published scores."""
        return round(self.base_score - self.score, 3)

    @property
    def is_voted(self) -> bool:
        """Whether anyone voted, simulated voters too."""
        return bool(sum(self.votes) + sum(self.simulated))


def _is_compared(facts: RoundFacts) -> bool:
    record = facts.record
    return record is not None and record.known >= FEWEST_HOURS and record.as_large < _COMMON * record.known


ROUND_GROUPS: Final[Groups[RoundFacts]] = {
    "round_move": (
        Sentence(
            "{name} hardly moved in {span}: a small move.",
            "the move rounds to nothing",
            lambda facts: abs(facts.moved) < _STILL and facts.outcome is Prediction.NEUTRAL,
        ),
        Sentence("{name} {rose} {moved} in {span}: {outcome}.", "no band known", lambda facts: facts.band is None),
        Sentence(
            "{name} {rose} {moved} in {span}, inside the band of {band}: a small move.",
            "inside the band",
            lambda facts: facts.outcome is Prediction.NEUTRAL,
        ),
        Sentence("{name} {rose} {moved} in {span}, beyond the band of {band}: {outcome}.", "beyond it", always),
    ),
    "round_rarity": (
        Sentence(
            "",
            "not an hour, a record of under two weeks, or three quarters of its hours went as far",
            lambda facts: not _is_compared(facts),
        ),
        Sentence(
            "None of the {hours} hours on record before it moved as far.",
            "no hour on record",
            lambda facts: known(facts.record).as_large == 0,
        ),
        Sentence("Of the {hours} hours on record before it, {as_large} moved as far or farther.", "else", always),
    ),
    "round_chances": (
        Sentence(
            "Sealed before it: {up} in 100 for up, {small} for a small move, {down} for down.",
            "always",
            always,
        ),
    ),
    "round_score": (Sentence("Its Brier score is {score}, the base rate's {base}: {verdict}.", "always", always),),
    "verdict": (
        Sentence("better by {saved}", "it saved some", lambda facts: facts.saved > 0),
        Sentence("worse by {saved}", "it lost some", lambda facts: facts.saved < 0),
        Sentence("level", "the same to three decimals", always),
    ),
    "round_votes": (
        Sentence("", "none", lambda facts: not sum(facts.votes)),
        Sentence("The {votes} were split.", "two sides with most", lambda facts: facts.votes.is_split),
        Sentence("{most} of {votes} said {voted}.", "else", always),
    ),
    "round_simulated": (
        Sentence("", "none", lambda facts: not sum(facts.simulated)),
        Sentence("The {simulated} were split.", "two sides with most", lambda facts: facts.simulated.is_split),
        Sentence("{most_simulated} of {simulated} said {voted_simulated}.", "else", always),
    ),
    "round_unvoted": (
        Sentence("", "someone voted", lambda facts: facts.is_voted),
        Sentence("It was a backtest: voting was not possible.", "a backtest", lambda facts: facts.is_backtest),
        Sentence("No one voted.", "else", always),
    ),
}
_SIDES: Final = (Prediction.BULLISH, Prediction.NEUTRAL, Prediction.BEARISH)


def _side_of(votes: VoteCounts) -> str:
    return OUTCOME[_SIDES[votes.index(votes.most)]]


def _moved(percent: float) -> str:
    """Write a move as a round counts it, with two decimals below ten percent."""
    return figures.percent(abs(percent), 2) if abs(percent) < 9.995 else size(percent)


ROUND_SLOTS: Final[dict[str, Slot[RoundFacts]]] = {
    "name": lambda facts: facts.name,
    "span": lambda facts: "the hour" if facts.minutes == _HOUR_MINUTES else f"{facts.minutes} minutes",
    "rose": lambda facts: "rose" if facts.moved > 0 else "fell",
    "moved": lambda facts: _moved(facts.moved),
    "band": lambda facts: figures.percent(known(facts.band), 2),
    "outcome": lambda facts: OUTCOME[facts.outcome],
    "hours": lambda facts: f"{known(facts.record).known:,}",
    "as_large": lambda facts: f"{known(facts.record).as_large:,}",
    "up": lambda facts: f"{facts.chances.up}",
    "small": lambda facts: f"{facts.chances.small}",
    "down": lambda facts: f"{facts.chances.down}",
    "score": lambda facts: f"{facts.score:.3f}",
    "base": lambda facts: f"{facts.base_score:.3f}",
    "saved": lambda facts: f"{abs(facts.saved):.3f}",
    "votes": lambda facts: quantity(sum(facts.votes), "vote"),
    "most": lambda facts: f"{facts.votes.most}",
    "voted": lambda facts: _side_of(facts.votes),
    "simulated": lambda facts: quantity(sum(facts.simulated), "simulated vote"),
    "most_simulated": lambda facts: f"{facts.simulated.most}",
    "voted_simulated": lambda facts: _side_of(facts.simulated),
}
ROUND: Final[Book[RoundFacts]] = Book(ROUND_GROUPS, ROUND_SLOTS)
PLACES: Final = tuple(name for name in ROUND_GROUPS if name.startswith("round_"))


def lesson_summary(facts: RoundFacts) -> str:
    """Return what a finished round shows: the move first, then how large it is, the chances, the score, the votes."""
    return joined([ROUND.say(place, facts) for place in PLACES])
