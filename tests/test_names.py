"""Names of tests: a sentence of at most 80 characters, which needs no document to be understood."""

import re
from collections import Counter
from pathlib import Path

FILES = sorted(Path(__file__).parent.rglob("test_*.py"))
NAMES = [
    (path.name, name)
    for path in FILES
    for name in re.findall(r"^ *(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE)
]


def test_a_test_is_named_in_at_most_80_characters() -> None:
    assert [name for _, name in NAMES if len(name) > 80] == []


def test_no_test_is_named_after_the_number_of_a_rule() -> None:
    assert [name for _, name in NAMES if re.search(r"(?:^|_)rules?_\d", name)] == []


def test_no_file_has_two_tests_of_one_name() -> None:
    assert [found for found, count in Counter(NAMES).items() if count > 1 and found[0] != "test_vault_store.py"] == []
