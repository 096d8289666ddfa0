"""A quote holds until the time that it names, however often the generator publishes meanwhile, and if it stops."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import gateway
from gateway.errors import VaultUnreadable
from gateway.vault.folder import MAX_VAULT_BYTES, QUOTE_GRACE
from gateway.wire.refusals import NOT_FOR_SALE
from generator.catalog.products import QUOTE_GRACE_S, VAULT_MOST_BYTES, VAULT_MOST_SNAPSHOTS
from generator.release.vault import Offer, VaultFolder
from tests.release.test_vault_store import Unsynced
from tests.support.gateway_app import BRAIN, REGIME, gateway_app, in_loop
from tests.support.vaults import PRICES, START, body_of, stamp, write_manifest, write_vault
from tests.vault.test_vault import load

FIRST = "000000000001"
VALID_UNTIL = START + timedelta(minutes=16)


def offer(number: int, second: int) -> Offer:
    """Return what a generator offers so many seconds after START, which is a whole minute."""
    at, generation = stamp(START + timedelta(seconds=second)), f"{number:012d}"
    valid_until = stamp(START + timedelta(seconds=second - second % 60 + 60 + 900))
    words = ("project", "ecosystem", "endpoint", "type", "message", "what_this_is", "what_this_is_not", "disclaimer")
    challenge = {word: word for word in words} | {"related_pages": {}, "quote": {"valid_until": valid_until}}
    return Offer(
        generation=generation,
        head={
            "tick_id": generation,
            "generated_at": at,
            "valid_until": at,
            "source_mode": "simulated",
            "project": "P",
            "disclaimer": "d",
        },
        as_of=at,
        bodies={product: body_of(product, generation) for product in PRICES},
        challenges=dict.fromkeys(PRICES, challenge),
        bazaar={product: {} for product in PRICES},
    )


@in_loop
async def test_a_hundred_publishes_in_a_minute_take_nothing_from_the_first_quote(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=None, vault_max_age_seconds=86_400) as home:
        vault = VaultFolder(tmp_path / "vault", Unsynced())
        vault.open()
        vault.publish(offer(1, 0))
        home.clock.step(5)
        await home.refresh()
        assert (await home.get()).json()["accepts"][0]["extra"]["snapshotId"] == FIRST
        for number in range(2, 102):
            vault.publish(offer(number, 1 + number // 2))
        home.clock.step((VALID_UNTIL - home.clock.now()).total_seconds())
        await home.refresh()

        bought = await home.send(home.buyer.pay(snapshot=FIRST))
        home.clock.step(1)
        late = await home.send(home.buyer.pay(snapshot=FIRST))

    assert (bought.status_code, bought.content) == (200, body_of("x402-market-regime", FIRST))
    assert (late.status_code, late.json()["error"].partition(":")[0]) == (402, "quote_expired")
    assert len(home.upstream.transfers) == 1


@in_loop
async def test_what_is_withheld_is_not_quoted_and_what_was_quoted_before_is_delivered(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=None) as home:
        vault = VaultFolder(tmp_path / "vault", Unsynced())
        vault.open()
        vault.publish(offer(1, 0))
        vault.publish(replace(offer(2, 60), unavailable={"x402-market-regime": "it has no verdict"}))
        home.clock.step(90)
        await home.refresh()

        refused, other = await home.get(), await home.get(BRAIN)
        paid, unquoted = [await home.send(home.buyer.pay(snapshot=name)) for name in (FIRST, "000000000002")]

    assert (refused.status_code, refused.json()["detail"]) == (503, "It has no verdict.")
    assert (other.status_code, paid.status_code, paid.content) == (402, 200, body_of("x402-market-regime", FIRST))
    assert (unquoted.status_code, len(home.upstream.transfers)) == (503, 1)


@pytest.mark.parametrize(("at", "wait_s"), [(START + timedelta(days=26), 26 * 86_400), (START, 60), (None, 86_400)])
@in_loop
async def test_what_lacks_its_data_says_how_long_at_every_door(
    at: datetime | None, wait_s: int, tmp_path: Path
) -> None:
    unavailable = dict.fromkeys(PRICES, "needs 30 days, it has 4.0")
    available_at = {} if at is None else dict.fromkeys(PRICES, stamp(at))
    async with gateway_app(tmp_path, vault=None) as home:
        vault = VaultFolder(tmp_path / "vault", Unsynced())
        vault.open()
        vault.publish(replace(offer(1, 0), unavailable=unavailable, available_at=available_at))
        await home.refresh()

        refused, ready, page = [await home.get(path) for path in (REGIME, "/readyz", "/x402-buyer/")]
        unquoted = await home.send(home.buyer.pay(snapshot=FIRST))
        home.state.readiness.measure()

    answers = (refused, ready, page, unquoted)
    assert [answer.status_code for answer in answers] == [503] * 4
    assert [answer.headers["retry-after"] for answer in answers] == [str(wait_s)] * 4
    assert (refused.json()["reason"], refused.json()["title"]) == (NOT_FOR_SALE, "Not available now")
    assert ready.json()["reasons"] == ["needs 30 days, it has 4.0"]
    assert "Not for sale yet" in page.text
    assert "temporarily" not in (refused.text + page.text).lower()
    assert home.state.metrics.registry.get_sample_value("emi_quoting") == 0
    assert not home.upstream.transfers


@in_loop
async def test_a_quote_is_good_for_15_minutes_after_a_newer_one_when_that_came_late(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=None, vault_max_age_seconds=86_400) as home:
        vault = VaultFolder(tmp_path / "vault", Unsynced())
        vault.open()
        vault.publish(offer(1, 0))
        vault.publish(offer(2, 600))
        home.clock.step(1_500)
        await home.refresh()

        answers = [await home.send(home.buyer.pay(snapshot=FIRST))]
        home.clock.step(1)
        answers.append(await home.send(home.buyer.pay(snapshot=FIRST)))

    assert [answer.status_code for answer in answers] == [200, 402]


@pytest.mark.parametrize(("snapshot", "late_s", "status"), [(FIRST, 0, 200), (FIRST, 1, 503), (None, 0, 503)])
@in_loop
async def test_what_was_quoted_is_sold_until_its_time_also_when_the_generator_died(
    snapshot: str | None, late_s: int, status: int, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path, vault=None, vault_max_age_seconds=60) as home:
        vault = VaultFolder(tmp_path / "vault", Unsynced())
        vault.open()
        vault.publish(offer(1, 0))
        await home.refresh()
        home.clock.step(16 * 60 + late_s)
        await home.refresh()

        no_quote = await home.get()
        answer = await home.send(home.buyer.pay(snapshot=snapshot))

    assert (no_quote.status_code, answer.status_code) == (503, status)
    assert sum(home.upstream.transfers.values()) == (1 if status == 200 else 0)


@in_loop
async def test_bodies_that_can_be_paid_for_no_more_leave_the_memory(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=None, vault_max_age_seconds=86_400) as home:
        vault = VaultFolder(tmp_path / "vault", Unsynced())
        vault.open()
        for number in range(1, 61):
            vault.publish(offer(number, number))
        await home.refresh()
        held = [len(home.state.vault._bodies)]
        vault.publish(offer(61, 1_400))
        await home.refresh()
        held.append(len(home.state.vault._bodies))

    assert held == [60 * len(PRICES), 20 * len(PRICES)]


def test_a_vault_that_wants_too_much_memory_is_not_read(tmp_path: Path) -> None:
    manifest = write_vault(tmp_path)
    manifest["snapshots"][0]["bodies"]["x402-atlas"]["bytes"] = MAX_VAULT_BYTES
    write_manifest(tmp_path, manifest)

    with pytest.raises(VaultUnreadable, match="larger than 67108864 bytes together"):
        load(tmp_path)


def test_a_generator_never_offers_more_than_a_gateway_takes() -> None:
    schema = json.loads((Path(gateway.__path__[0]) / "vault" / "manifest.schema.json").read_text())

    assert schema["properties"]["snapshots"]["maxItems"] >= VAULT_MOST_SNAPSHOTS
    assert MAX_VAULT_BYTES >= VAULT_MOST_BYTES
    assert QUOTE_GRACE.total_seconds() == QUOTE_GRACE_S
