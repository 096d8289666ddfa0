"""Print what the gateway and the official middleware do in a second of processor time.

`OFFICIAL_PYTHON=... python -m tests.benchmarks.gateway [ROUNDS]`, four by default; the interpreter has
x402-avm[avm,httpx,fastapi]==2.0.2 and uvicorn. `python -m tests.benchmarks.gateway burst` lets 500 buyers pay at once;
`soak [PURCHASES]` prints the gateway's memory over 12,000 purchases, or so many.

What counts is requests per CPU-second of the server's own process, from /proc. Both servers run at the same time and
take turns, so that each ratio is of two neighbours in time: it says little about the rest of the machine.
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
WORKERS: Final = 50
ROUNDS: Final = 4
BUYERS: Final = 500
SOAKED: Final = 12_000
# Two thousand deliveries are remembered: what memory is after twice as many is what has to stay.
FILLED: Final = 4_000
SETTLE_S: Final = 3.5


@dataclass(frozen=True)
class Load:
    """One row of the table: what is sent, and the bar of the ratio."""

    name: str
    status: int
    counts: Mapping[str, int]  # requests of a round, by whose server
    bar: str = ""
    a_second: int | None = None  # as fast as answers come over 50 connections, without it
    repeats: bool = False  # payments that were bought with before


def _counts(ours: int, official: int | None = None) -> dict[str, int]:
    return {"ours": ours, "official": official or ours}


LOADS: Final = (
    Load("402", 402, _counts(20_000, 3_000), "8"),
    Load("purchases, 50 connections always full", 200, _counts(2_000, 800), "2.5"),
    Load("purchases, 5 a second", 200, _counts(75), a_second=5),
    Load("purchases, 20 a second", 200, _counts(200), "1.0", a_second=20),
    Load("purchases, 80 a second", 200, _counts(480), a_second=80),
    Load("a purchase repeated", 200, _counts(4_000, 800), "20", repeats=True),
)


def cpu_s(server: Running) -> float:
    """Return the seconds of CPU that a server has used: clock_getcpuclockid(3), which Python does not have."""
    return time.clock_gettime(~server.process.pid << 3 | 2)


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


def measure(server: Running, load: Load, count: int, folder: Path, payments: Sequence[str] = ()) -> float:
    """Load one server from a process of its own, check every answer, and return requests per CPU-second."""
    (folder / "payments.txt").write_text("\n".join(payments))
    words = [server.origin + PATH, str(WORKERS), str(count), str(folder / "payments.txt")]
    if load.a_second is not None:
        words.append(str(load.a_second))

    before = cpu_s(server)
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.gateway_load", *words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=1_800,
    )
    used_s = cpu_s(server) - before

    statuses = json.loads(done.stdout)
    if statuses != {str(load.status): count}:
        raise SystemExit(f"{server.origin} answered {statuses}, expected {count} of {load.status}")
    return count / used_s


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


def play(server: Running, load: Load, count: int, folder: Path, bought: list[str]) -> float:
    """Send one load to one server; what was bought with is kept to be repeated."""
    if load.status == 402:
        return measure(server, load, count, folder)

    # The official middleware knows no replay: a repeated payment is a purchase to it.
    if not load.repeats:
        bought[:] = signed(server, new_key(), count)
    return measure(server, load, count, folder, bought)


def main(rounds: int) -> None:
    """Measure both in turns and print the table."""
    rates: dict[str, list[tuple[float, float]]] = {load.name: [] for load in LOADS}
    with tempfile.TemporaryDirectory() as name, outside(Path(name)) as away:
        folder = Path(name)
        with official(folder, away.origin) as theirs, gateway(folder, away.origin) as ours:
            servers = {"ours": ours, "official": theirs}
            bought: dict[str, list[str]] = {"ours": [], "official": []}
            for who, server in servers.items():
                play(server, LOADS[1], 400, folder, bought[who])  # warms up

            for turn in range(rounds):
                for load in LOADS:
                    # Whoever is second in one round is first in the next.
                    order = list(servers) if turn % 2 else list(reversed(servers))
                    rate = {who: play(servers[who], load, load.counts[who], folder, bought[who]) for who in order}
                    rates[load.name].append((rate["ours"], rate["official"]))
                    # A run that is cut off has shown what it measured.
                    ratio = rate["ours"] / rate["official"]
                    print(f"round {turn + 1}, {load.name}: {ratio:.2f}", file=sys.stderr, flush=True)
            memory = rss_mb(ours)

    print(f"| a CPU-second, median of {rounds} rounds | ours | official | ratio | least | bar |")
    print("|---|---|---|---|---|---|")
    for load in LOADS:
        own, official_rates = zip(*rates[load.name], strict=True)
        ratios = [mine / other for mine, other in rates[load.name]]
        print(
            f"| {load.name} | {statistics.median(own):,.0f} | {statistics.median(official_rates):,.0f}"
            f" | {statistics.median(ratios):.2f} | {min(ratios):.2f} | {load.bar} |"
        )
    print(f"\nResident memory at the end: {memory:.0f} MB (bar 120 MB)")


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
            before = cpu_s(server)
            statuses, slowest_s = asyncio.run(burst(server.origin, payments))
            used_s = cpu_s(server) - before
    shown = ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))
    print(f"{BUYERS} buyers at once, settle takes {SETTLE_S:g} s: {shown}; the slowest {slowest_s:.1f} s (bar 5 s)")
    print(f"The gateway used {used_s:.2f} s of a processor for it.")


def soak(purchases: int) -> None:
    """Buy and buy, and print the gateway's resident memory after every two thousand purchases."""
    load = Load("purchases", 200, {})
    print("| purchases | resident MB |\n|---|---|")
    with tempfile.TemporaryDirectory() as name, outside(Path(name)) as away:
        folder = Path(name)
        with gateway(folder, away.origin) as server:
            memory = {0: rss_mb(server)}
            while max(memory) < purchases:
                play(server, load, FILLED // 2, folder, [])
                memory[max(memory) + FILLED // 2] = rss_mb(server)
                print(f"| {max(memory):,} | {rss_mb(server):.1f} |", flush=True)

    rise = max(size for count, size in memory.items() if count >= FILLED) / memory[FILLED] - 1
    print(f"\n{memory[0]:.1f} MB at the start; after {FILLED:,} purchases at most {rise:.1%} more (bar 3%)")


if __name__ == "__main__":
    if sys.argv[1:] == ["burst"]:
        buyers_at_once()
    elif sys.argv[1:2] == ["soak"]:
        soak(int(sys.argv[2]) if sys.argv[2:] else SOAKED)
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else ROUNDS)
