"""Every fault has its section of the runbook, and every rehearsal that the runbook names is there."""

import re
from typing import Final

from generator.watch.judge import FAULTS
from tests.support.processes import REPOSITORY

RUNBOOK: Final = (REPOSITORY / "docs" / "howto" / "runbook.md").read_text()
REHEARSED: Final = re.findall(r"^\|.*\| (not|`(tests/[\w/]+\.py)`: (.+)) \|$", RUNBOOK, re.MULTILINE)


def words(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def test_every_fault_has_its_section() -> None:
    anchors = re.findall(r'<a id="([\w-]+)"></a>\n\n### ([\w-]+):', RUNBOOK)

    assert {fault.name for fault in FAULTS} <= {anchor for anchor, _ in anchors}
    assert [anchor for anchor, heading in anchors if anchor != heading] == []


def test_every_row_names_the_test_that_plays_it_or_says_not() -> None:
    rows = [line for line in RUNBOOK.partition("## How soon")[0].splitlines() if line.startswith("| ")]
    heads = [line for line in rows if line.startswith("| what you ")]

    assert len(REHEARSED) == len(rows) - len(heads)


def test_every_rehearsal_that_is_named_is_there() -> None:
    missing = []
    for _, file, named in REHEARSED:
        text = words((REPOSITORY / file).read_text()) if file else ""
        if file and named != "the module" and words(named.partition("[")[0]) not in text:
            missing.append(f"{file}: {named}")

    assert missing == []
