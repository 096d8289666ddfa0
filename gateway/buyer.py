"""The buyer page: terms rendered by the server, paying only when the visitor presses the button."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import aiohttp
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.networks import DEVNET
from gateway.problem import preflight, problem
from gateway.settings import GatewaySettings, is_loopback
from gateway.vault import LoadedVault, Vault, VaultProduct

PAGE: Final = "/x402-buyer/"
SIGN_PATH: Final = "/x402-buyer/devnet-sign"
PRODUCTS: Final[dict[str, str]] = {"human": "x402-atlas-human-report", "agent": "x402-atlas"}
DEFAULT: Final = "human"
SIGN_TIMEOUT_S: Final = 5.0
NETWORK_WORDS: Final[dict[str, str]] = {
    "mainnet": "Algorand",
    "testnet": "the Algorand test network, play money",
    "devnet": "a toy Algorand on this machine, play money",
}
PAGE_HEADERS: Final[dict[str, str]] = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
}


class BuyerState(Protocol):
    """What the page needs of the gateway."""

    @property
    def settings(self) -> GatewaySettings:
        """The gateway's settings."""
        ...

    @property
    def vault(self) -> Vault:
        """What is for sale."""
        ...

    @property
    def project(self) -> str:
        """The service's name."""
        ...

    @property
    def disclaimer(self) -> str:
        """The educational notice."""
        ...

    def no_quote_reason(self) -> str | None:
        """Say why no honest quote can be made right now, None when it can."""
        ...


def buyer_routes(state: BuyerState) -> list[BaseRoute]:
    """Return the routes of the page; the one that signs exists only on a devnet of this machine.

    Args:
        state: the gateway's parts; read anew with each request.
    """
    page = _Page(state)
    routes: list[BaseRoute] = [Route(PAGE, page.show, methods=["GET", "OPTIONS"]), Route(PAGE.rstrip("/"), _redirect)]
    devnet = devnet_wallet(state.settings)
    if devnet is not None:
        routes.append(Route(SIGN_PATH, _Signer(state, devnet).sign))
    return routes


def devnet_wallet(settings: GatewaySettings) -> str | None:
    """Return where the devnet's throwaway wallet signs, None when this is not a devnet of this machine."""
    facilitator = settings.facilitator_url or ""
    if settings.chain_network != DEVNET or not is_loopback(urlsplit(facilitator).hostname or ""):
        return None
    return f"{facilitator.removesuffix('/facilitator')}/wallet/sign"


async def _redirect(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{PAGE}{query}", status_code=308, headers={"cache-control": "no-store"})


class _Page:
    """Render the terms of one product."""

    def __init__(self, state: BuyerState) -> None:
        self._state = state
        loader = FileSystemLoader(_templates())
        self._templates = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)

    async def show(self, request: Request) -> Response:
        """Show the product of `?product=`, or say why nothing can be sold now."""
        if request.method == "OPTIONS":
            return preflight()
        flow = request.query_params.get("product", DEFAULT)
        flow = flow if flow in PRODUCTS else DEFAULT
        vault = self._state.vault.current()
        product = next((one for one in vault.products.values() if one.id == PRODUCTS[flow]), None) if vault else None
        reason = self._state.no_quote_reason()
        if vault is None or product is None or reason is not None:
            told = {"reason": reason or "this product is not in what was last published"}
            return self._render("unavailable.html", self._common(vault, flow) | told, 503)
        return self._render("page.html", self._common(vault, flow) | self._terms(vault, product), 200)

    def _common(self, vault: LoadedVault | None, flow: str) -> dict[str, Any]:
        settings = self._state.settings
        return {
            "project": self._state.project,
            "disclaimer": self._state.disclaimer,
            "source_mode": vault.source_mode if vault else None,
            "flow": flow,
            "page": PAGE,
            "play_money": settings.network != "mainnet",
        }

    def _terms(self, vault: LoadedVault, product: VaultProduct) -> dict[str, Any]:
        settings = self._state.settings
        return {
            "product": product,
            "shell_name": product.id.removeprefix("x402-"),
            "words": product.challenge,
            "quote": product.challenge["quote"],
            "preview": product.challenge["quote"]["preview"],
            "size": len(vault.newest.bodies[product.id].content),
            "origin": settings.origin,
            "network": settings.chain_network,
            "network_words": NETWORK_WORDS[settings.network],
            "asset": settings.chain_network.asset_id,
            "payee": settings.payee,
            "sign_path": SIGN_PATH if devnet_wallet(settings) else None,
        }

    def _render(self, name: str, values: dict[str, Any], status: int) -> Response:
        headers = PAGE_HEADERS | ({"retry-after": "30"} if status == 503 else {})
        text = self._templates.get_template(name).render(values)
        return HTMLResponse(text, status_code=status, headers=headers)


class _Signer:
    """Let the devnet's throwaway wallet sign a challenge that this gateway made. No key is held here."""

    def __init__(self, state: BuyerState, wallet_url: str) -> None:
        self._state = state
        self._wallet_url = wallet_url

    async def sign(self, request: Request) -> Response:
        """Answer GET with a signed payment for the challenge in the request's PAYMENT-REQUIRED header."""
        from gateway.devnet.errors import WalletError  # noqa: PLC0415  never loaded off the devnet
        from gateway.devnet.wallet import read_challenge  # noqa: PLC0415

        if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return self._problem(request, 400, "only this gateway's own page may ask for a devnet signature")
        header = request.headers.get("payment-required", "")
        try:
            resource = read_challenge(header).get("resource")
        except WalletError as error:
            return self._problem(request, 400, str(error))
        if not isinstance(resource, dict) or resource.get("url") != self._wanted(request):
            return self._problem(request, 400, "the challenge is not this gateway's for this product")
        return await self._forward(request, header)

    def _wanted(self, request: Request) -> str | None:
        vault = self._state.vault.current()
        wanted = PRODUCTS.get(request.query_params.get("product", DEFAULT))
        paths = [one.path for one in vault.products.values() if one.id == wanted] if vault else []
        return self._state.settings.origin + paths[0] if paths else None

    async def _forward(self, request: Request, header: str) -> Response:
        timeout = aiohttp.ClientTimeout(total=SIGN_TIMEOUT_S)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as http,
                http.post(self._wallet_url, headers={"PAYMENT-REQUIRED": header}) as answer,
            ):
                told = await answer.json()
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return self._problem(request, 503, "the devnet does not answer; nothing was signed")
        if answer.status != 200 or not isinstance(told, dict):
            return self._problem(request, 400, "the devnet's wallet did not sign this challenge")
        return JSONResponse(told, headers={"cache-control": "no-store"})

    def _problem(self, request: Request, status: int, detail: str) -> Response:
        return problem(status, detail, instance=request.url.path, project=self._state.settings.project)


def _templates() -> Path:
    """Return the page's templates: inside the wheel, or beside the package in a checkout."""
    package = Path(__file__).resolve().parent
    packed = package / "_data" / "buyer"
    return packed if packed.is_dir() else package.parent / "templates" / "buyer"
