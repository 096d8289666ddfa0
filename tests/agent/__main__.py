"""Print what the tools of `emi mcp` did wrong: `python -m tests.agent [CALLS] [SEEDS]`, else 10,000 calls, 5 seeds."""

import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.agent.fuzz import fuzz
from tests.agent.plays import BUYS, crowd, is_paid_once, run_tool
from tests.sellers.kinds import CONTROLS, KINDS
from tests.sellers.play import HEAD, play_kind, show, stage

CALLS = 10_000
SEEDS = 5


def main() -> int:
    """Fuzz the reading tools, buy a hundred at once with deaths, play every seller; 1 if anything is wrong."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else SEEDS
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ends: Counter[str] = asyncio.run(fuzz(calls, 1, folder / "fuzz"))
        print(f"{sum(ends.values()):,} calls: {dict(ends.most_common())}", flush=True)
        wrong += sum(count for end, count in ends.items() if end.startswith("WRONG"))

        with stage(_made(folder / "devnet")) as devnet:
            for seed in range(seeds):
                found = crowd(seed, devnet, folder / f"crowd-{seed}")
                is_right = is_paid_once(found)
                wrong += not is_right
                verdict = "as it must be" if is_right else "WRONG"
                print(f"{BUYS} purchases at once, seed {seed}: {verdict}, {found}", flush=True)

        print(HEAD, flush=True)
        for number, kind in enumerate([*CONTROLS, *KINDS]):
            row = play_kind(kind, range(seeds), folder / f"kind-{number}", run_tool)
            print(show([row]).split("\n")[1], flush=True)
            wrong += bool(row.wrong)
            if row.wrong:
                print(f"NOT AS IT MUST BE: {', '.join(row.wrong)}")
    return 1 if wrong else 0


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


sys.exit(main())
