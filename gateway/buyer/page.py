"""The buyer page: terms rendered by the server, paying only when the visitor presses the button."""

from __future__ import annotations

import functools
import gzip
import stat
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.buyer.ballots import BALLOT_PATH, BallotDesk
from gateway.buyer.free_vote import FreeVote
from gateway.buyer.prepare import PREPARE_PATH, Prepare
from gateway.buyer.products import DEFAULT, FLOW_BY_NAME, FLOWS, Flow
from gateway.buyer.signer import SIGN_PATH, DevnetSigner, devnet_wallet
from gateway.clock import Clock
from gateway.http.answers import Problems, preflight
from gateway.http.limits import Clients
from gateway.payments.quotes import Absence, Quotes
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain
from gateway.upstream.http_client import Http
from gateway.vault.folder import LoadedVault, VaultProduct, VaultReader

PAGE: Final = "/x402-buyer/"
PAGE_RETRY_S: Final = 30
PLAY_WORDS: Final = "a devnet of this service's own"
LENT_WORDS: Final = "devnet on this machine, under the test network's name"
NETWORK_WORDS: Final[dict[str, str]] = {
    "mainnet": "Algorand",
    "testnet": "Algorand test network",
    "devnet": "Algorand devnet on this machine",
}
PAGE_HEADERS: Final[dict[str, str]] = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    # Lute signs in a window of its own, which must be able to answer the page that opened it.
    "cross-origin-opener-policy": "same-origin-allow-popups",
}
SHARE_PICTURE: Final = "/share/general.png"  # of the published site
FOLDER: Final = "buyer-wallets"
SCRIPT: Final = "wallets.js.gz"
BUNDLE_PATH: Final = "/x402-buyer/wallets.js"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Both wallets draw a dialog with its own styles and pictures, and speak over their bridges.
POLICY_WITH_BUNDLE: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src data:; connect-src 'self' data: https://wc.perawallet.app wss://*.perawallet.app "
    "https://static.defly.app wss://*.defly.app https://bridge.walletconnect.org wss://*.bridge.walletconnect.org; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def buyer_routes(
    *,
    settings: GatewaySettings,
    clock: Clock,
    http: Http,
    vault: VaultReader,
    chain: Chain,
    quotes: Quotes,
    clients: Clients,
    problems: Problems,
    free_vote: FreeVote,
) -> list[BaseRoute]:
    """Return the routes of the page; the one that signs exists only on a devnet of this machine."""
    bundle = WalletBundle(settings.state_dir)
    page = _Page(settings=settings, clock=clock, vault=vault, quotes=quotes, problems=problems, bundle=bundle)
    prepare = Prepare(settings=settings, clock=clock, chain=chain, quotes=quotes, clients=clients, problems=problems)
    desk = BallotDesk(
        settings=settings, clock=clock, chain=chain, clients=clients, problems=problems, free_vote=free_vote
    )
    routes: list[BaseRoute] = [
        Route(PAGE, page.show, methods=["GET", "OPTIONS"]),
        Route(PAGE.rstrip("/"), _redirect),
        Route(PREPARE_PATH, prepare.show, methods=["GET", "OPTIONS"]),
        Route(BALLOT_PATH, desk.show, methods=["GET", "OPTIONS"]),
        Route(BUNDLE_PATH, bundle.show),
    ]

    wallet_url = devnet_wallet(settings)
    if wallet_url is not None:
        signer = DevnetSigner(
            settings=settings, clock=clock, http=http, clients=clients, problems=problems, wallet_url=wallet_url
        )
        routes.append(Route(SIGN_PATH, signer.sign))
    return routes


