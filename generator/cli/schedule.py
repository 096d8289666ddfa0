"""`emi schedule`: the generator of production."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from generator.cli._times import parse_time

if TYPE_CHECKING:
    from generator.runtime.headstart import HeadStart
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
    from generator.cli._settings import generator_settings, refuse_replay_flags

    settings = generator_settings(source=source, data_dir=tuple(data) if data else None)
    refuse_replay_flags(settings, at, loop=loop)
    head_start = _head_start(settings)  # before everything that takes time
    try:
        _start(settings, parse_time(at), metrics_port, head_start, loop=loop)
    finally:
        if head_start is not None:
            head_start.close()


def _head_start(settings: GeneratorSettings) -> HeadStart | None:
    """Let another process read the history if this is the very first start of a simulated market."""
    from generator.catalog.words import SourceMode
    from generator.clock import SystemClock
    from generator.runtime.headstart import DAYS_OF_HISTORY, REHEARSED_HOURS, HeadStart

    first = settings.memory_url is None and not (settings.state_dir / "memory.sqlite3").exists()
    if not first or (settings.source or SourceMode.SIMULATED) != SourceMode.SIMULATED:
        return None
    until_ms = round(SystemClock().now().timestamp() * 1000) - REHEARSED_HOURS * 3_600_000
    return HeadStart(settings.seed, until_ms, DAYS_OF_HISTORY)


def _start(
    settings: GeneratorSettings,
    at: datetime | None,
    metrics_port: int | None,
    head_start: HeadStart | None,
    *,
    loop: bool,
) -> None:
    import asyncio

    from generator.cli._logs import set_up_logs
    from generator.clock import SystemClock
    from generator.runtime.bootstrap import ensure

    set_up_logs(settings.log_format)
    if settings.site_url is None:  # else under the lease: see Duty
        ensure(settings, SystemClock().now())
    asyncio.run(_run(settings, at, metrics_port, head_start, loop=loop))


async def _run(
    settings: GeneratorSettings,
    at: datetime | None,
    metrics_port: int | None,
    head_start: HeadStart | None,
    *,
    loop: bool,
) -> None:
    from generator.cli._progress import progress_bar
    from generator.cli._report import line
    from generator.clock import SystemClock
    from generator.runtime.app import build
    from generator.runtime.duty import Duty
    from generator.runtime.lease.leadership import Leadership
    from generator.runtime.lease.opening import open_lease
    from generator.runtime.metrics import Metrics
    from generator.runtime.publication import Report

    def told(report: Report, seconds: float) -> None:
        print(line(report, seconds), flush=True)

    leadership = Leadership(open_lease(settings))
    metrics = Metrics()
    app = build(settings, SystemClock(), at, loop=loop, fence=leadership.fence)
    app.head_start = head_start
    try:
        end = metrics.serve(metrics_port) if metrics_port else lambda: None
        try:
            await Duty(app, leadership, told, metrics=metrics, progress=progress_bar).run()
        finally:
            end()
    finally:
        await app.aclose()
