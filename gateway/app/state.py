"""Everything one gateway process holds, and the loop that keeps it fresh."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.clock import NOT_READY_S, STOP_QUOTING_S, Clock, LastGood
from gateway.errors import database_reason
from gateway.http.answers import FALLBACK_DISCLAIMER, problem
from gateway.http.limits import Clients, RateLimit
from gateway.http.metrics import Metrics
from gateway.ledger.store import Ledger
from gateway.ledger.thread import MAX_WAITING, LedgerThread
from gateway.payments.challenge import Challenge, encode_challenges
from gateway.payments.purchase import Purchases, Step, no_step
from gateway.payments.reconcile import Reconciler
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain
from gateway.upstream.facilitator import Facilitator
from gateway.upstream.http_client import Http
from gateway.vault.bucket import vault_files
from gateway.vault.folder import POLL_S, Vault

START_S: Final = 10.0
RETRY_S: Final = 5
NO_QUOTES: Final[Mapping[str, Challenge]] = {}
log = structlog.get_logger("gateway")


class GatewayState:
    """The composition root's product; `step` is called at each step of a purchase, see `gateway.payments.purchase`."""

    def __init__(self, settings: GatewaySettings, clock: Clock, step: Step = no_step) -> None:
        self.step = step
        self.settings = settings
        self.clock = clock
        self.metrics = Metrics()
        files = vault_files(settings.vault_dir, settings.vault_bucket)
        self.vault = Vault(files, clock, settings.vault_max_age_seconds)
        self.rate = RateLimit(settings.rate_limit_per_minute, clock)
        self.clients = Clients(settings.trusted_proxies)
        self.challenges: Mapping[str, Challenge] = {}
        self.blocked: str | None = None
        """Why the settings allow no quote of what the vault holds."""
        self._encoded_for: tuple[object, object] = (None, None)
        self._not_ready: list[str] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.background: list[Callable[[], Coroutine[Any, Any, None]]] = []
        """Loops of the server that live as long as the state."""

    async def start(self, http: Http) -> None:
        """Open the ledger or raise LedgerUnreadable, read the vault, ask the facilitator once, and start the loops."""
        ledger = await asyncio.to_thread(Ledger, self.settings.ledger_where)
        # Each payment on its way waits for one read or write; replays read too.
        most = max(MAX_WAITING, 2 * self.settings.payments_at_once)
        self.ledger = LedgerThread(ledger, self.clock, self.metrics, most)
        self.http = http
        self.facilitator = Facilitator(self.settings, http, self.clock, self.metrics)
        self.chain = Chain(self.settings, http, self.clock, self.metrics)
        self.ledger.round_now = self.chain.round_now
        self.purchases = Purchases(
            settings=self.settings,
            clock=self.clock,
            vault=self.vault,
            facilitator=self.facilitator,
            chain=self.chain,
            ledger=self.ledger,
            metrics=self.metrics,
            step=self.step,
        )
        self.reconciler = Reconciler(self.clock, self.chain, self.ledger, self.purchases, self.metrics)
        with contextlib.suppress(TimeoutError):  # an object store that hangs does not keep the gateway from starting
            await asyncio.wait_for(self.refresh(), START_S)
        loops = [
            repeat(self._poll, "the quotes could not be encoded"),
            repeat(self.ledger.tend, "the payments ledger could not be tended"),
            repeat(self.vault.refresh, "the vault could not be refreshed"),
            repeat(self.facilitator.refresh, "the offer could not be refreshed"),
            repeat(self.reconciler.step, "unknown payments cannot be looked up"),
            *(loop() for loop in self.background),
        ]
        self._tasks = [asyncio.create_task(loop) for loop in loops]

    async def stop(self) -> None:
        """Finish every payment on its way, then close the ledger."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.purchases.drain()
        await self.ledger.close()

    async def refresh(self) -> None:
        """Take a new vault and a new offer if there are any, and encode the challenges."""
        await asyncio.gather(self.vault.refresh(), self.facilitator.refresh())
        await self._encode()

    async def _encode(self) -> None:
        """Encode the challenges in a thread, if vault or offer are others than last time."""
        vault, offer = self.vault.current(), self.facilitator.offer()
        if vault is self._encoded_for[0] and offer is self._encoded_for[1]:
            return
        if vault is None or offer is None:
            self.challenges = {}
        else:
            self.challenges = await asyncio.to_thread(encode_challenges, vault, offer.fee_payer, self.settings)
        self.blocked = None if vault is None else self.settings.quote_refusal(vault.source_mode)
        self._encoded_for = (vault, offer)

    async def _poll(self) -> None:
        await self._encode()
        self._measure()

    def _measure(self) -> None:
        age_s = self.vault.age_s()
        self.metrics.vault_age.set(-1 if age_s is None else age_s)
        self.metrics.facilitator_age.set(self.facilitator.supported.age_s())
        self.metrics.facilitator_failing.set(self.facilitator.failing_s())
        self.metrics.chain_failing.set(self.chain.failing_s())
        self.metrics.ledger_age.set(self.ledger.written.age_s())
        self.metrics.ledger_fault.set(1 if self.ledger.fault() else 0)
        self.metrics.quoting.set(0 if self.no_quote_reason() else 1)
        self._look_ready()

    def _look_ready(self) -> None:
        """Log what changed of whether the gateway is ready; a start that is not ready yet is not logged."""
        reasons, before = self._reasons(), self._not_ready
        self.metrics.ready.set(0 if reasons else 1)
        if reasons and before is not None and reasons != before:
            log.error("not ready", reasons=reasons)
        elif before and not reasons:
            log.info("ready again")
        if before is not None or not reasons:
            self._not_ready = reasons

    def _reasons(self) -> list[str]:
        """Return every reason why a sale fails now, or would soon; none when the gateway is ready."""
        found = (
            self.ledger.fault(),
            _overdue(self.ledger.written, "the payments ledger has taken no write"),
            self.vault.fault(),
            self.blocked,
            self.chain.fault(),
            _overdue(self.facilitator.supported, "the facilitator has given no good answer to /supported"),
            None if self.facilitator.last_offer() else "the facilitator has not offered this network yet",
        )
        return [reason for reason in found if reason is not None]

    async def readyz(self, _request: Request) -> Response:
        """Answer 200 when a sale is possible, else 503 with every reason."""
        vault = self.vault.current()
        facts: dict[str, Any] = {
            "generation": vault.generation if vault else None,
            "vault_age_seconds": _seconds(self.vault.age_s()),
            "facilitator_supported_age_seconds": _seconds(self.facilitator.supported.age_s()),
            "ledger_write_age_seconds": _seconds(self.ledger.written.age_s()),
        }
        reasons = self._reasons()
        if not reasons:
            return JSONResponse({"status": "ready", **facts}, headers={"cache-control": "no-store"})
        detail = "No sale is possible right now."
        return self.problem("/readyz", 503, detail, retry_s=RETRY_S, reasons=reasons, **facts)

    def quotes(self) -> Mapping[str, Challenge]:
        """Return the challenges that may be sent right now, by path; none while quotes are unavailable."""
        return NO_QUOTES if self.no_quote_reason() else self.challenges

    def no_quote_reason(self, path: str = "") -> str | None:
        """Return why quotes are unavailable, all of them or those of a path, None when they are not."""
        fault = self.vault.fault() or self.blocked
        if fault is not None:
            return fault
        if self.ledger.fault() is not None or self.ledger.written.age_s() > STOP_QUOTING_S:
            return "the payments ledger cannot be used right now"
        if self._encoded_for[1] is None or self.facilitator.offer() is None:
            return "the facilitator gave no good answer lately, or does not offer this network"
        vault = self.vault.current()
        return None if vault is None else vault.unavailable(path)

    def problem(
        self,
        path: str,
        status: int,
        detail: str,
        headers: dict[str, str] | None = None,
        retry_s: int | None = None,
        **members: Any,
    ) -> Response:
        """Make a problem document of this service, see `gateway.http.answers.problem`; `retry_s` becomes Retry-After."""
        retry = {} if retry_s is None else {"retry-after": str(retry_s)}
        return problem(
            status,
            detail,
            instance=path,
            project=self.settings.project,
            disclaimer=self.disclaimer,
            headers={**(headers or {}), **retry},
            **members,
        )

    @property
    def disclaimer(self) -> str:
        """The vault's educational notice, or ours while there is none."""
        vault = self.vault.current()
        return vault.disclaimer if vault else FALLBACK_DISCLAIMER


async def repeat(work: Callable[[], Coroutine[Any, Any, object]], complaint: str, every_s: float = POLL_S) -> None:
    """Do one kind of work each second, in a loop of its own: what hangs delays nothing else.

    A failure is logged, of an outage of the database the first.
    """
    failing = False
    while True:
        await asyncio.sleep(every_s)
        try:
            await work()
            failing = False
        except SQLAlchemyError as error:
            if not failing:
                log.error(complaint, reason=database_reason(error))  # noqa: TRY400
            failing = True
        except Exception:
            log.exception(complaint)


def _overdue(what: LastGood, sentence: str) -> str | None:
    return f"{sentence} for over {NOT_READY_S:.0f} s" if what.age_s() > NOT_READY_S else None


def _seconds(age_s: float | None) -> float | None:
    return None if age_s is None else round(age_s, 1)
