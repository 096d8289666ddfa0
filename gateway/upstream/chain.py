"""Ask the chain what became of a transaction: algod's memory first, then the indexer."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Any, Final

import msgpack
import structlog
from prometheus_client import Counter
from pydantic import SecretStr

from gateway.clock import Clock, LastSuccess, Outage
from gateway.http.metrics import Metrics
from gateway.settings import GatewaySettings
from gateway.upstream.http_client import Http, JsonAnswer, RemoteError, call, describe
from gateway.wire.algorand import (
    DECODE_ERRORS,
    MARGIN_ROUNDS,
    MAX_ROUND,
    TRANSACTION_PREFIX,
    txid_of,
)
from gateway.wire.foreign import read_msgpack

TIMEOUT_S: Final = 4.0
# A buyer waits for the answer: a node that takes longer is as good as down.
QUICK_TIMEOUT_S: Final = 1.0
ROUND_TTL_S: Final = 2.0
# About 20 rounds: near enough for what is counted in hundreds of them.
RECENT_S: Final = 60.0
# A token that is wrong, an address that is blocked, too many questions: no answer to what was asked.
DENIED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})
# Algod forgets a transaction after about 1,000 rounds: its 404s must not lie further apart.
MAX_GAP_ROUNDS: Final = 900
# A node that is a block behind shows after these rounds what the facilitator's node had.
REFUSAL_ROUNDS: Final = 2
NETWORK_RETRY_S: Final = 60.0
FOREIGN: Final = "algod is on another network than EMI_NETWORK: nothing that it says of a payment counts"
# A node whose last block is older, or that is catching up, does not see what has just landed.
MAX_STANDSTILL_NS: Final = 30 * 10**9
log = structlog.get_logger("gateway.chain")


class Presence(Enum):
    """What one lookup shows."""

    FOUND = "found"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    POOLED = "pooled"
    """It waits in a pool, which proves neither."""
    DROPPED = "dropped"
    """A pool threw it out, which proves neither for good."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One lookup."""

    presence: Presence
    round: int | None  # read before asking; None when it could not be read
    indexed: bool  # whether an indexer agreed, so that one absence is proof once the round is past
    following: bool = True  # whether the node saw the newest blocks, as far as it says
    held: bool = False  # whether it stayed so for as long as a buyer waits

    def confirms_refusal(self, since_round: int) -> bool:
        """Return whether a payment that settle refused before any broadcast has certainly not landed since.

        It has not if a node that says that it sees the newest blocks shows an absence that was held, or is two rounds
        after `since_round`, the round of the first lookup after the refusal, which showed nothing either.
        """
        later = self.held or (self.round is not None and self.round >= since_round + REFUSAL_ROUNDS)
        return self.presence is Presence.ABSENT and self.following and later

    def proves_absence(self, last_valid: int, watched_round: int | None) -> bool:
        """Return whether it is certain that a transaction can never be on the chain.

        Args:
            last_valid: its last valid round.
            watched_round: last round of an unbroken chain of algod's 404s that began at the intent, this lookup
                included; None when the chain is broken.
        """
        if self.presence is not Presence.ABSENT or self.round is None or self.round <= last_valid + MARGIN_ROUNDS:
            return False
        return self.indexed or (watched_round is not None and watched_round > last_valid + MARGIN_ROUNDS)


def extend_watch(watched_round: int | None, finding: Finding) -> int | None:
    """Return the new end of the unbroken chain of 404s, None for good once a gap was too long or none ever began."""
    if watched_round is None or finding.presence is not Presence.ABSENT or finding.round is None:
        return watched_round
    if finding.round - watched_round > MAX_GAP_ROUNDS:
        return None
    return max(watched_round, finding.round)


class NodeClient:
    """HTTP client of algod or of the indexer; counts failures, logs the first of a streak.

    Without a URL there is no such node, and nothing is asked.
    """

    def __init__(self, http: Http, url: str | None, headers: dict[str, str], failures: Counter, clock: Clock) -> None:
        self._http = http
        self.url = url
        self._headers = headers
        self._failures = failures
        self._worked = LastSuccess(clock)
        self.outage = Outage(clock)
        self._logged: int | None = None  # at which level the streak of failures was logged

    async def __call__(self, path: str, timeout_s: float, transaction: bytes | None = None) -> JsonAnswer | None:
        """Ask one question, or hand over a signed transaction in msgpack, within some seconds for everything.

        None when there is no readable answer; what was handed over may have arrived then.
        """
        if self.url is None:
            return None

        method = "GET"
        headers = self._headers
        if transaction is not None:
            method = "POST"
            headers = {**headers, "Content-Type": "application/x-binary"}

        url = self.url + path
        try:
            answer = await call(self._http, method, url, timeout_s=timeout_s, headers=headers, body=transaction)
        except RemoteError as error:
            self._failed(str(error))
            return None

        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status in DENIED:
            self._failed(describe(method, url, headers, answer))
        else:
            self._logged = None
            self._worked.ok()
            self.outage.ok()
        return answer

    async def show(self, txid: str, timeout_s: float) -> Presence | None:
        """Ask algod for a transaction over a kept connection; None unless the answer is certainly about that one."""
        if self.url is None:
            return None
        url = f"{self.url}/v2/transactions/pending/{txid}?format=msgpack"
        try:
            status, raw = await self._http.exchange(
                "GET", url, headers=self._headers, body=None, timeout_s=timeout_s, kept=True
            )
        except Exception:  # noqa: BLE001 - a fresh connection is tried next, and that failure is counted
            return None

        content = _shown(raw, txid) if status == HTTPStatus.OK else None
        if content is None:
            return None
        # In msgpack an empty error is left out.
        return _read_pending({"pool-error": "", **content})

    def _failed(self, reason: str) -> None:
        """Count every failure, and log the first of a streak."""
        self._failures.inc()
        self.outage.failed()

        level = logging.INFO if self._worked.starting() else logging.WARNING
        if level != self._logged:
            self._logged = level
            log.log(level, "a call to the chain failed", reason=reason)


