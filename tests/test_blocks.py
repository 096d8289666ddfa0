"""The blocks of the pages that people follow, as far as they can be checked without being run."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from generator.cli import command_line
from generator.cli._settings import known_names
from tests.blocks import (
    MOST_NOT_RUN,
    ROOT,
    SHOWN,
    TYPED,
    Block,
    blocks,
    called,
    commands,
    every_block,
    not_run,
    prints,
)
from tests.support.processes import emi_here

TYPED_BLOCKS = [block for block in every_block() if block.language in TYPED]
OF_THE_TREE = re.compile(r"(?:site|docs|tests|generator|gateway|templates)/[\w./*-]+|requirements[\w-]*\.lock")
STRANGERS = (
    "docs/tutorial.md",
    "CONTRIBUTING.md",
    *(f"docs/howto/{name}.md" for name in ("audit", "build")),
)


def where(block: Block) -> str:
    return block.where


def emi_lines() -> list[tuple[str, list[str]]]:
    """Return the arguments of every `emi` that a block has, or that a page has in the middle of a sentence."""
    lines = [(block.where, words) for block in TYPED_BLOCKS for words in called(block)]
    typed = [(place, words[1:]) for place, words in lines if words[0].split("/")[-1] == "emi"]
    as_owner = [
        (block.where, words[2:]) for block in TYPED_BLOCKS for words in commands(block.text) if words[0] == "emi_as"
    ]
    named = [
        (page.name, said.split())
        for page in (ROOT / "docs").rglob("*.md")
        for said in re.findall(r"`emi(?:_as \w+)? ([a-z][^`]*)`", page.read_text())
    ]
    return typed + as_owner + named


def test_a_block_says_what_it_is() -> None:
    unnamed = [block.where for block in every_block() if block.language not in TYPED | SHOWN]
    excused = [block.where for block in every_block() if block.not_run and block.language not in TYPED | {"nft"}]

    assert (unnamed, excused) == ([], [])


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    skipped = not_run()

    assert len(skipped) <= MOST_NOT_RUN
    assert all(re.search(r"\b(root|cloud|domain|engine)", block.not_run) for block in skipped)


def test_a_shell_can_read_what_is_typed() -> None:
    for block in TYPED_BLOCKS:
        read = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, timeout=10, check=False)

        assert (block.where, read.returncode, read.stderr) == (block.where, 0, "")
        assert list(called(block)), block.where


def test_every_file_and_setting_that_a_block_names_exists() -> None:
    for block in TYPED_BLOCKS:
        words = [word for command in called(block) for word in command]

        for path in filter(OF_THE_TREE.fullmatch, words):
            assert list(ROOT.glob(path)), (block.where, path)
        assert set(re.findall(r"\bEMI_[A-Z_]+(?==)", block.text)) <= known_names().keys(), block.where


def test_every_emi_command_and_option_that_a_page_names_exists() -> None:
    for place, words in emi_lines():
        assert_command_exists(place, words)


def assert_command_exists(place: str, words: list[str]) -> None:
    command: Any = command_line().commands.get(words[0]) if words else command_line()
    assert command is not None, f"{place}: emi {' '.join(words)}: no such command"

    options = {"--help"} | {name for parameter in command.params for name in parameter.opts}
    unknown = [word for word in words if word.startswith("--") and word.partition("=")[0] not in options]
    assert (place, unknown) == (place, [])


@pytest.mark.parametrize("block", [block for block in every_block() if block.language == "ini"], ids=where)
def test_the_settings_of_a_fragment_are_taken(block: Block, tmp_path: Path) -> None:
    settings = dict(line.split("=", 1) for line in block.text.splitlines())

    said = emi_here("key", "log", cwd=tmp_path, **settings)

    assert "unknown setting" not in said.stderr
    assert not re.search(r"EMI_\w+ is ", said.stderr), said.stderr


@pytest.mark.parametrize("block", [block for block in every_block() if block.language == "nft"], ids=where)
def test_a_rule_of_the_firewall_names_what_it_defines(block: Block) -> None:
    assert block.text.count("{") == block.text.count("}")
    assert set(re.findall(r"@(\w+)", block.text)) == set(re.findall(r"\bset (\w+)", block.text))


@pytest.mark.parametrize("page", STRANGERS)
def test_a_stranger_types_at_most_eight_blocks_and_chains_only_the_set_up(page: str) -> None:
    typed = [block.text for block in blocks(page) if block.language in TYPED]

    assert 0 < len(typed) <= 8
    assert [text for text in typed if "&&" in text and not text.startswith("python3 -m venv ")] == []


@pytest.mark.parametrize(
    ("quoted", "printed"),
    [
        ("n=47: 0.6498\n", "n=3: 0.1\n"),
        ("round BTC-20261123-130000: up\n", "first\nround BTC-20250101-000000: up\nlast\n"),
        ("a … d\n…\nz\n", "a b c d\nmore\nz\n"),
        ("from 2026-11-23T15:02:11Z\n\n", "from 2027-01-02T03:04:05Z   \n\n"),
        ("", "anything"),
    ],
)
def test_what_is_printed_is_compared_but_for_its_numbers(quoted: str, printed: str) -> None:
    assert prints(quoted, printed)


@pytest.mark.parametrize(
    ("quoted", "printed"),
    [("a\n", "b\n"), ("a\nb\n", "a\nx\nb\n"), ("b\n", "ab\n"), ("a\n", "ab\n"), ("a\n…\nb\n", "b\na\n")],
)
def test_a_quote_that_was_not_printed_is_found(quoted: str, printed: str) -> None:
    assert not prints(quoted, printed)


def test_the_commands_of_a_block_are_read_as_a_shell_reads_them() -> None:
    script = (
        "f() { # a comment\n  A=1 tool --x 'a b' \\\n    y | other\n}\nf && python3 - <<'PY'\nnot --a command\nPY\n"
    )

    assert list(commands(script)) == [
        ["f"],
        ["A=1", "tool", "--x", "a b", "y"],
        ["other"],
        ["f"],
        ["python3", "-", "<<PY"],
    ]
