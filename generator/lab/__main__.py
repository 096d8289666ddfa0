"""`python -m generator.lab`: train the brain's weights, and measure them next to peers; from a checkout only."""

import importlib.util
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from generator.brain.weights import PACKAGED, PACKAGED_OUTLOOK, Weights
from generator.errors import GeneratorError
from generator.lab.coverage import WARM_UP, held, listen, pooled, was_fitted
from generator.lab.entrant import EntrantError
from generator.lab.evaluate import check, read_candles
from generator.lab.evaluate import evaluate as measure
from generator.lab.far import measured
from generator.lab.ladder import listen as hear
from generator.lab.ladder import measured_ladder
from generator.lab.outlook import fit_outlook
from generator.lab.peers import HMM, PEERS
from generator.lab.progress import tracked
from generator.lab.report import tables
from generator.lab.simulator import FAMILIES, simulate
from generator.lab.train import save
from generator.lab.train import train as fit

app = typer.Typer(
    help="Train the brain's weights, or measure them on unseen markets.", no_args_is_help=True, add_completion=False
)


@app.command()
def train(out: Annotated[Path, typer.Option(help="Where to write the weights.")] = PACKAGED) -> None:
    """Simulate the training markets and fit the weights: about eight minutes of one core, 4 GB of memory.

    The same program gives the same file on the same machine; only seeds 1000 to 1999 are used.

    Example: python -m generator.lab train --out weights.json
    """
    body = fit(out)
    print(f"wrote {out} {body['digest']}")