class Chain:
    """The chain's client: algod, and the indexer where there is one."""

    def __init__(self, settings: GatewaySettings, http: Http, clock: Clock, metrics: Metrics) -> None:
        self._clock = clock
        self.quick_timeout_s = QUICK_TIMEOUT_S

        failures = metrics.chain_failures
        algod_token = _token("X-Algo-API-Token", settings.algod_token)
        self.algod = NodeClient(http, settings.algod_url, algod_token, failures.labels("algod"), clock)
        indexer_token = _token("X-Indexer-API-Token", settings.indexer_token)
        self.indexer = NodeClient(http, settings.indexer_url, indexer_token, failures.labels("indexer"), clock)

        self._round: tuple[float, int] | None = None
        self._genesis_hash = settings.chain_network.genesis_hash
        self._network_seen = False
        self._foreign = False
        self._ask_network_at = clock.monotonic()

    def fault(self) -> str | None:
        """Return a sentence for the operator when algod is on another network, else None."""
        return FOREIGN if self._foreign else None

    def failing_s(self) -> float:
        """Return for how many seconds algod or the indexer has given no readable answer, 0 when both do."""
        return max(self.algod.outage.seconds(), self.indexer.outage.seconds())

    async def current_round(self, timeout_s: float = TIMEOUT_S) -> int | None:
        """Return algod's last round, at most two seconds old; None when it cannot be read."""
        now = self._clock.monotonic()
        if self._round is not None and now - self._round[0] < ROUND_TTL_S:
            return self._round[1]

        value, _ = await self._algod_round(timeout_s)
        return value

    def round_now(self) -> int | None:
        """Return algod's last round as it was read within a minute, without asking; None when it was not."""
        if self._round is None:
            return None

        read_at, value = self._round
        if self._clock.monotonic() - read_at >= RECENT_S:
            return None
        return value

    @property
    def last_round(self) -> int | None:
        """The newest round that algod ever named to this process, None before it answered."""
        return None if self._round is None else self._round[1]

    async def lookup(self, txid: str, timeout_s: float = TIMEOUT_S) -> Finding:
        """Look a transaction up; one on the chain is that payment, whoever sent it.

        It is found, absent, or unknown when any part could not be asked or it waits in a pool.

        Args:
            txid: of the transaction.
            timeout_s: for each of the calls.
        """
        # The round is read first: what is absent after reading R was absent at R.
        reached, following = await self._reached(timeout_s)

        pending = await self.pending_status(txid, timeout_s)
        if pending in {Presence.POOLED, Presence.DROPPED}:
            pending = Presence.UNKNOWN
        if pending is Presence.FOUND or self.indexer.url is None:
            return Finding(pending, reached, indexed=False, following=following)

        indexed = await self._indexed(txid, timeout_s)
        if indexed is Presence.FOUND:
            return Finding(indexed, reached, indexed=True, following=following)
        if pending is Presence.ABSENT and indexed is Presence.ABSENT:
            return Finding(Presence.ABSENT, reached, indexed=True, following=following)
        return Finding(Presence.UNKNOWN, reached, indexed=False, following=following)

    async def trace(self, txid: str, last_valid: int) -> Finding:
        """Look for a transaction that was never accepted here, shortly: at algod, in its pool too.

        Past its last valid round algod may have forgotten it: then an indexer is asked as well, as `lookup` does.
        """
        # The round is read first, as in `lookup`.
        reached, following = await self._algod_round(self.quick_timeout_s)
        presence = await self.pending_status(txid)
        if presence is not Presence.ABSENT or reached is None or reached <= last_valid:
            return Finding(presence, reached, indexed=False, following=following)
        return await self.lookup(txid, self.quick_timeout_s)

    async def pending_status(self, txid: str, timeout_s: float | None = None) -> Presence:
        """Ask algod alone, and by default only shortly, whether a transaction is found, pooled, dropped or absent."""
        path = f"/v2/transactions/pending/{txid}"
        return _presence(await self.algod(path, timeout_s or self.quick_timeout_s), _read_pending)

    async def confirm(self, txid: str) -> Presence:
        """Ask algod about a transaction that it should have by now, as `pending_status` does.

        That spares a connection where algod has it. The question goes over a kept connection, where any answer can be a
        stray one. So only an answer that holds the transaction itself is believed, by the txid that its bytes give;
        everything else, a 404 too, is asked for again over a fresh one.
        """
        presence = await self.algod.show(txid, self.quick_timeout_s)
        return presence or await self.pending_status(txid)

    async def confirms_absence(self, txid: str) -> bool:
        """Return whether algod's repeated 404s count: it follows the chain, and no indexer knows better."""
        (reached, following), indexed = await asyncio.gather(
            self._algod_round(self.quick_timeout_s),
            self._indexed(txid, self.quick_timeout_s),
        )
        return reached is not None and following and indexed is not Presence.FOUND

    async def _indexed(self, txid: str, timeout_s: float) -> Presence:
        return _presence(await self.indexer(f"/v2/transactions/{txid}", timeout_s), _read_indexed)

    async def _reached(self, timeout_s: float) -> tuple[int | None, bool]:
        """Return the round that both nodes have read, None when one does not say, and whether algod follows."""
        algod, following = await self._algod_round(timeout_s)
        if self.indexer.url is None or algod is None:
            return algod, following

        answer = await self.indexer("/health", timeout_s)
        if answer is None or answer.status != HTTPStatus.OK:
            # A 404 here is a wrong address, and would make every transaction look absent.
            return None, following

        indexed = answer.fields.get("round")
        if type(indexed) is not int:
            # An indexer without a round in its health says nothing about how far it reads.
            return algod, following
        return min(algod, indexed), following

    async def _is_foreign(self, timeout_s: float) -> bool:
        """Return whether algod says that it is on another network; asked each minute until it was seen on ours."""
        now = self._clock.monotonic()
        if self._network_seen or now < self._ask_network_at:
            return self._foreign

        self._ask_network_at = now + NETWORK_RETRY_S
        answer = await self.algod("/v2/transactions/params", timeout_s)
        named = answer.fields.get("genesis-hash") if answer is not None else None
        if isinstance(named, str):
            self._network_seen = named == self._genesis_hash
            if not self._network_seen and not self._foreign:
                log.error(FOREIGN, genesis_hash=named[:60])
            self._foreign = not self._network_seen
        return self._foreign

    async def _algod_round(self, timeout_s: float) -> tuple[int | None, bool]:
        if await self._is_foreign(timeout_s):
            return None, False

        answer = await self.algod("/v2/status", timeout_s)
        content: Mapping[str, Any] = {}
        if answer is not None and answer.status == HTTPStatus.OK:
            content = answer.fields

        value = content.get("last-round")
        if type(value) is not int or not 0 <= value < MAX_ROUND:
            return None, _follows(content)
        self._round = (self._clock.monotonic(), value)
        return value, _follows(content)


