"""Terms in the prose of the pages lead to their entries in the glossary."""

import re

from generator.catalog.text.glossary import LINKED, anchor, glossary
from generator.site.pages.terms import with_terms_linked

FUNDING = '<a class="term" href="/glossary/#term-funding">'


def test_a_term_is_linked_where_the_prose_first_uses_it() -> None:
    made = with_terms_linked("<h2>Funding</h2><p>Funding is paid; funding is small.</p><dd>No funding</dd>")

    assert made == f"<h2>Funding</h2><p>{FUNDING}Funding</a> is paid; funding is small.</p><dd>No funding</dd>"


def test_links_code_and_attributes_stay_as_they_are() -> None:
    html = '<p title="funding"><a href="/funding">funding</a> <code>funding</code></p>'

    assert with_terms_linked(html) == html


def test_every_linked_term_is_in_the_glossary_and_every_anchor_is_its_own() -> None:
    anchors = [entry.anchor for entry in glossary()]

    assert {anchor(term) for term in LINKED} <= set(anchors)
    assert len(anchors) == len(set(anchors))


def test_no_meaning_uses_only_the_word_it_explains() -> None:
    for entry in glossary():
        others = set(re.findall("[a-z]+", entry.meaning.lower())) - set(re.findall("[a-z]+", entry.term.lower()))
        assert len(others) > 3, entry.term
