"""What the indexer lists and the ledger lacks, whatever the indexer makes of the question."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import GatewayError
from gateway.ledger.store import Ledger
from gateway.payments.lost import PAGE, find_lost
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET
from tests.support.clock import ManualClock
from tests.support.gateway_app import in_loop
from tests.support.indexers import INDEXER, REACHED, Indexer, listing, page, row, settings_in, txid_of
from tests.support.intents import INTENT


async def lost(indexer: Indexer, folder: Path, since: int = 0, **changes: Any) -> list[tuple[str, tuple[str, ...]]]:
    found = await find_lost(settings_in(folder, **changes), indexer, since, ManualClock())
    assert found.read_to == REACHED
    return [(one.txid, tuple(name.removeprefix("x402-") for name in one.products)) for one in found.lost]


@in_loop
async def test_the_amount_says_what_was_bought_and_one_amount_fits_two_products(tmp_path: Path) -> None:
    indexer = listing(row(3, 100_000), row(2, 20_000), row(1, 10_000), row(0, 777))

    found = await lost(indexer, tmp_path, since=1_000)

    assert found == [
        (txid_of(0), ()),
        (txid_of(1), ("market-regime", "main-brain")),
        (txid_of(2), ("atlas",)),
        (txid_of(3), ("atlas-human-report",)),
    ]
    asked = {name: indexer.queries[0][name] for name in ("address", "address-role", "tx-type", "asset-id", "min-round")}
    assert asked == {
        "address": DEMO_PAYEE,
        "address-role": "receiver",
        "tx-type": "axfer",
        "asset-id": str(DEVNET.asset_id),
        "min-round": "1000",
    }


@in_loop
async def test_every_page_is_read_and_what_the_ledger_knows_is_left_out(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    for number in (0, 70):
        ledger.write_intent(replace(INTENT, txid=txid_of(number)))
    ledger.close()
    indexer = listing(*(row(number) for number in range(99, -1, -1)))

    found = await lost(indexer, tmp_path)

    assert [txid for txid, _ in found] == [txid_of(number) for number in range(100) if number not in {0, 70}]
    assert len(indexer.queries) == 100 // PAGE + 1


@in_loop
async def test_an_empty_or_short_page_that_names_a_next_one_is_not_the_last(tmp_path: Path) -> None:
    pages = [page([row(1)], "a"), page([], "b/+ü"), page([row(2), row(1)], "c"), page([])]
    indexer = Indexer(lambda _query, asked: (200, pages[asked]))

    found = await lost(indexer, tmp_path)

    assert [txid for txid, _ in found] == [txid_of(1), txid_of(2)]
    assert [query.get("next") for query in indexer.queries] == [None, "a", "b/+ü", "c"]


@pytest.mark.parametrize(
    "failure", [TimeoutError(), ValueError("the answer is too large"), (400, {"message": "limit"}), (429, {})]
)
@in_loop
async def test_a_page_that_is_too_large_or_slow_is_asked_for_in_smaller_ones(failure: Any, tmp_path: Path) -> None:
    whole = listing(*(row(number) for number in range(9)))
    indexer = Indexer(lambda query, asked: failure if int(query["limit"]) > 5 else whole.answer(query, asked))

    found = await lost(indexer, tmp_path)

    assert len(found) == 9
    assert [query["limit"] for query in indexer.queries] == ["25", "5", "5", "5"]


@pytest.mark.parametrize(
    "lie",
    [
        row(5, moved={"receiver": "Q" * 58}),
        row(5, moved={"asset-id": 7}),
        row(5, genesis_hash="other"),
        row(5, confirmed_round=0),
        row(5, confirmed_round=99),
        row(5, 0),
        row(5, "20000"),
        row(5, True),
        row(5, 20_000.0),
        row(5, id="../etc"),
        row(5, id=5),
        {"id": txid_of(5), "tx-type": "appl", "inner-txns": [row(6)]},
        None,
        [],
        "row",
    ],
)
@in_loop
async def test_a_row_that_pays_somebody_else_or_nothing_is_passed_over(lie: Any, tmp_path: Path) -> None:
    assert await lost(listing(lie, row(1)), tmp_path, since=100) == [(txid_of(1), ("atlas",))]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda _query, _asked: (200, page([row(1)], "same")), "repeats its pages"),
        (lambda _query, _asked: (200, page([row(1)], "")), None),
        (lambda _query, _asked: (200, page([row(1)], 5)), "repeats its pages"),  # type: ignore[arg-type]
        (lambda _query, _asked: (200, {"transactions": 5, "current-round": 9}), "without a list of transactions"),
        (lambda _query, _asked: (200, {"transactions": [row(1)]}), "without a list of transactions"),
        (lambda _query, _asked: (200, b"[]"), "without a list of transactions"),
        (lambda _query, _asked: (200, b"<html>"), "the indexer does not answer, after 0 transfers"),
        (lambda _query, _asked: (404, {}), "answers with status 404"),
        (lambda _query, _asked: (401, {}), "answers with status 401"),
        (lambda _query, _asked: TimeoutError(), "the indexer does not answer, after 0 transfers"),
        (lambda _query, _asked: (200, page([], None, 99)), "has read up to round 99, before 100"),
        (
            lambda _query, asked: (200, page([None] * 1_000, str(asked))),
            "over 100,000 transfers since round 100: name a later one",
        ),
    ],
)
@in_loop
async def test_an_indexer_that_cannot_be_believed_ends_the_search_in_one_line(
    answer: Any, said: str | None, tmp_path: Path
) -> None:
    settings = settings_in(tmp_path)
    if said is None:
        assert len((await find_lost(settings, Indexer(answer), 100, ManualClock())).lost) == 1
        return
    with pytest.raises(GatewayError, match=said) as caught:
        await find_lost(settings, Indexer(answer), 100, ManualClock())

    assert "\n" not in str(caught.value)
    assert not (tmp_path / "payments.sqlite3").exists()


@in_loop
async def test_without_an_indexer_or_a_vault_the_search_says_what_is_missing(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, indexer_url=None, algod_url=None)

    with pytest.raises(GatewayError, match="set EMI_INDEXER_URL"):
        await find_lost(settings, listing(), 0, ManualClock())
    (tmp_path / "vault" / "manifest.json").unlink()
    indexed = settings.model_copy(update={"indexer_url": INDEXER})
    with pytest.raises(GatewayError, match="the vault sells nothing"):
        await find_lost(indexed, listing(), 0, ManualClock())
