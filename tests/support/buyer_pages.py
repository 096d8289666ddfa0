"""The parts of a gateway behind the buyer's pages: its answers to a browser, and a node of dictated answers."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from gateway.buyer.ballots import BallotDesk
from gateway.buyer.free_vote import FreeVote
from gateway.clock import Clock
from gateway.http.answers import Problems
from gateway.http.limits import Clients
from gateway.payments.challenge import Challenge
from gateway.payments.quotes import Absence
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Presence
from gateway.upstream.http_client import JsonAnswer
from gateway.wire.networks import DEVNET
from tests.support.clock import ManualClock
from tests.support.vaults import PRICES

PRICE = PRICES["x402-atlas-human-report"]
ROUND = 77_000


@dataclass
class FakeQuotes:
    """Quotes that a test dictates: the challenges by path, and why there are none."""

    challenges: Mapping[str, Challenge] = field(default_factory=dict)
    refusal: str | None = None

    def current(self) -> Mapping[str, Challenge]:
        return self.challenges

    def absence(self, _path: str | None = None) -> Absence | None:
        return None if self.refusal is None else Absence(self.refusal)


def ballot_desk(settings: GatewaySettings | None = None, clock: Clock | None = None, chain: Any = None) -> BallotDesk:
    """Return the desk of a gateway that has no other parts."""
    settings = settings or GatewaySettings()
    clock = clock or ManualClock()
    return BallotDesk(
        settings=settings,
        clock=clock,
        chain=chain,
        clients=Clients(settings.trusted_proxies),
        problems=Problems(settings.project, lambda: None),
        free_vote=FreeVote(settings.inbox_path, settings.free_vote_path, clock),
    )


def holding(**changes: Any) -> dict[str, Any]:
    return {"asset-holding": {"asset-id": DEVNET.asset_id, "amount": PRICE, "is-frozen": False} | changes}


def params(**changes: Any) -> dict[str, Any]:
    return {"last-round": ROUND, "genesis-hash": DEVNET.genesis_hash, "min-fee": 1_000} | changes


@dataclass
class FakeNode:
    """A chain's client whose every answer a test can replace: by a body, an Answer, None or a coroutine function."""

    address: str
    account: Any = field(default=...)
    holding: Any = field(default_factory=holding)
    params: Any = field(default_factory=params)
    answer: JsonAnswer | None = field(default_factory=lambda: JsonAnswer(200, {"txId": "x"}))
    known: Presence = Presence.ABSENT
    sent: list[bytes] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.account is ...:
            self.account = {"address": self.address, "amount": 1_000_000, "min-balance": 100}

    async def algod(self, path: str, timeout_s: float, transaction: bytes | None = None) -> JsonAnswer | None:
        if transaction is not None:
            self.sent.append(transaction)
            return self.answer
        self.asked.append(path)
        self.limits.append(timeout_s)
        found = (
            self.params if path == "/v2/transactions/params" else self.holding if "/assets/" in path else self.account
        )
        if inspect.iscoroutinefunction(found):
            found = await found()
        return found if found is None or isinstance(found, JsonAnswer) else JsonAnswer(200, found)

    async def pending_status(self, _txid: str) -> Presence:
        return self.known


def page_client(show: Any, address: str = "testclient") -> TestClient:
    """Return a client, at this address, of a page whose path is /b."""
    app = Starlette(routes=[Route("/b", show, methods=["GET", "OPTIONS"])])
    return TestClient(app, client=(address, 40_000))
