"""Let the devnet's throwaway wallet sign for the page of this gateway. No key is held here."""

from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.app.limits import is_foreign, own_names
from gateway.app.state import GatewayState
from gateway.settings import GatewaySettings
from gateway.upstream.http_client import RemoteError, call
from gateway.wire.loopback import is_loopback
from gateway.wire.networks import DEVNET

SIGN_PATH: Final = "/x402-buyer/devnet-sign"
SIGN_TIMEOUT_S: Final = 5.0
# What the page asks of the wallet, by the X-Devnet-Wallet header: the devnet's path, and the header passed on.
ACTIONS: Final[dict[str, tuple[str, str]]] = {"account": ("account", ""), "sign": ("sign-prepared", "x-unsigned")}


def devnet_wallet(settings: GatewaySettings) -> str | None:
    """Return where the devnet's throwaway wallet is, None when this is not a devnet of this machine."""
    facilitator = settings.facilitator_url or ""
    if settings.chain_network != DEVNET or not is_loopback(urlsplit(facilitator).hostname or ""):
        return None
    return f"{facilitator.removesuffix('/facilitator')}/wallet"


class Signer:
    """Pass the page's questions on to the devnet's wallet, which pays play money and has limits of its own.

    Args:
        state: the gateway's parts.
        wallet_url: from `devnet_wallet`.
    """

    def __init__(self, state: GatewayState, wallet_url: str) -> None:
        self._state = state
        self._wallet_url = wallet_url
        self._names = own_names(state.settings)

    async def sign(self, request: Request) -> Response:
        """Answer GET: name the account, or sign a prepared payment, as X-Devnet-Wallet says."""
        if is_foreign(request.headers.raw, self._names):
            return self._state.problem(
                request.url.path, 421, "a devnet signature is given to pages of this machine only"
            )
        # Only the page's own script can set these headers; without a browser there is no such header at all.
        if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return self._state.problem(
                request.url.path, 400, "only this gateway's own page may ask for a devnet signature"
            )
        action = request.headers.get("x-devnet-wallet", "")
        if action not in ACTIONS:
            return self._state.problem(request.url.path, 400, f"X-Devnet-Wallet: one of {', '.join(ACTIONS)}")
        path, name = ACTIONS[action]
        headers = {name: request.headers.get(name, "")} if name else {}
        return await self._forward(request, path, headers)

    async def _forward(self, request: Request, path: str, headers: dict[str, str]) -> Response:
        url = f"{self._wallet_url}/{path}"
        try:
            answer = await call(self._state.http, "POST", url, timeout_s=SIGN_TIMEOUT_S, headers=headers)
        except RemoteError:
            return self._state.problem(request.url.path, 503, "the devnet does not answer; nothing was signed")
        content = answer.content
        if answer.status != 200 or not isinstance(content, dict):
            why = content.get("message") if isinstance(content, dict) else None
            text = why if isinstance(why, str) else "the devnet's wallet did not sign this"
            return self._state.problem(request.url.path, 400, text)
        return JSONResponse(content, headers={"cache-control": "no-store"})
