"""Measure nginx with the whole recipe next to nginx serving bare files. Run: python -m tests.benchmarks.edge.

Needs nginx with its brotli module, and wrk. All serve the very same file, with one worker. What counts is the CPU time
of that worker for each request and not the clock, so that other work on the machine does not decide; the servers take
turns, and of each its best turn counts, since neighbours can only slow one down. SITE_DIR lies three folders deep, as in docs/operating.md: the recipe
resolves the pointer with each request, and every folder above it is one more to look at.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.journeys.edges import Edge, bare_nginx, missing, nginx
from tests.journeys.wire import Origin
from tests.support import sample_site
from tests.support.ports import free_port

BAR: Final = 0.6
RECIPE: Final = "the whole recipe"
BARE: Final = {
    "bare, as Debian sets it up": "sendfile on; tcp_nopush on;",
    "bare, sendfile off as in the recipe": "sendfile off; output_buffers 2 64k;",
}
PATH: Final = "/api/market-regime.php"
BODY: Final = b"x" * 4_250
"""As long as a real answer of that path."""
CONNECTIONS: Final = 32
CLOCK_HZ: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Load:
    """What one load did: requests for each second of the clock, and for each second of the worker's CPU."""

    per_second: float
    per_cpu_second: float


def main() -> int:
    """Measure and print; exit code 1 when a ratio is below the bar, 2 when something is not installed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.edge")
    parser.add_argument("--seconds", type=int, default=1, help="length of one load")
    parser.add_argument("--rounds", type=int, default=15, help="loads of each server")
    given = parser.parse_args()
    lacking = [missing("nginx"), "" if shutil.which("wrk") else "wrk: apt-get install wrk"]
    if any(lacking):
        sys.stderr.write(f"benchmark: this machine lacks {'; '.join(filter(None, lacking))}\n")
        return 2
    loads: dict[str, list[Load]] = {name: [] for name in (RECIPE, *BARE)}
    with _servers() as servers:
        for _ in range(given.rounds):
            for name, server in servers.items():
                loads[name].append(_load(server, given.seconds))
    return _report(loads)


@contextlib.contextmanager
def _servers() -> Iterator[Mapping[str, Edge]]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="emi-")))
        site = folder / "site"
        sample_site.publish(site)
        release = (site / "current").resolve()
        (release / PATH.lstrip("/")).write_bytes(BODY)
        servers = {RECIPE: stack.enter_context(nginx(folder / "recipe", site))}
        for name, settings in BARE.items():
            port = free_port()
            http = f"{settings} server {{ listen 127.0.0.1:{port}; root {release}; }}"
            servers[name] = stack.enter_context(bare_nginx(folder / str(port), http, port))
        for name, server in servers.items():
            answer = Origin(server.origin).get(PATH)
            if (answer.status, answer.body) != (200, BODY):
                raise RuntimeError(f"{name} answers {answer.status}")
        yield servers


def _load(server: Edge, seconds: int) -> Load:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", server.origin + PATH]
    before, began = _cpu_s(server), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds + 60)
    took_s, cpu_s = time.monotonic() - began, _cpu_s(server) - before
    counted = re.search(r"(\d+) requests in", done.stdout)
    if counted is None or "Non-2xx" in done.stdout:
        raise RuntimeError(f"wrk was not served:\n{done.stdout}")
    return Load(int(counted[1]) / took_s, int(counted[1]) / cpu_s)


def _cpu_s(server: Edge) -> float:
    """Return the CPU time that the worker used so far, user and system."""
    master = server.process.pid
    (worker,) = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    fields = Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_HZ


def _report(loads: Mapping[str, list[Load]]) -> int:
    print("| nginx | requests a second | requests a CPU-second | recipe / this |\n|---|---|---|---|")
    best = {name: max(load.per_cpu_second for load in done) for name, done in loads.items()}
    for name, done in loads.items():
        clock = max(load.per_second for load in done)
        print(f"| {name} | {clock:,.0f} | {best[name]:,.0f} | {best[RECIPE] / best[name]:.2f} |")
    lowest = min(best[RECIPE] / best[name] for name in BARE)
    print(f"\nlowest ratio {lowest:.2f}, bar {BAR}: {'kept' if lowest >= BAR else 'MISSED'}")
    return int(lowest < BAR)


if __name__ == "__main__":
    raise SystemExit(main())
