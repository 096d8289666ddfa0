import asyncio
import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from algosdk import encoding, transaction
from starlette.applications import Starlette
from starlette.testclient import TestClient

from gateway.buyer.page import buyer_routes
from gateway.buyer.products import FLOWS, Flow
from gateway.buyer.signer import SIGN_PATH, devnet_wallet
from gateway.clock import Clock
from gateway.devnet.transactions import check_signature, parse_item
from gateway.http.answers import FALLBACK_DISCLAIMER, Problems
from gateway.http.limits import Clients
from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.upstream.http_client import Http
from gateway.vault.bucket import vault_files
from gateway.vault.folder import VaultReader
from gateway.wire.networks import DEVNET, MAINNET
from generator.catalog.links import BUYER_PAGES
from generator.catalog.money import usdc_amount
from generator.catalog.products import PRODUCT_BY_ID, PRODUCTS, Product
from generator.catalog.text.answers import DISCLAIMER
from generator.client.agent.tools import TOOLS
from generator.compose.envelope import PaidResponse
from generator.compose.main_brain import X402MainBrainPaidResponse
from generator.compose.market_regime import X402PaidResponse
from generator.compose.paid_atlas import IntelligenceLayer, X402AtlasPaidResponse
from generator.compose.paid_human_report import HumanReport
from tests.support.buyer_pages import PRICE, FakeQuotes
from tests.support.local_servers import devnet_at
from tests.support.vaults import write_sample_vault

ROOT = Path(__file__).resolve().parents[2]


class ClientOfEachCall:
    """A client for tests whose requests may each have an event loop of their own."""

    async def exchange(self, method: str, url: str, **options: Any) -> tuple[int, bytes]:
        async with Http() as http:
            return await http.exchange(method, url, **options)


@dataclass
class Selling:
    """What the page shows: a vault, unless there is a reason to quote nothing of it."""

    settings: GatewaySettings
    vault: VaultReader
    refusal: str | None


def selling(folder: Path, *, vault: bool = True, refusal: str | None = None, **settings: Any) -> Selling:
    defaults: dict[str, Any] = {"state_dir": folder, "facilitator_url": "http://127.0.0.1:9/facilitator"}
    found = GatewaySettings(**({"project": "A Project & Sons"} | defaults | settings))
    if vault:
        write_sample_vault(found.vault_dir)
    held = VaultReader(vault_files(found.vault_dir, found.vault_bucket), Clock(), found.vault_max_age_seconds)
    asyncio.run(held.refresh())
    return Selling(found, held, refusal)


def page_of(sold: Selling, **given: Any) -> TestClient:
    """Return a visitor of the page; what is given stands in for parts of the gateway."""
    parts: dict[str, Any] = {
        "settings": sold.settings,
        "clock": Clock(),
        "http": ClientOfEachCall(),
        "vault": sold.vault,
        "chain": None,
        "quotes": FakeQuotes(refusal=sold.refusal),
        "clients": Clients(()),
        "problems": Problems(sold.settings.project, sold.vault.disclaimer),
        "free_vote": None,
    }
    app = Starlette(routes=buyer_routes(**parts | given))
    return TestClient(app, base_url="http://localhost", follow_redirects=False, client=("127.0.0.1", 50_000))


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[TestClient]:
    with page_of(selling(tmp_path)) as client:
        yield client


def test_the_page_states_price_network_payee_fee_and_quote_before_it_asks(tmp_path: Path) -> None:
    shop = selling(tmp_path)
    vault = shop.vault.current()
    assert vault is not None

    text = page_of(shop).get("/x402-buyer/").text

    body = vault.newest.bodies["x402-atlas-human-report"]
    shown = usdc_amount(PRICE)
    for found in (
        "ATLAS Human Report", f"{shown} USDC", f"{PRICE:,} atomic units", f"{shown} USD Coin", "31566704", DEMO_PAYEE,
        "algorand:TA6hMJpGMyeuoRsjXWbXw3Wgjcb9IvNqXTEKFE9h2FI=", "Paid by the facilitator", body.sha256,
        vault.newest.snapshot_id, "emi buy atlas-human-report", "Simulated.", "Play money.", DISCLAIMER,
        "A Project &amp; Sons",
    ):  # fmt: skip
        assert found in text


