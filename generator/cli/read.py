"""`emi read`: the brain as a filter, bars in, readings out."""

import json
import sys
from typing import Annotated

import typer

from gateway.wire.foreign import read_json


def read(
    weights: Annotated[str | None, typer.Option(help="Weights file; default: the packaged one.")] = None,
) -> None:
    """Read bars from standard input and say what the brain makes of each.

    One JSON line per closed 5-minute bar in, one line out, flushed. The assets are those of the first line; later
    lines may leave some out (unknown). Every field but "c" may be null or absent.

    In: {"t": open time in ms, "assets": {"BTC": {"o","h","l","c","v","depth_usd","spread_bps","imbalance","funding",
    "open_interest","liq_long_usd","liq_short_usd"}}}; open_interest in contracts, counted in coins.

    Out: bias_confidence is the mean chance of the called outcomes, null where none is called; volatility_outlook is the
    expected sigma of log returns over 15 minutes, 1, 4 and 24 hours, as a fraction (0.004 = 0.4%), the geometric mean
    over assets. Of each asset: arena, the chances for the next 15 minutes in the neutral band band_bps; arena_60m, the
    same for an hour; call, what is claimed of that hour, small_move or none (a side is called only by a service whose
    record has earned it); ranges, [low_90, low_50, high_50, high_90] in bps.
    Null: not known yet.

    A line that is not such a bar ends the run with exit code 1 and names its number. A bar that comes late or twice
    changes nothing and is answered with the current reading.

    Example: emi read < bars.jsonl > readings.jsonl
    """
    from generator.brain.json_lines import JsonLinesReader
    from generator.brain.weights import Weights
    from generator.errors import GeneratorError

    brain = JsonLinesReader(Weights.load(weights))
    for number, line in enumerate(sys.stdin, start=1):
        if not line.strip():
            continue
        try:
            answer = brain.answer(read_json(line))
        except ValueError as error:
            raise GeneratorError(f"line {number}: {error}") from None
        print(json.dumps(answer, separators=(",", ":"), allow_nan=False), flush=True)
