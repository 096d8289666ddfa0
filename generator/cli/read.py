"""`emi read`: the brain as a filter, bars in, readings out."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.wire.foreign import read_json


def read(
    weights: Annotated[str | None, typer.Option(help="Weights file; default: the packaged one.")] = None,
    data: Annotated[
        list[Path] | None, typer.Option(help="Folder of candles to read instead, as publishers of candles name them.")
    ] = None,
) -> None:
    """Read bars from standard input and say what the brain makes of each.

    One JSON line per closed 5-minute bar in, one line out, flushed. The assets are those of the first line; later
    lines may leave some out (unknown). Every field but "c" may be null or absent. With --data DIR the bars are those
    of a folder of candles instead, and a table says what is used of each file.

    In: {"t": open time in ms, "assets": {"BTC": {"o","h","l","c","v","depth_usd","spread_bps","imbalance","funding",
    "open_interest","liq_long_usd","liq_short_usd"}}}; open_interest in contracts, counted in coins.

    Out: bias_confidence is the mean chance of the called outcomes, null where none is called; volatility_outlook is the
    expected sigma of log returns over 15 minutes, 1, 4 and 24 hours, as a fraction (0.004 = 0.4%), the geometric mean
    over assets. Of each asset: arena, the chances for the next 15 minutes in the band band_bps; arena_60m, the
    same for an hour; call, what is claimed of that hour, small_move or none (a side is called only by a service whose
    record has earned it); ranges, [low_90, low_50, high_50, high_90] in bps.
    Null: not known yet.

    A line that is not such a bar ends the run with exit code 1 and names its number. A bar that comes late or twice
    changes nothing and is answered with the current reading.

    Example: emi read --data candles > readings.jsonl
    """
    from generator.brain.json_lines import JsonLinesReader
    from generator.brain.weights import Weights
    from generator.errors import GeneratorError

    brain = JsonLinesReader(Weights.load(weights))
    if data:
        for bar in _recorded(data):
            _print(brain.answer(bar))
        return

    for number, line in enumerate(sys.stdin, start=1):
        if not line.strip():
            continue
        try:
            answer = brain.answer(read_json(line))
        except ValueError as error:
            raise GeneratorError(f"line {number}: {error}") from None
        _print(answer)


def _recorded(folders: list[Path]) -> Iterator[dict[str, Any]]:
    """Print what is used of each file, and yield the bars as the lines would give them."""
    from generator.brain.json_lines import bars_of
    from generator.catalog.assets import ASSETS
    from generator.cli._console import print_files
    from generator.errors import GeneratorError
    from generator.market.bars import BAR_MS
    from generator.market.recorded.recording import load_recording

    recording = load_recording(folders, ASSETS)
    print_files(recording.files, recording.mended)
    if recording.frame.interval_ms != BAR_MS:
        raise GeneratorError("these are bars of 60 minutes; the brain reads those of 1 or 5 minutes")
    yield from bars_of(recording.frame)


def _print(answer: dict[str, Any]) -> None:
    print(json.dumps(answer, separators=(",", ":"), allow_nan=False), flush=True)
