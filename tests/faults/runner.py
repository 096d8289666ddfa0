"""Run the gateway of production in a process that kills itself, with SIGKILL, at a point of a purchase.

Usage: python -m tests.faults.runner [--at STEP | --line N | --count FILE], settings by EMI_ environment. STEP is one
of `gateway.purchase`; N counts the lines of the gateway's own code that run from `decoded` on, in every thread;
FILE gets the number that a whole purchase takes. It dies only once there is a file `armed` in its folder.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

import gateway
from gateway.app.application import build_app
from gateway.settings import GatewaySettings

ARMED = Path("armed")
HOME = str(Path(next(iter(gateway.__path__))))


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


class LineCounter:
    """Count the lines that the gateway's own code runs, and die at one of them.

    Args:
        last: the line to die at, 0 for never.
    """

    def __init__(self, last: int) -> None:
        self._last = last
        self._armed = False
        self.count = 0

    def arm(self) -> None:
        """Count from here on."""
        self._armed = True

    def install(self) -> None:
        """Watch this thread and all later ones."""
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def _enter(self, frame: FrameType, _event: str, _arg: Any) -> Callable[..., Any] | None:
        return self._line if frame.f_code.co_filename.startswith(HOME) else None

    def _line(self, _frame: FrameType, event: str, _arg: Any) -> Callable[..., Any]:
        if self._armed and event == "line":
            self.count += 1
            if self.count == self._last:
                die()
        return self._line


def main(option: str = "", value: str = "") -> None:
    """Serve until death."""
    counter = LineCounter(int(value) if option == "--line" else 0)
    if option in {"--line", "--count"}:
        counter.install()

    def step(name: str) -> None:
        if not ARMED.exists():
            return
        if option == "--at" and name == value:
            die()
        if name == "decoded":
            counter.arm()
        if option == "--count" and name == "delivered":
            Path(value).write_text(str(counter.count))

    settings = GatewaySettings()
    app = build_app(settings, step=step)
    uvicorn.run(app, host=settings.host, port=settings.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
