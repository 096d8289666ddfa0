"""The clock of a real generator is set forward and back by an hour (a library preloaded in front of libc's clock)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.process_clock import ProcessClock
from tests.support.processes import Running, running

pytestmark = [pytest.mark.outside, pytest.mark.timeout(400)]


def status(folder: Path) -> Any:
    return json.loads((folder / "state/site/current/status.json").read_text())


def next_release(folder: Path, process: Running, within_s: float) -> Any:
    """Wait for a release after the one that is there now."""
    last, until = status(folder)["generation"], time.monotonic() + within_s
    while status(folder)["generation"] == last:
        assert time.monotonic() < until, process.text()
        time.sleep(0.1)
    return status(folder)


def test_a_clock_set_by_an_hour_neither_silences_the_generator_nor_repeats_a_number(tmp_path: Path) -> None:
    clock = ProcessClock(tmp_path)
    clock.shift_by(0)

    with running(tmp_path, ["schedule"], "", EMI_STATE_DIR="state", **clock.environment) as process:
        process.wait_text("tick 000000000001", 200)
        first = status(tmp_path)
        clock.shift_by(3600)
        ahead = next_release(tmp_path, process, 40)
        process.wait_text("by_seconds=3600", 60)
        clock.shift_by(0)
        process.wait_text("by_seconds=-3600", 60)
        back = next_release(tmp_path, process, 90)

    assert first["tick_id"] < back["tick_id"] < ahead["tick_id"]
    assert first["generation"] < ahead["generation"] < back["generation"]
    assert "tick failed" not in process.text()
