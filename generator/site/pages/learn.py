"""What Learn shows: nine chapters, a picture of each kind of day, lessons, and the surprising hours of each week."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from markupsafe import Markup

from generator.catalog.text.chapters import CHAPTER_OF, CHAPTERS, ChapterText
from generator.site.charts.lessons import KindOfDay, by_kind
from generator.site.pages.chapters.chapter import Ask, Facts
from generator.site.pages.chapters.market import base_rates, correlation, fat_tails, volatility
from generator.site.pages.chapters.record import calibration, luck, silence
from generator.site.pages.chapters.venues import funding, order_books
from generator.site.words.lessons import Lessons, chosen
from generator.site.words.weeks import Week
from generator.values.view import ArenaView

ASKED: Final[Mapping[str, Callable[[Facts], tuple[Ask, ...]]]] = {
    "base-rates": base_rates,
    "volatility": volatility,
    "fat-tails": fat_tails,
    "correlation": correlation,
    "funding": funding,
    "order-books": order_books,
    "calibration": calibration,
    "luck": luck,
    "silence": silence,
}
_AFTER: Final = {before.name: after for before, after in pairwise(CHAPTERS)}


class LearnPage(NamedTuple):
    """The first page of Learn."""

    kinds_of_day: tuple[KindOfDay, ...]
    lessons: Lessons
    weeks: tuple[Week, ...]


class ChapterPage(NamedTuple):
    """One chapter; one of which nothing is known yet has its text alone."""

    chapter: ChapterText
    number: int
    of: int
    first: Ask | None
    others: tuple[Ask, ...]
    after: ChapterText | None


def learn_view(arena: ArenaView, figures: Mapping[str, Markup], weeks: Sequence[Week]) -> LearnPage:
    """Return what pages/learn.html reads.

    Args:
        figures: name -> drawn chart; one that could not be drawn is left out.
        weeks: with their most surprising hours, the newest first.
    """
    return LearnPage(by_kind(figures), chosen(arena.lessons), tuple(weeks))


def chapter_view(name: str, facts: Facts) -> ChapterPage:
    """Return what pages/learn_chapter.html reads."""
    chapter = CHAPTER_OF[name]
    asks = ASKED[name](facts)

    return ChapterPage(
        chapter=chapter,
        number=CHAPTERS.index(chapter) + 1,
        of=len(CHAPTERS),
        first=asks[0] if asks else None,
        others=asks[1:],
        after=_AFTER.get(name),
    )
