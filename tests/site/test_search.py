"""The search of the documentation finds every word of it, where it is written."""

import json
from functools import cache
from html.parser import HTMLParser

import pytest

from generator.catalog.pages import DOC_PAGES
from generator.site.files.search import search_index
from tests.support.page_view import rendered

MOST_BYTES = 120_000


@cache
def rows() -> list[list[str]]:
    found: list[list[str]] = json.loads(search_index(rendered()))["rows"]
    return found


class _Headings(HTMLParser):
    """Read the anchors of a page's headings and the text of its paragraphs, by another way than the index."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.paragraphs: list[str] = []
        self.depth = 0
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag == "main"
        if self.depth and tag in {"h2", "h3"} and dict(attrs).get("id"):
            self.anchors.append(str(dict(attrs)["id"]))
        if self.depth and tag == "p":
            self.inside = "p"
            self.paragraphs.append("")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "main"
        if tag == "p":
            self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.paragraphs[-1] += data


def read(path: str) -> _Headings:
    parser = _Headings()
    parser.feed(rendered()[next(page.file for page in DOC_PAGES if page.path == path)].decode())
    return parser


@pytest.mark.parametrize("path", [page.path for page in DOC_PAGES])
def test_every_section_of_a_page_is_a_row(path: str) -> None:
    addresses = [address for _, address, _ in rows() if address.partition("#")[0] == path]

    assert addresses == [path, *(f"{path}#{anchor}" for anchor in read(path).anchors)]


@pytest.mark.parametrize("path", [page.path for page in DOC_PAGES])
def test_every_long_word_of_a_paragraph_is_found_on_its_page(path: str) -> None:
    found = " ".join(words for _, address, words in rows() if address.partition("#")[0] == path)

    written = {word.lower() for text in read(path).paragraphs for word in text.split() if word.isalpha()}
    missing = {word for word in written if word not in found}
    assert not missing


@pytest.mark.parametrize("word", ["stale", "python", "refund", "null", "cap", "receipt", "etag", "testnet"])
def test_what_strangers_look_for_is_found(word: str) -> None:
    assert [address for _, address, words in rows() if word in words]


def test_the_index_is_small_and_made_once_for_the_same_pages() -> None:
    first = search_index(rendered())

    assert len(first) < MOST_BYTES
    assert search_index(rendered()) is first


def test_pages_that_could_not_be_rendered_are_left_out() -> None:
    missing = DOC_PAGES[0]
    some = {path: data for path, data in rendered().items() if path != missing.file}

    addresses = [address for _, address, _ in json.loads(search_index(some))["rows"]]

    assert missing.path not in addresses
    assert DOC_PAGES[1].path in addresses
