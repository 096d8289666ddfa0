"""`emi brain`: train the brain's weights, and measure them beside peers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

brain_app = typer.Typer(
    help="Train the brain's weights, or measure them on markets it has not seen.", no_args_is_help=True
)


@brain_app.command()
def train(
    out: Annotated[Path | None, typer.Option(help="Where to write the weights; default: the packaged file.")] = None,
) -> None:
    """Simulate the training markets and fit the weights: about eight minutes of one core, 4 GB of memory.

    The same program gives the same file on the same machine; only seeds 1000 to 1999 are used.

    Example: emi brain train --out weights.json
    """
    from generator.brain.weights import PACKAGED
    from generator.cli._progress import progress_bar
    from generator.lab.train import train as fit

    where = PACKAGED if out is None else out
    with progress_bar() as progress:
        body = fit(where, progress)
    print(f"wrote {where} {body['digest']}")


@brain_app.command()
def evaluate(
    *,
    seeds: Annotated[
        list[str] | None,
        typer.Option(help="FIRST-LAST, outside the training's 1000-1999; default 70001-70012; may be repeated."),
    ] = None,
    candles: Annotated[
        list[Path] | None,
        typer.Option(
            help="A folder with, or with folders of, 5-minute candles, one PAIR.csv.gz each; may be repeated."
        ),
    ] = None,
    peers: Annotated[bool, typer.Option("--peers/--no-peers", help="Run the peers on the same markets.")] = True,
    weights: Annotated[Path | None, typer.Option(help="Weights file; default: the packaged one.")] = None,
    days: Annotated[int, typer.Option(min=4, help="Of each market; the first half is warm-up.")] = 60,
    report: Annotated[
        Path | None, typer.Option(help="A page with the marks, to be filled in; plots beside it.")
    ] = None,
) -> None:
    """Measure the regime, the forecasts and the outlook beside peers on the same markets.

    Peers that need a library are run where it is installed (dependency group `peers`), else skipped with a line.
    Candles are read with the first seeds; they and the plots stand in the first part of the report.

    Example: emi brain evaluate --seeds 70001-70012 --candles CANDLES --report docs/brain.md
    """
    from generator.brain.weights import Weights
    from generator.cli._progress import progress_bar
    from generator.errors import GeneratorError
    from generator.lab.evaluate import check
    from generator.lab.evaluate import evaluate as measure
    from generator.lab.peers import installed
    from generator.lab.recorded import candle_folders
    from generator.lab.report import plots, tables, write

    here, missing = installed() if peers else ([], [])
    for peer in missing:
        typer.echo(f"skipped: {peer.name}, because {peer.library} is not installed", err=True)
    try:
        spans = [_span(one) for one in seeds or ["70001-70012"]]
        for span in spans:
            check(span)
        sets = [folder for one in candles or [] for folder in candle_folders(one)]
        trained = Weights.load(weights)
        with progress_bar() as progress:
            parts = [
                measure(span, () if at else sets, here, trained, progress, days=days) for at, span in enumerate(spans)
            ]
        text = "\n".join(tables(part, [peer.name for peer in missing]) for part in parts)
        if report is not None:
            write(report, text, plots(parts[0]))
    except ValueError as error:
        raise GeneratorError(str(error)) from error
    print(text, end="")


def _span(seeds: str) -> range:
    """Return the seeds from `FIRST-LAST` or one number.

    Raises:
        ValueError: anything else.
    """
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", seeds)
    if not match or int(match[2] or match[1]) < int(match[1]):
        raise ValueError(f"seeds must be FIRST-LAST, got {seeds!r}")
    return range(int(match[1]), int(match[2] or match[1]) + 1)
