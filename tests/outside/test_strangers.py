"""Five strangers, each in a fresh clone and an empty home, who type what one page of the docs says and nothing else."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support.ports import free_port
from tests.support.processes import REPOSITORY, clean_environment

PAGES: Final = {
    "learner": "docs/tutorial.md",
    "agent": "docs/howto/build.md",
    "operator": "docs/howto/first-hour.md",
    "auditor": "docs/howto/audit.md",
    "contributor": "CONTRIBUTING.md",
}
MOST_COMMANDS: Final = 8
UP_WITHIN_S: Final = 300
PIP_CONFIG: Final = Path.home() / ".config" / "pip" / "pip.conf"  # how this machine reaches its package index
pytestmark = pytest.mark.outside


def commands(page: str) -> list[str]:
    """Return the commands of a page; each is a block of its own."""
    return re.findall(r"^```sh\n(.*?)^```$", (REPOSITORY / page).read_text(), re.DOTALL | re.MULTILINE)


@contextmanager
def started(command: str, log: Path, cwd: Path, env: dict[str, str]) -> Iterator[None]:
    """Type a command that runs until Ctrl-C, and go to the second terminal when it says that it is up."""
    with log.open("w") as out:
        process = subprocess.Popen(
            ["bash", "-ec", command], cwd=cwd, env=env, stdout=out, stderr=out, start_new_session=True
        )
    try:
        until = time.monotonic() + UP_WITHIN_S
        while "is up:" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        yield
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(90)


@pytest.mark.parametrize("stranger", PAGES)
def test_a_stranger_gets_through_with_one_page(stranger: str, tmp_path: Path) -> None:
    clone, home, port = tmp_path / "clone", tmp_path / "home", free_port(1)
    home.mkdir()
    subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(clone)], check=True, timeout=120)
    env = clean_environment(HOME=str(home), EMI_PORT=str(port))
    env |= {"PIP_CONFIG_FILE": str(PIP_CONFIG)} if PIP_CONFIG.exists() else {}
    ports = {"8402": str(port), "8403": str(port + 1), "9402": str(free_port())}
    typed = [re.sub("|".join(ports), lambda found: ports[found[0]], command) for command in commands(PAGES[stranger])]
    assert 0 < len(typed) <= MOST_COMMANDS
    assert [
        one for one in typed if "&&" in one and not one.startswith("python3 -m venv ")
    ] == []  # only set-up is chained

    with ExitStack() as second_terminal:
        for command in typed:
            if re.search(r"emi up( --as testnet)?$", command.strip()):
                second_terminal.enter_context(started(command, tmp_path / "up.log", clone, env))
                continue
            ran = subprocess.run(
                ["bash", "-ec", command], cwd=clone, env=env, capture_output=True, text=True, timeout=300, check=False
            )
            assert ran.returncode == 0, f"{command}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}"
            print(command, ran.stdout, sep="\n")
