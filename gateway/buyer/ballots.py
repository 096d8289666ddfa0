"""Prepare ballots for the Arena page and take them signed: free ones for the inbox, the others for the network.

A ballot is judged by the generator; nothing is counted here. Here it is only made sure that nothing else passes: no
money, no other receiver, no other network, no round that is locked. Both read a ballot by `gateway.wire.ballots`.
"""

import base64
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final, NoReturn

from algosdk.encoding import is_valid_address
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.buyer.account import MAX_FEE, NodeUnusable, look_up_fee
from gateway.buyer.free_vote import BallotAnswer, FreeVote
from gateway.clock import Clock
from gateway.http.answers import Problems, preflight
from gateway.http.limits import Clients, RateLimit
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain, Presence
from gateway.upstream.http_client import JsonAnswer
from gateway.wire.algorand import (
    KEY_BYTES,
    MAX_LIFE_ROUNDS,
    MIN_FEE,
    address_of,
    key_of,
    pack,
)
from gateway.wire.ballots import CHANGES, SignedBallot, check_form, lease_of, read_ballot
from gateway.wire.daily import DailyAnswer, closes_at
from gateway.wire.networks import Network
from gateway.wire.notes import CHOICES, Chances, RoundVote, Vote
from gateway.wire.refusals import RefusedError

BALLOT_PATH: Final = "/x402-buyer/ballot"
HEADER: Final = "x-ballot"
WAYS: Final = ("free", "chain")
PER_VOTER: Final = 6
"""Requests of a voter in a minute: a vote is prepared and sent, and perhaps changed twice."""
PER_MINUTE: Final = 30
"""Of one address at least."""
MAX_AT_ONCE: Final = 16
RETRY_S: Final = 5
TIMEOUT_S: Final = 4.0
BLOCK_S: Final = 2.8
SPARE_BLOCKS: Final = 10
# What a node's own words hold, and what the page gets instead.
REFUSALS: Final[tuple[tuple[str, str, str], ...]] = (
    ("overspend", "too_little_algo", "The account cannot pay the fee."),
    ("below min", "too_little_algo", "The account cannot pay the fee and keep its least balance."),
    ("txn dead", "locked", "The ballot is not valid any more; sign again."),
    (
        "overlapping lease",
        "sent",
        "A vote of this account is on its way already. To change it, press another answer, then this one again.",
    ),
    ("should have been authorized", "rekeyed", "The account was rekeyed; its ballots are not counted."),
)
ROUND_ID: Final = re.compile(r"[A-Z0-9]{2,10}-([0-9]{8}-[0-9]{6})")


def checked_ballot(text: str, network: Network, arena: str, now: datetime) -> SignedBallot:
    """Read a signed ballot, free or for the chain, from standard base64.

    Raises:
        BallotAnswer: anything else than a ballot for a round that takes votes; the text is fit to be shown.
    """
    try:
        ballot = read_ballot(text.encode(), key_of(arena), network.genesis_hash_bytes)
        check_form(ballot)
    except RefusedError as error:
        _refuse(f"This ballot cannot count: {error.refusal}.")

    transaction = ballot.transaction
    if not ballot.is_free:
        if not MIN_FEE <= transaction.get("fee", 0) <= MAX_FEE:
            _refuse(f"A ballot on chain pays a fee of {MIN_FEE} to {MAX_FEE} micro-ALGO.")
        if not 0 <= transaction.get("lv", 0) - transaction.get("fv", 0) <= MAX_LIFE_ROUNDS:
            _refuse("The ballot's rounds of validity make no sense.")

    if not ballot.is_signed():
        _refuse("The signature is not the sender's; ballots of rekeyed and shared accounts are not counted.")
    check_open(ballot.vote, now)
    return ballot


def _refuse(text: str) -> NoReturn:
    raise BallotAnswer(400, "no_ballot", text)


def check_open(vote: Vote, now: datetime) -> datetime:
    """Return when votes close, as the name of the round or question says; raise BallotAnswer when they are closed.

    BallotAnswer also where it names none.
    """
    closes = _daily_close(vote) if isinstance(vote, DailyAnswer) else _round_close(vote)
    if now >= closes:
        raise BallotAnswer(400, "locked", f"Votes in {vote.subject} are closed.")
    return closes


