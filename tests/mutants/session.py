"""Runs chosen tests of one room, each request in a fork of a process that has collected them all.

`run.py` starts it in the copy. A change inside of a function needs no new import: the fork gives the function the code
that its source has now, or a constant of a module its value. What else is made at import goes to `worker.py`.
"""

import ast
import gc
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TextIO

import pytest

from tests.mutants.reach import constant_of
from tests.mutants.worker import PYTEST, Notes, answer_of, limit


class Requests:
    """A pytest plugin that runs no test itself: for each request its fork does, and ends as pytest ends."""

    def __init__(self, requests: TextIO, answers: TextIO) -> None:
        self.notes: Notes | None = None  # of a fork
        self.written = Path()
        self._requests = requests
        self._answers = answers

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Fork for each request; in a fork, leave the chosen tests to pytest."""
        by_name = {item.nodeid: item for item in session.items}
        functions = _functions(Path.cwd())
        for line in self._requests:
            request = json.loads(line)
            folder = tempfile.mkdtemp(prefix="mutants-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
            self.written = Path(folder, "answer.json")
            child = os.fork()
            if child == 0:
                os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
                _become(request, functions)
                self.notes = Notes((), None)
                session.config.pluginmanager.register(self.notes)
                session.items = [by_name[test] for test in request["tests"] if test in by_name]
                return None

            print(json.dumps(answer_of(child, request["wait_s"], self.written)), file=self._answers, flush=True)
            shutil.rmtree(folder, ignore_errors=True)
        return True


def _functions(folder: Path) -> Mapping[str, list[FunctionType]]:
    """Return every function of the programs that there is, by its file."""
    gc.unfreeze()
    functions: dict[str, list[FunctionType]] = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename.startswith(str(folder)):
            functions.setdefault(thing.__code__.co_filename, []).append(thing)
    gc.freeze()
    return functions


def _become(request: Mapping[str, Any], functions: Mapping[str, Sequence[FunctionType]]) -> None:
    """Be a process in which one source is as it is on disk now."""
    os.setsid()
    limit(request["cpu_s"])
    file = str(Path(request["source"]).resolve())
    if request["constant"]:
        _set(file, request["constant"])
        return

    before = compile(request["before"], file, "exec", dont_inherit=True)
    after = compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)

    changed = {old: new for old, new in zip(_codes(before), _codes(after), strict=True) if old != new}
    for function in functions.get(file, ()):
        function.__code__ = changed.get(function.__code__, function.__code__)


def _set(file: str, name: str) -> None:
    """Give a constant of a module the value that its source has now, in every module that has it."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == file:
            before = vars(module)[name]
            rows = [row for row in ast.parse(Path(file).read_text(encoding="utf-8")).body if constant_of(row) == name]
            exec(compile(ast.Module(rows, []), file, "exec", dont_inherit=True), vars(module))
            for other in list(sys.modules.values()):
                taken_over = f"from {module.__name__} import"
                if getattr(other, "__dict__", {}).get(name) is before and taken_over in _text_of(other):
                    setattr(other, name, vars(module)[name])


def _text_of(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return Path(file).read_text(encoding="utf-8") if file and file.endswith(".py") else ""


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


def main() -> None:
    """Collect, then answer requests until there are no more."""
    requests = Requests(os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w"))
    with tempfile.TemporaryFile() as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        status = int(pytest.main([*PYTEST, *sys.argv[1:]], plugins=[requests]))

    if requests.notes is not None:
        requests.written.write_text(json.dumps({"failed": requests.notes.failed}), encoding="utf-8")
        sys.stdout.flush()
    os._exit(status % 256)


if __name__ == "__main__":
    main()
