"""Sign many payments for one offer before the clock starts."""

import base64
import json
from typing import Any

import msgpack
from algosdk import transaction
from algosdk.encoding import checksum, decode_address, encode_address
from nacl.signing import SigningKey

from gateway.wire.networks import TESTNET


class Signer:
    """A key that pays what an offer asks.

    Args:
        accepted: one entry of the challenge's `accepts`, echoed in every payment.
    """

    def __init__(self, accepted: dict[str, Any]) -> None:
        self._accepted = accepted
        self._key = SigningKey.generate()
        self._count = 0
        payer = accepted["extra"].get("feePayer") or encode_address(bytes(self._key.verify_key))
        params = transaction.SuggestedParams(
            2_000, 5_000, 5_500, TESTNET.genesis_hash, TESTNET.genesis_id, flat_fee=True
        )
        fee = transaction.PaymentTxn(payer, params, payer, 0)
        self._fee: dict[str, Any] = dict(fee.dictify())

    def sign(self, count: int) -> list[str]:
        """Return headers of that many different payments."""
        return [self._one() for _ in range(count)]

    def _one(self) -> str:
        self._count += 1
        fields = {
            "aamt": int(self._accepted["amount"]),
            "arcv": decode_address(self._accepted["payTo"]),
            "fv": 5_000,
            "gen": TESTNET.genesis_id,
            "gh": TESTNET.genesis_hash_bytes,
            "lv": 5_500,
            "note": str(self._count).encode(),
            "snd": bytes(self._key.verify_key),
            "type": "axfer",
            "xaid": int(self._accepted["asset"]),
        }
        ids = [checksum(b"TX" + _pack(part)) for part in (self._fee, fields)]
        group = checksum(b"TG" + _pack({"txlist": ids}))
        fee, fields = ({**part, "grp": group} for part in (self._fee, fields))
        signature = self._key.sign(b"TX" + _pack(fields)).signature
        items = [
            _pack({"txn": dict(sorted(fee.items()))}),
            _pack({"sig": signature, "txn": dict(sorted(fields.items()))}),
        ]
        payload = {"paymentGroup": [base64.b64encode(item).decode() for item in items], "paymentIndex": 1}
        value = {"x402Version": 2, "payload": payload, "accepted": self._accepted}
        return base64.b64encode(json.dumps(value, separators=(",", ":")).encode()).decode()


def _pack(value: dict[str, Any]) -> bytes:
    packed: bytes = msgpack.packb(dict(sorted(value.items())), use_bin_type=True)
    return packed
