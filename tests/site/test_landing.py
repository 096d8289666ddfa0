"""The landing page is short and in one order: what this is, the news, one picture with its question, three doors."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Final

import pytest

from generator.catalog.words import SourceMode
from generator.site.pages.recipes import PageView
from generator.site.pages.render import Pages
from tests.site.test_daily_page import LIVE, OPEN, OVER, seen
from tests.support.page_view import view
from tests.volume import seen as visible

MOST_WORDS: Final = 250
MOST_NUMBERS: Final = 20
STATES: Final[Mapping[str, Callable[[], PageView]]] = {
    "asked": lambda: replace(view(), ctx=seen(OPEN, LIVE, OVER)),
    "not asked": view,
    "replay": partial(view, SourceMode.RECORDED),
    "nothing": partial(view, empty=True),
}
# The parts of the page in their order; each is there once.
IN_ORDER: Final = (
    'class="kicker"',
    "<h1",
    'class="lead"',
    'id="question"',
    'id="chart-day"',
    'id="daily-form"',
    'class="chips"',
    'id="last"',
    'id="learn"',
    'id="worth"',
    'id="api"',
    'class="notice"',
)


@cache
def main_of(state: str) -> str:
    """Return the content of the page."""
    html = next(make() for page, make in Pages().each(STATES[state]()) if page.path == "/")["/index.html"].decode()
    return html.split('<main id="main">')[1].split("</main>")[0]


def shown(html: str) -> str:
    """Return the visible text but that of pictures, and of the example with its answer."""
    return visible(re.sub(r"<(pre|noscript)\b.*?</\1>", " ", html, flags=re.DOTALL))


@pytest.mark.parametrize("state", STATES)
def test_the_page_has_few_words_and_numbers(state: str) -> None:
    text = shown(main_of(state))

    assert len(re.findall(r"[^\W\d_][\w'\u2019-]*", text)) <= MOST_WORDS
    assert len(re.findall(r"\d[\d.,:]*", text)) <= MOST_NUMBERS


def test_its_parts_stand_in_one_order() -> None:
    html = main_of("asked")

    places = [html.index(part) for part in IN_ORDER]

    assert places == sorted(places)
    assert [html.count(part) for part in IN_ORDER] == [1] * len(IN_ORDER)
    assert not re.search(r"<table(?! class=.twin)", html)


def test_without_scripts_the_page_says_where_the_question_is_answered() -> None:
    said = re.findall(r"<noscript>(.*?)</noscript>", main_of("asked"), re.DOTALL)

    assert len(said) == 1
    assert 'href="/arena/daily/"' in said[0]
