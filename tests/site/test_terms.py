"""Terms in the prose of the pages lead to their entries in the glossary."""

import re

from generator.catalog.text.glossary import LINKED, anchor, glossary
from generator.catalog.words import SourceMode
from generator.site.pages.terms import with_terms_linked
from tests.support.page_view import Rendered, view, with_body

FUNDING = '<a class="term" href="/methodology/#term-funding">'


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


def test_the_glossary_gives_today_s_example_from_the_bodies_of_the_release() -> None:
    base = view()
    body = base.bodies.derivatives
    futures = body.assets["BTC"]
    assert futures.funding is not None
    falling = futures.funding.model_copy(update={"rate_8h_percent": -0.02})
    assets = {**body.assets, "BTC": futures.model_copy(update={"funding": falling})}
    negative = with_body(base, "/api/derivatives.php", body.model_copy(update={"assets": assets}))

    shown, turned = (Rendered(one)["/methodology/index.md"].decode() for one in (base, negative))

    rate = futures.funding.rate_8h_percent
    assert rate > 0
    assert f"Today: Bitcoin's funding is +{rate:.4f}% per 8 hours: longs pay shorts." in shown
    assert "Today: Bitcoin's funding is \N{MINUS SIGN}0.0200% per 8 hours: shorts pay longs." in turned


def test_a_term_whose_fact_is_unknown_has_no_example_and_a_replay_is_not_today() -> None:
    assert "Today" not in Rendered(view(empty=True))["/methodology/index.md"].decode()
    assert (
        "In the replay: the regime is range." in Rendered(view(SourceMode.RECORDED))["/methodology/index.md"].decode()
    )
