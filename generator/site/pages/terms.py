"""Links from the first use of a term to its entry in the glossary."""

import re
from typing import Final

from generator.catalog.links import METHODOLOGY
from generator.catalog.text.glossary import LINKED, anchor

_ANCHORS: Final = {term.lower(): anchor(term) for term in LINKED}
_PROSE: Final = re.compile(r"<(p|dd|li)\b[^>]*>.*?</\1>", re.DOTALL)
_WORD: Final = re.compile(
    rf"<(a|code|button)\b.*?</\1>|<[^>]+>|\b(?P<term>{'|'.join(map(re.escape, _ANCHORS))})(?:s?\b)(?!-)",
    re.DOTALL | re.IGNORECASE,
)


def with_terms_linked(html: str) -> str:
    """Link each term where the prose of a page first uses it; code, links and headings stay as they are."""
    linked: set[str] = set()

    def link(match: re.Match[str]) -> str:
        term = (match["term"] or "").lower()
        if not term or term in linked:
            return match[0]

        linked.add(term)
        return f'<a class="term" href="{METHODOLOGY}#{_ANCHORS[term]}">{match[0]}</a>'

    return _PROSE.sub(lambda block: _WORD.sub(link, block[0]), html)
