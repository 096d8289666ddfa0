"""The tool that buys: one id, one payment; caps that hold; and what an agent reads of them."""

import asyncio
import base64
import hashlib
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.devnet.keys import Key, new_key
from gateway.devnet.wallet import pay
from gateway.wire.networks import DEVNET as NETWORK
from generator.cli.agent.answers import ToolError
from generator.cli.agent.buying import atomic_of, pages_of
from generator.cli.agent.spending import Caps, Spending
from generator.errors import GeneratorError
from tests.agent.harness import connected, shopping
from tests.agent.plays import BUY, crowd, is_paid_once, run_tool
from tests.sellers.kinds import CONTROLS, KINDS
from tests.sellers.play import Row, WebOfTheTest, play, spent_by, stage
from tests.sellers.seller import PRICE, Seller
from tests.support.devnet_app import DevnetApp
from tests.support.gateway_app import in_loop

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ID = {"purchase_id": "purchase-1"}


@pytest.fixture(scope="module")
def devnet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevnetApp]:
    with stage(tmp_path_factory.mktemp("devnet")) as running:
        yield running


@pytest.fixture
def web(devnet: DevnetApp) -> WebOfTheTest:
    dice = random.Random(1)
    return WebOfTheTest(Seller(devnet.client, devnet.fee_payer, dice), devnet, dice)


def bought(web: WebOfTheTest, folder: Path, key: Key | None, **changes: Any) -> Any:
    return asyncio.run(shopping(web, folder, key).call("buy", BUY | ID | changes, {}))


@in_loop
async def test_an_agents_client_buys_reads_pages_and_gets_the_same_again(web: WebOfTheTest, tmp_path: Path) -> None:
    key = new_key()
    async with connected(shopping(web, tmp_path, key)) as client:
        made = (await client.call_tool("buy", BUY | ID)).structured_content
        again = (await client.call_tool("buy", BUY | ID)).structured_content
        page = (await client.read_resource(made["resource"])).contents[0].text  # type: ignore[union-attr]
        listed = [one.uri for one in (await client.list_resources()).resources]

    assert (made["paid_now"], again) == (True, made | {"paid_now": False})
    assert (made["amount_usdc"], made["headline"], made["pages"]) == ("0.01", "calm", 1)
    assert hashlib.sha256(page.encode()).hexdigest() == made["sha256"]
    assert json.loads(page)["headline"] == made["headline"]
    assert listed == [made["resource"]]
    assert spent_by(key, web.devnet, "") == PRICE


def test_a_new_id_is_a_second_purchase_and_the_cap_of_life_ends_it(web: WebOfTheTest, tmp_path: Path) -> None:
    key = new_key()
    tools = shopping(web, tmp_path, key, life=2 * PRICE)

    ends = [asyncio.run(tools.call("buy", BUY | {"purchase_id": f"id-{number}-x"}, {})) for number in range(3)]

    assert [end.is_error for end in ends] == [False, False, True]
    assert ends[2].content[0].text.startswith("cap_exceeded: 0.01 USDC is more than is left")  # type: ignore[union-attr]
    left = {"call": "0.01", "day": "0", "life": "0"}
    assert {name: float(value) for name, value in ends[2].structured_content["left_usdc"].items()} == {
        name: float(value) for name, value in left.items()
    }
    assert spent_by(key, web.devnet, "") == 2 * PRICE


@pytest.mark.parametrize(
    "changes",
    [
        {"cap": "0.009"},
        {"cap": "-1"},
        {"cap": "1e3"},
        {"purchase_id": "../../x"},
        {"purchase_id": "x"},
        {"product": "no"},
    ],
)
def test_a_price_above_cap_or_a_wrong_argument_signs_nothing(
    changes: dict[str, str], web: WebOfTheTest, tmp_path: Path
) -> None:
    assert bought(web, tmp_path, new_key(), **changes).is_error
    assert web.seller.handed == []


