"""Hand the Arena page's ballots to the network: the page may speak to its own origin only.

Nothing is kept or counted here. A ballot reaches the Arena by the chain, as every other one that was submitted, and a
page without this path still gives its reader the ballot as a file.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from algosdk.encoding import is_valid_address
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.app.answers import preflight, problem
from gateway.app.limits import RateLimit
from gateway.buyer.account import Params, read_micro_algos, read_params
from gateway.buyer.ballot import BallotRefused, SignedBallot, read_ballot
from gateway.buyer.prepare import ChainState
from gateway.upstream.chain import Presence
from gateway.upstream.remote import Answer

BALLOT_PATH: Final = "/x402-buyer/ballot"
HEADER: Final = "x-ballot"
PER_MINUTE: Final = 30
MAX_AT_ONCE: Final = 16
RETRY_S: Final = 5
TIMEOUT_S: Final = 4.0
OK: Final = 200
REFUSED: Final = 400
# What a node's own words hold, and what the page is told; the words themselves are not passed on.
REFUSALS: Final[tuple[tuple[str, str, str], ...]] = (
    ("overspend", "too_little_algo", "The account cannot pay the fee."),
    ("below min", "too_little_algo", "The account cannot pay the fee and keep its least balance."),
    ("txn dead", "expired", "The ballot is not valid any more; sign again."),
    ("should have been authorized", "rekeyed", "The account was rekeyed; its ballots are not counted."),
)


class Node(Protocol):
    """What is asked of the chain's client."""

    async def algod(self, path: str, timeout_s: float) -> Answer | None:
        """Return one answer, None when none could be read in time."""
        ...

    async def send(self, raw: bytes, timeout_s: float) -> Answer | None:
        """Hand one signed transaction over; None when no answer could be read, and it may have arrived."""
        ...

    async def glance(self, txid: str) -> Presence:
        """Ask shortly what is known of a transaction."""
        ...


class RelayState(ChainState, Protocol):
    """What the relay needs of the gateway."""

    @property
    def chain(self) -> Node:
        """The chain's client, which can also send."""
        ...


class _Refusal(Exception):
    """An answer other than 200: status, one word for the page's script, one sentence."""

    def __init__(self, status: int, reason: str, text: str, retry_s: int | None = None) -> None:
        super().__init__(text)
        self.status, self.reason, self.text, self.retry_s = status, reason, text, retry_s


class BallotRelay:
    """Answer GET /x402-buyer/ballot.

    With `?address=` it tells fee and rounds, from which the page makes a transaction; with the signed transaction in an
    X-Ballot header it hands it on. Both are GET without a body, as every other path of this gateway; a page of another
    origin cannot send that header.

    Args:
        state: the gateway's parts; read again with each request.
    """

    def __init__(self, state: RelayState) -> None:
        self._state = state
        self._rate = RateLimit(min(PER_MINUTE, state.settings.rate_limit_per_minute), state.clock)
        self._running = 0

    async def show(self, request: Request) -> Response:
        """Tell the terms of a ballot on chain, or hand one on."""
        if request.method == "OPTIONS":
            return preflight()
        try:
            told = await self._answer(request)
        except _Refusal as refusal:
            return self._problem(request, refusal)
        return JSONResponse(told, headers={"cache-control": "no-store", "x-content-type-options": "nosniff"})

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
        params = await self._params()
        account = await self._state.chain.algod(f"/v2/accounts/{address}?exclude=all", TIMEOUT_S)
        spendable = read_micro_algos(account, address)
        return {
            "address": address,
            "arena": self._state.settings.arena_address,
            "genesis_hash": self._state.settings.chain_network.genesis_hash,
            "last_round": params.last_round,
            "fee": params.min_fee,
            "can_pay": None if spendable is None else spendable >= params.min_fee,
        }

    async def _params(self) -> Params:
        answer = await self._state.chain.algod("/v2/transactions/params", TIMEOUT_S)
        params = read_params(answer, self._state.settings.chain_network)
        if isinstance(params, str):
            raise _Refusal(503, "no_node", f"Ballots cannot be handed on now: {params}.", RETRY_S)
        return params

    async def _hand_on(self, signed: str) -> dict[str, Any]:
        settings = self._state.settings
        try:
            ballot = read_ballot(signed, settings.chain_network, settings.arena_address, self._state.clock.now())
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

    def _problem(self, request: Request, refusal: _Refusal) -> Response:
        return problem(
            refusal.status,
            refusal.text,
            instance=request.url.path,
            project=self._state.project,
            disclaimer=self._state.disclaimer,
            headers=None if refusal.retry_s is None else {"retry-after": str(refusal.retry_s)},
            reason=refusal.reason,
        )
