"""Let the devnet's throwaway wallets sign for the page of this gateway. No key is held here."""

import hashlib
from datetime import UTC, date, datetime, time, timedelta
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.clock import Clock
from gateway.http.answers import Problems
from gateway.http.limits import Clients, is_foreign, own_names, share_of
from gateway.settings import GatewaySettings
from gateway.upstream.http_client import Http, JsonAnswer, RemoteError, call
from gateway.wire.loopback import is_loopback
from gateway.wire.networks import DEVNET, TESTNET

SIGN_PATH: Final = "/x402-buyer/devnet-sign"
SIGN_TIMEOUT_S: Final = 5.0
ACTIONS: Final = ("account", "sign")
"""What the page asks of the wallet, by the X-Devnet-Wallet header."""
WALLETS_A_DAY: Final = 10
"""How many wallets the visitors of one address get a day where play money is sold to everyone."""
ENOUGH_ATOMIC: Final = 100_000
"""The dearest product: a wallet that holds less is followed by the next."""


def devnet_wallet(settings: GatewaySettings) -> str | None:
    """Return where the devnet's throwaway wallet is, None when this is not a devnet of this machine.

    A devnet that lends the test network's ids is known by its one origin for facilitator and node: a facilitator of
    the real test network may run on this machine too, and has no such wallet.
    """
    facilitator = settings.facilitator_url or ""
    origin = facilitator.removesuffix("/facilitator")
    if not is_loopback(urlsplit(facilitator).hostname or ""):
        return None
    lent = settings.chain_network == TESTNET and settings.algod_url == f"{origin}/algod"
    return f"{origin}/wallet" if lent or settings.chain_network == DEVNET else None


class DevnetSigner:
    """Pass the page's questions on to the devnet, which pays play money from a wallet of its own.

    On this machine that is one wallet, whoever asks. Where play money is sold to everyone, each address has ten a day,
    one after the other. Which they are follows from address and day, so that nothing is kept here, and the count
    outlives a restart: a wallet that was spent stays spent.
    """

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        clock: Clock,
        http: Http,
        clients: Clients,
        problems: Problems,
        wallet_url: str,
    ) -> None:
        self._clock = clock
        self._http = http
        self._clients = clients
        self._problems = problems
        self._wallet_url = wallet_url
        self._names = own_names(settings.host, settings.origin)
        self._is_public = settings.play

    async def sign(self, request: Request) -> Response:
        """Answer GET: name the account, or sign a prepared payment, as X-Devnet-Wallet says."""
        action = request.headers.get("x-devnet-wallet", "")
        if is_foreign(request.headers.raw, self._names):
            return self._refused(request, "a devnet signature is given to pages of this machine only", 421)
        # Only the page's own script can set these headers; without a browser there is no such header at all.
        if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return self._refused(request, "only this gateway's own page may ask for a devnet signature")
        if action not in ACTIONS:
            return self._refused(request, f"X-Devnet-Wallet: one of {', '.join(ACTIONS)}")

        try:
            if action == "account":
                return await self._account(request)
            return await self._sign(request)
        except RemoteError:
            return self._refused(request, "the devnet does not answer; nothing was signed", 503)

    async def _account(self, request: Request) -> Response:
        """Name the first wallet of this visitor that can still pay."""
        if not self._is_public:
            return self._passed_on(request, await self._ask("account"))

        now = self._clock.now()
        for visitor in visitors(self._share(request), now.date()):
            answer = await self._ask("account", {"x-visitor": visitor})
            if answer.status != HTTPStatus.OK or _content(answer).get("usdc_atomic", 0) >= ENOUGH_ATOMIC:
                return self._passed_on(request, answer)

        why = f"an address gets {WALLETS_A_DAY} wallets of play money a day, and these are spent"
        return self._refused(request, why, 429, _seconds_until_tomorrow(now))

    async def _sign(self, request: Request) -> Response:
        headers = {"x-unsigned": request.headers.get("x-unsigned", "")}
        if self._is_public:
            today = self._clock.now().date()
            share = self._share(request)
            # One that was named before midnight signs after it.
            known = [*visitors(share, today), *visitors(share, today - timedelta(days=1))]
            headers["x-visitor"] = ",".join(known)
        return self._passed_on(request, await self._ask("sign-prepared", headers))

    def _share(self, request: Request) -> str:
        return share_of(self._clients.address(request.scope)) or "this machine"

    async def _ask(self, path: str, headers: dict[str, str] | None = None) -> JsonAnswer:
        url = f"{self._wallet_url}/{path}"
        return await call(self._http, "POST", url, timeout_s=SIGN_TIMEOUT_S, headers=headers or {})

    def _passed_on(self, request: Request, answer: JsonAnswer) -> Response:
        content = _content(answer)
        if answer.status != HTTPStatus.OK or not content:
            return self._refused(request, str(content.get("message", "the devnet's wallet did not sign this")))
        return JSONResponse(content, headers={"cache-control": "no-store"})

    def _refused(self, request: Request, text: str, status: int = 400, retry_s: int | None = None) -> Response:
        return self._problems.make(request.url.path, status, text, retry_s=retry_s)


def visitors(share: str, day: date) -> list[str]:
    """Return the names of the wallets of one address and day, which say nothing of the address to the devnet.

    >>> len(set(visitors("203.0.113.7", date(2026, 11, 26)) + visitors("203.0.113.7", date(2026, 11, 27))))
    20
    """
    names = (f"{day.isoformat()} {share} {number}" for number in range(WALLETS_A_DAY))
    return [hashlib.sha256(name.encode()).hexdigest()[:32] for name in names]


def _content(answer: JsonAnswer) -> dict[str, Any]:
    return answer.content if isinstance(answer.content, dict) else {}


def _seconds_until_tomorrow(now: datetime) -> int:
    midnight = datetime.combine(now.date() + timedelta(days=1), time(tzinfo=UTC))
    return int((midnight - now).total_seconds()) + 1
