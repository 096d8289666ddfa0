"""One mutant at a time in a copy of the tree, so that the checkout is never touched."""

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.mutants.reach import Statement, is_used_at_import, reached, statement_at
from tests.mutants.rooms import ROOMS, ROOT
from tests.mutants.sites import Site

SLOWEST: Final = 4.0  # times the processor's time that the tests take without a change: then they go round and round
LONGEST: Final = 20.0  # times what they take by the clock: then they wait for ever
LEAST_S: Final = 30.0
LEAST_WAIT_S: Final = 120.0
PASSED: Final = 0
FAILED: Final = (1, 2)  # of the tests, or of their collection
INTERNAL_ERROR: Final = 3
NO_TEST: Final = 5
KEPT: Final = ROOT / ".mutants_cache"
EXAMPLES: Final = "tests/test_doctests.py"  # those in the docstrings of a room are tests of it too
SHARED: Final = "|shared"  # marks what a test's setting up does, for others of its file may use it


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
    """What one file of tests does when nothing is changed, by the names of its tests.

    What the setting up of one runs or starts may be shared: it counts for all tests of the file.
    """

    path: str
    text: str
    wait_s: float
    cpu_s: float
    seconds: Mapping[str, float]
    starting: frozenset[str]  # another process, of which we cannot see what it runs
    tests: Mapping[str, Mapping[int, Sequence[str]]]  # by source and line of the sources

    def imports(self, source: str, lines: Iterable[int]) -> bool:
        """Return whether its import runs one of some lines."""
        tests = self.tests.get(source, {})
        return any("" in tests.get(line, ()) for line in lines)

    def running(self, source: str, lines: Iterable[int]) -> set[str]:
        """Return the tests that run one of some lines."""
        tests = self.tests.get(source, {})
        return self._named({name for line in lines for name in tests.get(line, ())})

    @property
    def starting_processes(self) -> set[str]:
        """The tests that start a process."""
        return self._named(self.starting)

    def mentions(self, names: Iterable[str]) -> bool:
        """Return whether one of some names is in the file."""
        return any(re.search(rf"\b{name}\b", self.text) for name in names)

    def _named(self, contexts: Iterable[str]) -> set[str]:
        if any(name.endswith(SHARED) for name in contexts):
            return set(self.seconds)
        return {name for name in contexts if name}


@dataclass(frozen=True)
class Limits:
    """After how much of the processor's time a process of the tests is ended, and after how much of the clock's all."""

    cpu_s: float
    wait_s: float


UNCHANGED: Final = Limits(cpu_s=3_600, wait_s=7_200)


