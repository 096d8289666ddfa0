"""A head start: another process reads the history of a very first start while this one still gets ready.

The brain takes seconds for 30 days of bars, and one thread. The simulated market needs nothing but its seed, so on a
machine with two cores that can begin before the memory is open and the first pages are laid down. What comes back is
the brain's state, exactly as if this process had read the bars; if nothing comes back, it does.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Final

DAYS_OF_HISTORY: Final = 30  # read before a first start, wherever the source has them
REHEARSED_HOURS: Final = 48  # played on them, where the market is simulated
LONGEST_S: Final = 60.0


class HeadStart:
    """Begin to read at once.

    Args:
        seed: of the simulated market.
        until_ms: wall time, UTC; bars that closed by then are read.
        days: of history before it.
        longest_s: seconds after which nobody waits any more.
    """

    def __init__(self, seed: int, until_ms: int, days: int, longest_s: float = LONGEST_S) -> None:
        self._longest_s = longest_s
        self._process: subprocess.Popen[bytes] | None = None
        command = [sys.executable, "-m", "generator.runtime.headstart", str(seed), str(until_ms), str(days)]
        try:
            self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:
            return  # no room for another process: this one reads by itself

    async def state(self) -> bytes | None:
        """Wait for the brain's state; None if there is none, or when it was given before."""
        process, self._process = self._process, None
        if process is None:
            return None
        try:
            state, _ = await asyncio.to_thread(process.communicate, timeout=self._longest_s)
        except (subprocess.TimeoutExpired, OSError):
            return None
        finally:
            _end(process)
        return state if process.returncode == 0 and state else None

    def close(self) -> None:
        """End the process if nobody wants its answer."""
        if self._process is not None:
            _end(self._process)
            self._process = None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def read(seed: int, until_ms: int, days: int) -> bytes:
    """Return the state of a brain that read the simulated market's history."""
    from generator.brain.engine import Engine  # noqa: PLC0415  this process needs them, the one that waits does not
    from generator.brain.weights import Weights  # noqa: PLC0415
    from generator.catalog.assets import ASSETS  # noqa: PLC0415
    from generator.market.simulated.source import SimulatedSource  # noqa: PLC0415

    bars = asyncio.run(SimulatedSource(seed).backfill(until_ms, days, lambda *_: None))
    engine = Engine(Weights.load(None), ASSETS)
    engine.advance(bars)
    return engine.dump()


if __name__ == "__main__":
    sys.stdout.buffer.write(read(*map(int, sys.argv[1:])))
