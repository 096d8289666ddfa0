"""Print the gateway's speed next to its peers', in one run on this machine. Run: python -m tests.benchmarks.gateway.

What counts is requests per CPU-second of the server's own process, from /proc/<pid>/stat: it says little about the
neighbours on the machine. OFFICIAL_PYTHON names an interpreter with x402-avm[avm,httpx,fastapi]==2.0.2 and uvicorn.
"""

import argparse
import base64
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import TESTNET
from tests.benchmarks.gateway_servers import FACILITATOR_S
from tests.benchmarks.gateway_wallet import Signer
from tests.support.ports import free_port
from tests.support.processes import REPOSITORY, Running, clean_environment, started
from tests.support.vaults import GENERATION, PATHS, PRICES, body_of, write_vault

PRODUCT: Final = "x402-market-regime"
PATH: Final = PATHS[PRODUCT]
TICK_HZ: Final = os.sysconf("SC_CLK_TCK")
WORKERS: Final = 50
CHALLENGES: Final = 30_000
PURCHASES: Final = 4_000
OFFICIAL_PURCHASES: Final = 1_000
LONG_PURCHASES: Final = 100_000
LONG_STEP: Final = 10_000
ROUNDS: Final = 3


def cpu_s(server: Running) -> float:
    """Return the seconds of CPU that a server has used."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK_HZ


def rss_mb(server: Running) -> float:
    """Return its resident memory."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS")) / 1024


@dataclass(frozen=True)
class Run:
    """What one load showed."""

    per_cpu_s: float
    waits: list[float]


@contextlib.contextmanager
def serving(words: Sequence[str], port: int, folder: Path, ready: str, **settings: str) -> Iterator[Running]:
    """Run a server for the length of the block; it must answer first."""
    environment = clean_environment(PYTHONPATH=str(REPOSITORY), **settings)
    with started(words, folder, environment, f"http://127.0.0.1:{port}") as server:
        server.wait_open(ready)
        yield server


def measure(
    server: Running,
    count: int,
    expected: int,
    folder: Path,
    payments: Sequence[str] | None = None,
    *,
    spread_s: float = 0.0,
) -> Run:
    """Load one server from a process of its own and check that every answer is the expected one."""
    words = [sys.executable, "-m", "tests.benchmarks.gateway_load", server.origin + PATH, str(WORKERS), str(count)]
    if payments is not None:
        (folder / "payments.txt").write_text("\n".join(payments))
        words += [str(folder / "payments.txt"), str(spread_s)]
    before = cpu_s(server)
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=1_800)
    used = cpu_s(server) - before
    found = json.loads(done.stdout)
    if found["statuses"] != {str(expected): count}:
        raise SystemExit(f"{server.origin} answered {found['statuses']}, expected {count} of {expected}")
    return Run(count / used, found["waits"])


