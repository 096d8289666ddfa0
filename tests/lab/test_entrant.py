"""A program of someone else's, scored next to ours on the same markets."""

import sys
from pathlib import Path

import numpy as np
import pytest

from generator.brain.weights import Weights
from generator.lab.entrant import Entrant, EntrantError
from generator.lab.simulator import DAY, simulate
from generator.lab.trace import Ours, outcomes, trace
from tests.lab.evaluated import evaluated

EVEN = """
import json, sys
for line in sys.stdin:
    bar = json.loads(line)
    probs = dict.fromkeys(("risk_on", "risk_off", "range", "high_volatility"), 0.25)
    print(json.dumps({"regime": "transition", "probs": probs, "assets": {name: {} for name in bar["assets"]}}), flush=True)
"""


def program(folder: Path, text: str) -> str:
    """Write a program and return its command."""
    path = folder / "entrant.py"
    path.write_text(text)
    return f"{sys.executable} {path}"


def test_a_program_is_scored_on_the_same_markets(tmp_path: Path) -> None:
    command = program(tmp_path, EVEN)

    tables = evaluated(tmp_path, "--no-peers", "--entrant", command).stdout

    (row,) = [line for line in tables.splitlines() if line.startswith(f"| base | `{command}` | 0.")]
    assert row.split(" | ")[-2:] == ["100.0", "0 |"]  # transition and claims


def test_our_own_program_scores_exactly_as_ours() -> None:
    market = simulate("base", 60701, 3)
    command = f"{sys.executable} -c 'from generator.cli import main; main()' read"

    ours = trace(market.frame, 2 * DAY, Ours(Weights.load(), market.frame.assets))
    with Entrant(command) as entrant:
        same = trace(market.frame, 2 * DAY, entrant)

    assert np.array_equal(ours.label, same.label)
    assert np.array_equal(ours.chances, same.chances)
    assert np.array_equal(ours.forecasts, same.forecasts, equal_nan=True)
    assert len(outcomes(market.frame, same).outcome) > 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1 did not come: the program ended with exit code 0"),
        ("import sys; sys.stdin.readline(); sys.exit(3)", "line 1 did not come: the program ended with exit code 3"),
        ("import time; time.sleep(60)", "line 1 did not come within 0.5 s"),
        ("print('no', flush=True); input(); input()", "line 1 is not JSON: b'no'"),
        ("print('{}', flush=True); input(); input()", "line 1 is not a reading"),
        (EVEN.replace("0.25", "0.35"), "probs are not chances"),
        (EVEN.replace('"transition"', '"soon"'), "line 1 is not a reading"),
    ],
)
def test_a_program_that_dies_hangs_or_answers_garbage_is_named(tmp_path: Path, text: str, reason: str) -> None:
    frame = simulate("base", 60702, 1).frame
    within_s = 0.5 if "sleep" in text else 30.0

    with Entrant(program(tmp_path, text), within_s) as entrant, pytest.raises(EntrantError, match=reason):
        entrant.answer(frame.rows(0, 1))


def test_a_program_that_cannot_be_started_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "--no-peers", "--entrant", "/nowhere/at/all")

    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("cannot start '/nowhere/at/all'")
