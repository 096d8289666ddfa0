"""Print what publishing costs, from the bytes in hand to the moved pointer, on tmpfs: python -m tests.benchmarks.publish.

Packing what changed, the check of every byte, the vault, the site.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from generator.release.check import Checker
from generator.release.release import Releases
from generator.release.variants import Variants
from generator.release.vault import Offer, Vault

TICKS: Final = 25
TMPFS: Final = Path("/dev/shm")
Row = tuple[str, str, str]
Seconds = tuple[float, float]  # by the wall, and of CPU over all threads


def main() -> None:
    """Measure and print; every figure with its bar."""
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory(dir=TMPFS if TMPFS.is_dir() else None) as folder:
        ticks, offers, lasts = asyncio.run(_ticks(Path(folder) / "state"))
        rows = _seven(Path(folder) / "seven", ticks, offers, lasts)
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


if __name__ == "__main__":
    main()
