"""Runs test files in a copy of the tree, each request in a process of its own that has the libraries imported already.

`run.py` starts it in the copy and writes one request a line; it answers each with one line. What it imports are
libraries alone: the programs and their tests are imported after each fork, as the change left them.
"""

import importlib
import json
import os
import re
import resource
import signal
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import coverage
import pytest

MOST_BYTES: Final = 6 * 1024**3  # a loop that a change made endless must not take the machine's memory
PYTEST: Final = (
    "-q", "-n0", "-x", "--tb=short", "-p", "no:cacheprovider",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",  # plugins are imported before pytest looks for them
)  # fmt: skip
STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec"})


class Notes:
    """What a run shows: the first test that failed, and whether it started another process."""

    def __init__(self) -> None:
        self.failed = ""
        self.starts_processes = False
        sys.addaudithook(self._listen)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first test that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the first file that cannot be imported."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def _listen(self, event: str, _: object) -> None:
        self.starts_processes = self.starts_processes or event in STARTS


def serve() -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        answer = _answer(**request)
        _preload(answer.pop("libraries", ()))
        print(json.dumps(answer), flush=True)


def _answer(arguments: Sequence[str], limit_s: float, sources: Sequence[str]) -> dict[str, Any]:
    """Run pytest in a fork; with `sources`, say which of their lines ran and which libraries were imported."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        written = Path(name, "answer.json")
        output = Path(name, "output.txt")
        child = os.fork()
        if child == 0:
            _run(arguments, sources, written, output)

        status = _wait(child, began + limit_s)
        answer: dict[str, Any] = {}
        if status is not None and written.exists():
            answer = json.loads(written.read_text(encoding="utf-8"))
        text = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    return {"status": status, "seconds": time.monotonic() - began, "output": text[-4_000:], **answer}


def _run(arguments: Sequence[str], sources: Sequence[str], written: Path, output: Path) -> None:
    """Be the process that runs the tests; never returns."""
    status = -1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
        with output.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)

        notes = Notes()
        watch = coverage.Coverage(data_file=None, include=list(sources), config_file=False) if sources else None
        if watch:
            watch.start()
        status = int(pytest.main([*PYTEST, *arguments], plugins=[notes]))
        answer: dict[str, Any] = {"failed": notes.failed}
        if watch:
            watch.stop()
            answer["starts_processes"] = notes.starts_processes
            answer["lines"] = _lines(watch.get_data())
            answer["libraries"] = _libraries()
        written.write_text(json.dumps(answer), encoding="utf-8")
    finally:
        sys.stdout.flush()
        os._exit(status % 256)


def _wait(child: int, until: float) -> int | None:
    """Return how a process ended, None where it did not in time; whatever it started goes with it."""
    try:
        while time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.005)
        return None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


def _lines(data: coverage.CoverageData) -> dict[str, list[int]]:
    here = Path.cwd()
    return {str(Path(file).relative_to(here)): sorted(data.lines(file) or ()) for file in data.measured_files()}


def _libraries() -> list[str]:
    """Return the installed modules that were imported, without private ones: those come with what needs them."""
    installed = Path(sysconfig.get_path("purelib"))
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    return sorted(
        name for name, file in files.items()
        if file and Path(file).is_relative_to(installed) and not re.search(r"(^|\.)_", name)
    )  # fmt: skip


def _preload(libraries: Sequence[str]) -> None:
    for name in libraries:
        with suppress(Exception):  # a few are only there under the name that their package gave them
            importlib.import_module(name)


if __name__ == "__main__":
    serve()
