"""Speak to the facilitator: what it supports, verify, settle."""

import json
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Any, Final, TypeVar

import structlog
from algosdk.encoding import is_valid_address

from gateway.clock import STOP_QUOTING_S, Clock, LastSuccess, Outage
from gateway.http.metrics import Metrics
from gateway.settings import GatewaySettings
from gateway.upstream.http_client import Http, JsonAnswer, RemoteError, call, describe
from gateway.values import Payment
from gateway.wire.foreign import read_json

# Often enough that one lost answer is not taken for an outage.
SUPPORTED_TTL_S: Final = 20.0
SUPPORTED_RETRY_S: Final = 2.0
EXTENSION_RESPONSES: Final = "extension-responses"
LONGEST_MESSAGE: Final = 1_000
LONGEST_RESPONSES: Final = 500
T = TypeVar("T")
log = structlog.get_logger("gateway.facilitator")


@dataclass(frozen=True, slots=True)
class FacilitatorOffer:
    """What the facilitator says it can do for us."""

    network: str  # the form in which it names our network
    fee_payer: str  # the signer of this answer
    signers: frozenset[str]  # every signer it named, also in earlier answers
    lists_signers: bool  # whether it names all of them and not only the one of each answer


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to verify."""

    valid: bool
    reason: str
    message: str = ""  # in the words of the node, for people


class SettleKind(Enum):
    """How an answer to settle reads."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class SettleAnswer:
    """The answer to settle."""

    kind: SettleKind
    reason: str  # its error reason, or ours when it was unreadable
    names_transaction: bool = False  # so that something may have been broadcast

    @property
    def before_broadcast(self) -> bool:
        """Whether it is a failure with a reason that the SDKs give only before they broadcast."""
        return self.kind is SettleKind.FAILURE and not self.names_transaction and _is_early(self.reason)


def _is_early(reason: str) -> bool:
    if reason in {"invalid_payload", "insufficient_funds"} or "simulation" in reason:
        return True
    late = ("settlement_failed", "confirmation_failed")
    return reason.startswith("invalid_exact_avm_") and not any(word in reason for word in late)


