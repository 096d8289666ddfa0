from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from algosdk import transaction

from gateway.devnet.errors import DevnetError, LedgerRefusal
from gateway.devnet.keys import new_key
from gateway.devnet.transactions import signed
from gateway.payments.advice import advice_on
from gateway.wire.networks import DEVNET, TESTNET
from tests.support.devnet_app import clock_at_start, group, ledger_at, pass_rounds, pay, send_asset

ALGO = 1_000_000


def params(first: int, fee: int = 1_000, **changes: Any) -> transaction.SuggestedParams:
    content = {"gh": DEVNET.genesis_hash, "gen": DEVNET.genesis_id} | changes
    return transaction.SuggestedParams(fee=fee, first=first, last=first + 1_000, flat_fee=True, **content)


def test_a_signed_payment_moves_its_amount_and_its_fee(tmp_path: Path) -> None:
    ann, bob = new_key(), new_key()
    with ledger_at(tmp_path, clock_at_start()) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 0)

        ledger.submit([pay(ann, 2 * ALGO, bob.address, ledger.rounds.current())])

        assert ledger.micro_algos(ann.address) == 8 * ALGO - 1_000
        assert ledger.micro_algos(bob.address) == 2 * ALGO


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gh": TESTNET.genesis_hash, "gen": TESTNET.genesis_id}, "GenesisHash"),
        ({"fee": 999}, "less than the minimum"),
        ({"rekey_to": new_key().address}, "does not do rekey"),
        ({"close_remainder_to": new_key().address}, "does not do close"),
    ],
)
def test_a_transaction_with_one_wrong_thing_is_refused_and_nothing_moves(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    ann, bob = new_key(), new_key()
    with ledger_at(tmp_path, clock_at_start()) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 0)

        with pytest.raises(LedgerRefusal, match=words):
            ledger.submit([pay(ann, ALGO, bob.address, ledger.rounds.current(), **changes)])

        assert ledger.micro_algos(ann.address) == 10 * ALGO
        assert ledger.micro_algos(bob.address) == 0


def test_the_refusal_of_a_fee_that_nobody_pays_says_what_to_do(tmp_path: Path) -> None:
    ann, bob = new_key(), new_key()
    with ledger_at(tmp_path, clock_at_start()) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 0)

        with pytest.raises(LedgerRefusal) as refused:
            ledger.submit([pay(ann, ALGO, bob.address, ledger.rounds.current(), fee=999)])

    assert advice_on(str(refused.value)).startswith("the fee of one of its transactions is not paid: ")


def test_a_signature_of_another_key_or_a_changed_bit_is_refused(tmp_path: Path) -> None:
    ann, bob = new_key(), new_key()
    with ledger_at(tmp_path, clock_at_start()) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 0)
        good = pay(ann, ALGO, bob.address, ledger.rounds.current())
        assert good.signature is not None
        flipped = bytes([good.signature[0] ^ 1]) + good.signature[1:]

        for bad in (signed(good, bob.secret), replace(good, signature=flipped), replace(good, signature=None)):
            with pytest.raises(LedgerRefusal, match=r"signature validation failed|has no sig"):
                ledger.submit([bad])

        assert ledger.submit([good]) == ledger.rounds.current()


def test_a_transaction_is_valid_from_its_first_to_its_last_round_and_no_longer(tmp_path: Path) -> None:
    ann, bob, clock = new_key(), new_key(), clock_at_start()
    with ledger_at(tmp_path, clock) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 0)
        early = pay(ann, 1, bob.address, ledger.rounds.current() + 1, last=ledger.rounds.current() + 3, note=b"early")
        late = pay(ann, 1, bob.address, ledger.rounds.current(), last=ledger.rounds.current() + 3, note=b"late")
        with pytest.raises(LedgerRefusal, match="txn dead"):
            ledger.submit([early])
        ledger.fund(bob.address, ALGO, 0)
        pass_rounds(clock, 3)
        ledger.submit([early])
        pass_rounds(clock, 1)

        with pytest.raises(LedgerRefusal, match="txn dead"):
            ledger.submit([late])


def test_too_little_algo_is_refused(tmp_path: Path) -> None:
    ann, bob = new_key(), new_key()
    with ledger_at(tmp_path, clock_at_start()) as ledger:
        ledger.fund(ann.address, ALGO, 0)

        with pytest.raises(LedgerRefusal, match="overspend"):
            ledger.submit([pay(ann, ALGO, bob.address, ledger.rounds.current())])


