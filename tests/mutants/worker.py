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
from math import ceil
from pathlib import Path
from typing import Any, Final

import coverage
import pytest

from tests.mutants.run import SHARED

MOST_BYTES: Final = 6 * 1024**3  # a loop that a change made endless must not take the machine's memory
PYTEST: Final = (
    "-q", "-n0", "-x", "--tb=short", "-p", "no:cacheprovider",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",  # plugins are imported before pytest looks for them
)  # fmt: skip
STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec"})


class Notes:
    """What a run shows: the first test that failed, and which test ran which line or started a process.

    Only the `tests` named run, in this order; all, where none is.
    """

    def __init__(self, tests: Sequence[str], watch: coverage.Coverage | None) -> None:
        self.failed = ""
        self.seconds: dict[str, float] = {}
        self.starting: set[str] = set()
        self._order = {name: number for number, name in enumerate(tests)}
        self._watch = watch
        self._current = ""
        sys.addaudithook(self._listen)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the tests that were asked for, in their order."""
        if self._order:
            chosen = [item for item in items if item.nodeid in self._order]
            items[:] = sorted(chosen, key=lambda item: self._order[item.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Let what fixtures run count for all tests of the file: another may use them."""
        self._switch(item.nodeid + SHARED)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Let what runs from now on count for this test."""
        self._switch(item.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Let the end of fixtures count as their beginning."""
        self._switch(item.nodeid + SHARED)

    def _switch(self, name: str) -> None:
        self._current = name
        if self._watch is not None:
            self._watch.switch_context(name)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first test that fails, and how long each takes."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the first file that cannot be imported."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def _listen(self, event: str, _: object) -> None:
        if event in STARTS:
            self.starting.add(self._current)


def serve() -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        answer = _answer(**request)
        _preload(answer.pop("libraries", ()))
        print(json.dumps(answer), flush=True)


def _answer(
    arguments: Sequence[str], cpu_s: float, wait_s: float, sources: Sequence[str], tests: Sequence[str]
) -> dict[str, Any]:
    """Run pytest in a fork, of some `tests` alone; with `sources`, say who ran their lines, and what was imported."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        written = Path(name, "answer.json")
        output = Path(name, "output.txt")
        child = os.fork()
        if child == 0:
            limit(cpu_s)
            _run(arguments, sources, tests, written, output)

        answer = answer_of(child, wait_s, written)
        text = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    return {**answer, "output": text[-4_000:]}


def answer_of(child: int, wait_s: float, written: Path) -> dict[str, Any]:
    """Wait for a fork; return how it ended, what it took and what it wrote."""
    began = time.monotonic()
    before_s = _cpu_s()
    status = _wait(child, began + wait_s)

    wrote: dict[str, Any] = {}
    if status is not None and written.exists():
        wrote = json.loads(written.read_text(encoding="utf-8"))
    return {"status": status, "wait_s": time.monotonic() - began, "cpu_s": _cpu_s() - before_s, **wrote}


def limit(cpu_s: float) -> None:
    """Limit this process and each that it starts, whatever else the machine has to do."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(cpu_s), ceil(cpu_s)))


def _cpu_s() -> float:
    """Return the processor's time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(arguments: Sequence[str], sources: Sequence[str], tests: Sequence[str], written: Path, output: Path) -> None:
    """Be the process that runs the tests; never returns."""
    status = -1
    try:
        os.setsid()
        with output.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)

        watch = coverage.Coverage(data_file=None, include=list(sources), config_file=False) if sources else None
        notes = Notes(tests, watch)
        if watch:
            watch.start()
        status = int(pytest.main([*PYTEST, *arguments], plugins=[notes]))
        answer: dict[str, Any] = {"failed": notes.failed}
        if watch:
            watch.stop()
            answer["starting"] = sorted(notes.starting - {""})
            answer["seconds"] = notes.seconds
            answer["tests"] = _tests(watch.get_data())
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


def _tests(data: coverage.CoverageData) -> dict[str, dict[int, list[str]]]:
    """Return the tests that ran a line, by source and line; the empty one for what an import runs."""
    here = Path.cwd()
    return {str(Path(file).relative_to(here)): data.contexts_by_lineno(file) for file in data.measured_files()}


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
