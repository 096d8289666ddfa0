"""`emi export`: a month of what the service recorded, as files that it reads again."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    month: Annotated[str, typer.Argument(help="A month, UTC, e.g. 2026-11.")],
    folder: Annotated[Path, typer.Argument(help="New folder for the files.")],
) -> None:
    """Write the 5-minute bars of a month that ticks saw, with books and futures, and the digest of each file.

    Two months are kept. The generator may run. `--source recorded --data FOLDER` replays them to the same readings.

    Example: emi export 2026-11 november
    """
    from generator.catalog.assets import ASSETS
    from generator.cli._settings import generator_settings
    from generator.errors import GeneratorError
    from generator.market.recorded.export import month_span, write_month
    from generator.operate.keep.databases import Database
    from generator.record.memory.bars import kept

    span = month_span(month)
    memory = Database(generator_settings().memory)
    if not memory.is_there():
        raise GeneratorError(f"{memory.shown} is not there: name the state of the service with EMI_STATE_DIR")
    with memory.connected() as connection:
        counts = write_month(kept(connection, ASSETS, *span), folder)
    for asset, count in counts.items():
        print(f"{folder / asset}USD.csv.gz: {count:,} bars")