def _daily_close(answer: DailyAnswer) -> datetime:
    try:
        return closes_at(answer.question_id)
    except ValueError:
        raise BallotAnswer(400, "no_ballot", "daily: question_id of the open question in /arena/daily.json.") from None


def _round_close(vote: RoundVote) -> datetime:
    named = ROUND_ID.fullmatch(vote.round_id)
    try:
        return datetime.strptime(named[1] if named else "", "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        raise BallotAnswer(400, "no_ballot", "round: as in open_round of /api/human-consensus.php.") from None


class BallotDesk:
    """Answer GET /x402-buyer/ballot.

    With `?voter=&round=&chances=40,33,27`, or `&choice=` for a word, it prepares the transaction to be signed; with the
    signed transaction in an X-Ballot header it takes it; with neither it says whether the free vote is on, off or full.
    All are GET without a body, as every other path of this gateway; a page of another origin cannot send that header.
    """

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        clock: Clock,
        chain: Chain,
        clients: Clients,
        problems: Problems,
        free_vote: FreeVote,
    ) -> None:
        self._network = settings.chain_network
        self._arena = settings.arena_address
        self._clock = clock
        self._chain = chain
        self._clients = clients
        self._problems = problems
        self._free = free_vote

        per_minute = max(PER_MINUTE, PER_VOTER * settings.free_votes_per_address)
        self._rate = RateLimit(min(per_minute, settings.rate_limit_per_minute), clock)
        self._running = 0

    async def show(self, request: Request) -> Response:
        """Prepare a ballot, or take one."""
        if request.method == "OPTIONS":
            return preflight()

        try:
            content = await self._answer(request)
        except BallotAnswer as answer:
            return self._problems.make(
                request.url.path, answer.status, answer.text, retry_s=answer.retry_s, reason=answer.reason
            )

        headers = {"cache-control": "no-store", "vary": "X-Ballot", "x-content-type-options": "nosniff"}
        return JSONResponse(content, headers=headers)

    async def _answer(self, request: Request) -> dict[str, Any]:
        signed = request.headers.get(HEADER)
        if signed is None and not request.query_params:
            return await self._free.state()

        address = self._clients.address(request.scope)
        wait_s = self._rate.take(address)
        if wait_s is not None:
            raise BallotAnswer(429, "too_many", "Too many ballots came from this address.", wait_s)
        if self._running >= MAX_AT_ONCE:
            raise BallotAnswer(503, "busy", "Too many ballots are under way; nothing was sent.", RETRY_S)

        self._running += 1
        try:
            if signed is None:
                return await self._prepare(request.query_params)
            return await self._take(signed, address)
        finally:
            self._running -= 1

    async def _prepare(self, asked: Mapping[str, str]) -> dict[str, Any]:
        now = self._clock.now()
        voter = _address(asked.get("voter", ""))
        vote = _answer_of(asked) if "daily" in asked else _vote(asked.get("round", ""), asked)
        way = asked.get("way", WAYS[0])
        if way not in WAYS:
            _refuse("way: free or chain.")
        closes = check_open(vote, now)
        lease = lease_of(key_of(voter), vote.subject, _change(asked.get("change", "0")))

        fields: dict[str, Any] = {
            "type": "pay",
            "snd": key_of(voter),
            "rcv": key_of(self._arena),
            "fv": 1,
            "lv": 1,
            "gh": self._network.genesis_hash_bytes,
            "note": vote.note,
            "lx": lease,
        }
        if way == "free":
            await self._free.check_open(vote)
        else:
            await self._free.check_form(vote)
            fields |= await self._fee_and_validity((closes - now).total_seconds())

        return {
            "voter": voter,
            "closes": closes.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "arena": self._arena,
            "genesis_hash": self._network.genesis_hash,
            "fee": fields.get("fee", 0),
            "transaction": base64.b64encode(pack(fields)).decode(),
        }

    async def _fee_and_validity(self, left_s: float) -> dict[str, int]:
        """Let it be valid until about the close: a copy published after it cannot be sent for the voter's fee."""
        try:
            params = await look_up_fee(self._chain, self._network)
        except NodeUnusable as error:
            raise BallotAnswer(503, "no_node", f"Ballots cannot be handed on now: {error}.", RETRY_S) from None
        life = min(MAX_LIFE_ROUNDS, math.ceil(left_s / BLOCK_S) + SPARE_BLOCKS)
        return {"fee": params.min_fee, "fv": params.last_round, "lv": params.last_round + life}

    async def _take(self, signed: str, address: str) -> dict[str, Any]:
        ballot = checked_ballot(signed, self._network, self._arena, self._clock.now())
        if ballot.is_free:
            await self._free.add(ballot, address)
        else:
            await self._free.check_form(ballot.vote)
            answer = await self._chain.algod("/v2/transactions", TIMEOUT_S, ballot.raw)
            if answer is None or answer.status != HTTPStatus.OK:
                await self._check_known(ballot, answer)
        return {"txid": ballot.txid, "voter": ballot.voter, **_said(ballot.vote)}

    async def _check_known(self, ballot: SignedBallot, answer: JsonAnswer | None) -> None:
        """Take a ballot that the node has already for a submitted one: the page may ask twice."""
        if await self._chain.pending_status(ballot.txid) in {Presence.FOUND, Presence.POOLED}:
            return
        if answer is None or answer.status != HTTPStatus.BAD_REQUEST:
            text = "The node gave no answer. Send the same ballot again: it cannot count twice."
            raise BallotAnswer(503, "no_node", text, RETRY_S)

        words = answer.content.get("message") if isinstance(answer.content, dict) else None
        for part, reason, text in REFUSALS:
            if isinstance(words, str) and part in words:
                raise BallotAnswer(400, reason, text)
        raise BallotAnswer(400, "refused", "The network does not take this ballot.")


