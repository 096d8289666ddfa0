"""`emi schedule`: the generator of production."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from generator.cli._times import parse_time

if TYPE_CHECKING:
    from generator.settings import GeneratorSettings


def schedule(
    source: Annotated[str | None, typer.Option(help="simulated, recorded or live.")] = None,
    data: Annotated[list[Path] | None, typer.Option(help="Folder of a recording; may be repeated.")] = None,
    at: Annotated[str | None, typer.Option(help="Market time to start a recording at.")] = None,
    loop: Annotated[bool, typer.Option("--loop", help="Begin a recording again at its end.")] = False,
) -> None:
    """Make a release at once and at every full minute, until Ctrl-C.

    Example: EMI_STATE_DIR=/var/lib/emi emi schedule --source live
    """
    import asyncio

    from generator.cli._logs import set_up_logs
    from generator.cli._settings import generator_settings, refuse_replay_flags
    from generator.lock import StateLock

    settings = generator_settings(source=source, data_dir=tuple(data) if data else None)
    refuse_replay_flags(settings, at, loop=loop)
    set_up_logs(settings.log_format)
    with StateLock(settings.state_dir, "generator"):
        asyncio.run(_run(settings, parse_time(at), loop=loop))


async def _run(settings: GeneratorSettings, at: datetime | None, *, loop: bool) -> None:
    from generator.cli._progress import progress_bar
    from generator.cli._report import line
    from generator.clock import SystemClock
    from generator.opening import open_market
    from generator.schedule import Clockwork
    from generator.service import build

    clock = SystemClock()
    service = build(settings, clock, at, loop=loop)
    try:
        with progress_bar() as progress:
            await open_market(service, clock.now(), progress)
        await Clockwork(service, lambda report, seconds: print(line(report, seconds), flush=True)).run()
    finally:
        await service.aclose()
