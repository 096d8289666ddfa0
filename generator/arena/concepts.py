"""Which of twelve ideas a finished round illustrates: a rule over the facts of the round, and whose turn it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Final, NamedTuple

from generator.arena.scores import ORDER, brier, chance_of
from generator.arena.scoring import NORMAL_50
from generator.arena.tally import consensus_of, share_of
from generator.catalog.durations import DAY_MS
from generator.catalog.text.concepts import CONCEPTS
from generator.catalog.text.lessons import FEWEST_HOURS, OUTCOME, HoursOnRecord
from generator.catalog.words import Call, Concept, Consensus, Prediction
from generator.values.rounds import Round, Triple
from generator.values.votes import Tally

_FAT_SIGMAS: Final = 3.0  # of a normal curve with the usual hour of the record
_FAR_MORE: Final = 3.0  # times what the curve expects, and so many hours at least
_NEAR_EDGE: Final = 0.25  # of the band
_SMALL_LEAD: Final = 0.05
_FEWEST_VOTES: Final = 10
_CROWD_LEAN: Final = 0.15  # by how much a share of the votes exceeds the base rate of what they name
_FEWEST_OTHERS: Final = 4
_TOGETHER: Final = 0.8  # share of the other assets that moved the same way
_MONDAY_OFFSET: Final = 3  # 1970-01-01 was a Thursday


@dataclass(frozen=True, slots=True)
class LessonFacts:
    """What is known of a round once it has ended."""

    round: Round
    votes: Tally  # real ones
    others: tuple[float, ...] = ()  # moves of the other assets over the same hour in basis points, as far as known
    record: HoursOnRecord | None = None  # the asset's hours before the round, where the round is an hour

    @property
    def outcome(self) -> Prediction:
        """What came."""
        if self.round.outcome is None:
            raise ValueError(f"round {self.round.round_id} is not resolved")
        return self.round.outcome

    @property
    def chances(self) -> Triple:
        """The chances at sealing: down, small move, up."""
        if self.round.probabilities is None:
            raise ValueError(f"round {self.round.round_id} has no forecast")
        return self.round.probabilities

    @property
    def base_rate(self) -> Triple:
        """The base rates at sealing; even ones where an old row has none."""
        return self.round.base_rate or (1 / 3, 1 / 3, 1 / 3)

    @property
    def change_bps(self) -> float:
        """The move in basis points."""
        return self.round.change_bps or 0.0

    @property
    def band_bps(self) -> float:
        """Half-width of the neutral band."""
        return self.round.band_bps or 0.0

    @property
    def sigmas(self) -> float:
        """Size of the move in standard deviations of a normal curve with the record's usual hour; 0 without one."""
        if self.record is None or self.record.known < FEWEST_HOURS or not self.record.usual:
            return 0.0
        return NORMAL_50 * abs(self.change_bps) / 100 / self.record.usual

    @property
    def expected(self) -> float:
        """How many hours of the record such a curve expects to move as far."""
        return self.record.known * erfc(self.sigmas / sqrt(2)) if self.record else 0.0

    @property
    def brier(self) -> float:
        """Brier score of the chances, as published."""
        return round(brier(self.chances, self.outcome), 3)

    @property
    def base_brier(self) -> float:
        """Brier score of the base rates."""
        return round(brier(self.base_rate, self.outcome), 3)


def whole_percents(chances: Triple) -> tuple[int, int, int]:
    """Return three chances in whole percent that add to 100: the largest remainders are rounded up.

    >>> whole_percents((0.3333, 0.3333, 0.3334))
    (33, 33, 34)
    """
    exact = [100 * chance for chance in chances]
    down, small, up = (int(percent) for percent in exact)
    whole = [down, small, up]

    by_remainder = sorted(range(3), key=lambda place: whole[place] - exact[place])
    for place in by_remainder[: 100 - sum(whole)]:
        whole[place] += 1
    return whole[0], whole[1], whole[2]


def at_least(value: float, decimals: int) -> str:
    """Write a size that is not nothing, but may round to it.

    >>> at_least(0.034, 1), at_least(4.2, 1), at_least(0, 0)
    ('less than 0.1', '4.2', 'less than 1')
    """
    text = f"{value:.{decimals}f}"
    return f"less than {10**-decimals:.{decimals}f}" if float(text) == 0.0 else text


def likeliest(chances: Triple) -> Prediction:
    """Return the outcome with the largest chance; on a tie the first of down, small move, up."""
    return ORDER[chances.index(max(chances))]


def lead_of(chances: Triple) -> float:
    """Return by how much the likeliest outcome leads the next, 0..1."""
    *_, second, first = sorted(chances)
    return first - second


def together(facts: LessonFacts) -> int:
    """Return how many of the other assets moved the same way."""
    return sum(1 for move in facts.others if move * facts.change_bps > 0)


