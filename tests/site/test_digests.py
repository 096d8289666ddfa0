"""No word of any page changes unnoticed."""

from tests.digests import HINT, changed


def test_every_page_in_every_state_is_as_it_was() -> None:
    assert changed("site/digests.txt") == [], HINT
