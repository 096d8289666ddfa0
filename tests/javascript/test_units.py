"""The scripts of the pages keep their promises without a browser; tests/outside has the pages in chromium."""

import re
import shutil
from pathlib import Path

import pytest

from tests.javascript.units import HERE, run_units

NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="no node: terms, scores, daily question and votes are not run here")
def test_every_unit_of_the_scripts_passes(tmp_path: Path) -> None:
    assert NODE is not None
    units = sum(len(re.findall(r"^test\(", unit.read_text(), re.MULTILINE)) for unit in HERE.glob("*.test.mjs"))

    finished = run_units(tmp_path, NODE)

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert re.search(rf"^\S pass {units}$", finished.stdout, re.MULTILINE), finished.stdout
