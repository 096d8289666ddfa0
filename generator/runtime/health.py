"""What the generator says of itself, in a file that `emi watch` reads: written after each tick, well or badly."""

from dataclasses import replace
from pathlib import Path

import structlog

from gateway.wire.durable import replace_status
from generator.errors import GeneratorError, MemoryUnreadable, RecordBehind
from generator.operate.watch.health import Health
from generator.release.bucket.store import StoreFault
from generator.runtime.app import App

log = structlog.get_logger("emi.health")


def _is_of_the_store(error: Exception) -> bool:
    """Return whether a tick failed at the object store: it refused, or the tick's time went by."""
    return any(isinstance(cause, StoreFault | TimeoutError) for cause in (error, error.__cause__))


class HealthFile:
    """The state of one generator as the operator is to know it.

    Args:
        path: of the file; None keeps it in memory alone.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.health = Health()

    def note_tick(self, app: App, error: Exception | None) -> None:
        """Note how a tick went; None for well."""
        health = self.health
        if error is None:
            health = replace(health, store=None, store_refusals=0)
        elif app.settings.site_url and _is_of_the_store(error):
            health = replace(health, store=str(error), store_refusals=health.store_refusals + 1)
        self._note(app, health)

    def note_standby(self, app: App) -> None:
        """Note that this process stands by: what it publishes is another's care."""
        self._note(app, replace(self.health, store=None, store_refusals=0))

    def note_refusal(self, app: App, error: GeneratorError) -> None:
        """Note why this process does not lead."""
        if isinstance(error, RecordBehind):
            self._write(replace(self.health, at=app.clock.now().timestamp(), record=str(error)))

    def _note(self, app: App, health: Health) -> None:
        memory = None
        try:
            app.record.memory.check_file()
        except (MemoryUnreadable, OSError) as fault:
            memory = str(fault)

        witnesses = app.record.witnesses
        self._write(
            replace(
                health,
                at=app.clock.now().timestamp(),
                memory=memory,
                record=app.record.published.withheld,
                log_key=app.record.published.key_fault(),
                witnesses={} if witnesses is None else witnesses.unsigned(app.clock.now().timestamp()),
                ahead={} if witnesses is None else dict(witnesses.ahead),
            )
        )

    def _write(self, health: Health) -> None:
        self.health = health
        if self._path is None:
            return
        try:
            replace_status(self._path, health.dumped())
        except OSError as error:
            log.warning("what the watch is to read could not be written", file=str(self._path), reason=str(error))