def test_product_agent_shows_the_structured_atlas_and_no_name_the_report(shown: TestClient) -> None:
    assert PRODUCT_BY_ID["x402-atlas"].price_display in shown.get("/x402-buyer/?product=agent").text
    assert "SVC-X402-002" in shown.get("/x402-buyer/?product=agent").text
    assert PRODUCT_BY_ID["x402-atlas-human-report"].price_display in shown.get("/x402-buyer/").text


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.id)
def test_the_page_to_which_a_product_points_sells_that_product_at_its_price(
    shown: TestClient, product: Product
) -> None:
    text = shown.get(BUYER_PAGES[product.id]).text

    assert f"<h1>{product.title}</h1>" in text
    assert f">Pay {product.price_display}</button>" in text
    assert f'data-product="{product.id}"' in text
    assert f'data-path="{product.path}"' in text


# What no visitor asks for by name: ids, titles, times, and numbers that stand in another part too.
UNNAMED = {
    "atlas-human-report": {"title", "as_of", "receipt"},
    "atlas": {"schema_version", "intelligence_layer", "summary"},
    "main-brain": set(),
    "market-regime": {
        "confidence_kind",
        "market_mode",
        "market_state",
        "summary",
        "confidence",
        "risk_score",
        "source",
    },
}
MODELS: dict[str, tuple[type[Any], ...]] = {
    "atlas-human-report": (HumanReport,),
    "atlas": (X402AtlasPaidResponse, IntelligenceLayer),
    "main-brain": (X402MainBrainPaidResponse,),
    "market-regime": (X402PaidResponse,),
}


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_every_part_of_a_product_is_named_for_people_before_they_pay(shown: TestClient, flow: Flow) -> None:
    fields = {name for model in MODELS[flow.name] for name in model.model_fields} - set(PaidResponse.model_fields)

    text = shown.get(f"/x402-buyer/?product={flow.name}").text.split('id="get"')[1]

    assert {part.field for part in flow.parts} == fields - UNNAMED[flow.name]
    assert all(f"<dt>{part.title}</dt>" in text for part in flow.parts)


def test_the_path_without_slash_redirects_and_keeps_the_query(shown: TestClient) -> None:
    answer = shown.get("/x402-buyer?product=agent")

    assert (answer.status_code, answer.headers["location"]) == (308, "/x402-buyer/?product=agent")


def test_head_and_options_answer_without_a_body(shown: TestClient) -> None:
    assert (shown.head("/x402-buyer/").status_code, shown.head("/x402-buyer/").content) == (200, b"")
    assert shown.options("/x402-buyer/").status_code == 204


def test_nothing_of_a_paid_body_is_on_the_page(shown: TestClient) -> None:
    text = shown.get("/x402-buyer/").text

    for secret in ("Prices have moved", "64120.5", "Volatility fell"):
        assert secret not in text


def test_the_policy_allows_own_files_only_and_the_page_has_nothing_inline(shown: TestClient) -> None:
    answer = shown.get("/x402-buyer/")

    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", answer.text)
    assert re.findall(r"<script[^>]*>[^<]", answer.text) == []
    loaded = re.findall(r'(?:src|<link(?! rel="canonical")[^>]* href)="([^"#]*)"', answer.text)
    assert all(url.startswith("/") for url in loaded)


@pytest.mark.parametrize("older", ["agent", "human"])
def test_an_older_name_opens_the_same_product(shown: TestClient, older: str) -> None:
    name = {"agent": "atlas", "human": "atlas-human-report"}[older]

    assert shown.get(f"/x402-buyer/?product={older}").text == shown.get(f"/x402-buyer/?product={name}").text


@pytest.mark.parametrize("name", ["nothing", "", "ATLAS", "x402-atlas"])
def test_a_product_that_does_not_exist_is_404_and_never_the_dearest(shown: TestClient, name: str) -> None:
    answer = shown.get("/x402-buyer/", params={"product": name})

    assert answer.status_code == 404
    assert 'id="pay"' not in answer.text
    assert [flow.name for flow in FLOWS] == ["atlas-human-report", "atlas", "main-brain", "market-regime"]
    assert all(f'href="{path}"' in answer.text for path in BUYER_PAGES.values())


