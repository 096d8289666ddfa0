"""`python -m generator.lab`: fit how far prices may move, and measure the brain on candles; from a checkout only."""

from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from generator.brain.weights import PACKAGED, Weights
from generator.errors import GeneratorError
from generator.lab.ablation import ablated
from generator.lab.candles import read_candles
from generator.lab.coverage import WARM_UP, held, listen, was_fitted
from generator.lab.events import crossed, measured_null, read_hours
from generator.lab.far import measured
from generator.lab.holds import counted
from generator.lab.joint import listen as follow
from generator.lab.joint import measured_joint
from generator.lab.ladder import listen as hear
from generator.lab.ladder import measured_ladder
from generator.lab.outlook import fit_outlook, save
from generator.market.bars import BarFrame

app = typer.Typer(
    help="Fit how far prices may move, or measure the brain on candles.", no_args_is_help=True, add_completion=False
)


@app.command("train-outlook")
def train_outlook(
    candles: Annotated[Path, typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each.")],
    out: Annotated[Path, typer.Option(help="Where to write the outlook.")] = PACKAGED,
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
def recorded(
    candles: Annotated[list[Path], typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each; repeat it.")],
    outlook: Annotated[Path | None, typer.Option(help="Outlook file; default: the packaged one.")] = None,
) -> None:
    """Measure our brain on recorded candles alone: about 20 s for a month of all assets.

    Of candles that something was fitted on only the state is shown, held to no bar.

    Example: python -m generator.lab recorded --candles DIR
    """
    try:
        trained = Weights.load(outlook)
        frames = {folder.name: read_candles(folder) for folder in candles}
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error

    for name, frame in frames.items():
        print(measured(name, frame, trained))


@app.command()
def coverage(
    *,
    candles: Annotated[list[Path], typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each; repeat it.")],
    since: Annotated[datetime | None, typer.Option(help="Score candles from this day (UTC) on, read all.")] = None,
    outlook: Annotated[Path | None, typer.Option(help="Outlook file; default: the packaged one.")] = None,
) -> None:
    """Measure at full hours whether ranges hold as often as stated and whether it moves as often as said.

    Candles on which the outlook was fitted are scored too, and named so.

    Example: python -m generator.lab coverage --candles DIR
    """
    try:
        trained = Weights.load(outlook)
        recorded = {folder.name: read_candles(folder) for folder in candles}
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error

    for name, frame in recorded.items():
        warm_up = int(np.searchsorted(frame.t, _ms(since))) if since else WARM_UP
        fitted = was_fitted(frame.rows(warm_up), trained)
        inside = " (inside the candles that the outlook was fitted on)" if fitted else ""
        print(held(f"{name}{inside}", listen(frame, trained, warm_up)))


class _Scored(NamedTuple):
    """What a command scores: candles from a bar on, read by the brain with its outlook."""

    name: str
    frame: BarFrame
    trained: Weights
    warm_up: int  # bars that are read before the first is scored


def _scored(candles: Path, since: datetime | None, outlook: Path | None) -> _Scored:
    """Read the candles and the outlook; BadParameter where one of them cannot be read."""
    try:
        trained = Weights.load(outlook)
        frame = read_candles(candles)
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error

    warm_up = int(np.searchsorted(frame.t, _ms(since))) if since else WARM_UP
    fitted = was_fitted(frame.rows(warm_up), trained)
    inside = " (inside the candles that the outlook was fitted on)" if fitted else ""
    return _Scored(f"{candles.name}{inside}", frame, trained, warm_up)


@app.command()
def ablation(
    *,
    candles: Annotated[Path, typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each.")],
    since: Annotated[datetime | None, typer.Option(help="Score candles from this day (UTC) on, read all.")] = None,
    outlook: Annotated[Path | None, typer.Option(help="Outlook file; default: the packaged one.")] = None,
) -> None:
    """Measure what each part of the ranges adds: interval score, QLIKE and coverage without it.

    Candles on which the outlook was fitted are scored too, and named so.

    Example: python -m generator.lab ablation --candles DIR
    """
    scored = _scored(candles, since, outlook)
    print(ablated(scored.name, scored.frame, scored.trained, scored.warm_up))


@app.command()
def holds(
    candles: Annotated[Path, typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each.")],
) -> None:
    """Count which label came four hours after which, by its age: what `brain/holds.py` begins with.

    Of 10,000 hours each, first of the coins together, then of the market; the first month is warm-up.

    Example: python -m generator.lab holds --candles DIR
    """
    try:
        frame = read_candles(candles)
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error
    for name, cases in zip(("coins", "market"), counted(frame, Weights.load()), strict=True):
        print(name)
        for label in cases.tolist():
            print(f"    {label},")


@app.command()
def ladder(
    *,
    candles: Annotated[Path, typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each.")],
    since: Annotated[datetime | None, typer.Option(help="Score candles from this day (UTC) on, read all.")] = None,
    outlook: Annotated[Path | None, typer.Option(help="Outlook file; default: the packaged one.")] = None,
) -> None:
    """Measure at full hours whether prices pass the levels of the ladder, and the partition, as often as stated.

    Next to a normal curve, Student's t and the climate of the 30 days before. Candles on which the outlook was fitted
    are scored too, and named so.

    Example: python -m generator.lab ladder --candles DIR
    """
    scored = _scored(candles, since, outlook)
    print(measured_ladder(scored.name, hear(scored.frame, scored.trained, scored.warm_up)))


@app.command()
def joint(
    *,
    candles: Annotated[Path, typer.Option(help="A folder of 5-minute candles, one PAIR.csv.gz each.")],
    since: Annotated[datetime | None, typer.Option(help="Score candles from this day (UTC) on, read all.")] = None,
    outlook: Annotated[Path | None, typer.Option(help="Outlook file; default: the packaged one.")] = None,
) -> None:
    """Measure at full hours whether joint scenarios hold, next to independence and a Gaussian copula.

    Candles on which the outlook was fitted are scored too, and named so.

    Example: python -m generator.lab joint --candles DIR
    """
    scored = _scored(candles, since, outlook)
    print(measured_joint(scored.name, follow(scored.frame, scored.trained, scored.warm_up)))


@app.command()
def events(
    candles: Annotated[list[Path], typer.Option(help="A folder of candles of 5 or 60 minutes; give two or more.")],
) -> None:
    """Count the differences claimed where there is none: events of one market, outcomes of another.

    Every two folders are crossed both ways, the outcomes shifted 120 times: about a second each.

    Example: python -m generator.lab events --candles DIR --candles OTHER
    """
    try:
        hours = {folder.name: read_hours(folder) for folder in candles}
    except (ValueError, GeneratorError) as error:
        raise typer.BadParameter(str(error)) from error

    pairs = {f"{one}, {other}": crossed(hours[one], hours[other]) for one, other in permutations(hours, 2)}
    print(measured_null(pairs))


def _ms(day: datetime) -> int:
    """Return the start of a day in UTC."""
    return round(day.replace(tzinfo=UTC).timestamp() * 1000)


if __name__ == "__main__":
    app()
