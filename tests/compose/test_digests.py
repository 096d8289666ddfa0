"""No word of any body changes unnoticed, and a reader sees which."""

import pytest

from tests.digests import DIGESTS, FILES_SHOWN, HINT, LINES_SHOWN, changed, difference


def test_every_body_in_every_state_is_as_it_was() -> None:
    moved = changed("compose")

    if moved:
        pytest.fail(moved, pytrace=False)


def test_a_changed_word_is_shown_with_what_it_was() -> None:
    before = {DIGESTS: "0a /a\n", "state/b.md": "same\nup\n"}
    now = {DIGESTS: "0b /a\n", "state/b.md": "same\ndown\n"}

    lines = difference(before, now).splitlines()

    assert lines[:5] == ["--- state/b.md", "+++ state/b.md", "@@ -2 +2 @@", "-up", "+down"]
    assert lines[-3:] == ["-0a /a", "+0b /a", HINT]


def test_a_file_that_is_new_or_gone_is_a_difference() -> None:
    assert "+word" in difference({}, {"state/a.md": "word\n"})
    assert "-word" in difference({"state/a.md": "word\n"}, {})
    assert difference({"state/a.md": "word\n"}, {"state/a.md": "word\n"}) == ""


def test_of_many_changes_the_first_are_shown_and_the_others_counted_or_named() -> None:
    names = [f"state/{number}.md" for number in range(FILES_SHOWN + 2)]
    now = dict.fromkeys(names, "word\n" * (LINES_SHOWN + 1))

    lines = difference({}, now).splitlines()

    assert lines.count("... 4 more lines") == FILES_SHOWN
    assert lines[-2:] == [f"and in {names[-2]}, {names[-1]}", HINT]