def test_a_product_has_one_name_in_shell_page_samples_and_tools() -> None:
    names = {product.id: product.buy_name for product in PRODUCT_BY_ID.values()}

    assert {flow.product: flow.name for flow in FLOWS} == names
    assert {product.sample for product in PRODUCT_BY_ID.values()} == {
        f"/samples/{name}.json" for name in names.values()
    }
    buys = next(row for row in TOOLS if row.name == "buy")
    assert buys.properties["product"]["enum"] == list(names.values())


@pytest.mark.parametrize("query", ["", "?product=market-regime"])
def test_the_page_names_its_own_address_and_a_picture_where_it_is_shared(shown: TestClient, query: str) -> None:
    text = shown.get(f"/x402-buyer/{query}").text

    address = f"http://127.0.0.1:8402/x402-buyer/{query}"
    assert f'<link rel="canonical" href="{address}">' in text
    assert f'<meta property="og:url" content="{address}">' in text
    assert '<meta property="og:image" content="http://127.0.0.1:8402/share/general.png">' in text
    assert re.findall(r"<(?:button|input)(?![^>]* type=)", text) == []


def test_every_asset_that_the_page_names_is_in_the_repository(shown: TestClient) -> None:
    named = set(re.findall(r'"/assets/([a-z.-]+)"', shown.get("/x402-buyer/").text))

    scripts = [path.read_text() for path in (ROOT / "site" / "assets").glob("buyer*.js")]
    imported = {name for script in scripts for name in re.findall(r'from "\./([a-z-]+\.js)"', script)}
    assert named == {"site.css", "buyer.css", "buyer.js", "charts.js"} | imported
    assert all((ROOT / "site" / "assets" / name).is_file() for name in named)


@pytest.mark.parametrize("refusal", [None, "the data is too old to sell"])
def test_without_an_honest_quote_the_page_is_503_and_says_why(tmp_path: Path, refusal: str | None) -> None:
    shop = selling(tmp_path, vault=refusal is not None, refusal=refusal)

    answer = page_of(shop).get("/x402-buyer/")

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "30"
    assert answer.headers["cache-control"] == "no-store"
    assert (refusal or "not in what was last published") in answer.text
    assert (shop.vault.disclaimer() or FALLBACK_DISCLAIMER) in answer.text


def test_data_past_its_time_is_marked_stale_with_its_age(tmp_path: Path) -> None:
    shop = selling(tmp_path)
    fresh = page_of(shop).get("/x402-buyer/").text
    write_sample_vault(shop.settings.vault_dir, now=datetime.now(UTC) - timedelta(minutes=7, seconds=5))
    asyncio.run(shop.vault.refresh())

    assert "Stale." not in fresh
    assert "The latest data are 7 minutes old" in page_of(shop).get("/x402-buyer/").text


def test_off_the_devnet_there_is_no_signing_route_and_no_devnet_wallet(tmp_path: Path) -> None:
    for network in ("testnet", "mainnet"):
        shop = selling(tmp_path, network=network)
        client = page_of(shop)

        assert client.get(SIGN_PATH).status_code == 404
        assert 'value="devnet"' not in client.get("/x402-buyer/").text
        assert 'value="lute" checked' in client.get("/x402-buyer/").text
        assert "emi buy" not in client.get("/x402-buyer/").text
    assert devnet_wallet(GatewaySettings(network="devnet", facilitator_url="https://pay.example/facilitator")) is None


@pytest.mark.parametrize(
    ("algod", "offered"), [("http://127.0.0.1:9/algod", True), ("http://127.0.0.1:10/algod", False), (None, False)]
)
def test_a_devnet_under_the_test_networks_name_has_its_wallet_on_the_page(
    tmp_path: Path, algod: str | None, offered: bool
) -> None:
    client = page_of(selling(tmp_path, network="testnet", algod_url=algod))

    text = client.get("/x402-buyer/").text

    assert ('value="devnet" checked' in text) == offered
    assert ("devnet on this machine, under the test network&#39;s name" in text) == offered
    assert (client.get(SIGN_PATH).status_code == 400) == offered


