"""Run the units of the scripts, as `.ci/run` does: `python -m tests.javascript`; without node it fails."""

import shutil
import sys
import tempfile
from pathlib import Path

from tests.javascript.units import run_units


def main() -> int:
    node = shutil.which("node")
    if node is None:
        print("node is missing (apt install nodejs)", file=sys.stderr)
        return 1

    with tempfile.TemporaryDirectory() as folder:
        finished = run_units(Path(folder), node)
    print(finished.stdout, finished.stderr)
    return finished.returncode


if __name__ == "__main__":
    raise SystemExit(main())