def test_an_id_of_another_product_is_refused(web: WebOfTheTest, tmp_path: Path) -> None:
    key = new_key()
    bought(web, tmp_path, key)

    other = bought(web, tmp_path, key, product="main-brain")

    assert "take another id for another product" in other.content[0].text


def test_without_a_wallet_the_demand_comes_back_and_the_payment_is_taken_from_meta(
    web: WebOfTheTest, tmp_path: Path
) -> None:
    key = new_key()
    web.devnet.fund(key.address)
    tools = shopping(web, tmp_path, None)

    demand = asyncio.run(tools.call("buy", BUY | ID, {}))
    header = base64.b64encode(json.dumps(demand.structured_content).encode()).decode()
    payment = pay(header, key, NETWORK, 20_000_000, PRICE).header
    meta = {"x402/payment": json.loads(base64.b64decode(payment))}
    made = asyncio.run(tools.call("buy", BUY | ID, meta))
    refused = asyncio.run(tools.call("buy", BUY | ID, {"x402/payment": "no"}))

    assert demand.is_error
    assert demand.structured_content["x402Version"] == 2
    assert json.loads(demand.content[0].text) == demand.structured_content  # type: ignore[union-attr]
    assert made.structured_content["transaction"] == made.meta["x402/payment-response"]["transaction"]  # type: ignore[index]
    assert refused.is_error
    assert spent_by(key, web.devnet, "") == PRICE


@pytest.mark.parametrize("kind", [*CONTROLS, *KINDS], ids=lambda kind: kind.name)
def test_no_seller_gets_more_through_the_tool_than_one_payment(kind: Any, devnet: DevnetApp, tmp_path: Path) -> None:
    row = Row(kind, [play(kind, 1, devnet, tmp_path / "buyer", run_tool)])

    assert row.wrong == []


def test_a_hundred_purchases_at_once_with_deaths_pay_each_once_within_the_cap(
    devnet: DevnetApp, tmp_path: Path
) -> None:
    found = crowd(1, devnet, tmp_path)

    assert is_paid_once(found), found
    assert found.ends == {"settled": 30, "cap_exceeded": 70}
    assert found.lives > 1


def test_a_days_cap_counts_the_utc_day_and_only_proof_of_refusal_gives_back(tmp_path: Path) -> None:
    spending = Spending(tmp_path, Caps(call=10, day=10, life=100))
    spending.reserve("one", 10, NOON)
    with pytest.raises(ToolError, match="0 today"):
        spending.reserve("two", 1, NOON)

    spending.reserve("one", 10, NOON)  # the same purchase counts once
    spending.reserve("two", 10, NOON + timedelta(days=1))
    spending.release("two")
    spending.reserve("three", 10, NOON + timedelta(days=1))

    assert Spending(tmp_path, Caps(1, 1, 1)).spent() == 20


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": {"amount_atomic": "1", "day": "x"}}'])
def test_a_damaged_state_stops_every_purchase(text: str, web: WebOfTheTest, tmp_path: Path) -> None:
    (tmp_path / "spending.json").write_text(text)

    with pytest.raises(GeneratorError, match="cannot be read, so nothing is bought"):
        Spending(tmp_path, Caps(10, 10, 10)).reserve("one", 1, NOON)
    assert bought(web, tmp_path, new_key()).is_error
    assert web.seller.handed == []


def test_amounts_and_pages_are_exact() -> None:
    assert [atomic_of(text) for text in ("0.10", "0", "1", "0.000001")] == [100_000, 0, 1_000_000, 1]
    for text in ("NaN", "inf", "0.0000001", "1,0", "", "1e30"):
        with pytest.raises(ToolError):
            atomic_of(text)
    text = "aé€😀" * 2_000
    assert "".join(pages_of(text)) == text
    assert max(len(page.encode()) for page in pages_of(text)) <= 4_000
