"""What a reader of the pages need not read: notices twice, words of our own, and more than a page is worth."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import Final

import pytest

from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import SourceMode
from generator.site.pages.recipes import PageView
from tests.support.bodies import published
from tests.support.builders import CONTEXTS
from tests.support.page_view import Rendered, view
from tests.volume import seen, words_of

STATES: Final[dict[str, Callable[[], PageView]]] = {
    "known": view,
    "live": partial(view, SourceMode.LIVE),
    "replay": partial(view, SourceMode.RECORDED),
    "nothing": partial(view, empty=True),
}
# "Came" for happened, "points" for evidence, and others that readers did not understand.
REFUSED: Final = re.compile(
    r"\b(?:came (?:true|due|up)|comes? (?:true|due)|that came\b|what came(?! after such days)"
    r"|how often (?:it|each) came"
    r"|points? (?:up|down|neither|another way|the way)|on the day\b(?! of)|usual \d+\.\d%|now calm|seen in no figure)",
    re.IGNORECASE,
)
# The most words that a page may show as it opens, in any state: about what it has now. They may only fall.
MOST: Final = {
    "/track-record/": 1_150,
    "/methodology/": 960,
    "/learn/": 780,
    "/docs/paid/": 590,
    "/docs/": 490,
    "/pricing/": 460,
    "/learn/practice/": 440,
    "/": 290,
}
MOST_OF_OTHERS: Final = 450
MOST_OF_ALL: Final = 12_000  # a service that runs for a day shows 2,000 more, of chapters and lessons


@cache
def pages(state: str) -> dict[str, str]:
    rendered = Rendered(STATES[state]())
    return {path: html.decode() for path, html in rendered.items() if path.endswith(".html")}


def text_of(html: str) -> str:
    """Return the text of a page's main part, folded or not."""
    main = html.split("<main")[1].split("</main>", maxsplit=1)[0]
    return re.sub(r"<(svg|pre)\b.*?</\1>|<[^>]*>", " ", main, flags=re.DOTALL)


def test_what_is_folded_hidden_or_drawn_is_not_seen() -> None:
    html = (
        "<p>one<br>two</p><details><summary>three</summary>no</details><svg><text>no</text></svg>"
        '<span class="hide">no</span><div hidden>no</div><details open>four 5</details>'
    )

    assert seen(html) == "one two three four 5"
    assert words_of(html) == 4


@pytest.mark.parametrize("state", STATES)
def test_every_page_has_the_notice_once(state: str) -> None:
    found = {path: seen(html).count(DISCLAIMER) for path, html in pages(state).items()}

    assert {path: times for path, times in found.items() if times != 1} == {}


@pytest.mark.parametrize("state", STATES)
def test_a_term_leads_to_the_glossary_once_a_page(state: str) -> None:
    for path, html in pages(state).items():
        linked = Counter(re.findall(r'href="(/methodology/#term-[^"]+)"', html))

        assert {term: times for term, times in linked.items() if times > 1} == {}, path


@pytest.mark.parametrize("state", STATES)
def test_pages_say_it_in_words_that_readers_know(state: str) -> None:
    found = {(path, word) for path, html in pages(state).items() for word in REFUSED.findall(seen(html))}

    assert sorted(found) == []


@pytest.mark.parametrize("state", CONTEXTS)
def test_answers_say_it_in_words_that_readers_know(state: str) -> None:
    found = {(path, word) for path, body in published(state).items() for word in REFUSED.findall(str(body))}

    assert sorted(found) == []


@pytest.mark.parametrize("state", STATES)
def test_no_number_of_a_page_has_a_hyphen_for_a_minus(state: str) -> None:
    # What fields mean is written as the OpenAPI has it.
    prose = {path: re.sub(r"<tr id=.*?</tr>|<code>.*?</code>", "", html) for path, html in pages(state).items()}

    found = {path: re.findall(r"(?<![\w./-])-\d[\d.]*", text_of(html)) for path, html in prose.items()}

    assert {path: numbers for path, numbers in found.items() if numbers} == {}


@pytest.mark.parametrize("state", STATES)
def test_no_page_shows_more_words_than_its_ceiling(state: str) -> None:
    counted = {path.removesuffix("index.html"): words_of(html) for path, html in pages(state).items()}

    assert {path: words for path, words in counted.items() if words > MOST.get(path, MOST_OF_OTHERS)} == {}
    assert sum(counted.values()) <= MOST_OF_ALL