def _said(vote: Vote) -> dict[str, Any]:
    """Return what a ballot said, as it is answered."""
    if isinstance(vote, DailyAnswer):
        low_90, low_50, high_50, high_90 = vote.ends
        return {"question_id": vote.question_id, "r50": [low_50, high_50], "r90": [low_90, high_90]}
    chances = None if vote.chances is None else vote.chances._asdict()
    return {"round_id": vote.round_id, "choice": vote.choice, "chances": chances}


def _answer_of(asked: Mapping[str, str]) -> DailyAnswer:
    """Return the answer to the daily question that is asked for."""
    try:
        return DailyAnswer.read(asked["daily"], asked.get("r50", ""), asked.get("r90", ""))
    except ValueError as error:
        _refuse(f"r50, r90: {error}.")


def _vote(round_id: str, asked: Mapping[str, str]) -> RoundVote:
    """Return the vote that is asked for: chances or a word, one of the two."""
    choice = asked.get("choice")
    written = asked.get("chances")
    if (choice is None) == (written is None):
        _refuse("Give chances, such as 40,33,27 for up, small move and down, or a choice: BULLISH, NEUTRAL or BEARISH.")
    if written is None:
        if choice not in CHOICES:
            _refuse("choice: BULLISH, NEUTRAL or BEARISH.")
        return RoundVote.of(round_id, choice)

    try:
        return RoundVote.of(round_id, "", Chances.read(written))
    except ValueError as error:
        _refuse(f"chances: {error}.")


def _change(text: str) -> int:
    """Return how often the voter changed the vote in this round before."""
    if not text.isascii() or not text.isdecimal() or len(text) > 3:
        _refuse(f"change: how often you changed your vote in this round before, 0 to {CHANGES - 1}.")
    if int(text) >= CHANGES:
        raise BallotAnswer(
            400, "changes", f"You changed your vote {CHANGES - 1} times in this round. The last one counts."
        )
    return int(text)


def _address(text: str) -> str:
    """Return the voter's address; a page that cannot hash one gives the public key in hexadecimal."""
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    address = address_of(key) if len(key) == KEY_BYTES else text
    if not is_valid_address(address):
        raise BallotAnswer(400, "address", "voter: an Algorand address, or a public key of 64 hexadecimal digits.")
    return address