async def _redirect(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{PAGE}{query}", status_code=308, headers={"cache-control": "no-store"})


class _Page:
    """Render the terms of one product."""

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        clock: Clock,
        vault: VaultReader,
        quotes: Quotes,
        problems: Problems,
        bundle: WalletBundle,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._vault = vault
        self._quotes = quotes
        self._problems = problems
        self._bundle = bundle
        self._templates = load_templates()

    async def show(self, request: Request) -> Response:
        """Show the product of `?product=`, or say why it cannot be sold now; 404 where there is none of that name."""
        if request.method == "OPTIONS":
            return preflight()

        vault = self._vault.current()
        flow = FLOW_BY_NAME.get(request.query_params.get("product", DEFAULT))
        if flow is None:
            return self._render(request, "unknown.html", self._common(vault, FLOW_BY_NAME[DEFAULT]), 404)
        on_sale = vault.products.values() if vault else ()
        product = next((product for product in on_sale if product.id == flow.product), None)
        absence = self._quotes.absence(product.path if product else "")
        if vault is None or product is None or absence is not None:
            absence = absence or Absence("this product is not in what was last published", PAGE_RETRY_S)
            values = self._common(vault, flow) | {"reason": absence.reason, "lasts": absence.lasts}
            return self._render(request, "unavailable.html", values, 503, max(PAGE_RETRY_S, absence.retry_s))

        return self._render(request, "page.html", self._common(vault, flow) | self._terms(vault, product), 200)

    def _common(self, vault: LoadedVault | None, flow: Flow) -> dict[str, Any]:
        settings = self._settings
        return {
            "project": settings.project,
            "disclaimer": self._problems.disclaimer,
            "source_mode": vault.source_mode if vault else None,
            "stale_minutes": self._stale_minutes(vault),
            "flow": flow,
            "here": PAGE,
            "canonical": settings.origin + _address(flow),
            "share_picture": settings.origin + SHARE_PICTURE,
            "menu": vault.menu if vault and vault.menu else (("Home", "/"),),
            "links": [(_address(flow), flow) for flow in FLOWS],
            "version": f"?v={vault.assets_version}" if vault and vault.assets_version else "",
            "play_money": settings.network != "mainnet",
        }

    def _stale_minutes(self, vault: LoadedVault | None) -> int | None:
        """Return how old the data is once its time is over, None before; it may be sold for a while longer."""
        now = self._clock.now()
        if vault is None or now <= vault.valid_until:
            return None
        return int(vault.age_s(now) // 60)

    def _terms(self, vault: LoadedVault, product: VaultProduct) -> dict[str, Any]:
        settings = self._settings
        bundle = self._bundle.version()
        wallet = devnet_wallet(settings)
        words = NETWORK_WORDS[settings.network]
        if wallet is not None and settings.network == "testnet":
            words = LENT_WORDS
        elif settings.play:
            words = PLAY_WORDS
        return {
            "product": product,
            "shell_name": product.id.removeprefix("x402-"),
            "words": product.challenge,
            "quote": product.challenge["quote"],
            "preview": product.challenge["quote"]["preview"],
            "size": len(vault.newest.bodies[product.id].content),
            "origin": settings.origin,
            "network": settings.chain_network,
            "network_words": words,
            "is_public": settings.play,
            "asset": settings.chain_network.asset_id,
            "payee": settings.payee,
            "sign_path": SIGN_PATH if wallet else None,
            "prepare_path": PREPARE_PATH,
            "bundle": f"{BUNDLE_PATH}?v={bundle}" if bundle else None,
            "sample_path": f"/samples/{product.id.removeprefix('x402-')}.json",
        }

    def _render(
        self, request: Request, name: str, values: dict[str, Any], status: int, retry_s: int | None = None
    ) -> Response:
        policy = POLICY_WITH_BUNDLE if self._bundle.version() else POLICY
        headers = PAGE_HEADERS | {"content-security-policy": policy, "vary": "Accept-Encoding"}
        if retry_s is not None:
            headers["retry-after"] = str(retry_s)

        content = self._templates.get_template(name).render(values).encode()
        if "gzip" in request.headers.get("accept-encoding", ""):
            content = gzip.compress(content, 6)
            headers["content-encoding"] = "gzip"
        return HTMLResponse(content, status_code=status, headers=headers)


def _address(flow: Flow) -> str:
    """Return the page's path for one product; the default one's is the page itself."""
    return PAGE if flow.name == DEFAULT else f"{PAGE}?product={flow.name}"


class WalletBundle:
    """Look for the optional script with Pera and Defly, and serve it.

    `emi gateway --build-wallets` puts it, packed, into STATE_DIR/buyer-wallets. Without it the page offers the wallets
    that need no code of others. With it, and only on this page, the policy lets these two reach their own servers.
    """

    def __init__(self, state_dir: Path) -> None:
        self._script = state_dir / FOLDER / SCRIPT

    def version(self) -> str | None:
        """Return a word that changes with the bundle, None when there is none."""
        try:
            status = self._script.stat()
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode) or not status.st_size:
            return None
        return f"{status.st_mtime_ns:x}"

    async def show(self, _request: Request) -> Response:
        """Serve the script; 404 without one."""
        if self.version() is None:
            return Response(status_code=404, headers={"cache-control": "no-store"})
        headers = {
            # The page names the version, so that a new bundle never meets an old copy.
            "cache-control": "public, max-age=86400",
            "content-encoding": "gzip",
            "x-content-type-options": "nosniff",
        }
        return FileResponse(self._script, media_type="text/javascript", headers=headers)


@functools.cache
def load_templates() -> Environment:
    """Compile every template, once in a process: a page of another version than this program would miss its values."""
    loader = FileSystemLoader(_templates())
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, auto_reload=False
    )
    # All of them now: files that an upgrade replaces below a running process never meet its older code.
    for name in environment.list_templates(extensions=("html",)):
        environment.get_template(name)
    return environment


def _templates() -> Path:
    """Return the page's templates: inside the wheel, or next to the package in a checkout."""
    package = Path(__file__).resolve().parent.parent
    packed = package / "_data" / "buyer"
    return packed if packed.is_dir() else package.parent / "templates" / "buyer"
