"""Serve the official Python facilitator, unmodified; run by the interpreter that has it, never imported.

Usage: facilitator.py PORT ALGOD_URL NETWORK.., the fee payer's private key on standard input. Only the wallet and the
HTTP around it are ours: its package leaves both to whoever runs it.
"""

import base64
import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from algosdk import account, encoding, transaction
from algosdk.v2client.algod import AlgodClient
from algosdk.v2client.models import SimulateRequest, SimulateRequestTransactionGroup
from x402 import x402FacilitatorSync
from x402.mechanisms.avm.exact import register_exact_avm_facilitator  # type: ignore[import-not-found, unused-ignore]
from x402.schemas import PaymentPayload, PaymentRequirements


def decoded(raw: bytes) -> Any:
    return encoding.msgpack_decode(base64.b64encode(raw).decode())


def encoded(value: Any) -> bytes:
    return base64.b64decode(encoding.msgpack_encode(value))


class Signer:
    """What the facilitator asks of its wallet and of its node."""

    def __init__(self, secret: str, algod_url: str) -> None:
        self._secret = secret
        self._address = str(account.address_from_private_key(secret))
        self._node = AlgodClient("", algod_url)

    def get_addresses(self) -> list[str]:
        return [self._address]

    def sign_transaction(self, txn_bytes: bytes, fee_payer: str, network: str) -> bytes:
        if fee_payer != self._address:
            raise ValueError(fee_payer)
        return encoded(decoded(txn_bytes).sign(self._secret))

    def sign_group(
        self, group_bytes: list[bytes], fee_payer: str, indexes_to_sign: list[int], network: str
    ) -> list[bytes]:
        return [
            self.sign_transaction(raw, fee_payer, network) if place in indexes_to_sign else raw
            for place, raw in enumerate(group_bytes)
        ]

    def simulate_group(self, group_bytes: list[bytes], network: str) -> None:
        group = SimulateRequestTransactionGroup(txns=[_signed(raw) for raw in group_bytes])
        answer: Any = self._node.simulate_transactions(SimulateRequest(txn_groups=[group], allow_empty_signatures=True))
        failure = answer["txn-groups"][0].get("failure-message")
        if failure:
            raise RuntimeError(failure)

    def send_group(self, group_bytes: list[bytes], network: str) -> str:
        return str(self._node.send_raw_transaction(base64.b64encode(b"".join(group_bytes))))

    def confirm_transaction(self, txid: str, network: str, rounds: int = 4) -> None:
        transaction.wait_for_confirmation(self._node, txid, rounds)


def _signed(raw: bytes) -> Any:
    part = decoded(raw)
    return transaction.SignedTransaction(part, None) if isinstance(part, transaction.Transaction) else part


class Handler(BaseHTTPRequestHandler):
    facilitator: Any
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(200, self.facilitator.get_supported().model_dump(by_alias=True, exclude_none=True))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        judge: Callable[..., Any] = self.facilitator.settle if self.path == "/settle" else self.facilitator.verify
        try:
            payload = PaymentPayload.model_validate(asked["paymentPayload"])
            verdict = judge(payload, PaymentRequirements.model_validate(asked["paymentRequirements"]))
        except Exception as error:  # noqa: BLE001  its errors become a 500, as in its examples
            self._answer(500, {"error": f"{type(error).__name__}: {error}"})
            return
        self._answer(200, verdict.model_dump(by_alias=True, exclude_none=True))

    def _answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.log_message("%s", body.decode())
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main(port: int, algod_url: str, networks: list[str], secret: str) -> None:
    """Serve until the process is ended."""
    Handler.facilitator = x402FacilitatorSync()
    register_exact_avm_facilitator(Handler.facilitator, Signer(secret, algod_url), networks)
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


main(int(sys.argv[1]), sys.argv[2], sys.argv[3:], sys.stdin.read().strip())
