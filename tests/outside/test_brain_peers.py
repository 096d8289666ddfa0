"""`python -m generator.lab evaluate` with every peer: hmmlearn in the same run."""

import importlib.util
from pathlib import Path

import pytest

from generator.lab.evaluate import OURS
from generator.lab.peers import PEERS
from generator.lab.simulator import FAMILIES
from tests.lab.evaluated import evaluated

pytestmark = [
    pytest.mark.outside,
    pytest.mark.timeout(600),  # the libraries fit for 20 s of a quiet core
    pytest.mark.skipif(not importlib.util.find_spec("hmmlearn"), reason="without hmmlearn"),
]


def test_every_peer_answers_on_the_same_markets_as_the_brain(tmp_path: Path) -> None:
    result = evaluated(tmp_path)

    assert result.exit_code == 0, result.output
    assert "skipped" not in result.stderr
    for family in FAMILIES:
        rows = [line for line in result.stdout.splitlines() if line.startswith(f"| {family} | ")]
        models = [row.split(" | ")[1] for row in rows if row.count("|") > 8]
        assert models == [OURS, *PEERS]
