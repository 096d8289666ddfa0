"""Print what publishing costs, and the preview server next to its peers. Run: python -m tests.benchmarks.publish.

Publishing is measured from the bytes in hand to the moved pointer, on tmpfs: packing what changed, the check of every
byte, the vault, the site. Servers are measured in requests per CPU-second of their own process, all in one run.
"""

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from generator.catalog.discovery import JSON_FILES
from generator.catalog.links import reasoning_path
from generator.release.check import Checker
from generator.release.release import Releases
from generator.release.variants import Variants
from generator.release.vault import Offer, Vault
from tests.benchmarks.gateway import REPOSITORY, ROUNDS, Server, serving
from tests.release.test_vault_store import offer as offer_of
from tests.support.ports import free_port

TICKS: Final = 25
MANY: Final = 1_000
MANY_TICKS: Final = 6
REQUESTS: Final = 20_000
FREE: Final = "/api/market-regime.php"
TMPFS: Final = Path("/dev/shm")
Row = tuple[str, str, str]
Seconds = tuple[float, float]  # by the wall, and of CPU over all threads


def main() -> None:
    """Measure and print; every figure with its bar."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=["publish", "preview"])
    only = options.parse_args().only
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory(dir=TMPFS if TMPFS.is_dir() else None) as folder:
        ticks, offers, lasts = asyncio.run(_ticks(Path(folder) / "state"))
        rows: list[Row] = []
        if only != "preview":
            rows += _seven(Path(folder) / "seven", ticks, offers, lasts)
            rows += _thousand(Path(folder) / "many", ticks[-1], lasts)
        if only != "publish":
            rows += _preview(Path(folder) / "preview", ticks[-1])
    print("| figure | measured | bar |\n|---|---|---|")
    for name, value, bar in rows:
        print(f"| {name} | {value} | {bar} |")
    print(f"\nload of the machine after: {os.getloadavg()[0]:.1f}")


async def _ticks(state: Path) -> tuple[list[dict[str, bytes]], list[Offer], frozenset[str]]:
    """Run real ticks and keep what each one had in hand to publish: the files without variants, and the offers."""
    from generator.clock import SystemClock
    from generator.runtime.app import build
    from generator.runtime.startup import open_market
    from generator.runtime.tick import tick
    from generator.settings import GeneratorSettings

    files: list[dict[str, bytes]] = []
    lasts: set[str] = set()
    offers: list[Offer] = []

    class Kept(Variants):
        def add(self, plain: Mapping[str, bytes], lasting: Collection[str] = ()) -> dict[str, bytes]:
            files.append(dict(plain))
            lasts.update(lasting)
            return dict(plain)

    class Sold(Vault):
        def publish(self, offer: Offer) -> None:
            offers.append(offer)
            super().publish(offer)

    app = build(GeneratorSettings(state_dir=state), SystemClock())
    app.publisher.variants, app.publisher.vault = Kept(), Sold(state / "vault")
    app.record.memory.claim()
    app.publisher.releases.open()
    app.publisher.vault.open()
    start = datetime.now(UTC).replace(second=0, microsecond=0)
    await open_market(app, start, lambda *_: None)
    for minute in range(TICKS):
        await tick(app, start + timedelta(minutes=minute))
    await app.aclose()
    return files, offers, frozenset(lasts)


def _seven(
    folder: Path, ticks: Sequence[Mapping[str, bytes]], offers: Sequence[Offer], lasts: Collection[str]
) -> list[Row]:
    """Publish the ticks again, each step timed."""
    site, vault, variants, checker = Releases(folder / "site"), Vault(folder / "vault"), Variants(), Checker()
    site.open()
    vault.open()
    steps: dict[str, list[Seconds]] = {}
    before: dict[str, bytes] = {}
    needless = rewritten = 0
    for number, (plain, offer) in enumerate(zip(ticks, offers, strict=True)):
        marks = [_now()]
        files = variants.add(plain, lasts)
        marks.append(_now())
        checker.check(offer.generation, files)
        marks.append(_now())
        vault.publish(offer)
        marks.append(_now())
        written = site.publish(offer.generation, files, 1_000_000 + 60 * number)
        marks.append(_now())
        changed = sum(before.get(path) != data for path, data in files.items())
        needless, rewritten, before = needless + written - changed, written, files
        for name, begin, end in zip(("pack", "check", "vault", "site"), marks, marks[1:], strict=False):
            steps.setdefault(name, []).append(_between(begin, end))
        steps.setdefault("in all", []).append(_between(marks[0], marks[-1]))
    yamls = len({plain["/openapi.yaml"] for plain in ticks})
    rows = [(f"publish, 7 assets: {name}", _ms(steps[name]), "< 10 ms" if name == "in all" else "") for name in steps]
    return [
        *rows,
        ("files of a release, of them written in a tick", f"{len(before)}, {rewritten}", ""),
        ("bytes before packing that a tick changes", f"{_changed(ticks):,}", ""),
        (f"files written in {len(ticks)} ticks although unchanged", str(needless), "0"),
        (f"contents of openapi.yaml in {len(ticks)} ticks of one day", str(yamls), "1"),
    ]


def _changed(ticks: Sequence[Mapping[str, bytes]]) -> int:
    return sum(len(data) for path, data in ticks[-1].items() if ticks[-2].get(path) != data)


def _thousand(folder: Path, plain: Mapping[str, bytes], lasts: Collection[str]) -> list[Row]:
    """Publish ticks of a simulated market of many assets, in which every body changes."""
    names = [f"A{number:04d}" for number in range(MANY)]
    known = {*JSON_FILES, *map(reasoning_path, names)}
    site, vault, variants, checker = (
        Releases(folder / "site"),
        Vault(folder / "vault"),
        Variants(),
        Checker(json_files=known),
    )
    site.open()
    vault.open()
    seconds: list[Seconds] = []
    total = 0
    for number in range(1, MANY_TICKS + 1):
        bodies = _grown(plain, names, f"{number:012d}")
        offer = offer_of(number)
        begin = _now()
        files = variants.add(bodies, lasts)
        checker.check(offer.generation, files)
        vault.publish(offer)
        # An hour a tick: a release is pruned in each, as in a minute of production.
        site.publish(offer.generation, files, 1_000_000 + 3_600 * number)
        seconds.append(_between(begin, _now()))
        total = sum(map(len, bodies.values()))
    return [
        (
            f"publish, {MANY} assets: in all ({len(files)} files, {total / 1e6:.1f} MB before packing)",
            _ms(seconds),
            "< 250 ms",
        )
    ]


def _grown(plain: Mapping[str, bytes], names: Sequence[str], generation: str) -> dict[str, bytes]:
    """Return the files of a tick with as many assets as names: one body each, and maps of all of them."""
    out = dict(plain)
    said = json.loads(plain["/status.json"])["generation"].encode()
    for path in JSON_FILES & plain.keys():
        out[path] = plain[path].replace(said, generation.encode())
    one = json.loads(out[reasoning_path("ETH")])
    for place, name in enumerate(names):
        reasoning = {**one["reasoning"], "confidence": 30 + place % 50, "summary": f"{name}: {place * 7919}"}
        body = {**one, "asset": name, "reasoning": reasoning}
        out[reasoning_path(name)] = json.dumps(body, separators=(",", ":")).encode()
    for path, key in (
        ("/api/liquidity-lite.php", "assets"),
        ("/api/derivatives.php", "assets"),
        ("/api/main-brain.php", "coins"),
    ):
        body = json.loads(out[path])
        body[key] = {name: {**body[key]["ETH"], "asset": name, "n": place} for place, name in enumerate(names)}
        out[path] = json.dumps(body, separators=(",", ":")).encode()
    return out


def _now() -> Seconds:
    return time.perf_counter(), time.process_time()


def _between(begin: Seconds, end: Seconds) -> Seconds:
    return end[0] - begin[0], end[1] - begin[1]


def _ms(seconds: Sequence[Seconds]) -> str:
    """Return the median by the wall with its spread, and the CPU's; the first, which finds nothing there, is left out."""
    wall, cpu = (sorted(column) for column in zip(*seconds[1:], strict=True))
    middle = 1000 * statistics.median(wall)
    spread = f"best {1000 * wall[0]:.1f}, worst {1000 * wall[-1]:.1f}"
    return f"{middle:.1f} ms ({spread}; CPU {1000 * statistics.median(cpu):.1f}, best {1000 * cpu[0]:.1f})"


