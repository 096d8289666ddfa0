"""Sweep the texts on now of recorded markets: `python -m tests.words --data DIR --kept FOLDER [--write PAGE]`.

Each bar of each set is put into words on a fresh, a one-week and a full record, and each text is held against the raw
closes. What a sweep found is kept in the folder, a file for each set and record, and what is kept there is not swept
again; the table of all that is kept is printed at the end.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from generator.catalog.assets import ASSETS
from generator.market.bars import BarFrame
from generator.market.recorded.recording import load_recording
from tests.words.sweep import Found, sweep
from tests.words.table import page, table

RECORDS: Final = ("fresh", "week", "full")


def main(
    *,
    data: Annotated[Path, typer.Option(help="Folder of recordings of candles, a folder each.")],
    kept: Annotated[Path, typer.Option(help="Folder of what was found.")],
    only: Annotated[str, typer.Option("--set", help="The sets with this word in their name.")] = "",
    record: Annotated[str, typer.Option(help="fresh, week or full; empty: each.")] = "",
    every: Annotated[int, typer.Option(help="Look at each so many bars.")] = 1,
    planted: Annotated[int, typer.Option(help="Plant false texts at each so many bars looked at.")] = 29,
    write: Annotated[Path | None, typer.Option(help="The page whose table is to be written.")] = None,
) -> None:
    """Print what was found; 1 if there is any complaint."""
    kept.mkdir(parents=True, exist_ok=True)
    for folder in sorted(data.iterdir()):
        for of_record in RECORDS:
            file = kept / f"{folder.name}.{of_record}.json"
            if only in folder.name and record in {"", of_record} and not file.exists():
                found = sweep(folder.name, read(folder), of_record, every=every, planted_every=planted)
                file.write_text(json.dumps(vars(found)), encoding="utf-8")
                _show(folder.name, of_record, found)

    every_found = {tuple(file.stem.rsplit(".", 1)): loaded(file) for file in sorted(kept.glob("*.json"))}
    text = table(every_found)
    print(text)
    if write:
        page(write, text)
    sys.exit(any(found.wrong for found in every_found.values()))


def read(folder: Path) -> BarFrame:
    """Read a recording of bars of any length, only the assets that it holds."""
    frame = load_recording([folder], ASSETS).frame
    held = np.flatnonzero(np.isfinite(frame.fields["close"]).any(axis=0)).tolist()
    fields = {name: values[:, held] for name, values in frame.fields.items()}
    return BarFrame(tuple(frame.assets[column] for column in held), frame.t, fields, frame.interval_ms)


def loaded(file: Path) -> Found:
    """Return what a sweep had found."""
    found = Found()
    values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    for name, value in values.items():
        kind = type(getattr(found, name))
        setattr(found, name, kind(value))
    return found


def _show(name: str, record: str, found: Found) -> None:
    """Print what one sweep found, with examples."""
    print(f"{name}, {record}: {found.bars} bars, {found.texts} texts, {found.seconds:.0f} CPU-s", flush=True)
    for key, count in found.wrong.items():
        print(f"  {count} x {key}", *found.examples[key], sep="\n    ", flush=True)
    for row, count in found.planted.items():
        if found.caught[row] < count:
            print(
                f"  {row}: {found.caught[row]} of {count} planted found", *found.missed[row], sep="\n    ", flush=True
            )


if __name__ == "__main__":
    typer.run(main)
