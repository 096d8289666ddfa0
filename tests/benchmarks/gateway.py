"""Print what the gateway and the official middleware do in a second of processor time.

What counts is requests per CPU-second of the server's own process, from /proc/<pid>/stat: it says little about the
neighbours on the machine. `python -m tests.benchmarks.gateway burst` lets 500 buyers pay at once. OFFICIAL_PYTHON names
an interpreter with x402-avm[avm,httpx,fastapi]==2.0.2 and uvicorn.
"""

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import aiohttp

from gateway.devnet.keys import Key, new_key
from gateway.devnet.wallet import pay
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import TESTNET
from tests.benchmarks.gateway_outside import ROUND
from tests.support.ports import free_port
from tests.support.processes import REPOSITORY, Running, clean_environment, get, started
from tests.support.vaults import GENERATION, PATHS, PRICES, body_of, write_vault

PRODUCT: Final = "x402-market-regime"
PATH: Final = PATHS[PRODUCT]
TICK_HZ: Final = os.sysconf("SC_CLK_TCK")
WORKERS: Final = 50
CHALLENGES: Final = 30_000
PURCHASES: Final = 4_000
ROUNDS: Final = 3
BUYERS: Final = 500
SETTLE_S: Final = 3.5
BARS: Final = {"challenge": "4 x", "purchase": "2.5 x", "replay": "20 x"}


def cpu_s(server: Running) -> float:
    """Return the seconds of CPU that a server has used."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK_HZ


def rss_mb(server: Running) -> float:
    """Return its resident memory."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS")) / 1024


@contextlib.contextmanager
def serving(words: Sequence[str], port: int, folder: Path, ready: str, **settings: str) -> Iterator[Running]:
    """Run a server for the length of the block; it must answer first."""
    environment = clean_environment(PYTHONPATH=str(REPOSITORY), **settings)
    with started(words, folder, environment, f"http://127.0.0.1:{port}") as server:
        server.wait_open(ready)
        yield server


def measure(server: Running, count: int, expected: int, folder: Path, payments: Sequence[str] = ()) -> float:
    """Load one server from a process of its own, check every answer, and return requests per CPU-second."""
    words = [sys.executable, "-m", "tests.benchmarks.gateway_load", server.origin + PATH, str(WORKERS), str(count)]
    (folder / "payments.txt").write_text("\n".join(payments))
    before = cpu_s(server)
    done = subprocess.run(
        [*words, str(folder / "payments.txt")],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=1_800,
    )
    used = cpu_s(server) - before
    statuses = json.loads(done.stdout)
    if statuses != {str(expected): count}:
        raise SystemExit(f"{server.origin} answered {statuses}, expected {count} of {expected}")
    return count / used


@contextlib.contextmanager
def gateway(folder: Path, outside: str) -> Iterator[Running]:
    """Run `emi gateway` over a small vault, with the ledger of production."""
    state = folder / "state"
    write_vault(state / "vault", at=datetime.now(UTC).replace(microsecond=0))
    port = free_port(and_next=1)
    settings = {
        "EMI_STATE_DIR": str(state),
        "EMI_NETWORK": "testnet",
        "EMI_PORT": str(port),
        "EMI_FACILITATOR_URL": outside,
        "EMI_ALGOD_URL": outside,
        "EMI_INDEXER_URL": outside,
        "EMI_VAULT_MAX_AGE_SECONDS": "86400",
        # As behind nginx: one address speaks for many buyers.
        "EMI_TRUSTED_PROXIES": "127.0.0.1",
    }
    ledger = os.environ.get("EMI_LEDGER_URL")
    if ledger:
        settings["EMI_LEDGER_URL"] = ledger
    with serving([sys.executable, "-m", "generator.cli", "gateway"], port, folder, "/healthz", **settings) as server:
        yield server


@contextlib.contextmanager
def outside(folder: Path, settle_s: float = 0.0) -> Iterator[Running]:
    """Run a facilitator, an algod and an indexer that answer at once, but for settle."""
    port = free_port(and_next=1)
    words = [sys.executable, "-m", "tests.benchmarks.gateway_outside", str(port), str(settle_s)]
    with serving(words, port, folder, "/health") as server:
        yield server