class Facilitator:
    """The facilitator's client."""

    def __init__(self, settings: GatewaySettings, http: Http, clock: Clock, metrics: Metrics) -> None:
        self._settings = settings
        self._http = http
        self._clock = clock
        base = settings.facilitator_url
        paths = ("/supported", "/verify", "/settle")
        self._urls = {path: base + path for path in paths} if base else {}
        self._failed = {path: metrics.facilitator_failures.labels(path[1:]) for path in paths}
        self._seconds = {"/verify": metrics.verify_seconds, "/settle": metrics.settle_seconds}

        token = settings.facilitator_token
        self._headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}

        self._offer: FacilitatorOffer | None = None
        self._ask_at = clock.monotonic()
        self._outages = {"/verify": Outage(clock), "/settle": Outage(clock)}
        self._complained = ""
        self.extension_responses: str | None = None
        """What the facilitator said last of the extensions of a settled payment, such as its listing."""
        self.supported = LastSuccess(clock)
        """The last good answer to /supported."""

    def offer(self) -> FacilitatorOffer | None:
        """Return the offer to quote, without asking; None when there is none, or the facilitator is down for long."""
        return self._offer if self.supported.age_s() <= STOP_QUOTING_S else None

    def last_offer(self) -> FacilitatorOffer | None:
        """Return the last good offer however old, to finish a payment that was accepted before."""
        return self._offer

    async def refresh(self) -> None:
        """Ask /supported if the last answer is old."""
        now = self._clock.monotonic()
        if now < self._ask_at:
            return

        self._ask_at = now + SUPPORTED_RETRY_S
        if await self._ask():
            self._ask_at = now + SUPPORTED_TTL_S

    async def _ask(self) -> bool:
        """Ask /supported for our offer; return whether there is one."""
        try:
            answer = await self._call("GET", "/supported", self._settings.verify_timeout_seconds)
        except RemoteError as error:
            return self._complain("no answer", str(error))

        kinds = answer.fields.get("kinds")
        if answer.status != HTTPStatus.OK or not isinstance(kinds, list):
            return self._complain("unreadable", self._unreadable("GET", "/supported", answer))

        self._offer = self._read_offer(kinds, answer.fields.get("signers"))
        if self._offer is None:
            # A definite answer without us in it: quoting the old one would sell what cannot be settled.
            return self._complain("no offer", f"the facilitator does not offer {self._settings.network}")
        self._complained = ""
        self.supported.ok()
        return True

    def _complain(self, kind: str, reason: str) -> bool:
        """Log once for each kind of trouble, not with every look; return False."""
        starting = kind == "no answer" and self.supported.starting()
        if starting:
            kind = "starting"
        if kind == self._complained:
            return False

        self._complained = kind
        has_offer = self._offer is not None
        if starting:
            log.info("no new offer from the facilitator", reason=reason, last_good=has_offer)
        else:
            log.error("no new offer from the facilitator", reason=reason, last_good=has_offer)
        return False

    def _read_offer(self, kinds: list[Any], signers: Any) -> FacilitatorOffer | None:
        """Return the offer of the first of our network's forms that is among the kinds, None without one."""
        exact = [kind for kind in kinds if isinstance(kind, dict) and kind.get("scheme") == "exact"]
        for form in self._settings.chain_network.forms:
            for kind in exact:
                extra = kind.get("extra")
                payer: Any = extra.get("feePayer") if isinstance(extra, dict) else None
                if kind.get("network") != form or kind.get("x402Version") != 2 or not is_valid_address(payer):
                    continue

                # Earlier signers stay: a client may echo one that was drawn at random before.
                listed = _signers(signers)
                earlier = self._offer.signers if self._offer else frozenset()
                return FacilitatorOffer(form, payer, earlier | listed | {payer}, bool(listed))
        return None

    def failing_s(self) -> float:
        """Return for how many seconds verify or settle has not worked, 0 when both do."""
        return max(outage.seconds() for outage in self._outages.values())

    async def verify(self, request: bytes) -> Verdict:
        """Ask whether a payment would settle, by what `encode_request` made; RemoteError without a readable answer."""
        timeout_s = self._settings.verify_timeout_seconds
        return await self._post("/verify", timeout_s, request, _read_verdict)

    async def settle(self, request: bytes) -> SettleAnswer:
        """Ask once to settle a verified payment whose intent is on disk, in the bytes that it was verified with.

        Never raises: an unreadable answer is an answer about our knowledge.
        """
        timeout_s = self._settings.settle_timeout_seconds
        try:
            return await self._post("/settle", timeout_s, request, _read_settle)
        except RemoteError as error:
            return SettleAnswer(SettleKind.UNREADABLE, str(error))

    async def _post(self, path: str, timeout_s: float, body: bytes, read: Callable[[JsonAnswer], T | None]) -> T:
        outage = self._outages[path]
        try:
            answer = await self._call("POST", path, timeout_s, body)
        except RemoteError:
            outage.failed()
            raise

        verdict = read(answer)
        if verdict is None:
            # A 4xx to verify is about this payment alone: no payer may make it look down to all the others.
            if path == "/settle" or not HTTPStatus.BAD_REQUEST <= answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                outage.failed()
            raise RemoteError(self._unreadable("POST", path, answer))

        outage.ok()
        return verdict

    async def _call(self, method: str, path: str, timeout_s: float, body: bytes | None = None) -> JsonAnswer:
        url = self._urls.get(path)
        if url is None:
            raise RemoteError("FACILITATOR_URL is not set")

        seconds = self._seconds.get(path)
        began = self._clock.monotonic()
        try:
            note = self._note_extensions if path == "/settle" else None
            return await call(self._http, method, url, timeout_s=timeout_s, headers=self._headers, body=body, note=note)
        except RemoteError:
            self._failed[path].inc()
            raise
        finally:
            if seconds is not None:
                seconds.observe(self._clock.monotonic() - began)

    def _note_extensions(self, headers: Mapping[str, str]) -> None:
        """Keep what the facilitator says of extensions, and log it when it is another: why something is not listed."""
        given = headers.get(EXTENSION_RESPONSES)
        said = None if given is None else decoded_responses(given)
        if said is not None and said != self.extension_responses:
            self.extension_responses = said
            log.info("the facilitator answered about extensions", responses=said)

    def _unreadable(self, method: str, path: str, answer: JsonAnswer) -> str:
        """Count an answer that does not say what it should, and describe it."""
        self._failed[path].inc()
        return describe(method, self._urls[path], self._headers, answer)


