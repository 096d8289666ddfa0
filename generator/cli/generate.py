"""`emi tick`, `emi schedule`, `emi bootstrap`: the generator, for one release, for good, and before the first."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from generator.market.source import Source
    from generator.settings import GeneratorSettings

SourceName: TypeAlias = Annotated[str | None, typer.Option("--source", help="simulated (default), recorded or live.")]
Folders: TypeAlias = Annotated[
    list[Path] | None, typer.Option("--data", help="Folder of a recording; may be repeated.")
]
MarketTime: TypeAlias = Annotated[
    str | None, typer.Option("--at", help="Market time to start a recording at, e.g. 2022-10-20T12:00:00Z.")
]
Loop: TypeAlias = Annotated[bool, typer.Option("--loop", help="Restart a recording at its end.")]


def tick(
    source: SourceName = None,
    data: Folders = None,
    at: MarketTime = None,
    hours: Annotated[int, typer.Option(min=0, max=744, help="Hours of backtest to run first, marked warm_up.")] = 0,
    *,
    new_record: Annotated[
        bool,
        typer.Option(
            "--new-record", help="Begin a record although readers have a log that the memory does not extend."
        ),
    ] = False,
) -> None:
    """Make one release and stop.

    With --hours N the rounds of the N market hours before it are played first, as a backtest. Where nothing was
    ever played, that is 48 hours of a simulated market, and of a recording as many of them as it has 5-minute bars.

    Example: emi tick --source recorded --data candles --at 2022-10-20T12:00:00Z --hours 24
    """
    settings, begin = _prepared(source, data, at)
    asyncio.run(_once(settings, begin, hours, new_record=new_record))


def schedule(
    source: SourceName = None,
    data: Folders = None,
    at: MarketTime = None,
    loop: Loop = False,
    metrics_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Prometheus metrics on this port of loopback.")
    ] = None,
) -> None:
    """Make a release at once and at every full minute, until Ctrl-C.

    While another generator holds the lease, this one stands by: it writes nothing, and takes over within seconds.

    Example: EMI_STATE_DIR=/var/lib/emi emi schedule --source live
    """
    settings, begin = _prepared(source, data, at, loop=loop)
    asyncio.run(_run(settings, begin, metrics_port, loop=loop))


def bootstrap() -> None:
    """Publish a release that says 'not started yet' where nothing was published, so that an edge never starts empty.

    Needs no market, memory or network; a site that has a release is left alone. In an object store the first leader
    does it.

    Example: EMI_STATE_DIR=/var/lib/emi emi bootstrap && systemctl start nginx
    """
    from gateway.wire.program import this_program
    from generator.cli._settings import generator_settings
    from generator.errors import GeneratorError
    from generator.runtime.bootstrap import ensure_bootstrap

    settings = generator_settings()
    refuse_half_a_state(settings)
    if settings.site_url is not None:
        raise GeneratorError(f"in {settings.site_url} the generator that leads first publishes it, at its start")

    where = settings.site_path / "current"
    if ensure_bootstrap(settings, datetime.now(UTC), this_program()):
        print(f"bootstrap release published: {where}")
    else:
        print(f"nothing to do: {where} is published")


def refuse_half_a_state(settings: GeneratorSettings) -> None:
    """Raise GeneratorError where a restore into STATE_DIR did not come to its end."""
    from gateway.wire.restoring import unfinished_restore
    from generator.errors import GeneratorError

    if complaint := unfinished_restore(settings.state_dir):
        raise GeneratorError(complaint)


def _prepared(
    source: str | None, data: list[Path] | None, at: str | None, *, loop: bool = False
) -> tuple[GeneratorSettings, datetime | None]:
    """Check the settings, set up logs, and lay the bootstrap release into a site folder."""
    from gateway.wire.program import this_program
    from generator.cli._console import set_up_logs
    from generator.cli._settings import generator_settings, replay_start

    settings = generator_settings(source=source, data_dir=tuple(data) if data else None)
    refuse_half_a_state(settings)
    begin = replay_start(settings, at, loop=loop)

    from generator.runtime.bootstrap import ensure_bootstrap  # takes a second, so errors of the settings come first

    set_up_logs(settings.log_format)
    if settings.site_url is None:  # else under the lease
        ensure_bootstrap(settings, datetime.now(UTC), this_program())
    return settings, begin


def _print_recording(source: Source) -> None:
    """Print what is used of each file of a recording, before anything starts; nothing of another source."""
    from generator.catalog.words import SourceMode
    from generator.cli._console import print_files

    if source.mode is SourceMode.RECORDED:
        from generator.market.recorded.source import RecordedSource

        assert isinstance(source, RecordedSource)
        print_files(source.files, source.mended)


async def _once(settings: GeneratorSettings, at: datetime | None, hours: int, *, new_record: bool) -> None:
    from gateway.wire.program import this_program
    from generator.cli._console import print_report, progress_bar
    from generator.clock import SystemClock
    from generator.runtime.app import build
    from generator.runtime.bootstrap import ensure_bootstrap_in_store
    from generator.runtime.leadership import Leadership, open_lease
    from generator.runtime.lease import DEFAULT_TTL_S
    from generator.runtime.startup import open_market
    from generator.runtime.tick import tick as make

    clock = SystemClock()
    leadership = Leadership(open_lease(settings))
    start = at - timedelta(hours=hours) if at else None
    app = build(settings, clock, start, fence=leadership.fence, program=this_program())
    _print_recording(app.market.source)
    leadership.floor = app.record.memory.epoch()
    # Until a lease that was left behind has expired.
    patience_s = DEFAULT_TTL_S + 2 if settings.lease_url else 0.5

    try:
        with leadership.held(patience_s):
            app.record.memory.claim()
            app.record.published.check()
            now = clock.now()
            ensure_bootstrap_in_store(app, now)
            with progress_bar() as progress:
                await open_market(app, now, progress, hours or None, new_record=new_record)

            began_s = clock.monotonic()
            print_report(await make(app, now), clock.monotonic() - began_s)
    finally:
        await app.aclose()


async def _run(settings: GeneratorSettings, at: datetime | None, metrics_port: int | None, *, loop: bool) -> None:
    from gateway.wire.program import this_program
    from generator.cli._console import print_report, progress_bar
    from generator.clock import SystemClock
    from generator.operate.keep.status import Status
    from generator.operate.watch.health import FILE
    from generator.runtime.app import build
    from generator.runtime.health import HealthFile
    from generator.runtime.leader import Leader
    from generator.runtime.leadership import Leadership, open_lease
    from generator.runtime.metrics import GeneratorMetrics

    leadership = Leadership(open_lease(settings))
    metrics = GeneratorMetrics(this_program())
    health = HealthFile(settings.backup_status_path.with_name(FILE))
    app = build(settings, SystemClock(), at, loop=loop, fence=leadership.fence, program=this_program())
    _print_recording(app.market.source)
    try:
        if port := metrics_port or settings.schedule_metrics_port:
            metrics.watch_backups(lambda: Status.load(settings.backup_status_path))
            metrics.watch_faults(lambda: health.health)
            metrics.serve(port)
        await Leader(app, leadership, print_report, metrics=metrics, progress=progress_bar, health=health).run()
    finally:
        await app.aclose()
