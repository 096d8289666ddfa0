"""Nothing that an Arena shows or logs changes unnoticed, and a reader sees which."""

import pytest

from tests.digests import changed


def test_all_that_a_played_arena_shows_and_logs_is_as_it_was() -> None:
    moved = changed("arena")

    if moved:
        pytest.fail(moved, pytrace=False)
