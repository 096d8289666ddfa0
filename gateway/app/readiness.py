"""Whether a sale is possible: every reason why not, in metrics, in the log and at /readyz."""

from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.clock import LastSuccess
from gateway.http.answers import Problems
from gateway.http.metrics import Metrics
from gateway.ledger.thread import LedgerThread
from gateway.payments.quotes import RETRY_S, Quotes
from gateway.upstream.chain import Chain
from gateway.upstream.facilitator import Facilitator
from gateway.vault.folder import VaultReader
from gateway.wire.limits import UNANSWERED_S

log = structlog.get_logger("gateway")


class Readiness:
    """Look at the parts that a sale needs."""

    def __init__(
        self,
        *,
        vault: VaultReader,
        facilitator: Facilitator,
        chain: Chain,
        ledger: LedgerThread,
        quotes: Quotes,
        metrics: Metrics,
        problems: Problems,
    ) -> None:
        self._vault = vault
        self._facilitator = facilitator
        self._chain = chain
        self._ledger = ledger
        self._quotes = quotes
        self._metrics = metrics
        self._problems = problems
        self._reasons_before: list[str] | None = None

    def measure(self) -> None:
        """Set the gauges, and log what changed of whether the gateway is ready."""
        metrics = self._metrics

        age_s = self._vault.age_s()
        metrics.vault_age.set(-1 if age_s is None else age_s)
        metrics.facilitator_age.set(self._facilitator.supported.age_s())
        metrics.facilitator_failing.set(self._facilitator.failing_s())
        metrics.chain_failing.set(self._chain.failing_s())
        metrics.ledger_age.set(self._ledger.written.age_s())
        metrics.ledger_fault.set(self._ledger.fault() is not None)
        metrics.quoting.set(self._quotes.absence() is None)
        self._log_changes()

    def _log_changes(self) -> None:
        """Log what changed since the last look; a start that is not ready yet is not logged."""
        reasons = self._reasons()
        before = self._reasons_before
        self._metrics.ready.set(not reasons)

        if reasons and before is not None and reasons != before:
            log.error("not ready", reasons=reasons)
        elif before and not reasons:
            log.info("ready again")

        if before is not None or not reasons:
            self._reasons_before = reasons

    def _reasons(self) -> list[str]:
        """Return every reason why a sale fails now, or would soon; none when the gateway is ready."""
        faults = (
            self._ledger.fault(),
            _overdue(self._ledger.written, "the payments ledger has taken no write"),
            self._vault.fault(),
            self._quotes.blocked(),
            self._chain.fault(),
            _overdue(self._facilitator.supported, "the facilitator has given no good answer to /supported"),
            None if self._facilitator.last_offer() else "the facilitator has not offered this network yet",
        )
        reasons = [reason for reason in faults if reason is not None]

        # Why a request for a quote gets none, where it is none of these.
        absence = self._quotes.absence()
        return reasons if reasons or absence is None else [absence.reason]

    async def readyz(self, _request: Request) -> Response:
        """Answer 200 when a sale is possible, else 503 with every reason."""
        vault = self._vault.current()
        facts: dict[str, Any] = {
            "generation": vault.generation if vault else None,
            "vault_age_seconds": _seconds(self._vault.age_s()),
            "facilitator_supported_age_seconds": _seconds(self._facilitator.supported.age_s()),
            "facilitator_extension_responses": self._facilitator.extension_responses,
            "facilitator_failing_seconds": _seconds(self._facilitator.failing_s()),
            "chain_failing_seconds": _seconds(self._chain.failing_s()),
            "ledger_write_age_seconds": _seconds(self._ledger.written.age_s()),
            "ledger_fault": self._ledger.fault(),
        }

        reasons = self._reasons()
        if not reasons:
            return JSONResponse({"status": "ready", **facts}, headers={"cache-control": "no-store"})
        absence = self._quotes.absence()
        retry_s = RETRY_S if absence is None else absence.retry_s
        detail = "No sale is possible right now."
        return self._problems.make("/readyz", 503, detail, retry_s=retry_s, reasons=reasons, **facts)

    async def healthz(self, _request: Request) -> Response:
        """Answer 200 while the process runs, with the generation that it holds."""
        vault = self._vault.current()
        content = {"status": "ok", "generation": vault.generation if vault else None}
        return JSONResponse(content, headers={"cache-control": "no-store"})


def _overdue(success: LastSuccess, sentence: str) -> str | None:
    return f"{sentence} for over {UNANSWERED_S:.0f} s" if success.age_s() > UNANSWERED_S else None


def _seconds(age_s: float | None) -> float | None:
    return None if age_s is None else round(age_s, 1)
