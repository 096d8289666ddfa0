"""Hand the Arena page's signed ballots to the network: the page may speak to its own origin only.

A ballot is judged by the generator, which reads it from the chain; nothing is kept or counted here. Here it is only made
sure that nothing else is handed on: no money, no other receiver, no other network, no round that is locked.
Both read a ballot by `gateway.wire.ballots`. A page without this path still gives its reader the ballot as a file.
"""

import re
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

from algosdk.encoding import is_valid_address
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.app.answers import preflight
from gateway.app.limits import RateLimit
from gateway.app.state import GatewayState
from gateway.buyer.account import NodeUnusable, look_up_fee
from gateway.errors import GatewayError
from gateway.upstream.chain import Presence
from gateway.upstream.http_client import Answer
from gateway.wire.algorand import MAX_LIFE_ROUNDS, key_of
from gateway.wire.ballots import RefusedError, SignedBallot, read_ballot
from gateway.wire.networks import Network

BALLOT_PATH: Final = "/x402-buyer/ballot"
HEADER: Final = "x-ballot"
PER_MINUTE: Final = 30
MAX_AT_ONCE: Final = 16
RETRY_S: Final = 5
TIMEOUT_S: Final = 4.0
OK: Final = 200
REFUSED: Final = 400
# What a node's own words hold, and what the page gets instead.
REFUSALS: Final[tuple[tuple[str, str, str], ...]] = (
    ("overspend", "too_little_algo", "The account cannot pay the fee."),
    ("below min", "too_little_algo", "The account cannot pay the fee and keep its least balance."),
    ("txn dead", "expired", "The ballot is not valid any more; sign again."),
    ("should have been authorized", "rekeyed", "The account was rekeyed; its ballots are not counted."),
)
MIN_FEE: Final = 1_000
MAX_FEE: Final = 10_000
"""Micro-ALGO; a ballot that pays more than ten times the least fee is a mistake of whoever signed it."""
ROUND_ID: Final = re.compile(r"[A-Z0-9]{2,10}-([0-9]{8}-[0-9]{6})")


class BallotRefused(GatewayError):
    """This ballot cannot count. `locked` when only its round is over."""

    def __init__(self, text: str, *, locked: bool = False) -> None:
        super().__init__(text)
        self.locked = locked


def checked_ballot(text: str, network: Network, arena: str, now: datetime) -> SignedBallot:
    """Read a signed ballot that is meant for the chain.

    Args:
        text: standard base64 of the signed transaction.
        network: ours.
        arena: the address that ballots are sent to.
        now: aware UTC wall time.

    Raises:
        BallotRefused: anything else than a ballot for a round that takes votes; the text is fit to be shown.
    """
    try:
        ballot = read_ballot(text.encode(), key_of(arena), network.genesis_hash_bytes)
    except RefusedError as error:
        raise BallotRefused(f"This ballot cannot count: {error.refusal}.") from None
    transaction = ballot.transaction
    if "grp" in transaction:
        _refuse("A ballot is in no group.")
    if not MIN_FEE <= transaction.get("fee", 0) <= MAX_FEE:
        _refuse(f"A ballot on chain pays a fee of {MIN_FEE} to {MAX_FEE} micro-ALGO.")
    if not 0 <= transaction.get("lv", 0) - transaction.get("fv", 0) <= MAX_LIFE_ROUNDS:
        _refuse("The ballot's rounds of validity make no sense.")
    if not ballot.is_signed():
        _refuse("The signature is not the sender's; ballots of rekeyed and shared accounts are not counted.")
    _check_open(ballot.round_id, now)
    return ballot


def _refuse(text: str) -> NoReturn:
    raise BallotRefused(text)


