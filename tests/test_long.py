"""What `pytest` alone leaves out: each is there, is run by name, and is run before a change lands."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LONG, is_long, runs_all_but_the_long

ROOT = Path(__file__).parents[1]


def collected(*arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-n0", "--collect-only", *arguments]
    return subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True).stdout


def test_each_long_file_or_folder_is_there_and_is_run_before_a_change_lands() -> None:
    assert [name for name in LONG if not (ROOT / name).exists()] == []
    assert 'xargs "$tests" <tests/long.txt' in (ROOT / ".ci" / "run").read_text()


def test_a_file_is_long_by_its_own_name_or_its_folders() -> None:
    assert is_long("tests/lab")
    assert is_long("tests/lab/test_scores.py")
    assert not is_long("tests/laboratory/test_scores.py")
    assert not is_long("tests")


@pytest.mark.parametrize("asked", [["tests/doors"], ["tests/doors", "-k", "hostile"]])
def test_a_long_one_that_is_named_is_run(asked: list[str]) -> None:
    assert "test_hostile_bytes" in collected(*asked)


def test_only_pytest_alone_leaves_them_out() -> None:
    config = FakeConfig("not outside", "", pytest.Config.ArgsSource.TESTPATHS)

    assert runs_all_but_the_long(config)  # type: ignore[arg-type]
    for other in (
        FakeConfig("outside", "", pytest.Config.ArgsSource.TESTPATHS),
        FakeConfig("not outside", "hostile", pytest.Config.ArgsSource.TESTPATHS),
        FakeConfig("not outside", "", pytest.Config.ArgsSource.ARGS),
    ):
        assert not runs_all_but_the_long(other)  # type: ignore[arg-type]


class FakeConfig:
    """What pytest knows of how it was called."""

    def __init__(self, markexpr: str, keyword: str, source: pytest.Config.ArgsSource) -> None:
        self.option = Option(markexpr, keyword)
        self.args_source = source


class Option:
    """Two of its options."""

    def __init__(self, markexpr: str, keyword: str) -> None:
        self.markexpr = markexpr
        self.keyword = keyword
