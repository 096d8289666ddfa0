"""`emi verify`: recompute what is published of the Arena and say what that proves."""

from __future__ import annotations

from typing import Annotated

import typer

PROVES = """This proves: each revealed forecast is the one whose digest the row carries; outcomes, flags and scores follow
from the published prices, votes and bands by the published rules. Taken as told: prices, votes, price_basis, warm_up
and the outcome before each round.
It does not prove: that a digest was published before its round (note the commitments yourself, or wait for the
transparency log of a later version), that no round is missing, that the prices were the market's, or any skill."""


def verify(
    where: Annotated[
        str | None, typer.Argument(help="Folder of a published site; default STATE_DIR/site/current.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Origin to read instead of a folder.")] = None,
) -> None:
    """Check the published Arena record: digests, outcomes, lessons and scores. Exits 1 naming the first wrong row.

    Example: emi verify --url http://127.0.0.1:8402
    """
    from pathlib import Path

    from generator.cli._audit import audit
    from generator.cli._published import read_json
    from generator.cli._settings import generator_settings

    folder = Path(where) if where else None
    if url is None and folder is None:
        folder = generator_settings().site_path / "current"
    body = read_json(f"{url.rstrip('/')}/arena/rounds.json" if url else (folder or Path()) / "arena" / "rounds.json")
    report = audit(body)
    for line in report.lines:
        print(line)
    if report.complaint is not None:
        typer.echo(f"emi: {report.complaint}", err=True)
        raise typer.Exit(1)
    print(PROVES)
