"""Let the devnet's throwaway wallet sign for the page of this gateway. No key is held here."""

from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.http.answers import Problems
from gateway.http.limits import is_foreign, own_names
from gateway.settings import GatewaySettings
from gateway.upstream.http_client import Http, RemoteError, call
from gateway.wire.loopback import is_loopback
from gateway.wire.networks import DEVNET, TESTNET

SIGN_PATH: Final = "/x402-buyer/devnet-sign"
SIGN_TIMEOUT_S: Final = 5.0
# What the page asks of the wallet, by the X-Devnet-Wallet header: the devnet's path, and the header passed on.
ACTIONS: Final[dict[str, tuple[str, str]]] = {"account": ("account", ""), "sign": ("sign-prepared", "x-unsigned")}


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
    """Pass the page's questions on to the devnet's wallet, which pays play money."""

    def __init__(self, *, settings: GatewaySettings, http: Http, problems: Problems, wallet_url: str) -> None:
        self._http = http
        self._problems = problems
        self._wallet_url = wallet_url
        self._names = own_names(settings.host, settings.origin)

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

        path, name = ACTIONS[action]
        headers = {name: request.headers.get(name, "")} if name else {}
        url = f"{self._wallet_url}/{path}"
        try:
            answer = await call(self._http, "POST", url, timeout_s=SIGN_TIMEOUT_S, headers=headers)
        except RemoteError:
            return self._refused(request, "the devnet does not answer; nothing was signed", 503)

        content = answer.content if isinstance(answer.content, dict) else {}
        if answer.status != HTTPStatus.OK or not content:
            return self._refused(request, str(content.get("message", "the devnet's wallet did not sign this")))
        return JSONResponse(content, headers={"cache-control": "no-store"})

    def _refused(self, request: Request, text: str, status: int = 400) -> Response:
        return self._problems.make(request.url.path, status, text)
