"""`emi tick`: one release, now or at a time of a recording."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from generator.settings import GeneratorSettings


def tick(
    source: Annotated[str | None, typer.Option(help="simulated, recorded or live.")] = None,
    data: Annotated[list[Path] | None, typer.Option(help="Folder of a recording; may be repeated.")] = None,
    at: Annotated[str | None, typer.Option(help="Market time of a recording, e.g. 2022-10-20T12:00:00Z.")] = None,
    hours: Annotated[int, typer.Option(min=0, max=744, help="Market hours to play first, marked warm_up.")] = 0,
) -> None:
    """Make one release and stop.

    With --hours N the rounds of the N market hours before it are played first, as a backtest. Where nothing was
    ever played, that is 48 hours of a simulated market, and of a recording as many of them as it has 5-minute bars.

    Example: emi tick --source recorded --data candles --at 2022-10-20T12:00:00Z --hours 24
    """
    from generator.cli._settings import generator_settings, parse_time, refuse_replay_flags

    settings = generator_settings(source=source, data_dir=tuple(data) if data else None)
    refuse_replay_flags(settings, at)
    begin = parse_time(at)

    import asyncio

    from generator.cli._console import set_up_logs
    from generator.clock import SystemClock
    from generator.runtime.bootstrap import ensure  # takes a second, so errors of the settings come first

    set_up_logs(settings.log_format)
    if settings.site_url is None:
        ensure(settings, SystemClock().now())
    asyncio.run(_once(settings, begin, hours))


async def _once(settings: GeneratorSettings, at: datetime | None, hours: int) -> None:
    import time
    from datetime import timedelta

    from generator.cli._console import progress_bar, report_line
    from generator.clock import SystemClock
    from generator.runtime.app import build
    from generator.runtime.bootstrap import ensure_in_store
    from generator.runtime.leadership import Leadership, open_lease
    from generator.runtime.startup import open_market
    from generator.runtime.tick import tick as make

    clock = SystemClock()
    leadership = Leadership(open_lease(settings))
    app = build(settings, clock, at - timedelta(hours=hours) if at else None, fence=leadership.fence)
    leadership.floor = app.record.memory.epoch()
    try:
        with leadership.held(wait_s=settings.lease_ttl_seconds + 2 if settings.lease_url else 0.5):
            app.record.memory.claim()
            app.record.published.check()
            now = clock.now()
            ensure_in_store(app, now)
            with progress_bar() as progress:
                await open_market(app, now, progress, hours or None)
            began = time.perf_counter()
            print(report_line(await make(app, now), time.perf_counter() - began))
    finally:
        await app.aclose()
