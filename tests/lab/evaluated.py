"""One small run of `emi brain evaluate`, as a user would start it."""

from __future__ import annotations

import gzip
from pathlib import Path

from typer.testing import CliRunner, Result

from generator.cli import application
from generator.lab.report import BEGIN, END
from generator.lab.simulator import simulate

SEED, SPARE_SEED = 60811, 60812
DAYS = 4


def candles(folder: Path, days: int = 9) -> Path:
    """Write 5-minute candles of two assets two folders down, beside hourly ones that must be left alone."""
    frame = simulate("base", 60813, days).frame
    rows = [frame.fields[name] for name in ("open", "high", "low", "close", "volume")]
    for name, every in (("small-5m", 1), ("small-1h", 12)):
        below = folder / "candles" / name
        below.mkdir(parents=True)
        for column, pair in enumerate(("BTCUSDT", "ETHUSDT")):
            with gzip.open(below / f"{pair}.csv.gz", "wt", encoding="utf-8") as out:
                out.write("ts,open,high,low,close,volume\n")
                for at in range(0, len(frame), every):
                    out.write(
                        ",".join(map(str, (int(frame.t[at]), *(float(values[at, column]) for values in rows)))) + "\n"
                    )
    return folder


def evaluated(folder: Path, *more: str) -> tuple[Result, str]:
    """Run the command on one seed and, in a second part, on another; return the result and the page."""
    page = folder / "page.md"
    page.write_text(f"before\n\n{BEGIN}\nold figures\n{END}\n\nafter\n", encoding="utf-8")
    arguments = ["brain", "evaluate", "--seeds", str(SEED), "--days", str(DAYS), "--report", str(page)]
    result = CliRunner().invoke(application(), [*arguments, "--candles", str(candles(folder)), *more])
    return result, page.read_text(encoding="utf-8")
