"""A buyer with a key, who signs what a challenge asks for, or something a little different."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgpack
from algosdk import account, encoding, transaction
from nacl.signing import SigningKey

from gateway.settings import DEMO_PAYEE
from gateway.wire.algorand import group_id_of, pack, txid_of
from gateway.wire.networks import DEVNET
from tests.support.fake_upstream import FEE_PAYER
from tests.support.vaults import GENERATION, PRICES

Fields = dict[str, Any]
PRICE = PRICES["x402-market-regime"]


def encode_header(value: Any) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


def decode_header(value: str) -> Any:
    return json.loads(base64.b64decode(value, validate=True))


@dataclass(frozen=True)
class Signed:
    """A payment ready to send."""

    txid: str
    payer: str
    value: Any

    @property
    def header(self) -> str:
        return encode_header(self.value)

    def changed(self, change: Callable[[Any], None]) -> Signed:
        """The same payment with something about its envelope changed."""
        value = json.loads(json.dumps(self.value))
        change(value)
        return replace(self, value=value)

    def identified(self, identifier: str) -> Signed:
        """The same payment with a payment identifier."""
        return self.changed(lambda value: value.update(extensions=payment_identifier(identifier)))


def payment_identifier(identifier: str) -> dict[str, Any]:
    """Return the extensions of a payment that carries an identifier."""
    return {"payment-identifier": {"info": {"required": False, "id": identifier}}}


class Buyer:
    def __init__(self) -> None:
        self.secret, self.address = account.generate_account()
        self.key = SigningKey(base64.b64decode(self.secret)[:32])
        self._count = 0

    def fields(self, amount: int = PRICE, payee: str = DEMO_PAYEE) -> Fields:
        """The wire fields of a fresh asset transfer."""
        self._count += 1
        params = transaction.SuggestedParams(0, 5_000, 5_500, DEVNET.genesis_hash, DEVNET.genesis_id, flat_fee=True)
        txn = transaction.AssetTransferTxn(
            self.address, params, payee, amount, DEVNET.asset_id, note=str(self._count).encode()
        )
        fee_params = transaction.SuggestedParams(
            2_000, 5_000, 5_500, DEVNET.genesis_hash, DEVNET.genesis_id, flat_fee=True
        )
        self.fee = transaction.PaymentTxn(FEE_PAYER, fee_params, FEE_PAYER, 0)
        transaction.assign_group_id([self.fee, txn])
        fields: Fields = dict(txn.dictify())
        return fields

    def pair(self, amounts: tuple[int, int] = (PRICE, PRICE)) -> tuple[Signed, Signed]:
        """Sign one atomic group that pays twice, as an agent does that buys two products at once."""
        fields = [self.fields(amount) for amount in amounts]
        bare = [{name: value for name, value in one.items() if name != "grp"} for one in fields]
        grouped = [{**one, "grp": group_id_of(bare)} for one in bare]
        items = [base64.b64encode(self.sign(one)).decode() for one in grouped]
        payments = []
        for index, one in enumerate(grouped):
            value = self.envelope(self.sign(one))
            value["payload"] = {"paymentGroup": items, "paymentIndex": index}
            payments.append(Signed(txid_of(b"TX" + pack(one)), self.address, value))
        first, second = payments
        return first, second

    def sign(self, fields: Fields) -> bytes:
        """The signed item, canonical except for what `fields` holds on purpose."""
        packed = msgpack.packb(dict(sorted(fields.items())), use_bin_type=True)
        signature = self.key.sign(b"TX" + packed).signature
        item: bytes = msgpack.packb({"sig": signature, "txn": dict(sorted(fields.items()))}, use_bin_type=True)
        return item

    def envelope(self, item: bytes, *, network: str = DEVNET.full, snapshot: str | None = GENERATION) -> Any:
        fee = base64.b64encode(base64.b64decode(encoding.msgpack_encode(self.fee))).decode()
        extra = {"decimals": 6, "name": "USDC", "feePayer": FEE_PAYER}
        return {
            "x402Version": 2,
            "payload": {"paymentGroup": [fee, base64.b64encode(item).decode()], "paymentIndex": 1},
            "accepted": {
                "scheme": "exact",
                "network": network,
                "asset": str(DEVNET.asset_id),
                "amount": str(PRICE),
                "payTo": DEMO_PAYEE,
                "maxTimeoutSeconds": 60,
                "extra": {**extra, "snapshotId": snapshot} if snapshot else extra,
            },
        }

    def pay(
        self, amount: int = PRICE, *, network: str = DEVNET.full, snapshot: str | None = GENERATION, **changes: Any
    ) -> Signed:
        """Sign a payment; `changes` overwrite wire fields of the transaction, None removes one."""
        fields = {**self.fields(amount), **changes}
        fields = {name: value for name, value in fields.items() if value is not None}
        packed = msgpack.packb(dict(sorted(fields.items())), use_bin_type=True)
        txid = base64.b32encode(encoding.checksum(b"TX" + packed)).decode().rstrip("=")
        return Signed(txid, self.address, self.envelope(self.sign(fields), network=network, snapshot=snapshot))
