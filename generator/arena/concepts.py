"""Which of twelve ideas a finished round illustrates: a rule over the facts of the round, and whose turn it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Final, NamedTuple

from generator.arena.scores import ORDER, brier, chance_of
from generator.arena.tally import consensus_of, share_of
from generator.arena.values import Round, Tally, Triple
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.measured import RARITY
from generator.catalog.text.concepts import CONCEPTS
from generator.catalog.text.lessons import OUTCOME
from generator.catalog.words import Call, Concept, Consensus, Prediction

BAND_SIGMAS: Final = 0.4307
"""Half-width of the neutral band in standard deviations of the trailing week's moves."""
_FAT_SIGMAS: Final = 3.0
_NEAR_EDGE: Final = 0.25  # of the band
_SMALL_LEAD: Final = 0.05
_FEWEST_VOTES: Final = 10
_CROWD_LEAN: Final = 0.15  # by how much a share of the votes exceeds the base rate of what they name
_FEWEST_OTHERS: Final = 4
_TOGETHER: Final = 0.8  # share of the other assets that moved the same way
_FORM_ROUNDS: Final = 7  # rounds in a row that put an idea in one form
_MONDAY_OFFSET: Final = 3  # 1970-01-01 was a Thursday


@dataclass(frozen=True, slots=True)
class LessonFacts:
    """What is known of a round once it has ended."""

    round: Round
    votes: Tally  # real ones
    others: tuple[float, ...] = ()  # moves of the other assets over the same hour in basis points, as far as known

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
    def sigma_bps(self) -> float:
        """The standard deviation of the trailing week's moves over the round's length."""
        return self.band_bps / BAND_SIGMAS

    @property
    def sigmas(self) -> float | None:
        """Size of the move in standard deviations of its week, one decimal; None without a band."""
        if not self.band_bps:
            return None
        return round(abs(self.change_bps) / self.sigma_bps, 1)

    @property
    def rarity(self) -> float | None:
        """Share of hours, 0..1, that move at least as far; None where a round is not an hour."""
        if self.sigmas is None or self.round.end_ms - self.round.start_ms != HOUR_MS:
            return None
        return rarity_of(self.sigmas)

    @property
    def brier(self) -> float:
        """Brier score of the chances, as published."""
        return round(brier(self.chances, self.outcome), 3)

    @property
    def base_brier(self) -> float:
        """Brier score of the base rates."""
        return round(brier(self.base_rate, self.outcome), 3)

    @property
    def slot(self) -> int:
        """Number of the round since 1970; forms of sentences take turns by it."""
        return self.round.start_ms // max(1, self.round.end_ms - self.round.start_ms)


def rarity_of(sigmas: float) -> float:
    """Return the share of hours, 0..1, that moved at least so many standard deviations of their week.

    Between two measured sizes the larger share counts, so that no move is called rarer than it was.

    >>> rarity_of(0.0), rarity_of(3.2), rarity_of(40.0)
    (1.0, 0.0492, 0.001)
    """
    return min(share for size, share in RARITY if size <= sigmas)


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


FITS: Final[Mapping[Concept, Callable[[LessonFacts], bool]]] = {
    Concept.FAT_TAILS: lambda facts: facts.rarity is not None and (facts.sigmas or 0.0) >= _FAT_SIGMAS,
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
    forms = CONCEPTS[concept].forms
    # Three forms of seven rounds each: of 20 rounds in a row one form has seven at most, and an idea that returns after
    # three rounds at the earliest three of them.
    form = forms[facts.slot // _FORM_ROUNDS % len(forms)]
    values = _values(facts)
    return Explained(
        concept=concept,
        point=form.point.format_map(values),
        question=form.question.format_map(values),
        answer=form.answer.format_map(values),
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
        "came": at_least(whole_percents(facts.chances)[ORDER.index(facts.outcome)], 0),
        "together": str(together(facts)),
        "others": str(len(facts.others)),
    }

    if facts.sigmas is not None:
        values["sigmas"] = f"{facts.sigmas:.1f}"
        values["squared"] = f"{facts.sigmas**2:.0f}"
        values["by_normal"] = once_in(erfc(facts.sigmas / sqrt(2)))
    if facts.rarity is not None:
        values["rarity_share"] = in_hundred(facts.rarity)

    consensus = consensus_of(facts.votes)
    if consensus is not Consensus.NONE:
        named = Prediction(consensus)
        values["crowd_outcome"] = OUTCOME[named]
        values["crowd_share"] = f"{100 * share_of(facts.votes, named):.0f}"
        values["crowd_base"] = f"{100 * chance_of(facts.base_rate, named):.0f}"
    return values


def once_in(share: float) -> str:
    """Write how rarely something comes that comes in so small a share of hours.

    >>> once_in(0.0027), once_in(1e-9)
    ('once in 370 hours', 'less than once in a million hours')
    """
    if share < 1e-6:
        return "less than once in a million hours"
    return f"once in {_two_digits(1 / share):,} hours"


def in_hundred(share: float) -> str:
    """Write a share of hours: `35 in 100`, `4.9 in 100`, `1 in 370`.

    >>> in_hundred(0.348), in_hundred(0.0492), in_hundred(0.0027)
    ('35 in 100', '4.9 in 100', '1 in 370')
    """
    if share >= 0.1:
        return f"{100 * share:.0f} in 100"
    if share >= 0.01:
        return f"{100 * share:.1f} in 100"
    return f"1 in {_two_digits(1 / share):,}"


def _two_digits(value: float) -> int:
    return int(float(f"{value:.2g}"))
