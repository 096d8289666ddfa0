"""The doctor's look, once an hour and in the background: what a look each minute does not reach."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gateway.settings import GatewaySettings
    from generator.operate.watch.check import Check
    from generator.settings import GeneratorSettings

FIRST_S: Final = 300.0
"""After the start: a first release takes a minute or two."""
EVERY_S: Final = 3_600.0
SEEN_EACH_MINUTE: Final = frozenset(
    {"/status.json", "freshness", "/readyz", "backup", "restore drill", "emi_ledger_fault"}
    | {"emi_facilitator_failing_seconds", "emi_chain_failing_seconds"}
)
"""What has a fault of its own."""


class DeeperLook:
    """What the doctor last found wrong; it looks in a thread, of which there is one at most."""

    def __init__(
        self,
        settings: GeneratorSettings,
        gateway: GatewaySettings,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._gateway = gateway
        self._elapsed = elapsed
        self._due_s = elapsed() + FIRST_S
        self._thread: threading.Thread | None = None
        self._found: dict[str, str] | None = None

    def found(self) -> dict[str, str] | None:
        """Return what was wrong at the last look, by what it was; None before the first has ended."""
        is_running = self._thread is not None and self._thread.is_alive()
        if self._elapsed() >= self._due_s and not is_running:
            self._due_s = self._elapsed() + EVERY_S
            self._thread = threading.Thread(target=self._look, daemon=True)
            self._thread.start()
        return self._found

    def _look(self) -> None:
        from generator.cli.doctor import examine_configured

        self._found = wrong(examine_configured(self._settings, self._gateway))


def wrong(checks: Sequence[Check]) -> dict[str, str]:
    """Return what is wrong and has no fault of its own; nothing where the origin did not answer at all."""
    if len(checks) == 1:
        return {}
    return {check.what: check.found for check in checks if check.good is False and check.what not in SEEN_EACH_MINUTE}
