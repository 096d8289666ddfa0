"""One mutant at a time in a copy of the tree, so that the checkout is never touched."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.mutants.rooms import ROOMS
from tests.mutants.sites import Site, statement_lines

SLOWEST: Final = 4.0  # times what the tests take without a change; then they hang, which is noticed too
LEAST_S: Final = 30.0
PASSED: Final = 0
FAILED: Final = (1, 2)  # of the tests, or of their collection
NO_TEST: Final = 5


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


@dataclass(frozen=True)
class TestFile:
    """What one file of tests does when nothing is changed; `lines` are those of the room's sources that it runs."""

    path: str
    seconds: float
    starts_processes: bool
    lines: dict[str, frozenset[int]]

    def may_notice(self, source: str, lines: range) -> bool:
        """Return whether it runs one of some lines, or starts a process, of which we cannot see what it runs."""
        return self.starts_processes or self.runs(source, lines)

    def runs(self, source: str, lines: range) -> bool:
        """Return whether it runs one of some lines by itself."""
        return not self.lines.get(source, frozenset()).isdisjoint(lines)


class Copy:
    """A copy of the checkout in which one file at a time is another."""

    def __init__(self, folder: Path, worker: subprocess.Popen[str]) -> None:
        self.folder = folder
        self._worker = worker
        self._watched: dict[str, list[TestFile]] = {}
        self._noticed: Counter[str] = Counter()  # mutants by the test file that noticed them

    def test_files(self, room: str) -> list[TestFile]:
        """Return what each test file of a room runs without a change; looked at once, each in its own process."""
        tests = ROOMS[room].tests
        if tests not in self._watched:
            sources = [
                str(file) for other in ROOMS.values() if other.tests == tests for file in other.files(self.folder)
            ]
            files = sorted((self.folder / tests).rglob("test_*.py"))
            self._ask(["--collect-only", tests], 600, sources)  # imports the libraries
            self._watched[tests] = [self._watch(str(file.relative_to(self.folder)), sources) for file in files]
        return self._watched[tests]

    def _watch(self, file: str, sources: Sequence[str]) -> TestFile:
        for _ in range(2):  # a busy machine may fail one of a thousand
            answer = self._ask([file], 3_600, sources)
            if answer["status"] in {PASSED, NO_TEST}:
                lines = {source: frozenset(rows) for source, rows in answer["lines"].items()}
                return TestFile(file, answer["seconds"], answer["starts_processes"], lines)
        raise NotComparableError(f"{file} fails without any change:\n{answer['output']}")

    def outcome(self, mutant: Mutant) -> Outcome:
        """Run the tests that may notice a mutant: those that run it, by what they noticed so far, then the quickest."""
        source = str(mutant.path)
        lines = statement_lines((self.folder / mutant.path).read_text(encoding="utf-8"), mutant.site)
        files = [file for file in self.test_files(mutant.room) if file.may_notice(source, lines)]
        if not files:
            return Outcome("", 0.0)

        files.sort(key=lambda file: (not file.runs(source, lines), -self._noticed[file.path], file.seconds))
        limit_s = max(LEAST_S, SLOWEST * sum(file.seconds for file in files))
        with self._changed(mutant):
            answer = self._ask([file.path for file in files], limit_s)

        status: int | None = answer["status"]
        if status == PASSED:
            return Outcome("", answer["seconds"])
        if status is not None and status not in FAILED and status > 0:
            raise NotComparableError(f"pytest ended with {status} for {mutant}:\n{answer['output']}")
        noticed_by = answer.get("failed") or "no end, or a crash"
        self._noticed[noticed_by.partition("::")[0]] += 1
        return Outcome(noticed_by, answer["seconds"])

    def _ask(self, arguments: Sequence[str], limit_s: float, sources: Sequence[str] = ()) -> dict[str, Any]:
        assert self._worker.stdin is not None
        assert self._worker.stdout is not None
        request = {"arguments": list(arguments), "limit_s": limit_s, "sources": list(sources)}
        self._worker.stdin.write(json.dumps(request) + "\n")
        self._worker.stdin.flush()
        answer: dict[str, Any] = json.loads(self._worker.stdout.readline())
        return answer

    @contextmanager
    def _changed(self, mutant: Mutant) -> Iterator[None]:
        target = self.folder / mutant.path
        before = target.read_bytes()
        try:
            _write_source(target, mutant.site.applied(before))
            yield
        finally:
            _write_source(target, before)


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
        _check_imports(folder)
        with _worker(folder) as worker:
            yield Copy(folder, worker)


@contextmanager
def _worker(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start what runs the tests; it ends with its standard input."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.mutants.worker"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


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