def _check_open(round_id: str, now: datetime) -> None:
    """Read when votes close from the round's name, which is when it goes live."""
    found = ROUND_ID.fullmatch(round_id)
    try:
        closes = datetime.strptime(found[1] if found else "", "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        _refuse("The note names no round.")
    if now >= closes:
        raise BallotRefused(f"Votes in {round_id} are closed.", locked=True)


class _Refusal(Exception):
    """An answer other than 200: status, one word for the page's script, one sentence."""

    def __init__(self, status: int, reason: str, text: str, retry_s: int | None = None) -> None:
        super().__init__(text)
        self.status, self.reason, self.text, self.retry_s = status, reason, text, retry_s


class BallotRelay:
    """Answer GET /x402-buyer/ballot.

    With `?address=` it states fee and rounds, from which the page makes a transaction; with the signed transaction in an
    X-Ballot header it hands it on. Both are GET without a body, as every other path of this gateway; a page of another
    origin cannot send that header.

    Args:
        state: the gateway's parts; read again with each request.
    """

    def __init__(self, state: GatewayState) -> None:
        self._state = state
        self._rate = RateLimit(min(PER_MINUTE, state.settings.rate_limit_per_minute), state.clock)
        self._running = 0

    async def show(self, request: Request) -> Response:
        """Tell the terms of a ballot on chain, or hand one on."""
        if request.method == "OPTIONS":
            return preflight()
        try:
            content = await self._answer(request)
        except _Refusal as refusal:
            return self._state.problem(
                request.url.path, refusal.status, refusal.text, retry_s=refusal.retry_s, reason=refusal.reason
            )
        return JSONResponse(content, headers={"cache-control": "no-store", "x-content-type-options": "nosniff"})

    async def _answer(self, request: Request) -> dict[str, Any]:
        signed, address = request.headers.get(HEADER), request.query_params.get("address", "")
        if signed is None and not is_valid_address(address):
            raise _Refusal(400, "address", "address: the 58 characters of an Algorand address.")
        wait_s = self._rate.take(self._state.clients.address(request.scope))
        if wait_s is not None:
            raise _Refusal(429, "too_many", "Too many ballots came from this address.", wait_s)
        if self._running >= MAX_AT_ONCE:
            raise _Refusal(503, "busy", "Too many ballots are under way; nothing was sent.", RETRY_S)
        self._running += 1
        try:
            return await (self._terms(address) if signed is None else self._hand_on(signed))
        finally:
            self._running -= 1

    async def _terms(self, address: str) -> dict[str, Any]:
        try:
            params, spendable = await look_up_fee(self._state.chain, address, self._state.settings.chain_network)
        except NodeUnusable as error:
            raise _Refusal(503, "no_node", f"Ballots cannot be handed on now: {error}.", RETRY_S) from None
        return {
            "address": address,
            "arena": self._state.settings.arena_address,
            "genesis_hash": self._state.settings.chain_network.genesis_hash,
            "last_round": params.last_round,
            "fee": params.min_fee,
            "can_pay": None if spendable is None else spendable >= params.min_fee,
        }

    async def _hand_on(self, signed: str) -> dict[str, Any]:
        settings = self._state.settings
        try:
            ballot = checked_ballot(signed, settings.chain_network, settings.arena_address, self._state.clock.now())
        except BallotRefused as refusal:
            raise _Refusal(400, "locked" if refusal.locked else "no_ballot", str(refusal)) from None
        answer = await self._state.chain.send(ballot.raw, TIMEOUT_S)
        if answer is None or answer.status != OK:
            await self._check_known(ballot, answer)
        return {"txid": ballot.txid, "voter": ballot.voter, "round_id": ballot.round_id, "choice": ballot.choice}

    async def _check_known(self, ballot: SignedBallot, answer: Answer | None) -> None:
        """Take a ballot that the node has already for a submitted one: the page may ask twice."""
        if await self._state.chain.glance(ballot.txid) in {Presence.FOUND, Presence.POOLED}:
            return
        if answer is None or answer.status != REFUSED:
            text = "The node gave no answer. Send the same ballot again: it cannot count twice."
            raise _Refusal(503, "no_node", text, RETRY_S)
        words = answer.content.get("message") if isinstance(answer.content, dict) else None
        for part, reason, text in REFUSALS:
            if isinstance(words, str) and part in words:
                raise _Refusal(400, reason, text)
        raise _Refusal(400, "refused", "The network does not take this ballot.")