class Copy:
    """A copy of the checkout in which one file at a time is another."""

    def __init__(self, folder: Path, processes: ExitStack, most_s: float) -> None:
        self.folder = folder
        self._most_s = most_s
        self._processes = processes
        self._worker = processes.enter_context(_started(folder, ["tests.mutants.worker"]))
        self._sessions: dict[str, subprocess.Popen[str]] = {}
        self._sources_digest = _sources_digest(folder)
        self._texts = {
            file.relative_to(folder): file.read_text(encoding="utf-8")
            for room in ROOMS.values()
            for file in room.files(folder)
        }
        self._watched: dict[str, list[TestFile]] = {}
        self._noticed: Counter[str] = Counter()  # mutants by the test file that noticed them

    def test_files(self, room: str) -> list[TestFile]:
        """Return what each test file of a room runs without a change; looked at once, each in its own process."""
        tests = ROOMS[room].tests
        if tests not in self._watched:
            sources = [
                str(file) for other in ROOMS.values() if other.tests == tests for file in other.files(self.folder)
            ]
            files = [*sorted((self.folder / tests).rglob("test_*.py")), self.folder / EXAMPLES]
            self._ask(["--collect-only", tests], sources=sources)  # imports the libraries
            self._watched[tests] = [self._watch(str(file.relative_to(self.folder)), tests, sources) for file in files]
        return self._watched[tests]

    def _watch(self, file: str, room: str, sources: Sequence[str]) -> TestFile:
        answer = self._kept_answer(file, room, sources)
        return TestFile(
            path=file,
            text=(self.folder / file).read_text(encoding="utf-8"),
            wait_s=answer["wait_s"],
            cpu_s=answer["cpu_s"],
            seconds=answer["seconds"],
            starting=frozenset(answer["starting"]),
            tests={
                source: {int(line): names for line, names in rows.items()} for source, rows in answer["tests"].items()
            },
        )

    def _kept_answer(self, file: str, room: str, sources: Sequence[str]) -> dict[str, Any]:
        """Return what a file of tests does, from an earlier run where it and the sources are as they were then."""
        digest = hashlib.sha256(f"{self._sources_digest} {room} {file}".encode())
        digest.update((self.folder / file).read_bytes())
        kept = KEPT / f"{digest.hexdigest()}.json"
        if kept.is_file():
            answer: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
            return answer

        for _ in range(2):  # a busy machine may fail one of a thousand
            answer = self._ask([file], sources=sources)
            if answer["status"] in {PASSED, NO_TEST}:
                KEPT.mkdir(exist_ok=True)
                kept.write_text(json.dumps(answer), encoding="utf-8")
                return answer
        raise NotComparableError(f"{file} fails without any change:\n{answer['output']}")

    def outcome(self, mutant: Mutant) -> Outcome:
        """Run the tests that may notice a mutant, those first that run it, in files that noticed others."""
        chosen = self._chosen(mutant)
        files = [file for file in self.test_files(mutant.room) if not chosen.isdisjoint(file.seconds)]
        if not files:
            return Outcome("", 0.0)

        tests = self._in_order(chosen, files)
        paths = [file.path for file in files]
        limits = Limits(
            cpu_s=max(LEAST_S, SLOWEST * sum(file.cpu_s for file in files)),
            wait_s=max(LEAST_WAIT_S, LONGEST * sum(file.wait_s for file in files)),
        )
        with self._changed(mutant):
            answer = self._tried(mutant, paths, tests, limits)

        status: int | None = answer["status"]
        if status in {PASSED, NO_TEST}:
            return Outcome("", answer["wait_s"])
        if status is None and self._ask(paths, limits, tests=tests)["status"] is None:
            # Without the change they take as long: that is the machine, and no test that noticed.
            return Outcome("", answer["wait_s"])
        if status is not None and status >= 0 and not (status in FAILED and answer.get("failed")):
            raise NotComparableError(f"pytest ended with {status} for {mutant}:\n{answer.get('output', '')}")
        noticed_by = answer.get("failed") or "no end, or a crash"
        self._noticed[noticed_by.partition("::")[0]] += 1
        return Outcome(noticed_by, answer["wait_s"])

    def _in_order(self, chosen: set[str], files: list[TestFile]) -> list[str]:
        """Return the tests file by file, those first that are quick and noticed others; no more than may be run."""

        def cost_s(file: TestFile) -> float:
            return sum(file.seconds[name] for name in chosen & set(file.seconds)) / (1 + self._noticed[file.path])

        files.sort(key=cost_s)
        tests: list[str] = []
        left_s = self._most_s
        for file in files:
            for name in sorted(chosen & set(file.seconds), key=file.seconds.__getitem__):
                if left_s > 0:
                    tests.append(name)
                    left_s -= file.seconds[name]
        return tests

    def _tried(self, mutant: Mutant, paths: Sequence[str], tests: Sequence[str], limits: Limits) -> dict[str, Any]:
        """Run tests of the changed source, in a process that has imported the others where that shows the change."""
        room = ROOMS[mutant.room].tests
        text = self._texts[mutant.path]
        changed = statement_at(text, mutant.site.line)
        if not changed.constant and self._runs_at_import(room, str(mutant.path), changed):
            return self._ask(paths, limits, tests=tests)
        if changed.constant and is_used_at_import(changed.constant, self._texts.values()):
            return self._ask(paths, limits, tests=tests)

        request = {"source": str(mutant.path), "before": text, "constant": changed.constant, "tests": list(tests)}
        answer = _asked(self._session(room), request | asdict(limits))
        if answer["status"] == INTERNAL_ERROR and changed.constant:
            # What registers itself where it is made, as a table does, cannot be made twice in one process.
            return self._ask(paths, limits, tests=tests)
        return answer

    def _runs_at_import(self, room: str, source: str, changed: Statement) -> bool:
        return changed.is_at_import or any(file.imports(source, changed.lines) for file in self._watched[room])

    def _session(self, room: str) -> subprocess.Popen[str]:
        if room not in self._sessions:
            command = ["tests.mutants.session", room, EXAMPLES]
            self._sessions[room] = self._processes.enter_context(_started(self.folder, command))
        return self._sessions[room]

    def _chosen(self, mutant: Mutant) -> set[str]:
        """Return the tests that run a line where the change may show, start a process, or name what it binds."""
        room = [file.relative_to(self.folder) for file in ROOMS[mutant.room].files(self.folder)]
        sources = {str(path): self._texts[path] for path in room}
        source = str(mutant.path)
        changed = statement_at(sources[source], mutant.site.line)
        lines = reached(sources, source, mutant.site.line)

        chosen: set[str] = set()
        for file in self.test_files(mutant.room):
            chosen |= file.starting_processes
            chosen.update(*(file.running(other, rows) for other, rows in lines.items()))
            if changed.is_at_import and file.mentions(changed.binds):
                chosen.update(file.seconds)
            if not changed.is_at_import and file.imports(source, changed.lines):
                chosen.update(file.seconds)
        return chosen

    def _ask(
        self,
        arguments: Sequence[str],
        limits: Limits = UNCHANGED,
        *,
        sources: Sequence[str] = (),
        tests: Sequence[str] = (),
    ) -> dict[str, Any]:
        request = {"arguments": list(arguments), **asdict(limits), "sources": list(sources), "tests": list(tests)}
        return _asked(self._worker, request)

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
def copied(root: Path, most_s: float = math.inf) -> Iterator[Copy]:
    """Copy what git would keep of a checkout, as it is now, into a folder that goes at the end.

    Args:
        most_s: for how long the tests may take that a mutant must live through, as they were measured without it.
    """
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
        with ExitStack() as processes:
            yield Copy(folder, processes, most_s)


def _asked(process: subprocess.Popen[str], request: Mapping[str, Any]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


@contextmanager
def _started(folder: Path, command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Start what runs tests; it ends with its standard input."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
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


def _sources_digest(folder: Path) -> str:
    """Return what changes with every file but those of tests, documents and this tool."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        left_out = file.name.startswith("test_") or name.startswith(("docs/", "tests/mutants/"))
        if file.is_file() and not left_out and file.suffix != ".pyc":
            digest.update(f"{name} {file.stat().st_size}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _write_source(target: Path, content: bytes) -> None:
    """Write a source and forget what it was compiled to: of equal length and second, Python would not notice."""
    target.write_bytes(content)
    for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
        compiled.unlink()
