"""`python -m tests.cold_starts`: `emi up` in an empty folder, asked every 20 ms until it sells.

Prints a row for each start: when the first release, "ready" and the first quote came, and how many looks found "ready"
and no quote, or a quote where "ready" said no a moment later. Ends with 1 where there is any, or where `emi buy`, begun
with the first release, brought nothing.
"""

import http.client
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from generator.catalog.products import PRODUCTS
from tests.support.processes import BOOTSTRAP, Running, emi, emi_up

POLL_S: Final = 0.02
LONGEST_S: Final = 180.0
AFTER_S: Final = 1.0
FREE: Final = "/api/market-regime.php"


@dataclass
class Start:
    """What one start was seen to do; seconds since its process began, None for never."""

    released_s: float | None = None
    ready_s: float | None = None
    quoted_s: float | None = None
    looks: int = 0
    untrue: int = 0
    bought: bool = False


class Looks:
    """One connection that asks the service again and again."""

    def __init__(self, origin: str) -> None:
        self._connection = http.client.HTTPConnection(origin.removeprefix("http://"), timeout=60)

    def ask(self, path: str) -> tuple[int, str]:
        """Return status and generation of an answer; 0 where nothing answers yet."""
        try:
            self._connection.request("GET", path)
            answer = self._connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return 0, ""
        return answer.status, answer.headers.get("X-Generation", "")


def watch(service: Running, folder: Path) -> Start:
    """Ask until a second after the first quote, and buy as soon as the first release of a tick is seen."""
    seen = Start()
    looks = Looks(service.origin)
    until = time.monotonic() + LONGEST_S
    with ThreadPoolExecutor(1) as shop:
        purchase = None
        while time.monotonic() < until:
            ready, _ = looks.ask("/readyz")
            paid = {looks.ask(product.path)[0] for product in PRODUCTS}
            free, generation = looks.ask(FREE)
            now_s = time.monotonic() - service.started

            seen.looks += 1
            seen.untrue += ready == 200 and paid != {402}
            if ready == 200:
                seen.ready_s = seen.ready_s or now_s
            if paid == {402}:
                seen.quoted_s = seen.quoted_s or now_s
                until = min(until, service.started + seen.quoted_s + AFTER_S)
            if free == 200 and generation != BOOTSTRAP and purchase is None:
                seen.released_s = now_s
                purchase = shop.submit(emi, "buy", "market-regime", "--url", service.origin, cwd=folder)
            time.sleep(POLL_S)

        seen.bought = purchase is not None and purchase.result().returncode == 0
    return seen


def main(starts: Annotated[int, typer.Option(help="How many.")] = 10) -> None:
    """Start the service again and again, each time on nothing."""
    print("start  first release  ready  first quote  looks  ready without a quote  bought at once")
    failed = False
    for number in range(1, starts + 1):
        with tempfile.TemporaryDirectory() as name, emi_up(Path(name)) as service:
            start = watch(service, Path(name))
        failed |= start.untrue > 0 or not start.bought
        times = "  ".join(f"{_s(value):>9}" for value in (start.released_s, start.ready_s, start.quoted_s))
        print(f"{number:>5}  {times}  {start.looks:>5}  {start.untrue:>21}  {start.bought}", flush=True)
    raise typer.Exit(1 if failed else 0)


def _s(value: float | None) -> str:
    return "never" if value is None else f"{value:.2f} s"


if __name__ == "__main__":
    typer.run(main)
