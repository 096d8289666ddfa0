"""Where Python runs and Unix does not, readers and buyers have their commands, and the service says what it needs."""

from pathlib import Path

import pytest

from tests.support.processes import python, without_unix

READ = ("--help", "--version", "up --help", "help")
SERVICE = ("up", "tick", "gateway", "schedule --source simulated", "backup x", "setup", "payments")
TAKE_TWICE = """
from tests.support import not_unix
not_unix.become_windows()
from pathlib import Path
from generator.lock import StateLock, StateLockTaken, note_of
with StateLock(Path("state"), "up", note="here"):
    print(note_of(Path("state"), "up"))
    try:
        StateLock(Path("state"), "up").__enter__()
    except StateLockTaken as taken:
        print("taken by", taken.pid)
print(note_of(Path("state"), "up"))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the lines of standard error of all commands, run one after the other without what Windows lacks."""
    folder = tmp_path_factory.mktemp("windows")
    done = without_unix(folder, *READ, *SERVICE)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def test_help_and_version_need_no_unix(said: list[str]) -> None:
    assert [line for line in said if line.startswith(READ)] == [f"{command}: 0" for command in READ]


@pytest.mark.parametrize("command", SERVICE)
def test_a_command_of_the_service_says_in_one_line_what_it_needs(said: list[str], command: str) -> None:
    line = said[said.index(f"{command}: 1") - 1]

    name, _, _ = command.partition(" ")
    assert line.startswith(f"emi: emi {name} needs Linux or macOS (on Windows: WSL); here run buy, ")


def test_the_lock_of_a_state_folder_holds_without_fcntl(tmp_path: Path) -> None:
    done = python(tmp_path, "-c", TAKE_TWICE)

    assert done.stdout.split("\n")[0] == "here", done.stderr
    assert done.stdout.split("\n")[1].startswith("taken by ")
    assert done.stdout.split("\n")[2] == "None"
