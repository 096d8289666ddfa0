"""The transparency log at size: `python -m tests.benchmarks.log [--entries N] [--hours H]`.

A million entries are laid down in the memory, then ticks are appended and published; a year of hourly rounds on seven
assets is played, published and audited by `emi verify` itself. The peer of each figure is a plain loop over the same
bytes in the same run: SHA-256 alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from sqlalchemy import create_engine

from generator.arena.play import ArenaConfig
from generator.record.audit.entries import entry
from generator.record.log.note import Checkpoint
from generator.record.log.reader import LogReader
from generator.record.memory import log
from tests.support.arena_inputs import CONFIG, HOUR, MINUTE, NOON, inputs_at, play_tick
from tests.support.databases import url_in
from tests.support.log_records import Record

CHUNK = 20_000


def fill(record: Record, entries: int) -> None:
    """Lay down entries of the usual size, in large transactions."""
    record.published.begin(NOON)
    engine = create_engine(url_in(record.folder))
    with engine.connect() as connection:
        state = log.load(connection)
    edge = state.edge
    while edge.size < entries:
        with engine.begin() as connection:
            count = min(CHUNK, entries - edge.size)
            batch = [entry("filler", NOON, number=edge.size + at, text="x" * 500) for at in range(count)]
            edge = log.append(connection, edge, batch)
        print(f"\r  {edge.size} entries", end="", file=sys.stderr)
    print(file=sys.stderr)
    engine.dispose()
    record.restart()


def large(entries: int) -> None:
    """Append to a large log and publish, then prove one round of it."""
    with tempfile.TemporaryDirectory() as name:
        record = Record(Path(name))
        fill(record, entries)
        began = time.perf_counter()
        record.published.begin(NOON)
        size = record.log_size
        print(f"taking up a log of {size} entries: {1000 * (time.perf_counter() - began):.1f} ms")
        record.publish()
        times = []
        for hour in range(24):
            for minute in (55, 60):
                play_tick(record.memory, inputs_at(NOON + hour * HOUR + minute * MINUTE, config=CONFIG))
                began = time.perf_counter()
                files = record.published.prepare()
                record.write({**files.immutable, **files.in_release})
                record.done(files)
                times.append(1000 * (time.perf_counter() - began))
        record.publish()
        print(
            f"publishing a tick's entries: median {statistics.median(times):.1f} ms, max {max(times):.1f} ms (bar 50)"
        )
        append(record)
        one_round(record)
        record.memory.close()


def append(record: Record) -> None:
    """Time the log's part of a tick's transaction."""
    engine = create_engine(url_in(record.folder))
    times = []
    with engine.connect() as connection:
        edge = log.load(connection).edge
        for number in range(20):
            batch = [entry("filler", NOON, number=number, text="x" * 1_000) for _ in range(20)]
            began = time.perf_counter()
            edge = log.append(connection, edge, batch)
            times.append(1000 * (time.perf_counter() - began))
        connection.rollback()
    engine.dispose()
    print(f"appending 20 entries: median {statistics.median(times):.1f} ms, max {max(times):.1f} ms")


def one_round(record: Record) -> None:
    """Prove the newest round from files."""
    requests = []

    def fetch(path: str) -> bytes:
        requests.append(path)
        return record.read(path)

    note = record.read("checkpoint")
    began = time.perf_counter()
    head = Checkpoint.parse(note.decode().partition("\n\n")[0] + "\n")
    reader = LogReader(fetch, head)
    for number in record.memory.resolved_rounds(1)[0]["log_entries"]:
        reader.entry(number)
    spent = 1000 * (time.perf_counter() - began)
    print(f"one round of {head.size} entries: {spent:.1f} ms, {1 + len(requests)} requests (bars 100 ms, 20 requests)")


def year(hours: int) -> None:
    """Play, publish and audit a year of hourly rounds with seven hourly predictions."""
    config: ArenaConfig = replace(CONFIG, simulated_crowd=True)
    with tempfile.TemporaryDirectory() as name:
        record = Record(Path(name))
        record.published.begin(NOON)
        for hour in range(hours):
            with record.memory.batch():
                for minute in (0, 55):
                    play_tick(record.memory, inputs_at(NOON + hour * HOUR + minute * MINUTE, config=config))
            if hour % 500 == 0:
                print(f"\r  hour {hour}", end="", file=sys.stderr)
        print(file=sys.stderr)
        record.publish()
        size = record.log_size
        record.memory.close()
        files = [path for path in (record.site / "log" / "tile" / "entries").rglob("*") if path.is_file()]
        began = time.perf_counter()
        octets = sum(len(data) for data in (path.read_bytes() for path in files) if hashlib.sha256(data).digest())
        peer = time.perf_counter() - began
        command = [sys.executable, "-m", "generator.cli", "verify", str(record.site), "--seen", f"{name}/seen"]
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=name, env=dict(os.environ))
        spent = time.perf_counter() - began
        print(done.stdout.splitlines()[0] if done.stdout else done.stderr)
        print(
            f"audit of {hours} hours, {size} entries, {octets / 1e6:.1f} MB: {spent:.1f} s (bar 60), exit {done.returncode}"
        )
        print(f"  reading and hashing the same bytes: {peer:.2f} s, the audit takes {spent / peer:.0f} times as long")
        print(f"  rows published: {len(json.loads((record.site / 'arena' / 'rounds.json').read_bytes())['rounds'])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--hours", type=int, default=8_760)
    found = parser.parse_args()
    large(found.entries)
    year(found.hours)


if __name__ == "__main__":
    main()
