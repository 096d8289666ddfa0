"""Print the figures of the service: readiness, one tick, resident memory. Run: python -m tests.benchmarks."""

import asyncio
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.support.processes import emi_up

TICKS = 120


def main() -> None:
    """Measure and print; every figure with its bar."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [*_processes(Path(folder) / "up"), *asyncio.run(_ticks(Path(folder) / "ticks"))]
    print("| figure | measured | bar |\n|---|---|---|")
    for name, value, bar in rows:
        print(f"| {name} | {value} | {bar} |")


def _processes(folder: Path) -> list[tuple[str, str, str]]:
    with emi_up(folder) as up:
        ready = up.wait_answer()
        up.wait_text("is up:")
        time.sleep(1)
        children = _children(up.process.pid)
    return [
        ("emi up, start to the first real release, empty state", f"{ready:.1f} s", "< 10 s"),
        ("resident memory, generator", f"{children['schedule']:.0f} MB", "< 300 MB"),
        ("resident memory, gateway with preview", f"{children['gateway']:.0f} MB", "< 120 MB"),
        ("resident memory, devnet", f"{children['devnet']:.0f} MB", ""),
    ]


def _children(parent: int) -> dict[str, float]:
    """Return resident megabytes by the name of the `emi` command."""
    found: dict[str, float] = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
            words = (status.parent / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"\nPPid:\t{parent}\n" in text and b"generator.cli" in words:
            kilobytes = next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS"))
            found[words[words.index(b"generator.cli") + 1].decode()] = kilobytes / 1024
    return found


async def _ticks(folder: Path) -> list[tuple[str, str, str]]:
    from generator.clock import SystemClock
    from generator.compose.all import compose
    from generator.runtime.app import build
    from generator.runtime.publication import publish
    from generator.runtime.startup import open_market
    from generator.runtime.tick import describe, play_arena
    from generator.settings import GeneratorSettings

    app = build(GeneratorSettings(state_dir=folder), SystemClock())
    start = datetime.now(UTC).replace(second=0, microsecond=0)
    began = time.perf_counter()
    await open_market(app, start, lambda *_: None)
    opening = time.perf_counter() - began
    steps: dict[str, list[float]] = {}
    for minute in range(TICKS):
        at = start + timedelta(minutes=minute)
        marks = [time.perf_counter()]
        observation = await app.market.observe(at)
        marks.append(time.perf_counter())
        reading = app.market.read(observation)
        marks.append(time.perf_counter())
        arena, number = play_arena(app, observation, reading, at)
        marks.append(time.perf_counter())
        context = describe(app, observation, reading, arena, at, number)
        composed = compose(context)
        marks.append(time.perf_counter())
        publish(app, context, composed, app.record.published.prepare(), at)
        marks.append(time.perf_counter())
        for name, begin, end in zip(("observe", "read", "play", "compose", "publish"), marks, marks[1:], strict=False):
            steps.setdefault(name, []).append(end - begin)
        steps.setdefault("total", []).append(marks[-1] - marks[1])
        await asyncio.sleep(0.8)  # a minute lies between two ticks: pictures and downloads are made by then
    await app.aclose()
    rows = [("opening an empty state: 30 days of history, 48 hours of play", f"{opening:.1f} s", "")]
    rows += [
        (f"tick: {name}, median of {TICKS}", f"{1000 * _median(steps[name]):.1f} ms", "")
        for name in steps
        if name != "total"
    ]
    slow, slowest = (sorted(steps["total"][1:])[int(share * (TICKS - 1))] for share in (0.95, 0.99))
    rows.append(
        (
            "tick, data in hand: median, 95th and 99th percentile",
            f"{1000 * _median(steps['total']):.0f}, {1000 * slow:.0f} and {1000 * slowest:.0f} ms",
            "150 ms, none, 1 s",
        )
    )
    return rows


def _median(values: list[float]) -> float:
    return statistics.median(values[1:])  # the first makes OpenAPI and its YAML


if __name__ == "__main__":
    main()
