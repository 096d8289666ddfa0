"""What a block that no test runs asks of other programs: each is there, and its help knows the options."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.blocks import ROOT, TYPED, Block, called, not_run

BEFORE: Final = f"{os.environ['PATH']}:/usr/sbin:/sbin"
EDGE: Final = Path(os.environ.get("OFFICIAL_EDGE", "."))
WITHOUT_HELP: Final = frozenset(
    {"apt-get", "podman", "certbot"}
)  # the first lists no options, the others are not installed
BLOCKS: Final = [block for block in not_run() if block.language in TYPED]
pytestmark = pytest.mark.outside


def asked(program: str, arguments: list[str]) -> list[str]:
    """Return the command that prints the help on what is asked of a program, empty where a shell knows it by itself."""
    match [Path(program).name, *arguments]:
        case ["pip", subcommand, *_]:
            return [sys.executable, "-m", "pip", subcommand, "--help"]
        case ["npx", name, subcommand, *_]:
            return [str(EDGE / "node_modules" / ".bin" / name), subcommand, "--help"]
        case ["cd" | "export" | "set" | "" | "emi", *_]:  # `.` has no name; what emi knows is checked of every block
            return []
        case [name, *_]:
            return [shutil.which(name, path=BEFORE) or name, "--help"]
    return []


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
def test_the_programs_of_a_block_that_is_not_run_know_its_options(block: Block) -> None:
    for program, *arguments in called(block):
        command = asked(program, arguments)
        if not command or program in WITHOUT_HELP:
            continue
        printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        own = arguments[: arguments.index("--")] if "--" in arguments else arguments
        options = {word.partition("=")[0] for word in own if re.match(r"--?[A-Za-z]", word)}

        assert {option for option in options if not re.search(rf"(?<![\w-]){option}\b", printed)} == set(), program


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
def test_the_folders_of_a_block_that_is_not_run_are_debian_s_or_the_units(block: Block) -> None:
    units = "".join(path.read_text() for path in (ROOT / "site/edge/systemd").iterdir())
    named = set(re.findall(r"(?<![\w.:/}])/(?:etc|opt|srv|usr|var)(?:/[\w.-]+)+", block.text))

    missing = {path for path in named if path not in units and not Path(path).parent.is_dir()}
    assert {path for path in missing if not re.search(rf"{Path(path).parent}(?![\w.-])", units)} == set()


def test_what_systemd_is_asked_to_do_is_known_to_it() -> None:
    verbs = {arguments[0] for block in BLOCKS for program, *arguments in called(block) if program == "systemctl"}

    printed = subprocess.run(["systemctl", "--help"], capture_output=True, text=True, timeout=60, check=True).stdout

    assert {"restart", "stop"} <= verbs
    assert {verb for verb in verbs if not re.search(rf"^  {verb}\b", printed, re.MULTILINE)} == set()
