"""`emi brain evaluate` with every peer: hmmlearn, statsmodels and jumpmodels on the same markets in the same run."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.lab.evaluate import BRAIN
from generator.lab.families import FAMILIES
from generator.lab.peers import PEERS, installed
from tests.lab.evaluated import evaluated

pytestmark = [
    pytest.mark.outside,
    pytest.mark.timeout(600),  # the libraries fit for 20 s of a quiet core
    pytest.mark.skipif(
        bool(installed()[1]), reason=f"without {', '.join(str(peer.library) for peer in installed()[1])}"
    ),
]


def test_every_peer_answers_on_the_same_markets_and_stands_beside_the_brain(tmp_path: Path) -> None:
    result, page = evaluated(tmp_path)

    assert result.exit_code == 0, result.output
    assert "Not run" not in page
    assert "skipped" not in result.stderr
    for family in FAMILIES:
        rows = [line for line in page.splitlines() if line.startswith(f"| {family} | ")]
        readers = [row.split(" | ")[1] for row in rows if row.count("|") > 8]
        assert readers == [BRAIN, *(peer.name for peer in PEERS)]
    assert "| ... over the best peer | " in page
    assert (tmp_path / "brain" / "accuracy.svg").read_text(encoding="utf-8").count("jump model") >= 1
