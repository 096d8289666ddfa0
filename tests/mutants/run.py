"""One mutant at a time in a copy of the tree, so that the checkout is never touched."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutants.rooms import ROOMS
from tests.mutants.sites import Site

SLOWEST: Final = 4.0  # times what the room's tests take without a change; then they hang, which is noticed too
LEAST_S: Final = 60.0
MOST_BYTES: Final = 6 * 1024**3  # a loop that a change made endless must not take the machine's memory
PASSED: Final = 0
FAILED: Final = (1, 2)  # of the tests, or of their collection


class NotComparableError(Exception):
    """The tests of a room fail without any change, or do not run."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file; `path` is relative to the tree."""

    room: str
    path: Path
    site: Site
    what: str = ""  # of a fixed one

    def __str__(self) -> str:
        before, after = (re.sub(r"\s+", " ", text) or "nothing" for text in (self.site.before, self.site.after))
        return f"{self.path}:{self.site.line}: {before[:70]} -> {after[:70]}"


@dataclass(frozen=True)
class Outcome:
    """Whether a test noticed, which, and after how long; nothing where every test passed."""

    noticed_by: str
    seconds: float


class Copy:
    """A copy of the checkout in which one file at a time is another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._times: dict[str, dict[str, float]] = {}
        self._noticed: Counter[str] = Counter()  # mutants by the test file that noticed them

    def room_seconds(self, room: str) -> dict[str, float]:
        """Return how long each test file of a room takes without a change; run once."""
        tests = ROOMS[room].tests
        if tests not in self._times:
            report = self.folder / "report.xml"
            for _ in range(2):  # a busy machine may fail one of a thousand
                status, output = self._pytest((tests,), 3_600, f"--junitxml={report}")
                if status == PASSED:
                    break
            else:
                raise NotComparableError(f"{tests} fails without any change:\n{output[-2_000:]}")
            self._times[tests] = _seconds_of(report)
        return self._times[tests]

    def outcome(self, mutant: Mutant) -> Outcome:
        """Run the tests of a mutant's room: what imports its module, then what noticed most, then the quickest."""
        seconds = self.room_seconds(mutant.room)
        module = ".".join(mutant.path.with_suffix("").parts)
        order = sorted(seconds, key=lambda file: (not self._imports(file, module), -self._noticed[file], seconds[file]))

        began = time.monotonic()
        with self._changed(mutant):
            status, output = self._pytest(order, max(LEAST_S, SLOWEST * sum(seconds.values())))
        took = time.monotonic() - began

        if status == PASSED:
            return Outcome("", took)
        if status is not None and status not in FAILED and status > 0:
            raise NotComparableError(f"pytest ended with {status} for {mutant}:\n{output[-2_000:]}")
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        noticed_by = failed[1] if failed else "no end, or a crash"
        self._noticed[noticed_by.partition("::")[0]] += 1
        return Outcome(noticed_by, took)

    def _imports(self, file: str, module: str) -> bool:
        text = (self.folder / file).read_text(encoding="utf-8")
        package, _, name = module.rpartition(".")
        return f"{module} " in text or re.search(rf"from {re.escape(package)} import .*\b{name}\b", text) is not None

    @contextmanager
    def _changed(self, mutant: Mutant) -> Iterator[None]:
        target = self.folder / mutant.path
        before = target.read_bytes()
        try:
            _write_source(target, mutant.site.applied(before))
            yield
        finally:
            _write_source(target, before)

    def _pytest(self, files: Sequence[str], limit_s: float, *more: str) -> tuple[int | None, str]:
        """Return pytest's exit status and output; no status where it was ended after its time."""
        command = [sys.executable, "-m", "pytest", "-n0", "-x", "--tb=no", "-rfE", "-p", "no:cacheprovider", *more]
        process = subprocess.Popen(
            [*command, *files],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=_limit_memory,  # noqa: PLW1509  this process has no threads
        )
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:  # also where this run is interrupted; what the tests started is in the same group
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return process.returncode, output


@contextmanager
def copied(root: Path) -> Iterator[Copy]:
    """Copy what git would keep of a checkout, as it is now, into a folder that goes at the end."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, check=True, text=True,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name).resolve()
        for file in filter(None, listed.stdout.split("\0")):
            if (root / file).is_file():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / file, folder / file)
        copy = Copy(folder)
        _check_imports(folder)
        yield copy


def _check_imports(folder: Path) -> None:
    """Raise NotComparableError where Python would import the installed program and not the copy."""
    command = "import gateway, generator; print(generator.__file__, gateway.__file__)"
    env = {**os.environ, "PYTHONPATH": str(folder)}
    found = subprocess.run(
        [sys.executable, "-c", command], cwd=folder, env=env, capture_output=True, check=True, text=True
    )
    if not all(Path(file).is_relative_to(folder) for file in found.stdout.split()):
        raise NotComparableError(f"Python imports {found.stdout.strip()}, and not the copy in {folder}")


def _write_source(target: Path, content: bytes) -> None:
    """Write a source and forget what it was compiled to: of equal length and second, Python would not notice."""
    target.write_bytes(content)
    for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
        compiled.unlink()


def _seconds_of(report: Path) -> dict[str, float]:
    """Return test file -> seconds, from pytest's own report."""
    seconds: dict[str, float] = {}
    for case in ET.parse(report).iter("testcase"):
        file = case.get("classname", "").replace(".", "/") + ".py"
        seconds[file] = seconds.get(file, 0.0) + float(case.get("time", 0))
    return seconds


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