def test_a_devnet_that_is_down_is_503_and_nothing_is_signed(tmp_path: Path) -> None:
    with page_of(selling(tmp_path, facilitator_url="http://127.0.0.1:9/facilitator")) as client:
        answer = client.get(SIGN_PATH, headers={"X-Devnet-Wallet": "account"})

    assert answer.status_code == 503
    assert "nothing was signed" in answer.json()["detail"]


def unsigned(sender: str, gh: str = DEVNET.genesis_hash) -> str:
    terms = transaction.SuggestedParams(0, 10, 110, gh, DEVNET.genesis_id, flat_fee=True)
    item = transaction.AssetTransferTxn(sender, terms, receiver=DEMO_PAYEE, amt=PRICE, index=DEVNET.asset_id)
    encoded: str = encoding.msgpack_encode(item)
    return encoded


def test_the_devnet_wallet_names_its_account_and_signs_what_was_prepared_for_it(tmp_path: Path) -> None:
    with devnet_at(tmp_path) as (devnet, ledger):
        with page_of(selling(tmp_path, facilitator_url=f"{devnet}/facilitator")) as client:
            account = client.get(SIGN_PATH, headers={"X-Devnet-Wallet": "account"}).json()["address"]
            asked = unsigned(account)
            answer = client.get(SIGN_PATH, headers={"X-Devnet-Wallet": "sign", "X-Unsigned": asked})
            others = [{"X-Devnet-Wallet": "steal"}, {}, {"X-Devnet-Wallet": "account", "Sec-Fetch-Site": "cross-site"}]
            refused = [client.get(SIGN_PATH, headers=headers).status_code for headers in others]
        holding = ledger.holding(account)

    item = parse_item(base64.b64decode(answer.json()["signed"]))
    check_signature(item)
    assert base64.b64decode(answer.json()["signed"]).endswith(base64.b64decode(asked))
    assert holding == 5_000_000
    assert refused == [400, 400, 400]


@pytest.fixture(scope="module")
def signing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, str]]:
    """A page before a devnet, and the account of its wallet."""
    folder = tmp_path_factory.mktemp("signing")
    with (
        devnet_at(folder) as (devnet, _ledger),
        page_of(selling(folder, facilitator_url=f"{devnet}/facilitator")) as client,
    ):
        yield client, client.get(SIGN_PATH, headers={"X-Devnet-Wallet": "account"}).json()["address"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sender": DEMO_PAYEE}, "only its own transactions on the devnet"),
        ({"gh": MAINNET.genesis_hash}, "only its own transactions on the devnet"),
        ({"raw": "not base64"}, "not a transaction"),
        ({"raw": base64.b64encode(b"junk").decode()}, "not a transaction"),
        ({"raw": ""}, "not a transaction"),
    ],
)
def test_the_devnet_wallet_signs_nothing_but_its_own_transactions_on_the_devnet(
    signing: tuple[TestClient, str], changes: dict[str, Any], words: str
) -> None:
    client, account = signing
    found = {"sender": account} | changes
    asked = found["raw"] if "raw" in found else unsigned(found.pop("sender"), **found)

    answer = client.get(SIGN_PATH, headers={"X-Devnet-Wallet": "sign", "X-Unsigned": str(asked)})

    assert answer.status_code == 400
    assert words in answer.json()["detail"]


def test_every_end_that_the_page_can_come_to_is_in_the_documentation() -> None:
    scripts = "".join(
        (ROOT / "site" / "assets" / name).read_text() for name in ("buyer.js", "buyer-wallets.js", "buyer-words.js")
    )
    said = re.findall(r"""(?:Fault|say|reopen)\((?:one, |owned, )?"([a-z-]+)",""", scripts)
    said += re.findall(r"""\["([a-z-]+)", "[A-Z]""", scripts) + re.findall(r"""/i, "([a-z-]+)", "[A-Z]""", scripts)
    described = set(re.findall(r"`([a-z-]+)`", (ROOT / "docs" / "howto" / "clients.md").read_text()))
    steps = {"connect", "check", "choose", "approve", "settle"} | {"cannot-post"}  # the last is the Arena page's alone

    assert len(set(said) - steps) > 15
    assert set(said) - steps <= described