def best(server: Running, count: int, expected: int, folder: Path, payments: Sequence[str] | None = None) -> Run:
    """Return the median of three loads, after one to warm up."""
    measure(server, max(count // 10, 100), expected, folder, payments)
    runs = [measure(server, count, expected, folder, payments) for _ in range(ROUNDS)]
    return sorted(runs, key=lambda run: run.per_cpu_s)[ROUNDS // 2]


@contextlib.contextmanager
def gateway(folder: Path, outside: str, *, name: str = "state") -> Iterator[Running]:
    """Run `emi gateway` over a small vault, with the ledger of production."""
    state = folder / name
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
    }
    ledger = os.environ.get("EMI_LEDGER_URL")
    if ledger:
        settings["EMI_LEDGER_URL"] = ledger
    with serving([sys.executable, "-m", "generator.cli", "gateway"], port, folder, "/healthz", **settings) as server:
        yield server


@contextlib.contextmanager
def next_to(role: str, folder: Path, *arguments: str) -> Iterator[Running]:
    """Run one of the servers of `gateway_servers`."""
    port = free_port(and_next=1)
    words = [sys.executable, "-m", "tests.benchmarks.gateway_servers", role, str(port), *arguments]
    with serving(words, port, folder, "/health") as server:
        yield server


def challenge_of(server: Running) -> dict[str, Any]:
    """Fetch a 402 and return what a plain server needs to repeat it, and its terms."""
    try:
        urllib.request.urlopen(server.origin + PATH, timeout=10).close()
    except urllib.error.HTTPError as answer:
        body = answer.read().decode()
        headers = [(name.lower(), value) for name, value in answer.headers.items() if name.lower() != "date"]
        required = json.loads(base64.b64decode(answer.headers["PAYMENT-REQUIRED"]))
        return {"path": PATH, "headers": headers, "body": body, "accepted": required["accepts"][0]}
    raise SystemExit(f"{server.origin} did not ask to be paid")


def official(folder: Path, outside: str) -> tuple[dict[str, Run], str]:
    """Measure the official middleware; without its interpreter, say why not."""
    interpreter = os.environ.get("OFFICIAL_PYTHON", "")
    if not interpreter:
        return {}, "OFFICIAL_PYTHON is not set"
    probe = subprocess.run([interpreter, "-c", "import fastapi, uvicorn, x402.mechanisms.avm.exact"], check=False)
    if probe.returncode:
        return {}, "OFFICIAL_PYTHON lacks x402-avm[avm,httpx,fastapi] or uvicorn"
    port = free_port(and_next=1)
    (folder / "body.json").write_bytes(body_of(PRODUCT, GENERATION))
    script = str(Path(__file__).with_name("gateway_official.py"))
    terms = [TESTNET.full, DEMO_PAYEE, str(TESTNET.asset_id), str(PRICES[PRODUCT])]
    words = [interpreter, script, str(port), outside, *terms, str(folder / "body.json")]
    with serving(words, port, folder, "/healthz") as server:
        signer = Signer(challenge_of(server)["accepted"])
        payments = signer.sign(OFFICIAL_PURCHASES)
        return {
            "challenge": best(server, CHALLENGES // 5, 402, folder),
            "purchase": best(server, OFFICIAL_PURCHASES, 200, folder, payments),
        }, ""


def ours(folder: Path, outside: str) -> tuple[dict[str, Run], dict[str, Any], float]:
    """Measure the gateway: challenges, new purchases, replays, memory."""
    with gateway(folder, outside) as server:
        found = challenge_of(server)
        signer = Signer(found["accepted"])
        runs = {"challenge": best(server, CHALLENGES, 402, folder)}
        measure(server, 400, 200, folder, signer.sign(400))
        new = []
        for _ in range(ROUNDS):
            payments = signer.sign(PURCHASES)
            new.append(measure(server, PURCHASES, 200, folder, payments))
        runs["purchase"] = sorted(new, key=lambda run: run.per_cpu_s)[ROUNDS // 2]
        runs["replay"] = best(server, 2 * PURCHASES, 200, folder, payments)
        return runs, found, rss_mb(server)


def added_ms(folder: Path) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return median and p99 beyond the facilitator's own time: through the gateway, and with no gateway at all.

    Args:
        folder: where the ledger lies.
    """
    with next_to("slow", folder) as outside, gateway(folder, outside.origin, name="slow") as server:
        signer = Signer(challenge_of(server)["accepted"])
        measure(server, 500, 200, folder, signer.sign(500), spread_s=FACILITATOR_S)
        run = measure(server, 6_000, 200, folder, signer.sign(6_000), spread_s=FACILITATOR_S)
        control = measure(outside, 3_000, 200, folder, ["none"], spread_s=FACILITATOR_S)
    return _beyond(run), _beyond(control)


def _beyond(run: Run) -> tuple[float, float]:
    added = [1_000 * (wait - FACILITATOR_S) for wait in run.waits]
    return statistics.median(added), added[int(len(added) * 0.99)]


def memory_mb(folder: Path, count: int) -> list[tuple[int, float]]:
    """Return resident memory as purchases go by."""
    with next_to("outside", folder) as outside, gateway(folder, outside.origin, name="long") as server:
        signer = Signer(challenge_of(server)["accepted"])
        rows = [(0, rss_mb(server))]
        for done in range(LONG_STEP, count + 1, LONG_STEP):
            measure(server, LONG_STEP, 200, folder, signer.sign(LONG_STEP))
            rows.append((done, rss_mb(server)))
    return rows


def main() -> None:
    """Measure everything and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true", help=f"memory over {LONG_PURCHASES} purchases as well")
    parser.add_argument("--quick", action="store_true", help="the gateway alone: no peers, no latency")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with next_to("outside", folder) as outside:
            runs, found, rss = ours(folder, outside.origin)
            peers, why = ({}, "left out") if options.quick else official(folder, outside.origin)
        plain = None if options.quick else _plain(folder, found)
        _print_table(runs, plain, peers, why)
        print(f"\nResident memory after {_bought():,} purchases: {rss:.0f} MB (bar 120 MB)")
        if not options.quick:
            _print_added(folder)
        if options.long:
            rows = memory_mb(folder, LONG_PURCHASES)
            print("Memory: " + ", ".join(f"{count:,}: {mb:.0f} MB" for count, mb in rows))


def _print_added(folder: Path) -> None:
    (median, worst), (idle, idle_worst) = added_ms(folder)
    print(
        f"Beyond the facilitator's time, {WORKERS} buyers at once: median {median:.1f} ms, p99 {worst:.1f} ms; "
        f"the same without a gateway: {idle:.1f} ms and {idle_worst:.1f} ms (bar for the difference: 10 ms)"
    )


def _plain(folder: Path, found: dict[str, Any]) -> Run:
    answer = folder / "answer.json"
    answer.write_text(json.dumps(found))
    with next_to("starlette", folder, str(answer)) as server:
        return best(server, CHALLENGES, 402, folder)


def _bought() -> int:
    return 400 + ROUNDS * PURCHASES


def _print_table(runs: dict[str, Run], plain: Run | None, peers: dict[str, Run], why: str) -> None:
    print("| requests per CPU-second | ours | plain Starlette | official middleware | ours / official | bar |")
    print("|---|---|---|---|---|---|")
    bars = {"challenge": "as plain Starlette; 4 x", "purchase": "2.5 x", "replay": "20 x"}
    for kind, run in runs.items():
        # The official middleware knows no replay: a repeated payment is a purchase to it.
        peer = peers.get(kind) or peers.get("purchase")
        route = f"{plain.per_cpu_s:,.0f}" if plain and kind == "challenge" else ""
        ratio = f"{run.per_cpu_s / peer.per_cpu_s:.1f}" if peer else ""
        theirs = f"{peer.per_cpu_s:,.0f}" if peer else why
        print(f"| {kind} | {run.per_cpu_s:,.0f} | {route} | {theirs} | {ratio} | {bars[kind]} |")


if __name__ == "__main__":
    main()
