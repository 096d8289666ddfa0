"""`emi schedule`: the generator of production."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from generator.settings import GeneratorSettings


def schedule(
    source: Annotated[str | None, typer.Option(help="simulated, recorded or live.")] = None,
    data: Annotated[list[Path] | None, typer.Option(help="Folder of a recording; may be repeated.")] = None,
    at: Annotated[str | None, typer.Option(help="Market time to start a recording at.")] = None,
    loop: Annotated[bool, typer.Option("--loop", help="Begin a recording again at its end.")] = False,
    metrics_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Prometheus metrics on this port of loopback.")
    ] = None,
) -> None:
    """Make a release at once and at every full minute, until Ctrl-C.

    While another generator holds the lease, this one stands by: it writes nothing, and takes over within seconds.

    Example: EMI_STATE_DIR=/var/lib/emi emi schedule --source live
    """
    from generator.cli._settings import generator_settings, parse_time, refuse_replay_flags

    settings = generator_settings(source=source, data_dir=tuple(data) if data else None)
    refuse_replay_flags(settings, at, loop=loop)
    begin = parse_time(at)

    import asyncio

    from generator.cli._console import set_up_logs
    from generator.clock import SystemClock
    from generator.runtime.bootstrap import ensure

    set_up_logs(settings.log_format)
    if settings.site_url is None:  # else under the lease: see Leader
        ensure(settings, SystemClock().now())
    asyncio.run(_run(settings, begin, metrics_port, loop=loop))


async def _run(settings: GeneratorSettings, at: datetime | None, metrics_port: int | None, *, loop: bool) -> None:
    from generator.cli._console import progress_bar, report_line
    from generator.clock import SystemClock
    from generator.runtime.app import build
    from generator.runtime.leader import Leader
    from generator.runtime.leadership import Leadership, open_lease
    from generator.runtime.metrics import Metrics
    from generator.runtime.publication import Report

    def on_report(report: Report, seconds: float) -> None:
        print(report_line(report, seconds), flush=True)

    leadership = Leadership(open_lease(settings))
    metrics = Metrics()
    app = build(settings, SystemClock(), at, loop=loop, fence=leadership.fence)
    try:
        stop_metrics = metrics.serve(metrics_port) if metrics_port else lambda: None
        try:
            await Leader(app, leadership, on_report, metrics=metrics, progress=progress_bar).run()
        finally:
            stop_metrics()
    finally:
        await app.aclose()