def _preview(folder: Path, plain: Mapping[str, bytes]) -> list[Row]:
    """Load the preview, a plain route with the same bytes and headers, and StaticFiles over the same release."""
    files = Variants().add(plain)
    site = Releases(folder / "site")
    site.open()
    site.publish("000000000001", files, time.time())
    port = free_port()
    unused = "http://127.0.0.1:9"  # what is asked of a facilitator is not measured here
    settings = {"EMI_STATE_DIR": str(folder), "EMI_PORT": str(port), "EMI_NETWORK": "testnet"}
    settings |= dict.fromkeys(("EMI_FACILITATOR_URL", "EMI_ALGOD_URL", "EMI_INDEXER_URL"), unused)
    words = [sys.executable, "-m", "generator.cli", "gateway", "--preview"]
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(serving(words, port, folder, FREE, **settings))
        plain_route = stack.enter_context(_server("plain", folder))
        static = stack.enter_context(_server("static", folder))
        rates = _rates(
            {
                "preview": ours.origin + FREE,
                "plain": plain_route.origin + FREE,
                "static": static.origin + FREE,
                "pinned": f"{ours.origin}/g/000000000001{FREE}",
            },
            {"preview": ours, "plain": plain_route, "static": static, "pinned": ours},
        )
        memory = ours.rss_mb()
    mine = rates["preview"]
    return [
        ("preview, requests per CPU-second", f"{mine:,.0f}", ""),
        ("plain Starlette route with the same bytes and headers", f"{rates['plain']:,.0f}", ""),
        ("Starlette StaticFiles over the same release", f"{rates['static']:,.0f}", ""),
        ("preview over the plain route", f"{mine / rates['plain']:.2f}", ">= 0.6"),
        ("preview over StaticFiles", f"{mine / rates['static']:.1f}", ">= 5"),
        ("preview by generation (/g/) over the plain route", f"{rates['pinned'] / rates['plain']:.2f}", ""),
        ("resident memory of the gateway with preview", f"{memory:.0f} MB", ""),
    ]


def _rates(urls: Mapping[str, str], servers: Mapping[str, Server]) -> dict[str, float]:
    """Return requests per CPU-second by name: medians of loads in turn, so that all meet the same neighbours."""
    runs: dict[str, list[float]] = {name: [] for name in urls}
    for turn in range(ROUNDS + 1):
        for name, url in urls.items():
            before = servers[name].cpu_s()
            words = [sys.executable, "-m", "tests.benchmarks.gateway_load", url, "50", str(REQUESTS if turn else 1_000)]
            done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=600)
            if list(json.loads(done.stdout)["statuses"]) != ["200"]:
                raise SystemExit(f"{url} answered {json.loads(done.stdout)['statuses']}")
            if turn:
                runs[name].append(REQUESTS / (servers[name].cpu_s() - before))
    return {name: statistics.median(found) for name, found in runs.items()}


@contextlib.contextmanager
def _server(role: str, folder: Path) -> Iterator[Server]:
    port = free_port()
    words = [
        sys.executable,
        "-m",
        "tests.benchmarks.publish_servers",
        role,
        str(port),
        str(folder / "site" / "current"),
    ]
    with serving(words, port, folder, FREE) as server:
        yield server


if __name__ == "__main__":
    main()
