"""The table of alarms: `python -m tests.watch` on a virtual clock, `python -m tests.watch --processes` with real ones.

`--pairs` plays every ordered pair of faults within an hour, half a minute of a processor, and names those of which the
second was not reported within three minutes; exit code 1 when there is one.

With real processes a supervisor starts generator, gateway and devnet as systemd starts units of `Type=notify`, ends
what has said nothing for 90 seconds and starts it again; `emi watch` runs next to them. Faults come one after the
other, each until it is reported: about a quarter of an hour in all.
"""

import contextlib
import io
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Self

from tests.support.ports import free_port
from tests.support.processes import REPOSITORY, clean_environment
from tests.support.system_bus import system_bus
from tests.watch.pairs import WITHIN_S, pairs
from tests.watch.simulated import KINDS, worst

WATCHDOG_S: Final = 90.0
LONGEST_S: Final = 240.0
TEACH: Final = "import json, sys, time; print(time.time(), sys.stdin.read().strip(), file=open(sys.argv[1], 'a'))"


class Unit:
    """One program under a supervisor that hears it."""

    def __init__(self, name: str, arguments: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.restarts = 0
        self._arguments = arguments
        self._log = log.open("ab")
        self._ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._ear.bind("")
        self._ear.setblocking(False)
        place = "@" + self._ear.getsockname().decode()[1:]
        self._environment = {**environment, "NOTIFY_SOCKET": place, "WATCHDOG_USEC": str(int(WATCHDOG_S * 1e6))}
        self.heard: list[str] = []
        self._start()

    def _start(self) -> None:
        command = [sys.executable, "-m", "generator.cli", *self._arguments]
        self.process = subprocess.Popen(
            command, env=self._environment, stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True
        )
        self._fed = time.monotonic()

    def tend(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while said := self._ear.recv(4096):
                self.heard.append(said.decode())
                self._fed = time.monotonic()
        if time.monotonic() - self._fed > WATCHDOG_S:
            self.end(signal.SIGABRT)
        if self.process.poll() is not None:
            self.restarts += 1
            time.sleep(2)
            self._start()

    def end(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.process.send_signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.end(signal.SIGTERM)
        self._ear.close()
        self._log.close()


class Machine:
    """Three programs, their supervisor, and a timer that looks each minute."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sent = folder / "sent"
        port, devnet = free_port(), free_port()
        teach = folder / "teach.py"
        teach.write_text(TEACH)
        root = f"http://127.0.0.1:{devnet}"
        environment = clean_environment(
            PYTHONPATH=str(REPOSITORY),
            DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={folder / 'bus'}",
            EMI_STATE_DIR=str(folder / "state"),
            EMI_PORT=str(port),
            EMI_BASE_URL=f"http://127.0.0.1:{port}",
            EMI_FACILITATOR_URL=f"{root}/facilitator",
            EMI_ALGOD_URL=f"{root}/algod",
            EMI_INDEXER_URL=f"{root}/indexer",
            EMI_ALERT_CMD=f"{sys.executable} {teach} {self.sent}",
        )
        self._environment = environment
        commands = {
            "devnet": ["devnet", "--port", str(devnet)],
            "emi-schedule.service": ["schedule"],
            "emi-gateway.service": ["gateway", "--preview"],
        }
        self.units = {name: Unit(name, words, environment, folder / name) for name, words in commands.items()}
        self._restarts: dict[str, int] = {}
        known = [(name, "loaded", "active") for name in commands if name.startswith("emi-")]
        self._bus = system_bus(folder / "bus", known, self._restarts)
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._tend), threading.Thread(target=self._look)]

    def __enter__(self) -> Self:
        self._bus.__enter__()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        for unit in reversed(self.units.values()):
            unit.close()
        self._bus.__exit__(None, None, None)

    def _tend(self) -> None:
        while not self._stopping.wait(0.2):
            for unit in self.units.values():
                unit.tend()
            self._restarts.update({name: unit.restarts for name, unit in self.units.items()})

    def _look(self) -> None:
        command = [sys.executable, "-m", "generator.cli", "watch"]
        with subprocess.Popen(command, env=self._environment, cwd=self.folder) as watch:
            self._stopping.wait()
            watch.terminate()

    def heard(self) -> list[tuple[float, str, str]]:
        """Return when, of which fault and with which event it was reported."""
        if not self.sent.exists():
            return []
        rows = (line.split(" ", 1) for line in self.sent.read_text().splitlines())
        return [(float(at), json.loads(text)["fault"], json.loads(text)["event"]) for at, text in rows]

    def wait_well(self, within_s: float = 240) -> None:
        """Wait until a look has come and reported nothing new."""
        until = time.monotonic() + within_s
        for name in self.units:
            while "READY=1" not in self.units[name].heard and name != "devnet" and time.monotonic() < until:
                time.sleep(0.2)
        state = self.folder / "state/watch.json"
        while time.monotonic() < until:
            before = state.stat().st_mtime if state.exists() else 0.0
            while not (state.exists() and state.stat().st_mtime > before) and time.monotonic() < until:
                time.sleep(0.5)
            if not [row for row in json.loads(state.read_text())["faults"] if row["gone_at"] is None]:
                return


def suspends(name: str) -> Callable[[Machine], None]:
    return lambda machine: machine.units[name].process.send_signal(signal.SIGSTOP)


def kills(name: str) -> Callable[[Machine], None]:
    return lambda machine: machine.units[name].process.kill()


def removes_ledger(machine: Machine) -> None:
    (machine.folder / "state/payments.sqlite3").unlink()


FAULTS: Final[dict[str, tuple[str, Callable[[Machine], None]]]] = {
    "generator killed": ("restarted", kills("emi-schedule.service")),
    "generator suspended": ("restarted", suspends("emi-schedule.service")),
    "gateway suspended": ("gateway", suspends("emi-gateway.service")),
    "facilitator and node suspended": ("facilitator", suspends("devnet")),
    "ledger removed": ("ledger", removes_ledger),
}


def measured(only: str = "") -> Iterator[tuple[str, float | None, list[str]]]:
    """Yield each fault, the seconds until it was reported, and all that was reported meanwhile."""
    for name, (wanted, harm) in FAULTS.items():
        if only not in name:
            continue
        folder = Path(tempfile.mkdtemp(prefix="emi-alarms-"))
        try:
            with Machine(folder) as machine:
                machine.wait_well()
                before = len(machine.heard())
                began = time.time()
                harm(machine)
                after: float | None = None
                while after is None and time.time() < began + LONGEST_S:
                    time.sleep(0.5)
                    news = machine.heard()[before:]
                    after = next((at - began for at, fault, _ in news if fault in {wanted, "restarted", "tick"}), None)
                time.sleep(1)
                yield name, after, [f"{fault} {event}" for _, fault, event in machine.heard()[before:]]
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def show_pairs() -> int:
    """Print what became of the second fault of every pair; return the exit code."""
    waits = {pair: pair.waited_s() for pair in pairs()}
    missed = [pair for pair, seconds in waits.items() if seconds is None or seconds > WITHIN_S]
    with_first = sum(seconds == 0 for seconds in waits.values())
    longest = max(seconds for seconds in waits.values() if seconds is not None)
    print(f"{len(waits)} ordered pairs of {len(KINDS)} causes, longest {longest:.0f} s; {with_first} with the first")
    for pair in missed:
        print(f"not reported: {pair.second} {'during' if pair.overlaps else 'after'} {pair.first}")
    return 1 if missed else 0


def main() -> None:
    """Print one of the tables."""
    if "--pairs" in sys.argv:
        sys.exit(show_pairs())
    if "--processes" in sys.argv:
        for name, after, said in measured(sys.argv[-1] if sys.argv[-1] != "--processes" else ""):
            print(f"{name:32} {'never' if after is None else f'{after:.0f} s'}   {', '.join(said)}", flush=True)
        return
    for kind in KINDS:
        with contextlib.redirect_stdout(io.StringIO()):
            least, most, messages, names = worst(kind)
        others = ", ".join(sorted(names - {kind}))
        print(f"{kind:12} {least:4.0f} to {most:4.0f} s   {messages} messages   {others}")


if __name__ == "__main__":
    main()
