"""What the search of the documentation reads: every word of every section of its pages."""

import re
from collections.abc import Mapping
from functools import lru_cache
from html import unescape
from typing import Final

from typing_extensions import TypedDict

from generator.catalog.pages import DOC_PAGES, SitePage
from generator.compose.body import encode

_MAIN: Final = re.compile(r"<main\b[^>]*>(.*)</main>", re.DOTALL)
_PROGRAMS: Final = re.compile(r"<pre\b.*?</pre>", re.DOTALL)  # programs and example answers
_SECTION: Final = re.compile(r'(?=<h[23][^>]* id=")')
_HEADING: Final = re.compile(r'<h[23][^>]* id="([^"]+)"[^>]*>(.*?)</h[23]>', re.DOTALL)
_TAG: Final = re.compile(r"<[^>]+>")
_WORD: Final = re.compile(r"[\w./-]*\w")


SearchRow = tuple[str, str, str]
"""Title, address, and every word of a section once."""


class SearchIndex(TypedDict):
    """What the search of the documentation reads."""

    rows: list[SearchRow]
    """A row for each section: its title, its address, and its words."""


def search_index(files: Mapping[str, bytes]) -> bytes:
    """Return the index of the documentation, from the pages as they are published."""
    return _index(tuple((page, files[page.file]) for page in DOC_PAGES if page.file in files))


# These pages change once a day, and a release is made every minute.
@lru_cache(maxsize=1)
def _index(pages: tuple[tuple[SitePage, bytes], ...]) -> bytes:
    """Return a JSON object whose `rows` are title, address and words of each section of some rendered pages."""
    index: SearchIndex = {"rows": [row for page, html in pages for row in _rows(page, html.decode())]}
    return encode(index)


def _rows(page: SitePage, html: str) -> list[SearchRow]:
    """Return the row of what comes before the first heading of a page, then one for each heading."""
    main = _MAIN.search(html)
    head, *sections = _SECTION.split(_PROGRAMS.sub(" ", main.group(1) if main else ""))

    rows = [(page.label, page.path, f"{page.description} {_words(head)}")]
    for section in sections:
        heading = _HEADING.match(section)
        if heading is not None:
            anchor, title = heading.groups()
            rows.append((f"{page.label}: {_text(title)}", f"{page.path}#{anchor}", _words(section)))
    return rows


def _text(html: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", html)).split())


def _words(html: str) -> str:
    """Return every word of a section once, in lower case."""
    return " ".join(dict.fromkeys(_WORD.findall(_text(html).lower())))
