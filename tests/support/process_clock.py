"""The wall clock of started processes, set by a test: a preloaded library adds the seconds that stand in a file."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

SOURCE: Final = Path(__file__).with_name("process_clock.c")


class ProcessClock:
    """The clock of the processes that are started with `environment`.

    Args:
        folder: where the library is built and the shift is kept.
    """

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("needs a C compiler (Debian: apt-get install gcc)")
        folder.mkdir(parents=True, exist_ok=True)
        library = folder / "process_clock.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"], check=True)
        self._file = folder / "shift"
        self.seconds = 0
        self.environment = {"LD_PRELOAD": str(library), "SHIFT_FILE": str(self._file)}

    def shift_by(self, seconds: int) -> None:
        """Set the clock this far from the machine's."""
        self.seconds = seconds
        new = self._file.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self._file)

    def go_to(self, second_of_hour: int) -> None:
        """Set the clock forward to where a second of the hour comes next."""
        now = datetime.now(UTC).timestamp() + self.seconds
        self.shift_by(self.seconds + int(second_of_hour - now % 3_600) % 3_600)
