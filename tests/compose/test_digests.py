"""No word of any body changes unnoticed."""

from tests.digests import HINT, changed


def test_every_body_in_every_state_is_as_it_was() -> None:
    assert changed("compose/digests.txt") == [], HINT
