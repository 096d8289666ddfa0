"""A program that reads bars as `emi read` does, started for each market and scored next to our own brain."""

import json
import math
import shlex
import subprocess
import threading
from types import TracebackType
from typing import Any, Final, Self

from generator.brain.json_lines import SHORT
from generator.brain.regime import LABELS, REGIMES
from generator.errors import GeneratorError
from generator.lab.trace import UNKNOWN, Answer
from generator.market.bars import BAR_FIELDS, BarFrame

LINE_SECONDS: Final = 30.0
_LABEL: Final = {label.value: number for number, label in enumerate(LABELS)}
_ARENA: Final = ("down", "neutral", "up", "band_bps")


class EntrantError(GeneratorError):
    """An entrant died, hung or answered with something else than a reading; the text says at which line."""


class Entrant:
    """One run of the program over one market."""

    def __init__(self, command: str, within_s: float = LINE_SECONDS) -> None:
        """Start it.

        Args:
            command: program and arguments, split as a shell would; its standard error is ours.
            within_s: seconds in which it must answer each line.

        Raises:
            EntrantError: it cannot be started.
        """
        self._lines, self._within_s, self._late = 0, within_s, False
        try:
            self._process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        except (OSError, ValueError) as error:
            raise EntrantError(f"cannot start {command!r}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def warm(self, bars: BarFrame) -> None:
        """Feed bars whose answers are not scored."""
        for row in range(len(bars)):
            self._exchange(bars.rows(row, row + 1))

    def answer(self, bar: BarFrame) -> Answer:
        """Feed one bar and check the answer.

        Raises:
            EntrantError: it died, hung or answered garbage.
        """
        said = self._exchange(bar)
        try:
            label, chances = _LABEL[said["regime"]], [_number(said["probs"][one.value]) for one in REGIMES]
            if min(chances) < 0.0 or abs(sum(chances) - 1.0) > 1e-3:
                raise ValueError("probs are not chances")
            found = [_forecast(said["assets"][name].get("arena_60m")) for name in bar.assets]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._error(f"is not a reading ({type(error).__name__}: {error})") from error
        return Answer(label, chances, lambda: found)

    def _exchange(self, bar: BarFrame) -> Any:
        """Write one bar, read one line."""
        self._lines += 1
        out, into = self._process.stdin, self._process.stdout
        if out is None or into is None:
            raise self._error("has no pipe")
        timer = threading.Timer(self._within_s, self._give_up)
        timer.start()
        try:
            out.write(json.dumps(line_of(bar)).encode() + b"\n")
            out.flush()
            line = into.readline().rstrip()
        except OSError:
            line = b""
        finally:
            timer.cancel()
        if self._late:
            raise self._error(f"did not come within {self._within_s:g} s")
        if not line:
            raise self._error(f"did not come: the program ended with exit code {self._process.wait()}")
        try:
            return json.loads(line)
        except ValueError as error:
            raise self._error(f"is not JSON: {line[:60]!r}") from error

    def _give_up(self) -> None:
        """End a program that hangs, so that reading from it ends too."""
        self._late = True
        self._process.kill()

    def _error(self, what: str) -> EntrantError:
        return EntrantError(f"the entrant's answer to line {self._lines} {what}")


def line_of(bar: BarFrame) -> dict[str, Any]:
    """Return one bar as `emi read` takes it."""
    assets = {
        name: {SHORT.get(field, field): _plain(float(bar.fields[field][0, column])) for field in BAR_FIELDS}
        for column, name in enumerate(bar.assets)
    }
    return {"t": int(bar.t[0]), "assets": assets}


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _forecast(given: Any) -> tuple[float, float, float, float]:
    if given is None:
        return UNKNOWN
    down, neutral, up, band = (_number(given[name]) for name in _ARENA)
    return down, neutral, up, band