def _crowd_leans(facts: LessonFacts) -> bool:
    consensus = consensus_of(facts.votes)
    if facts.votes.total < _FEWEST_VOTES or consensus is Consensus.NONE:
        return False
    named = Prediction(consensus)
    return share_of(facts.votes, named) - chance_of(facts.base_rate, named) >= _CROWD_LEAN


def _near_edge(facts: LessonFacts) -> bool:
    distance = abs(abs(facts.change_bps) - facts.band_bps)
    return facts.band_bps > 0 and distance <= _NEAR_EDGE * facts.band_bps


def _is_weekend(facts: LessonFacts) -> bool:
    weekday = (facts.round.start_ms // DAY_MS + _MONDAY_OFFSET) % 7
    return weekday >= 5  # Saturday


def _together(facts: LessonFacts) -> bool:
    return len(facts.others) >= _FEWEST_OTHERS and together(facts) >= _TOGETHER * len(facts.others)


def _lucky(facts: LessonFacts) -> bool:
    return likeliest(facts.chances) is facts.outcome and lead_of(facts.chances) < _SMALL_LEAD


def _stayed_after_move(facts: LessonFacts) -> bool:
    before = facts.round.previous
    return before not in {None, Prediction.NEUTRAL} and facts.outcome is Prediction.NEUTRAL


def _moved_after_move(facts: LessonFacts) -> bool:
    before = facts.round.previous
    return before not in {None, Prediction.NEUTRAL} and facts.outcome is not Prediction.NEUTRAL


def _fat_tail(facts: LessonFacts) -> bool:
    """Whether many more hours on record went as far than a normal curve expects."""
    as_large = facts.record.as_large if facts.record else 0
    return facts.sigmas >= _FAT_SIGMAS and as_large >= _FAR_MORE * max(1.0, facts.expected)


FITS: Final[Mapping[Concept, Callable[[LessonFacts], bool]]] = {
    Concept.FAT_TAILS: _fat_tail,
    Concept.CROWD_BIAS: _crowd_leans,
    Concept.BAND_WIDTH: _near_edge,
    Concept.CORRELATION: _together,
    Concept.LUCK: _lucky,
    Concept.REVERSION: _stayed_after_move,
    Concept.CLUSTERING: _moved_after_move,
    Concept.WEEKEND: _is_weekend,
    Concept.BASE_RATE: lambda facts: likeliest(facts.base_rate) is facts.outcome,
    Concept.NO_CALL: lambda facts: facts.round.call is Call.NONE,
    Concept.CALIBRATION: lambda _facts: True,
    Concept.ONE_ROUND: lambda _facts: True,
}
"""Whether an idea fits the facts; the rarest first, which is taken where several have never had a turn."""


def concept_of(facts: LessonFacts, used: Sequence[Concept]) -> Concept:
    """Return the idea that fits and has waited longest, so that none returns before every other that fits.

    Args:
        used: the ideas of earlier lessons, each once, that of the newest lesson first.
    """
    fitting = [concept for concept, fits in FITS.items() if fits(facts)]
    waiting = [concept for concept in fitting if concept not in used]
    if waiting:
        return waiting[0]
    return max(fitting, key=used.index)


class Explained(NamedTuple):
    """One idea, put with the numbers of a round."""

    concept: Concept
    point: str
    question: str
    answer: str


def explain(concept: Concept, facts: LessonFacts) -> Explained:
    """Put an idea into words with the numbers of a round."""
    text = CONCEPTS[concept]
    values = _values(facts)
    return Explained(
        concept=concept,
        point=text.point.format_map(values),
        question=text.question.format_map(values),
        answer=text.answer.format_map(values),
    )


def _values(facts: LessonFacts) -> dict[str, str]:
    """Return every fact that a text may name, as it is written; what a round does not have is left out."""
    usual = likeliest(facts.base_rate)
    edge = abs(abs(facts.change_bps) - facts.band_bps) / 100
    values = {
        "usual_outcome": OUTCOME[usual],
        "usual_chance": f"{100 * chance_of(facts.base_rate, usual):.0f}",
        "edge": at_least(edge, 2),
        "band": f"{facts.band_bps / 100:.2f}",
        "lead": at_least(100 * lead_of(facts.chances), 1),
        "given": at_least(whole_percents(facts.chances)[ORDER.index(facts.outcome)], 0),
        "together": str(together(facts)),
        "others": str(len(facts.others)),
    }

    if facts.record is not None:
        values["hours"] = f"{facts.record.known:,}"
        values["as_large"] = f"{facts.record.as_large:,}"
        values["by_normal"] = at_least(facts.expected, 0 if facts.expected >= 10 else 1)

    consensus = consensus_of(facts.votes)
    if consensus is not Consensus.NONE:
        named = Prediction(consensus)
        values["crowd_outcome"] = OUTCOME[named]
        values["crowd_votes"] = str(round(share_of(facts.votes, named) * facts.votes.total))
        values["all_votes"] = str(facts.votes.total)
        values["crowd_base"] = f"{100 * chance_of(facts.base_rate, named):.0f}"
    return values
