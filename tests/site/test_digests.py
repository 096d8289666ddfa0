"""No word of any page changes unnoticed."""

import pytest

from tests.digests import changed


def test_every_page_in_every_state_is_as_it_was() -> None:
    moved = changed("site")

    if moved:
        pytest.fail(moved, pytrace=False)