def signed(server: Running, key: Key, count: int) -> list[str]:
    """Return headers of that many different payments."""
    header = get(server.origin + PATH)[1]["payment-required"]
    return [pay(header, key, TESTNET, ROUND, PRICES[PRODUCT]).header for _ in range(count)]


@contextlib.contextmanager
def official(folder: Path, away: str) -> Iterator[Running]:
    """Run the official middleware round one route."""
    port = free_port(and_next=1)
    (folder / "body.json").write_bytes(body_of(PRODUCT, GENERATION))
    script = str(Path(__file__).with_name("gateway_official.py"))
    terms = [TESTNET.full, DEMO_PAYEE, str(TESTNET.asset_id), str(PRICES[PRODUCT])]
    words = [os.environ["OFFICIAL_PYTHON"], script, str(port), away, *terms, str(folder / "body.json")]
    with serving(words, port, folder, "/healthz") as server:
        yield server


def rates(server: Running, folder: Path, share: int = 1) -> dict[str, float]:
    """Return the medians of challenges, new purchases and replays; `share` divides how many there are."""
    key = new_key()
    measure(server, 400, 200, folder, signed(server, key, 400))  # warms up
    found: dict[str, list[float]] = {"challenge": [], "purchase": [], "replay": []}
    for _ in range(ROUNDS):
        payments = signed(server, key, PURCHASES // share)
        found["challenge"].append(measure(server, CHALLENGES // share, 402, folder))
        found["purchase"].append(measure(server, len(payments), 200, folder, payments))
        # The official middleware knows no replay: a repeated payment is a purchase to it.
        found["replay"].append(measure(server, 2 * len(payments), 200, folder, payments))
    return {kind: statistics.median(each) for kind, each in found.items()}


def main() -> None:
    """Measure both and print the table."""
    with tempfile.TemporaryDirectory() as name, outside(Path(name)) as away:
        folder, theirs = Path(name), {}
        if os.environ.get("OFFICIAL_PYTHON"):
            with official(folder, away.origin) as server:
                theirs = rates(server, folder, share=5)
        with gateway(folder, away.origin) as server:
            ours, memory = rates(server, folder), rss_mb(server)
    print("| requests per CPU-second | ours | official middleware | ours / official | bar |\n|---|---|---|---|---|")
    for kind, rate in ours.items():
        peer, ratio = (f"{theirs[kind]:,.0f}", f"{rate / theirs[kind]:.1f}") if theirs else ("OFFICIAL_PYTHON", "")
        print(f"| {kind} | {rate:,.0f} | {peer} | {ratio} | {BARS[kind]} |")
    print(f"\nResident memory after {400 + ROUNDS * PURCHASES:,} purchases: {memory:.0f} MB (bar 120 MB)")


async def burst(origin: str, payments: Sequence[str]) -> tuple[Counter[int], float]:
    """Send every payment at the same time; return how many of each status came, and how long the slowest took."""
    took: list[float] = []

    async def buy(http: aiohttp.ClientSession, payment: str) -> int:
        began = time.monotonic()
        async with http.get(origin + PATH, headers={"PAYMENT-SIGNATURE": payment}) as answer:
            await answer.read()
        took.append(time.monotonic() - began)
        return answer.status

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        statuses = Counter(await asyncio.gather(*(buy(http, payment) for payment in payments)))
    return statuses, max(took)


def buyers_at_once() -> None:
    """Let many buyers pay at the same time while settle takes long, and print what they got."""
    with tempfile.TemporaryDirectory() as name, outside(Path(name), SETTLE_S) as away:
        folder = Path(name)
        with gateway(folder, away.origin) as server:
            # Signed beforehand: the buyers' own work is not the gateway's.
            payments = signed(server, new_key(), BUYERS)
            statuses, slowest_s = asyncio.run(burst(server.origin, payments))
    shown = ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))
    print(f"{BUYERS} buyers at once, settle takes {SETTLE_S:g} s: {shown}; the slowest {slowest_s:.1f} s (bar 5 s)")


if __name__ == "__main__":
    if sys.argv[1:] == ["burst"]:
        buyers_at_once()
    else:
        main()
