"""The ledger's rules: what a group changes, or why it cannot commit. Pure; the words are a node's own."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from gateway.devnet.errors import LedgerRefusal
from gateway.devnet.transactions import Item, check_signature, group_id
from gateway.wire.algorand import address_of, sha512_256
from gateway.wire.networks import Network

MIN_FEE: Final = 1_000
"""Micro-ALGO a transaction, pooled over a group."""
MAX_VALIDITY_ROUNDS: Final = 1_000
MAX_GROUP: Final = 16
MIN_BALANCE: Final = 100_000
"""Micro-ALGO that an account keeps, and again for each asset that it holds."""


FEE_SINK: Final = address_of(sha512_256(b"emi-devnet-v1 fee sink"))
"""The hash of a text, to which no one has a key."""


class State(Protocol):
    """What the rules read of the ledger."""

    def micro_algos(self, address: str) -> int:
        """Return an account's balance in micro-ALGO, 0 when it was never seen."""
        ...

    def holding(self, address: str) -> int | None:
        """Return an account's atomic units of the asset, None when it is not opted in."""
        ...

    def is_committed(self, txid: str) -> bool:
        """Return whether a transaction is in the ledger."""
        ...

    def lease_until(self, sender: str, lease: bytes) -> int:
        """Return the last round in which a sender's lease is taken, 0 when it is free."""
        ...


@dataclass(slots=True)
class Changes:
    """New balances after a group, only of the accounts that it touched."""

    micro_algos: dict[str, int] = field(default_factory=dict)
    holdings: dict[str, int | None] = field(default_factory=dict)


def evaluate(items: Sequence[Item], state: State, at_round: int, identity: Network) -> Changes:
    """Return what a whole group changes; all of it or nothing.

    Args:
        items: the group in its order.
        state: balances and commits before it.
        at_round: the round that it would be in.
        identity: whose genesis it must name.

    Raises:
        LedgerRefusal: why it cannot commit.
    """
    _check_group(items)
    for item in items:
        _check_header(item, state, at_round, identity)
        check_signature(item)
    _check_leases(items)
    changes = Changes()
    for item in items:
        _apply(item, state, changes, identity)
    for address in changes.micro_algos:
        _check_min_balance(address, state, changes)
    return changes


def _check_group(items: Sequence[Item]) -> None:
    if not 0 < len(items) <= MAX_GROUP:
        raise LedgerRefusal(f"group has {len(items)} transactions; 1 to {MAX_GROUP} are allowed")
    named = [item.fields.get("grp") for item in items]
    if named != [None]:
        expected = group_id(items)
        if any(one != expected for one in named):
            raise LedgerRefusal("transactionGroup: incomplete group or wrong group id")
    if len({item.txid for item in items}) != len(items):
        raise LedgerRefusal("transactionGroup: the same transaction twice")
    fees = sum(item.fields.get("fee", 0) for item in items)
    if fees < MIN_FEE * len(items):
        raise LedgerRefusal(f"txgroup had {fees} in fees, which is less than the minimum {len(items)} * {MIN_FEE}")


def _check_header(item: Item, state: State, at_round: int, identity: Network) -> None:
    fields = item.fields
    if fields.get("gh") != identity.genesis_hash_bytes:
        named = base64.b64encode(fields.get("gh", b"")).decode()
        raise LedgerRefusal(f"tx.GenesisHash {named} does not match the ledger's {identity.genesis_hash}")
    if fields.get("gen", identity.genesis_id) != identity.genesis_id:
        raise LedgerRefusal(f"tx.GenesisID {fields['gen']} does not match the ledger's {identity.genesis_id}")
    first, last = fields.get("fv", 0), fields.get("lv", 0)
    if not first <= at_round <= last:
        raise LedgerRefusal(f"txn dead: round {at_round} outside of {first}--{last}")
    if last - first > MAX_VALIDITY_ROUNDS:
        raise LedgerRefusal(f"transaction window size excessive ({first}--{last})")
    if state.is_committed(item.txid):
        raise LedgerRefusal(f"transaction already in ledger: {item.txid}")
    if "lx" in fields and state.lease_until(item.sender, fields["lx"]) >= at_round:
        raise LedgerRefusal(f"transaction {item.txid} using an overlapping lease")


def _check_leases(items: Sequence[Item]) -> None:
    leases = [(item.sender, item.fields["lx"]) for item in items if "lx" in item.fields]
    if len(set(leases)) != len(leases):
        raise LedgerRefusal("transactionGroup: two transactions use one lease")


def _apply(item: Item, state: State, changes: Changes, identity: Network) -> None:
    fields = item.fields
    unsupported = sorted({"rekey", "close", "aclose", "asnd"} & set(fields))
    if unsupported:
        raise LedgerRefusal(f"transaction {item.txid}: the devnet does not do {', '.join(unsupported)}")
    _move_algos(item, state, changes, FEE_SINK, fields.get("fee", 0))
    if fields["type"] == "pay":
        _move_algos(item, state, changes, address_of(fields.get("rcv", bytes(32))), fields.get("amt", 0))
    else:
        _move_asset(item, state, changes, identity)


def _move_algos(item: Item, state: State, changes: Changes, receiver: str, amount: int) -> None:
    have = changes.micro_algos.get(item.sender, state.micro_algos(item.sender))
    if amount > have:
        raise LedgerRefusal(
            f"transaction {item.txid}: overspend (account {item.sender}, data {{MicroAlgos:{have}}}, tried to spend {{{amount}}})"
        )
    changes.micro_algos[item.sender] = have - amount
    changes.micro_algos[receiver] = changes.micro_algos.get(receiver, state.micro_algos(receiver)) + amount


def _move_asset(item: Item, state: State, changes: Changes, identity: Network) -> None:
    fields = item.fields
    asset, amount = fields.get("xaid", 0), fields.get("aamt", 0)
    receiver = address_of(fields.get("arcv", bytes(32)))
    if asset != identity.asset_id:
        raise LedgerRefusal(f"transaction {item.txid}: asset {asset} does not exist or has been deleted")
    if amount == 0 and receiver == item.sender:
        changes.holdings[item.sender] = _held(item.sender, state, changes) or 0
        return
    have = _held(item.sender, state, changes)
    if have is None:
        raise LedgerRefusal(f"transaction {item.txid}: asset {asset} missing from {item.sender}")
    if amount > have:
        raise LedgerRefusal(f"transaction {item.txid}: underflow on subtracting {amount} from sender amount {have}")
    if _held(receiver, state, changes) is None:
        raise LedgerRefusal(
            f"transaction {item.txid}: receiver error: must optin, asset {asset} missing from {receiver}"
        )
    changes.holdings[item.sender] = have - amount
    changes.holdings[receiver] = (_held(receiver, state, changes) or 0) + amount


def _held(address: str, state: State, changes: Changes) -> int | None:
    return changes.holdings[address] if address in changes.holdings else state.holding(address)


def _check_min_balance(address: str, state: State, changes: Changes) -> None:
    assets = 0 if _held(address, state, changes) is None else 1
    least, have = MIN_BALANCE * (1 + assets), changes.micro_algos[address]
    if have < least and not (have == 0 and assets == 0) and address != FEE_SINK:
        raise LedgerRefusal(f"account {address} balance {have} below min {least} ({assets} assets)")
