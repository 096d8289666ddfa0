"""Play money on a public name: said everywhere, refused in every other combination, ten wallets a day an address."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gateway.buyer.prepare import PREPARE_PATH
from gateway.buyer.signer import ENOUGH_ATOMIC, SIGN_PATH, WALLETS_A_DAY
from gateway.devnet.faucet import NEW_VISITORS_A_DAY, VisitorWallets
from gateway.devnet.keys import new_key
from gateway.devnet.ledger import DevnetLedger
from gateway.devnet.transactions import check_signature, parse_item
from gateway.http.limits import Clients
from generator.catalog.links import STATUS_JSON
from generator.catalog.products import PRODUCT_BY_ID, PRODUCTS
from generator.catalog.text.answers import PLAY_NOTICE
from generator.cli._settings import gateway_settings, generator_settings
from generator.compose.all import compose, compose_free
from generator.compose.free import FreeBodies
from generator.errors import GeneratorError
from generator.site.pages.render import Pages
from tests.buyer.test_page import page_of, selling, unsigned
from tests.support.clock import ManualClock
from tests.support.local_servers import devnet_at, shop
from tests.support.page_view import context, view
from tests.support.processes import get

NAME = "play.example"
REPORT = PRODUCT_BY_ID["x402-atlas-human-report"].path
PUBLIC = {"EMI_BASE_URL": f"https://{NAME}", "EMI_SOURCE": "simulated", "EMI_NETWORK": "devnet", "EMI_PLAY": "true"}
LATE = datetime(2026, 11, 26, 23, 50, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"EMI_NETWORK": "testnet"}, "EMI_PLAY is for EMI_NETWORK=devnet, not testnet"),
        ({"EMI_NETWORK": "mainnet"}, "EMI_PLAY is for EMI_NETWORK=devnet, not mainnet"),
        ({"EMI_PLAY": "false"}, f"EMI_NETWORK is devnet and https://{NAME} is public: set EMI_PLAY=true"),
        ({"EMI_PLAY": "perhaps"}, "EMI_PLAY is 'perhaps'"),
    ],
)
def test_play_money_in_another_combination_stops_both_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (PUBLIC | changes).items():
        monkeypatch.setenv(name, value)

    for load in (generator_settings, gateway_settings):
        with pytest.raises(GeneratorError) as refused:
            load()
        assert said in str(refused.value)


@pytest.mark.parametrize("name", ["EMI_FACILITATOR_URL", "EMI_ALGOD_URL", "EMI_INDEXER_URL"])
def test_a_devnet_for_play_money_that_is_not_on_loopback_stops_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for variable, value in (PUBLIC | {name: "https://node.example"}).items():
        monkeypatch.setenv(variable, value)

    with pytest.raises(GeneratorError, match=f"the devnet stays on loopback, and {name} is https://node.example"):
        gateway_settings()


def test_play_money_on_a_public_name_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in PUBLIC.items():
        monkeypatch.setenv(name, value)

    assert (generator_settings().play, gateway_settings().play) == (True, True)
    assert gateway_settings().quote_refusal("simulated") is None


def test_every_body_page_and_402_says_play_money() -> None:
    ctx = context()
    ctx = replace(ctx, site=replace(ctx.site, play=True))
    composed = compose(ctx)

    bodies = {name: body for name, body in {**composed.free, **composed.paid}.items() if name != STATUS_JSON}
    assert [name for name, body in bodies.items() if PLAY_NOTICE not in str(body.as_json())] == []
    terms = [str(challenge) for challenge in composed.challenges.values()]
    assert [text for text in terms if "play money, worth nothing" not in text] == []
    pages = Pages().render(replace(view(), ctx=ctx, bodies=FreeBodies(compose_free(ctx))))
    assert [path for path, page in pages.items() if b"play money" not in page.lower()] == []
    assert [path for path, page in pages.items() if b"emi buy" in page and path.endswith(".html")] == []


def visitor(address: str) -> dict[str, str]:
    return {"Host": NAME, "X-Forwarded-For": address}


def account(client: TestClient, address: str) -> Any:
    return client.get(SIGN_PATH, headers=visitor(address) | {"X-Devnet-Wallet": "account"})


def signature(client: TestClient, address: str, payment: str) -> Any:
    return client.get(SIGN_PATH, headers=visitor(address) | {"X-Devnet-Wallet": "sign", "X-Unsigned": payment})


def public_page(folder: Path, devnet: str, clock: ManualClock) -> TestClient:
    sold = selling(
        folder, facilitator_url=f"{devnet}/facilitator", base_url=f"https://{NAME}", network="devnet", play=True
    )
    return page_of(sold, clock=clock, clients=Clients(("127.0.0.1",)))


def spend(ledger: DevnetLedger, address: str) -> None:
    with ledger._writing():
        ledger._set_holding(address, ENOUGH_ATOMIC - 1)


def test_an_address_gets_ten_wallets_a_day_and_others_get_theirs(tmp_path: Path) -> None:
    clock = ManualClock(LATE)
    wallets = []
    with devnet_at(tmp_path) as (devnet, ledger), public_page(tmp_path, devnet, clock) as client:
        for _ in range(WALLETS_A_DAY):
            wallets.append(account(client, "203.0.113.7").json()["address"])
            spend(ledger, wallets[-1])
        refused = account(client, "203.0.113.7")
        ledger.fund(wallets[-1], 0, ENOUGH_ATOMIC)
        again = account(client, "203.0.113.7").json()["address"]
        another = account(client, "203.0.113.8").json()["address"]
        clock.step(timedelta(minutes=15))
        tomorrow = account(client, "203.0.113.7").json()["address"]

    assert (len({*wallets, another, tomorrow}), again) == (WALLETS_A_DAY + 2, wallets[-1])
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "601")
    assert "10 wallets of play money a day" in refused.json()["detail"]


def test_a_visitors_wallet_signs_for_its_address_alone_and_past_midnight(tmp_path: Path) -> None:
    clock = ManualClock(LATE)
    with devnet_at(tmp_path) as (devnet, _), public_page(tmp_path, devnet, clock) as client:
        payment = unsigned(account(client, "2001:db8::1").json()["address"])
        neighbour = signature(client, "2001:db8:0:1::1", payment)
        clock.step(timedelta(minutes=15))
        own = signature(client, "2001:db8::2", payment)  # the same /64

    assert neighbour.status_code == 400
    check_signature(parse_item(base64.b64decode(own.json()["signed"])))


def test_the_page_names_the_money_and_no_command_that_needs_the_devnet(tmp_path: Path) -> None:
    with public_page(tmp_path, "http://127.0.0.1:9", ManualClock(LATE)) as client:
        text = client.get("/x402-buyer/", headers={"Host": NAME}).text

    assert "<strong>Play money.</strong>" in text
    assert "a devnet of this service&#39;s own" in text
    assert 'value="devnet" checked' in text
    assert "emi buy" not in text


def test_the_devnet_makes_so_many_wallets_for_visitors_a_day() -> None:
    class Counted:
        made = 0

        def holding(self, _address: str) -> None:
            return None

        def fund(self, *_: object) -> None:
            self.made += 1

    ledger: Any = Counted()
    now = [0.0]
    wallets = VisitorWallets(ledger, new_key(), lambda: now[0])
    key = wallets.key_of("a")

    taken = [wallets.fund(key) for _ in range(NEW_VISITORS_A_DAY + 1)]
    now[0] = 86_400.0

    assert (taken.count(True), taken[-1], wallets.fund(key)) == (NEW_VISITORS_A_DAY, False, True)
    assert ledger.made == NEW_VISITORS_A_DAY + 1


def test_a_wallet_is_followed_by_the_next_before_it_cannot_pay_the_dearest_product() -> None:
    assert max(product.price_atomic for product in PRODUCTS) <= ENOUGH_ATOMIC


def test_a_visitor_of_a_public_site_buys_with_the_wallet_that_it_is_given(tmp_path: Path) -> None:
    asked = visitor("203.0.113.7")
    public: dict[str, Any] = {"base_url": f"https://{NAME}", "play": True, "trusted_proxies": "127.0.0.1"}
    with shop(tmp_path, **public) as running:
        page = f"{running.gateway}/x402-buyer"
        wallet = json.loads(get(f"{page}/devnet-sign", asked | {"X-Devnet-Wallet": "account"})[2])["address"]
        prepared = json.loads(get(f"{running.gateway}{PREPARE_PATH}?product=human&address={wallet}", asked)[2])
        group = prepared["payment"]["group"]
        signing = asked | {"X-Devnet-Wallet": "sign", "X-Unsigned": group[prepared["payment"]["index"]]}
        signed = json.loads(get(f"{page}/devnet-sign", signing)[2])["signed"]
        payment = {
            "x402Version": 2,
            "payload": {"paymentGroup": [group[0], signed], "paymentIndex": 1},
            "accepted": prepared["accepted"],
        }
        header = base64.b64encode(json.dumps(payment).encode()).decode()
        status, headers, body = get(running.gateway + REPORT, asked | {"PAYMENT-SIGNATURE": header})

    receipt = json.loads(base64.b64decode(headers["payment-response"]))
    assert (status, receipt["payer"], receipt["extra"]["money"]) == (200, wallet, "play money, worth nothing")
    assert json.loads(body)["payment_status"] == "settled"
