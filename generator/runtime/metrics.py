"""What operators may watch of the generator, in a registry of its own."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from gateway.wire.program import UNNAMED, Program
from generator.errors import GeneratorError
from generator.operate.keep.status import Status
from generator.operate.watch.health import Health
from generator.operate.watch.judge import OF_THE_GENERATOR, faults_of

OUTCOMES: Final = ("published", "failed", "missed")
DIRECTIONS: Final = ("forward", "back")
SECONDS: Final = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 50)


class LabelledCounter(Collector):
    """One counter by one label, of a fixed few values; whoever makes ticks says in `counts` where it is counted."""

    def __init__(self, name: str, help_text: str, label: str) -> None:
        self._described = (name, help_text)
        self._label = label
        self.counts: Callable[[], Mapping[str, int]] = dict

    def collect(self) -> Iterable[CounterMetricFamily]:
        """Yield the one counter."""
        family = CounterMetricFamily(*self._described, labels=[self._label])
        for value, number in dict(self.counts()).items():
            family.add_metric([value], number)
        yield family


class OneCounter(Collector):
    """One counter without labels; whoever counts says in `counted` how many there were."""

    def __init__(self, name: str, help_text: str) -> None:
        self._described = (name, help_text)
        self.counted: Callable[[], int] = lambda: 0

    def collect(self) -> Iterable[CounterMetricFamily]:
        """Yield the one counter."""
        yield CounterMetricFamily(*self._described, value=self.counted())


class GeneratorMetrics:
    """The generator's counters and gauges; nothing is served before `serve`."""

    def __init__(self, program: Program = UNNAMED) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        build = Info("emi_build", "What runs: version and commit.", registry=self.registry)
        build.info({"version": program.version, "commit": program.commit or ""})
        self._ticks = Counter("emi_ticks", "Ticks by outcome.", ["outcome"], registry=self.registry)
        self._jumps = Counter("emi_clock_jumps", "Jumps of the wall clock.", ["direction"], registry=self.registry)
        self.seconds = Histogram(
            "emi_tick_seconds", "Seconds a published tick took.", buckets=SECONDS, registry=self.registry
        )
        self.published_at = self._gauge("emi_tick_published_timestamp_seconds", "Wall time of the last published tick.")
        self.generation = self._gauge("emi_generation", "Number of the last published generation.")
        self.running = self._gauge(
            "emi_tick_running_seconds", "How long the running tick has been at work, 0 without one."
        )
        self.history_bars = self._gauge("emi_history_bars", "Bars of history held.")
        self.leading = self._gauge("emi_leader", "1 while this process leads, 0 while it stands by.")
        self.epoch = self._gauge("emi_lease_epoch", "Epoch of the lease while it is held.")
        self.lease_taken = self._counted("emi_lease_taken", "Times the lease was got.")
        self.lease_lost = self._counted("emi_lease_lost", "Times the lease went to another.")
        self.lease_unreached = self._counted("emi_lease_unreached", "Requests of the lease that failed.")
        self._backup_at = self._gauge(
            "emi_backup_success_timestamp_seconds", "Wall time of the last backup that was made."
        )
        self._drill_at = self._gauge(
            "emi_restore_drill_success_timestamp_seconds", "Wall time of the last restore drill that went well."
        )
        self._drill_failed = self._gauge("emi_restore_drill_failed", "1 after a restore drill that failed, else 0.")
        faults = "1 while the generator has this fault, by its row of the runbook, else 0."
        self._faults = Gauge("emi_generator_fault", faults, ["fault"], registry=self.registry)
        for name in OF_THE_GENERATOR:
            self._faults.labels(name)
        self.ballots_refused = LabelledCounter(
            "emi_ballots_rejected", "Ballots refused since the start, by reason.", "reason"
        )
        self.ballots_quarantined = self._counted(
            "emi_ballots_quarantined", "Ballots quarantined since the start: two ticks failed with them."
        )
        self.publish_failures = LabelledCounter(
            "emi_publish_failures",
            "Times a file was not made, by its kind (page, picture ...); its last good bytes stay.",
            "kind",
        )
        self.registry.register(self.ballots_refused)
        self.registry.register(self.publish_failures)
        # Present from the start: an alert on a counter that does not exist yet never fires.
        self.ticks_by_outcome = {name: self._ticks.labels(name) for name in OUTCOMES}
        self.jumps_by_direction = {name: self._jumps.labels(name) for name in DIRECTIONS}

    def _counted(self, name: str, meaning: str) -> "OneCounter":
        """Return a counter of what is counted elsewhere."""
        counter = OneCounter(name, meaning)
        self.registry.register(counter)
        return counter

    def _gauge(self, name: str, meaning: str) -> Gauge:
        return Gauge(name, meaning, registry=self.registry)

    def watch_backups(self, load: Callable[[], Status]) -> None:
        """Read what backups and restore drills came to, again each time that somebody asks."""
        self._backup_at.set_function(lambda: load().backup.good_at)
        self._drill_at.set_function(lambda: load().drill.good_at)
        self._drill_failed.set_function(lambda: load().drill.fault is not None)

    def watch_faults(self, load: Callable[[], Health]) -> None:
        """Judge what the generator last said of itself, again each time that somebody asks."""

        def has(fault: str) -> Callable[[], float]:
            return lambda: faults_of(load())[fault]

        for name in OF_THE_GENERATOR:
            self._faults.labels(name).set_function(has(name))

    def serve(self, port: int) -> Callable[[], None]:
        """Serve the metrics on loopback from a thread, so that a tick that hangs can be seen.

        Raises:
            GeneratorError: the port cannot be used.
        """
        try:
            server, thread = start_http_server(port, addr="127.0.0.1", registry=self.registry)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise GeneratorError(f"metrics port {port} cannot be used: {reason}") from error

        def end() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return end