def decoded_responses(given: str) -> str:
    """Return the header EXTENSION-RESPONSES as one printable line: base64 of JSON, or whatever it is.

    >>> decoded_responses("eyJiYXphYXIiOiB7InN0YXR1cyI6ICJyZWplY3RlZCJ9fQ==")
    '{"bazaar": {"status": "rejected"}}'
    >>> decoded_responses("bazaar=ok")
    'bazaar=ok'
    """
    try:
        text = json.dumps(read_json(b64decode(given, validate=True)), ensure_ascii=True)
    except ValueError:
        text = given
    line = text[:LONGEST_RESPONSES]
    return "".join(char if char.isprintable() else "?" for char in line)


def _signers(signers: Any) -> frozenset[str]:
    families = signers.items() if isinstance(signers, dict) else ()
    rows = [row for family, row in families if family.startswith("algorand") and isinstance(row, list)]
    return frozenset(address for row in rows for address in row if is_valid_address(address))


def encode_request(payment: Payment, requirements: dict[str, Any]) -> bytes:
    """Encode the body of verify and settle: our terms, extensions and resource as the client sent them.

    The requirements are from our table, the network in the facilitator's form.
    Not by x402's models: these drop members of the resource that they do not know, and write the others in their order.
    """
    # Our terms stand in it twice, and are written once.
    terms = _compact(requirements)
    group = _compact({"paymentGroup": payment.group, "paymentIndex": payment.index})
    sent = f'{{"x402Version":2,"payload":{group},"accepted":{terms}'
    if payment.resource is not None:
        sent += f',"resource":{_compact(payment.resource)}'
    if payment.extensions is not None:
        sent += f',"extensions":{_compact(payment.extensions)}'

    return f'{{"x402Version":2,"paymentPayload":{sent}}},"paymentRequirements":{terms}}}'.encode()


def _compact(value: Any) -> str:
    return _COMPACT.encode(value)


# Made once: json.dumps makes an encoder for every call that does not want the usual one.
_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))


def _read_verdict(answer: JsonAnswer) -> Verdict | None:
    valid = answer.fields.get("isValid")
    if (
        answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        or type(valid) is not bool
        or (valid and answer.status != HTTPStatus.OK)
    ):
        return None
    message = answer.fields.get("invalidMessage")
    reason = _text(answer.fields.get("invalidReason")) or "invalid_payload"
    return Verdict(valid, reason, message[:LONGEST_MESSAGE] if isinstance(message, str) else "")


def _read_settle(answer: JsonAnswer) -> SettleAnswer | None:
    content = answer.fields
    success = content.get("success")

    if (
        answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        or type(success) is not bool
        or (success and answer.status != HTTPStatus.OK)
    ):
        return None
    if success:
        return SettleAnswer(SettleKind.SUCCESS, "")

    names_transaction = content.get("transaction") not in ("", None)  # of any type: it need not be hashable
    return SettleAnswer(SettleKind.FAILURE, _text(content.get("errorReason")), names_transaction)


def _text(value: Any) -> str:
    return value[:100] if isinstance(value, str) else ""
