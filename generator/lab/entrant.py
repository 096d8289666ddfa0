"""A program that reads bars as `emi read` does, started for each market and scored next to our own brain."""

import json
import math
import shlex
import subprocess
import threading
from collections.abc import Iterator
from typing import Any, Final

from gateway.wire.foreign import read_json
from generator.brain.json_lines import SHORT
from generator.brain.regime import LABELS, REGIMES
from generator.errors import GeneratorError
from generator.lab.trace import UNKNOWN, BarAnswer, kept
from generator.market.bars import BAR_FIELDS, BarFrame

_LABEL: Final = {label.value: number for number, label in enumerate(LABELS)}


class EntrantError(GeneratorError):
    """An entrant died, hung or answered with something else than a reading; the text says at which line."""


def entrant(command: str, frame: BarFrame, warm_up: int, within_s: float = 30.0) -> Iterator[BarAnswer]:
    """Feed a program a market line by line, so that it cannot look ahead, and yield its answers after `warm_up` bars.

    Args:
        command: program and arguments, split as a shell would; its standard error is ours.
        within_s: seconds in which it must answer each line.

    Raises:
        EntrantError: it cannot be started, died, hung or answered garbage.
    """
    try:
        process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
    except (OSError, ValueError) as error:
        raise EntrantError(f"cannot start {command!r}: {error}") from error
    try:
        for row in range(len(frame)):
            line = f"the entrant's answer to line {row + 1}"
            reading = _exchanged(process, frame.rows(row, row + 1), within_s, line)
            if row >= warm_up:
                yield _answer(reading, frame.assets, row, line)
    finally:
        process.kill()
        process.communicate()


def _exchanged(process: subprocess.Popen[bytes], bar: BarFrame, within_s: float, line: str) -> Any:
    """Write one bar and read one line; a program that hangs is ended, so that reading from it ends too."""
    assets = {
        name: {SHORT.get(field, field): _known(float(bar.fields[field][0, column])) for field in BAR_FIELDS}
        for column, name in enumerate(bar.assets)
    }
    bar_line = json.dumps({"t": int(bar.t[0]), "assets": assets}).encode() + b"\n"

    assert process.stdin
    assert process.stdout
    timer = threading.Timer(within_s, process.kill)
    timer.start()
    try:
        process.stdin.write(bar_line)
        process.stdin.flush()
        answer = process.stdout.readline().rstrip()
    except OSError:
        answer = b""
    finally:
        timer.cancel()

    if not answer:
        raise EntrantError(f"{line} did not come within {within_s:g} s: the program ended with code {process.wait()}")
    try:
        return read_json(answer)
    except ValueError as error:
        raise EntrantError(f"{line} is not JSON: {answer[:60]!r}") from error


def _answer(reading: Any, assets: tuple[str, ...], row: int, line: str) -> BarAnswer:
    """Return the answer of a decoded line; raise EntrantError where it is not a reading."""
    try:
        chances = [_number(reading["probs"][regime.value]) for regime in REGIMES]
        if min(chances) < 0.0 or abs(sum(chances) - 1.0) > 1e-3:
            raise ValueError("probs are not chances")
        forecasts = [_forecast(reading["assets"][name].get("arena_60m")) for name in assets]
        return BarAnswer(
            label=_LABEL[reading["regime"]],
            chances=chances,
            forecasts=forecasts if kept(row) else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EntrantError(f"{line} is not a reading ({type(error).__name__}: {error})") from error


def _forecast(given: Any) -> tuple[float, float, float, float]:
    if given is None:
        return UNKNOWN
    down, neutral, up, band = (_number(given[name]) for name in ("down", "neutral", "up", "band_bps"))
    return down, neutral, up, band


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)
