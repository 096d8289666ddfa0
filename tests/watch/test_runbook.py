"""Every fault has its section of the runbook, and every rehearsal of one is there."""

import re
from typing import Final

from generator.operate.watch.judge import FAULTS
from tests.support.processes import REPOSITORY
from tests.watch.rehearsals import MODULE, REHEARSALS

RUNBOOK: Final = (REPOSITORY / "docs" / "howto" / "runbook.md").read_text()
SECTIONS: Final = re.findall(r'<a id="([\w-]+)"></a>\n\n### ([\w-]+):', RUNBOOK)


def words(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def test_every_fault_has_its_section() -> None:
    assert {fault.name for fault in FAULTS} <= {anchor for anchor, _ in SECTIONS}
    assert [anchor for anchor, heading in SECTIONS if anchor != heading] == []


def test_every_section_has_its_rehearsals_or_says_that_there_are_none() -> None:
    assert [*REHEARSALS] == [*(anchor for anchor, _ in SECTIONS), "without an alarm"]


def test_every_rehearsal_that_is_named_is_there() -> None:
    missing = []
    for file, named in (rehearsal for rehearsals in REHEARSALS.values() for rehearsal in rehearsals):
        text = words((REPOSITORY / "tests" / file).read_text())
        if named != MODULE and words(named.partition("[")[0]) not in text:
            missing.append(f"{file}: {named}")

    assert missing == []
