"""A program of someone else's, scored next to ours on the same markets."""

import sys
from pathlib import Path

import numpy as np
import pytest

from generator.brain.weights import Weights
from generator.lab.entrant import EntrantError, entrant
from generator.lab.simulator import simulate
from generator.lab.trace import ours, outcomes, trace
from tests.lab.evaluated import EVEN, evaluated, program


def test_our_own_program_scores_exactly_as_ours() -> None:
    frame = simulate("base", 60701, 2).frame.rows(0, 200)
    command = f"{sys.executable} -c 'from generator.cli import main; main()' read"

    own = trace(ours(Weights.load(), frame, 150), 150)
    same = trace(entrant(command, frame, 150), 150)

    assert np.array_equal(own.label, same.label)
    assert np.array_equal(own.chances, same.chances)
    assert np.array_equal(own.forecasts, same.forecasts, equal_nan=True)
    assert len(outcomes(frame, same).outcome) > 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1 did not come within 30 s: the program ended with code 0"),
        (
            "import sys; sys.stdin.readline(); sys.exit(3)",
            "line 1 did not come within 30 s: the program ended with code 3",
        ),
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

    with pytest.raises(EntrantError, match=reason):
        next(entrant(program(tmp_path, text), frame, 0, within_s))


def test_a_program_that_cannot_be_started_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "--no-peers", "--entrant", "/nowhere/at/all")

    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("cannot start '/nowhere/at/all'")
