"""Forged proofs, a few of each kind; `python -m tests.proofs` tries a thousand."""

from pathlib import Path

from tests.proofs import refusals


def test_altered_late_and_forked_proofs_are_refused_and_the_honest_one_is_taken(tmp_path: Path) -> None:
    found = refusals(90, tmp_path)

    assert found == {"the honest one taken": 1, "altered refused": 30, "late refused": 30, "forked refused": 30}