@app.command("train-outlook")
def train_outlook(
    candles: Annotated[Path, typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each.")],
    out: Annotated[Path, typer.Option(help="Where to write the outlook.")] = PACKAGED_OUTLOOK,
    until: Annotated[datetime | None, typer.Option(help="Fit on the candles before this day (UTC) only.")] = None,
) -> None:
    """Fit how far prices may move on recorded candles: about a minute for a year of every asset.

    The same candles give the same file on the same machine; they must not be scored afterwards.

    Example: python -m generator.lab train-outlook --candles DIR
    """
    try:
        frame = read_candles(candles)
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error
    if until:
        frame = frame.rows(0, int(np.searchsorted(frame.t, _ms(until))))
    body = save(fit_outlook(frame, candles.name), out)
    print(f"wrote {out} {body['digest']}")


@app.command()
def evaluate(
    *,
    seeds: Annotated[
        list[str] | None,
        typer.Option(help="FIRST-LAST, outside the training's 1000-1999; default 71001-71012; may be repeated."),
    ] = None,
    candles: Annotated[
        list[Path] | None, typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each; may be repeated.")
    ] = None,
    entrant: Annotated[
        list[str] | None,
        typer.Option(help="A program that reads bars as `emi read` does, scored next to ours; may be repeated."),
    ] = None,
    peers: Annotated[bool, typer.Option("--peers/--no-peers", help="Also run the peers that need a library.")] = True,
    weights: Annotated[Path | None, typer.Option(help="Weights file; default: the packaged one.")] = None,
    days: Annotated[int, typer.Option(min=3, help="Of each market; the first half is warm-up.")] = 60,
) -> None:
    """Measure the regime and the hour's forecasts next to peers on the same markets; print Markdown tables.

    Peers that need a library are run where it is installed (dependency group `peers`), else skipped with a line.
    Candles are read by our brain alone. An entrant starts afresh for each market and has 30 s for each line.

    Example: python -m generator.lab evaluate --seeds 71001-71012 --candles DIR --entrant "python my_brain.py"
    """
    able = [peer for peer in PEERS if peer != HMM or (peers and importlib.util.find_spec("hmmlearn"))]
    if peers and HMM not in able:
        print(f"skipped: {HMM}, because its library is not installed", file=sys.stderr)

    try:
        spans = [span_of(one) for one in seeds or ["71001-71012"]]
        for span in spans:
            check(span)
        trained = Weights.load(weights)
        frames = {folder.name: read_candles(folder) for folder in candles or []}
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error

    for span in spans:
        try:
            evaluation = measure(span, trained, peers=able, entrants=entrant or [], days=days)
        except EntrantError as error:
            print(error, file=sys.stderr)
            raise typer.Exit(1) from error
        print(tables(evaluation))
    for name, frame in frames.items():
        print(measured(name, frame, trained))


@app.command()
def recorded(
    candles: Annotated[list[Path], typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each; repeat it.")],
    weights: Annotated[Path | None, typer.Option(help="Weights file; default: the packaged one.")] = None,
) -> None:
    """Measure our brain on recorded candles alone: about 20 s for a month of all assets.

    Of candles that something was fitted on only label and axes are shown, held to no bar.

    Example: python -m generator.lab recorded --candles DIR
    """
    try:
        trained = Weights.load(weights)
        frames = {folder.name: read_candles(folder) for folder in candles}
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error

    for name, frame in frames.items():
        print(measured(name, frame, trained))


@app.command()
def coverage(
    *,
    candles: Annotated[
        list[Path] | None, typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each; may be repeated.")
    ] = None,
    seeds: Annotated[
        list[str] | None, typer.Option(help="FIRST-LAST of simulated markets, outside 1000-1999; may be repeated.")
    ] = None,
    family: Annotated[str, typer.Option(help="Family of the simulated markets.")] = "wild",
    days: Annotated[int, typer.Option(min=8, help="Of each simulated market; the first week is warm-up.")] = 60,
    since: Annotated[datetime | None, typer.Option(help="Score candles from this day (UTC) on, read all.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Weights file; default: the packaged one.")] = None,
    outlook: Annotated[Path | None, typer.Option(help="Outlook file; default: the packaged one.")] = None,
) -> None:
    """Measure at full hours whether ranges hold as often as stated and whether it moves as often as said.

    Candles on which the outlook was fitted are scored too, and named so. Simulated markets are pooled.

    Example: python -m generator.lab coverage --candles DIR --seeds 73001-73004
    """
    try:
        spans = [span_of(one) for one in seeds or []]
        for span in spans:
            check(span)
        if family not in FAMILIES:
            raise ValueError(f"unknown family {family!r}; valid: {', '.join(FAMILIES)}")
        trained = Weights.load(weights, outlook)
        recorded = {folder.name: read_candles(folder) for folder in candles or []}
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error

    for name, frame in recorded.items():
        warm_up = int(np.searchsorted(frame.t, _ms(since))) if since else WARM_UP
        fitted = was_fitted(frame.rows(warm_up), trained)
        inside = " (inside the candles that the outlook was fitted on)" if fitted else ""
        print(held(f"{name}{inside}", listen(frame, trained, warm_up)))
    for span in spans:
        markets = [simulate(family, seed, days).frame for seed in tracked(span, f"seeds {span.start}-{span.stop - 1}")]
        parts = [listen(market, trained) for market in markets]
        print(held(f"simulated markets, {family}, seeds {span.start}-{span.stop - 1}", pooled(parts)))


@app.command()
def ladder(
    *,
    candles: Annotated[Path, typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each.")],
    since: Annotated[datetime | None, typer.Option(help="Score candles from this day (UTC) on, read all.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Weights file; default: the packaged one.")] = None,
    outlook: Annotated[Path | None, typer.Option(help="Outlook file; default: the packaged one.")] = None,
) -> None:
    """Measure at full hours whether prices pass the levels of the ladder, and the partition, as often as stated.

    Next to a normal curve, Student's t and the climate of the 30 days before. Candles on which the outlook was fitted
    are scored too, and named so.

    Example: python -m generator.lab ladder --candles DIR
    """
    try:
        trained = Weights.load(weights, outlook)
        frame = read_candles(candles)
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error

    warm_up = int(np.searchsorted(frame.t, _ms(since))) if since else WARM_UP
    fitted = was_fitted(frame.rows(warm_up), trained)
    inside = " (inside the candles that the outlook was fitted on)" if fitted else ""
    print(measured_ladder(f"{candles.name}{inside}", hear(frame, trained, warm_up)))


def _ms(day: datetime) -> int:
    """Return the start of a day in UTC."""
    return round(day.replace(tzinfo=UTC).timestamp() * 1000)


def span_of(seeds: str) -> range:
    """Return the seeds from `FIRST-LAST` or one number; raise ValueError on anything else."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", seeds)
    if not match:
        raise ValueError(f"seeds must be FIRST-LAST, got {seeds!r}")
    first = int(match[1])
    last = int(match[2] or match[1])
    if last < first:
        raise ValueError(f"seeds must be FIRST-LAST, got {seeds!r}")
    return range(first, last + 1)


if __name__ == "__main__":
    app()
