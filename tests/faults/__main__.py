"""Print what becomes of payments when everything outside the gateway fails: `python -m tests.faults`."""

import asyncio
import logging
import sys
import tempfile
from pathlib import Path

import structlog

from tests.faults.incidents import play_incidents, show_incidents, summary_of
from tests.faults.modes import LIES, MODES
from tests.faults.table import play_all, show, summary


def main() -> int:
    """Play all modes and print the table; 1 if any row is not as it must be."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(play_all(MODES, Path(folder) / "modes"))
        incidents = asyncio.run(play_incidents(Path(folder) / "incidents"))
        lies = asyncio.run(play_all([lie.mode for lie in LIES], Path(folder) / "lies"))
    print("answers seen: while the fault lasts | when it is over | of another payment, signed after a refusal\n")
    print(show(rows))
    print(f"\n{len(rows)} modes: {summary(rows)}\n")
    print("of the machine: answers at once and after a minute | when it is over\n")
    print(show_incidents(incidents))
    print(f"\n{len(incidents)} incidents: {summary_of(incidents)}\n")
    print("what no rule guards against, shown so that no one believes otherwise:\n")
    print(show(lies))
    for lie, row in zip(LIES, lies, strict=True):
        print(f"\n{lie.mode.name}: {summary([row])}\n  ({lie.why})")
    odd = [row for row in [*rows, *lies] if row.answers != row.mode.answers or row.wrong]
    for row in odd:
        print(f"NOT AS IT MUST BE: {row.mode.name}: expected {row.mode.answers}; {', '.join(row.wrong)}")
    wrong = [report for report in incidents if not report.as_foreseen]
    for report in wrong:
        print(f"NOT AS IT MUST BE: {report.incident.name}: {report.paid}, {report.new}, counts {report.counts}")
    return 1 if odd or wrong else 0


sys.exit(main())
