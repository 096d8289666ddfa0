"""The checker against the preview, and against a preview that somebody broke."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.app.application import build_app
from gateway.app.server import Connection, http_server
from gateway.settings import GatewaySettings
from generator.catalog.assets import ASSETS
from generator.catalog.discovery import ONCE_PREFIXES
from generator.catalog.text.answers import DISCLAIMER
from tests.journeys.checker import CANNOT, run
from tests.journeys.checks import CHECKS
from tests.journeys.edges import RECIPES
from tests.support.local_servers import devnet_at, open_port, running
from tests.support.sample_site import ONCE, publish
from tests.support.vaults import write_sample_vault

Headers = list[tuple[bytes, bytes]]
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Broken:
    """An application whose answers are changed on their way out."""

    app: ASGIApp
    change: Callable[[Scope, int, Headers], Headers] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def changed(message: Message) -> None:
            if self.change is not None and message["type"] == "http.response.start":
                message["headers"] = self.change(scope, message["status"], list(message["headers"]))
            await send(message)

        await self.app(scope, receive, changed)


@dataclass(frozen=True)
class Stand:
    """The preview as it is, and one that can be broken."""

    origin: str
    breakable: str
    broken: Broken


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    folder = tmp_path_factory.mktemp("preview")
    publish(folder / "site")
    write_sample_vault(folder / "vault")
    with devnet_at(folder) as (devnet, _), previewed(folder, devnet) as origin:
        broken = Broken(lambda *_: _nothing())
        with previewed(folder, devnet, broken) as breakable:
            yield Stand(origin, breakable, broken)


@contextmanager
def previewed(folder: Path, devnet: str, broken: Broken | None = None) -> Iterator[str]:
    """Serve site and vault with the gateway's own server; a broken one through uvicorn's plain protocol."""
    listener = open_port()
    settings = GatewaySettings(
        state_dir=folder,
        port=listener.getsockname()[1],
        ledger_url=f"sqlite:///{folder}/{'broken' if broken else 'whole'}.sqlite3",
        facilitator_url=f"{devnet}/facilitator",
        algod_url=f"{devnet}/algod",
        indexer_url=f"{devnet}/indexer",
    )
    app = build_app(settings, preview=True)
    if broken is not None:
        broken.app = app
    server = http_server(app, 5, Connection) if broken is None else http_server(broken, 5)
    with running(server, listener) as origin:
        yield origin


async def _nothing() -> None:
    """Stand in until the application is known."""


def test_the_preview_keeps_every_check_but_those_of_its_table(stand: Stand) -> None:
    rows = run(stand.origin, "preview", once=ONCE)

    assert [f"{row.name}: {row.detail}" for row in rows if row.verdict == "no"] == []
    assert {row.name for row in rows if row.verdict == "cannot"} == set(CANNOT["preview"])
    assert len(rows) == len(CHECKS)


def without(name: bytes) -> Callable[[Scope, int, Headers], Headers]:
    return lambda _scope, _status, headers: [pair for pair in headers if pair[0] != name]


def instead(name: bytes, value: bytes, only: Callable[[Scope, int], bool] = lambda *_: True) -> Callable[..., Headers]:
    def change(scope: Scope, status: int, headers: Headers) -> Headers:
        if not only(scope, status):
            return headers
        return [(key, value if key == name else old) for key, old in headers]

    return change


def paid(scope: Scope, _status: int) -> bool:
    return "x402" in scope["path"]


FAULTS: dict[str, tuple[Callable[[Scope, int, Headers], Headers], str]] = {
    "no Vary": (without(b"vary"), "Vary names Accept-Encoding, also without a coding"),
    "a weak ETag": (instead(b"etag", b'W/"weak"'), "a strong ETag and a Last-Modified of the past"),
    "one ETag for all": (instead(b"etag", b'"the same"'), "each encoding has an ETag of its own"),
    "another max-age": (instead(b"cache-control", b"public, max-age=61"), "Cache-Control as promised, word for word"),
    "closed to others": (without(b"access-control-allow-origin"), "any origin may read it"),
    "another generation": (instead(b"x-generation", b"000000000041"), "X-Generation is the generation in the body"),
    "JSON as text": (instead(b"content-type", b"text/plain"), "GET: 200, application/json, the body of that endpoint"),
    "an HTML error": (instead(b"content-type", b"text/html"), "404 as a problem document, for HEAD without its body"),
    "no Allow": (without(b"allow"), "other methods: 405 as a problem document with Allow"),
    "not sniff-proof": (without(b"x-content-type-options"), "security headers, no cookie, no version of the server"),
    "a 304 with another policy": (
        instead(b"content-security-policy", b"default-src *", lambda _scope, status: status == 304),
        "the 304 of a page repeats the page's policy: it replaces the stored one",
    ),
    "a redirect elsewhere": (
        instead(b"location", b"//elsewhere.example/"),
        "a folder without its slash leads to the page, on the same scheme, host and port",
    ),
    "a page without its twin": (
        without(b"link"),
        "Link: a page names its Markdown twin, the twin its page, also in a 304",
    ),
    "a release kept too short": (
        instead(b"cache-control", b"no-cache"),
        "/g/<generation>/: the same files, ten minutes and immutable, X-Generation",
    ),
    "a challenge cut off": (
        instead(b"payment-required", b"eyJ4NDAyVmVyc2lvbiI6"),
        "GET: 402 with PAYMENT-REQUIRED whole, the same as in the body",
    ),
    "a stored challenge": (
        instead(b"cache-control", b"public, max-age=60", paid),
        "no-store and Vary on every answer, no ETag, no age, each header once",
    ),
    "a doubled header": (
        lambda scope, _, headers: [*headers, (b"vary", b"PAYMENT-SIGNATURE, X-PAYMENT")] if paid(scope, 0) else headers,
        "no-store and Vary on every answer, no ETag, no age, each header once",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_checker_sees_a_fault(fault: str, stand: Stand) -> None:
    change, name = FAULTS[fault]

    before = run(stand.breakable, only=[name])
    stand.broken.change = change
    after = run(stand.breakable, only=[name])
    stand.broken.change = None

    assert ([row.verdict for row in before], [row.verdict for row in after]) == (["yes"], ["no"])


def test_an_edge_that_can_what_its_table_denies_is_a_fault(stand: Stand) -> None:
    name = "X-Generation is the generation in the body"

    (row,) = run(stand.origin, "caddy", only=[name])

    assert (row.verdict, row.detail) == ("no", "the table says that it cannot, but it can")


def test_every_excuse_names_a_check() -> None:
    names = {one.name for one in CHECKS}

    assert all(set(excuses) <= names for excuses in CANNOT.values())
    assert len(names) == len(CHECKS)


def test_the_documentation_names_whatever_an_edge_cannot_keep() -> None:
    page = (REPOSITORY / "docs" / "proof" / "measured.md").read_text()

    for edge, excuses in CANNOT.items():
        listed = "".join(line for line in page.splitlines() if re.match(rf"\| {edge.partition(' ')[0]}\b", line))
        assert [name for name in excuses if name not in listed] == [], edge


@pytest.mark.parametrize("recipe", ["nginx/emi.conf", "caddy/Caddyfile"])
def test_a_recipe_speaks_the_catalogs_words(recipe: str) -> None:
    text = (RECIPES / recipe).read_text()

    assert DISCLAIMER in text
    assert re.search(r'"supported_assets":\[([^]]*)\]', text)[1] == ",".join(f'"{name}"' for name in ASSETS)  # type: ignore[index]
    assert all(f"/api/reasoning/{name}.json" in text for name in ASSETS[1:])
    assert all(prefix.strip("/") in text for prefix in ONCE_PREFIXES)
    assert re.search(r'"project":"(@PROJECT@|\{\$PROJECT\})"', text)
