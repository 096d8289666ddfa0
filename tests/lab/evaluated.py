"""One small run of `python -m generator.lab evaluate`, as a user would start it."""

import gzip
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from generator.lab.__main__ import app
from generator.lab.simulator import simulate

SEED = 60811
DAYS = 3
EVEN = """
import json, sys
for line in sys.stdin:
    bar = json.loads(line)
    probs = dict.fromkeys(("risk_on", "risk_off", "range", "high_volatility"), 0.25)
    reading = {"regime": "transition", "probs": probs, "assets": {name: {} for name in bar["assets"]}}
    print(json.dumps(reading), flush=True)
"""


def candles(folder: Path, days: int, minutes: int = 5) -> Path:
    """Write candles of two assets and return their folder."""
    frame = simulate("base", 60813, days).frame
    rows = [frame.fields[name] for name in ("open", "high", "low", "close", "volume")]
    below = folder / f"small-{minutes}m"
    below.mkdir(parents=True)
    for column, pair in enumerate(("BTCUSDT", "ETHUSDT")):
        with gzip.open(below / f"{pair}.csv.gz", "wt", encoding="utf-8") as out:
            out.write("ts,open,high,low,close,volume\n")
            for at in range(0, len(frame), minutes // 5):
                line = (int(frame.t[at]), *(float(values[at, column]) for values in rows))
                out.write(",".join(map(str, line)) + "\n")
    return below


def program(folder: Path, text: str) -> str:
    """Write a program and return its command."""
    path = folder / "entrant.py"
    path.write_text(text)
    return f"{sys.executable} {path}"


def evaluated(folder: Path, *options: str) -> Result:
    """Run the command on one seed and one set of candles."""
    arguments = ["evaluate", "--seeds", str(SEED), "--days", str(DAYS), "--candles", str(candles(folder, 3))]
    return CliRunner().invoke(app, [*arguments, *options])
