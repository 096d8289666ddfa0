"""The commands: at most twenty, each with an example, and whatever names one names it as it is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.cli import OF_READERS, command_line
from tests.support.processes import REPOSITORY, emi_here

MOST = 20
COMMANDS = {name: command for name, command in command_line().commands.items() if not command.hidden}
OPTIONS = {
    name: {"--help", *(option for parameter in command.params for option in parameter.opts)}
    for name, command in COMMANDS.items()
}
NAMED_IN = ("generator", "gateway", "templates", "site", "docs", "README.md", "CONTRIBUTING.md", "SECURITY.md")
# `emi` as a word of its own or as bin/emi, the command, and what is on the line until a quote or a pipe ends it.
NAMED = re.compile(r"""(?<![\w./@:-])(?:[\w./-]*bin/)?emi ([a-z][\w-]*)([^`"'<>\n;|()]*)""")
OPTION = re.compile(r"--[a-z][\w-]*")
STARTS = {"emi", "emi_here"}  # functions of tests that run a command


def texts() -> Iterator[tuple[str, str]]:
    """Yield (place, text) of everything that names a command to a reader or an operator."""
    for name in NAMED_IN:
        place = REPOSITORY / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(REPOSITORY).as_posix(), path.read_text(errors="ignore")


def wrong_in(text: str) -> list[str]:
    """Return the commands and options that a text names and that there are not."""
    return [found[0].strip() for found in NAMED.finditer(text) if not exists(found[1], OPTION.findall(found[2]))]


def exists(command: str, options: list[str]) -> bool:
    return command in COMMANDS and set(options) <= OPTIONS[command]


def run_by_tests() -> Iterator[tuple[str, list[str]]]:
    """Yield (place, words) of every command that a test runs by a literal name."""
    for path in sorted((REPOSITORY / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in STARTS:
                words = [str(word.value) for word in node.args if isinstance(word, ast.Constant)]
                is_literal = bool(node.args) and isinstance(node.args[0], ast.Constant)
                if is_literal and not words[0].startswith("--"):
                    yield f"{path.relative_to(REPOSITORY)}:{node.lineno}", words


def test_there_are_at_most_twenty_commands_and_none_has_commands_below_it() -> None:
    groups = [name for name, command in COMMANDS.items() if hasattr(command, "commands")]

    assert groups == []
    assert len(COMMANDS) <= MOST


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_one_line_an_example_of_itself_and_an_explained_row_each(name: str) -> None:
    command = COMMANDS[name]
    text, _, example = (command.help or "").partition("Example: ")
    first_line = text.partition("\n")[0]

    assert first_line.endswith(".")
    assert len(first_line) <= 120
    assert f"emi {name}" in example
    assert wrong_in(example) == []
    assert [parameter.name for parameter in command.params if not getattr(parameter, "help", "help")] == []


def test_every_command_that_a_message_a_page_or_a_unit_names_exists_with_its_options() -> None:
    wrong = {place: found for place, text in texts() if (found := wrong_in(text))}

    assert wrong == {}


def test_every_command_that_a_test_runs_exists_with_its_options() -> None:
    wrong = {
        place: words
        for place, words in run_by_tests()
        if not exists(words[0], [word.partition("=")[0] for word in words if word.startswith("--")])
    }

    assert wrong == {}


@pytest.mark.parametrize(
    "text",
    ["`emi log init` makes one", "ExecStart=/opt/emi/bin/emi restore ${TARGET} --drilled", "<code>emi practice</code>"],
)
def test_a_command_that_is_gone_is_noticed(text: str) -> None:
    assert len(wrong_in(text)) == 1


def test_those_that_run_everywhere_are_commands() -> None:
    assert set(OF_READERS) <= set(COMMANDS)


@pytest.mark.parametrize("gone", ["log", "receipt-key", "practice", "buyer-wallets"])
def test_a_command_that_is_gone_is_an_error_that_shows_the_way_to_help(gone: str, tmp_path: Path) -> None:
    refused = emi_here(gone, "show", cwd=tmp_path)

    assert refused.returncode == 2
    assert f"No such command '{gone}'" in refused.stderr
    assert "emi --help" in refused.stderr
