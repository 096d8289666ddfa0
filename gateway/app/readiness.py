"""Whether a sale is possible, for load balancers, alarms and `emi doctor`: what /readyz answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.app.problem import problem
from gateway.upstream.health import NOT_READY_S, LastGood

if TYPE_CHECKING:
    from gateway.app.state import GatewayState

RETRY_S: Final = 5
log = structlog.get_logger("gateway")


def not_ready(state: GatewayState) -> list[str]:
    """Return every reason why a sale fails now, or would soon; none when the gateway is ready."""
    found = (
        state.ledger.fault(),
        _silent(state.ledger.written, "the payments ledger has taken no write"),
        state.vault.fault(),
        state.blocked,
        state.chain.fault(),
        _silent(state.facilitator.supported, "the facilitator has given no good answer to /supported"),
        None if state.facilitator.last_offer() else "the facilitator has not offered this network yet",
    )
    return [reason for reason in found if reason is not None]


def _silent(what: LastGood, sentence: str) -> str | None:
    return f"{sentence} for over {NOT_READY_S:.0f} s" if what.age_s() > NOT_READY_S else None


class Readiness:
    """Answer /readyz, and log each change once.

    Args:
        state: the gateway's state; read again each time.
    """

    def __init__(self, state: GatewayState) -> None:
        self._state = state
        self._said: list[str] | None = None

    def look(self) -> bool:
        """Return whether the gateway is ready, and log what changed; a start that is not ready yet is no change."""
        reasons = not_ready(self._state)
        self._state.metrics.ready.set(0 if reasons else 1)
        if reasons and self._said is not None and reasons != self._said:
            log.error("not ready", reasons=reasons)
        elif self._said and not reasons:
            log.info("ready again")
        if self._said is not None or not reasons:
            self._said = reasons
        return not reasons

    async def show(self, _request: Request) -> Response:
        """Answer 200 when a sale is possible, else 503 with every reason."""
        state = self._state
        vault = state.vault.current()
        facts = {
            "generation": vault.generation if vault else None,
            "vault_age_seconds": _seconds(state.vault.age_s()),
            "facilitator_supported_age_seconds": _seconds(state.facilitator.supported.age_s()),
            "ledger_write_age_seconds": _seconds(state.ledger.written.age_s()),
        }
        reasons = not_ready(state)
        if not reasons:
            return JSONResponse({"status": "ready", **facts}, headers={"cache-control": "no-store"})
        return problem(
            503,
            "No sale is possible right now.",
            instance="/readyz",
            project=state.project,
            disclaimer=state.disclaimer,
            headers={"retry-after": str(RETRY_S)},
            reasons=reasons,
            **facts,
        )


def _seconds(age_s: float | None) -> float | None:
    return None if age_s is None else round(age_s, 1)
