"""What is sold in words besides the report: how long states last, how far Bitcoin may go, its next four hours in parts.

They share the report's facts and its sentences; a share is given from 30 cases on, with its interval.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from generator.catalog.text import figures, kept
from generator.catalog.text.book import Book, Groups, Sentence, always, joined, known
from generator.catalog.text.headline import HEADLINE_GROUPS
from generator.catalog.text.now import NOW_GROUPS
from generator.catalog.text.report.facts import ReportFacts
from generator.catalog.text.report.sentences import REPORT_GROUPS
from generator.catalog.text.report.slots import REPORT_SLOTS
from generator.catalog.text.slots import SLOTS

_NEAR: Final = 3.0  # of 100 cases: chances this close to their base rates say nothing of their own


class Level(NamedTuple):
    """A level of the ladder over four hours, percent."""

    percent: float
    end: float  # chance to be beyond it, either way, of 100
    touch: float


class Parts(NamedTuple):
    """The next four hours of Bitcoin in three parts, of 100, with their base rates."""

    third: float  # half-width of the middle third, percent
    up: int
    within: int
    down: int
    usually: tuple[int, int, int]

    @property
    def apart(self) -> float:
        """How many of 100 cases go to another part than by the base rates."""
        return (
            sum(abs(now - then) for now, then in zip((self.up, self.within, self.down), self.usually, strict=True)) / 2
        )


class StateText(NamedTuple):
    """A state now, for how many hours, and what is published of such spells."""

    state: str
    hours: float
    text: str


@dataclass(frozen=True)
class PaidFacts(ReportFacts):
    """The report's facts with what the other products add."""

    level: Level | None = None
    parts: Parts | None = None
    furthest: tuple[str, float] | None = None  # coin whose parts are farthest from their base rates, and `apart`
    side_state: StateText | None = None
    step_state: StateText | None = None


def _percent(chance: float) -> str:
    if chance < 1:
        return "under 1%"
    return "over 99%" if chance > 99 else figures.percent(chance, 0)


def _parts(facts: PaidFacts) -> Parts:
    return known(facts.parts)


PAID_GROUPS: Final[Groups[PaidFacts]] = {
    "regime_news": (
        Sentence(
            "How long the market has been in its state is not known yet",
            "unknown",
            lambda facts: facts.side_state is None,
        ),
        Sentence("{A_side} for {side_age} so far: how long such days last", "else", always),
    ),
    "brain_news": (
        Sentence("How likely larger moves are is not known yet", "unknown", lambda facts: facts.level is None),
        Sentence(
            "The chance that Bitcoin is more than {level} away in four hours is {level_end}; that it touches that "
            "level, {level_touch}",
            "else",
            always,
        ),
    ),
    "atlas_news": (
        Sentence(
            "The next four hours in three parts: no chances can be given yet",
            "unknown",
            lambda facts: facts.parts is None,
        ),
        Sentence(
            "Bitcoin's next four hours in 100 cases: up {part_up}, within {third} {part_within}, down {part_down}; "
            "usually {usually_up}, {usually_within}, {usually_down}",
            "else",
            always,
        ),
    ),
    "side_spells": (
        Sentence(
            "How long the market has been in its state is not known, and so neither is how long that may last.",
            "unknown",
            lambda facts: facts.side_state is None,
        ),
        Sentence("{side_spell_text}", "else", always),
    ),
    "step_spells": (Sentence("{step_spell_text}", "known", lambda facts: facts.step_state is not None),),
    "no_ranges": (
        Sentence(
            "How far prices may move cannot be said without a reading.", "no ranges", lambda facts: not facts.spans
        ),
    ),
    "beyond": (
        Sentence(
            "The chance that it is more than {level} away in four hours, up or down, is {level_end}; that it touches "
            "that level on the way, {level_touch}.",
            "a reading",
            lambda facts: facts.level is not None,
        ),
    ),
    "parts": (
        Sentence(
            "Without a reading there are no chances for the next four hours.",
            "unknown",
            lambda facts: facts.parts is None,
        ),
        Sentence(
            "In four hours Bitcoin is above, inside or below the middle third of the last week's moves, {third} either "
            "way: up {part_up}, within {part_within}, down {part_down} of 100.",
            "else",
            always,
        ),
    ),
    "parts_usually": (
        Sentence("", "unknown", lambda facts: facts.parts is None),
        Sentence(
            "The past alone would have said {usually}: hardly a difference.",
            "within three cases of 100",
            lambda facts: _parts(facts).apart < _NEAR,
        ),
        Sentence(
            "The past alone would have said {usually}: more movement than usual is expected, to either side.",
            "less in the middle",
            lambda facts: _parts(facts).within < _parts(facts).usually[1],
        ),
        Sentence(
            "The past alone would have said {usually}: less movement than usual is expected.",
            "more in the middle",
            always,
        ),
    ),
    "most_apart": (
        Sentence(
            "{furthest} is where the forecast differs most from an ordinary four hours.",
            "three cases of 100 or more elsewhere",
            lambda facts: facts.furthest is not None and facts.furthest[1] >= _NEAR,
        ),
    ),
}
PAID: Final[Book[PaidFacts]] = Book(
    {**HEADLINE_GROUPS, **NOW_GROUPS, **REPORT_GROUPS, **PAID_GROUPS},
    {
        **SLOTS,
        **REPORT_SLOTS,
        "A_side": lambda facts: _capital(kept.with_article(known(facts.side_state).state)),
        "side_age": lambda facts: kept.span(known(facts.side_state).hours),
        "side_spell_text": lambda facts: known(facts.side_state).text,
        "step_spell_text": lambda facts: known(facts.step_state).text,
        "level": lambda facts: f"{known(facts.level).percent:g}%",
        "level_end": lambda facts: _percent(known(facts.level).end),
        "level_touch": lambda facts: _percent(known(facts.level).touch),
        "third": lambda facts: figures.percent(_parts(facts).third, 2),
        "part_up": lambda facts: str(_parts(facts).up),
        "part_within": lambda facts: str(_parts(facts).within),
        "part_down": lambda facts: str(_parts(facts).down),
        "usually_up": lambda facts: str(_parts(facts).usually[0]),
        "usually_within": lambda facts: str(_parts(facts).usually[1]),
        "usually_down": lambda facts: str(_parts(facts).usually[2]),
        "usually": lambda facts: "up {}, within {}, down {}".format(*_parts(facts).usually),
        "furthest": lambda facts: known(facts.furthest)[0],
    },
)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def said(facts: PaidFacts, *groups: str) -> str:
    """Return what some groups say, as one text."""
    return joined([PAID.say(group, facts) for group in groups])
