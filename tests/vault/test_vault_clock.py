"""Neither clock alone decides how old a vault is: no step of the wall clock makes old data sell."""

from datetime import timedelta
from pathlib import Path

import pytest

from gateway.vault.bucket import Folder
from gateway.vault.folder import VaultReader
from tests.support.clock import ManualClock
from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop
from tests.support.vaults import GENERATION, START, stamp, write_manifest, write_vault

HOUR_S = 3_600
FUTURE = "The data is from the future: check the clocks."
TOO_OLD = "The data is too old to sell."
REPLACED = "000000000006"


def from_the_future(folder: Path) -> None:
    write_vault(folder, at=START + timedelta(hours=6))


def with_a_promise(folder: Path) -> None:
    """Write a vault whose quotes are good for 16 minutes."""
    manifest = write_vault(folder)
    manifest["snapshots"][0]["valid_until"] = stamp(START + timedelta(minutes=16))
    write_manifest(folder, manifest)


async def refusals(home: GatewayHarness) -> set[str]:
    """Return what a payer hears who asks for a price, and who pays without one."""
    answers = [await home.get(), await home.send(home.buyer.pay(snapshot=None))]
    assert [answer.status_code for answer in answers] == [503, 503]
    return {answer.json()["detail"] for answer in answers}


@in_loop
async def test_a_vault_from_the_future_is_not_sold(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=from_the_future) as home:
        content = await refusals(home)

    assert content == {FUTURE}
    assert not home.upstream.transfers


@in_loop
async def test_nor_is_it_when_its_time_has_come_and_the_generator_is_dead(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=from_the_future) as home:
        home.clock.step(6 * HOUR_S)
        await home.state.facilitator.refresh()

        content = await refusals(home)

    assert content == {TOO_OLD}


@pytest.mark.parametrize(("ahead_s", "status"), [(60, 402), (61, 503)])
@in_loop
async def test_clocks_may_differ_by_a_minute(ahead_s: int, status: int, tmp_path: Path) -> None:
    def ahead(folder: Path) -> None:
        write_vault(folder, at=START + timedelta(seconds=ahead_s))

    async with gateway_app(tmp_path, vault=ahead) as home:
        answer = await home.get()

    assert answer.status_code == status


@pytest.mark.parametrize("back_s", [0, 900, 6 * HOUR_S])
@in_loop
async def test_a_dead_generator_ends_sales_after_the_maximum_age_by_any_wall_clock(back_s: int, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.clock.step(901)
        home.clock.set_wall(-back_s)
        await home.state.facilitator.refresh()

        answer = await home.get()

    assert answer.status_code == 503


@in_loop
async def test_a_vault_that_came_old_does_not_grow_young_when_the_clock_is_set_back(tmp_path: Path) -> None:
    def old(folder: Path) -> None:
        write_vault(folder, at=START - timedelta(seconds=800))

    async with gateway_app(tmp_path, vault=old) as home:
        before = (await home.get()).status_code
        home.clock.set_wall(-800)
        home.clock.step(101)

        after = (await home.get()).status_code

    assert (before, after) == (402, 503)


@in_loop
async def test_a_clock_that_is_set_ahead_ends_quotes_at_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.clock.set_wall(24 * HOUR_S)

        assert await refusals(home) == {TOO_OLD}


@in_loop
async def test_the_same_manifest_written_again_does_not_become_younger(tmp_path: Path) -> None:
    write_vault(tmp_path)
    clock = ManualClock()
    vault = VaultReader(Folder(tmp_path), clock, 900)
    await vault.refresh()
    clock.step(600)
    clock.set_wall(-600)
    write_vault(tmp_path)

    assert await vault.refresh()
    assert vault.age_s() == 600


@pytest.mark.parametrize(("jump_s", "step_s", "status"), [(-6 * HOUR_S, 960, 200), (-6 * HOUR_S, 961, 503)])
@in_loop
async def test_a_quote_holds_for_its_time_and_no_longer_when_the_clock_is_set_back(
    jump_s: int, step_s: int, status: int, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path, vault=with_a_promise) as home:
        home.clock.step(step_s)
        home.clock.set_wall(jump_s)
        await home.refresh()

        answer = await home.send(home.buyer.pay(snapshot=GENERATION))

    assert answer.status_code == status


@in_loop
async def test_a_quote_holds_for_its_time_when_the_clock_is_set_ahead(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=with_a_promise) as home:
        home.clock.set_wall(6 * HOUR_S)

        answer = await home.send(home.buyer.pay(snapshot=GENERATION))

    assert answer.status_code == 200


@in_loop
async def test_a_replaced_quote_is_paid_for_15_minutes_also_when_clocks_are_set_back(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=lambda folder: write_vault(folder, older={REPLACED: START})) as home:
        for minute in range(1, 17):
            home.clock.step(60)
            now = START + timedelta(minutes=minute, hours=-6)
            write_vault(tmp_path / "vault", generation=f"{7 + minute:012d}", at=now, older={REPLACED: START})
            home.clock.set_wall((now - home.clock.now()).total_seconds())
            await home.refresh()

        answer = await home.send(home.buyer.pay(snapshot=REPLACED))

    assert (answer.status_code, answer.json()["error"].partition(":")[0]) == (402, "quote_expired")