def test_an_asset_moves_only_between_accounts_that_opted_in(tmp_path: Path) -> None:
    ann, bob = new_key(), new_key()
    with ledger_at(tmp_path, clock_at_start()) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 500)
        now = ledger.rounds.current()
        ledger.submit([pay(ann, ALGO, bob.address, now)])

        with pytest.raises(LedgerRefusal, match="must optin"):
            ledger.submit([send_asset(ann, 100, bob.address, now)])
        with pytest.raises(LedgerRefusal, match="missing from"):
            ledger.submit([send_asset(bob, 1, ann.address, now)])
        ledger.submit([send_asset(bob, 0, bob.address, now)])
        ledger.submit([send_asset(ann, 100, bob.address, now)])
        with pytest.raises(LedgerRefusal, match="underflow"):
            ledger.submit([send_asset(ann, 401, bob.address, now)])
        with pytest.raises(LedgerRefusal, match="does not exist"):
            ledger.submit([send_asset(ann, 1, bob.address, now, asset=7)])

        assert (ledger.holding(ann.address), ledger.holding(bob.address)) == (400, 100)


def test_one_fee_can_pay_for_the_whole_group_and_a_group_is_all_or_nothing(tmp_path: Path) -> None:
    ann, bob = new_key(), new_key()
    with ledger_at(tmp_path, clock_at_start()) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 500)
        ledger.fund(bob.address, 10 * ALGO, 0)
        now = ledger.rounds.current()

        def parts(amount: int) -> list[Any]:
            fee = transaction.PaymentTxn(bob.address, params(now, 2_000), bob.address, 0)
            return [
                (fee, bob),
                (transaction.AssetTransferTxn(ann.address, params(now, 0), bob.address, amount, DEVNET.asset_id), ann),
            ]

        with pytest.raises(LedgerRefusal, match="underflow"):
            ledger.submit(group(*parts(501)))
        assert ledger.micro_algos(bob.address) == 10 * ALGO
        ledger.submit(group(*parts(500)))

        assert (ledger.holding(ann.address), ledger.holding(bob.address)) == (0, 500)
        assert (ledger.micro_algos(ann.address), ledger.micro_algos(bob.address)) == (10 * ALGO, 10 * ALGO - 2_000)


def test_half_a_group_and_a_reordered_group_are_refused(tmp_path: Path) -> None:
    ann = new_key()
    with ledger_at(tmp_path, clock_at_start()) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 0)
        now = ledger.rounds.current()
        items = group(*((transaction.PaymentTxn(ann.address, params(now), ann.address, n), ann) for n in (1, 2)))

        for wrong in (items[:1], items[::-1], [items[0], items[0]]):
            with pytest.raises(LedgerRefusal, match="transactionGroup"):
                ledger.submit(wrong)

        ledger.submit(items)


def test_a_lease_is_taken_until_its_last_round(tmp_path: Path) -> None:
    ann, clock = new_key(), clock_at_start()
    with ledger_at(tmp_path, clock) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 0)
        now, lease = ledger.rounds.current(), bytes(31) + b"\x01"
        ledger.submit([pay(ann, 1, ann.address, now, lease=lease, last=now + 5)])

        with pytest.raises(LedgerRefusal, match="overlapping lease"):
            ledger.submit([pay(ann, 2, ann.address, now, lease=lease)])
        pass_rounds(clock, 6)

        ledger.submit([pay(ann, 2, ann.address, now, lease=lease)])


def test_a_restart_keeps_balances_commits_and_rounds(tmp_path: Path) -> None:
    ann, bob, clock = new_key(), new_key(), clock_at_start()
    with ledger_at(tmp_path, clock) as ledger:
        ledger.fund(ann.address, 10 * ALGO, 0)
        items = [pay(ann, ALGO, bob.address, ledger.rounds.current())]
        committed_in = ledger.submit(items)
    clock.step(-3_600)

    with ledger_at(tmp_path, clock) as again:
        assert again.micro_algos(bob.address) == ALGO
        assert again.rounds.current() == committed_in
        found = again.transaction(items[0].txid)
        assert found is not None
        assert found.item.wire == items[0].wire
        with pytest.raises(LedgerRefusal, match="already in ledger"):
            again.submit(items)


def test_two_processes_on_one_file_commit_a_group_once(tmp_path: Path) -> None:
    ann, bob, clock = new_key(), new_key(), clock_at_start()
    with ledger_at(tmp_path, clock) as one, ledger_at(tmp_path, clock) as other:
        one.fund(ann.address, 10 * ALGO, 0)
        items = [pay(ann, ALGO, bob.address, one.rounds.current())]
        one.submit(items)

        with pytest.raises(LedgerRefusal, match="already in ledger"):
            other.submit(items)


def test_a_corrupt_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "devnet.sqlite3").write_bytes(b"not a database, but long enough to be looked at" * 40)

    with pytest.raises(DevnetError, match="remove it to start again"), ledger_at(tmp_path, clock_at_start()):
        pass


def test_rounds_follow_the_clock_and_never_go_back(tmp_path: Path) -> None:
    clock = clock_at_start()
    with ledger_at(tmp_path, clock) as ledger:
        first = ledger.rounds.current()
        clock.step(2.8 * 5)
        assert ledger.rounds.current() == first + 5
        clock.step(-1_000)

        assert ledger.rounds.current() == first + 5
