"""The check of commit messages that .ci/run makes."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

LOADER = SourceFileLoader("commits", str(Path(__file__).parents[1] / ".ci" / "commits"))
SPEC = spec_from_loader("commits", LOADER)
assert SPEC is not None
commits = module_from_spec(SPEC)
LOADER.exec_module(commits)
WHY = "\n\nA sample kept the price that was in force when it was made."


@pytest.mark.parametrize(
    "subject", ["Hold the price of a sample", "site/files: hold it", "Pass the clock", "Need less"]
)
def test_an_imperative_with_a_reason_passes(subject: str) -> None:
    assert commits.faults(subject + WHY, ["parent"]) == []


@pytest.mark.parametrize(
    ("message", "parents", "fault"),
    [
        ("Held the price" + WHY, 1, 'begins with "Held"'),
        ("tests: holds the price" + WHY, 1, 'begins with "holds"'),
        ("The price of a sample" + WHY, 1, 'begins with "The"'),
        ("Hold " + 70 * "x" + WHY, 1, "has a subject of 75 characters"),
        ("Hold the price", 1, "has no body"),
        ("Hold the price" + WHY, 2, "is a merge"),
    ],
)
def test_what_a_reader_of_the_history_misses_is_a_fault(message: str, parents: int, fault: str) -> None:
    found = commits.faults(message, ["parent"] * parents)

    assert [line for line in found if fault in line] == found[:1]
    assert len(found) == 1