def _shown(raw: bytes, txid: str) -> Mapping[str, Any] | None:
    """Read algod's answer in msgpack; None unless it holds the very transaction of a txid."""
    try:
        content: Mapping[str, Any] = read_msgpack(raw)
        packed = msgpack.packb(content["txn"]["txn"], use_bin_type=True)
    except (*DECODE_ERRORS, LookupError, TypeError, AttributeError, OverflowError):
        return None
    if txid_of(TRANSACTION_PREFIX + packed) != txid:
        return None
    return content


def _presence(answer: JsonAnswer | None, read: Callable[[Mapping[str, Any]], Presence]) -> Presence:
    if answer is None:
        return Presence.UNKNOWN
    if answer.status == HTTPStatus.NOT_FOUND:
        return Presence.ABSENT
    if answer.status != HTTPStatus.OK:
        return Presence.UNKNOWN
    return read(answer.fields)


def _read_pending(content: Mapping[str, Any]) -> Presence:
    if _positive(content.get("confirmed-round")):
        return Presence.FOUND
    error = content.get("pool-error")
    if not isinstance(error, str):
        return Presence.UNKNOWN
    return Presence.DROPPED if error else Presence.POOLED


def _read_indexed(content: Mapping[str, Any]) -> Presence:
    row = content.get("transaction")
    if isinstance(row, dict) and _positive(row.get("confirmed-round")):
        return Presence.FOUND
    return Presence.UNKNOWN


def _follows(status: Mapping[str, Any]) -> bool:
    """Read algod's own word on whether it sees the newest blocks; silence counts as yes."""
    standstill = status.get("time-since-last-round")
    stalled = type(standstill) is int and standstill > MAX_STANDSTILL_NS
    return not stalled and not _positive(status.get("catchup-time"))


def _positive(value: Any) -> bool:
    return type(value) is int and value > 0


def _token(name: str, token: SecretStr | None) -> dict[str, str]:
    return {name: token.get_secret_value()} if token else {}
